//! Integers in the exchange format with Python: packed rows of little-endian two's complement, all
//! of one width.
//!
//! A NumPy array of `int64` already consists of such 8-byte rows, and Python integers of any size
//! pack with `int.to_bytes`. The rows are in a `bytearray`, which Python wipes after use. Copies
//! made here are wiped here.

use crate::memory::room;
use hearith_paillier::encoding::Signed;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use zeroize::Zeroizing;

/// Packed rows in Python's memory.
pub(crate) type Bytes<'py> = Bound<'py, PyByteArray>;

/// Bytes of an `i128`.
const WIDEST_SMALL: usize = 16;
/// Widths are multiples of this number of bytes.
const LIMB: usize = 8;

/// Reads integers of 8 or 16 bytes each.
pub(crate) fn small(data: &Bytes<'_>, width: usize) -> PyResult<Zeroizing<Vec<i128>>> {
    room(data.len() / width.max(1), width + WIDEST_SMALL)?;
    let data = bytes(data);
    check(&data, width)?;
    if width > WIDEST_SMALL {
        return Err(PyValueError::new_err(format!("rows of {width} bytes are wider than {WIDEST_SMALL}")));
    }
    Ok(Zeroizing::new(data.chunks_exact(width).map(widened).collect()))
}

/// Reads integers of any width.
pub(crate) fn wide(data: &Bytes<'_>, width: usize) -> PyResult<Vec<Signed>> {
    // Space for the copy, the limbs and their structures.
    room(data.len() / width.max(1), 2 * width + 64)?;
    let data = bytes(data);
    check(&data, width)?;
    Ok(data.chunks_exact(width).map(signed).collect())
}

/// Copies the rows.
pub(crate) fn bytes(data: &Bytes<'_>) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(data.to_vec())
}

/// Packs integers with the smallest width that holds all of them.
pub(crate) fn pack(integers: &[Signed]) -> (Zeroizing<Vec<u8>>, usize) {
    let width = integers.iter().map(needed).max().unwrap_or(LIMB);
    let mut data = Zeroizing::new(vec![0; integers.len() * width]);
    for (row, integer) in data.chunks_exact_mut(width).zip(integers) {
        fill(row, integer);
    }
    (data, width)
}

/// Packs integers of at most 128 bits, in 8 bytes each if all fit, otherwise in 16.
pub(crate) fn pack_small(integers: &[i128]) -> (Zeroizing<Vec<u8>>, usize) {
    let narrow = integers.iter().fold(true, |narrow, &integer| narrow & (integer == i128::from(integer as i64)));
    let width = if narrow { LIMB } else { WIDEST_SMALL };
    let mut data = Zeroizing::new(Vec::with_capacity(width * integers.len()));
    integers.iter().for_each(|integer| data.extend_from_slice(&integer.to_le_bytes()[..width]));
    (data, width)
}

fn check(data: &[u8], width: usize) -> PyResult<()> {
    match width > 0 && width.is_multiple_of(LIMB) && data.len().is_multiple_of(width) {
        true => Ok(()),
        false => Err(PyValueError::new_err(format!("{} bytes are not rows of {width} bytes", data.len()))),
    }
}

/// Extends a row of at most 16 bytes.
fn widened(row: &[u8]) -> i128 {
    let fill = if row.last().is_some_and(|byte| byte >> 7 == 1) { 0xff } else { 0 };
    let mut bytes = [fill; WIDEST_SMALL];
    bytes[..row.len()].copy_from_slice(row);
    i128::from_le_bytes(bytes)
}

fn signed(row: &[u8]) -> Signed {
    let negative = row.last().is_some_and(|byte| byte >> 7 == 1);
    let mut limbs: Vec<u64> =
        row.chunks_exact(LIMB).map(|limb| limb.iter().rfold(0, |n, &b| n << 8 | u64::from(b))).collect();
    if negative {
        negate(&mut limbs);
    }
    Signed::new(negative, limbs)
}

/// Negates little-endian limbs in two's complement.
fn negate(limbs: &mut [u64]) {
    let mut carry = true;
    for limb in limbs {
        (*limb, carry) = (!*limb).overflowing_add(carry.into());
    }
}

/// The bytes needed for an integer and its sign.
fn needed(integer: &Signed) -> usize {
    let limbs = integer.magnitude();
    let used = limbs.iter().rposition(|&limb| limb != 0).map_or(0, |last| last + 1);
    let sign_free = used > 0 && limbs[used - 1] >> 63 == 0;
    LIMB * (used + usize::from(!sign_free)).max(1)
}

fn fill(row: &mut [u8], integer: &Signed) {
    let mut limbs = Zeroizing::new(vec![0; row.len() / LIMB]);
    for (limb, &found) in limbs.iter_mut().zip(integer.magnitude()) {
        *limb = found;
    }
    if integer.is_negative() {
        negate(&mut limbs);
    }
    for (bytes, limb) in row.chunks_exact_mut(LIMB).zip(limbs.iter()) {
        bytes.copy_from_slice(&limb.to_le_bytes());
    }
}
