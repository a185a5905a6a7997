//! The aggregates registered with DuckDB: `he_sum`, and `he_avg`, which also counts.
//!
//! Both keep the same state, a total with its number of rows, and differ only in their results.

use std::collections::HashMap;
use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};

use libduckdb_sys as ffi;

use crate::chunk::{Chunk, Output};
use crate::fault::Fault;
use crate::functions::key_argument;
use crate::keys::Keys;
use crate::register::{Registrar, Type, catch_panic, owned, succeeded};
use crate::sum::{Addends, Total, check_coprime};

/// The result of an aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The ciphertext of the sum, null if nothing was added.
    Sum,
    /// A structure of that ciphertext, `sum`, and the number of summed rows, `count`.
    SumAndCount,
}

/// The extra information that an aggregate's callbacks receive.
struct Aggregate {
    name: &'static CStr,
    keys: Keys,
    outcome: Outcome,
}

/// The memory of an aggregate's state: empty, or the total so far.
type Slot = Option<Box<Total>>;

impl Registrar {
    /// Registers an aggregate under one name.
    pub(crate) fn aggregate(&self, name: &'static CStr, keys: &Keys, outcome: Outcome) -> Result<(), Fault> {
        // SAFETY: as for scalar functions.
        let state = unsafe {
            let mut set = ffi::duckdb_create_aggregate_function_set(name.as_ptr());
            for parameters in [&[Type::Blob][..], &[Type::Blob, Type::Varchar]] {
                let mut function = ffi::duckdb_create_aggregate_function();
                ffi::duckdb_aggregate_function_set_name(function, name.as_ptr());
                for kind in parameters {
                    let mut kind = kind.create();
                    ffi::duckdb_aggregate_function_add_parameter(function, kind);
                    ffi::duckdb_destroy_logical_type(&mut kind);
                }
                let mut kind = outcome.create();
                ffi::duckdb_aggregate_function_set_return_type(function, kind);
                ffi::duckdb_destroy_logical_type(&mut kind);
                let (extra, dropper) = owned(Aggregate { name, keys: keys.clone(), outcome });
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
        succeeded(state, "an aggregate")
    }
}

impl Outcome {
    /// Creates a handle of the result's type, which the caller must destroy.
    fn create(self) -> ffi::duckdb_logical_type {
        if self == Self::Sum {
            return Type::Blob.create();
        }
        let mut names = [c"sum".as_ptr(), c"count".as_ptr()];
        let mut kinds = [Type::Blob.create(), Type::BigInt.create()];
        // SAFETY: both arrays have two members and are alive. DuckDB copies them, and the members'
        // types are destroyed here.
        unsafe {
            let kind = ffi::duckdb_create_struct_type(kinds.as_mut_ptr(), names.as_mut_ptr(), 2);
            kinds.iter_mut().for_each(|kind| ffi::duckdb_destroy_logical_type(kind));
            kind
        }
    }
}

/// The aggregate of a callback.
///
/// # Safety
/// `info` must come from DuckDB's call of a function registered above. It must outlive the result.
unsafe fn aggregate<'a>(info: ffi::duckdb_function_info) -> &'a Aggregate {
    // SAFETY: that is the function's extra information.
    unsafe { &*ffi::duckdb_aggregate_function_get_extra_info(info).cast::<Aggregate>() }
}

/// # Safety
/// No requirements.
unsafe extern "C" fn state_size(_: ffi::duckdb_function_info) -> ffi::idx_t {
    size_of::<Slot>() as ffi::idx_t
}

/// # Safety
/// DuckDB calls this with memory for one state.
unsafe extern "C" fn state_init(_: ffi::duckdb_function_info, state: ffi::duckdb_aggregate_state) {
    // SAFETY: the memory can hold a slot.
    unsafe { state.cast::<Slot>().write(None) }
}

/// The distinct slots among states, and for each state the index of its slot.
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

    /// Adds the previous totals to the addends, and stores the new totals.
    ///
    /// # Safety
    /// The slots must be alive, and nobody else may access them during the call.
    unsafe fn add(&self, mut addends: Addends<'_>) -> Result<(), Fault> {
        for (group, &slot) in self.slots.iter().enumerate() {
            // SAFETY: guaranteed by the caller.
            if let Some(total) = unsafe { &*slot } {
                addends.push_total(group, total)?;
            }
        }
        for (&slot, total) in self.slots.iter().zip(addends.totals()?) {
            // SAFETY: guaranteed by the caller. The slots are distinct, and nothing borrows from
            // them any more.
            unsafe { *slot = total.map(Box::new) };
        }
        Ok(())
    }
}

/// Adds rows to the totals of their groups.
///
/// # Safety
/// DuckDB calls this with the rows' chunk and one state per row.
unsafe extern "C" fn update(
    info: ffi::duckdb_function_info,
    chunk: ffi::duckdb_data_chunk,
    states: *mut ffi::duckdb_aggregate_state,
) {
    // SAFETY: only this thread accesses the states.
    unsafe {
        let function = aggregate(info);
        let run = || {
            let chunk = Chunk::new(chunk);
            let values = chunk.column(0).ok_or(Fault::Host("the number of arguments"))?;
            let rows: Vec<usize> = (0..chunk.rows()).filter(|&row| values.is_valid(row)).collect();
            if rows.is_empty() {
                return Ok(());
            }
            let key = key_argument(&function.keys, &chunk, 1)?;
            let slots = Slots::new(rows.iter().map(|&row| *states.add(row)));
            let mut addends = Addends::new(&key, rows.len(), slots.slots.len()).by(function.keys.backend(&key)?);
            for (&row, &group) in rows.iter().zip(&slots.groups) {
                addends.push(group, values.bytes(row).unwrap_or_default())?;
            }
            slots.add(addends)
        };
        catch_panic(function.name, run, |text| ffi::duckdb_aggregate_function_set_error(info, text.as_ptr()));
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
    // SAFETY: only this thread accesses the states, and sources are only read.
    unsafe {
        let function = aggregate(info);
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
        catch_panic(function.name, run, |text| ffi::duckdb_aggregate_function_set_error(info, text.as_ptr()));
    }
}

/// Writes totals to the rows of a result, null for totals without addends.
///
/// # Safety
/// DuckDB calls this with `count` states, and a vector with that many rows from `offset` on.
unsafe extern "C" fn finalize(
    info: ffi::duckdb_function_info,
    states: *mut ffi::duckdb_aggregate_state,
    output: ffi::duckdb_vector,
    count: ffi::idx_t,
    offset: ffi::idx_t,
) {
    // SAFETY: the states are alive and only read. The vector has the registered result type.
    unsafe {
        let function = aggregate(info);
        let run = || {
            let offset = offset as usize;
            let (mut sums, counts) = match function.outcome {
                Outcome::Sum => (Output::new(output, offset), None),
                Outcome::SumAndCount => {
                    let child = |index| Output::new(ffi::duckdb_struct_vector_get_child(output, index), offset);
                    (child(0), Some(child(1)))
                }
            };
            let total = |row: usize| (*(*states.add(row)).cast::<Slot>()).as_deref();
            let totals: Vec<Option<&Total>> = (0..count as usize).map(total).collect();
            check_coprime(&totals.iter().copied().flatten().collect::<Vec<_>>())?;
            if let Some(mut counts) = counts {
                for (row, total) in totals.iter().enumerate() {
                    counts.set_count(row, total.map_or(0, |total| total.rows));
                }
            }
            for (row, total) in totals.into_iter().enumerate() {
                match total {
                    Some(total) => sums.set_bytes(row, &total.ciphertext),
                    None => sums.set_null(row),
                }
            }
            Ok(())
        };
        catch_panic(function.name, run, |text| ffi::duckdb_aggregate_function_set_error(info, text.as_ptr()));
    }
}

/// Drops totals.
///
/// # Safety
/// DuckDB calls this once for each state.
unsafe extern "C" fn destroy(states: *mut ffi::duckdb_aggregate_state, count: ffi::idx_t) {
    // SAFETY: the states are slots that are not used again.
    unsafe {
        for index in 0..count as usize {
            let slot = (*states.add(index)).cast::<Slot>();
            let _ = catch_unwind(AssertUnwindSafe(|| drop(std::mem::take(&mut *slot))));
        }
    }
}
