//! Whoever holds a private key and decrypts with it: the key itself, or a device that it was loaded into.

use std::error::Error as Cause;
use std::fmt;

use crate::{Ciphertexts, Error, Plaintexts, PrivateKey, PublicKey};

/// What decrypts batches: the private key itself, or an accelerator that it was loaded into.
pub trait Decrypt: fmt::Debug + Sync {
    /// The public key of what it decrypts.
    fn public(&self) -> &PublicKey;

    /// Decrypts every ciphertext of a batch.
    ///
    /// # Errors
    /// As [`PrivateKey::decrypt`], and whatever befalls an accelerator; then no plaintext is given out.
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
