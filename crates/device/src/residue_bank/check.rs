//! Verifies residues at a fraction of the cost of conversion.
//!
//! For numbers `x_1 ... x_k` and their claimed residues `s_1 ... s_k` modulo a prime `p`, the check
//! computes random linear combinations. The factors `r_i` are independent, uniform below `2^64`,
//! and drawn after the residues have arrived. The sum `sum r_i x_i`, which this CPU converts, must
//! equal `sum r_i s_i` modulo `p`. If `s_i` is wrong, at most `2^64 / p + 1` values of `r_i` hide
//! it. A combination therefore passes with a probability of at most `1/p + 2^-64`. There are enough
//! combinations that all pass with a probability of at most `2^-64`, whichever prime of the bank is
//! concerned.

use hearith_arith::natural::add_multiple;
use hearith_arith::{ArithError, Batch, Engine, Modulus};
use hearith_paillier::ErrorKind as SchemeErrorKind;
use zeroize::Zeroizing;

use crate::{Error, ErrorKind};

/// Bits of certainty. With `SURE_BITS / (word_bits - 1)` combinations, rounded up, a wrong batch
/// passes with a probability of at most `2^-64`.
const SURE_BITS: u32 = 65;
/// Limbs of a sum of products of factors and residues.
const CLAIM_LIMBS: usize = 3;
/// Most rows that can be combined, so that the sum fits.
const MOST_ROWS: usize = 1 << 32;

/// Checks residues modulo some primes.
#[derive(Debug)]
pub(super) struct Checker {
    primes: Vec<Modulus>,
    combinations: usize,
}

impl Checker {
    /// Creates a checker for primes of `word_bits` bits each, at most 64.
    pub(super) fn new(primes: &[u64], word_bits: u32) -> Result<Self, ArithError> {
        let engine = Engine::best();
        let primes = primes.iter().map(|&prime| Modulus::new(engine, &[prime])).collect::<Result<_, _>>()?;
        Ok(Self { primes, combinations: SURE_BITS.div_ceil(word_bits - 1) as usize })
    }

    /// Fails unless the residues of every number are right. Row `j` of `residues` holds the
    /// residues modulo the prime of unit `units[j]`.
    pub(super) fn check(&self, numbers: &Batch, units: &[usize], residues: &[&[u64]]) -> Result<(), Error> {
        assert!(numbers.len() <= MOST_ROWS, "more rows than are sent at a time");
        let mut factors = Zeroizing::new(vec![0_u8; 8 * numbers.len()]);
        let mut sums = Batch::zeros(self.combinations, numbers.limbs() + 2);
        let mut claims: Vec<Batch> = units.iter().map(|_| Batch::zeros(self.combinations, CLAIM_LIMBS)).collect();
        for combination in 0..self.combinations {
            getrandom::fill(&mut factors).map_err(|error| ErrorKind::Scheme(SchemeErrorKind::Randomness(error)))?;
            let factor = |row: usize| factors[8 * row..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
            for (row, number) in numbers.rows().enumerate() {
                add_multiple(sums.row_mut(combination), number, factor(row));
            }
            for (claim, residues) in claims.iter_mut().zip(residues) {
                for (row, residue) in residues.iter().enumerate() {
                    add_multiple(claim.row_mut(combination), std::slice::from_ref(residue), factor(row));
                }
            }
        }
        let right = units.iter().zip(&claims).all(|(&unit, claim)| {
            let prime = &self.primes[unit];
            prime.reduce(&sums) == prime.reduce(claim)
        });
        if right { Ok(()) } else { Err(ErrorKind::FailedCheck.into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_combinations_as_make_sure() {
        for (word_bits, combinations) in [(2, 65), (6, 13), (14, 5), (30, 3), (31, 3), (50, 2), (62, 2)] {
            assert_eq!(Checker::new(&[3], word_bits).unwrap().combinations, combinations);
        }
    }

    /// Every possible wrong residue, and numbers of two limbs up to the largest.
    #[test]
    fn every_wrong_residue_is_found() {
        let primes = [59_u64, 47, 37];
        let checker = Checker::new(&primes, 6).unwrap();
        let numbers = [[0, 0], [1, 0], [u64::MAX, u64::MAX], [5, 9]];
        let residue = |number: &[u64; 2], prime: u64| {
            ((u128::from(number[1]) << 64 | u128::from(number[0])) % u128::from(prime)) as u64
        };
        let batch = Batch::from_rows(2, numbers.iter().map(|number| &number[..]));
        // The units are out of order and incomplete.
        let units = [2, 0];
        let right = units.map(|unit| numbers.map(|number| residue(&number, primes[unit])));
        checker.check(&batch, &units, &[&right[0], &right[1]]).unwrap();
        for (index, &unit) in units.iter().enumerate() {
            for row in 0..numbers.len() {
                for wrong in (0..primes[unit]).filter(|&wrong| wrong != right[index][row]) {
                    let mut claimed = right;
                    claimed[index][row] = wrong;
                    let error = checker.check(&batch, &units, &[&claimed[0], &claimed[1]]).unwrap_err();
                    assert!(matches!(error.kind(), ErrorKind::FailedCheck) && error.row().is_none(), "{error}");
                }
            }
        }
        checker.check(&Batch::zeros(0, 2), &units, &[&[], &[]]).unwrap();
    }
}
