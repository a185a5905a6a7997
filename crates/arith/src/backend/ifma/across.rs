//! The vector kernel for a few numbers: the limbs of one number are spread across the lanes of
//! AVX-512 registers.
//!
//! [`Ifma`](super::Ifma) fills its lanes with eight numbers and takes as long for one. This kernel
//! spreads the limbs of one number over the lanes instead. It multiplies a digit of one factor by
//! eight limbs of the other at a time, as in the exponentiations of \[GK12\] and of OpenSSL's RSA
//! code. Limbs, `R`, constants and bounds are those of `Ifma`, so both kernels use the same
//! prepared data. [`few`] determines when this kernel is faster.
//!
//! A product and its Montgomery reduction are interleaved digit by digit, from the lowest
//! (\[KAK96\]'s CIOS). A digit of the quotient depends on the previous one through a broadcast, two
//! products, a shift of lanes and two additions: about sixteen cycles. The parts of a product that
//! are independent of the quotient are summed during that time. The two halves of a dual product,
//! each with its own quotient, hide each other's latency.

// Registers are addressed by array indices, here as in `blocks`: closures would hide the
// instructions from the compiler.
#![allow(clippy::needless_range_loop)]

use super::{MASK, RADIX, tables};
use crate::kernel::{Kernel, Lanes};
use crate::natural::{bits_at, mask};
use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_alignr_epi64, _mm512_and_si512, _mm512_broadcastq_epi64, _mm512_castsi512_si128,
    _mm512_cmpeq_epi64_mask, _mm512_cmpgt_epi64_mask, _mm512_madd52hi_epu64, _mm512_madd52lo_epu64,
    _mm512_mask_add_epi64, _mm512_mask_sub_epi64, _mm512_maskz_srai_epi64, _mm512_set1_epi64, _mm512_setzero_si512,
    _mm512_slli_epi64, _mm512_srli_epi64,
};

/// Maximum number of rows that are faster sequentially in this kernel than in parallel in `Ifma`. A
/// product here takes about a fifth of the time of eight products there.
const FEW: usize = 4;

/// Whether `rows` rows of `k` limbs are faster here than with [`Ifma`](super::Ifma). Sums of more
/// than fifteen registers no longer stay in registers, and a product then takes half of the time of
/// eight products there.
pub(crate) fn few(k: usize, rows: usize) -> bool {
    match k.div_ceil(8) {
        ..=15 => rows <= FEW,
        16..=20 => rows <= FEW / 2,
        _ => false,
    }
}

/// The kernel for a few numbers.
pub(crate) struct Across;

/// A number or the columns of a sum: limb `8 v + l` is in lane `l` of register `v`.
type Limbs<const V: usize> = [__m512i; V];

/// Evaluates an expression that is generic over the number of registers, for a number of `$k`
/// limbs, a multiple of ten.
macro_rules! with_width {
    ($k:expr, $width:ident => $call:expr) => {
        with_width!($k, $width => $call, 2 3 4 5 7 8 9 10 12 13 14 15 17 18 19 20)
    };
    ($k:expr, $width:ident => $call:expr, $($registers:literal)*) => {
        match $k.div_ceil(8) {
            $($registers => {
                const $width: usize = $registers;
                $call
            })*
            registers => unreachable!("numbers of {registers} registers"),
        }
    };
}

// As in `Ifma`, the CPU supports the instructions wherever a kernel is called.
impl Kernel for Across {
    type Word = u64;
    const LANES: usize = 1;
    const ALONE: usize = FEW;
    const RADIX_BITS: u32 = RADIX;
    /// Reading a table of 32 entries takes a quarter of a product.
    const WINDOW: u32 = 5;

    fn limbs(bits: u32) -> usize {
        super::Ifma::limbs(bits)
    }

    fn chunk_bits(k: usize) -> u32 {
        super::Ifma::chunk_bits(k)
    }

    fn scratch(_k: usize) -> usize {
        0
    }

    fn set_lane(word: &mut u64, _lane: usize, limb: u64) {
        *word = limb;
    }

    fn lane(word: &u64, _lane: usize) -> u64 {
        *word
    }

    fn load(words: &mut [u64], rows: &[&[u64]], start: usize) {
        for (index, word) in words.iter_mut().enumerate() {
            *word = bits_at(rows[0], start + index * RADIX as usize, RADIX);
        }
    }

    fn store(words: &[u64], rows: &mut [&mut [u64]]) {
        for (index, limb) in rows[0].iter_mut().enumerate() {
            let (first, shift) = (64 * index / RADIX as usize, 64 * index % RADIX as usize);
            let word = |at: usize| u128::from(words.get(at).copied().unwrap_or(0));
            // Up to three limbs overlap these 64 bits.
            *limb = (word(first) >> shift | word(first + 1) << (52 - shift) | word(first + 2) << (104 - shift)) as u64;
        }
    }

    /// Proved: `canonical_residue` in formal/coq/canonical.v.
    /// Proved: `canonical_dual` in formal/coq/canonical.v.
    fn canonical(m: &Lanes<Self>, residue: &mut [u64]) {
        let (low, high) = residue.split_at_mut(m.k);
        let carried = reduce_once(low, &m.m);
        if !high.is_empty() {
            add(high, std::iter::once(carried));
            (0..3).for_each(|_| _ = reduce_once(high, &m.m));
        }
    }

    fn mul(m: &Lanes<Self>, out: &mut [u64], a: &[u64], b: &[u64], _scratch: &mut [u64]) {
        // SAFETY: the CPU supports the instructions.
        with_width!(m.k, V => unsafe { product::<V>(m, out, a, b) });
    }

    fn sqr(m: &Lanes<Self>, out: &mut [u64], a: &[u64], scratch: &mut [u64]) {
        Self::mul(m, out, a, a, scratch);
    }

    fn dual_mul(m: &Lanes<Self>, out: &mut [u64], a: &[u64], b: &[u64], _scratch: &mut [u64]) {
        let (low, high) = b.split_at(m.k);
        // SAFETY: as in `mul`.
        with_width!(m.k, V => unsafe { dual_product::<V, false>(m, out, a, low, high) });
    }

    fn dual_sqr(m: &Lanes<Self>, out: &mut [u64], a: &[u64], _scratch: &mut [u64]) {
        // SAFETY: as in `mul`.
        with_width!(m.k, V => unsafe { dual_product::<V, true>(m, out, a, &a[..m.k], &[]) });
    }

    /// Proved: `add_chunk_correct` in formal/coq/canonical.v.
    fn add_chunk(m: &Lanes<Self>, a: &mut [u64], chunk: &[u64]) {
        add(&mut a[..m.k], chunk.iter().copied());
    }

    fn select(out: &mut [u64], table: &[u64], index: &u64) {
        // SAFETY: as in `mul`.
        unsafe { tables::select_across(out, table, *index) }
    }

    fn select_shared(out: &mut [u64], table: &[u64], index: &u64) {
        // SAFETY: as in `mul`.
        unsafe { tables::select_shared_across(out, table, *index) }
    }
}

/// `a = a + b`, with limbs and result limbs below 2^52. The carry out of the last limb is dropped;
/// by the bounds, it is zero.
///
/// Proved: `add_correct` in formal/coq/canonical.v.
fn add(a: &mut [u64], b: impl Iterator<Item = u64>) {
    let mut carry = 0;
    for (limb, more) in a.iter_mut().zip(b.chain(std::iter::repeat(0))) {
        let sum = *limb + more + carry;
        *limb = sum & MASK;
        carry = sum >> RADIX;
    }
}

/// `a = a - m` if that is not negative. Returns 1 in that case, else 0.
///
/// Proved: `reduce_once_correct` in formal/coq/canonical.v.
fn reduce_once(a: &mut [u64], m: &[u64]) -> u64 {
    let borrow_of = |borrow: u64, (&a, &m): (&u64, &u64)| a.wrapping_sub(m).wrapping_sub(borrow) >> 63;
    let less = a.iter().zip(m).fold(0, borrow_of);
    let taken = !mask(less);
    let mut borrow = 0;
    for (limb, &m) in a.iter_mut().zip(m) {
        let difference = limb.wrapping_sub(m & taken).wrapping_sub(borrow);
        *limb = difference & MASK;
        borrow = difference >> 63;
    }
    taken & 1
}

#[target_feature(enable = "avx512f")]
#[inline]
fn read<const V: usize>(words: &[u64]) -> Limbs<V> {
    assert!(words.len() > 8 * (V - 1) && words.len() <= 8 * V);
    let mut limbs = [_mm512_setzero_si512(); V];
    for v in 0..V {
        limbs[v] = tables::load_some(&words[8 * v..]);
    }
    limbs
}

#[target_feature(enable = "avx512f")]
#[inline]
fn write<const V: usize>(words: &mut [u64], limbs: &Limbs<V>) {
    assert!(words.len() > 8 * (V - 1) && words.len() <= 8 * V);
    for v in 0..V {
        tables::store_some(&mut words[8 * v..], limbs[v]);
    }
}

/// `sum = sum + digit x` for the lower halves of the products.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn add_low<const V: usize>(sum: &mut Limbs<V>, x: &Limbs<V>, digit: __m512i) {
    for v in 0..V {
        sum[v] = _mm512_madd52lo_epu64(sum[v], x[v], digit);
    }
}

/// `sum = sum + digit x` for the upper halves of the products, which belong one column higher.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn add_high<const V: usize>(sum: &mut Limbs<V>, x: &Limbs<V>, digit: __m512i) {
    for v in 0..V {
        sum[v] = _mm512_madd52hi_epu64(sum[v], x[v], digit);
    }
}

/// `sum = sum + x`, column by column.
#[target_feature(enable = "avx512f")]
#[inline]
fn add_columns<const V: usize>(sum: &mut Limbs<V>, x: &Limbs<V>) {
    for v in 0..V {
        sum[v] = _mm512_add_epi64(sum[v], x[v]);
    }
}

/// Moves every limb to the lane below. The lowest is dropped.
#[target_feature(enable = "avx512f")]
#[inline]
fn down<const V: usize>(x: &mut Limbs<V>) {
    for v in 0..V {
        let above = if v + 1 < V { x[v + 1] } else { _mm512_setzero_si512() };
        x[v] = _mm512_alignr_epi64::<1>(above, x[v]);
    }
}

/// Moves every limb to the lane above. The highest is dropped, and the lowest lane becomes zero.
#[target_feature(enable = "avx512f")]
#[inline]
fn up<const V: usize>(x: &mut Limbs<V>) {
    for v in (0..V).rev() {
        let below = if v > 0 { x[v - 1] } else { _mm512_setzero_si512() };
        x[v] = _mm512_alignr_epi64::<7>(x[v], below);
    }
}

/// The digit in every lane.
#[target_feature(enable = "avx512f")]
#[inline]
fn spread(digit: u64) -> __m512i {
    _mm512_set1_epi64(digit as i64)
}

/// The modulus in the form for the steps of a reduction.
struct Modulus<const V: usize> {
    limbs: Limbs<V>,
    /// `-m^-1 mod 2^52` in every lane.
    inverse: __m512i,
}

impl<const V: usize> Modulus<V> {
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn new(m: &Lanes<Across>) -> Self {
        Modulus { limbs: read(&m.m), inverse: spread(m.neg_inverse) }
    }

    /// The digit of the quotient for which the lowest column becomes a multiple of 2^52, in every
    /// lane.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    fn digit(&self, columns: &Limbs<V>) -> __m512i {
        let lowest = _mm512_broadcastq_epi64(_mm512_castsi512_si128(columns[0]));
        _mm512_madd52lo_epu64(_mm512_setzero_si512(), lowest, self.inverse)
    }

    /// Adds `digit m`, drops the lowest column after carrying it into the next, and adds `pending`
    /// to the rest. The lowest column may be negative.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    fn reduce(&self, columns: &mut Limbs<V>, digit: __m512i, mut pending: Limbs<V>) {
        add_low(columns, &self.limbs, digit);
        add_high(&mut pending, &self.limbs, digit);
        let carry = _mm512_maskz_srai_epi64::<RADIX>(1, columns[0]);
        down(columns);
        pending[0] = _mm512_add_epi64(pending[0], carry);
        add_columns(columns, &pending);
    }
}

/// Propagates carries of non-negative columns, which turns them into limbs. The carry out of the
/// last limb is dropped; by the bounds, it is zero.
///
/// After one step in which all columns carry simultaneously, a limb is below `2^52 + 2^12`. It then
/// carries at most 1, if it is too large, or if it is [`MASK`] and receives 1. One addition on a
/// bit per limb resolves all of these: a carry propagates through the ones of `full` like an
/// arithmetic carry.
///
/// Proved: `carry_up_correct` in formal/coq/carries.v.
#[target_feature(enable = "avx512f")]
#[inline]
fn carry_up<const V: usize>(columns: &mut Limbs<V>) {
    let ones = spread(MASK);
    let mut carries = *columns;
    for v in 0..V {
        carries[v] = _mm512_srli_epi64::<RADIX>(columns[v]);
        columns[v] = _mm512_and_si512(columns[v], ones);
    }
    up(&mut carries);
    add_columns(columns, &carries);
    let (mut over, mut full) = (Bits::ZERO, Bits::ZERO);
    for v in 0..V {
        over.put(v, _mm512_cmpgt_epi64_mask(columns[v], ones));
        full.put(v, _mm512_cmpeq_epi64_mask(columns[v], ones));
    }
    let carried = full.carries(over);
    for v in 0..V {
        let sum = _mm512_mask_add_epi64(columns[v], carried.of(v), columns[v], spread(1));
        columns[v] = _mm512_and_si512(sum, ones);
    }
}

/// One bit per limb, for up to 160 limbs.
#[derive(Clone, Copy)]
struct Bits(u128, u64);

impl Bits {
    const ZERO: Bits = Bits(0, 0);

    /// Sets the bits of register `v`.
    #[inline]
    fn put(&mut self, v: usize, bits: u8) {
        if v < 16 {
            self.0 |= u128::from(bits) << (8 * v);
        } else {
            self.1 |= u64::from(bits) << (8 * v - 128);
        }
    }

    /// The bits of register `v`.
    #[inline]
    fn of(self, v: usize) -> u8 {
        if v < 16 { (self.0 >> (8 * v)) as u8 } else { (self.1 >> (8 * v - 128)) as u8 }
    }

    /// The limbs that receive a carry. Limbs in `over` emit a carry; limbs in `self` pass on a
    /// carry that they receive.
    ///
    /// Proved: `carry_up_correct` in formal/coq/carries.v.
    #[inline]
    fn carries(self, over: Bits) -> Bits {
        let (low, carry) = self.0.overflowing_add(over.0 << 1);
        let high = self.1.wrapping_add(over.1 << 1 | (over.0 >> 127) as u64).wrapping_add(u64::from(carry));
        Bits(low ^ self.0, high ^ self.1)
    }
}

/// `x = 2 x` for a number below `R / 2`.
///
/// Proved: `dual_square_correct` in formal/coq/across.v.
#[target_feature(enable = "avx512f")]
#[inline]
fn double<const V: usize>(x: &mut Limbs<V>) {
    let mut carries = *x;
    for v in 0..V {
        carries[v] = _mm512_srli_epi64::<{ RADIX - 1 }>(x[v]);
        x[v] = _mm512_and_si512(_mm512_slli_epi64::<1>(x[v]), spread(MASK));
    }
    up(&mut carries);
    add_columns(x, &carries);
}

/// The digits of a number in order, each with the next one; 0 follows the last.
fn digits(number: &[u64]) -> impl Iterator<Item = (u64, u64)> {
    number.iter().copied().zip(number[1..].iter().copied().chain([0]))
}

/// `out = a b / R mod m`.
///
/// Proved: `product_columns_fit` in formal/coq/across.v.
/// Proved: `product_correct` in formal/coq/across.v.
/// Proved: `product_reduced` in formal/coq/carries.v.
#[target_feature(enable = "avx512f,avx512ifma")]
fn product<const V: usize>(m: &Lanes<Across>, out: &mut [u64], a: &[u64], b: &[u64]) {
    let (modulus, a) = (Modulus::<V>::new(m), read(&a[..m.k]));
    let zero = [_mm512_setzero_si512(); V];
    let mut t = zero;
    add_low(&mut t, &a, spread(b[0]));
    for (digit, next) in digits(&b[..m.k]) {
        let quotient = modulus.digit(&t);
        let mut pending = zero;
        add_high(&mut pending, &a, spread(digit));
        add_low(&mut pending, &a, spread(next));
        modulus.reduce(&mut t, quotient, pending);
    }
    carry_up(&mut t);
    write(&mut out[..m.k], &t);
}

/// `out = a b / R mod m^2` for dual residues, where `b` is given in its two halves, or
/// `out = a^2 / R mod m^2`, where `b_low` is the low half of `a` and `b_high` is empty.
///
/// The digits of the first quotient are subtracted one by one from the columns of the high part.
/// The term `R m`, which makes the result non-negative, is added at the end, where it has become
/// `m`.
///
/// Proved: `dual_columns_fit` in formal/coq/across.v.
/// Proved: `dual_product_correct` in formal/coq/across.v.
/// Proved: `dual_square_correct` in formal/coq/across.v.
/// Proved: `dual_reduced` in formal/coq/carries.v.
#[target_feature(enable = "avx512f,avx512ifma")]
fn dual_product<const V: usize, const SQUARE: bool>(
    m: &Lanes<Across>,
    out: &mut [u64],
    a: &[u64],
    b_low: &[u64],
    b_high: &[u64],
) {
    let modulus = Modulus::<V>::new(m);
    let (a_low, mut a_high) = (read(&a[..m.k]), read(&a[m.k..2 * m.k]));
    if SQUARE {
        double(&mut a_high);
    }
    let zero = [_mm512_setzero_si512(); V];
    let (mut t, mut u) = (zero, zero);
    let second = |at: usize| if SQUARE { 0 } else { b_high.get(at).copied().unwrap_or(0) };
    add_low(&mut t, &a_low, spread(b_low[0]));
    add_low(&mut u, &a_high, spread(b_low[0]));
    if !SQUARE {
        add_low(&mut u, &a_low, spread(second(0)));
    }
    for (at, (digit, next)) in digits(&b_low[..m.k]).enumerate() {
        let (digit, next) = (spread(digit), spread(next));
        let quotient = modulus.digit(&t);
        let (mut t_pending, mut u_pending) = (zero, zero);
        add_high(&mut t_pending, &a_low, digit);
        add_low(&mut t_pending, &a_low, next);
        modulus.reduce(&mut t, quotient, t_pending);
        u[0] = _mm512_mask_sub_epi64(u[0], 1, u[0], quotient);
        let quotient = modulus.digit(&u);
        add_high(&mut u_pending, &a_high, digit);
        add_low(&mut u_pending, &a_high, next);
        if !SQUARE {
            add_high(&mut u_pending, &a_low, spread(second(at)));
            add_low(&mut u_pending, &a_low, spread(second(at + 1)));
        }
        modulus.reduce(&mut u, quotient, u_pending);
    }
    add_columns(&mut u, &modulus.limbs);
    carry_up(&mut t);
    carry_up(&mut u);
    write(&mut out[..m.k], &t);
    write(&mut out[m.k..2 * m.k], &u);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Engine;

    /// Columns with long carry chains, compared with schoolbook carrying.
    #[test]
    fn carries_run_as_far_as_they_must() {
        if !hearith_testing::has("ifma", Engine::Ifma.is_available()) {
            return;
        }
        let parts = [0, 1, MASK - 1, MASK, MASK + 1, MASK << 10, u64::MAX >> 1];
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state >> 33
        };
        fn check<const V: usize>(columns: &[u64]) {
            let mut expected = columns.to_vec();
            add(&mut expected, [].into_iter());
            let mut out = vec![0; columns.len()];
            // SAFETY: the CPU supports the instructions.
            unsafe {
                let mut limbs = read::<V>(columns);
                carry_up(&mut limbs);
                write(&mut out, &limbs);
            }
            assert_eq!(out, expected, "{columns:x?}");
        }
        for round in 0..20_000 {
            // Mostly full limbs, through which a carry propagates far.
            let columns: Vec<u64> =
                (0..160).map(|_| if next() % 8 < 6 { MASK } else { parts[next() as usize % parts.len()] }).collect();
            match round % 4 {
                0 => check::<2>(&columns[..10]),
                1 => check::<5>(&columns[..40]),
                2 => check::<15>(&columns[..120]),
                _ => check::<20>(&columns),
            }
        }
    }

    #[test]
    fn all_lengths_that_are_few_have_registers() {
        let lengths: Vec<usize> = (1..=32).map(|tens| 10 * tens).filter(|&k| few(k, 1)).collect();
        assert_eq!(lengths.last(), Some(&160));
        let registers = |k: usize| with_width!(k, V => V);
        assert!(lengths.iter().all(|&k| registers(k) == k.div_ceil(8)));
        assert!(few(120, 4) && !few(120, 5) && few(160, 2) && !few(160, 3) && !few(170, 1));
    }
}
