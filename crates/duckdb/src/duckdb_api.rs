//! DuckDB's services for a query: settings, and files. Files are read through DuckDB's file system,
//! which enforces the database's restrictions (`enable_external_access`, remote paths).

use std::ffi::{CStr, CString};
use std::io::{self, Read};

use hearith_paillier::SecretText;
use libduckdb_sys as ffi;
use zeroize::Zeroizing;

use crate::fault::Fault;

/// The connection of a query.
pub(crate) struct Context(ffi::duckdb_client_context);

// SAFETY: a handle of DuckDB's connection. Any thread of a query may read its settings and file
// system.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// # Safety
    /// `raw` must be a context that the caller owns, and its query must outlive the result.
    pub(crate) unsafe fn new(raw: ffi::duckdb_client_context) -> Self {
        Self(raw)
    }

    /// A setting's text, `None` if it is unset or empty.
    pub(crate) fn text(&self, name: &CStr) -> Option<String> {
        self.setting(name)?.text().filter(|text| !text.is_empty())
    }

    /// Whether a setting is on.
    pub(crate) fn is_on(&self, name: &CStr) -> bool {
        // SAFETY: the value is alive.
        self.setting(name).is_some_and(|value| unsafe { ffi::duckdb_get_bool(value.0) })
    }

    fn setting(&self, name: &CStr) -> Option<Value> {
        // SAFETY: the context is alive and the name ends in a zero. The scope is not requested.
        unsafe { Value::new(ffi::duckdb_client_context_get_config_option(self.0, name.as_ptr(), std::ptr::null_mut())) }
    }

    /// Reads the text of a key or passphrase file.
    pub(crate) fn read(&self, path: &str) -> Result<SecretText, Fault> {
        let fault = |error: io::Error| Fault::File { path: path.to_owned(), reason: error.to_string() };
        SecretText::read(self.open(path)?).map_err(fault)
    }

    /// Reads the text of a key file of up to `limit` bytes.
    pub(crate) fn read_long(&self, path: &str, limit: usize) -> Result<SecretText, Fault> {
        let fault = |reason: String| Fault::File { path: path.to_owned(), reason };
        // Allocated in full, because a growing buffer leaves copies in memory and this may be a
        // private key.
        let mut text = Zeroizing::new(Vec::with_capacity(limit + 1));
        self.open(path)?.take(limit as u64 + 1).read_to_end(&mut text).map_err(|error| fault(error.to_string()))?;
        if text.len() > limit {
            return Err(fault("it is too long for a key".into()));
        }
        let text = std::str::from_utf8(&text).map_err(|_| fault("it is not text".into()))?;
        Ok(SecretText::from(text.to_owned()))
    }

    /// Checks that the database allows the session to read a file.
    pub(crate) fn check_open(&self, path: &str) -> Result<(), Fault> {
        self.open(path).map(drop).map_err(|fault| match fault {
            Fault::File { path, reason } => Fault::Table { path, reason },
            other => other,
        })
    }

    fn open(&self, path: &str) -> Result<File, Fault> {
        let fault = |reason: String| Fault::File { path: path.to_owned(), reason };
        let name = CString::new(path).map_err(|_| fault("its name holds a zero".into()))?;
        File::open(self, &name).map_err(fault)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: owned by `self`, and not used again.
        unsafe { ffi::duckdb_destroy_client_context(&mut self.0) }
    }
}

/// A DuckDB value that is not null.
pub(crate) struct Value(ffi::duckdb_value);

impl Value {
    /// Wraps a value; `None` for null.
    ///
    /// # Safety
    /// `raw` must be null, or a value that the caller owns.
    pub(crate) unsafe fn new(raw: ffi::duckdb_value) -> Option<Self> {
        let value = (!raw.is_null()).then_some(Self(raw))?;
        // SAFETY: the value is alive.
        (!unsafe { ffi::duckdb_is_null_value(value.0) }).then_some(value)
    }

    /// The text of a value.
    pub(crate) fn text(&self) -> Option<String> {
        // SAFETY: the value is alive. Its text is a C string that this function must free.
        unsafe {
            let raw = ffi::duckdb_get_varchar(self.0);
            if raw.is_null() {
                return None;
            }
            let text = CStr::from_ptr(raw).to_string_lossy().into_owned();
            ffi::duckdb_free(raw.cast());
            Some(text)
        }
    }

    /// The texts of a list, without nulls.
    pub(crate) fn texts(&self) -> Vec<String> {
        // SAFETY: the value is alive and is a list. The caller owns its children.
        unsafe {
            let children = 0..ffi::duckdb_get_list_size(self.0);
            children.filter_map(|index| Self::new(ffi::duckdb_get_list_child(self.0, index))?.text()).collect()
        }
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        // SAFETY: owned by `self`, and not used again.
        unsafe { ffi::duckdb_destroy_value(&mut self.0) }
    }
}

struct File(ffi::duckdb_file_handle);

impl File {
    fn open(context: &Context, path: &CStr) -> Result<Self, String> {
        let mut handle = std::ptr::null_mut();
        // SAFETY: every handle is created here, used while alive, and destroyed once.
        unsafe {
            let mut system = ffi::duckdb_client_context_get_file_system(context.0);
            let mut options = ffi::duckdb_create_file_open_options();
            ffi::duckdb_file_open_options_set_flag(options, ffi::duckdb_file_flag_DUCKDB_FILE_FLAG_READ, true);
            let state = ffi::duckdb_file_system_open(system, path.as_ptr(), options, &mut handle);
            let opened = match state {
                ffi::duckdb_state_DuckDBSuccess => Ok(Self(handle)),
                _ => Err(message(ffi::duckdb_file_system_error_data(system))),
            };
            ffi::duckdb_destroy_file_open_options(&mut options);
            ffi::duckdb_destroy_file_system(&mut system);
            opened
        }
    }
}

impl Read for File {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // SAFETY: the file is open. It writes at most the given number of bytes.
        unsafe {
            match ffi::duckdb_file_handle_read(self.0, buffer.as_mut_ptr().cast(), buffer.len() as i64) {
                ..0 => Err(io::Error::other(message(ffi::duckdb_file_handle_error_data(self.0)))),
                count => Ok(count as usize),
            }
        }
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: owned by `self`, and not used again. Destroying the handle closes the file.
        unsafe { ffi::duckdb_destroy_file_handle(&mut self.0) }
    }
}

/// The first line of DuckDB's error message.
///
/// # Safety
/// The caller must own `error` and must not use it again.
unsafe fn message(mut error: ffi::duckdb_error_data) -> String {
    // SAFETY: guaranteed by the caller. The text lives as long as the error.
    unsafe {
        let text = ffi::duckdb_error_data_message(error);
        let text = match text.is_null() {
            true => String::new(),
            false => CStr::from_ptr(text).to_string_lossy().lines().next().unwrap_or_default().to_owned(),
        };
        ffi::duckdb_destroy_error_data(&mut error);
        text
    }
}
