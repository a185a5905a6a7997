//! Room for large results: `MemoryError` where there is none, as with NumPy, instead of the end of
//! the process.
//!
//! Batches allocate as Rust does, which aborts the process when an allocation fails. So what a call
//! is going to need is asked for beforehand, in a way that may fail, and given back at once. Where
//! the operating system promises more memory than it has, that says no more than it does to other
//! programs.

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;

/// Bytes that any call may need beside its result: stacks of threads, tables of powers.
const BESIDE: usize = 8 << 20;

/// Bytes of a copy that are not asked for beforehand: the interpreter takes as much at any time.
const SMALL: usize = 1 << 16;

/// As [`room`], for copies, which take nothing beside their result: a few rows are not worth
/// asking.
pub(crate) fn room_to_copy(rows: usize, width: usize) -> PyResult<()> {
    if rows.saturating_mul(width) <= SMALL { Ok(()) } else { room(rows, width) }
}

/// Checks that there is room for `rows` results of `width` bytes each.
pub(crate) fn room(rows: usize, width: usize) -> PyResult<()> {
    let bytes = rows.saturating_mul(width).saturating_add(BESIDE);
    let mut probe = Vec::<u8>::new();
    probe
        .try_reserve_exact(bytes)
        .map_err(|_| PyMemoryError::new_err(format!("no memory for {rows} rows of {width} bytes")))?;
    // Else the compiler may leave out an allocation that nobody uses.
    std::hint::black_box(&mut probe);
    Ok(())
}
