//! Whoever computes with a key in its stead: a device that it was loaded into, a service that it is
//! known to; or the key itself.

use std::error::Error as Cause;
use std::fmt;

use zeroize::Zeroizing;

use crate::homomorphic::row_numbers;
use crate::{Ciphertexts, Error, ErrorKind, Plaintexts, PrivateKey, PublicKey};

/// What decrypts batches: the private key itself, or an accelerator that it was loaded into.
pub trait Decrypt: fmt::Debug + Sync {
    /// The public key of what it decrypts.
    fn public(&self) -> &PublicKey;

    /// Decrypts every ciphertext of a batch.
    ///
    /// # Errors
    /// As [`PrivateKey::decrypt`], and whatever befalls an accelerator; then no plaintext is given
    /// out.
    fn decrypt(&self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, DecryptError>;
}

/// Why [`Decrypt::decrypt`] failed.
#[derive(Debug, thiserror::Error)]
pub enum DecryptError {
    /// The ciphertexts are wrong.
    #[error(transparent)]
    Ciphertexts(#[from] Error),
    /// The accelerator failed: the error is its driver's.
    #[error("{0}")]
    Device(#[source] Box<dyn Cause + Send + Sync>),
}

impl Decrypt for PrivateKey {
    fn public(&self) -> &PublicKey {
        self.public()
    }

    fn decrypt(&self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, DecryptError> {
        Ok(self.decrypt(ciphertexts)?)
    }
}

/// What carries out the operations that anybody can do with a public key: the key itself on this
/// CPU, a service in its stead, or a device.
pub trait Compute: fmt::Debug + Send + Sync {
    /// The public key.
    fn public(&self) -> &PublicKey;

    /// As [`PublicKey::encrypt`].
    ///
    /// # Errors
    /// As there, and whatever befalls a service.
    fn encrypt(&self, plaintexts: &Plaintexts) -> Result<Ciphertexts, ComputeError>;

    /// As [`PublicKey::rerandomise`].
    ///
    /// # Errors
    /// As there, and whatever befalls a service.
    fn rerandomise(&self, ciphertexts: &Ciphertexts) -> Result<Ciphertexts, ComputeError>;

    /// As [`PublicKey::add`].
    ///
    /// # Errors
    /// As there, and whatever befalls a service.
    fn add(&self, a: &Ciphertexts, b: &Ciphertexts) -> Result<Ciphertexts, ComputeError>;

    /// As [`PublicKey::multiply_deterministic`].
    ///
    /// # Errors
    /// As there, and whatever befalls a service.
    fn multiply(&self, ciphertexts: &Ciphertexts, scalars: &[i128], bits: u32) -> Result<Ciphertexts, ComputeError>;

    /// As [`PublicKey::sum_groups`].
    ///
    /// # Errors
    /// As there, and whatever befalls a service.
    fn sum_groups(&self, ciphertexts: &Ciphertexts, groups: &[Vec<u32>]) -> Result<Ciphertexts, ComputeError>;

    /// As [`PublicKey::dot_deterministic`]: [`Compute::multiply`] and [`Compute::sum_groups`].
    ///
    /// # Errors
    /// As there, and whatever befalls a service.
    fn dot(
        &self,
        ciphertexts: &Ciphertexts,
        weights: &[i128],
        terms: usize,
        bits: u32,
    ) -> Result<Ciphertexts, ComputeError> {
        let rows = ciphertexts.len();
        if terms == 0 || !rows.is_multiple_of(terms) {
            return Err(Error::from(ErrorKind::Terms { terms, rows }).into());
        }
        // One vector of weights stands for all sums.
        let times = if weights.len() == terms { rows / terms } else { 1 };
        let weights = Zeroizing::new(weights.repeat(times));
        let groups: Vec<Vec<u32>> = row_numbers(rows)?.chunks(terms).map(<[u32]>::to_vec).collect();
        self.sum_groups(&self.multiply(ciphertexts, &weights, bits)?, &groups)
    }
}

/// Why an operation of [`Compute`] failed.
#[derive(Debug, thiserror::Error)]
pub enum ComputeError {
    /// The batches are wrong.
    #[error(transparent)]
    Batch(#[from] Error),
    /// The service failed: the error is its client's. Or the device, and it is its driver's.
    #[error("{0}")]
    Service(#[source] Box<dyn Cause + Send + Sync>),
}

impl Compute for PublicKey {
    fn public(&self) -> &PublicKey {
        self
    }

    fn encrypt(&self, plaintexts: &Plaintexts) -> Result<Ciphertexts, ComputeError> {
        Ok(self.encrypt(plaintexts)?)
    }

    fn rerandomise(&self, ciphertexts: &Ciphertexts) -> Result<Ciphertexts, ComputeError> {
        Ok(self.rerandomise(ciphertexts)?)
    }

    fn add(&self, a: &Ciphertexts, b: &Ciphertexts) -> Result<Ciphertexts, ComputeError> {
        Ok(self.add(a, b)?)
    }

    fn multiply(&self, ciphertexts: &Ciphertexts, scalars: &[i128], bits: u32) -> Result<Ciphertexts, ComputeError> {
        Ok(self.multiply_deterministic(ciphertexts, scalars, bits)?)
    }

    fn sum_groups(&self, ciphertexts: &Ciphertexts, groups: &[Vec<u32>]) -> Result<Ciphertexts, ComputeError> {
        Ok(self.sum_groups(ciphertexts, groups)?)
    }

    fn dot(
        &self,
        ciphertexts: &Ciphertexts,
        weights: &[i128],
        terms: usize,
        bits: u32,
    ) -> Result<Ciphertexts, ComputeError> {
        Ok(self.dot_deterministic(ciphertexts, weights, terms, bits)?)
    }
}
