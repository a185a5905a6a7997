//! Special primes `q = 2^v - beta` where beta is a short sum of signed powers of two.

use crate::{Error, ErrorKind};
use hearith_arith::natural::word::is_prime;
use std::fmt;

/// A signed power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Term {
    /// The power: `2^exponent`.
    pub exponent: u32,
    /// Whether it is subtracted.
    pub negative: bool,
}

/// A prime `q = 2^v - beta` with `0 < beta < 2^v`.
///
/// Since `2^v = beta` modulo `q`, shifting a word left by `v` bits multiplies it by `beta`.
/// Products with `beta` and with `q` are shifts and additions.
///
/// ```
/// # use hearith_rns::SpecialPrime;
/// let prime = SpecialPrime::new(30, 1_073_692_673)?;
/// assert_eq!(prime.beta(), (1 << 16) - (1 << 14) - 1);
/// assert_eq!(prime.to_string(), "2^30 - 2^16 + 2^14 + 1");
/// # Ok::<(), hearith_rns::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SpecialPrime {
    word_bits: u32,
    modulus: u64,
}

impl SpecialPrime {
    /// Smallest length of a word in bits.
    pub const LEAST_BITS: u32 = 4;
    /// Largest length of a word in bits.
    pub const MOST_BITS: u32 = 60;

    /// The prime `modulus` written as `2^word_bits - beta`.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] unless `word_bits` is 4 to 60, [`ErrorKind::NotSpecial`] unless
    /// `modulus` is an odd prime below `2^word_bits`.
    pub fn new(word_bits: u32, modulus: u64) -> Result<Self, Error> {
        check_word_bits(word_bits)?;
        if modulus >> word_bits != 0 || modulus < 3 || !is_prime(modulus) {
            return Err(ErrorKind::NotSpecial { modulus, word_bits }.into());
        }
        Ok(Self { word_bits, modulus })
    }

    /// Skips the checks for a prime found by the search.
    pub(crate) fn found(word_bits: u32, modulus: u64) -> Self {
        Self { word_bits, modulus }
    }

    /// `v`, the length of a word in bits.
    pub fn word_bits(&self) -> u32 {
        self.word_bits
    }

    /// The prime `q`.
    pub fn modulus(&self) -> u64 {
        self.modulus
    }

    /// `beta = 2^v - q`.
    pub fn beta(&self) -> u64 {
        (1 << self.word_bits) - self.modulus
    }

    /// `L`, the length of beta in bits, by which multiplying by beta lengthens a number at most.
    /// Beta is odd, so this is `ceil(log2 beta)`, or 1 for beta = 1.
    pub fn beta_bits(&self) -> u32 {
        u64::BITS - self.beta().leading_zeros()
    }

    /// The fewest signed powers of two whose sum is beta, largest first and -1 last: the
    /// non-adjacent form of `beta + 1`, then -1.
    pub fn beta_terms(&self) -> Vec<Term> {
        let mut terms = non_adjacent_form(self.beta() + 1);
        terms.push(Term { exponent: 0, negative: true });
        terms
    }
}

/// Formats the prime as `2^v - ... + 1`.
impl fmt::Display for SpecialPrime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "2^{}", self.word_bits)?;
        for Term { exponent, negative } in self.beta_terms() {
            let sign = if negative { '+' } else { '-' };
            match exponent {
                0 => write!(f, " {sign} 1")?,
                _ => write!(f, " {sign} 2^{exponent}")?,
            }
        }
        Ok(())
    }
}

/// Checks that a word length is within the range supported by this crate.
pub(crate) fn check_word_bits(word_bits: u32) -> Result<(), Error> {
    match word_bits {
        SpecialPrime::LEAST_BITS..=SpecialPrime::MOST_BITS => Ok(()),
        _ => Err(Error::parameter("the word length", word_bits, "4 to 60 bits are supported")),
    }
}

/// `ceil(log2 x)` for `x > 0`: the `L` with `2^(L-1) < x <= 2^L`.
pub(crate) fn ceil_log2(x: u64) -> u32 {
    u64::BITS - (x - 1).leading_zeros()
}

/// `x < 2^63` as a sum of signed powers of two with no two neighbouring exponents, largest first:
/// no sum of signed powers has fewer terms (Reitwiesner, 1960).
fn non_adjacent_form(x: u64) -> Vec<Term> {
    // Digit i of x is bit i+1 of 3x minus bit i+1 of x.
    let (triple, single) = (3 * u128::from(x), u128::from(x));
    let digit = |exponent: u32| {
        let bit = |number: u128| number >> (exponent + 1) & 1;
        (bit(triple) != bit(single)).then(|| Term { exponent, negative: bit(single) == 1 })
    };
    (0..u64::BITS).rev().filter_map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(terms: &[Term]) -> i128 {
        terms.iter().map(|term| (1 << term.exponent) * if term.negative { -1 } else { 1 }).sum()
    }

    proptest! {
        #[test]
        fn non_adjacent_forms_are_what_they_say(x in 0..1_u64 << 63, shift in 0..63_u32) {
            let terms = non_adjacent_form(x >> shift);
            prop_assert_eq!(value(&terms), i128::from(x >> shift));
            prop_assert!(terms.windows(2).all(|pair| pair[0].exponent > pair[1].exponent + 1));
        }
    }

    #[test]
    fn the_evaluated_primes() {
        let first = SpecialPrime::new(30, 1_073_692_673).unwrap();
        assert_eq!((first.beta(), first.beta_bits()), ((1 << 16) - (1 << 14) - 1, 16));
        let second = SpecialPrime::new(30, 1_073_479_681).unwrap();
        assert_eq!((second.beta(), second.beta_bits()), ((1 << 18) - 1, 18));
        for prime in [first, second] {
            assert_eq!(value(&prime.beta_terms()), i128::from(prime.beta()));
        }
        assert_eq!(second.to_string(), "2^30 - 2^18 + 1");
    }

    #[test]
    fn what_is_no_special_prime_is_refused() {
        let refused = |word_bits, modulus| SpecialPrime::new(word_bits, modulus).unwrap_err().to_string();
        assert_eq!(refused(30, 1_073_692_675), "1073692675 is not a prime below 2^30");
        assert_eq!(refused(29, 1_073_692_673), "1073692673 is not a prime below 2^29");
        assert_eq!(refused(61, 17), "the word length is 61; 4 to 60 bits are supported");
        assert_eq!(refused(30, 2), "2 is not a prime below 2^30");
    }
}
