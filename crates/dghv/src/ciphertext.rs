//! Ciphertexts: numbers below the key's modulus, with a bound on their noise.

use crate::{Error, ErrorKind, KeyId, Parameters, noise};
use std::fmt;

/// An encrypted bit.
///
/// Its value `c` is a number below the modulus `A_0`. The residue of `c` modulo the secret prime
/// that is smallest in absolute value is the noise, and its parity is the bit. The noise bound is
/// public because it depends only on the operations performed.
#[derive(Clone, PartialEq)]
pub struct Ciphertext {
    key: KeyId,
    value: Vec<u64>,
    noise: f64,
}

impl Ciphertext {
    /// Assembles a ciphertext from [`Parameters::limbs`] limbs and a noise bound in bits.
    /// Operations on the ciphertext check later that the value is below the modulus.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`] for a wrong number of limbs, [`ErrorKind::NoiseExhausted`] for
    /// noise that is too large to decrypt, negative or not a number.
    pub fn from_parts(key: KeyId, parameters: &Parameters, value: Vec<u64>, noise: f64) -> Result<Self, Error> {
        if value.len() != parameters.limbs() {
            return Err(ErrorKind::OutOfRange.into());
        }
        Self::checked(key, parameters, value, noise)
    }

    /// Assembles a ciphertext from a value of the right length.
    pub(crate) fn checked(key: KeyId, parameters: &Parameters, value: Vec<u64>, noise: f64) -> Result<Self, Error> {
        check_noise(noise, parameters)?;
        Ok(Ciphertext { key, value, noise })
    }

    /// The ID of its key pair.
    pub fn key_id(&self) -> KeyId {
        self.key
    }

    /// The value in limbs, least significant first.
    pub fn value(&self) -> &[u64] {
        &self.value
    }

    /// The bound on the noise, in bits.
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// How many times it can still be multiplied by a ciphertext with the same noise, that is, the
    /// remaining multiplication levels.
    pub fn levels_left(&self, parameters: &Parameters) -> u32 {
        noise::levels(self.noise, parameters.noise_limit())
    }
}

/// Rejects noise that is too large to decrypt.
pub(crate) fn check_noise(bits: f64, parameters: &Parameters) -> Result<(), Error> {
    let limit = parameters.noise_limit();
    if (0.0..=limit).contains(&bits) {
        return Ok(());
    }
    Err(ErrorKind::NoiseExhausted { bits: bits.ceil() as u32, limit: limit as u32 }.into())
}

impl fmt::Debug for Ciphertext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ciphertext(key {}, {:.1} bits of noise)", self.key, self.noise)
    }
}
