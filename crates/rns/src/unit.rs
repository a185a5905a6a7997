//! The word lengths of a residue unit.

use crate::special::ceil_log2;
use crate::{Bounds, Error, SpecialPrime};

/// The word lengths of the hardware that computes one residue of a long integer
/// (`rtl/rns/residue_unit.sv`; Algorithm 1 of Chiu and Parhi).
///
/// With `t` words `A[0..t]` of `v` bits, `L` the bits of beta and `d = ceil(t / 2)`,
///
/// ```text
/// s_j = A[2j] + beta A[2j+1]                         < 2^(v + L)
/// R1  = sum of s_j (beta^(2j) mod q)                 < 2^(2v + L + ceil(log2 d)) <= 2^v_a
/// R2  = R1 mod 2^s + floor(R1 / 2^s) (2^s mod q)     < 2^(s + 1),  s = ceil((v_a + v) / 2)
/// R   = R2 mod q                                     one Barrett reduction of k = s + 1 bits
/// ```
///
/// The paper's `v_a` has one bit more than the sum needs (see [`Bounds`]).
///
/// ```
/// # use hearith_rns::{Bounds, SpecialPrime, ResidueUnitWidths};
/// let lengths = ResidueUnitWidths::new(SpecialPrime::new(30, 1_073_692_673)?, 360, Bounds::Paper)?;
/// assert_eq!((lengths.words, lengths.sum, lengths.split, lengths.barrett), (12, 80, 55, 56));
/// assert_eq!((lengths.multiplier(), lengths.truncated_multiplier()), ((56, 27), (28, 28)));
/// # Ok::<(), hearith_rns::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResidueUnitWidths {
    /// The modulus.
    pub prime: SpecialPrime,
    /// `t`, the number of words of an integer.
    pub words: u32,
    /// `v_a`, the length of the sum in bits.
    pub sum: u32,
    /// `s`, the bit position where the sum is split for folding.
    pub split: u32,
    /// `k`, the length in bits of the Barrett reduction's input.
    pub barrett: u32,
}

impl ResidueUnitWidths {
    /// The lengths for integers of `modulus_bits` bits.
    ///
    /// # Errors
    /// As [`ResidueUnitWidths::words`].
    pub fn new(prime: SpecialPrime, modulus_bits: u32, bounds: Bounds) -> Result<Self, Error> {
        let (words, v) = (Self::words(prime, modulus_bits)?, prime.word_bits());
        let sum = 2 * v + prime.beta_bits() + ceil_log2(words.div_ceil(2).into()) + bounds.spare();
        let split = (sum + v).div_ceil(2);
        Ok(Self { prime, words, sum, split, barrett: split + 1 })
    }

    /// `t`, the number of words of an integer of `modulus_bits` bits: two or more.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) for words of more than 32 bits, primes
    /// shorter than half a word, and integers of at most one word or more than 2^14 bits.
    pub fn words(prime: SpecialPrime, modulus_bits: u32) -> Result<u32, Error> {
        let v = prime.word_bits();
        if v > 32 {
            return Err(Error::parameter("the word length", v, "residue units support words of at most 32 bits"));
        }
        if prime.modulus() >> (v / 2) == 0 {
            let allowed = "residue units need primes that fill at least half of a word";
            return Err(Error::parameter("the modulus", prime.modulus(), allowed));
        }
        if modulus_bits <= v || modulus_bits > 1 << 14 {
            let allowed = "it must be longer than a word and at most 2^14 bits";
            return Err(Error::parameter("the modulus length", modulus_bits, allowed));
        }
        Ok(modulus_bits.div_ceil(v))
    }

    /// The constant factor of the Barrett reduction, `m = floor(2^k / q)`.
    pub fn constant(&self) -> u128 {
        (1 << self.barrett) / u128::from(self.prime.modulus())
    }

    /// Lengths in bits of the factors of the Barrett reduction's multiplier: the input and
    /// [`ResidueUnitWidths::constant`].
    pub fn multiplier(&self) -> (u32, u32) {
        (self.barrett, u128::BITS - self.constant().leading_zeros())
    }

    /// The same lengths if only the upper bits of the input determine the quotient (Dhem's
    /// truncation). With `b` the bits of `q`, both factors have `k - b + 2` bits.
    pub fn truncated_multiplier(&self) -> (u32, u32) {
        let bits = self.barrett + 2 - (u64::BITS - self.prime.modulus().leading_zeros());
        (bits, bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The word lengths of the units evaluated in the paper.
    #[test]
    fn the_evaluated_units() {
        let lengths = |modulus, bits| {
            let lengths = ResidueUnitWidths::new(SpecialPrime::new(30, modulus).unwrap(), bits, Bounds::Paper).unwrap();
            (lengths.sum, lengths.barrett)
        };
        assert_eq!((lengths(1_073_692_673, 360), lengths(1_073_479_681, 1440)), ((80, 56), (84, 58)));
    }

    #[test]
    fn shapes_out_of_range_are_refused() {
        let refused = |v, modulus, bits| {
            let prime = SpecialPrime::new(v, modulus).unwrap();
            ResidueUnitWidths::new(prime, bits, Bounds::Paper).unwrap_err().to_string()
        };
        assert_eq!(
            refused(40, 1_099_511_627_689, 400),
            "the word length is 40; residue units support words of at most 32 bits"
        );
        assert!(refused(30, 1_073_692_673, 30).starts_with("the modulus length is 30;"));
        assert!(refused(30, 17, 360).starts_with("the modulus is 17;"));
    }
}
