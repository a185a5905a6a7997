//! What an engine provides: the inner loops, each over a block of vectors, one prime a lane.
//!
//! They are written once, in [`loops`] and [`digits`], for any [`Word`]; an engine says what a
//! vector is, and has the loops compiled with its instructions.

pub(crate) mod digits;
#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma;
pub(crate) mod loops;
pub(crate) mod serial;

use crate::memory::Prefetch;
use crate::primes::{Constant, LANES, Lanes};
use crate::shape::{Digits, Shape};
use crate::transform::{self, Transforms};
use hearith_arith::{Available, dispatch};

/// The transforms of a shape on an engine.
pub(crate) fn transforms(engine: Available, shape: Shape) -> Box<dyn Transforms> {
    dispatch!(engine, K in { serial: serial::Serial, avx2: serial::Serial, ifma: ifma::Ifma } => Box::new(transform::Engine::<K>::new(shape)))
}

/// The inner loops. Bounds stand with each in [`loops`] and [`digits`].
pub(crate) trait Kernel: Send + Sync + 'static {
    /// The levels of a transform of a block below node `node`: its first one splits the block in
    /// two.
    fn forward(block: &mut [Lanes], node: usize, levels: u32, roots: &[Constant]);
    /// The first two levels of such a transform alone.
    fn split(block: &mut [Lanes], node: usize, roots: &[Constant]);
    /// Undoes [`Kernel::forward`], up to a factor `2^levels`.
    fn inverse(block: &mut [Lanes], node: usize, levels: u32, roots: &[Constant]);
    /// Undoes [`Kernel::split`], up to a factor of four.
    fn join(block: &mut [Lanes], node: usize, roots: &[Constant]);
    /// Products of the polynomials at the leaves of a transform, of `degree` coefficients each, the
    /// first leaf's number being `leaf`: `out = a b`, or `out + a b`. Without `b` squares. As many
    /// vectors as the factors have are asked for meanwhile from each of `soon`.
    fn multiply(
        out: Target<'_>,
        a: Option<&[Lanes]>,
        b: Option<&[Lanes]>,
        degree: usize,
        leaf: usize,
        roots: &[Constant],
        soon: [Option<Prefetch>; 2],
    );
    /// Coefficients `from ..` of a number, `from` a multiple of [`RUN`](crate::shape::RUN). As many
    /// vectors are asked for meanwhile.
    fn residues(out: &mut [Lanes], number: &[u64], from: usize, digits: &Digits, soon: Option<Prefetch>);
    /// The sums of coefficients, whole runs of them, at the places that they have in a number:
    /// fills `out`, as many words as they have bits divided by 64, and returns what is to be added
    /// above it. As many vectors are asked for meanwhile.
    fn combine(out: &mut [u64], coefficients: &[Lanes], digits: &Digits, soon: Option<Prefetch>) -> [u64; 4];
}

/// Where products of leaves go.
pub(crate) enum Target<'a> {
    /// They replace what is there, which is the first factor if none is given.
    Set(&'a mut [Lanes]),
    /// They are added to what is there.
    Add(&'a mut [Lanes]),
}

/// A vector of an engine: eight words. Products are of the lower 52 bits of their factors.
pub(crate) trait Word: Copy {
    fn splat(x: u64) -> Self;
    fn load(from: &Lanes) -> Self;
    fn store(self, to: &mut Lanes);
    /// From words that are not aligned.
    fn load_words(from: &[u64; LANES]) -> Self;
    fn store_words(self, to: &mut [u64; LANES]);
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn min(self, other: Self) -> Self;
    /// `self` and the lower 52 bits of `a b`.
    fn add_low(self, a: Self, b: Self) -> Self;
    /// `self` and the upper 52 bits of `a b`.
    fn add_high(self, a: Self, b: Self) -> Self;
    fn shift_right(self, bits: u32) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    /// Each lane by the bits that `bits` has in it; zero from 64 on.
    fn shift_right_each(self, bits: Self) -> Self;
    fn shift_left_each(self, bits: Self) -> Self;
    /// Every lane in the place of the next, zero in the first; the last lane is lost.
    fn lane_up(self) -> Self;
    /// The last lane in the place of the first, zero in the others.
    fn last_lane(self) -> Self;
    /// The upper four lanes in the place of the lower, zero in the upper.
    fn upper_half(self) -> Self;
    /// The sum of all lanes, in each.
    fn lane_sum(self) -> Self;
    /// In each lane that of the sixteen of `self` and `other` whose number `index` has there.
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

    /// One line of the table on an engine.
    fn check<K: Kernel>(line: &str) {
        let (name, lists) = line.split_once(": ").unwrap();
        let lists: Vec<&str> = lists.split(", ").collect();
        let (roots, count) = if name.ends_with('4') { (3, 4) } else { (1, 2) };
        let constant = |at: usize| {
            let root = lanes(lists[at]);
            Constant::of(|i| root.0[i])
        };
        // The way back reads the roots of a level in the opposite order.
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

    /// Every lane of a step compared with what Coq computes from the translated source.
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
