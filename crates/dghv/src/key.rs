//! The common part of public and private keys.

mod generate;
mod private;
mod public;

pub(crate) use generate::correction;
pub use private::PrivateKey;
pub use public::PublicKey;

use crate::{Error, ErrorKind, Parameters};
use hearith_arith::Engine;
use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;

/// Acknowledges by name that **all parameters of these schemes are historical and broken.**
///
/// A greatest-common-divisor attack breaks a toy key in minutes on one core. The parameters serve
/// to reproduce published results and to measure, never to protect data. Every function that
/// creates a key requires this argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InsecureHistoricalParameters;

/// Identifies a key pair: the first 32 hexadecimal digits of the SHA-256 of the public key's parts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId([u8; 16]);

impl KeyId {
    /// The ID of the public key with these parts.
    fn of(parameters: &Parameters, seed: &[u8], modulus: &[u64], corrections: &[u64]) -> KeyId {
        let lengths = parameters.lengths();
        let mut hash = Sha256::new();
        hash.update(parameters.scheme().name());
        let parts = [lengths.security, lengths.key_noise, lengths.secret, lengths.modulus];
        let more = [lengths.elements, lengths.coefficient, lengths.encryption_noise];
        parts.iter().chain(&more).for_each(|length| hash.update(length.to_le_bytes()));
        if parameters.level() > 0 {
            hash.update([parameters.level()]);
        }
        hash.update(seed);
        modulus.iter().chain(corrections).for_each(|limb| hash.update(limb.to_le_bytes()));
        let mut id = [0; 16];
        id.copy_from_slice(&hash.finalize()[..16]);
        KeyId(id)
    }

    /// The ID as 16 bytes.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0
    }

    /// The ID with these bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> KeyId {
        KeyId(bytes)
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for KeyId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let digit = |byte: u8| char::from(byte).to_digit(16).filter(|_| !byte.is_ascii_uppercase());
        let digits: Option<Vec<u32>> = text.bytes().map(digit).collect();
        let digits: [u32; 32] = digits.and_then(|digits| digits.try_into().ok()).ok_or(ErrorKind::NotAKeyId)?;
        Ok(KeyId(std::array::from_fn(|i| (digits[2 * i] << 4 | digits[2 * i + 1]) as u8)))
    }
}

/// A private key and its public key.
#[derive(Debug)]
pub struct KeyPair {
    /// Decrypts.
    pub private: PrivateKey,
    /// Encrypts, adds and multiplies.
    pub public: PublicKey,
}

impl KeyPair {
    /// Generates a key pair.
    ///
    /// # Errors
    /// [`ErrorKind::Random`], and [`ErrorKind::Arith`] for an engine that this machine cannot run.
    pub fn generate(
        parameters: &Parameters,
        engine: Engine,
        _: InsecureHistoricalParameters,
    ) -> Result<KeyPair, Error> {
        generate::key_pair(parameters, engine, &|_, _| ())
    }

    /// Generates a key pair and reports progress: calls `progress` with the steps done and their
    /// total, from any thread.
    ///
    /// # Errors
    /// As [`KeyPair::generate`].
    pub fn generate_with_progress(
        parameters: &Parameters,
        engine: Engine,
        _: InsecureHistoricalParameters,
        progress: &(dyn Fn(u64, u64) + Sync),
    ) -> Result<KeyPair, Error> {
        generate::key_pair(parameters, engine, progress)
    }
}
