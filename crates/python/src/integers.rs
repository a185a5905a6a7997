//! Integers as they cross the border: packed rows of little-endian two's complement, all of one
//! width.
//!
//! A NumPy array of `int64` is such rows of 8 bytes already, and a Python integer of any size packs
//! with `int.to_bytes`. The rows travel in a `bytearray`, which Python wipes when it has done with
//! it; whatever is copied here is wiped here.

use crate::memory::room;
use hearith_paillier::encoding::Signed;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use zeroize::Zeroizing;

/// Packed rows as Python holds them.
pub(crate) type Bytes<'py> = Bound<'py, PyByteArray>;

/// Bytes of an `i128`.
const WIDEST_SMALL: usize = 16;
/// Bytes that a width is a multiple of.
const LIMB: usize = 8;

/// Integers of 8 or 16 bytes each.
pub(crate) fn small(data: &Bytes<'_>, width: usize) -> PyResult<Zeroizing<Vec<i128>>> {
    room(data.len() / width.max(1), width + WIDEST_SMALL)?;
    let data = bytes(data);
    check(&data, width)?;
    if width > WIDEST_SMALL {
        return Err(PyValueError::new_err(format!("rows of {width} bytes are wider than {WIDEST_SMALL}")));
    }
    Ok(Zeroizing::new(data.chunks_exact(width).map(widened).collect()))
}

/// Integers of any width.
pub(crate) fn wide(data: &Bytes<'_>, width: usize) -> PyResult<Vec<Signed>> {
    // The copy, the limbs and what describes them.
    room(data.len() / width.max(1), 2 * width + 64)?;
    let data = bytes(data);
    check(&data, width)?;
    Ok(data.chunks_exact(width).map(signed).collect())
}

/// A copy of the rows.
pub(crate) fn bytes(data: &Bytes<'_>) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(data.to_vec())
}

/// Packs integers, as wide as the widest needs.
pub(crate) fn pack(integers: &[Signed]) -> (Zeroizing<Vec<u8>>, usize) {
    let width = integers.iter().map(needed).max().unwrap_or(LIMB);
    let mut data = Zeroizing::new(vec![0; integers.len() * width]);
    for (row, integer) in data.chunks_exact_mut(width).zip(integers) {
        fill(row, integer);
    }
    (data, width)
}

/// Packs integers of at most 128 bits: in 8 bytes each if all fit, else in 16.
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

/// A row of at most 16 bytes.
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

/// Two's complement of little-endian limbs.
fn negate(limbs: &mut [u64]) {
    let mut carry = true;
    for limb in limbs {
        (*limb, carry) = (!*limb).overflowing_add(carry.into());
    }
}

/// Bytes that hold an integer and its sign.
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
