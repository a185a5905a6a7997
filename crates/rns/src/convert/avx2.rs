//! The kernel for CPUs with AVX2: eight numbers side by side in two registers, limbs of 28 bits,
//! residues of at most 30 bits.
//!
//! Both directions are the product of a vector and a table: limbs with the residues of their
//! weights, and residues with the limbs of the cofactors. `vpmuludq` computes products of at most
//! 58 bits, and a 64-bit sum holds [`TERMS`] of them. Residues are reduced by Montgomery's method
//! in two steps of 32 bits. The tables compensate for its factor `2^-64`. Bases with an even
//! modulus or one of more than 30 bits use the portable kernel.

use super::{Numbers, ResidueKernel, serial::Serial};
use crate::basis::System;
use hearith_arith::natural::{bit_length, bits_at, inverse_word, sub_assign};
use std::arch::x86_64::{
    __m256i, _mm_cvtsi64_si128, _mm256_add_epi64, _mm256_and_si256, _mm256_blendv_epi8, _mm256_loadu_si256,
    _mm256_min_epu32, _mm256_mul_epu32, _mm256_or_si256, _mm256_set_epi64x, _mm256_set1_epi32, _mm256_set1_epi64x,
    _mm256_setzero_si256, _mm256_sll_epi64, _mm256_sllv_epi64, _mm256_srl_epi64, _mm256_srli_epi64, _mm256_srlv_epi64,
    _mm256_storeu_si256, _mm256_sub_epi32, _mm256_sub_epi64,
};
use std::ops::Range;

/// Length of a limb in bits.
const RADIX: usize = 28;
/// The mask for the bits of a limb.
const MASK: u64 = (1 << RADIX) - 1;
/// Largest length of a modulus in bits.
const MODULUS_BITS: u32 = 30;
/// Number of 58-bit products in a sum: with the `2^32 q` that a reduction adds, `40 2^58 + 2^62` is
/// below 2^64.
const TERMS: usize = 40;
/// Number of sums computed at once. With two registers each they leave registers for the factors.
const ABREAST: usize = 4;
/// How many numbers are processed side by side.
const NUMBERS: usize = 8;

/// One word of eight numbers. Array and iterator adaptors are not compiled with the vector
/// instructions, so this code avoids `map`.
type Pair = [__m256i; 2];

/// Both directions for one basis.
pub(super) enum Avx2 {
    Narrow(Box<Narrow>),
    Wide(Serial),
}

impl ResidueKernel for Avx2 {
    fn new(system: &System) -> Self {
        match system.moduli.iter().all(|&q| q % 2 == 1 && q >> MODULUS_BITS == 0) {
            true => Avx2::Narrow(Box::new(Narrow::new(system))),
            false => Avx2::Wide(Serial::new(system)),
        }
    }

    // Only `dispatch!` reaches this kernel, and it selects engines that this machine can run, so
    // the instructions are available.
    fn residues(&self, numbers: &Numbers<'_>, columns: &mut [&mut [u64]]) {
        match self {
            // SAFETY: the instructions are available.
            Avx2::Narrow(narrow) => unsafe { narrow.residues(numbers, columns) },
            Avx2::Wide(serial) => serial.residues(numbers, columns),
        }
    }

    fn numbers(&self, columns: &[&[u64]], rows: &mut [u64]) {
        match self {
            // SAFETY: the instructions are available.
            Avx2::Narrow(narrow) => unsafe { narrow.numbers(columns, rows) },
            Avx2::Wide(serial) => serial.numbers(columns, rows),
        }
    }
}

/// A basis of odd moduli of at most 30 bits.
///
/// # Bounds
/// Residues to numbers, as in the portable kernel: `X = sum of y_i (Q / q_i) - k Q`. `k` follows
/// from the fractions `y_i / q_i` in units of `2^-31`, each too small by less than 2. So `k` is
/// right or one too small, and one conditional subtraction is enough. The result before it is below
/// `2 Q`, which fits `m` limbs. `-k Q` is added as `k (2^(28 m) - Q)`.
pub(super) struct Narrow {
    moduli: Vec<Modulus>,
    /// `2^(28 k + 64) mod q` for limb `k`.
    powers: Table,
    /// The `m` limbs of each `Q / q`, then those of `2^(28 m) - Q`.
    cofactors: Table,
    /// `Q` in `m` limbs.
    product: Vec<u64>,
    /// Number of 64-bit limbs of a number.
    wide_limbs: usize,
    /// Number of 28-bit limbs of a number.
    limbs: usize,
}

/// A table stored in blocks of [`ABREAST`] columns, row by row within a block. Zeros pad the last
/// columns.
struct Table {
    columns: usize,
    rows: usize,
    /// A product uses only 32 bits, and one instruction loads 32 bits from memory into all lanes.
    entries: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Modulus {
    q: u64,
    /// `-q^-1 mod 2^32`.
    neg_inverse: u64,
    /// `2^64 (Q / q)^-1 mod q`.
    scale: u64,
    /// `floor(2^(31 + b) / q)`, one less for a power of two, and `b`, for `q` of `b` bits.
    part: (u64, u32),
}

impl Table {
    fn new(rows: usize, columns: usize, entry: impl Fn(usize, usize) -> u64) -> Self {
        let at = |row, column| if column < columns { entry(row, column) as u32 } else { 0 };
        let block = |first: usize| {
            let at = &at;
            (0..rows).flat_map(move |row| (first..first + ABREAST).map(move |column| at(row, column)))
        };
        let entries = (0..columns).step_by(ABREAST).flat_map(block).collect();
        Table { columns, rows, entries }
    }

    /// The rows `range` of the columns starting at `first`, a multiple of [`ABREAST`].
    fn part(&self, first: usize, range: Range<usize>) -> &[u32] {
        let start = first * self.rows;
        &self.entries[start + ABREAST * range.start..start + ABREAST * range.end]
    }
}

impl Modulus {
    fn new(q: u64, inverse: u64) -> Self {
        let bits = u64::BITS - q.leading_zeros();
        let scale = ((u128::from(inverse) << 64) % u128::from(q)) as u64;
        let part = ((1_u64 << (31 + bits)) - 1) / q;
        Modulus { q, neg_inverse: inverse_word(q).wrapping_neg() & u64::from(u32::MAX), scale, part: (part, bits) }
    }
}

impl Narrow {
    // Proved: `residues_correct` in formal/coq/avx2_residues.v.
    // Proved: `back_correct` in formal/coq/avx2_residues.v.
    fn new(system: &System) -> Self {
        let bits = bit_length(&system.product) as usize;
        // Twice `Q` has room in what comes back.
        let (limbs, room) = (bits.div_ceil(RADIX), (bits + 1).div_ceil(RADIX));
        let limb = |number: &[u64], at: usize| bits_at(number, RADIX * at, RADIX as u32);
        let moduli: Vec<Modulus> =
            system.moduli.iter().zip(&system.inverses).map(|(&q, &inverse)| Modulus::new(q, inverse)).collect();
        let power = |limb: usize, column: usize| {
            let q = system.moduli[column];
            (0..RADIX * limb + 64).fold(1 % q, |power, _| 2 * power % q)
        };
        let mut negative = vec![0; (RADIX * room).div_ceil(64)];
        sub_assign(&mut negative, &system.product);
        let cofactor = |row: usize, at: usize| limb(system.cofactors.get(row).unwrap_or(&negative), at);
        Narrow {
            powers: Table::new(limbs, moduli.len(), power),
            cofactors: Table::new(moduli.len() + 1, room, cofactor),
            product: (0..room).map(|at| limb(&system.product, at)).collect(),
            wide_limbs: system.product.len(),
            limbs,
            moduli,
        }
    }

    /// See [`ResidueKernel::residues`].
    ///
    /// Proved: `residues_correct` in formal/coq/avx2_residues.v.
    #[target_feature(enable = "avx2")]
    fn residues(&self, numbers: &Numbers<'_>, columns: &mut [&mut [u64]]) {
        let mut x = vec![[_mm256_setzero_si256(); 2]; self.limbs];
        for first in (0..numbers.len()).step_by(NUMBERS) {
            let range = first..(first + NUMBERS).min(numbers.len());
            load(&mut x, numbers, range.clone());
            for column in (0..self.powers.columns).step_by(ABREAST) {
                let members = column..(column + ABREAST).min(self.powers.columns);
                let mut found = [[_mm256_setzero_si256(); 2]; ABREAST];
                for (at, limbs) in x.chunks(TERMS).enumerate() {
                    let rows = TERMS * at..TERMS * at + limbs.len();
                    let sums = sums(limbs, self.powers.part(column, rows));
                    for (g, modulus) in self.moduli[members.clone()].iter().enumerate() {
                        for half in 0..2 {
                            let part = reduce(sums[g][half], modulus);
                            found[g][half] = if at == 0 { part } else { add(found[g][half], part, modulus) };
                        }
                    }
                }
                for (column, residues) in columns[members].iter_mut().zip(found) {
                    put(&mut column[range.clone()], residues);
                }
            }
        }
    }

    /// See [`ResidueKernel::numbers`].
    ///
    /// Proved: `back_correct` in formal/coq/avx2_residues.v.
    #[target_feature(enable = "avx2")]
    fn numbers(&self, columns: &[&[u64]], rows: &mut [u64]) {
        let count = rows.len() / self.wide_limbs;
        let zero = [_mm256_setzero_si256(); 2];
        let (mut y, mut x) = (vec![zero; self.moduli.len() + 1], vec![zero; self.product.len() + ABREAST]);
        for first in (0..count).step_by(NUMBERS) {
            let range = first..(first + NUMBERS).min(count);
            self.scale(columns, range.clone(), &mut y);
            self.combine(&y, &mut x);
            settle(&mut x[..self.product.len()], &self.product);
            store(&x[..self.product.len()], &mut rows[range.start * self.wide_limbs..], self.wide_limbs, range.len());
        }
    }

    /// Computes `y_i` for each modulus, then `k`, for up to eight numbers.
    ///
    /// Proved: `scale_correct` in formal/coq/avx2_residues.v.
    #[target_feature(enable = "avx2")]
    fn scale(&self, columns: &[&[u64]], range: Range<usize>, y: &mut [Pair]) {
        let mut quotient = [_mm256_setzero_si256(); 2];
        for ((modulus, column), y) in self.moduli.iter().zip(columns).zip(y.iter_mut()) {
            let residues = eight(&column[range.clone()]);
            for half in 0..2 {
                y[half] = reduce(_mm256_mul_epu32(residues[half], broadcast(modulus.scale)), modulus);
                let (part, bits) = modulus.part;
                let fraction =
                    _mm256_srl_epi64(_mm256_mul_epu32(y[half], broadcast(part)), _mm_cvtsi64_si128(bits.into()));
                quotient[half] = _mm256_add_epi64(quotient[half], fraction);
            }
        }
        for half in 0..2 {
            y[self.moduli.len()][half] = _mm256_srli_epi64::<31>(quotient[half]);
        }
    }

    /// Sums all multiples of cofactors, in columns below 2^40.
    ///
    /// Proved: `combine_correct` in formal/coq/avx2_residues.v.
    #[target_feature(enable = "avx2")]
    fn combine(&self, y: &[Pair], x: &mut [Pair]) {
        x.fill([_mm256_setzero_si256(); 2]);
        for first in (0..self.cofactors.columns).step_by(ABREAST) {
            for (at, part) in y.chunks(TERMS).enumerate() {
                let rows = TERMS * at..TERMS * at + part.len();
                let sums = sums(part, self.cofactors.part(first, rows));
                for (g, sum) in sums.into_iter().enumerate() {
                    for half in 0..2 {
                        let low = _mm256_and_si256(sum[half], broadcast(MASK));
                        let high = _mm256_srli_epi64::<{ RADIX as i32 }>(sum[half]);
                        x[first + g][half] = _mm256_add_epi64(x[first + g][half], low);
                        if first + g + 1 < x.len() {
                            x[first + g + 1][half] = _mm256_add_epi64(x[first + g + 1][half], high);
                        }
                    }
                }
            }
        }
    }
}

/// For each of [`ABREAST`] columns of a table, the sum of its products with `x`.
///
/// Proved: `residues_correct` in formal/coq/avx2_residues.v.
/// Proved: `combine_correct` in formal/coq/avx2_residues.v.
#[target_feature(enable = "avx2")]
#[inline]
fn sums(x: &[Pair], table: &[u32]) -> [Pair; ABREAST] {
    let mut sums = [[_mm256_setzero_si256(); 2]; ABREAST];
    for (x, entries) in x.iter().zip(table.as_chunks::<ABREAST>().0) {
        for g in 0..ABREAST {
            let factor = _mm256_set1_epi32(entries[g] as i32);
            sums[g][0] = _mm256_add_epi64(sums[g][0], _mm256_mul_epu32(x[0], factor));
            sums[g][1] = _mm256_add_epi64(sums[g][1], _mm256_mul_epu32(x[1], factor));
        }
    }
    sums
}

/// `sum / 2^64 mod q`. The first step leaves less than 2^32, the second one at most `q`.
///
/// Proved: `reduce_correct` in formal/coq/avx2_residues.v.
#[target_feature(enable = "avx2")]
#[inline]
fn reduce(sum: __m256i, modulus: &Modulus) -> __m256i {
    let (q, neg_inverse) = (broadcast(modulus.q), broadcast(modulus.neg_inverse));
    let step = |x: __m256i| {
        let digit = _mm256_mul_epu32(x, neg_inverse);
        _mm256_srli_epi64::<32>(_mm256_add_epi64(x, _mm256_mul_epu32(digit, q)))
    };
    less(step(step(sum)), q)
}

/// The sum of two residues.
///
/// Proved: `add_correct` in formal/coq/avx2_residues.v.
#[target_feature(enable = "avx2")]
#[inline]
fn add(a: __m256i, b: __m256i, modulus: &Modulus) -> __m256i {
    less(_mm256_add_epi64(a, b), broadcast(modulus.q))
}

/// Reduces `x`, which is below `2 q`, to below `q`.
///
/// Proved: `less_correct` in formal/coq/avx2_residues.v.
#[target_feature(enable = "avx2")]
#[inline]
fn less(x: __m256i, q: __m256i) -> __m256i {
    _mm256_min_epu32(x, _mm256_sub_epi32(x, q))
}

#[target_feature(enable = "avx2")]
#[inline]
fn broadcast(x: u64) -> __m256i {
    _mm256_set1_epi64x(x as i64)
}

/// Loads up to eight words, padded with zeros.
#[target_feature(enable = "avx2")]
#[inline]
fn eight(words: &[u64]) -> Pair {
    let mut whole = [0; NUMBERS];
    let words = match words.first_chunk::<NUMBERS>() {
        Some(words) => words,
        None => {
            whole[..words.len()].copy_from_slice(words);
            &whole
        }
    };
    // SAFETY: there are eight words.
    unsafe { [_mm256_loadu_si256(words.as_ptr().cast()), _mm256_loadu_si256(words[4..].as_ptr().cast())] }
}

/// Writes as many of the eight words as `places` has room for.
#[target_feature(enable = "avx2")]
#[inline]
fn put(places: &mut [u64], words: Pair) {
    let store = |places: &mut [u64; NUMBERS]| {
        // SAFETY: there is space for eight words.
        unsafe {
            _mm256_storeu_si256(places.as_mut_ptr().cast(), words[0]);
            _mm256_storeu_si256(places[4..].as_mut_ptr().cast(), words[1]);
        }
    };
    if let Some(places) = places.first_chunk_mut() {
        return store(places);
    }
    let mut whole = [0; NUMBERS];
    store(&mut whole);
    places.copy_from_slice(&whole[..places.len()]);
}

/// Splits up to eight numbers into limbs.
#[target_feature(enable = "avx2")]
fn load(x: &mut [Pair], numbers: &Numbers<'_>, range: Range<usize>) {
    let wide = |at: usize| match numbers {
        _ if at >= numbers.limbs() => [_mm256_setzero_si256(); 2],
        Numbers::Slices(slices) => eight(&slices[at][range.clone()]),
        Numbers::Rows { words, limbs } => {
            // A lane without its own row uses the last one.
            let word = |row: usize| words[(range.start + row).min(range.end - 1) * limbs + at] as i64;
            [
                _mm256_set_epi64x(word(3), word(2), word(1), word(0)),
                _mm256_set_epi64x(word(7), word(6), word(5), word(4)),
            ]
        }
    };
    let (mut at, mut below, mut above) = (0, wide(0), wide(1));
    for (index, limb) in x.iter_mut().enumerate() {
        let (place, shift) = (RADIX * index / 64, RADIX * index % 64);
        if place > at {
            (at, below, above) = (place, above, wide(place + 1));
        }
        // A shift by 64 gives zero.
        let (down, up) = (broadcast(shift as u64), broadcast(64 - shift as u64));
        for half in 0..2 {
            let (low, high) = (_mm256_srlv_epi64(below[half], down), _mm256_sllv_epi64(above[half], up));
            limb[half] = _mm256_and_si256(_mm256_or_si256(low, high), broadcast(MASK));
        }
    }
}

/// Carries the columns into limbs, and subtracts `product` if it fits. The carry out of the last
/// limb is dropped.
///
/// Proved: `settle_correct` in formal/coq/avx2_residues.v.
#[target_feature(enable = "avx2")]
fn settle(x: &mut [Pair], product: &[u64]) {
    let mask = broadcast(MASK);
    for half in 0..2 {
        let mut carry = _mm256_setzero_si256();
        let mut borrow = _mm256_setzero_si256();
        for (limb, &q) in x.iter_mut().zip(product) {
            let sum = _mm256_add_epi64(limb[half], carry);
            carry = _mm256_srli_epi64::<{ RADIX as i32 }>(sum);
            limb[half] = _mm256_and_si256(sum, mask);
            let difference = _mm256_sub_epi64(_mm256_sub_epi64(limb[half], broadcast(q)), borrow);
            borrow = _mm256_srli_epi64::<63>(difference);
        }
        // All ones where the product fits.
        let fits = _mm256_sub_epi64(borrow, broadcast(1));
        borrow = _mm256_setzero_si256();
        for (limb, &q) in x.iter_mut().zip(product) {
            let difference = _mm256_sub_epi64(_mm256_sub_epi64(limb[half], broadcast(q)), borrow);
            borrow = _mm256_srli_epi64::<63>(difference);
            limb[half] = _mm256_blendv_epi8(limb[half], _mm256_and_si256(difference, mask), fits);
        }
    }
}

/// Combines the limbs of up to eight numbers into `limbs` 64-bit limbs each.
#[target_feature(enable = "avx2")]
fn store(x: &[Pair], rows: &mut [u64], limbs: usize, count: usize) {
    for wide in 0..limbs {
        let (first, shift) = (64 * wide / RADIX, 64 * wide % RADIX);
        let mut word = [_mm256_setzero_si256(); 2];
        for (place, limb) in x[first..].iter().take(4).enumerate() {
            for half in 0..2 {
                // Shifts by 64 or more give zero.
                let part = match place {
                    0 => _mm256_srl_epi64(limb[half], _mm_cvtsi64_si128(shift as i64)),
                    _ => _mm256_sll_epi64(limb[half], _mm_cvtsi64_si128((RADIX * place - shift) as i64)),
                };
                word[half] = _mm256_or_si256(word[half], part);
            }
        }
        let mut words = [0; NUMBERS];
        put(&mut words, word);
        for (row, word) in words[..count].iter().enumerate() {
            rows[row * limbs + wide] = *word;
        }
    }
}
