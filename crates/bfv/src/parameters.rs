//! The named parameter sets, with their limits on noise and numbers.

use crate::noise;
use crate::prime::{PRIME_BITS, PRIMES};
use crate::{Error, ErrorKind};
use std::fmt;
use std::str::FromStr;

/// A parameter set: polynomials modulo `X^N + 1`, the modulus `q` a product of primes of 50 bits, a
/// ternary secret and errors of standard deviation 3.24.
///
/// The lengths of `q` are within the tables of the homomorphic encryption standard \[HES18\] for
/// 128-bit security against quantum computers (101, 202 and 411 bits), and so within those against
/// others (109, 218 and 438).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Set {
    /// `N` = 4096 and 100 bits: short numbers and few additions.
    Degree4096,
    /// `N` = 8192 and 200 bits: 64-bit numbers and 2^32 additions.
    #[default]
    Degree8192,
    /// `N` = 16384 and 400 bits: any number, any weights.
    Degree16384,
}

/// Bits of the widest plaintexts: signed, so that every number is an `i128`.
pub const MAX_BITS: u32 = 127;

impl Set {
    /// All sets, the smallest first.
    pub const ALL: [Set; 3] = [Set::Degree4096, Set::Degree8192, Set::Degree16384];

    /// The name by which users choose it.
    pub fn name(self) -> &'static str {
        match self {
            Set::Degree4096 => "bfv-4096",
            Set::Degree8192 => "bfv-8192",
            Set::Degree16384 => "bfv-16384",
        }
    }

    /// `N`: how many numbers one ciphertext holds.
    pub fn degree(self) -> usize {
        4096 << self as usize
    }

    /// Bits of `q`.
    pub fn modulus_bits(self) -> u32 {
        self.primes() as u32 * PRIME_BITS
    }

    /// The primes whose product is `q`.
    pub fn moduli(self) -> &'static [u64] {
        &PRIMES[..self.primes()]
    }

    /// How many primes `q` has.
    pub(crate) fn primes(self) -> usize {
        2 << self as usize
    }

    /// How many numbers can be added and their total released, in plaintexts of so many bits,
    /// encrypted by anybody or by the key's owner; a number with a weight counts as often as the
    /// weight's magnitude. 0 where no total can.
    pub fn additions(self, bits: u32, by_owner: bool) -> u64 {
        let fresh = if by_owner { noise::FRESH_PRIVATE } else { noise::fresh_public(self) };
        match self.check_bits(bits) {
            Ok(()) => noise::additions(fresh, self, bits),
            Err(_) => 0,
        }
    }

    /// Checks that plaintexts of so many bits, signed, can be encrypted at all.
    ///
    /// # Errors
    /// [`ErrorKind::Bits`].
    pub fn check_bits(self, bits: u32) -> Result<(), Error> {
        let largest = MAX_BITS.min(self.modulus_bits() - 60);
        match (2..=largest).contains(&bits) {
            true => Ok(()),
            false => Err(ErrorKind::Bits { bits, largest, set: self }.into()),
        }
    }
}

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Set {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Set::ALL.into_iter().find(|set| set.name() == name).ok_or_else(|| ErrorKind::UnknownSet.into())
    }
}
