//! The residue unit of HEPCloud with parallel multiplications.

use super::{FlexibleBarrett, Fold, below, ceil_log2, cut, powers};
use hearith_rns::{Error, ResidueUnitWidths, SpecialPrime};

/// One multiplication per word (HEPCloud \[RJVVV18\], in the parallel form of \[CP24\]):
///
/// ```text
/// R1 = A[0] + sum of A[j] (2^(v j) mod q)            < 2^(2v + ceil(log2 t)) = 2^v_a
/// R2 = R1 mod 2^s + floor(R1 / 2^s) (2^s mod q)      < 2^(s + 1),  s = ceil((v_a + v) / 2)
/// R  = R2 mod q                                      one Barrett reduction, k = s + 1
/// ```
///
/// Any prime below `2^v` is suitable. A special one turns the multiplication by `q` in the Barrett
/// reduction into shifts and additions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoyParallel {
    /// The modulus.
    pub prime: SpecialPrime,
    /// `t`, the number of words of an integer.
    pub words: u32,
    /// `2^(v j) mod q` for each word. The first is 1 and needs no multiplier.
    pub constants: Vec<u64>,
    /// The fold, from `v_a` bits.
    pub fold: Fold,
    /// The final Barrett reduction.
    pub barrett: FlexibleBarrett,
}

impl RoyParallel {
    /// The unit for integers of `modulus_bits` bits.
    ///
    /// # Errors
    /// As [`ResidueUnitWidths::words`].
    pub fn new(prime: SpecialPrime, modulus_bits: u32) -> Result<Self, Error> {
        let (words, q, v) = (ResidueUnitWidths::words(prime, modulus_bits)?, prime.modulus(), prime.word_bits());
        let fold = Fold::new(q, v, 2 * v + ceil_log2(words));
        let barrett = FlexibleBarrett::new(q, fold.result_bits());
        Ok(Self { prime, words, constants: powers(prime, 1, words), fold, barrett })
    }

    /// Number of multipliers before the fold, `t - 1`.
    pub fn multipliers(&self) -> usize {
        self.constants.len() - 1
    }

    /// `number mod q`.
    ///
    /// # Panics
    /// If `number` is not below `2^(t v)`.
    pub fn reduce(&self, number: &[u64]) -> u64 {
        let words = cut(number, self.prime.word_bits(), self.words);
        let products = words.into_iter().zip(&self.constants);
        let sum = products.map(|(word, &constant)| u128::from(word) * u128::from(constant)).sum();
        self.barrett.reduce(self.fold.apply(below(sum, self.fold.length)))
    }
}
