//! Random units and residues from the operating system's generator.

use crate::boxed::to_boxed_uint;
use crypto_bigint::{BoxedUint, Gcd};
use getrandom::Error;
use hearith_arith::natural::{self, Secret, clear_bits_from};
use hearith_arith::random::{bits, fill};
use hearith_arith::{Batch, Modulus};
use rand_core::{TryCryptoRng, TryRng};
use std::convert::Infallible;
use zeroize::{Zeroize, Zeroizing};

/// Length of a modulus from which random numbers below it need no check for being coprime, if both
/// its prime factors have half its length. At 256 bits, the probability of a common factor is below
/// `2^-126`.
const SURELY_COPRIME_BITS: u32 = 256;

/// Number of random bits beyond the length of a prime, which limits the bias after reduction to
/// `2^-128`.
const EXTRA_BITS: u32 = 128;

/// `len` uniform units modulo `n`: numbers in `[1, n)` that are coprime to `n`.
///
/// Numbers that are not below `n` are drawn again, which reveals nothing about the accepted number.
/// Whether a number is coprime to `n` is only checked for moduli small enough for a common factor
/// to occur by chance.
pub(crate) fn units(len: usize, n: &[u64]) -> Result<Batch, Error> {
    let length = natural::bit_length(n);
    let mut batch = bits(len, n.len(), length)?;
    for row in batch.rows_mut() {
        while !is_unit(row, n, length) {
            fill(row)?;
            clear_bits_from(row, length);
        }
    }
    Ok(batch)
}

/// Whether `0 < x < n` and, for a small modulus, `gcd(x, n) = 1`.
fn is_unit(x: &[u64], n: &[u64], length: u32) -> bool {
    let inside = natural::less(x, n) & (1 ^ natural::is_zero(x)) == 1;
    inside
        && (length >= SURELY_COPRIME_BITS
            || Zeroizing::new(to_boxed_uint(x)).gcd(&to_boxed_uint(n)) == BoxedUint::one())
}

/// `len` random numbers in `[1, p)`, in constant time because `p` is secret: no number is drawn
/// again. Zero, which has probability `1/p`, becomes 1.
pub(crate) fn residues(p: &Modulus, len: usize) -> Result<Batch, Error> {
    let length = p.bits() + EXTRA_BITS;
    let mut numbers = p.reduce(&bits(len, length.div_ceil(64) as usize, length)?);
    for row in numbers.rows_mut() {
        row[0] |= natural::is_zero(row);
    }
    Ok(numbers)
}

/// One random unit modulo `n`.
pub(crate) fn unit(n: &[u64]) -> Result<Secret, Error> {
    Ok(Secret::new(units(1, n)?.row(0).to_vec()))
}

/// The operating system's generator for crates that expect an infallible one. It stores a failure,
/// which the caller checks afterwards.
#[derive(Default)]
pub(crate) struct SystemRandom(Option<Error>);

impl SystemRandom {
    /// Returns `found`, unless the generator has failed before.
    pub(crate) fn checked<T>(&self, found: T) -> Result<T, Error> {
        self.0.map_or(Ok(found), Err)
    }
}

impl TryRng for SystemRandom {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.try_next_u64().map(|word| word as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes)?;
        let word = u64::from_le_bytes(bytes);
        bytes.zeroize();
        Ok(word)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        if let Err(error) = getrandom::fill(bytes) {
            self.0 = Some(error);
        }
        Ok(())
    }
}

impl TryCryptoRng for SystemRandom {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residues_are_never_zero() {
        let p = Modulus::new(hearith_arith::Engine::best(), &[3]).unwrap();
        let numbers = residues(&p, 300).unwrap();
        assert!(numbers.rows().all(|row| row[0] == 1 || row[0] == 2));
        assert!(numbers.rows().any(|row| row[0] == 2));
    }

    #[test]
    fn units_are_units() {
        let n = [15];
        let mut seen = [0; 15];
        for row in units(800, &n).unwrap().rows() {
            seen[row[0] as usize] += 1;
        }
        for (x, count) in seen.into_iter().enumerate() {
            assert_eq!(count > 0, x % 3 != 0 && x % 5 != 0, "{x} drawn {count} times");
        }
    }

    #[test]
    fn failures_are_reported() {
        assert_eq!(SystemRandom::default().checked(7), Ok(7));
        assert_eq!(SystemRandom(Some(Error::UNEXPECTED)).checked(7), Err(Error::UNEXPECTED));
    }
}
