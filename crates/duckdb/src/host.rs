//! DuckDB's services for a query: settings, and files through its file system, which obeys the
//! database's restrictions (`enable_external_access`, remote paths).

use std::ffi::{CStr, CString};
use std::io::{self, Read};

use hearith_paillier::SecretText;
use libduckdb_sys as ffi;
use zeroize::Zeroizing;

use crate::fault::Fault;

/// The connection that a query runs on.
pub(crate) struct Context(ffi::duckdb_client_context);

// SAFETY: a handle of DuckDB's connection, whose settings and file system may be asked from any
// thread of a query.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// # Safety
    /// `raw` must be a context that the caller owns, used for no longer than its query runs.
    pub(crate) unsafe fn new(raw: ffi::duckdb_client_context) -> Self {
        Self(raw)
    }

    /// A setting's text, `None` if it is not set or empty.
    pub(crate) fn text(&self, name: &CStr) -> Option<String> {
        self.setting(name)?.text().filter(|text| !text.is_empty())
    }

    /// Whether a setting is on.
    pub(crate) fn is_on(&self, name: &CStr) -> bool {
        // SAFETY: the value lives.
        self.setting(name).is_some_and(|value| unsafe { ffi::duckdb_get_bool(value.0) })
    }

    fn setting(&self, name: &CStr) -> Option<Value> {
        // SAFETY: the context lives, the name ends in a zero; the scope is not asked for.
        unsafe { Value::new(ffi::duckdb_client_context_get_config_option(self.0, name.as_ptr(), std::ptr::null_mut())) }
    }

    /// The text of the file of a key or a passphrase.
    pub(crate) fn read(&self, path: &str) -> Result<SecretText, Fault> {
        let fault = |error: io::Error| Fault::File { path: path.to_owned(), reason: error.to_string() };
        SecretText::read(self.open(path)?).map_err(fault)
    }

    /// The text of the file of a key that may have so many bytes.
    pub(crate) fn read_long(&self, path: &str, limit: usize) -> Result<SecretText, Fault> {
        let fault = |reason: String| Fault::File { path: path.to_owned(), reason };
        // Of its full size at once: what grows leaves copies behind, and this may be a private key.
        let mut text = Zeroizing::new(Vec::with_capacity(limit + 1));
        self.open(path)?.take(limit as u64 + 1).read_to_end(&mut text).map_err(|error| fault(error.to_string()))?;
        if text.len() > limit {
            return Err(fault("it is longer than any key".into()));
        }
        let text = std::str::from_utf8(&text).map_err(|_| fault("it is not text".into()))?;
        Ok(SecretText::from(text.to_owned()))
    }

    /// Checks that the database lets the session read a file.
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
        // SAFETY: owned by this, and not used again.
        unsafe { ffi::duckdb_destroy_client_context(&mut self.0) }
    }
}

/// A value of DuckDB's that is not null.
pub(crate) struct Value(ffi::duckdb_value);

impl Value {
    /// `None` for null.
    ///
    /// # Safety
    /// `raw` must be null, or a value that the caller owns.
    pub(crate) unsafe fn new(raw: ffi::duckdb_value) -> Option<Self> {
        let value = (!raw.is_null()).then_some(Self(raw))?;
        // SAFETY: the value lives.
        (!unsafe { ffi::duckdb_is_null_value(value.0) }).then_some(value)
    }

    /// The text of a value.
    pub(crate) fn text(&self) -> Option<String> {
        // SAFETY: the value lives; its text is a C string that is ours to free.
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

    /// The texts of a list; of a null among them nothing.
    pub(crate) fn texts(&self) -> Vec<String> {
        // SAFETY: the value lives and is a list; its children are ours.
        unsafe {
            let children = 0..ffi::duckdb_get_list_size(self.0);
            children.filter_map(|index| Self::new(ffi::duckdb_get_list_child(self.0, index))?.text()).collect()
        }
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        // SAFETY: owned by this, and not used again.
        unsafe { ffi::duckdb_destroy_value(&mut self.0) }
    }
}

struct File(ffi::duckdb_file_handle);

impl File {
    fn open(context: &Context, path: &CStr) -> Result<Self, String> {
        let mut handle = std::ptr::null_mut();
        // SAFETY: every handle is made here, used while it lives and given back once.
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
        // SAFETY: the file is open; it writes no more bytes than it is told there is room for.
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
        // SAFETY: owned by this, and not used again; it is closed with it.
        unsafe { ffi::duckdb_destroy_file_handle(&mut self.0) }
    }
}

/// The first line of what DuckDB says about an error.
///
/// # Safety
/// `error` must be owned by the caller, who does not use it again.
unsafe fn message(mut error: ffi::duckdb_error_data) -> String {
    // SAFETY: the caller's promise; the text lives as long as the error.
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
