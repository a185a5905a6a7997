//! PostgreSQL's calling convention: arguments, results and errors of the functions that SQL names.

use std::ffi::{CStr, c_char};

use pgrx::pg_sys;
use pgrx::varlena::varlena_to_byte_slice;

use crate::fault::Fault;
use crate::value::Number;

/// What a function gives: a value, or NULL.
pub(crate) type Outcome = Result<Option<pg_sys::Datum>, Fault>;

/// The symbols by which PostgreSQL finds functions: `pg_finfo_NAME` says which convention `NAME`
/// has.
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

/// One call: its arguments, and what it is called in.
pub(crate) struct Call(pg_sys::FunctionCallInfo);

impl Call {
    /// Runs a function and gives its result as PostgreSQL wants it; an error does not return.
    ///
    /// # Safety
    /// `call` is PostgreSQL's for a function declared with the arguments that `body` reads.
    pub(crate) unsafe fn run(
        call: pg_sys::FunctionCallInfo,
        name: &'static str,
        body: fn(&Call) -> Outcome,
    ) -> pg_sys::Datum {
        match body(&Call(call)) {
            Ok(Some(value)) => value,
            // SAFETY: the caller's promise.
            Ok(None) => unsafe { pgrx::fcinfo::pg_return_null(call) },
            Err(fault) => fault.report(name),
        }
    }

    /// How many arguments were given.
    pub(crate) fn count(&self) -> usize {
        // SAFETY: the call lives.
        unsafe { (*self.0).nargs as usize }
    }

    /// An argument, unless it is NULL or was not given.
    pub(crate) fn datum(&self, index: usize) -> Option<pg_sys::Datum> {
        // SAFETY: the call lives; arguments beyond its count are not read.
        if index < self.count() { unsafe { pgrx::fcinfo::pg_getarg_datum(self.0, index) } } else { None }
    }

    /// An argument that is never NULL, since the function is declared STRICT.
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
        // SAFETY: declared so; it lives as long as the call.
        let text = unsafe { CStr::from_ptr(self.given(index)?.cast_mut_ptr::<c_char>()) };
        text.to_str().map_err(|_| Fault::NotText)
    }

    /// An argument of type `numeric`, as text.
    pub(crate) fn numeric(&self, index: usize) -> Result<String, Fault> {
        let datum = self.given(index)?;
        // SAFETY: the argument is a numeric, whose text `numeric_out` allocates.
        let text = unsafe {
            let text = pg_sys::OidOutputFunctionCall(pg_sys::Oid::from(pg_sys::F_NUMERIC_OUT), datum);
            let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
            pg_sys::pfree(text.cast());
            copy
        };
        Ok(text)
    }

    /// An argument of type `bytea`, `text` or `ciphertext`, in memory of its own if it was
    /// compressed or stored elsewhere.
    pub(crate) fn bytes(&self, index: usize) -> Result<&[u8], Fault> {
        let datum = self.given(index)?;
        // SAFETY: the argument is a varlena; what is unpacked lives in the call's memory context.
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

    /// What is left of a message that an argument of type `internal` holds: all of it is taken.
    pub(crate) fn message(&self, index: usize) -> Result<&[u8], Fault> {
        let datum = self.given(index)?;
        // SAFETY: receive functions get a buffer, whose cursor is within its length.
        unsafe {
            let buffer = datum.cast_mut_ptr::<pg_sys::StringInfoData>();
            let (start, end) = ((*buffer).cursor as usize, (*buffer).len as usize);
            (*buffer).cursor = (*buffer).len;
            Ok(std::slice::from_raw_parts((*buffer).data.add(start).cast(), end - start))
        }
    }

    /// A pointer that an argument of type `internal` holds.
    pub(crate) fn pointer<T>(&self, index: usize) -> Option<*mut T> {
        self.datum(index).map(|datum| datum.cast_mut_ptr())
    }

    /// The memory of the aggregate that this is called for.
    pub(crate) fn aggregate_memory(&self) -> Result<pg_sys::MemoryContext, Fault> {
        let mut memory = std::ptr::null_mut();
        // SAFETY: PostgreSQL looks at the call and writes the context.
        let kind = unsafe { pg_sys::AggCheckCallContext(self.0, &raw mut memory) };
        if kind == 0 { Err(Fault::NoAggregate) } else { Ok(memory) }
    }

    /// The call as PostgreSQL knows it.
    pub(crate) fn raw(&self) -> pg_sys::FunctionCallInfo {
        self.0
    }
}

/// A value of variable length made of parts, in the current memory context.
pub(crate) fn varlena(parts: &[&[u8]]) -> pg_sys::Datum {
    let bytes: usize = parts.iter().map(|part| part.len()).sum();
    let size = bytes + pg_sys::VARHDRSZ;
    // SAFETY: palloc gives so many bytes or raises an error; parts are copied one after another.
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

/// A `cstring` in the current memory context. The text has no zero byte.
pub(crate) fn cstring(text: &str) -> pg_sys::Datum {
    // SAFETY: as for `varlena`.
    unsafe {
        let value = pg_sys::palloc(text.len() + 1).cast::<u8>();
        value.copy_from_nonoverlapping(text.as_ptr(), text.len());
        value.add(text.len()).write(0);
        pg_sys::Datum::from(value)
    }
}
