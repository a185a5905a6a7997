//! A private key with the private keys of the rungs below it.

use crate::ErrorKind;
use crate::{Ciphertext, Error, KeyId, PrivateKey, PublicKeys};

/// A private key and, if its public key has a ladder, the private keys of its rungs.
#[derive(Clone, Debug)]
pub struct PrivateKeys {
    /// Decrypts ciphertexts of the key itself.
    pub key: PrivateKey,
    /// Decrypt ciphertexts of the levels below, the highest first.
    pub rungs: Vec<PrivateKey>,
}

impl PrivateKeys {
    /// The private key with this ID, at any level.
    pub fn of(&self, id: KeyId) -> Option<&PrivateKey> {
        std::iter::once(&self.key).chain(&self.rungs).find(|key| key.id() == id)
    }

    /// Checks that public keys belong to these keys, level by level.
    ///
    /// # Errors
    /// [`ErrorKind::KeysDiffer`].
    pub fn check(&self, public: &PublicKeys) -> Result<(), Error> {
        let rungs = public.ladder.as_ref().map_or(&[][..], |ladder| ladder.rungs());
        if rungs.len() != self.rungs.len() {
            return Err(ErrorKind::KeysDiffer.into());
        }
        self.key.check(&public.key)?;
        self.rungs.iter().zip(rungs).try_for_each(|(private, rung)| private.check(&rung.key))
    }

    /// Decrypts ciphertexts that all have the same level.
    ///
    /// # Errors
    /// As [`PrivateKey::decrypt`].
    pub fn decrypt(&self, ciphertexts: &[Ciphertext]) -> Result<Vec<bool>, Error> {
        let key = ciphertexts.first().and_then(|ciphertext| self.of(ciphertext.key_id()));
        key.unwrap_or(&self.key).decrypt(ciphertexts)
    }
}

impl From<PrivateKey> for PrivateKeys {
    fn from(key: PrivateKey) -> Self {
        PrivateKeys { key, rungs: Vec::new() }
    }
}
