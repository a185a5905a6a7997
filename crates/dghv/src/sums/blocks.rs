//! Sums in eight lanes by transforms, for long coefficients. The more sums, the greater the gain.
//!
//! Each segment of an element (a lane) is divided into blocks of words, one polynomial each. A
//! coefficient is one polynomial. Polynomials are multiplied modulo `x^length - 1`, long enough for
//! the whole product, and modulo three primes. Each coefficient is transformed once. A block is
//! transformed for a few elements at a time, and the transforms serve all sums: their products are
//! accumulated point by point. Only the inverse transform, the Chinese remainder theorem and the
//! carries remain to be done once per block and sum.
//!
//! # Bounds
//! Each coefficient of a sum adds at most `elements taps` products of two words, and must stay
//! below the product of the primes.

mod primes;
mod transform;

use super::Coefficients;
use crate::elements::{Elements, Row, SEGMENTS};
use hearith_arith::ifma::Octet;
use hearith_arith::natural::{Secret, add_assign};
use primes::Primes;
use rayon::prelude::*;
use std::array::from_fn;
use std::ops::Range;
use zeroize::Zeroizing;

/// Number of elements transformed at a time.
const GROUP: usize = 8;
/// Number of groups whose words are generated at a time. They are processed once for each prime,
/// which keeps the sums for one prime in the cache.
const GROUPS: usize = 4;
/// Number of blocks in a task if there are many. They share each factor that is read.
const BLOCKS: usize = 2;
/// Number of sums whose factors are stored side by side.
const TOGETHER: usize = 8;
/// Supported lengths of transforms.
const LENGTHS: [usize; 3] = [64, 256, 1024];
/// Maximum number of products of two words whose sum is certainly below the product of the primes,
/// `2^147 (1 - 2^-30)`.
const MOST_PRODUCTS: usize = (1 << 19) - 1;

/// How sums of one shape are divided into blocks.
pub(super) struct Shape {
    /// Number of words of a coefficient.
    taps: usize,
    /// Number of values of a transform.
    length: usize,
    /// Number of blocks of a segment.
    blocks: usize,
}

impl Shape {
    /// Chooses a shape. `None` if there are too many elements for the primes, or the coefficients
    /// are too long for the transforms.
    pub(super) fn new(elements: &Elements, one: &Coefficients) -> Option<Self> {
        let (count, taps) = (one.len(), one.each);
        if count * taps > MOST_PRODUCTS || count > transform::MOST_TERMS {
            return None;
        }
        let lengths = LENGTHS.iter().filter(|&&length| length >= 2 * taps);
        let shapes = lengths.map(|&length| {
            let blocks = elements.segment().div_ceil(length + 1 - taps);
            Shape { taps, length, blocks }
        });
        shapes.min_by_key(Shape::cost)
    }

    /// Whether this method is faster than digit by digit for `sums` sums. Measured: from two
    /// messages of CNT's toy set, or one of its small set.
    pub(super) fn pays(&self, sums: usize) -> bool {
        self.taps >= 8 && self.taps * sums >= 24
    }

    /// The number of values in all transforms of an element, times the number of levels.
    fn cost(&self) -> usize {
        self.blocks * self.length * self.length.ilog2() as usize
    }

    /// Number of words of a block.
    fn words(&self) -> usize {
        self.length + 1 - self.taps
    }

    /// Distance between consecutive elements of a group, modulo one prime. It is not a multiple of
    /// a page because all elements are read side by side.
    fn stride(&self) -> usize {
        self.length + 1
    }
}

/// The transforms of the coefficients of some sums. The order, from the outermost index, is: group
/// of elements, prime, four places, element of the group, place, sum.
struct Factors {
    values: Zeroizing<Vec<u64>>,
    /// Number of values before the first one that is aligned to a cache line.
    skipped: usize,
    sums: usize,
}

impl Factors {
    fn new(coefficients: &[Coefficients], shape: &Shape, primes: &Primes) -> Self {
        let (count, sums) = (coefficients[0].len(), coefficients.len());
        let mut values = Zeroizing::new(vec![0; Self::group(shape, sums) * count.div_ceil(GROUP) + 7]);
        let skipped = values.as_ptr().align_offset(64).min(7);
        let groups = values[skipped..].par_chunks_exact_mut(Self::group(shape, sums)).enumerate();
        groups.for_each(|(group, values)| {
            let mut words = Zeroizing::new(vec![Row::default(); shape.length]);
            let mut transform = Zeroizing::new(vec![Octet::default(); shape.length]);
            // Each lane has a coefficient: those of all sums for one element, then for the next.
            for start in (0..GROUP.min(count - GROUP * group) * sums).step_by(SEGMENTS) {
                let lanes: [(usize, usize); SEGMENTS] = from_fn(|lane| ((start + lane) / sums, (start + lane) % sums));
                for (word, row) in words[..shape.taps].iter_mut().enumerate() {
                    let word = |(g, sum): (usize, usize)| {
                        let index = GROUP * group + g;
                        if index < count { coefficients[sum].get(index)[word] } else { 0 }
                    };
                    row.0 = lanes.map(word);
                }
                for (prime, values) in primes.each.iter().zip(values.chunks_exact_mut(shape.length * GROUP * sums)) {
                    // SAFETY: only `dispatch!` reaches this kernel, so the instructions are
                    // available.
                    unsafe {
                        transform::forward(&words, &mut transform, prime);
                        transform::last(&mut transform, prime);
                        transform::scale(&mut transform, prime);
                    }
                    for (transform, values) in transform.chunks_exact(4).zip(values.chunks_exact_mut(4 * GROUP * sums))
                    {
                        for (place, from) in transform.iter().enumerate() {
                            for ((g, sum), &value) in lanes.into_iter().zip(&from.0) {
                                values[(4 * g + place) * sums + sum] = value;
                            }
                        }
                    }
                }
            }
        });
        Factors { values, skipped, sums }
    }

    /// The factors of a group modulo a prime.
    fn of(&self, shape: &Shape, group: usize, prime: usize) -> &[u64] {
        let all = Self::group(shape, self.sums);
        &self.values[self.skipped + group * all + prime * all / 3..][..all / 3]
    }

    /// Number of factors of a group.
    fn group(shape: &Shape, sums: usize) -> usize {
        3 * shape.length * GROUP * sums
    }
}

/// A block of a sum: for each coefficient, the digits in the mixed radix of the primes, in all
/// lanes.
type Digits = [Zeroizing<Vec<Octet>>; 3];

/// See [`sums`](super::sums).
pub(super) fn sums(
    elements: &Elements,
    first: usize,
    coefficients: &[Coefficients],
    limbs: usize,
    shape: &Shape,
) -> Vec<Secret> {
    let primes = Primes::new(shape.length);
    let factors: Vec<Factors> =
        coefficients.chunks(TOGETHER).map(|coefficients| Factors::new(coefficients, shape, &primes)).collect();
    let count = coefficients[0].len();
    let groups = count.div_ceil(GROUP);
    // With few blocks, the elements are divided into parts to occupy all threads.
    let threads = rayon::current_num_threads();
    let (each, parts) = if shape.blocks < 16 * threads { (1, threads.min(groups)) } else { (BLOCKS, 1) };
    let tasks: Vec<(usize, usize)> =
        (0..shape.blocks).step_by(each).flat_map(|block| (0..parts).map(move |part| (block, part))).collect();
    let done: Vec<Vec<Vec<Digits>>> = tasks
        .into_par_iter()
        .map(|(block, part)| {
            let mut task = Task::new(shape, &primes, block..shape.blocks.min(block + each), &factors);
            // SAFETY: only `dispatch!` reaches this kernel, so the instructions are available.
            unsafe {
                task.add(elements, first, count, groups * part / parts..groups * (part + 1) / parts);
                task.digits()
            }
        })
        .collect();
    let sum = |index: usize| {
        let blocks: Vec<&Digits> = done.iter().flatten().map(|digits| &digits[index]).collect();
        number(&blocks, parts, elements.segment(), limbs, shape, &primes)
    };
    (0..coefficients.len()).into_par_iter().map(sum).collect()
}

/// The number whose segments consist of these blocks, with `parts` partial sums each.
fn number(blocks: &[&Digits], parts: usize, segment: usize, limbs: usize, shape: &Shape, primes: &Primes) -> Secret {
    // Overlapping blocks: their digits are added without carries.
    let columns = shape.blocks * shape.words() + shape.taps + 2;
    let mut digits = Zeroizing::new(vec![[Octet::default(); 3]; columns]);
    for (task, block) in blocks.iter().enumerate() {
        let from = task / parts * shape.words();
        for (column, digits) in digits[from..][..shape.length].iter_mut().enumerate() {
            for (digit, block) in digits.iter_mut().zip(block.iter()) {
                digit.0.iter_mut().zip(block[column].0).for_each(|(digit, more)| *digit += more);
            }
        }
    }
    let mut number = Zeroizing::new(vec![0; limbs]);
    let mut words = Zeroizing::new(vec![0; columns]);
    for s in 0..SEGMENTS {
        let mut carry = 0_u128;
        for (word, digits) in words.iter_mut().zip(digits.iter()) {
            let (low, high) = primes.number(from_fn(|k| digits[k].0[s]));
            let (sum, over) = carry.overflowing_add(low);
            *word = sum as u64;
            carry = sum >> 64 | u128::from(high + u64::from(over)) << 64;
        }
        let from = (s * segment).min(limbs);
        add_assign(&mut number[from..], &words[..columns.min(limbs - from)]);
    }
    number
}

/// Blocks of all segments, for all sums.
struct Task<'a> {
    shape: &'a Shape,
    primes: &'a Primes,
    blocks: Range<usize>,
    factors: &'a [Factors],
    /// The words of each block, zero-padded, for the elements of [`GROUPS`] groups.
    words: Vec<Row>,
    /// The transforms of the elements of a group.
    values: Vec<Octet>,
    /// For each block, prime and entry of `factors`: the lower and upper halves for each place and
    /// sum.
    sums: Vec<[Vec<Zeroizing<Vec<Octet>>>; 3]>,
}

impl<'a> Task<'a> {
    fn new(shape: &'a Shape, primes: &'a Primes, blocks: Range<usize>, factors: &'a [Factors]) -> Self {
        let sums = |factors: &Factors| Zeroizing::new(vec![Octet::default(); 2 * shape.length * factors.sums]);
        Task {
            shape,
            primes,
            blocks: blocks.clone(),
            factors,
            words: vec![Row::default(); blocks.len() * GROUPS * GROUP * shape.length],
            values: vec![Octet::default(); GROUP * shape.stride()],
            sums: blocks.map(|_| from_fn(|_| factors.iter().map(sums).collect())).collect(),
        }
    }

    /// Adds the multiples of the elements of these groups to all sums.
    ///
    /// Proved: `term_sums_fit` in formal/coq/sums.v.
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    fn add(&mut self, elements: &Elements, first: usize, count: usize, groups: Range<usize>) {
        let mut since = 0;
        for start in groups.clone().step_by(GROUPS) {
            let these = start..groups.end.min(start + GROUPS);
            let (from, to) = (GROUP * these.start, count.min(GROUP * these.end));
            for (index, words) in (from..to).zip(self.words.chunks_exact_mut(self.blocks.len() * self.shape.length)) {
                for (block, words) in self.blocks.clone().zip(words.chunks_exact_mut(self.shape.length)) {
                    let words = &mut words[..self.shape.words()];
                    elements.rows(first + index, block * self.shape.words(), words);
                }
            }
            if since + to - from > transform::TERMS {
                self.normalise();
                // The remaining lower half counts as a term.
                since = 1;
            }
            since += to - from;
            for prime in 0..3 {
                for group in these.clone() {
                    for block in 0..self.blocks.len() {
                        self.accumulate(prime, block, group, group - start, GROUP.min(count - GROUP * group));
                    }
                }
            }
        }
        self.normalise();
    }

    /// Transforms a block of `elements` elements modulo a prime and adds their products to all
    /// sums. The words of group `group` are the `at`-th ones in `words`.
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    fn accumulate(&mut self, prime: usize, block: usize, group: usize, at: usize, elements: usize) {
        let (shape, stride, blocks) = (self.shape, self.shape.stride(), self.blocks.len());
        let words = self.words[(at * GROUP * blocks + block) * shape.length..].chunks(blocks * shape.length);
        let words = words.map(|words| &words[..shape.length]).take(elements);
        for (words, values) in words.zip(self.values.chunks_exact_mut(stride)) {
            transform::forward(words, &mut values[..shape.length], &self.primes.each[prime]);
        }
        for (sums, factors) in self.sums[block][prime].iter_mut().zip(self.factors) {
            let terms = transform::Terms {
                values: &self.values,
                stride,
                elements,
                factors: factors.of(shape, group, prime),
                prime: &self.primes.each[prime],
            };
            match factors.sums {
                1 => transform::accumulate::<1>(sums, &terms),
                2 => transform::accumulate::<2>(sums, &terms),
                3 => transform::accumulate::<3>(sums, &terms),
                4 => transform::accumulate::<4>(sums, &terms),
                5 => transform::accumulate::<5>(sums, &terms),
                6 => transform::accumulate::<6>(sums, &terms),
                7 => transform::accumulate::<7>(sums, &terms),
                _ => transform::accumulate::<8>(sums, &terms),
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    fn normalise(&mut self) {
        self.sums.iter_mut().flatten().flatten().for_each(|sums| transform::normalise(sums));
    }

    /// The blocks of all sums.
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    fn digits(&self) -> Vec<Vec<Digits>> {
        self.sums.iter().map(|sums| self.block(sums)).collect()
    }

    /// A block of all sums.
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    fn block(&self, sums: &[Vec<Zeroizing<Vec<Octet>>>; 3]) -> Vec<Digits> {
        let mut blocks = Vec::new();
        for (of, factors) in self.factors.iter().enumerate() {
            for message in 0..factors.sums {
                let mut digits: Digits = from_fn(|_| Zeroizing::new(vec![Octet::default(); self.shape.length]));
                for ((values, prime), sums) in digits.iter_mut().zip(&self.primes.each).zip(sums) {
                    transform::residues(values, &sums[of], message, factors.sums, prime);
                    transform::inverse(values, prime);
                }
                let [d0, d1, d2] = &mut digits;
                transform::digits([d0, d1, d2], self.primes);
                blocks.push(digits);
            }
        }
        blocks
    }
}
