//! A co-processor that was loaded with a key, to be shared between threads.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hearith_paillier::{Ciphertexts, Compute, ComputeError, Decrypt, DecryptError, Plaintexts, PrivateKey, PublicKey};

use super::Coproc;
use crate::{ComputingDevice, Counters, DecryptingDevice, Device, Error, ErrorKind, Transport, Trust};

/// A co-processor with a key in it, to be shared between threads: one batch at a time has the
/// device to itself. When dropped it wipes the key on the device. A device that lost its key in a
/// failure is loaded with it again for the next batch; one that is believed keeps no private key
/// here, and then is not.
#[derive(Debug)]
pub struct LoadedCoproc {
    public: PublicKey,
    /// What can be loaded again.
    key: Option<Key>,
    device: Mutex<Coproc>,
}

#[derive(Debug)]
enum Key {
    Public,
    Private(PrivateKey),
}

impl LoadedCoproc {
    /// The device at the other end of a transport, loaded with a public key.
    ///
    /// # Errors
    /// As [`Coproc::open`] and [`Coproc::load_key`].
    pub fn with_public(transport: Box<dyn Transport>, key: &PublicKey, trust: Trust) -> Result<Self, Error> {
        let mut device = Coproc::open(transport)?.with_trust(trust);
        device.load_key(key)?;
        Ok(Self { public: key.clone(), key: Some(Key::Public), device: Mutex::new(device) })
    }

    /// The device at the other end of a transport, loaded with a private key.
    ///
    /// # Errors
    /// As [`Coproc::open`] and [`Coproc::load_private_key`].
    pub fn with_private(transport: Box<dyn Transport>, key: &PrivateKey, trust: Trust) -> Result<Self, Error> {
        let mut device = Coproc::open(transport)?.with_trust(trust);
        device.load_private_key(key)?;
        let kept = (trust == Trust::Checked).then(|| Key::Private(key.clone()));
        Ok(Self { public: key.public().clone(), key: kept, device: Mutex::new(device) })
    }

    /// The device. A batch that panicked left it flushed or failing, and either way fit to be
    /// asked.
    fn device(&self) -> MutexGuard<'_, Coproc> {
        self.device.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The device with its key in it.
    fn ready(&self) -> Result<MutexGuard<'_, Coproc>, Error> {
        let mut device = self.device();
        if !device.has_key() {
            match &self.key {
                Some(Key::Public) => device.load_key(&self.public)?,
                Some(Key::Private(key)) => device.load_private_key(key)?,
                None => return Err(ErrorKind::NoKey.into()),
            }
        }
        Ok(device)
    }

    /// What the device computes, with what is wrong told apart: the batches, or the device.
    fn compute(
        &self,
        operation: impl FnOnce(&mut Coproc) -> Result<Ciphertexts, Error>,
    ) -> Result<Ciphertexts, ComputeError> {
        let computed = self.ready().and_then(|mut device| operation(&mut device));
        computed.map_err(|error| match scheme_error(&error) {
            Some(error) => ComputeError::Batch(error),
            None => ComputeError::Service(Box::new(error)),
        })
    }
}

/// What is wrong with a batch, if that is what failed.
fn scheme_error(error: &Error) -> Option<hearith_paillier::Error> {
    let ErrorKind::Scheme(kind) = error.kind() else { return None };
    Some(match error.row() {
        Some(row) => kind.clone().at_row(row),
        None => kind.clone().into(),
    })
}

impl Decrypt for LoadedCoproc {
    fn public(&self) -> &PublicKey {
        &self.public
    }

    fn decrypt(&self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, DecryptError> {
        self.ready().and_then(|mut device| device.decrypt(ciphertexts)).map_err(decrypt_error)
    }
}

/// What is wrong with ciphertexts, or with the device.
pub(super) fn decrypt_error(error: Error) -> DecryptError {
    match scheme_error(&error) {
        Some(error) => DecryptError::Ciphertexts(error),
        None => DecryptError::Device(Box::new(error)),
    }
}

impl Device for LoadedCoproc {
    fn describe(&self) -> String {
        let device = self.device();
        let parameters = device.parameters();
        format!("{}, N = {} with {} cores", device.describe(), parameters.bits, parameters.cores)
    }

    fn counters(&mut self) -> Result<Counters, Error> {
        self.device().counters()
    }

    fn batch_size(&self) -> usize {
        self.device().batch_size()
    }
}

impl DecryptingDevice for LoadedCoproc {}

impl Compute for LoadedCoproc {
    fn public(&self) -> &PublicKey {
        &self.public
    }

    fn encrypt(&self, plaintexts: &Plaintexts) -> Result<Ciphertexts, ComputeError> {
        self.compute(|device| device.encrypt(plaintexts))
    }

    fn rerandomise(&self, ciphertexts: &Ciphertexts) -> Result<Ciphertexts, ComputeError> {
        self.compute(|device| device.rerandomise(ciphertexts))
    }

    fn add(&self, a: &Ciphertexts, b: &Ciphertexts) -> Result<Ciphertexts, ComputeError> {
        self.compute(|device| device.add(a, b))
    }

    fn multiply(&self, ciphertexts: &Ciphertexts, scalars: &[i128], bits: u32) -> Result<Ciphertexts, ComputeError> {
        self.compute(|device| device.multiply_signed(ciphertexts, scalars, bits))
    }

    fn sum_groups(&self, ciphertexts: &Ciphertexts, groups: &[Vec<u32>]) -> Result<Ciphertexts, ComputeError> {
        self.compute(|device| device.sum_groups(ciphertexts, groups))
    }
}

impl ComputingDevice for LoadedCoproc {}
