//! Reciprocals by Newton's iteration.
//!
//! For `a` of `k` limbs with its top bit set, `B = 2^64` and `h = floor(k / 2) + 1`, let `v` be the
//! reciprocal `floor(B^(2 h) / a')` of its upper `h` limbs `a'`. Let `e = B^(k + h) - a v`, whose
//! magnitude is below `2 B^k`. Since an iteration squares the error,
//! `w = v B^(k - h) + v e / B^(2 h)` differs from `B^(2 k) / a` by at most `8 B^(k - 2 h) < 1`.
//! Rounding adds an error of a unit or two. The exact remainder corrects it, so every reciprocal is
//! exact.

use crate::plan::TransformPlan;
use crate::{NttError, Ring};
use hearith_arith::Engine;
use hearith_arith::natural::product as schoolbook;
use std::cmp::Ordering;

/// Factors of fewer limbs use schoolbook multiplication.
const SHORT: usize = 64;
/// Reciprocals of numbers with up to this many limbs are computed bit by bit.
const LEAST: usize = 3;

/// `floor(2^(64 limbs) / a)`, without leading zero limbs; one limb if it is zero.
///
/// ```
/// use hearith_arith::Engine;
/// use hearith_ntt::reciprocal;
/// assert_eq!(reciprocal(Engine::best(), &[3], 2)?, [0x5555_5555_5555_5555, 0x5555_5555_5555_5555]);
/// # Ok::<(), hearith_ntt::NttError>(())
/// ```
///
/// # Errors
/// [`NttError::ZeroModulus`], and the errors of [`Ring::new`].
pub fn reciprocal(engine: Engine, a: &[u64], limbs: usize) -> Result<Vec<u64>, NttError> {
    engine.available()?;
    let a = trimmed(a);
    if a.is_empty() {
        return Err(NttError::ZeroModulus);
    }
    // Checked before any allocation.
    TransformPlan::of(limbs, 1).ok_or(NttError::Size { limbs, terms: 1 })?;
    if limbs + 1 < a.len() {
        return Ok(vec![0]);
    }
    // Two limbs more than the result.
    let k = limbs + 2 - a.len() + 1;
    let shift = a[a.len() - 1].leading_zeros();
    let normal = shifted(a, shift);
    let mut upper = vec![0; k];
    let common = k.min(a.len());
    upper[k - common..].copy_from_slice(&normal[a.len() - common..a.len()]);
    let mut quotient = shifted(&of_normal(engine, &upper)?, shift);
    // B^limbs / a = 2^shift B^limbs / (2^shift a), and v is B^(2 k) / (2^shift a B^(k - a.len())).
    quotient.drain(..3.min(quotient.len()));
    newton_correct(engine, &mut quotient, a, limbs)?;
    let needed = trimmed(&quotient).len().max(1);
    quotient.truncate(needed);
    Ok(quotient)
}

/// `floor(B^(2 k) / a)` for `a` of `k` limbs with its top bit set, in `k + 1` limbs.
fn of_normal(engine: Engine, a: &[u64]) -> Result<Vec<u64>, NttError> {
    let k = a.len();
    if k <= LEAST {
        return Ok(bit_by_bit(a));
    }
    let h = k / 2 + 1;
    let v = of_normal(engine, &a[k - h..])?;
    let mut error = product(engine, a, &v)?;
    // B^(k + h) - a v, and whether it is negative.
    let negative = error[k + h] != 0;
    if negative {
        error[k + h] -= 1;
    } else {
        negate(&mut error[..k + h]);
    }
    // The upper limbs of the error suffice.
    let from = h - 1;
    let size = trimmed(&error).len().max(from + 1);
    let correction = product(engine, &v, &error[from..size])?;
    let correction = correction.get(2 * h - from..).unwrap_or(&[]);
    let mut w = vec![0; k + 1];
    w[k - h..].copy_from_slice(&v);
    if negative {
        subtract(&mut w, trimmed(correction))
    } else {
        add(&mut w, trimmed(correction))
    };
    newton_correct(engine, &mut w, a, 2 * k)?;
    Ok(w)
}

/// Corrects a quotient that is a few units off to `floor(B^m / a)`.
fn newton_correct(engine: Engine, quotient: &mut [u64], a: &[u64], m: usize) -> Result<(), NttError> {
    let power = power(m);
    let mut reached = product(engine, trimmed(quotient), a)?;
    while compare(trimmed(&reached), &power) == Ordering::Greater {
        subtract(quotient, &[1]);
        subtract(&mut reached, a);
    }
    let mut rest = power;
    subtract(&mut rest, trimmed(&reached));
    while compare(trimmed(&rest), a) != Ordering::Less {
        add(quotient, &[1]);
        subtract(&mut rest, a);
    }
    Ok(())
}

/// `floor(B^(2 k) / a)`.
fn bit_by_bit(a: &[u64]) -> Vec<u64> {
    let k = a.len();
    let (mut quotient, mut rest) = (vec![0; k + 1], vec![0; k + 1]);
    let mut padded = a.to_vec();
    padded.push(0);
    for bit in (0..=128 * k).rev() {
        let mut carry = u64::from(bit == 128 * k);
        for limb in &mut rest {
            (*limb, carry) = (*limb << 1 | carry, *limb >> 63);
        }
        if compare(trimmed(&rest), a) != Ordering::Less {
            subtract(&mut rest, &padded);
            quotient[bit / 64] |= 1 << (bit % 64);
        }
    }
    quotient
}

/// `a b`.
fn product(engine: Engine, a: &[u64], b: &[u64]) -> Result<Vec<u64>, NttError> {
    if a.len().min(b.len()) < SHORT {
        return Ok(schoolbook(a, b));
    }
    let mut out = vec![0; a.len() + b.len()];
    Ring::new(engine, out.len())?.product(a, b, &mut out)?;
    Ok(out)
}

/// `B^m`.
fn power(m: usize) -> Vec<u64> {
    let mut power = vec![0; m + 1];
    power[m] = 1;
    power
}

/// `a 2^bits` for `bits` below 64, with one more limb.
fn shifted(a: &[u64], bits: u32) -> Vec<u64> {
    let mut carry = 0;
    let mut out: Vec<u64> = Vec::with_capacity(a.len() + 1);
    for &limb in a {
        out.push(limb << bits | carry);
        carry = if bits == 0 { 0 } else { limb >> (64 - bits) };
    }
    out.push(carry);
    out
}

/// Removes leading zero limbs.
pub(crate) fn trimmed(a: &[u64]) -> &[u64] {
    &a[..a.iter().rposition(|&limb| limb != 0).map_or(0, |top| top + 1)]
}

/// Compares numbers without leading zero limbs.
pub(crate) fn compare(a: &[u64], b: &[u64]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.iter().rev().cmp(b.iter().rev()))
}

/// `a + b` modulo a power of `B`, for `a` not shorter than `b`. Returns the carry.
pub(crate) fn add(a: &mut [u64], b: &[u64]) -> bool {
    let (low, high) = a.split_at_mut(b.len());
    let mut carry = false;
    for (a, &b) in low.iter_mut().zip(b) {
        let (sum, first) = a.overflowing_add(b);
        let (sum, second) = sum.overflowing_add(u64::from(carry));
        (*a, carry) = (sum, first | second);
    }
    for a in high {
        if !carry {
            break;
        }
        (*a, carry) = a.overflowing_add(1);
    }
    carry
}

/// `a - b` modulo a power of `B`, for `a` not shorter than `b`. Returns the borrow.
pub(crate) fn subtract(a: &mut [u64], b: &[u64]) -> bool {
    let (low, high) = a.split_at_mut(b.len());
    let mut borrow = false;
    for (a, &b) in low.iter_mut().zip(b) {
        let (rest, first) = a.overflowing_sub(b);
        let (rest, second) = rest.overflowing_sub(u64::from(borrow));
        (*a, borrow) = (rest, first | second);
    }
    for a in high {
        if !borrow {
            break;
        }
        (*a, borrow) = a.overflowing_sub(1);
    }
    borrow
}

/// `-a` modulo a power of `B`.
fn negate(a: &mut [u64]) {
    let mut carry = true;
    for limb in a {
        (*limb, carry) = (!*limb).overflowing_add(u64::from(carry));
    }
}
