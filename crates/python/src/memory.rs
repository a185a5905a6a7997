//! Memory for large results: raises `MemoryError` when there is none, as NumPy does, instead of
//! ending the process.
//!
//! Batches use Rust's allocation, which aborts the process on failure. Each call therefore first
//! requests the memory it needs in a fallible way, and frees it immediately. If the operating
//! system promises more memory than it has, this check is no more reliable than for other programs.

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;

/// Bytes that any call may need in addition to its result: thread stacks and tables of powers.
const BESIDE: usize = 8 << 20;

/// Size in bytes below which a copy is not checked, because the interpreter itself allocates as
/// much.
const SMALL: usize = 1 << 16;

/// Like [`room`], for copies, which need no memory except their result. Small copies are not
/// checked.
pub(crate) fn room_to_copy(rows: usize, width: usize) -> PyResult<()> {
    if rows.saturating_mul(width) <= SMALL { Ok(()) } else { room(rows, width) }
}

/// Checks that there is memory for `rows` results of `width` bytes each.
pub(crate) fn room(rows: usize, width: usize) -> PyResult<()> {
    let bytes = rows.saturating_mul(width).saturating_add(BESIDE);
    let mut probe = Vec::<u8>::new();
    probe
        .try_reserve_exact(bytes)
        .map_err(|_| PyMemoryError::new_err(format!("no memory for {rows} rows of {width} bytes")))?;
    // Without this, the compiler may remove an unused allocation.
    std::hint::black_box(&mut probe);
    Ok(())
}
