//! The portable kernel: one lane, 64-bit limbs, fully reduced residues.
//!
//! Residues are below `m` and have exactly as many limbs as `m`, so a 1024-bit prime takes only 16
//! limbs. A reduction ends with a masked subtraction. The inner loops process two limbs of the
//! multiplier per pass over the multiplicand, which halves the loads and stores and leaves two
//! independent carry chains. The loop bodies are compiled for the usual limb counts and once for
//! all others.

use crate::kernel::{Kernel, Lanes, SHARED_ENTRIES};
use crate::natural::{adc, add_assign, mac, mac_row, mask, reduce_once, sbb};

/// The portable engine's kernel.
pub(crate) struct Serial;

/// Calls an `#[inline(always)]` body with its limb count as a constant for the usual sizes.
macro_rules! specialise {
    ($k:expr, $body:ident($($argument:expr),*)) => {
        match $k {
            8 => $body(8, $($argument),*),
            16 => $body(16, $($argument),*),
            24 => $body(24, $($argument),*),
            32 => $body(32, $($argument),*),
            48 => $body(48, $($argument),*),
            64 => $body(64, $($argument),*),
            k => $body(k, $($argument),*),
        }
    };
}

impl Kernel for Serial {
    type Word = u64;
    const LANES: usize = 1;
    const RADIX_BITS: u32 = 64;
    const WINDOW: u32 = 5;

    fn limbs(bits: u32) -> usize {
        bits.div_ceil(64) as usize
    }

    fn chunk_bits(k: usize) -> u32 {
        Self::RADIX_BITS * k as u32
    }

    fn scratch(k: usize) -> usize {
        4 * k
    }

    fn set_lane(word: &mut u64, _: usize, limb: u64) {
        *word = limb;
    }

    fn lane(word: &u64, _: usize) -> u64 {
        *word
    }

    fn load(words: &mut [u64], rows: &[&[u64]], start: usize) {
        let first = rows[0].get(start / 64..).unwrap_or(&[]);
        let there = first.len().min(words.len());
        words[..there].copy_from_slice(&first[..there]);
        words[there..].fill(0);
    }

    fn store(words: &[u64], rows: &mut [&mut [u64]]) {
        rows[0].copy_from_slice(words);
    }

    /// No-op, because products are already fully reduced.
    fn canonical(_: &Lanes<Self>, _: &mut [u64]) {}

    fn mul(m: &Lanes<Self>, out: &mut [u64], a: &[u64], b: &[u64], scratch: &mut [u64]) {
        specialise!(m.k, mul_body(out, a, b, &m.m, m.neg_inverse, scratch))
    }

    fn sqr(m: &Lanes<Self>, out: &mut [u64], a: &[u64], scratch: &mut [u64]) {
        specialise!(m.k, sqr_body(out, a, &m.m, m.neg_inverse, scratch))
    }

    fn dual_mul(m: &Lanes<Self>, out: &mut [u64], a: &[u64], b: &[u64], scratch: &mut [u64]) {
        specialise!(m.k, dual_mul_body(out, a, b, &m.m, m.neg_inverse, scratch))
    }

    fn dual_sqr(m: &Lanes<Self>, out: &mut [u64], a: &[u64], scratch: &mut [u64]) {
        specialise!(m.k, dual_sqr_body(out, a, &m.m, m.neg_inverse, scratch))
    }

    /// The sum of the low part is below `R + m`. If it is `R` or more, subtracting `m` brings it
    /// below `R`, which is enough for the first factor of a product:
    /// `(R - 1)(m - 1) + (R - 1) m < 2 R m`, so one subtraction still reduces it. In a dual
    /// residue, that `m` moves to the high part, which may then be `m` itself.
    ///
    /// Proved: `add_chunk_correct` in formal/coq/serial_dual.v.
    fn add_chunk(m: &Lanes<Self>, a: &mut [u64], chunk: &[u64]) {
        let (low, high) = a.split_at_mut(m.k);
        let over = add_assign(low, chunk);
        let mut borrow = 0;
        for (x, &y) in low.iter_mut().zip(&m.m) {
            (*x, borrow) = sbb(*x, y & mask(over), borrow);
        }
        if !high.is_empty() {
            add_assign(high, &[over]);
        }
    }

    /// Proved: `add_correct` in formal/coq/serial_dual.v.
    fn add(m: &Lanes<Self>, a: &mut [u64], b: &[u64]) {
        let over = add_assign(a, b);
        reduce_once(a, over, &m.m);
    }

    fn select(out: &mut [u64], table: &[u64], index: &u64) {
        out.fill(0);
        for (entry, words) in table.chunks_exact(out.len()).enumerate() {
            let take = mask(equal(entry as u64, *index));
            for (x, &y) in out.iter_mut().zip(words) {
                *x |= y & take;
            }
        }
    }

    fn select_shared(out: &mut [u64], table: &[u64], index: &u64) {
        let takes: [u64; SHARED_ENTRIES] = std::array::from_fn(|entry| mask(equal(entry as u64, *index)));
        for (x, row) in out.iter_mut().zip(table.chunks_exact(SHARED_ENTRIES)) {
            *x = row.iter().zip(&takes).fold(0, |found, (&y, &take)| found | (y & take));
        }
    }
}

/// 1 if `a = b`, else 0.
#[inline(always)]
fn equal(a: u64, b: u64) -> u64 {
    let differ = a ^ b;
    1 ^ ((differ | differ.wrapping_neg()) >> 63)
}

/// Montgomery multiplication by coarsely integrated operand scanning (\[KAK96\]), with two limbs of
/// `b` per step. The running sum has `k + 1` limbs and stays below `2 m` plus the excess of `a`
/// over `m`. `t` slides up instead of moving its limbs down.
///
/// Proved: `mul_body_correct` in formal/coq/serial.v.
#[inline(always)]
fn mul_body(k: usize, out: &mut [u64], a: &[u64], b: &[u64], m: &[u64], neg_inverse: u64, t: &mut [u64]) {
    let (out, a, b, m, t) = (&mut out[..k], &a[..k], &b[..k], &m[..k], &mut t[..2 * k]);
    t.fill(0);
    let mut carry = 0;
    let mut i = 0;
    while i + 1 < k {
        let grown = mac_rows(&mut t[i..i + k], a, b[i], b[i + 1]);
        let reduced = reduce_rows(&mut t[i..i + k], m, neg_inverse);
        carry = carry_rows(&mut t[i + k..i + k + 2], grown, reduced, carry);
        i += 2;
    }
    if i < k {
        let grown = mac_row(&mut t[i..i + k], a, b[i]);
        let reduced = reduce_row(&mut t[i..i + k], m, neg_inverse);
        carry = carry_row(&mut t[i + k], grown, reduced, carry);
    }
    out.copy_from_slice(&t[k..2 * k]);
    reduce_once(out, carry, m);
}

/// Montgomery squaring: the square by rows, with each product of two different limbs computed once,
/// then the reduction.
///
/// Proved: `sqr_body_correct` in formal/coq/squares.v.
#[inline(always)]
fn sqr_body(k: usize, out: &mut [u64], a: &[u64], m: &[u64], neg_inverse: u64, t: &mut [u64]) {
    let (out, a, m, t) = (&mut out[..k], &a[..k], &m[..k], &mut t[..2 * k]);
    square(k, t, a);
    let carry = reduce(k, t, m, neg_inverse);
    out.copy_from_slice(&t[k..]);
    reduce_once(out, carry, m);
}

/// The product of dual residues (see [`crate::kernel`]).
///
/// Bounds: `a c < R m` gives `t < 2 m`. If one `m` is subtracted from `t`, `Q` decreases by `R`.
/// With `s` subtractions, the result before its final reduction is
/// `v = (a d + b c - Q + s R + Q' m) / R`. `a d + b c + R - Q` lies in `[1, R m + m^2 + R]`, so it
/// reduces to a number in `[1, 3 m]`, from which `1 - s` is subtracted. `v` therefore lies in
/// `[0, 3 m]`, and `2 m` and then `m` are subtracted if they fit.
///
/// Proved: `dual_mul_body_correct` in formal/coq/serial_dual.v.
#[inline(always)]
fn dual_mul_body(k: usize, out: &mut [u64], a: &[u64], b: &[u64], m: &[u64], neg_inverse: u64, scratch: &mut [u64]) {
    let (low, high) = scratch[..4 * k].split_at_mut(2 * k);
    let (out_low, out_high) = out[..2 * k].split_at_mut(k);
    product(k, low, &a[..k], &b[..k]);
    let carry = reduce(k, low, m, neg_inverse);
    out_low.copy_from_slice(&low[k..2 * k]);
    let subtracted = reduce_once(out_low, carry, &m[..k]);

    product(k, high, &a[..k], &b[k..2 * k]);
    let mut top = 0;
    mul_add(k, high, &mut top, &a[k..2 * k], &b[..k]);
    top = top.wrapping_add(subtract_digits(k, high, low, subtracted));
    finish_high(k, out_high, high, top, m, neg_inverse);
}

/// The square of a dual residue: like [`dual_mul_body`] with `2 a b` instead of `a d + b c`.
///
/// Proved: `dual_sqr_body_correct` in formal/coq/squares.v.
#[inline(always)]
fn dual_sqr_body(k: usize, out: &mut [u64], a: &[u64], m: &[u64], neg_inverse: u64, scratch: &mut [u64]) {
    let (low, high) = scratch[..4 * k].split_at_mut(2 * k);
    let (out_low, out_high) = out[..2 * k].split_at_mut(k);
    square(k, low, &a[..k]);
    let carry = reduce(k, low, m, neg_inverse);
    out_low.copy_from_slice(&low[k..2 * k]);
    let subtracted = reduce_once(out_low, carry, &m[..k]);

    product(k, high, &a[..k], &a[k..2 * k]);
    let mut top = high[2 * k - 1] >> 63;
    for i in (1..2 * k).rev() {
        high[i] = high[i] << 1 | high[i - 1] >> 63;
    }
    high[0] <<= 1;
    top = top.wrapping_add(subtract_digits(k, high, low, subtracted));
    finish_high(k, out_high, high, top, m, neg_inverse);
}

/// Adds `s R - Q` to `t`, where `Q` is the low `k` limbs of `digits`. Returns the carry into the
/// limb above `t`, modulo 2^64.
///
/// Proved: `subtract_digits_correct` in formal/coq/serial_dual.v.
#[inline(always)]
fn subtract_digits(k: usize, t: &mut [u64], digits: &[u64], s: u64) -> u64 {
    // -Q = (not Q) + 1 - R on k limbs; the -1 of the upper half is all ones there.
    let mut carry = 1;
    for (x, &q) in t[..k].iter_mut().zip(&digits[..k]) {
        (*x, carry) = adc(*x, !q, carry);
    }
    carry += s;
    for x in t[k..2 * k].iter_mut() {
        (*x, carry) = adc(*x, u64::MAX, carry);
    }
    u64::MAX.wrapping_add(carry)
}

/// Montgomery reduction of `t` with `top` as its highest limb, followed by a reduction from
/// `[0, 3 m]` to below `m`.
///
/// Proved: `finish_high_correct` in formal/coq/serial_dual.v.
#[inline(always)]
fn finish_high(k: usize, out: &mut [u64], t: &mut [u64], top: u64, m: &[u64], neg_inverse: u64) {
    let top = top.wrapping_add(reduce(k, t, m, neg_inverse));
    let t = &t[k..2 * k];
    let m = &m[..k];
    // v - 2 m where that is not negative.
    let mut borrow = 0;
    let mut above = 0;
    for ((x, &v), &y) in out.iter_mut().zip(t).zip(m) {
        (*x, borrow) = sbb(v, y << 1 | above, borrow);
        above = y >> 63;
    }
    let (left, under) = sbb(top, above, borrow);
    let keep = mask(under);
    let mut carry = 0;
    let mut above = 0;
    for (x, &y) in out.iter_mut().zip(m) {
        (*x, carry) = adc(*x, (y << 1 | above) & keep, carry);
        above = y >> 63;
    }
    let left = left.wrapping_add(above & keep).wrapping_add(carry);
    reduce_once(out, left, m);
}

/// `t = a b` in `2 k` limbs.
///
/// Proved: `product_correct` in formal/coq/serial.v.
#[inline(always)]
fn product(k: usize, t: &mut [u64], a: &[u64], b: &[u64]) {
    t[..k].fill(0);
    let mut i = 0;
    while i + 1 < k {
        (t[i + k], t[i + k + 1]) = mac_rows(&mut t[i..i + k], &a[..k], b[i], b[i + 1]);
        i += 2;
    }
    if i < k {
        t[i + k] = mac_row(&mut t[i..i + k], &a[..k], b[i]);
    }
}

/// `t = t + a b` in `2 k` limbs. The carry is added to `top`.
///
/// Proved: `mul_add_correct` in formal/coq/serial.v.
#[inline(always)]
fn mul_add(k: usize, t: &mut [u64], top: &mut u64, a: &[u64], b: &[u64]) {
    let mut carry = 0;
    let mut i = 0;
    while i + 1 < k {
        let grown = mac_rows(&mut t[i..i + k], &a[..k], b[i], b[i + 1]);
        carry = carry_rows(&mut t[i + k..i + k + 2], grown, (0, 0), carry);
        i += 2;
    }
    if i < k {
        let grown = mac_row(&mut t[i..i + k], &a[..k], b[i]);
        carry = carry_row(&mut t[i + k], grown, 0, carry);
    }
    *top += carry;
}

/// `t = a^2` in `2 k` limbs: the doubled products of different limbs, and the squares.
///
/// Proved: `square_correct` in formal/coq/squares.v.
#[inline(always)]
fn square(k: usize, t: &mut [u64], a: &[u64]) {
    let (t, a) = (&mut t[..2 * k], &a[..k]);
    t.fill(0);
    let mut i = 0;
    while i + 1 < k {
        // The row of a_i begins one limb early, with a_i a_(i+1); from limb 2 i + 2 on both rows
        // run side by side.
        let (low, carry) = mac(t[2 * i + 1], a[i], a[i + 1], 0);
        t[2 * i + 1] = low;
        let both = &mut t[2 * i + 2..i + k];
        (t[i + k], t[i + k + 1]) = mac_rows_from(both, &a[i + 2..], a[i], a[i + 1], carry);
        i += 2;
    }
    let (mut above, mut carry) = (0, 0);
    for (pair, &x) in t.chunks_exact_mut(2).zip(a) {
        let doubled = (pair[0] << 1 | above, pair[1] << 1 | pair[0] >> 63);
        above = pair[1] >> 63;
        let (low, high) = mac(0, x, x, 0);
        (pair[0], carry) = adc(doubled.0, low, carry);
        (pair[1], carry) = adc(doubled.1, high, carry);
    }
}

/// Montgomery reduction of the `2 k` limbs `t`. Leaves the quotient digits in the low half and
/// `(t + Q m) / R` in the upper half, and returns its carry.
///
/// Proved: `reduce_correct` in formal/coq/serial.v.
#[inline(always)]
fn reduce(k: usize, t: &mut [u64], m: &[u64], neg_inverse: u64) -> u64 {
    let m = &m[..k];
    let (mut carry, mut i) = (0, 0);
    while i + 1 < k {
        let reduced = reduce_rows(&mut t[i..i + k], m, neg_inverse);
        carry = carry_rows(&mut t[i + k..i + k + 2], (0, 0), reduced, carry);
        i += 2;
    }
    if i < k {
        let reduced = reduce_row(&mut t[i..i + k], m, neg_inverse);
        carry = carry_row(&mut t[i + k], 0, reduced, carry);
    }
    carry
}

/// Two reduction steps. Adds `(q0 + 2^64 q1) m` such that the two lowest limbs become zero, and
/// stores `q0` and `q1` in them. Returns the two limbs carried out.
///
/// Proved: `reduce_rows_correct` in formal/coq/serial.v.
#[inline(always)]
fn reduce_rows(t: &mut [u64], m: &[u64], neg_inverse: u64) -> (u64, u64) {
    let q0 = t[0].wrapping_mul(neg_inverse);
    let (_, carry) = mac(t[0], q0, m[0], 0);
    let (second, _) = mac(t[1], q0, m[1], carry);
    let q1 = second.wrapping_mul(neg_inverse);
    let carried = mac_rows(t, m, q0, q1);
    (t[0], t[1]) = (q0, q1);
    carried
}

/// One reduction step, like [`reduce_rows`].
///
/// Proved: `reduce_row_correct` in formal/coq/serial.v.
#[inline(always)]
fn reduce_row(t: &mut [u64], m: &[u64], neg_inverse: u64) -> u64 {
    let q = t[0].wrapping_mul(neg_inverse);
    let carried = mac_row(t, m, q);
    t[0] = q;
    carried
}

/// Adds `a (y0 + 2^64 y1)` to `t`, which is as long as `a`, and returns the two limbs carried out.
///
/// Proved: `mac_rows_correct` in formal/coq/serial.v.
#[inline(always)]
fn mac_rows(t: &mut [u64], a: &[u64], y0: u64, y1: u64) -> (u64, u64) {
    mac_rows_from(t, a, y0, y1, 0)
}

/// Like [`mac_rows`], with the carry `c0` into the first limb.
///
/// Proved: `mac_rows_correct` in formal/coq/serial.v.
#[inline(always)]
fn mac_rows_from(t: &mut [u64], a: &[u64], y0: u64, y1: u64, mut c0: u64) -> (u64, u64) {
    // Each limb takes a_j y0 and a_(j-1) y1, each product in a carry chain of its own.
    let (mut c1, mut before) = (0, 0);
    for (x, &next) in t.iter_mut().zip(a) {
        let low;
        (low, c0) = mac(*x, next, y0, c0);
        (*x, c1) = mac(low, before, y1, c1);
        before = next;
    }
    mac(c0, before, y1, c1)
}

/// Adds two pairs of limbs and a carry to the two limbs `t` and returns the carry.
///
/// Proved: `carry_rows_correct` in formal/coq/serial.v.
#[inline(always)]
fn carry_rows(t: &mut [u64], x: (u64, u64), y: (u64, u64), carry: u64) -> u64 {
    let first = u128::from(t[0]) + u128::from(x.0) + u128::from(y.0) + u128::from(carry);
    let second = u128::from(t[1]) + u128::from(x.1) + u128::from(y.1) + (first >> 64);
    (t[0], t[1]) = (first as u64, second as u64);
    (second >> 64) as u64
}

/// Adds two limbs and a carry to the limb `t` and returns the carry.
///
/// Proved: `carry_row_correct` in formal/coq/serial.v.
#[inline(always)]
fn carry_row(t: &mut u64, x: u64, y: u64, carry: u64) -> u64 {
    let sum = u128::from(*t) + u128::from(x) + u128::from(y) + u128::from(carry);
    *t = sum as u64;
    (sum >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::natural::words;

    /// Compares with the values that Coq computes from the proved functions: every limb of the
    /// results and of the scratch memory.
    #[test]
    fn products_are_those_of_the_proofs() {
        let mut calls = 0;
        for line in include_str!("serial_steps.txt").lines().filter(|line| !line.starts_with('#')) {
            let (head, lists) = line.split_once(": ").unwrap();
            let head: Vec<&str> = head.split(' ').collect();
            let (k, neg_inverse) = (head[1].parse::<usize>().unwrap(), u64::from_str_radix(head[2], 16).unwrap());
            let lists: Vec<Vec<u64>> = lists.split(", ").map(words).collect();
            let [m, a, b, expected, left] = &lists[..] else { panic!("five numbers: {line}") };
            let (mut out, mut scratch) = (vec![0; expected.len()], vec![0; left.len()]);
            match head[0] {
                "mul_body" => mul_body(k, &mut out, a, b, m, neg_inverse, &mut scratch),
                "dual_mul_body" => dual_mul_body(k, &mut out, a, b, m, neg_inverse, &mut scratch),
                "sqr_body" => sqr_body(k, &mut out, a, m, neg_inverse, &mut scratch),
                "dual_sqr_body" => dual_sqr_body(k, &mut out, a, m, neg_inverse, &mut scratch),
                other => panic!("no function {other}"),
            }
            assert_eq!((&out, &scratch), (expected, left), "{line}");
            calls += 1;
        }
        assert_eq!(calls, 192);
    }
}
