//! Traits for alternative implementations of key operations: the key itself, a device that is
//! loaded with it, or a service that knows it.

use std::error::Error as Cause;
use std::fmt;

use zeroize::Zeroizing;

use crate::homomorphic::row_numbers;
use crate::{Ciphertexts, Error, ErrorKind, Plaintexts, PrivateKey, PublicKey};

/// Decrypts batches: the private key itself, or an accelerator that is loaded with it.
pub trait DecryptionBackend: fmt::Debug + Sync {
    /// The public key of the ciphertexts.
    fn public(&self) -> &PublicKey;

    /// Decrypts every ciphertext of a batch.
    ///
    /// # Errors
    /// As [`PrivateKey::decrypt`], or if the accelerator fails. No plaintext is returned in either
    /// case.
    fn decrypt(&self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, DecryptError>;
}

/// Why [`DecryptionBackend::decrypt`] failed.
#[derive(Debug, thiserror::Error)]
pub enum DecryptError {
    /// The ciphertexts are invalid.
    #[error(transparent)]
    Ciphertexts(#[from] Error),
    /// The accelerator failed; the source is its driver's error.
    #[error("{0}")]
    Device(#[source] Box<dyn Cause + Send + Sync>),
}

impl DecryptionBackend for PrivateKey {
    fn public(&self) -> &PublicKey {
        self.public()
    }

    fn decrypt(&self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, DecryptError> {
        Ok(self.decrypt(ciphertexts)?)
    }
}

/// Performs the operations of a public key: the key itself on this CPU, a service, or a device.
pub trait PublicKeyBackend: fmt::Debug + Send + Sync {
    /// The public key.
    fn public(&self) -> &PublicKey;

    /// As [`PublicKey::encrypt`].
    ///
    /// # Errors
    /// As [`PublicKey::encrypt`], or if the service fails.
    fn encrypt(&self, plaintexts: &Plaintexts) -> Result<Ciphertexts, ComputeError>;

    /// As [`PublicKey::rerandomise`].
    ///
    /// # Errors
    /// As [`PublicKey::rerandomise`], or if the service fails.
    fn rerandomise(&self, ciphertexts: &Ciphertexts) -> Result<Ciphertexts, ComputeError>;

    /// As [`PublicKey::add`].
    ///
    /// # Errors
    /// As [`PublicKey::add`], or if the service fails.
    fn add(&self, a: &Ciphertexts, b: &Ciphertexts) -> Result<Ciphertexts, ComputeError>;

    /// As [`PublicKey::multiply_deterministic`].
    ///
    /// # Errors
    /// As [`PublicKey::multiply_deterministic`], or if the service fails.
    fn multiply(&self, ciphertexts: &Ciphertexts, scalars: &[i128], bits: u32) -> Result<Ciphertexts, ComputeError>;

    /// As [`PublicKey::sum_groups`].
    ///
    /// # Errors
    /// As [`PublicKey::sum_groups`], or if the service fails.
    fn sum_groups(&self, ciphertexts: &Ciphertexts, groups: &[Vec<u32>]) -> Result<Ciphertexts, ComputeError>;

    /// As [`PublicKey::dot_deterministic`]. By default, combines [`PublicKeyBackend::multiply`] and
    /// [`PublicKeyBackend::sum_groups`].
    ///
    /// # Errors
    /// As [`PublicKey::dot_deterministic`], or if the service fails.
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
        // One vector of weights applies to all sums.
        let times = if weights.len() == terms { rows / terms } else { 1 };
        let weights = Zeroizing::new(weights.repeat(times));
        let groups: Vec<Vec<u32>> = row_numbers(rows)?.chunks(terms).map(<[u32]>::to_vec).collect();
        self.sum_groups(&self.multiply(ciphertexts, &weights, bits)?, &groups)
    }
}

/// Why an operation of [`PublicKeyBackend`] failed.
#[derive(Debug, thiserror::Error)]
pub enum ComputeError {
    /// The batches are invalid.
    #[error(transparent)]
    Batch(#[from] Error),
    /// The service or the device failed; the source is the error of its client or driver.
    #[error("{0}")]
    Service(#[source] Box<dyn Cause + Send + Sync>),
}

impl PublicKeyBackend for PublicKey {
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
