//! The residue unit of PaReNTT.

use super::{FlexibleBarrett, below, ceil_log2, cut, pairs, powers};
use hearith_rns::{Error, ResidueUnitWidths, SpecialPrime};

/// One Barrett reduction for each pair of words and a final one (PaReNTT \[TCWLP24\], with blocks
/// of `l = 2` words):
///
/// ```text
/// s_j = A[2j] + beta A[2j+1]                         < 2^(v + L)
/// r_j = s_j mod q                                    d Barrett reductions, k = v + L + 1
/// R1  = sum of r_j (beta^(2j) mod q)                 < 2^(2v + ceil(log2 d))
/// R   = R1 mod q                                     one Barrett reduction, k = 2v + ceil(log2 d)
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tan {
    /// The modulus.
    pub prime: SpecialPrime,
    /// `t`, the number of words of an integer.
    pub words: u32,
    /// The Barrett reduction of a pair.
    pub pair_barrett: FlexibleBarrett,
    /// `beta^(2j) mod q` for each of the `d` pairs. The first is 1 and needs no multiplier.
    pub constants: Vec<u64>,
    /// The final Barrett reduction.
    pub barrett: FlexibleBarrett,
}

impl Tan {
    /// The unit for integers of `modulus_bits` bits.
    ///
    /// # Errors
    /// As [`ResidueUnitWidths::words`].
    pub fn new(prime: SpecialPrime, modulus_bits: u32) -> Result<Self, Error> {
        let (words, q, v) = (ResidueUnitWidths::words(prime, modulus_bits)?, prime.modulus(), prime.word_bits());
        let d = words.div_ceil(2);
        Ok(Self {
            prime,
            words,
            pair_barrett: FlexibleBarrett::new(q, v + prime.beta_bits() + 1),
            constants: powers(prime, 2, d),
            barrett: FlexibleBarrett::new(q, 2 * v + ceil_log2(d)),
        })
    }

    /// Number of multipliers between the Barrett reductions, `d - 1`.
    pub fn multipliers(&self) -> usize {
        self.constants.len() - 1
    }

    /// `number mod q`.
    ///
    /// # Panics
    /// If `number` is not below `2^(t v)`.
    pub fn reduce(&self, number: &[u64]) -> u64 {
        let words = cut(number, self.prime.word_bits(), self.words);
        let residues = pairs(self.prime, &words).into_iter().map(|pair| self.pair_barrett.reduce(pair));
        let products = residues.zip(&self.constants);
        let sum = products.map(|(residue, &constant)| u128::from(residue) * u128::from(constant)).sum();
        self.barrett.reduce(below(sum, self.barrett.k))
    }
}
