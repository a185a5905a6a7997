//! The residue unit that the paper proposes.

use super::barrett::{Barrett, FlexibleBarrett, TruncatedBarrett};
use super::{Fold, below, cut, pairs, powers, words};
use crate::rns::special::ceil_log2;
use crate::rns::{Bounds, RnsError, SpecialPrime};

/// Algorithm 1 of \[CP24\]:
///
/// ```text
/// s_j = A[2j] + beta A[2j+1]                         < 2^(v + L)
/// R1  = sum of s_j (beta^(2j) mod q)                 < 2^(2v + L + ceil(log2 d)) <= 2^v_a
/// R2  = R1 mod 2^s + floor(R1 / 2^s) (2^s mod q)     < 2^(s + 1),  s = ceil((v_a + v) / 2)
/// R   = R2 mod q                                     one Barrett reduction, k = s + 1
/// ```
///
/// The paper's `v_a` has one bit more than the sum needs ([`Bounds`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposed {
    /// The modulus.
    pub prime: SpecialPrime,
    /// `t`, the words of an integer.
    pub words: u32,
    /// `v_a`, the bits of the sum.
    pub sum_bits: u32,
    /// `beta^(2j) mod q` for each of the `d` pairs; the first is 1 and takes no multiplier.
    pub constants: Vec<u64>,
    /// The fold, which has the split `s`.
    pub fold: Fold,
    /// The Barrett reduction at the end.
    pub barrett: Barrett,
}

impl Proposed {
    /// The paper's unit for integers of `modulus_bits` bits.
    ///
    /// # Errors
    /// [`RnsError::Parameter`] for words of more than 32 bits, and integers of one word or less or of more than 2^14 bits.
    pub fn new(prime: SpecialPrime, modulus_bits: u32, bounds: Bounds) -> Result<Self, RnsError> {
        Self::with(prime, modulus_bits, bounds, |q, k| Barrett::Flexible(FlexibleBarrett::new(q, k)))
    }

    /// The same with a truncated Barrett reduction, whose multiplier is smaller.
    ///
    /// # Errors
    /// As [`Proposed::new`].
    pub fn truncated(prime: SpecialPrime, modulus_bits: u32, bounds: Bounds) -> Result<Self, RnsError> {
        Self::with(prime, modulus_bits, bounds, |q, k| Barrett::Truncated(TruncatedBarrett::new(q, k)))
    }

    fn with(
        prime: SpecialPrime,
        modulus_bits: u32,
        bounds: Bounds,
        barrett: impl Fn(u64, u32) -> Barrett,
    ) -> Result<Self, RnsError> {
        let (words, q, v) = (words(prime, modulus_bits)?, prime.modulus(), prime.word_bits());
        let d = words.div_ceil(2);
        let sum_bits = 2 * v + prime.beta_bits() + ceil_log2(d.into()) + bounds.spare();
        let fold = Fold::new(q, v, sum_bits);
        let barrett = barrett(q, fold.result_bits());
        Ok(Self { prime, words, sum_bits, constants: powers(prime, 2, d), fold, barrett })
    }

    /// Multipliers before the fold: `d - 1`.
    pub fn multipliers(&self) -> usize {
        self.constants.len() - 1
    }

    /// `number mod q`.
    ///
    /// # Panics
    /// If `number` is not below `2^(t v)`.
    pub fn reduce(&self, number: &[u64]) -> u64 {
        let words = cut(number, self.prime.word_bits(), self.words);
        let products = pairs(self.prime, &words).into_iter().zip(&self.constants);
        let sum: u128 = products.map(|(pair, &constant)| pair * u128::from(constant)).sum();
        self.barrett.reduce(self.fold.apply(below(sum, self.sum_bits)))
    }
}
