//! A decryptor that was loaded with a key, as one decrypts with the key itself.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hearith_paillier::{Ciphertexts, Decrypt, DecryptError, Plaintexts, PrivateKey, PublicKey};

use super::keyed::{Keyed, Parameters};
use crate::{Counters, DecryptingDevice, Device, Error, ErrorKind, Transport, Trust};

/// A decryptor with a key in it, to be shared between threads: one batch at a time has the device
/// to itself. When dropped it wipes the key on the device.
///
/// Answers are checked as [`Trust`] says. A device that lost its key in a failure is loaded with it
/// again for the next batch, unless it is one that is believed.
#[derive(Debug)]
pub struct Loaded<P> {
    public: PublicKey,
    /// The key itself, for a device that is checked.
    private: Option<PrivateKey>,
    device: Mutex<Keyed<P>>,
}

impl<P: Parameters + 'static> Loaded<P> {
    /// The device at the other end of a transport, loaded with a key.
    ///
    /// # Errors
    /// As [`Keyed::open`] and [`Keyed::load_key`].
    pub fn open(transport: Box<dyn Transport>, key: &PrivateKey, trust: Trust) -> Result<Self, Error> {
        let mut device = Keyed::open(transport)?.with_trust(trust);
        device.load_key(key)?;
        let private = (trust == Trust::Checked).then(|| key.clone());
        Ok(Self { public: key.public().clone(), private, device: Mutex::new(device) })
    }

    /// The same, its kind forgotten.
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

    /// The device. A batch that panicked left it flushed or failing, and either way fit to be
    /// asked.
    fn device(&self) -> MutexGuard<'_, Keyed<P>> {
        self.device.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<P: Parameters + 'static> Decrypt for Loaded<P> {
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
