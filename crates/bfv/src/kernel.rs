//! The interface of an engine: the loops over polynomials of one prime, eight coefficients per
//! vector.
//!
//! They are written once, in [`loops`], for any [`Word`]; an engine says what a vector is and has
//! them compiled with its instructions.

#[cfg(target_arch = "x86_64")]
mod ifma;
mod loops;
mod serial;

use crate::prime::{Constant, Prime};
use hearith_arith::{Available, dispatch};
use zeroize::DefaultIsZeroes;

/// Words of a vector.
pub(crate) const LANES: usize = 8;
/// Bits of the factors of a product.
pub(crate) const RADIX: u32 = 52;
/// The words of which a product takes notice.
pub(crate) const MASK: u64 = (1 << RADIX) - 1;

/// The words of a vector as they lie in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct Lanes(pub(crate) [u64; LANES]);

impl DefaultIsZeroes for Lanes {}

/// The loops of an engine. Polynomials have residues below the prime before and after.
pub(crate) trait Kernel: Send + Sync {
    /// From coefficients to values, in the order of [`loops::forward`].
    fn forward(&self, a: &mut [Lanes], prime: &Prime);
    /// From values to coefficients.
    fn inverse(&self, a: &mut [Lanes], prime: &Prime);
    /// `sum + a b / 2^52`, value by value.
    fn multiply_add(&self, sum: &mut [Lanes], a: &[Lanes], b: &[Lanes], prime: &Prime);
    /// `a c` for a constant.
    fn scale(&self, a: &mut [Lanes], c: Constant, prime: &Prime);
    /// `a` and small numbers with sign, below the prime in magnitude.
    fn add_small(&self, a: &mut [Lanes], small: &[Lanes], prime: &Prime);
    /// `a + start + sum of limbs[j] constants[j]`, the limbs of 52 bits.
    fn add_limbs(&self, a: &mut [Lanes], limbs: [&[Lanes]; 3], constants: [Constant; 3], start: u64, prime: &Prime);
    /// `a - b`.
    fn subtract(&self, a: &mut [Lanes], b: &[Lanes], prime: &Prime);
    /// `a + b`.
    fn add(&self, a: &mut [Lanes], b: &[Lanes], prime: &Prime);
}

/// The engine's loops.
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
    /// `self` and the lower 52 bits of the product of the lower 52 bits of `a` and `b`.
    fn add_low(self, a: Self, b: Self) -> Self;
    /// `self` and the upper 52 bits of that product.
    fn add_high(self, a: Self, b: Self) -> Self;
    /// Word `i` of vector `j` where word `j` of vector `i` was.
    fn transposed(rows: [Self; LANES]) -> [Self; LANES];
}
