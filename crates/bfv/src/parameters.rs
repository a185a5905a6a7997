//! The named parameter sets and their limits for noise and numbers.

use crate::noise;
use crate::prime::{PRIME_BITS, PRIMES};
use crate::{Error, ErrorKind};
use std::fmt;
use std::str::FromStr;

/// A parameter set: polynomials modulo `X^N + 1`, a modulus `q` that is a product of 50-bit primes,
/// a ternary secret, and errors with standard deviation 3.24.
///
/// The lengths of `q` are within the limits of the homomorphic encryption standard \[HES18\] for
/// 128-bit security against quantum computers (101, 202 and 411 bits), so also within those against
/// classical computers (109, 218 and 438 bits).
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

/// Length in bits of the widest plaintexts. They are signed, so every number is an `i128`.
pub const MAX_BITS: u32 = 127;

impl Set {
    /// All sets, the smallest first.
    pub const ALL: [Set; 3] = [Set::Degree4096, Set::Degree8192, Set::Degree16384];

    /// The name by which users select the set.
    pub fn name(self) -> &'static str {
        match self {
            Set::Degree4096 => "bfv-4096",
            Set::Degree8192 => "bfv-8192",
            Set::Degree16384 => "bfv-16384",
        }
    }

    /// `N`, how many numbers one ciphertext holds.
    pub fn degree(self) -> usize {
        4096 << self as usize
    }

    /// Length of `q` in bits.
    pub fn modulus_bits(self) -> u32 {
        self.primes() as u32 * PRIME_BITS
    }

    /// The primes whose product is `q`.
    pub fn moduli(self) -> &'static [u64] {
        &PRIMES[..self.primes()]
    }

    /// The number of primes in `q`.
    pub(crate) fn primes(self) -> usize {
        2 << self as usize
    }

    /// The number of values that can be added so that their total can still be released, for
    /// plaintexts of `bits` bits encrypted with the public key or by the key's owner.
    ///
    /// A value with a weight counts as many times as the weight's magnitude. Returns 0 if no total
    /// can be released.
    pub fn additions(self, bits: u32, by_owner: bool) -> u64 {
        let fresh = if by_owner { noise::FRESH_PRIVATE } else { noise::fresh_public(self) };
        match self.check_bits(bits) {
            Ok(()) => noise::additions(fresh, self, bits),
            Err(_) => 0,
        }
    }

    /// Checks that signed plaintexts of `bits` bits can be encrypted.
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
