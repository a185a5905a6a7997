//! `sum` and `avg`, also with a minimum number of rows: the functions that PostgreSQL calls for
//! each row, state and result.

use std::ptr;

use pgrx::pg_sys;

use crate::call::{Call, Outcome, varlena};
use crate::fault::Fault;
use crate::state::State;

/// The state in the first argument, or a new one.
fn state(call: &Call) -> Result<&'static mut State, Fault> {
    let memory = call.aggregate_memory()?;
    let state = call.pointer::<State>(0).unwrap_or_else(|| State::allocate(memory));
    // SAFETY: only functions of this module create states, and PostgreSQL calls one function at a
    // time.
    Ok(unsafe { &mut *state })
}

fn datum(state: &mut State) -> Outcome {
    Ok(Some(pg_sys::Datum::from(ptr::from_mut(state))))
}

/// Adds a row: `(internal, ciphertext [, min_rows integer])`.
pub(crate) fn step(call: &Call) -> Outcome {
    let state = state(call)?;
    if call.count() > 2 {
        // Reject NULL, because without a minimum a sum of any number of rows would be released.
        let least = call.integer(2).ok().filter(|&least| least > 0).ok_or(Fault::MinRows)?;
        if *state.min_rows.get_or_insert(least) != least {
            return Err(Fault::MinRows);
        }
    }
    if call.datum(1).is_some() {
        state.add(&call.number(1)?)?;
    }
    datum(state)
}

/// Removes a row that leaves a window frame.
pub(crate) fn remove(call: &Call) -> Outcome {
    let state = state(call)?;
    if call.datum(1).is_some() {
        state.remove(&call.number(1)?)?;
    }
    datum(state)
}

/// Merges two states.
pub(crate) fn combine(call: &Call) -> Outcome {
    let state = state(call)?;
    if let Some(other) = call.pointer::<State>(1) {
        // SAFETY: as for `state`; the two states are distinct.
        state.merge(unsafe { &mut *other })?;
    }
    datum(state)
}

/// Serialises a state for another process.
pub(crate) fn serialise(call: &Call) -> Outcome {
    let state = state(call)?;
    let (head, sum) = state.to_parts()?;
    Ok(Some(match sum {
        None => varlena(&[&head]),
        Some(sum) => varlena(&[&head, &sum.description.to_bytes(), sum.ciphertext]),
    }))
}

/// Deserialises a state from another process.
pub(crate) fn deserialise(call: &Call) -> Outcome {
    let state = State::allocate(call.aggregate_memory()?);
    // SAFETY: it was just created.
    let state = unsafe { &mut *state };
    state.read(call.bytes(0)?)?;
    datum(state)
}

/// The sum; NULL for no values or for fewer rows than the minimum.
pub(crate) fn sum(call: &Call) -> Outcome {
    let Some(state) = call.pointer::<State>(0) else { return Ok(None) };
    // SAFETY: as for `state`.
    let total = unsafe { &mut *state }.result()?;
    Ok(total.map(|total| total.datum()))
}

/// The mean as the declared composite type: the sum and the number of values.
pub(crate) fn mean(call: &Call) -> Outcome {
    let Some(state) = call.pointer::<State>(0) else { return Ok(None) };
    // SAFETY: as for `state`.
    let state = unsafe { &mut *state };
    let rows = state.rows;
    let Some(total) = state.result()? else { return Ok(None) };
    let mut values = [total.datum(), pg_sys::Datum::from(rows as i64)];
    let mut nulls = [false; 2];
    let mut descriptor = ptr::null_mut();
    // SAFETY: PostgreSQL fills the descriptor of the declared type, which has two fields of these
    // types.
    unsafe {
        let class = pg_sys::get_call_result_type(call.raw(), ptr::null_mut(), &raw mut descriptor);
        if class != pg_sys::TypeFuncClass::TYPEFUNC_COMPOSITE {
            return Err(Fault::Defect("a mean has another type"));
        }
        let descriptor = pg_sys::BlessTupleDesc(descriptor);
        let tuple = pg_sys::heap_form_tuple(descriptor, values.as_mut_ptr(), nulls.as_mut_ptr());
        Ok(Some(pg_sys::HeapTupleHeaderGetDatum((*tuple).t_data)))
    }
}
