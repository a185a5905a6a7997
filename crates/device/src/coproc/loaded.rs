//! A co-processor with a key loaded, to be shared between threads.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hearith_paillier::{
    Ciphertexts, ComputeError, DecryptError, DecryptionBackend, Plaintexts, PrivateKey, PublicKey, PublicKeyBackend,
};

use super::Coproc;
use crate::{ComputingDevice, Counters, DecryptingDevice, Device, Error, ErrorKind, Transport, Trust};

/// A co-processor with a key loaded, to be shared between threads. It processes one batch at a
/// time. Dropping it wipes the key on the device.
///
/// If the device loses its key in a failure, the next batch reloads it. An unchecked device with a
/// private key is not reloaded, because no private key is kept for it.
#[derive(Debug)]
pub struct LoadedCoproc {
    public: PublicKey,
    /// The key for reloading.
    key: Option<Key>,
    device: Mutex<Coproc>,
}

#[derive(Debug)]
enum Key {
    Public,
    Private(PrivateKey),
}

impl LoadedCoproc {
    /// Opens the device at the other end of a transport and loads a public key.
    ///
    /// # Errors
    /// As [`Coproc::open`] and [`Coproc::load_key`].
    pub fn with_public(transport: Box<dyn Transport>, key: &PublicKey, trust: Trust) -> Result<Self, Error> {
        let mut device = Coproc::open(transport)?.with_trust(trust);
        device.load_key(key)?;
        Ok(Self { public: key.clone(), key: Some(Key::Public), device: Mutex::new(device) })
    }

    /// Opens the device at the other end of a transport and loads a private key.
    ///
    /// # Errors
    /// As [`Coproc::open`] and [`Coproc::load_private_key`].
    pub fn with_private(transport: Box<dyn Transport>, key: &PrivateKey, trust: Trust) -> Result<Self, Error> {
        let mut device = Coproc::open(transport)?.with_trust(trust);
        device.load_private_key(key)?;
        let kept = (trust == Trust::Checked).then(|| Key::Private(key.clone()));
        Ok(Self { public: key.public().clone(), key: kept, device: Mutex::new(device) })
    }

    /// Locks the device. After a panic, the device is flushed or failing, and can be queried either
    /// way.
    fn device(&self) -> MutexGuard<'_, Coproc> {
        self.device.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the device, with its key reloaded if it was lost.
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

    /// Runs an operation, and distinguishes errors of the batches from errors of the device.
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

/// The error of the batch, unless the device failed.
fn scheme_error(error: &Error) -> Option<hearith_paillier::Error> {
    let ErrorKind::Scheme(kind) = error.kind() else { return None };
    Some(match error.row() {
        Some(row) => kind.clone().at_row(row),
        None => kind.clone().into(),
    })
}

impl DecryptionBackend for LoadedCoproc {
    fn public(&self) -> &PublicKey {
        &self.public
    }

    fn decrypt(&self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, DecryptError> {
        self.ready().and_then(|mut device| device.decrypt(ciphertexts)).map_err(decrypt_error)
    }
}

/// The error of the ciphertexts or of the device.
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

impl PublicKeyBackend for LoadedCoproc {
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
