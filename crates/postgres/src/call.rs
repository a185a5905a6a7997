//! PostgreSQL's calling convention: arguments, results and errors of SQL functions.

use std::ffi::{CStr, c_char};

use pgrx::pg_sys;
use pgrx::varlena::varlena_to_byte_slice;

use crate::fault::Fault;
use crate::value::Number;

/// The result of a function: a value, or NULL.
pub(crate) type Outcome = Result<Option<pg_sys::Datum>, Fault>;

/// The symbols by which PostgreSQL finds functions. `pg_finfo_NAME` states the calling convention
/// of `NAME`.
macro_rules! functions {
    ($($info:ident, $name:ident => $body:path;)*) => {$(
        #[doc(hidden)]
        #[unsafe(no_mangle)]
        pub extern "C" fn $info() -> &'static ::pgrx::pg_sys::Pg_finfo_record {
            const V1: ::pgrx::pg_sys::Pg_finfo_record = ::pgrx::pg_sys::Pg_finfo_record { api_version: 1 };
            &V1
        }

        #[doc(hidden)]
        #[unsafe(no_mangle)]
        #[::pgrx::pg_guard]
        pub unsafe extern "C-unwind" fn $name(call: ::pgrx::pg_sys::FunctionCallInfo) -> ::pgrx::pg_sys::Datum {
            // SAFETY: PostgreSQL calls this with its call information, which lives until it
            // returns.
            unsafe { $crate::call::Call::run(call, stringify!($name), $body) }
        }
    )*};
}
pub(crate) use functions;

/// One call: its arguments and context.
pub(crate) struct Call(pg_sys::FunctionCallInfo);

impl Call {
    /// Runs a function and returns its result in PostgreSQL's form. An error does not return.
    ///
    /// # Safety
    /// `call` must be from PostgreSQL, for a function declared with the arguments that `body`
    /// reads.
    pub(crate) unsafe fn run(
        call: pg_sys::FunctionCallInfo,
        name: &'static str,
        body: fn(&Call) -> Outcome,
    ) -> pg_sys::Datum {
        match body(&Call(call)) {
            Ok(Some(value)) => value,
            // SAFETY: guaranteed by the caller.
            Ok(None) => unsafe { pgrx::fcinfo::pg_return_null(call) },
            Err(fault) => fault.report(name),
        }
    }

    /// The number of arguments.
    pub(crate) fn count(&self) -> usize {
        // SAFETY: the call is alive.
        unsafe { (*self.0).nargs as usize }
    }

    /// An argument, unless it is NULL or missing.
    pub(crate) fn datum(&self, index: usize) -> Option<pg_sys::Datum> {
        // SAFETY: the call is alive. Arguments beyond its count are not read.
        if index < self.count() { unsafe { pgrx::fcinfo::pg_getarg_datum(self.0, index) } } else { None }
    }

    /// An argument that is never NULL, because the function is declared STRICT.
    fn given(&self, index: usize) -> Result<pg_sys::Datum, Fault> {
        self.datum(index).ok_or(Fault::Defect("an argument is missing"))
    }

    /// An argument of type `bigint`.
    pub(crate) fn bigint(&self, index: usize) -> Result<i64, Fault> {
        Ok(self.given(index)?.value() as i64)
    }

    /// An argument of type `integer`.
    pub(crate) fn integer(&self, index: usize) -> Result<i32, Fault> {
        Ok(self.given(index)?.value() as i32)
    }

    /// An argument of type `smallint`.
    pub(crate) fn smallint(&self, index: usize) -> Result<i16, Fault> {
        Ok(self.given(index)?.value() as i16)
    }

    /// An argument of type `cstring`.
    pub(crate) fn cstring(&self, index: usize) -> Result<&str, Fault> {
        // SAFETY: the argument is declared as `cstring`, and lives as long as the call.
        let text = unsafe { CStr::from_ptr(self.given(index)?.cast_mut_ptr::<c_char>()) };
        text.to_str().map_err(|_| Fault::NotText)
    }

    /// An argument of type `numeric`, as text.
    pub(crate) fn numeric(&self, index: usize) -> Result<String, Fault> {
        let datum = self.given(index)?;
        // SAFETY: the argument is a numeric, and `numeric_out` allocates its text.
        let text = unsafe {
            let text = pg_sys::OidOutputFunctionCall(pg_sys::Oid::from(pg_sys::F_NUMERIC_OUT), datum);
            let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
            pg_sys::pfree(text.cast());
            copy
        };
        Ok(text)
    }

    /// An argument of type `bytea`, `text` or `ciphertext`. It is copied to new memory if it was
    /// compressed or stored out of line.
    pub(crate) fn bytes(&self, index: usize) -> Result<&[u8], Fault> {
        let datum = self.given(index)?;
        // SAFETY: the argument is a varlena. Unpacked bytes live in the call's memory context.
        unsafe { Ok(varlena_to_byte_slice(pg_sys::pg_detoast_datum_packed(datum.cast_mut_ptr()))) }
    }

    /// An argument of type `text`.
    pub(crate) fn text(&self, index: usize) -> Result<&str, Fault> {
        std::str::from_utf8(self.bytes(index)?).map_err(|_| Fault::NotText)
    }

    /// An argument of type `ciphertext`.
    pub(crate) fn number(&self, index: usize) -> Result<Number<'_>, Fault> {
        Number::read(self.bytes(index)?)
    }

    /// The rest of a message in an argument of type `internal`, all of which is consumed.
    pub(crate) fn message(&self, index: usize) -> Result<&[u8], Fault> {
        let datum = self.given(index)?;
        // SAFETY: receive functions get a buffer whose cursor is within its length.
        unsafe {
            let buffer = datum.cast_mut_ptr::<pg_sys::StringInfoData>();
            let (start, end) = ((*buffer).cursor as usize, (*buffer).len as usize);
            (*buffer).cursor = (*buffer).len;
            Ok(std::slice::from_raw_parts((*buffer).data.add(start).cast(), end - start))
        }
    }

    /// The pointer in an argument of type `internal`.
    pub(crate) fn pointer<T>(&self, index: usize) -> Option<*mut T> {
        self.datum(index).map(|datum| datum.cast_mut_ptr())
    }

    /// The memory context of the calling aggregate.
    pub(crate) fn aggregate_memory(&self) -> Result<pg_sys::MemoryContext, Fault> {
        let mut memory = std::ptr::null_mut();
        // SAFETY: PostgreSQL inspects the call and writes the context.
        let kind = unsafe { pg_sys::AggCheckCallContext(self.0, &raw mut memory) };
        if kind == 0 { Err(Fault::NoAggregate) } else { Ok(memory) }
    }

    /// The call in PostgreSQL's form.
    pub(crate) fn raw(&self) -> pg_sys::FunctionCallInfo {
        self.0
    }
}

/// A variable-length value that concatenates `parts`, in the current memory context.
pub(crate) fn varlena(parts: &[&[u8]]) -> pg_sys::Datum {
    let bytes: usize = parts.iter().map(|part| part.len()).sum();
    let size = bytes + pg_sys::VARHDRSZ;
    // SAFETY: palloc returns the requested bytes or raises an error. The parts are copied
    // consecutively.
    unsafe {
        let value = pg_sys::palloc(size).cast::<u8>();
        pgrx::varlena::set_varsize_4b(value.cast(), size as i32);
        let mut at = value.add(pg_sys::VARHDRSZ);
        for part in parts {
            at.copy_from_nonoverlapping(part.as_ptr(), part.len());
            at = at.add(part.len());
        }
        pg_sys::Datum::from(value)
    }
}

/// A `cstring` in the current memory context. The text must not contain a zero byte.
pub(crate) fn cstring(text: &str) -> pg_sys::Datum {
    // SAFETY: as for `varlena`.
    unsafe {
        let value = pg_sys::palloc(text.len() + 1).cast::<u8>();
        value.copy_from_nonoverlapping(text.as_ptr(), text.len());
        value.add(text.len()).write(0);
        pg_sys::Datum::from(value)
    }
}
