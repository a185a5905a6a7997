//! Functions and settings as DuckDB gets them: registration, and the callbacks that lead to the functions.
//!
//! Every callback catches panics: none unwinds into DuckDB.

use std::any::Any;
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hearith_paillier::PrivateKey;
use libduckdb_sys as ffi;

use crate::chunk::{Chunk, Output};
use crate::fault::Fault;
use crate::functions::{key_argument, private_key};
use crate::host::Context;
use crate::keys::Keys;
use crate::sum::{Addends, Total, check_coprime};

/// A type of an argument or a result.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Type {
    Blob,
    Varchar,
    TinyInt,
    SmallInt,
    Integer,
    BigInt,
    HugeInt,
    Boolean,
}

/// What a scalar function does.
#[derive(Clone, Copy)]
pub(crate) enum Body {
    /// It computes with the loaded keys.
    Keys(fn(&Keys, &Chunk<'_>, &mut Output<'_>) -> Result<(), Fault>),
    /// It asks the session for files and settings.
    Context(fn(&Keys, &Context, &Chunk<'_>, &mut Output<'_>) -> Result<(), Fault>),
    /// It computes with the session's private key, read when the query is bound.
    Private(fn(&PrivateKey, &Chunk<'_>, &mut Output<'_>) -> Result<(), Fault>),
}

/// A scalar function.
#[derive(Clone, Copy)]
pub(crate) struct Scalar<'a> {
    pub(crate) name: &'static CStr,
    pub(crate) overloads: &'a [&'a [Type]],
    pub(crate) result: Type,
    pub(crate) body: Body,
    /// Whether two calls with the same arguments may differ.
    pub(crate) volatile: bool,
}

/// What a scalar function's callbacks get to see of it.
struct Function {
    name: &'static CStr,
    keys: Keys,
    body: Body,
}

/// The name of the aggregate.
const SUM: &CStr = c"he_sum";

/// The memory of an aggregate's state: nothing, or the total so far.
type Slot = Option<Box<Total>>;

/// A connection over which functions are registered.
pub(crate) struct Registrar(ffi::duckdb_connection);

impl Registrar {
    /// # Safety
    /// `database` must be one that is open.
    pub(crate) unsafe fn connect(database: ffi::duckdb_database) -> Result<Self, Fault> {
        let mut connection = std::ptr::null_mut();
        // SAFETY: the caller's promise.
        match unsafe { ffi::duckdb_connect(database, &mut connection) } {
            ffi::duckdb_state_DuckDBSuccess => Ok(Self(connection)),
            _ => Err(Fault::Host("a connection")),
        }
    }

    /// Registers a setting of sessions, which is the empty text or false until it is set.
    pub(crate) fn setting(&self, name: &CStr, kind: Type, description: &CStr) -> Result<(), Fault> {
        // SAFETY: every handle is made here and given back once; DuckDB copies the texts.
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

    /// Registers a scalar function with all its overloads.
    pub(crate) fn scalar(&self, keys: &Keys, scalar: Scalar<'_>) -> Result<(), Fault> {
        // SAFETY: every handle is made here and given back once; a boxed function goes to each overload, which drops it.
        let state = unsafe {
            let mut set = ffi::duckdb_create_scalar_function_set(scalar.name.as_ptr());
            for parameters in scalar.overloads {
                let mut function = ffi::duckdb_create_scalar_function();
                ffi::duckdb_scalar_function_set_name(function, scalar.name.as_ptr());
                for kind in *parameters {
                    let mut kind = kind.create();
                    ffi::duckdb_scalar_function_add_parameter(function, kind);
                    ffi::duckdb_destroy_logical_type(&mut kind);
                }
                let mut kind = scalar.result.create();
                ffi::duckdb_scalar_function_set_return_type(function, kind);
                ffi::duckdb_destroy_logical_type(&mut kind);
                // Nulls are told apart by the functions, row by row.
                ffi::duckdb_scalar_function_set_special_handling(function);
                if scalar.volatile {
                    ffi::duckdb_scalar_function_set_volatile(function);
                }
                let extra = Function { name: scalar.name, keys: keys.clone(), body: scalar.body };
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

    /// Registers `he_sum`.
    pub(crate) fn sum(&self, keys: &Keys) -> Result<(), Fault> {
        // SAFETY: as for scalar functions.
        let state = unsafe {
            let mut set = ffi::duckdb_create_aggregate_function_set(SUM.as_ptr());
            for parameters in [&[Type::Blob][..], &[Type::Blob, Type::Varchar]] {
                let mut function = ffi::duckdb_create_aggregate_function();
                ffi::duckdb_aggregate_function_set_name(function, SUM.as_ptr());
                for kind in parameters {
                    let mut kind = kind.create();
                    ffi::duckdb_aggregate_function_add_parameter(function, kind);
                    ffi::duckdb_destroy_logical_type(&mut kind);
                }
                let mut kind = Type::Blob.create();
                ffi::duckdb_aggregate_function_set_return_type(function, kind);
                ffi::duckdb_destroy_logical_type(&mut kind);
                let (extra, dropper) = owned(keys.clone());
                ffi::duckdb_aggregate_function_set_extra_info(function, extra, dropper);
                ffi::duckdb_aggregate_function_set_functions(
                    function,
                    Some(state_size),
                    Some(state_init),
                    Some(update),
                    Some(combine),
                    Some(finalize),
                );
                ffi::duckdb_aggregate_function_set_destructor(function, Some(destroy));
                ffi::duckdb_add_aggregate_function_to_set(set, function);
                ffi::duckdb_destroy_aggregate_function(&mut function);
            }
            let state = ffi::duckdb_register_aggregate_function_set(self.0, set);
            ffi::duckdb_destroy_aggregate_function_set(&mut set);
            state
        };
        succeeded(state, "the aggregate he_sum")
    }
}

impl Drop for Registrar {
    fn drop(&mut self) {
        // SAFETY: owned by this, and not used again.
        unsafe { ffi::duckdb_disconnect(&mut self.0) }
    }
}

impl Type {
    /// A handle that the caller gives back.
    fn create(self) -> ffi::duckdb_logical_type {
        let id = match self {
            Self::Blob => ffi::DUCKDB_TYPE_DUCKDB_TYPE_BLOB,
            Self::Varchar => ffi::DUCKDB_TYPE_DUCKDB_TYPE_VARCHAR,
            Self::TinyInt => ffi::DUCKDB_TYPE_DUCKDB_TYPE_TINYINT,
            Self::SmallInt => ffi::DUCKDB_TYPE_DUCKDB_TYPE_SMALLINT,
            Self::Integer => ffi::DUCKDB_TYPE_DUCKDB_TYPE_INTEGER,
            Self::BigInt => ffi::DUCKDB_TYPE_DUCKDB_TYPE_BIGINT,
            Self::HugeInt => ffi::DUCKDB_TYPE_DUCKDB_TYPE_HUGEINT,
            Self::Boolean => ffi::DUCKDB_TYPE_DUCKDB_TYPE_BOOLEAN,
        };
        // SAFETY: an id of DuckDB's.
        unsafe { ffi::duckdb_create_logical_type(id) }
    }
}

fn succeeded(state: ffi::duckdb_state, what: &'static str) -> Result<(), Fault> {
    match state {
        ffi::duckdb_state_DuckDBSuccess => Ok(()),
        _ => Err(Fault::Host(what)),
    }
}

/// A value that DuckDB keeps, and how it is dropped.
fn owned<T>(value: T) -> (*mut c_void, ffi::duckdb_delete_callback_t) {
    /// # Safety
    /// DuckDB calls this once, with the value that it was given.
    unsafe extern "C" fn dropper<T>(value: *mut c_void) {
        // SAFETY: made by `Box::into_raw` below, and not used again.
        let value = unsafe { Box::from_raw(value.cast::<T>()) };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(value)));
    }
    (Box::into_raw(Box::new(value)).cast(), Some(dropper::<T>))
}

/// Runs a function and tells `report` of an error, be it a panic.
pub(crate) fn guarded(name: &CStr, function: impl FnOnce() -> Result<(), Fault>, report: impl FnOnce(&CStr)) {
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

/// A scalar function on a chunk.
///
/// # Safety
/// DuckDB calls this with what belongs to one call of a function registered above.
unsafe extern "C" fn call(info: ffi::duckdb_function_info, chunk: ffi::duckdb_data_chunk, output: ffi::duckdb_vector) {
    // SAFETY: the extra information is a `Function`, a context's function has an initial state that is a `Context`, a
    // private one's bind data are an `Arc<PrivateKey>`; chunk and output live as long as the call.
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
                    let key = &*ffi::duckdb_scalar_function_get_bind_data(info).cast::<Arc<PrivateKey>>();
                    body(key, &chunk, &mut output)
                }
            }
        };
        guarded(function.name, run, |text| ffi::duckdb_scalar_function_set_error(info, text.as_ptr()));
    }
}

/// Keeps the session's context for the calls of one thread of a query.
///
/// # Safety
/// As [`call`].
unsafe extern "C" fn init(info: ffi::duckdb_init_info) {
    // SAFETY: the context is made for us, and outlived by the query whose state keeps it.
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
        // SAFETY: what was set below.
        owned(unsafe { &*data.cast::<Arc<PrivateKey>>() }.clone()).0
    }
    // SAFETY: the extra information is a `Function`; the context is made for us and dropped here.
    unsafe {
        let function = &*ffi::duckdb_scalar_function_bind_get_extra_info(info).cast::<Function>();
        let run = || {
            let mut raw = std::ptr::null_mut();
            ffi::duckdb_scalar_function_get_client_context(info, &mut raw);
            let key = private_key(&function.keys, &Context::new(raw))?;
            let (key, dropper) = owned(Arc::new(key));
            ffi::duckdb_scalar_function_set_bind_data(info, key, dropper);
            ffi::duckdb_scalar_function_set_bind_data_copy(info, Some(copy));
            Ok(())
        };
        guarded(function.name, run, |text| ffi::duckdb_scalar_function_bind_set_error(info, text.as_ptr()));
    }
}

/// # Safety
/// None is needed.
unsafe extern "C" fn state_size(_: ffi::duckdb_function_info) -> ffi::idx_t {
    size_of::<Slot>() as ffi::idx_t
}

/// # Safety
/// DuckDB calls this with memory for one state.
unsafe extern "C" fn state_init(_: ffi::duckdb_function_info, state: ffi::duckdb_aggregate_state) {
    // SAFETY: the memory has room for a slot.
    unsafe { state.cast::<Slot>().write(None) }
}

/// The different slots among states, and for each state the number of its slot.
struct Slots {
    slots: Vec<*mut Slot>,
    groups: Vec<usize>,
}

impl Slots {
    fn new(states: impl Iterator<Item = ffi::duckdb_aggregate_state>) -> Self {
        let mut numbers = HashMap::new();
        let mut slots = Vec::new();
        let number = |state: ffi::duckdb_aggregate_state| {
            *numbers.entry(state).or_insert_with(|| {
                slots.push(state.cast());
                slots.len() - 1
            })
        };
        let groups = states.map(number).collect();
        Self { slots, groups }
    }

    /// Adds the totals so far to the addends and keeps the new ones.
    ///
    /// # Safety
    /// The slots must live, and nobody else use them meanwhile.
    unsafe fn add(&self, mut addends: Addends<'_>) -> Result<(), Fault> {
        for (group, &slot) in self.slots.iter().enumerate() {
            // SAFETY: the caller's promise.
            if let Some(total) = unsafe { &*slot } {
                addends.push_total(group, total)?;
            }
        }
        for (&slot, total) in self.slots.iter().zip(addends.totals()?) {
            // SAFETY: the caller's promise; the slots differ, and nothing borrows from them any more.
            unsafe { *slot = total.map(Box::new) };
        }
        Ok(())
    }
}

/// Adds rows to the totals of their groups.
///
/// # Safety
/// DuckDB calls this with the rows' chunk and one state a row.
unsafe extern "C" fn update(
    info: ffi::duckdb_function_info,
    chunk: ffi::duckdb_data_chunk,
    states: *mut ffi::duckdb_aggregate_state,
) {
    // SAFETY: the extra information is `Keys`; the states are this thread's alone.
    unsafe {
        let keys = &*ffi::duckdb_aggregate_function_get_extra_info(info).cast::<Keys>();
        let run = || {
            let chunk = Chunk::new(chunk);
            let values = chunk.column(0).ok_or(Fault::Host("the number of arguments"))?;
            let rows: Vec<usize> = (0..chunk.rows()).filter(|&row| values.is_valid(row)).collect();
            if rows.is_empty() {
                return Ok(());
            }
            let key = key_argument(keys, &chunk, 1)?;
            let slots = Slots::new(rows.iter().map(|&row| *states.add(row)));
            let mut addends = Addends::new(&key, rows.len(), slots.slots.len());
            for (&row, &group) in rows.iter().zip(&slots.groups) {
                addends.push(group, values.bytes(row).unwrap_or_default())?;
            }
            slots.add(addends)
        };
        guarded(SUM, run, |text| ffi::duckdb_aggregate_function_set_error(info, text.as_ptr()));
    }
}

/// Adds the totals of one thread to those of another.
///
/// # Safety
/// DuckDB calls this with `count` pairs of states.
unsafe extern "C" fn combine(
    info: ffi::duckdb_function_info,
    sources: *mut ffi::duckdb_aggregate_state,
    targets: *mut ffi::duckdb_aggregate_state,
    count: ffi::idx_t,
) {
    // SAFETY: the states are this thread's alone; sources are only read.
    unsafe {
        let run = || {
            let source = |pair: usize| (*(*sources.add(pair)).cast::<Slot>()).as_deref();
            let pairs: Vec<usize> = (0..count as usize).filter(|&pair| source(pair).is_some()).collect();
            let Some(first) = pairs.first().and_then(|&pair| source(pair)) else { return Ok(()) };
            let slots = Slots::new(pairs.iter().map(|&pair| *targets.add(pair)));
            let mut addends = Addends::new(&first.key, pairs.len(), slots.slots.len());
            for (total, &group) in pairs.iter().filter_map(|&pair| source(pair)).zip(&slots.groups) {
                addends.push_total(group, total)?;
            }
            slots.add(addends)
        };
        guarded(SUM, run, |text| ffi::duckdb_aggregate_function_set_error(info, text.as_ptr()));
    }
}

/// Writes totals to the rows of a result, null for one that nothing was added to.
///
/// # Safety
/// DuckDB calls this with `count` states and a vector with room for them from `offset` on.
unsafe extern "C" fn finalize(
    info: ffi::duckdb_function_info,
    states: *mut ffi::duckdb_aggregate_state,
    output: ffi::duckdb_vector,
    count: ffi::idx_t,
    offset: ffi::idx_t,
) {
    // SAFETY: the states live and are only read.
    unsafe {
        let run = || {
            let mut output = Output::new(output, offset as usize);
            let total = |row: usize| (*(*states.add(row)).cast::<Slot>()).as_deref();
            let totals: Vec<Option<&Total>> = (0..count as usize).map(total).collect();
            check_coprime(&totals.iter().copied().flatten().collect::<Vec<_>>())?;
            for (row, total) in totals.into_iter().enumerate() {
                match total {
                    Some(total) => output.set_bytes(row, &total.ciphertext),
                    None => output.set_null(row),
                }
            }
            Ok(())
        };
        guarded(SUM, run, |text| ffi::duckdb_aggregate_function_set_error(info, text.as_ptr()));
    }
}

/// Drops totals.
///
/// # Safety
/// DuckDB calls this once for each state.
unsafe extern "C" fn destroy(states: *mut ffi::duckdb_aggregate_state, count: ffi::idx_t) {
    // SAFETY: the states are slots, and not used again.
    unsafe {
        for index in 0..count as usize {
            let slot = (*states.add(index)).cast::<Slot>();
            let _ = catch_unwind(AssertUnwindSafe(|| drop(std::mem::take(&mut *slot))));
        }
    }
}
