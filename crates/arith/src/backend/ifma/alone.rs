//! Products of single numbers outside Montgomery form, by Barrett's reduction \[Barrett86\], with
//! eight columns of a product in a register.
//!
//! [`Across`](super::across::Across) needs two multiplications for such a product, into Montgomery
//! form and back, and each digit of a quotient depends on the previous one. This method has no such
//! latency. A column is a sum, and the lower and upper halves of two registers of columns fill the
//! four cycles that a product of limbs takes. Digit `j` of one factor is broadcast and multiplied
//! by the other factor, loaded from `j` limbs lower in memory, where zeros surround it.
//!
//! The algorithm and its bounds are those of [`crate::barrett`] in the same radix. No further
//! column of the product by the reciprocal is omitted.

use super::across::Across;
use super::{MASK, RADIX};
use crate::Batch;
use crate::constants::MontgomeryParams;
use crate::kernel::Space;
use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_alignr_epi64, _mm512_and_si512, _mm512_cmpeq_epi64_mask, _mm512_cmpgt_epi64_mask,
    _mm512_loadu_si512, _mm512_madd52hi_epu64, _mm512_madd52lo_epu64, _mm512_mask_add_epi64, _mm512_or_si512,
    _mm512_permutexvar_epi64, _mm512_set1_epi64, _mm512_setr_epi64, _mm512_setzero_si512, _mm512_sllv_epi64,
    _mm512_srli_epi64, _mm512_srlv_epi64, _mm512_storeu_si512,
};

/// Maximum number of rows; more are faster in parallel.
const FEW: usize = 8;
/// Number of columns that are summed in parallel.
const SIDE: usize = 16;
/// Number of zeros on both sides of a factor: the distance that registers reach beyond its ends.
const PAD: usize = SIDE;

/// The number of limbs of the modulus, if this method is faster for `rows` rows of numbers of
/// `limbs` 64-bit limbs.
pub(crate) fn digits(constants: &MontgomeryParams, rows: usize, limbs: usize) -> Option<usize> {
    let digits = constants.bits.div_ceil(RADIX);
    let highest = constants.bits - RADIX * (digits - 1);
    let fits = digits > 1 && highest > 2 && 64 * limbs < (RADIX * digits) as usize;
    (rows <= FEW && fits).then_some(digits as usize)
}

/// The canonical products row by row, where `d` is the result of [`digits`].
pub(crate) fn mul(constants: &MontgomeryParams, a: &Batch, b: &Batch, d: usize) -> Batch {
    let mut out = Batch::zeros(a.len(), constants.limbs());
    // SAFETY: the CPU supports the instructions, since the constants hold their engine as
    // available.
    unsafe { products(constants, &mut out, a, b, d) };
    out
}

// Proved: `barrett_quotient` in formal/coq/barrett.v.
// Proved: `barrett_dropped` in formal/coq/barrett.v.
#[target_feature(enable = "avx512f,avx512ifma")]
fn products(constants: &MontgomeryParams, out: &mut Batch, a: &Batch, b: &Batch, d: usize) {
    // Digits of all factors, some of which have one more than the modulus.
    let n = d + 1;
    let width = n.next_multiple_of(8);
    let (padded, sums) = (width + 2 * PAD, (2 * width).next_multiple_of(SIDE));
    // Columns of the remainder, with the one that tells its sign.
    let low = (n + 1).next_multiple_of(SIDE);
    let mut space = Space::<Across>::new(4 * padded + 2 * sums);
    let (factors, columns) = space.split_at_mut(4 * padded);
    let (t, u) = columns.split_at_mut(sums);
    let [m, mu, x, y] = factors
        .get_disjoint_mut([0..padded, padded..2 * padded, 2 * padded..3 * padded, 3 * padded..4 * padded])
        .expect("four numbers");
    split(&mut m[PAD..][..width], &constants.m, u);
    split(&mut mu[PAD..][..width], &constants.reciprocal(RADIX, d), u);
    for ((out, a), b) in out.rows_mut().zip(a.rows()).zip(b.rows()) {
        split(&mut x[PAD..][..width], a, u);
        split(&mut y[PAD..][..width], b, u);
        multiply(t, 0..sums, x, y, n);
        carry(t);
        x[PAD..][..n].copy_from_slice(&t[d - 1..][..n]);
        let from = (d - 1) / SIDE * SIDE;
        multiply(u, from..sums, mu, x, n);
        carry(&mut u[from..]);
        y[PAD..][..n].copy_from_slice(&u[d + 1..][..n]);
        multiply(u, 0..low, m, y, n);
        carry(&mut u[..low]);
        subtract(&mut t[..low], &u[..n]);
        t[n] = 0;
        u[..low].copy_from_slice(&t[..low]);
        subtract(&mut u[..low], &m[PAD..][..n]);
        // A carry out of the difference: it is not negative.
        let taken = u[n].wrapping_neg();
        for (rest, reduced) in t[..n].iter_mut().zip(&u[..n]) {
            *rest ^= (*rest ^ reduced) & taken;
        }
        join(out, t);
    }
}

/// `a = a + 2^(RADIX n) - b` for `b` of `n` limbs, which carries a 1 into limb `n` unless `a < b`.
/// `a` is zero from there on.
#[target_feature(enable = "avx512f")]
#[inline]
fn subtract(a: &mut [u64], b: &[u64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += MASK - b;
    }
    a[0] += 1;
    a[b.len()..].fill(0);
    carry(a);
}

/// Columns of the product of two factors of at most `n` limbs, which are padded with zeros. The
/// range begins and ends at a multiple of [`SIDE`].
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn multiply(out: &mut [u64], range: std::ops::Range<usize>, a: &[u64], b: &[u64], n: usize) {
    for c in range.step_by(SIDE) {
        // Digits that are multiplied by limbs of the other factor in these columns, and one above
        // the last: the upper half of a product belongs one column higher.
        let (first, last) = ((c + 1).saturating_sub(n), (c + SIDE - 1).min(n));
        let (mut low, mut high) = ([_mm512_setzero_si512(); 2], [_mm512_setzero_si512(); 2]);
        let mut before = spread(b[PAD + first - 1]);
        for j in first..=last {
            let digit = spread(b[PAD + j]);
            for v in 0..2 {
                let limbs = load(a, PAD + c + 8 * v - j);
                low[v] = _mm512_madd52lo_epu64(low[v], limbs, digit);
                high[v] = _mm512_madd52hi_epu64(high[v], limbs, before);
            }
            before = digit;
        }
        for v in 0..2 {
            store(out, c + 8 * v, _mm512_add_epi64(low[v], high[v]));
        }
    }
}

/// Propagates carries, which turns columns into limbs. The carry out of the last one is dropped.
///
/// After all columns have carried simultaneously, a limb is below `2^52 + 2^12` and carries at most
/// 1: if it is too large, or if it is [`MASK`] and receives 1. As in [`Across`], one addition on a
/// bit per limb resolves these carries.
#[target_feature(enable = "avx512f")]
#[inline]
fn carry(columns: &mut [u64]) {
    let ones = spread(MASK);
    let (mut below, mut carried) = (_mm512_setzero_si512(), 0);
    for at in (0..columns.len()).step_by(8) {
        let column = load(columns, at);
        let carries = _mm512_srli_epi64::<RADIX>(column);
        let sum = _mm512_add_epi64(_mm512_and_si512(column, ones), _mm512_alignr_epi64::<7>(carries, below));
        below = carries;
        let over = u32::from(_mm512_cmpgt_epi64_mask(sum, ones));
        let full = u32::from(_mm512_cmpeq_epi64_mask(sum, ones));
        let run = full + (over << 1 | carried);
        carried = run >> 8;
        let sum = _mm512_mask_add_epi64(sum, (run ^ full) as u8, sum, spread(1));
        store(columns, at, _mm512_and_si512(sum, ones));
    }
}

/// Splits a number of 64-bit limbs into 52-bit limbs, eight of which take 52 bytes.
#[target_feature(enable = "avx512f")]
#[inline]
fn split(out: &mut [u64], number: &[u64], scratch: &mut [u64]) {
    let (words, rest) = scratch.split_at_mut(number.len());
    words.copy_from_slice(number);
    rest.fill(0);
    // The start of each limb in 64 bytes: its word and its bit.
    let word = _mm512_setr_epi64(0, 0, 1, 2, 3, 4, 4, 5);
    let bit = _mm512_setr_epi64(0, 52, 40, 28, 16, 4, 56, 44);
    let (next, above) = (_mm512_add_epi64(word, spread(1)), _mm512_setr_epi64(64, 12, 24, 36, 48, 60, 8, 20));
    for at in (0..out.len()).step_by(8) {
        let first = 52 / 8 * at + at / 2;
        assert!(first + 64 <= 8 * scratch.len());
        // SAFETY: the assertion ensures that these 64 bytes exist.
        let bytes = unsafe { _mm512_loadu_si512(scratch.as_ptr().cast::<u8>().add(first).cast()) };
        let low = _mm512_srlv_epi64(_mm512_permutexvar_epi64(word, bytes), bit);
        let high = _mm512_sllv_epi64(_mm512_permutexvar_epi64(next, bytes), above);
        store(out, at, _mm512_and_si512(_mm512_or_si512(low, high), spread(MASK)));
    }
}

/// Combines 52-bit limbs into 64-bit limbs.
fn join(out: &mut [u64], limbs: &[u64]) {
    for (index, out) in out.iter_mut().enumerate() {
        let (first, shift) = (64 * index / RADIX as usize, (64 * index) as u32 % RADIX);
        // Up to three limbs overlap these bits.
        let third = limbs[first + 2].checked_shl(2 * RADIX - shift).unwrap_or(0);
        *out = limbs[first] >> shift | limbs[first + 1] << (RADIX - shift) | third;
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn spread(word: u64) -> __m512i {
    _mm512_set1_epi64(word as i64)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(words: &[u64], at: usize) -> __m512i {
    let words: &[u64; 8] = words[at..][..8].try_into().expect("eight words");
    // SAFETY: the array has as many words as are read.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store(words: &mut [u64], at: usize, value: __m512i) {
    let words: &mut [u64; 8] = (&mut words[at..][..8]).try_into().expect("eight words");
    // SAFETY: the array has as many words as are written.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), value) }
}
