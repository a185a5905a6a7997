//! A co-processor that was loaded with a key, to be shared between threads.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hearith_paillier::{Ciphertexts, Decrypt, DecryptError, Plaintexts, PrivateKey, PublicKey};

use super::{Coproc, Scalars};
use crate::{ComputingDevice, Counters, DecryptingDevice, Device, Error, ErrorKind, Transport, Trust};

/// A co-processor with a key in it, to be shared between threads: one batch at a time has the device to itself. When dropped it wipes the key on the
/// device. A device that lost its key in a failure is loaded with it again for the next batch; one that is believed keeps no private key here, and then
/// is not.
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
        let kept = (trust == Trust::Check).then(|| Key::Private(key.clone()));
        Ok(Self { public: key.public().clone(), key: kept, device: Mutex::new(device) })
    }

    /// The device. A batch that panicked left it flushed or failing, and either way fit to be asked.
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
}

impl Decrypt for LoadedCoproc {
    fn public(&self) -> &PublicKey {
        &self.public
    }

    fn decrypt(&self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, DecryptError> {
        let decrypted = self.ready().and_then(|mut device| device.decrypt(ciphertexts));
        decrypted.map_err(|error| match (error.kind(), error.row()) {
            (ErrorKind::Scheme(kind), Some(row)) => DecryptError::Ciphertexts(kind.clone().at_row(row)),
            (ErrorKind::Scheme(kind), None) => DecryptError::Ciphertexts(kind.clone().into()),
            _ => DecryptError::Device(Box::new(error)),
        })
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

impl ComputingDevice for LoadedCoproc {
    fn public(&self) -> &PublicKey {
        &self.public
    }

    fn encrypt(&self, plaintexts: &Plaintexts) -> Result<Ciphertexts, Error> {
        self.ready()?.encrypt(plaintexts)
    }

    fn rerandomise(&self, ciphertexts: &Ciphertexts) -> Result<Ciphertexts, Error> {
        self.ready()?.rerandomise(ciphertexts)
    }

    fn add(&self, a: &Ciphertexts, b: &Ciphertexts) -> Result<Ciphertexts, Error> {
        self.ready()?.add(a, b)
    }

    fn multiply(&self, ciphertexts: &Ciphertexts, scalars: Scalars<'_>) -> Result<Ciphertexts, Error> {
        self.ready()?.multiply(ciphertexts, scalars)
    }

    fn sum_groups(&self, ciphertexts: &Ciphertexts, groups: &[Vec<u32>]) -> Result<Ciphertexts, Error> {
        self.ready()?.sum_groups(ciphertexts, groups)
    }
}
