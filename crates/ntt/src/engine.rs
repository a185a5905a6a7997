//! The interface of an engine: the inner loops, each over a block of vectors with one prime per
//! lane.
//!
//! The loops are written once, in [`loops`] and [`digits`], for any [`Word`]. An engine defines the
//! vector type and compiles the loops with its instructions.

pub(crate) mod digits;
#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma;
pub(crate) mod loops;
pub(crate) mod serial;

use crate::memory::Prefetch;
use crate::plan::{Digits, TransformPlan};
use crate::primes::{Constant, LANES, Lanes};
use crate::transform::{self, Transforms};
use hearith_arith::{Available, dispatch};

/// The transforms of a plan on an engine.
pub(crate) fn transforms(engine: Available, plan: TransformPlan) -> Box<dyn Transforms> {
    dispatch!(engine, K in { serial: serial::Serial, avx2: serial::Serial, ifma: ifma::Ifma } => Box::new(transform::Engine::<K>::new(plan)))
}

/// The inner loops. Their bounds are documented in [`loops`] and [`digits`].
pub(crate) trait Kernel: Send + Sync + 'static {
    /// Computes the levels of a transform of a block below node `node`. The first level splits the
    /// block in two.
    fn forward(block: &mut [Lanes], node: usize, levels: u32, roots: &[Constant]);
    /// Computes only the first two levels of such a transform.
    fn split(block: &mut [Lanes], node: usize, roots: &[Constant]);
    /// Undoes [`Kernel::forward`], except for a factor `2^levels`.
    fn inverse(block: &mut [Lanes], node: usize, levels: u32, roots: &[Constant]);
    /// Undoes [`Kernel::split`], except for a factor of four.
    fn join(block: &mut [Lanes], node: usize, roots: &[Constant]);
    /// Multiplies the polynomials at the leaves of a transform, with `degree` coefficients each:
    /// `out = a b` or `out + a b`. Without `b` it squares. `leaf` is the number of the first leaf.
    /// Meanwhile prefetches as many vectors as the factors have from each of `soon`.
    fn multiply(
        out: Target<'_>,
        a: Option<&[Lanes]>,
        b: Option<&[Lanes]>,
        degree: usize,
        leaf: usize,
        roots: &[Constant],
        soon: [Option<Prefetch>; 2],
    );
    /// Computes coefficients `from..` of a number, with `from` a multiple of
    /// [`RUN`](crate::plan::RUN). Meanwhile prefetches as many vectors.
    fn residues(out: &mut [Lanes], number: &[u64], from: usize, digits: &Digits, soon: Option<Prefetch>);
    /// Adds whole runs of coefficients at their places in a number. Fills `out`, whose length is
    /// the bits of these coefficients divided by 64, and returns the part to be added above it.
    /// Meanwhile prefetches as many vectors.
    fn combine(out: &mut [u64], coefficients: &[Lanes], digits: &Digits, soon: Option<Prefetch>) -> [u64; 4];
}

/// The destination of products of leaves.
pub(crate) enum Target<'a> {
    /// Overwrites the vectors, which are the first factor if none is given.
    Set(&'a mut [Lanes]),
    /// Adds to the vectors.
    Add(&'a mut [Lanes]),
}

/// A vector of an engine: eight words. Products use the lower 52 bits of their factors.
pub(crate) trait Word: Copy {
    fn splat(x: u64) -> Self;
    fn load(from: &Lanes) -> Self;
    fn store(self, to: &mut Lanes);
    /// Loads words that need not be aligned.
    fn load_words(from: &[u64; LANES]) -> Self;
    fn store_words(self, to: &mut [u64; LANES]);
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn min(self, other: Self) -> Self;
    /// Adds the lower 52 bits of `a b` to `self`.
    fn add_low(self, a: Self, b: Self) -> Self;
    /// Adds the upper 52 bits of `a b` to `self`.
    fn add_high(self, a: Self, b: Self) -> Self;
    fn shift_right(self, bits: u32) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    /// Shifts each lane by the number of bits in the same lane of `bits`. Gives zero for 64 or
    /// more.
    fn shift_right_each(self, bits: Self) -> Self;
    fn shift_left_each(self, bits: Self) -> Self;
    /// Moves every lane to the next higher one. The first lane becomes zero and the last one is
    /// lost.
    fn lane_up(self) -> Self;
    /// Moves the last lane to the first. The other lanes become zero.
    fn last_lane(self) -> Self;
    /// Moves the upper four lanes to the lower four. The upper lanes become zero.
    fn upper_half(self) -> Self;
    /// The sum of all lanes, in every lane.
    fn lane_sum(self) -> Self;
    /// Selects for each lane one of the sixteen lanes of `self` and `other`, by the number in
    /// `index`.
    fn pick(self, other: Self, index: Self) -> Self;
}

#[cfg(test)]
mod tests {
    use super::*;
    use hearith_arith::Engine;

    fn lanes(list: &str) -> Lanes {
        let words: Vec<u64> = list.split(' ').map(|word| u64::from_str_radix(word, 16).unwrap()).collect();
        Lanes(words.try_into().unwrap())
    }

    /// Checks one line of the table on an engine.
    fn check<K: Kernel>(line: &str) {
        let (name, lists) = line.split_once(": ").unwrap();
        let lists: Vec<&str> = lists.split(", ").collect();
        let (roots, count) = if name.ends_with('4') { (3, 4) } else { (1, 2) };
        let constant = |at: usize| {
            let root = lanes(lists[at]);
            Constant::of(|i| root.0[i])
        };
        // The inverse transform reads the roots of a level in the opposite order.
        let table = match (roots, name.starts_with("inverse")) {
            (1, _) => vec![constant(0); 2],
            (_, false) => vec![constant(0), constant(0), constant(1), constant(2)],
            (_, true) => vec![constant(0), constant(0), constant(2), constant(1)],
        };
        let mut block: Vec<Lanes> = lists[roots..roots + count].iter().map(|list| lanes(list)).collect();
        match name {
            "forward2" => K::forward(&mut block, 1, 1, &table),
            "forward4" => K::split(&mut block, 1, &table),
            "inverse2" => K::inverse(&mut block, 1, 1, &table),
            "inverse4" => K::join(&mut block, 1, &table),
            other => panic!("no step {other}"),
        }
        let found = (0..LANES).flat_map(|lane| block.iter().map(move |vector| vector.0[lane]));
        let found: Vec<String> = found.map(|word| format!("{word:x}")).collect();
        assert_eq!(found.join(" "), lists[roots + count], "{line}");
    }

    /// Compares every lane of a step with the results that Coq computes from the translated source.
    #[test]
    fn steps_are_those_of_the_proofs() {
        for engine in Engine::ALL.iter().filter_map(|engine| engine.available().ok()) {
            let lines = include_str!("engine/steps.txt").lines().filter(|line| !line.starts_with('#'));
            for line in lines.clone() {
                dispatch!(engine, K in { serial: serial::Serial, avx2: serial::Serial, ifma: ifma::Ifma } => check::<K>(line));
            }
            assert_eq!(lines.count(), 32);
        }
    }
}
