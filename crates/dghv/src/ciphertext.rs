//! Ciphertexts: numbers below the key's modulus, with a bound on their noise.

use crate::{Error, ErrorKind, KeyId, Parameters, noise};
use std::fmt;

/// An encrypted bit.
///
/// Its value `c` is a number below the modulus `A_0`. The residue of least size modulo the secret
/// prime is the noise; the bit is its parity. The bound on the noise is public: it follows from the
/// operations alone.
#[derive(Clone, PartialEq)]
pub struct Ciphertext {
    key: KeyId,
    value: Vec<u64>,
    noise: f64,
}

impl Ciphertext {
    /// A ciphertext of a key from its parts: [`Parameters::limbs`] limbs, and a bound on the noise
    /// in bits. Whether the number is below the modulus is checked where it is used.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`] for another length, [`ErrorKind::NoiseExhausted`] for noise that
    /// does not decrypt or is no number.
    pub fn from_parts(key: KeyId, parameters: &Parameters, value: Vec<u64>, noise: f64) -> Result<Self, Error> {
        if value.len() != parameters.limbs() {
            return Err(ErrorKind::OutOfRange.into());
        }
        Self::checked(key, parameters, value, noise)
    }

    /// The same for a value of the right length.
    pub(crate) fn checked(key: KeyId, parameters: &Parameters, value: Vec<u64>, noise: f64) -> Result<Self, Error> {
        check_noise(noise, parameters)?;
        Ok(Ciphertext { key, value, noise })
    }

    /// The key pair it belongs to.
    pub fn key_id(&self) -> KeyId {
        self.key
    }

    /// The number, in limbs, least significant first.
    pub fn value(&self) -> &[u64] {
        &self.value
    }

    /// The bound on the noise, in bits.
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// How often it can still be multiplied by a ciphertext of its own noise: the levels of
    /// multiplications left.
    pub fn levels_left(&self, parameters: &Parameters) -> u32 {
        noise::levels(self.noise, parameters.noise_limit())
    }
}

/// Refuses noise that would not decrypt.
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
