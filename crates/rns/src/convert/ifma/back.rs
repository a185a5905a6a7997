//! Conversion of residues to numbers.

use super::{MASK, NARROW, broadcast, digits, fractions, lanes, limbs_of, load, scaled, store};
use crate::basis::System;
use hearith_arith::ifma::{Octet, RADIX, store as store_rows};
use hearith_arith::natural::{bit_length, bits_at, sub_assign};
use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_madd52hi_epu64, _mm512_madd52lo_epu64,
    _mm512_maskz_loadu_epi64, _mm512_maskz_mov_epi64, _mm512_setzero_si512, _mm512_srli_epi64, _mm512_test_epi64_mask,
};

/// The Chinese remainder theorem: with `y_i = r_i (Q / q_i)^-1 mod q_i`,
///
/// ```text
/// X = sum of y_i (Q / q_i) - k Q,    k = floor(sum of y_i / q_i)
/// ```
///
/// The fractions of `y_i / q_i` give the `y_i`, and their sum gives `k`. The sum in `X` is one
/// product of a vector and a table: the `y_i` (in two limbs if one is too short) and `k`, times
/// rows of `m` limbs, modulo `2^(52 m)`. The last row is `2^(52 m) - Q`.
///
/// # Bounds
/// - The fractions are added in units of `2^-40`. Each exceeds the true one by at most `2 B^-1` and
///   loses less than a unit. As `t` is added in advance, the sum is too large by less than `2 t`
///   units, and its `k` is right or one too large. So the result is `X` or `X - Q`, and as
///   `Q < 2^(52 m - 1)`, its sign is the top bit.
/// - At most `2 t + 1 <= 1025` halves of products meet in a sum, and two sums in a limb, which is
///   below `2^64`.
pub(super) struct Back {
    scales: Vec<Scale>,
    /// Number of 64-bit limbs of a number.
    wide_limbs: usize,
    /// Number of limbs of a block of the sum, at most [`WIDEST`].
    width: usize,
    /// For each block of `width` limbs and each row: the limb before the block, then the limbs of
    /// the block.
    table: Vec<u64>,
    /// Number of rows of the table.
    rows: usize,
    /// `Q` in `m` limbs.
    product: Vec<u64>,
}

/// Maximum number of limbs whose sums fit the registers, with two registers each.
const WIDEST: usize = 8;
/// Number of fraction bits in the sum that gives `k`.
const FRACTION: u32 = 40;

/// A modulus and the digits of `(Q / q)^-1 / q`.
struct Scale {
    q: [u64; 2],
    digits: Vec<u64>,
}

impl Back {
    // Proved: `back_correct` in formal/coq/fractions_back.v.
    pub(super) fn new(system: &System) -> Self {
        let limbs = (bit_length(&system.product) + 1).div_ceil(RADIX) as usize;
        let width = limbs.div_ceil(limbs.div_ceil(WIDEST));
        let limbs = limbs.next_multiple_of(width);
        let scales: Vec<Scale> =
            system.moduli.iter().zip(&system.inverses).map(|(&q, &inverse)| Scale::new(q, inverse)).collect();
        let rows = rows(system, limbs);
        let block = |first: usize| {
            let part = move |row: &Vec<u64>| (first..=first + width).map(|limb| row[limb]).collect::<Vec<_>>();
            rows.iter().flat_map(part)
        };
        let table = (0..limbs).step_by(width).flat_map(block).collect();
        let wide_limbs = system.product.len();
        Back { scales, wide_limbs, width, table, rows: rows.len(), product: cut(&system.product, limbs) }
    }

    /// The number of IFMA instructions for eight numbers: for each modulus those for `y` and its
    /// part of `k`, and those for each row.
    pub(super) fn instructions(&self) -> u64 {
        let of_scale = |scale: &Scale| if scale.digits.len() == 2 { 4 } else { 16 };
        let of_rows = 2 * self.rows * self.product.len();
        self.scales.iter().map(of_scale).sum::<u64>() + of_rows as u64
    }

    /// See [`super::ResidueKernel::numbers`].
    ///
    /// Proved: `back_correct` in formal/coq/fractions_back.v.
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    pub(super) fn numbers(&self, columns: &[&[u64]], rows: &mut [u64]) {
        let mut factors = vec![Octet::default(); self.rows];
        let mut sum = vec![Octet::default(); self.product.len()];
        for (index, rows) in rows.chunks_mut(8 * self.wide_limbs).enumerate() {
            self.scale(&mut factors, columns, 8 * index);
            self.sum(&mut sum, &factors);
            self.settle(&mut sum);
            let mut rows = rows.chunks_exact_mut(self.wide_limbs);
            let mut rows: [&mut [u64]; 8] = std::array::from_fn(|_| rows.next().unwrap_or_default());
            store_rows(&sum, &mut rows);
        }
    }

    /// Computes all `y_i` and `k` for up to eight numbers, starting at number `start`.
    ///
    /// Proved: `scale_correct` in formal/coq/fractions_back.v.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn scale(&self, factors: &mut [Octet], columns: &[&[u64]], start: usize) {
        let unit = broadcast(1 << FRACTION);
        let mut parts = broadcast(self.scales.len() as u64);
        let mut factors = factors.iter_mut();
        let mut push = |value| store(factors.next().expect("a factor for every row"), value);
        for (scale, column) in self.scales.iter().zip(columns) {
            let residues = &column[start..];
            // SAFETY: only the residues that are there are read.
            let residue = unsafe { _mm512_maskz_loadu_epi64(lanes(residues.len()), residues.as_ptr().cast()) };
            let fraction = match scale.digits[..] {
                [first, second] => {
                    let fraction = scale.narrow(residue, first, second);
                    push(_mm512_madd52hi_epu64(_mm512_setzero_si512(), fraction, broadcast(scale.q[0])));
                    fraction
                }
                _ => {
                    let fraction = scale.wide(residue);
                    let y = scaled(fraction, scale.q);
                    push(y);
                    push(_mm512_srli_epi64::<RADIX>(y));
                    fraction[0]
                }
            };
            parts = _mm512_madd52hi_epu64(parts, fraction, unit);
        }
        push(_mm512_srli_epi64::<FRACTION>(parts));
    }

    /// Sums the products of all factors with their rows, limb by limb.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn sum(&self, sum: &mut [Octet], factors: &[Octet]) {
        let tables = self.table.chunks_exact(self.rows * (self.width + 1));
        for (sum, table) in sum.chunks_exact_mut(self.width).zip(tables) {
            match self.width {
                1 => columns::<1>(sum, factors, table),
                2 => columns::<2>(sum, factors, table),
                3 => columns::<3>(sum, factors, table),
                4 => columns::<4>(sum, factors, table),
                5 => columns::<5>(sum, factors, table),
                6 => columns::<6>(sum, factors, table),
                7 => columns::<7>(sum, factors, table),
                _ => columns::<WIDEST>(sum, factors, table),
            }
        }
    }

    /// Carries, adds `Q` if the sum is negative, and carries again.
    ///
    /// Proved: `settle_correct` in formal/coq/fractions_back.v.
    #[target_feature(enable = "avx512f")]
    fn settle(&self, sum: &mut [Octet]) {
        let mask = broadcast(MASK);
        let mut carry = _mm512_setzero_si512();
        for limb in sum.iter_mut() {
            let value = _mm512_add_epi64(load(limb), carry);
            carry = _mm512_srli_epi64::<RADIX>(value);
            store(limb, _mm512_and_si512(value, mask));
        }
        let top = sum.last().map_or(_mm512_setzero_si512(), |limb| load(limb));
        let negative = _mm512_test_epi64_mask(top, broadcast(1 << (RADIX - 1)));
        let mut carry = _mm512_setzero_si512();
        for (limb, &product) in sum.iter_mut().zip(&self.product) {
            let added = _mm512_maskz_mov_epi64(negative, broadcast(product));
            let value = _mm512_add_epi64(_mm512_add_epi64(load(limb), added), carry);
            carry = _mm512_srli_epi64::<RADIX>(value);
            store(limb, _mm512_and_si512(value, mask));
        }
    }
}

impl Scale {
    fn new(q: u64, inverse: u64) -> Self {
        let count = if q < NARROW { 2 } else { 4 };
        Scale { q: limbs_of(q.into()), digits: digits(inverse.into(), q.into(), count) }
    }

    /// The fraction of `y / q` in one limb, for a residue of one limb. As for [`fractions`], it
    /// exceeds the true one by at most 2 units, and `2 q <= B`.
    ///
    /// Proved: `narrow_correct` in formal/coq/fractions_back.v.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    fn narrow(&self, residue: __m512i, first: u64, second: u64) -> __m512i {
        let fraction = _mm512_madd52lo_epu64(broadcast(2), residue, broadcast(first));
        _mm512_madd52hi_epu64(fraction, residue, broadcast(second))
    }

    /// The fraction of `y / q` in two limbs, for a residue of two.
    ///
    /// Proved: `scale_correct` in formal/coq/fractions_back.v.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    fn wide(&self, residue: __m512i) -> [__m512i; 2] {
        let mut limbs = [Octet::default(); 2];
        store(&mut limbs[0], residue);
        store(&mut limbs[1], _mm512_srli_epi64::<RADIX>(residue));
        let [fraction] = fractions::<1>(&limbs, &self.digits);
        fraction
    }
}

/// The rows of the table, each with a zero before the first limb. There is a row `Q / q` for each
/// modulus, for a wide modulus also `2^52 Q / q`, and finally `2^(52 m) - Q`.
///
/// Proved: `scale_correct` in formal/coq/fractions_back.v.
fn rows(system: &System, limbs: usize) -> Vec<Vec<u64>> {
    let padded = |zeros: usize, row: Vec<u64>| {
        let mut padded = vec![0; zeros];
        padded.extend(row);
        padded.truncate(limbs + 1);
        padded
    };
    let of_modulus = |(&q, cofactor): (&u64, &Vec<u64>)| {
        let shifts = if q < NARROW { 1..=1 } else { 1..=2 };
        shifts.map(|zeros| padded(zeros, cut(cofactor, limbs))).collect::<Vec<_>>()
    };
    let mut rows: Vec<_> = system.moduli.iter().zip(&system.cofactors).flat_map(of_modulus).collect();
    let mut negative = vec![0; limbs + 2];
    sub_assign(&mut negative, &system.product);
    rows.push(padded(1, cut(&negative, limbs)));
    rows
}

/// The lowest 52-bit limbs of a number.
fn cut(number: &[u64], limbs: usize) -> Vec<u64> {
    (0..limbs).map(|limb| bits_at(number, limb * RADIX as usize, RADIX)).collect()
}

/// `sum[j] = sum over k of low(factors[k] table[k][j + 1]) + high(factors[k] table[k][j])` for `W`
/// limbs.
///
/// Proved: `columns_correct` in formal/coq/fractions_back.v.
#[target_feature(enable = "avx512f,avx512ifma")]
fn columns<const W: usize>(sum: &mut [Octet], factors: &[Octet], table: &[u64]) {
    let (mut low, mut high) = ([_mm512_setzero_si512(); W], [_mm512_setzero_si512(); W]);
    for (factor, row) in factors.iter().zip(table.chunks_exact(W + 1)) {
        let factor = load(factor);
        for j in 0..W {
            low[j] = _mm512_madd52lo_epu64(low[j], factor, broadcast(row[j + 1]));
            high[j] = _mm512_madd52hi_epu64(high[j], factor, broadcast(row[j]));
        }
    }
    for (word, (low, high)) in sum.iter_mut().zip(low.into_iter().zip(high)) {
        store(word, _mm512_add_epi64(low, high));
    }
}
