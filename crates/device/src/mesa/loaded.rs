//! A decryptor with a key loaded, as a backend for decryption.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hearith_paillier::{Ciphertexts, DecryptError, DecryptionBackend, Plaintexts, PrivateKey, PublicKey};

use super::keyed::{Keyed, Parameters};
use crate::{Counters, DecryptingDevice, Device, Error, ErrorKind, Transport, Trust};

/// A decryptor with a key loaded, to be shared between threads. It processes one batch at a time.
/// Dropping it wipes the key on the device.
///
/// [`Trust`] decides whether answers are checked. If a checked device loses its key in a failure,
/// the next batch reloads it. An unchecked device is not reloaded.
#[derive(Debug)]
pub struct Loaded<P> {
    public: PublicKey,
    /// The private key, for a device whose answers are checked.
    private: Option<PrivateKey>,
    device: Mutex<Keyed<P>>,
}

impl<P: Parameters + 'static> Loaded<P> {
    /// Opens the device at the other end of a transport and loads a key.
    ///
    /// # Errors
    /// As [`Keyed::open`] and [`Keyed::load_key`].
    pub fn open(transport: Box<dyn Transport>, key: &PrivateKey, trust: Trust) -> Result<Self, Error> {
        let mut device = Keyed::open(transport)?.with_trust(trust);
        device.load_key(key)?;
        let private = (trust == Trust::Checked).then(|| key.clone());
        Ok(Self { public: key.public().clone(), private, device: Mutex::new(device) })
    }

    /// Like [`Loaded::open`], as a trait object.
    ///
    /// # Errors
    /// As [`Loaded::open`].
    pub fn boxed(
        transport: Box<dyn Transport>,
        key: &PrivateKey,
        trust: Trust,
    ) -> Result<Box<dyn DecryptingDevice>, Error> {
        Ok(Box::new(Self::open(transport, key, trust)?))
    }

    /// Locks the device. After a panic, the device is flushed or failing, and can be queried either
    /// way.
    fn device(&self) -> MutexGuard<'_, Keyed<P>> {
        self.device.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<P: Parameters + 'static> DecryptionBackend for Loaded<P> {
    fn public(&self) -> &PublicKey {
        &self.public
    }

    fn decrypt(&self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, DecryptError> {
        let mut device = self.device();
        let ready = match &self.private {
            Some(key) if !device.has_key() => device.load_key(key),
            _ => Ok(()),
        };
        ready.and_then(|()| device.decrypt(ciphertexts)).map_err(|error| match (error.kind(), error.row()) {
            (ErrorKind::Scheme(kind), Some(row)) => DecryptError::Ciphertexts(kind.clone().at_row(row)),
            (ErrorKind::Scheme(kind), None) => DecryptError::Ciphertexts(kind.clone().into()),
            _ => DecryptError::Device(Box::new(error)),
        })
    }
}

impl<P: Parameters + 'static> Device for Loaded<P> {
    fn describe(&self) -> String {
        let device = self.device();
        let parameters = device.parameters();
        format!("{}, N = {} with {}", device.describe(), parameters.bits(), parameters.units())
    }

    fn counters(&mut self) -> Result<Counters, Error> {
        self.device().counters()
    }

    fn batch_size(&self) -> usize {
        self.device().parameters().batch_size()
    }
}

impl<P: Parameters + 'static> DecryptingDevice for Loaded<P> {}
