//! Sums in eight lanes, with a segment of the elements in each: a product of digits in Karatsuba's
//! form, whose columns are carried once.
//!
//! A digit has 48 bits, so three words of a segment are four digits. With `2^l` phases, digit
//! `2^l u + f` of a segment is the coefficient at `u` of the polynomial of phase `f`. The same
//! holds for a coefficient of the sum. Three levels of Karatsuba's algorithm turn eight phases into
//! 27 sequences. Each value is the sum of up to eight digits, so below 2^51. Sequences are
//! multiplied directly, like a signal by a digital filter: a coefficient's values in a sequence are
//! the filter's `taps`, and a column needs the element's values at that many positions, of which
//! all but one come before it (`history`; in digits, `lead`). The products are combined once, after
//! all elements have been added.
//!
//! # Bounds
//! A column adds the low and high halves of products separately, each half below 2^52. An element
//! adds `taps` of them, so the 64 bits of a sum hold `4095 / taps` elements before they must be
//! added to the column's 128 bits.
//!
//! # Caches
//! A task is a chunk of positions, for some sums. For a few elements at a time it computes the 27
//! sequences, then adds to the columns, eight at a time in registers. The columns of a chunk and
//! the sequences fit into the level 2 cache. Positions before a chunk that its columns need are
//! recomputed.

use super::blocks;
use super::karatsuba::{LEVELS, SEQUENCES, expand, interpolate};
use super::{Coefficients, SumKernel};
use crate::elements::{Elements, Row, SEGMENTS};
use hearith_arith::ifma::Octet;
use hearith_arith::natural::{Secret, add_assign, bits_at};
use rayon::prelude::*;
use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_load_si512, _mm512_madd52hi_epu64, _mm512_madd52lo_epu64,
    _mm512_or_si512, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_slli_epi64, _mm512_srli_epi64, _mm512_store_si512,
};
use zeroize::Zeroizing;

/// Length of a digit in bits.
const DIGIT: u32 = 48;
/// Number of columns in registers.
const BLOCK: usize = 8;
/// Maximum number of digits of a segment in a chunk.
const CHUNK: usize = 512;
/// Number of elements whose sequences are computed at a time.
const GROUP: usize = 4;
/// Size in bytes of the columns that stay in the cache.
const COLUMN_BYTES: usize = 900 << 10;

/// The vector engine's kernel.
pub(super) struct Ifma;

impl SumKernel for Ifma {
    fn sums(elements: &Elements, first: usize, coefficients: &[Coefficients], limbs: usize) -> Vec<Secret> {
        let Some(one) = coefficients.first() else { return Vec::new() };
        let shape = blocks::Shape::new(elements, one).filter(|shape| shape.pays(coefficients.len()));
        match shape {
            Some(shape) => blocks::sums(elements, first, coefficients, limbs, &shape),
            None => sums(elements, first, coefficients, limbs),
        }
    }
}

/// See [`sums`](super::sums).
pub(super) fn sums(elements: &Elements, first: usize, coefficients: &[Coefficients], limbs: usize) -> Vec<Secret> {
    let Some(one) = coefficients.first() else { return Vec::new() };
    let shape = Shape::new(elements, one.bits);
    let passes = coefficients.chunks(shape.sums);
    passes.flat_map(|coefficients| pass(elements, first, coefficients, limbs, &shape)).collect()
}

/// How sums of one shape are divided.
struct Shape {
    /// Number of Karatsuba levels.
    levels: u32,
    /// Number of values of a coefficient in a sequence.
    taps: usize,
    /// Number of positions of a sequence in a chunk.
    columns: usize,
    chunks: usize,
    /// Number of sums computed at a time.
    sums: usize,
}

impl Shape {
    fn new(elements: &Elements, bits: u32) -> Self {
        let digits = bits.div_ceil(DIGIT) as usize;
        // Instructions per digit of an element: two products per tap, and about three to compute
        // and store a sequence.
        let cost = |levels: u32| (3_usize.pow(levels) * (2 * digits.div_ceil(1 << levels) + 3)) << (LEVELS - levels);
        let levels = (0..=LEVELS).min_by_key(|&levels| cost(levels)).unwrap_or(0);
        let taps = digits.div_ceil(1 << levels);
        // The proof assumes this. Coefficients are no longer than the secret, at most 8192 bits.
        assert!(GROUP * taps <= 4095, "a group of products fits a sum");
        let segment = (64 * elements.segment()).div_ceil(DIGIT as usize).div_ceil(1 << levels) + taps;
        // A multiple of the number of threads, or enough chunks that the remainder does not matter.
        let (threads, chunks) = (rayon::current_num_threads(), segment.div_ceil(CHUNK >> levels));
        let chunks = if chunks < 8 * threads { chunks.next_multiple_of(threads) } else { chunks };
        let columns = segment.div_ceil(chunks).next_multiple_of(BLOCK);
        let bytes = 3_usize.pow(levels) * columns * 2 * size_of::<Octet>();
        Shape { levels, taps, columns, chunks: segment.div_ceil(columns), sums: (COLUMN_BYTES / bytes).max(1) }
    }

    fn sequences(&self) -> usize {
        3_usize.pow(self.levels)
    }

    /// Number of digits of a chunk: those of its products, and space for carries above them.
    fn digits(&self) -> usize {
        ((self.columns + 1) << self.levels) + 4
    }

    /// Number of words of a lane of a chunk.
    fn lane(&self) -> usize {
        (self.digits() * DIGIT as usize).div_ceil(64) + 1
    }

    /// Number of positions before a chunk that its columns need.
    fn history(&self) -> usize {
        self.taps - 1
    }

    /// Number of digits computed before a chunk, in whole groups of four.
    fn lead(&self) -> usize {
        (self.history() << self.levels).next_multiple_of(4)
    }
}

/// The values of one sum's coefficients in all sequences: for each group of elements and each
/// sequence, `taps` values per coefficient.
struct ToeplitzRows(Zeroizing<Vec<u64>>);

impl ToeplitzRows {
    fn new(coefficients: &Coefficients, shape: &Shape) -> Self {
        let (count, phases) = (coefficients.len(), 1 << shape.levels);
        let mut filters = Zeroizing::new(vec![0; Self::group(shape) * count.div_ceil(GROUP)]);
        filters.par_chunks_exact_mut(Self::group(shape)).enumerate().for_each(|(group, filters)| {
            for row in 0..GROUP.min(count - GROUP * group) {
                let coefficient = coefficients.get(GROUP * group + row);
                for tap in 0..shape.taps {
                    let digit = |f: usize| bits_at(coefficient, (tap * phases + f) * DIGIT as usize, DIGIT);
                    let digits = Zeroizing::new(std::array::from_fn(|f| if f < phases { digit(f) } else { 0 }));
                    let put = |sequence, value| filters[(sequence * GROUP + row) * shape.taps + tap] = value;
                    expand(shape.levels, &digits, |a, b| a + b, put);
                }
            }
        });
        ToeplitzRows(filters)
    }

    /// The values of a sequence for the first `elements` elements of a group.
    fn of(&self, shape: &Shape, group: usize, sequence: usize, elements: usize) -> &[u64] {
        &self.0[group * Self::group(shape) + sequence * GROUP * shape.taps..][..elements * shape.taps]
    }

    /// Number of values of a group.
    fn group(shape: &Shape) -> usize {
        shape.sequences() * GROUP * shape.taps
    }
}

/// Computes the sums of one pass.
fn pass(elements: &Elements, first: usize, coefficients: &[Coefficients], limbs: usize, shape: &Shape) -> Vec<Secret> {
    let filters: Vec<ToeplitzRows> =
        coefficients.par_iter().map(|coefficients| ToeplitzRows::new(coefficients, shape)).collect();
    let count = coefficients[0].len();
    let chunks = (0..shape.chunks).into_par_iter().map(|chunk| {
        let mut task = Task::new(shape, chunk, coefficients.len());
        // SAFETY: only `dispatch!` reaches this kernel, so the instructions are available.
        unsafe { task.add(elements, first, count, &filters) };
        task.lanes()
    });
    let done: Vec<Vec<Secret>> = chunks.collect();
    let step = (shape.columns << shape.levels) * DIGIT as usize / 64;
    let sum = |index: usize| {
        let mut number = Zeroizing::new(vec![0; limbs]);
        for s in 0..SEGMENTS {
            let mut words = Zeroizing::new(vec![0; shape.chunks * step + shape.lane()]);
            for (chunk, lanes) in done.iter().enumerate() {
                // A chunk's number overlaps the beginning of the next one's, and its last word is
                // reserved for carries.
                let lane = &lanes[index][s * shape.lane()..][..shape.lane()];
                add_assign(&mut words[chunk * step..][..shape.lane()], lane);
            }
            let from = (s * elements.segment()).min(limbs);
            add_assign(&mut number[from..], &words[..words.len().min(limbs - from)]);
        }
        number
    };
    (0..coefficients.len()).into_par_iter().map(sum).collect()
}

/// Carries digits and packs them into one number per lane, of `length` words each.
fn packed(columns: &[[i128; SEGMENTS]], length: usize) -> Secret {
    let mut lanes = Zeroizing::new(vec![0_u64; SEGMENTS * length]);
    let mut carries = Zeroizing::new([0_i128; SEGMENTS]);
    for (t, column) in columns.iter().enumerate() {
        let (limb, shift) = (t * DIGIT as usize / 64, t * DIGIT as usize % 64);
        for (s, (carry, value)) in carries.iter_mut().zip(column).enumerate() {
            *carry += value;
            let digit = *carry as u64 & ((1 << DIGIT) - 1);
            lanes[s * length + limb] |= digit << shift;
            // Two shifts give zero for a total shift of 64.
            lanes[s * length + limb + 1] |= digit >> 1 >> (63 - shift);
            *carry >>= DIGIT;
        }
    }
    lanes
}

/// A chunk of positions for some sums.
struct Task<'a> {
    shape: &'a Shape,
    chunk: usize,
    rows: Vec<Row>,
    digits: Vec<Octet>,
    /// For each sequence and element of a group, the chunk's positions and those before it.
    positions: Vec<Octet>,
    /// For each sum, sequence and block of columns: the low halves, then the high halves.
    sums: Vec<Zeroizing<Vec<Octet>>>,
    /// For each sum, sequence and column: the total moved out of `sums`.
    carried: Vec<Zeroizing<Vec<[u128; SEGMENTS]>>>,
}

impl<'a> Task<'a> {
    fn new(shape: &'a Shape, chunk: usize, sums: usize) -> Self {
        let digits = shape.lead() + (shape.columns << shape.levels);
        let columns = shape.sequences() * shape.columns;
        Task {
            shape,
            chunk,
            rows: vec![Row::default(); digits / 4 * 3],
            digits: vec![Octet::default(); digits],
            positions: vec![Octet::default(); shape.sequences() * GROUP * (shape.history() + shape.columns)],
            sums: (0..sums).map(|_| Zeroizing::new(vec![Octet::default(); 2 * columns])).collect(),
            carried: (0..sums).map(|_| Zeroizing::new(vec![[0; SEGMENTS]; columns])).collect(),
        }
    }

    /// Adds the multiples of `count` elements, starting at `first`, to all sums.
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    fn add(&mut self, elements: &Elements, first: usize, count: usize, filters: &[ToeplitzRows]) {
        let shape = self.shape;
        let (length, most) = (shape.history() + shape.columns, 4095 / shape.taps);
        let mut since = 0;
        for group in 0..count.div_ceil(GROUP) {
            let start = group * GROUP;
            let rows = GROUP.min(count - start);
            for row in 0..rows {
                self.make_digits(elements, first + start + row);
                self.make_positions(row);
            }
            if since + rows > most {
                self.carry();
                since = 0;
            }
            since += rows;
            for sequence in 0..shape.sequences() {
                let positions = &self.positions[sequence * GROUP * length..][..rows * length];
                for (sums, filters) in self.sums.iter_mut().zip(filters) {
                    let sums = &mut sums[2 * sequence * shape.columns..][..2 * shape.columns];
                    accumulate(sums, positions, filters.of(shape, group, sequence, rows), length, shape.taps);
                }
            }
        }
        self.carry();
    }

    /// Computes the digits of an element in this chunk and before it, four from every three words.
    #[target_feature(enable = "avx512f")]
    fn make_digits(&mut self, elements: &Elements, index: usize) {
        let shape = self.shape;
        // Rows of words up to the chunk, and those needed before it.
        let (from, lead) = (self.chunk * (shape.columns << shape.levels) / 4 * 3, shape.lead() / 4 * 3);
        let before = lead.saturating_sub(from);
        self.rows[..before].fill(Row::default());
        elements.rows(index, from + before - lead, &mut self.rows[before..]);
        let mask = _mm512_set1_epi64((1 << DIGIT) - 1);
        for (digits, words) in self.digits.chunks_exact_mut(4).zip(self.rows.chunks_exact(3)) {
            // SAFETY: the references cover 64 aligned bytes each.
            let [a, b, c] = std::array::from_fn(|i| unsafe { _mm512_load_si512((&raw const words[i]).cast()) });
            store(&mut digits[0], _mm512_and_si512(a, mask));
            let second = _mm512_or_si512(_mm512_srli_epi64::<48>(a), _mm512_slli_epi64::<16>(b));
            store(&mut digits[1], _mm512_and_si512(second, mask));
            let third = _mm512_or_si512(_mm512_srli_epi64::<32>(b), _mm512_slli_epi64::<32>(c));
            store(&mut digits[2], _mm512_and_si512(third, mask));
            store(&mut digits[3], _mm512_srli_epi64::<16>(c));
        }
    }

    /// Computes the sequences of the digits, as element `row` of the group.
    #[target_feature(enable = "avx512f")]
    fn make_positions(&mut self, row: usize) {
        match self.shape.levels {
            0 => self.expand::<0>(row),
            1 => self.expand::<1>(row),
            2 => self.expand::<2>(row),
            _ => self.expand::<3>(row),
        }
    }

    /// Proved: `sequences_fit` in formal/coq/sums.v.
    #[target_feature(enable = "avx512f")]
    fn expand<const LEVELS: u32>(&mut self, row: usize) {
        let shape = self.shape;
        let length = shape.history() + shape.columns;
        let digits = &self.digits[shape.lead() - (shape.history() << LEVELS)..];
        for (position, digits) in digits.chunks_exact(1 << LEVELS).enumerate() {
            let mut values = [_mm512_setzero_si512(); 8];
            values.iter_mut().zip(digits).for_each(|(value, digit)| *value = load(digit));
            let put = |sequence: usize, value| {
                store(&mut self.positions[(sequence * GROUP + row) * length + position], value)
            };
            expand(LEVELS, &values, |a, b| _mm512_add_epi64(a, b), put);
        }
    }

    /// Moves the columns' sums to the 128-bit accumulators.
    ///
    /// Proved: `digit_sums_fit` in formal/coq/sums.v.
    fn carry(&mut self) {
        for (sums, carried) in self.sums.iter_mut().zip(&mut self.carried) {
            for (sums, carried) in sums.chunks_exact_mut(2 * BLOCK).zip(carried.chunks_exact_mut(BLOCK)) {
                for (column, carried) in carried.iter_mut().enumerate() {
                    for (s, carried) in carried.iter_mut().enumerate() {
                        *carried += u128::from(sums[column].0[s]) + (u128::from(sums[BLOCK + column].0[s]) << 52);
                    }
                }
                sums.fill(Octet::default());
            }
        }
    }

    /// The numbers of every sum, one per lane: the products of polynomials, added where they
    /// overlap.
    fn lanes(&self) -> Vec<Secret> {
        let (shape, phases) = (self.shape, 1 << self.shape.levels);
        let mut columns = Zeroizing::new(vec![[0; SEGMENTS]; shape.digits()]);
        let mut products = Zeroizing::new([0; SEQUENCES]);
        let lanes = |carried: &Zeroizing<Vec<[u128; SEGMENTS]>>| {
            columns.fill([0; SEGMENTS]);
            for position in 0..shape.columns {
                for s in 0..SEGMENTS {
                    for (sequence, product) in products.iter_mut().enumerate().take(shape.sequences()) {
                        *product = carried[sequence * shape.columns + position][s] as i128;
                    }
                    if phases == 1 {
                        columns[position][s] = products[0];
                        continue;
                    }
                    let product = interpolate(shape.levels, &products[..shape.sequences()]);
                    for (i, value) in product.into_iter().enumerate().take(2 * phases - 1) {
                        columns[position * phases + i][s] += value;
                    }
                }
            }
            packed(&columns, shape.lane())
        };
        self.carried.iter().map(lanes).collect()
    }
}

/// Adds the products of positions and values to the columns, for each element of a group:
/// `sum of values[tap] positions[column - tap]`.
///
/// Proved: `digit_sums_fit` in formal/coq/sums.v.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn accumulate(sums: &mut [Octet], positions: &[Octet], values: &[u64], length: usize, taps: usize) {
    for (block, sums) in sums.chunks_exact_mut(2 * BLOCK).enumerate() {
        let (low, high) = sums.split_at_mut(BLOCK);
        let mut lows: [__m512i; BLOCK] = std::array::from_fn(|k| load(&low[k]));
        let mut highs: [__m512i; BLOCK] = std::array::from_fn(|k| load(&high[k]));
        for (positions, values) in positions.chunks_exact(length).zip(values.chunks_exact(taps)) {
            for (tap, &value) in values.iter().enumerate() {
                let value = _mm512_set1_epi64(value as i64);
                let window = &positions[taps - 1 - tap + BLOCK * block..][..BLOCK];
                for k in 0..BLOCK {
                    let position = load(&window[k]);
                    lows[k] = _mm512_madd52lo_epu64(lows[k], position, value);
                    highs[k] = _mm512_madd52hi_epu64(highs[k], position, value);
                }
            }
        }
        for k in 0..BLOCK {
            store(&mut low[k], lows[k]);
            store(&mut high[k], highs[k]);
        }
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(from: &Octet) -> __m512i {
    // SAFETY: the reference covers 64 aligned bytes.
    unsafe { _mm512_load_si512((&raw const *from).cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store(to: &mut Octet, value: __m512i) {
    // SAFETY: the reference covers 64 aligned bytes.
    unsafe { _mm512_store_si512((&raw mut *to).cast(), value) }
}
