//! The residue unit proposed in the paper.

use super::barrett::{Barrett, FlexibleBarrett, TruncatedBarrett};
use super::{Fold, below, cut, pairs, powers};
use hearith_rns::{Bounds, Error, ResidueUnitWidths, SpecialPrime};

/// Algorithm 1 of \[CP24\]. [`ResidueUnitWidths`] documents its formulas and word lengths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposed {
    /// The modulus and the word lengths.
    pub lengths: ResidueUnitWidths,
    /// `beta^(2j) mod q` for each of the `d` pairs. The first is 1 and needs no multiplier.
    pub constants: Vec<u64>,
    /// The fold, split at `s`.
    pub fold: Fold,
    /// The final Barrett reduction.
    pub barrett: Barrett,
}

impl Proposed {
    /// The paper's unit for integers of `modulus_bits` bits.
    ///
    /// # Errors
    /// As [`ResidueUnitWidths::new`].
    pub fn new(prime: SpecialPrime, modulus_bits: u32, bounds: Bounds) -> Result<Self, Error> {
        Self::with(prime, modulus_bits, bounds, |q, k| Barrett::Flexible(FlexibleBarrett::new(q, k)))
    }

    /// The unit with a truncated Barrett reduction, whose multiplier is smaller.
    ///
    /// # Errors
    /// As [`Proposed::new`].
    pub fn truncated(prime: SpecialPrime, modulus_bits: u32, bounds: Bounds) -> Result<Self, Error> {
        Self::with(prime, modulus_bits, bounds, |q, k| Barrett::Truncated(TruncatedBarrett::new(q, k)))
    }

    fn with(
        prime: SpecialPrime,
        modulus_bits: u32,
        bounds: Bounds,
        barrett: impl Fn(u64, u32) -> Barrett,
    ) -> Result<Self, Error> {
        let lengths = ResidueUnitWidths::new(prime, modulus_bits, bounds)?;
        let (q, d) = (prime.modulus(), lengths.words.div_ceil(2));
        let fold = Fold::new(q, prime.word_bits(), lengths.sum);
        let barrett = barrett(q, fold.result_bits());
        Ok(Self { lengths, constants: powers(prime, 2, d), fold, barrett })
    }

    /// Number of multipliers before the fold, `d - 1`.
    pub fn multipliers(&self) -> usize {
        self.constants.len() - 1
    }

    /// `number mod q`.
    ///
    /// # Panics
    /// If `number` is not below `2^(t v)`.
    pub fn reduce(&self, number: &[u64]) -> u64 {
        let ResidueUnitWidths { prime, words, sum: sum_bits, .. } = self.lengths;
        let words = cut(number, prime.word_bits(), words);
        let products = pairs(prime, &words).into_iter().zip(&self.constants);
        let sum: u128 = products.map(|(pair, &constant)| pair * u128::from(constant)).sum();
        self.barrett.reduce(self.fold.apply(below(sum, sum_bits)))
    }
}
