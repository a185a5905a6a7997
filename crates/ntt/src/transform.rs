//! Whole transforms: from numbers to values at the leaves, products there, and back.
//!
//! A transform has `n = d 2^k` coefficients, which are vectors of eight residues. It splits
//! `x^n - 1` level by level into `x^(n/2) - 1` and `x^(n/2) + 1`, and so on down to `x^d - z` for
//! all `z` whose order divides `2^k`. Node `j` of a level has one root for its whole block, so
//! blocks can be processed one after another while they are in a cache.
//!
//! Parts that fit into the level 2 cache are split in place, two levels at a time and depth first.
//! Larger transforms pass over memory twice. The first pass computes the upper levels for up to 64
//! neighbouring columns at a time, directly from the number's digits. Then all other levels, the
//! products and the inverse of these levels follow row by row. The second pass computes the upper
//! levels of the inverse and assembles the number. Cores share the columns and rows.

use crate::engine::{Kernel, Target};
use crate::memory::{Prefetch, copy_past_caches, zeros};
use crate::plan::{Digits, RUN, TransformPlan};
use crate::primes::{Constant, Lanes, roots};
use rayon::prelude::*;
use std::marker::PhantomData;

/// Number of vectors that fit into a level 1 cache with space to spare.
const L1_VECTORS: usize = 512;
/// Maximum number of vectors processed in one piece on one core.
const SINGLE_CORE_VECTORS: usize = 1 << 14;
/// Transforms with more vectors than this are shared by several cores.
const PARALLEL_VECTORS: usize = 1 << 11;
/// Maximum number of vectors in a row.
const ROW: usize = 1 << 13;
/// Maximum numbers of columns and of vectors in a group.
const COLUMNS: usize = 64;
const GROUP: usize = 1 << 14;
/// Transforms with at least this many vectors are written past the caches, which could not hold
/// them until they are read.
const STREAMING_VECTORS: usize = 1 << 19;
/// Number of leaves multiplied in one piece of work.
const LEAF_BATCH: usize = 64;
/// Maximum number of upper levels in one pass.
const UPPER: u32 = 10;

/// The operations of an engine for a plan.
pub(crate) trait Transforms: Send + Sync {
    /// Transforms a number that has no more limbs than the plan.
    fn transform(&self, number: &[u64], out: &mut [Lanes]);
    /// Multiplies at the leaves.
    fn multiply(&self, out: Target<'_>, a: &[Lanes], b: &[Lanes]);
    /// Multiplies numbers modulo `2^N - 1`. `scratch` is the buffer for their transforms.
    fn product(&self, a: &[u64], b: Factor<'_>, scratch: &mut [Lanes], out: &mut [u64]);
    /// Whether a transform passes over memory more than once.
    fn is_divided(&self) -> bool;
    /// Computes the number with this transform, modulo `2^N - 1`.
    fn number(&self, values: &mut [Lanes], out: &mut [u64]);
}

/// The second factor of a product.
pub(crate) enum Factor<'a> {
    /// A number, and a buffer for its transform.
    Number(&'a [u64], &'a mut [Lanes]),
    /// A number's transform.
    Transformed(&'a [Lanes]),
    /// The same as the first factor.
    Same,
}

/// The transforms of a plan on an engine.
pub(crate) struct Engine<K> {
    plan: TransformPlan,
    digits: Digits,
    roots: &'static [Constant],
    kernel: PhantomData<K>,
}

/// The number of upper levels that are processed column by column, or 0.
#[derive(Clone, Copy)]
struct Upper(u32);

impl<K: Kernel> Engine<K> {
    pub(crate) fn new(plan: TransformPlan) -> Self {
        let roots = roots(plan.levels - 1);
        Engine { plan, digits: Digits::new(&plan), roots, kernel: PhantomData }
    }

    /// How a transform is divided among caches and cores. Rows consist of whole runs.
    fn upper(&self) -> Upper {
        let (length, levels) = (self.plan.length(), self.plan.levels);
        let threads = rayon::current_num_threads();
        if length <= if threads > 1 { PARALLEL_VECTORS } else { SINGLE_CORE_VECTORS } {
            return Upper(0);
        }
        let enough = (2 * threads).next_power_of_two().ilog2();
        let fit = length.div_ceil(ROW).next_power_of_two().ilog2();
        Upper(fit.max(enough).clamp(2, UPPER.min(levels - 4)))
    }

    /// Number of columns in a group, in whole runs. Rows have at least four levels, so a multiple
    /// of 16 columns.
    fn group(&self, row: usize, upper: Upper) -> usize {
        (GROUP >> upper.0).clamp(RUN, COLUMNS).min(1 << row.trailing_zeros())
    }

    /// Computes the levels of a block below a node, depth first.
    ///
    /// Proved: `forward_correct` in formal/coq/ntt_transforms.v.
    fn forward(&self, block: &mut [Lanes], node: usize, levels: u32) {
        if block.len() <= L1_VECTORS || levels < 4 {
            return K::forward(block, node, levels, self.roots);
        }
        K::split(block, node, self.roots);
        let quarter = block.len() / 4;
        for (i, block) in block.chunks_exact_mut(quarter).enumerate() {
            self.forward(block, 4 * node + i, levels - 2);
        }
    }

    /// Proved: `backward_correct` in formal/coq/ntt_transforms.v.
    fn inverse(&self, block: &mut [Lanes], node: usize, levels: u32) {
        if block.len() <= L1_VECTORS || levels < 4 {
            return K::inverse(block, node, levels, self.roots);
        }
        let quarter = block.len() / 4;
        for (i, block) in block.chunks_exact_mut(quarter).enumerate() {
            self.inverse(block, 4 * node + i, levels - 2);
        }
        K::join(block, node, self.roots);
    }

    /// Computes the upper levels of the transform of a number.
    fn enter(&self, number: &[u64], out: &mut [Lanes], upper: Upper) {
        let row = out.len() >> upper.0;
        if upper.0 == 0 {
            return K::residues(out, number, 0, &self.digits, None);
        }
        let width = self.group(row, upper);
        let far = out.len() >= STREAMING_VECTORS;
        columns(out, row, width).into_par_iter().enumerate().for_each_init(
            || zeros(width << upper.0),
            |near, (group, mut columns)| {
                for ((r, near), column) in near.chunks_exact_mut(width).enumerate().zip(&mut columns) {
                    let soon = (!far).then(|| Prefetch::for_write(column));
                    K::residues(near, number, r * row + group * width, &self.digits, soon);
                }
                self.forward(near, 0, upper.0);
                for (column, near) in columns.iter_mut().zip(near.chunks_exact(width)) {
                    if far {
                        copy_past_caches(near, column);
                    } else {
                        column.copy_from_slice(near);
                    }
                }
            },
        );
    }

    /// Computes the upper levels of the inverse transform, and the number.
    fn leave(&self, values: &mut [Lanes], upper: Upper, out: &mut [u64]) {
        if upper.0 == 0 {
            let above = K::combine(out, values, &self.digits, None);
            return add_above(out, out.len(), &[above]);
        }
        let row = values.len() >> upper.0;
        let width = self.group(row, upper);
        let words = width / RUN * self.plan.run_words();
        let groups: Vec<_> =
            columns(values, row, width).into_iter().zip(columns(out, row / width * words, words)).collect();
        let above: Vec<Vec<[u64; 4]>> = groups
            .into_par_iter()
            .map_init(
                || zeros(width << upper.0),
                |near, (columns, outs)| {
                    for (column, near) in columns.iter().zip(near.chunks_exact_mut(width)) {
                        near.copy_from_slice(column);
                    }
                    self.inverse(near, 0, upper.0);
                    // The next group's columns follow this one's.
                    let rows = near.chunks_exact(width).zip(outs).zip(&columns);
                    rows.map(|((near, out_words), column)| {
                        K::combine(out_words, near, &self.digits, Some(Prefetch::after(column)))
                    })
                    .collect()
                },
            )
            .collect();
        let in_order: Vec<[u64; 4]> =
            (0..1 << upper.0).flat_map(|r| above.iter().map(move |group: &Vec<[u64; 4]>| group[r])).collect();
        add_above(out, words, &in_order);
    }
}

impl<K: Kernel> Transforms for Engine<K> {
    fn transform(&self, number: &[u64], out: &mut [Lanes]) {
        let upper = self.upper();
        self.enter(number, out, upper);
        let row = out.len() >> upper.0;
        let levels = self.plan.levels - upper.0;
        out.par_chunks_exact_mut(row).enumerate().for_each(|(r, out)| self.forward(out, r, levels));
    }

    fn multiply(&self, out: Target<'_>, a: &[Lanes], b: &[Lanes]) {
        let leaves = LEAF_BATCH.min(1 << self.plan.levels);
        let chunk = leaves * self.plan.degree;
        let (values, add) = match out {
            Target::Set(values) => (values, false),
            Target::Add(values) => (values, true),
        };
        let factors = a.par_chunks(chunk).zip(b.par_chunks(chunk));
        values.par_chunks_mut(chunk).zip(factors).enumerate().for_each(|(i, (out, (a, b)))| {
            let target = if add { Target::Add(out) } else { Target::Set(out) };
            K::multiply(target, Some(a), Some(b), self.plan.degree, i * leaves, self.roots, [None; 2]);
        });
    }

    /// Proved: `convolution_correct` in formal/coq/ntt_products.v.
    fn product(&self, a: &[u64], b: Factor<'_>, scratch: &mut [Lanes], out: &mut [u64]) {
        let upper = self.upper();
        let row = scratch.len() >> upper.0;
        let (levels, degree) = (self.plan.levels - upper.0, self.plan.degree);
        let leaf = |r: usize| r << levels;
        // The next row, if there are several.
        let soon = |row: &[Lanes]| (upper.0 > 0).then(|| Prefetch::after(row));
        match b {
            Factor::Number(b, more) => {
                if upper.0 > 0 {
                    rayon::join(|| self.enter(a, scratch, upper), || self.enter(b, more, upper));
                } else {
                    self.enter(a, scratch, upper);
                    self.enter(b, more, upper);
                }
                scratch.par_chunks_exact_mut(row).zip(more.par_chunks_exact_mut(row)).enumerate().for_each(
                    |(r, (a, b))| {
                        self.forward(a, r, levels);
                        self.forward(b, r, levels);
                        let soon = [soon(a), soon(b)];
                        K::multiply(Target::Set(a), None, Some(b), degree, leaf(r), self.roots, soon);
                        self.inverse(a, r, levels);
                    },
                );
            }
            Factor::Transformed(b) => {
                self.enter(a, scratch, upper);
                scratch.par_chunks_exact_mut(row).zip(b.par_chunks_exact(row)).enumerate().for_each(|(r, (a, b))| {
                    self.forward(a, r, levels);
                    let soon = [soon(a), soon(b)];
                    K::multiply(Target::Set(a), None, Some(b), degree, leaf(r), self.roots, soon);
                    self.inverse(a, r, levels);
                });
            }
            Factor::Same => {
                self.enter(a, scratch, upper);
                scratch.par_chunks_exact_mut(row).enumerate().for_each(|(r, a)| {
                    self.forward(a, r, levels);
                    let soon = [soon(a), None];
                    K::multiply(Target::Set(a), None, None, degree, leaf(r), self.roots, soon);
                    self.inverse(a, r, levels);
                });
            }
        }
        self.leave(scratch, upper, out);
    }

    fn is_divided(&self) -> bool {
        self.upper().0 > 0
    }

    fn number(&self, values: &mut [Lanes], out: &mut [u64]) {
        let upper = self.upper();
        let row = values.len() >> upper.0;
        let levels = self.plan.levels - upper.0;
        values.par_chunks_exact_mut(row).enumerate().for_each(|(r, values)| self.inverse(values, r, levels));
        self.leave(values, upper, out);
    }
}

/// Divides a matrix into groups of `width` neighbouring columns: for each group, its part of every
/// row.
fn columns<T>(matrix: &mut [T], row: usize, width: usize) -> Vec<Vec<&mut [T]>> {
    let mut rows: Vec<_> = matrix.chunks_exact_mut(row).map(|row| row.chunks_exact_mut(width)).collect();
    (0..row / width).map(|_| rows.iter_mut().filter_map(Iterator::next).collect()).collect()
}

/// Adds the parts above pieces of `size` words, each to the next piece and the last one's to the
/// first, modulo `2^N - 1`.
fn add_above(out: &mut [u64], size: usize, above: &[[u64; 4]]) {
    for (i, above) in above.iter().enumerate() {
        let mut at = (i + 1) * size % out.len();
        let mut carry = false;
        for &word in above {
            let (sum, first) = out[at].overflowing_add(word);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            (out[at], carry) = (sum, first || second);
            at = (at + 1) % out.len();
        }
        // This loop ends: a carry that goes all the way round leaves zeros behind.
        while carry {
            (out[at], carry) = out[at].overflowing_add(1);
            at = (at + 1) % out.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::transforms;
    use crate::primes::{LOG_ORDER, PRIMES, mul, pow, root};
    use hearith_arith::Engine as Choice;

    /// The residues of leaf `leaf` by definition: the polynomial modulo `x^d - z`, where `z` has
    /// the exponent with the leaf's bits reversed.
    fn naive(coefficients: &[u64], plan: &TransformPlan, leaf: usize, i: usize) -> Vec<u64> {
        let reversed = leaf.reverse_bits() >> (usize::BITS - plan.levels);
        let z = pow(root(i), (reversed as u64) << (LOG_ORDER - plan.levels), i);
        let mut rest = vec![0; plan.degree];
        for coefficients in coefficients.chunks_exact(plan.degree).rev() {
            for (rest, &c) in rest.iter_mut().zip(coefficients) {
                *rest = (mul(*rest, z, i) + c) % PRIMES[i];
            }
        }
        rest
    }

    #[test]
    fn transforms_are_what_they_should_be_modulo_every_prime() {
        for engine in Choice::ALL.iter().filter_map(|engine| engine.available().ok()) {
            for (levels, degree, digit) in [(4, 7, 47), (4, 10, 42), (5, 8, 43), (6, 9, 44), (7, 11, 45), (8, 15, 46)] {
                let plan = TransformPlan { levels, degree, digit };
                let size = plan.coefficient_bits();
                let number: Vec<u64> =
                    (1..=plan.limbs() as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17)).collect();
                let mut values = vec![Lanes::default(); plan.length()];
                transforms(engine, plan).transform(&number, &mut values);
                for (i, prime) in PRIMES.into_iter().enumerate() {
                    let bit = |at: usize| number[at / 64] >> (at % 64) & 1;
                    let residue = |k: usize| {
                        let bits = (k * size..(k + 1) * size).rev();
                        bits.fold(0, |residue, at| (2 * residue + bit(at)) % prime)
                    };
                    let coefficients: Vec<u64> = (0..plan.length()).map(residue).collect();
                    for (leaf, values) in values.chunks_exact(degree).enumerate() {
                        let found: Vec<u64> = values.iter().map(|value| value.0[i] % prime).collect();
                        assert_eq!(found, naive(&coefficients, &plan, leaf, i), "{plan:?}, prime {i}, leaf {leaf}");
                        assert!(values.iter().all(|value| value.0[i] < 12 * prime));
                    }
                }
            }
        }
    }

    #[test]
    fn carries_go_all_the_way_round() {
        let mut out = [u64::MAX; 12];
        add_above(&mut out, 6, &[[1, 0, 0, 0], [0, 0, 0, 0]]);
        // All ones represent zero.
        assert_eq!(out, [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]);
    }
}
