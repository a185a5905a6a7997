//! Registration of functions and settings with DuckDB, and the callbacks that call the functions.
//!
//! Every callback catches panics, so none unwinds into DuckDB.

use std::any::Any;
use std::ffi::{CStr, CString, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use libduckdb_sys as ffi;

use crate::chunk::{Chunk, Output};
use crate::duckdb_api::Context;
use crate::fault::Fault;
use crate::functions::private_key;
use crate::keys::{DecryptionKey, Keys};
use crate::threads::spread;

/// The type of an argument or result.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Type {
    Blob,
    Varchar,
    TinyInt,
    SmallInt,
    Integer,
    BigInt,
    HugeInt,
    Double,
    Boolean,
}

/// The implementation of a scalar function.
#[derive(Clone, Copy)]
pub(crate) enum Body {
    /// Computes with the loaded keys.
    Keys(fn(&Keys, &Chunk<'_>, &mut Output<'_>) -> Result<(), Fault>),
    /// Reads files and settings through the session.
    Context(fn(&Keys, &Context, &Chunk<'_>, &mut Output<'_>) -> Result<(), Fault>),
    /// Computes with the session's private key, which is read when the query is bound.
    Private(fn(&DecryptionKey, &Chunk<'_>, &mut Output<'_>) -> Result<(), Fault>),
}

/// A scalar function.
#[derive(Clone, Copy)]
pub(crate) struct Scalar<'a> {
    /// Its name and aliases.
    pub(crate) names: &'a [&'static CStr],
    pub(crate) overloads: &'a [&'a [Type]],
    pub(crate) result: Type,
    pub(crate) body: Body,
    /// Whether two calls with the same arguments may differ.
    pub(crate) volatile: bool,
}

/// The extra information that a scalar function's callbacks receive.
struct Function {
    name: &'static CStr,
    keys: Keys,
    body: Body,
}

/// A connection over which functions are registered.
pub(crate) struct Registrar(pub(crate) ffi::duckdb_connection);

impl Registrar {
    /// # Safety
    /// `database` must be open.
    pub(crate) unsafe fn connect(database: ffi::duckdb_database) -> Result<Self, Fault> {
        let mut connection = std::ptr::null_mut();
        // SAFETY: guaranteed by the caller.
        match unsafe { ffi::duckdb_connect(database, &mut connection) } {
            ffi::duckdb_state_DuckDBSuccess => Ok(Self(connection)),
            _ => Err(Fault::Host("a connection")),
        }
    }

    /// Registers a session setting. Its default is the empty text or false.
    pub(crate) fn setting(&self, name: &CStr, kind: Type, description: &CStr) -> Result<(), Fault> {
        // SAFETY: every handle is created here and destroyed once. DuckDB copies the texts.
        let state = unsafe {
            let mut option = ffi::duckdb_create_config_option();
            let mut default = match kind {
                Type::Boolean => ffi::duckdb_create_bool(false),
                _ => ffi::duckdb_create_varchar(c"".as_ptr()),
            };
            let mut kind = kind.create();
            ffi::duckdb_config_option_set_name(option, name.as_ptr());
            ffi::duckdb_config_option_set_type(option, kind);
            ffi::duckdb_config_option_set_default_value(option, default);
            let scope = ffi::duckdb_config_option_scope_DUCKDB_CONFIG_OPTION_SCOPE_SESSION;
            ffi::duckdb_config_option_set_default_scope(option, scope);
            ffi::duckdb_config_option_set_description(option, description.as_ptr());
            let state = ffi::duckdb_register_config_option(self.0, option);
            ffi::duckdb_destroy_value(&mut default);
            ffi::duckdb_destroy_logical_type(&mut kind);
            ffi::duckdb_destroy_config_option(&mut option);
            state
        };
        succeeded(state, "a setting")
    }

    /// Registers a scalar function with all its overloads, under each of its names.
    pub(crate) fn scalar(&self, keys: &Keys, scalar: Scalar<'_>) -> Result<(), Fault> {
        scalar.names.iter().try_for_each(|name| self.named_scalar(name, keys, scalar))
    }

    fn named_scalar(&self, name: &'static CStr, keys: &Keys, scalar: Scalar<'_>) -> Result<(), Fault> {
        // SAFETY: every handle is created here and destroyed once. Each overload receives its own
        // boxed function and drops it.
        let state = unsafe {
            let mut set = ffi::duckdb_create_scalar_function_set(name.as_ptr());
            for parameters in scalar.overloads {
                let mut function = ffi::duckdb_create_scalar_function();
                ffi::duckdb_scalar_function_set_name(function, name.as_ptr());
                for kind in *parameters {
                    let mut kind = kind.create();
                    ffi::duckdb_scalar_function_add_parameter(function, kind);
                    ffi::duckdb_destroy_logical_type(&mut kind);
                }
                let mut kind = scalar.result.create();
                ffi::duckdb_scalar_function_set_return_type(function, kind);
                ffi::duckdb_destroy_logical_type(&mut kind);
                // The functions handle nulls themselves, row by row.
                ffi::duckdb_scalar_function_set_special_handling(function);
                if scalar.volatile {
                    ffi::duckdb_scalar_function_set_volatile(function);
                }
                let extra = Function { name, keys: keys.clone(), body: scalar.body };
                let (extra, dropper) = owned(extra);
                ffi::duckdb_scalar_function_set_extra_info(function, extra, dropper);
                ffi::duckdb_scalar_function_set_function(function, Some(call));
                match scalar.body {
                    Body::Keys(_) => {}
                    Body::Context(_) => ffi::duckdb_scalar_function_set_init(function, Some(init)),
                    Body::Private(_) => ffi::duckdb_scalar_function_set_bind(function, Some(bind)),
                }
                ffi::duckdb_add_scalar_function_to_set(set, function);
                ffi::duckdb_destroy_scalar_function(&mut function);
            }
            let state = ffi::duckdb_register_scalar_function_set(self.0, set);
            ffi::duckdb_destroy_scalar_function_set(&mut set);
            state
        };
        succeeded(state, "a scalar function")
    }
}

impl Drop for Registrar {
    fn drop(&mut self) {
        // SAFETY: owned by `self`, and not used again.
        unsafe { ffi::duckdb_disconnect(&mut self.0) }
    }
}

impl Type {
    /// Creates a handle, which the caller must destroy.
    pub(crate) fn create(self) -> ffi::duckdb_logical_type {
        let id = match self {
            Self::Blob => ffi::DUCKDB_TYPE_DUCKDB_TYPE_BLOB,
            Self::Varchar => ffi::DUCKDB_TYPE_DUCKDB_TYPE_VARCHAR,
            Self::TinyInt => ffi::DUCKDB_TYPE_DUCKDB_TYPE_TINYINT,
            Self::SmallInt => ffi::DUCKDB_TYPE_DUCKDB_TYPE_SMALLINT,
            Self::Integer => ffi::DUCKDB_TYPE_DUCKDB_TYPE_INTEGER,
            Self::BigInt => ffi::DUCKDB_TYPE_DUCKDB_TYPE_BIGINT,
            Self::HugeInt => ffi::DUCKDB_TYPE_DUCKDB_TYPE_HUGEINT,
            Self::Double => ffi::DUCKDB_TYPE_DUCKDB_TYPE_DOUBLE,
            Self::Boolean => ffi::DUCKDB_TYPE_DUCKDB_TYPE_BOOLEAN,
        };
        // SAFETY: this is a DuckDB type id.
        unsafe { ffi::duckdb_create_logical_type(id) }
    }
}

pub(crate) fn succeeded(state: ffi::duckdb_state, what: &'static str) -> Result<(), Fault> {
    match state {
        ffi::duckdb_state_DuckDBSuccess => Ok(()),
        _ => Err(Fault::Host(what)),
    }
}

/// Moves a value to DuckDB. Returns its pointer and the callback that drops it.
pub(crate) fn owned<T>(value: T) -> (*mut c_void, ffi::duckdb_delete_callback_t) {
    /// # Safety
    /// DuckDB calls this once, with the value that it received.
    unsafe extern "C" fn dropper<T>(value: *mut c_void) {
        // SAFETY: created by `Box::into_raw` below, and not used again.
        let value = unsafe { Box::from_raw(value.cast::<T>()) };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(value)));
    }
    (Box::into_raw(Box::new(value)).cast(), Some(dropper::<T>))
}

/// Runs a function, and reports an error or panic through `report`.
pub(crate) fn catch_panic(name: &CStr, function: impl FnOnce() -> Result<(), Fault>, report: impl FnOnce(&CStr)) {
    let result = catch_unwind(AssertUnwindSafe(function)).unwrap_or_else(|panic| Err(Fault::Panic(reason(&*panic))));
    if let Err(fault) = result {
        let text = format!("{}: {fault}", name.to_string_lossy()).replace('\0', " ");
        report(&CString::new(text).unwrap_or_default());
    }
}

fn reason(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// Applies a scalar function to a chunk.
///
/// # Safety
/// DuckDB calls this with the data of one call of a function registered above.
unsafe extern "C" fn call(info: ffi::duckdb_function_info, chunk: ffi::duckdb_data_chunk, output: ffi::duckdb_vector) {
    // SAFETY: the extra information is a `Function`. The initial state of a context's function is a
    // `Context`, and the bind data of a private one is an `Arc<DecryptionKey>`. Chunk and output
    // outlive the call.
    unsafe {
        let function = &*ffi::duckdb_scalar_function_get_extra_info(info).cast::<Function>();
        let run = || {
            let (chunk, mut output) = (Chunk::new(chunk), Output::new(output, 0));
            match function.body {
                Body::Keys(body) => body(&function.keys, &chunk, &mut output),
                Body::Context(body) => {
                    let context = &*ffi::duckdb_scalar_function_get_state(info).cast::<Context>();
                    body(&function.keys, context, &chunk, &mut output)
                }
                Body::Private(body) => {
                    let key = &*ffi::duckdb_scalar_function_get_bind_data(info).cast::<Arc<DecryptionKey>>();
                    body(key, &chunk, &mut output)
                }
            }
        };
        let run = || spread(run);
        catch_panic(function.name, run, |text| ffi::duckdb_scalar_function_set_error(info, text.as_ptr()));
    }
}

/// Stores the session's context for the calls of one thread of a query.
///
/// # Safety
/// As [`call`].
unsafe extern "C" fn init(info: ffi::duckdb_init_info) {
    // SAFETY: the context is created for this call. The query outlives it, because the query's
    // state holds it.
    unsafe {
        let mut raw = std::ptr::null_mut();
        ffi::duckdb_scalar_function_init_get_client_context(info, &mut raw);
        let (context, dropper) = owned(Context::new(raw));
        ffi::duckdb_scalar_function_init_set_state(info, context, dropper);
    }
}

/// Reads the session's private key for a query.
///
/// # Safety
/// As [`call`].
unsafe extern "C" fn bind(info: ffi::duckdb_bind_info) {
    /// # Safety
    /// DuckDB calls this with the bind data.
    unsafe extern "C" fn copy(data: *mut c_void) -> *mut c_void {
        // SAFETY: this is the value set below.
        owned(unsafe { &*data.cast::<Arc<DecryptionKey>>() }.clone()).0
    }
    // SAFETY: the extra information is a `Function`. The context is created for this call and
    // dropped here.
    unsafe {
        let function = &*ffi::duckdb_scalar_function_bind_get_extra_info(info).cast::<Function>();
        let run = || {
            let mut raw = std::ptr::null_mut();
            ffi::duckdb_scalar_function_get_client_context(info, &mut raw);
            let context = Context::new(raw);
            let key = spread(|| private_key(&function.keys, &context))?;
            let (key, dropper) = owned(Arc::new(key));
            ffi::duckdb_scalar_function_set_bind_data(info, key, dropper);
            ffi::duckdb_scalar_function_set_bind_data_copy(info, Some(copy));
            Ok(())
        };
        catch_panic(function.name, run, |text| ffi::duckdb_scalar_function_bind_set_error(info, text.as_ptr()));
    }
}
