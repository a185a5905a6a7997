//! The interface of an engine: the loops over polynomials modulo one prime, with eight coefficients
//! per vector.
//!
//! The loops are written once, in [`loops`], for any [`Word`]. An engine defines the vector type
//! and compiles the loops with its instructions.

#[cfg(target_arch = "x86_64")]
mod ifma;
mod loops;
mod serial;

use crate::prime::{Constant, Prime};
use hearith_arith::{Available, dispatch};
use zeroize::DefaultIsZeroes;

/// Words per vector.
pub(crate) const LANES: usize = 8;
/// Length in bits of the factors of a product.
pub(crate) const RADIX: u32 = 52;
/// The bits of a word that a product uses.
pub(crate) const MASK: u64 = (1 << RADIX) - 1;

/// The words of a vector as stored in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct Lanes(pub(crate) [u64; LANES]);

impl DefaultIsZeroes for Lanes {}

/// The loops of an engine. All polynomials have residues below the prime, before and after.
pub(crate) trait Kernel: Send + Sync {
    /// Transforms coefficients to values, in the order of [`loops::forward`].
    fn forward(&self, a: &mut [Lanes], prime: &Prime);
    /// Transforms values to coefficients.
    fn inverse(&self, a: &mut [Lanes], prime: &Prime);
    /// Computes `sum + a b / 2^52` value by value.
    fn multiply_add(&self, sum: &mut [Lanes], a: &[Lanes], b: &[Lanes], prime: &Prime);
    /// Computes `a c` for a constant `c`.
    fn scale(&self, a: &mut [Lanes], c: Constant, prime: &Prime);
    /// Adds small signed numbers, below the prime in magnitude.
    fn add_small(&self, a: &mut [Lanes], small: &[Lanes], prime: &Prime);
    /// Computes `a + start + sum of limbs[j] constants[j]` for limbs of 52 bits.
    fn add_limbs(&self, a: &mut [Lanes], limbs: [&[Lanes]; 3], constants: [Constant; 3], start: u64, prime: &Prime);
    /// Computes `a - b`.
    fn subtract(&self, a: &mut [Lanes], b: &[Lanes], prime: &Prime);
    /// Computes `a + b`.
    fn add(&self, a: &mut [Lanes], b: &[Lanes], prime: &Prime);
}

/// The loops of an engine.
pub(crate) fn kernel(engine: Available) -> &'static dyn Kernel {
    dispatch!(engine, K in { serial: serial::Serial, avx2: serial::Serial, ifma: ifma::Ifma } => K::KERNEL)
}

/// A vector of an engine: eight words.
pub(crate) trait Word: Copy {
    fn splat(x: u64) -> Self;
    fn load(from: &Lanes) -> Self;
    fn store(self, to: &mut Lanes);
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn min(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    /// Adds the lower 52 bits of the product of the lower 52 bits of `a` and `b` to `self`.
    fn add_low(self, a: Self, b: Self) -> Self;
    /// Adds the upper 52 bits of that product to `self`.
    fn add_high(self, a: Self, b: Self) -> Self;
    /// Transposes a matrix: word `i` of vector `j` was word `j` of vector `i`.
    fn transposed(rows: [Self; LANES]) -> [Self; LANES];
}

#[cfg(test)]
mod tests {
    use super::*;
    use hearith_arith::Engine;

    const DEGREE: usize = 64;

    fn words(list: &str) -> Vec<u64> {
        list.split(' ').map(|word| u64::from_str_radix(word, 16).unwrap()).collect()
    }

    fn lanes(words: &[u64]) -> Lanes {
        Lanes(words.try_into().unwrap())
    }

    /// Coefficients as vectors. The values that `forward` returns stay transposed.
    fn vectors(words: &[u64]) -> Vec<Lanes> {
        words.chunks(LANES).map(lanes).collect()
    }

    fn values(vectors: &[Lanes]) -> Vec<u64> {
        (0..DEGREE).map(|i| vectors[i % LANES].0[i / LANES]).collect()
    }

    /// Compares every lane of a step, and whole transforms, with the results that Coq computes from
    /// the translated source.
    #[test]
    fn steps_are_those_of_the_proofs() {
        for engine in Engine::ALL.iter().filter_map(|engine| engine.available().ok()) {
            let (kernel, mut count) = (kernel(engine), 0);
            for line in include_str!("kernel/steps.txt").lines().filter(|line| !line.starts_with('#')) {
                let (name, lists) = line.split_once(": ").unwrap();
                let lists: Vec<Vec<u64>> = lists.split(", ").map(words).collect();
                let mut prime = Prime::new(lists[0][0], DEGREE);
                match (name, &lists[..]) {
                    ("transform", [_, coefficients, expected]) => {
                        let (expected, roots) = expected.split_at(DEGREE);
                        let mut a = vectors(coefficients);
                        kernel.forward(&mut a, &prime);
                        assert_eq!(values(&a), expected, "{line}");
                        assert!(prime.roots.iter().map(|root| root.value).eq(roots.iter().copied()), "{line}");
                    }
                    ("back", [_, coefficients, expected]) => {
                        let mut a = vectors(&values(&vectors(coefficients)));
                        kernel.inverse(&mut a, &prime);
                        assert_eq!(a, vectors(expected), "{line}");
                    }
                    (_, [constants, x, y, expected]) => {
                        let constant = Constant::new(constants.get(1).copied().unwrap_or(0), prime.q);
                        (prime.roots[1], prime.inverse_roots[1], prime.per_degree) = (constant, constant, constant);
                        let (mut a, b) = ([lanes(x), lanes(y)], [lanes(y)]);
                        match name {
                            "forward" => kernel.forward(&mut a, &prime),
                            "inverse" => kernel.inverse(&mut a, &prime),
                            "scale" => kernel.scale(&mut a[..1], constant, &prime),
                            "add" => kernel.add(&mut a[..1], &b, &prime),
                            "subtract" => kernel.subtract(&mut a[..1], &b, &prime),
                            "add_small" => kernel.add_small(&mut a[..1], &b, &prime),
                            "multiply_add" => {
                                assert_eq!(prime.inverse, constants[2], "{line}");
                                let mut sum = [Lanes([constants[1]; LANES])];
                                kernel.multiply_add(&mut sum, &a[..1], &b, &prime);
                                a[0] = sum[0];
                            }
                            other => panic!("no step {other}"),
                        }
                        let width = expected.len() / LANES;
                        for (i, &word) in expected.iter().enumerate() {
                            assert_eq!(a[i % width].0[i / width], word, "{line}");
                        }
                    }
                    _ => panic!("not a step: {line}"),
                }
                count += 1;
            }
            assert_eq!(count, 38);
        }
    }
}
