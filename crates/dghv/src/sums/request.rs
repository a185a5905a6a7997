//! Sums that somebody else is asked for, and how what comes back is checked.

use super::Coefficients;
use crate::elements::{Elements, SEED_BYTES};
use crate::number::Residues;
use crate::{Error, random};
use hearith_arith::Engine;
use hearith_arith::natural::{Secret, add_multiple};
use rayon::prelude::*;
use std::fmt;
use zeroize::Zeroizing;

/// Sums of multiples of a public key's elements, `sum of b_i chi_(first + i)`, of which all have as many terms.
///
/// The coefficients are secret: they are what makes an encryption.
pub struct SumRequest<'a> {
    pub(crate) elements: &'a Elements,
    pub(crate) first: usize,
    pub(crate) coefficients: &'a [Coefficients],
    pub(crate) limbs: usize,
}

impl SumRequest<'_> {
    /// What the elements are made from.
    pub fn seed(&self) -> &[u8; SEED_BYTES] {
        self.elements.seed()
    }

    /// Bits of an element.
    pub fn element_bits(&self) -> u32 {
        self.elements.bits()
    }

    /// The first element.
    pub fn first(&self) -> usize {
        self.first
    }

    /// How many sums.
    pub fn sums(&self) -> usize {
        self.coefficients.len()
    }

    /// How many terms each of them has.
    pub fn terms(&self) -> usize {
        self.coefficients.first().map_or(0, Coefficients::len)
    }

    /// Bits of a coefficient, at most.
    pub fn coefficient_bits(&self) -> u32 {
        self.coefficients.first().map_or(0, |coefficients| coefficients.bits)
    }

    /// The coefficient of a term of a sum, in limbs.
    pub fn coefficient(&self, sum: usize, term: usize) -> &[u64] {
        self.coefficients[sum].get(term)
    }

    /// Limbs of a sum.
    pub fn limbs(&self) -> usize {
        self.limbs
    }

    /// What an engine of this CPU makes of it.
    ///
    /// # Errors
    /// [`ErrorKind::Arith`](crate::ErrorKind::Arith) for an engine that this machine cannot run.
    pub fn compute(&self, engine: Engine) -> Result<Vec<Secret>, Error> {
        Ok(super::sums(engine.available()?, self.elements, self.first, self.coefficients, self.limbs))
    }

    /// Whether these are the sums: modulo a prime of 64 bits that is drawn now. Wrong sums of toy keys pass with a probability below
    /// `2^-46`, of large ones below `2^-39`: no more primes divide a difference. The time depends on lengths only.
    ///
    /// # Errors
    /// [`ErrorKind::Random`](crate::ErrorKind::Random).
    pub fn check(&self, sums: &[Secret]) -> Result<bool, Error> {
        if sums.len() != self.sums() || sums.iter().any(|sum| sum.len() != self.limbs) {
            return Ok(false);
        }
        let prime = random::prime(64);
        let (long, each) =
            (Residues::new(&prime, self.elements.words()), self.coefficients.first().map_or(1, |c| c.each));
        let (short, few) = (Residues::new(&prime, each), Residues::new(&prime, 3));
        let elements: Vec<u64> = (self.first..self.first + self.terms())
            .into_par_iter()
            .map(|index| long.reduce(&self.elements.number(index))[0])
            .collect();
        let whole = Residues::new(&prime, self.limbs);
        Ok(self.coefficients.iter().zip(sums).all(|(coefficients, sum)| {
            let mut expected = Zeroizing::new(vec![0; 3]);
            for (coefficient, element) in coefficients.iter().zip(&elements) {
                add_multiple(&mut expected, &[*element], short.reduce(coefficient)[0]);
            }
            few.reduce(&expected) == whole.reduce(sum)
        }))
    }
}

impl fmt::Debug for SumRequest<'_> {
    /// Nothing of the coefficients.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SumRequest({} sums of {} terms)", self.sums(), self.terms())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Right sums pass; every single wrong bit of one, a sum too few, and one that is a limb short do not.
    #[test]
    fn wrong_sums_do_not_pass() {
        let elements = Elements::new(&[3; 16], 1000);
        let coefficients: Vec<_> = (0..3).map(|_| Coefficients::random(5, 100).unwrap()).collect();
        let request = SumRequest { elements: &elements, first: 7, coefficients: &coefficients, limbs: 19 };
        let right = request.compute(Engine::Serial).unwrap();
        assert!(request.check(&right).unwrap());
        for bit in (0..19 * 64).step_by(37) {
            let mut wrong = right.clone();
            wrong[1][bit / 64] ^= 1 << (bit % 64);
            assert!(!request.check(&wrong).unwrap(), "bit {bit}");
        }
        assert!(!request.check(&right[..2]).unwrap());
        let mut short = right.clone();
        short[2].truncate(18);
        assert!(!request.check(&short).unwrap());
        let other = SumRequest { first: 8, ..request };
        assert!(!other.check(&right).unwrap());
    }

    #[test]
    fn a_request_shows_no_coefficient() {
        let elements = Elements::new(&[3; 16], 1000);
        let coefficients = [Coefficients::random(5, 100).unwrap()];
        let request = SumRequest { elements: &elements, first: 0, coefficients: &coefficients, limbs: 19 };
        assert_eq!(format!("{request:?}"), "SumRequest(1 sums of 5 terms)");
    }
}
