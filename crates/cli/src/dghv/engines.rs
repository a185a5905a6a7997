//! Engines that encrypt bits: this CPU, or a device.

use hearith_device::{DeviceProvider, IntegerEncryptingDevice, Trust};
use hearith_dghv::{Ciphertext, PublicKey};

use super::offset;
use crate::device::{failed, note};
use crate::failure::CliError;
use crate::session::Session;

/// Encrypts with a key. The ciphertexts of all engines differ only in their randomness.
pub(super) struct Encryptor<'a> {
    key: &'a PublicKey,
    device: Option<(&'static dyn DeviceProvider, Box<dyn IntegerEncryptingDevice>)>,
}

impl<'a> Encryptor<'a> {
    /// Opens the session's engine.
    pub(super) fn open(session: &Session, key: &'a PublicKey, trust: Trust) -> Result<Self, CliError> {
        let load = |provider: &'static dyn DeviceProvider| {
            let encrypts = provider.encrypts_integers().expect("the session refused a device that does not encrypt");
            let device = encrypts.load_integers(key, trust).map_err(|error| failed(provider, error))?;
            Ok::<_, CliError>((provider, device))
        };
        Ok(Self { key, device: session.device.map(load).transpose()? })
    }

    /// The device's batch size, or else `rows`.
    pub(super) fn rows(&self, rows: usize) -> usize {
        self.device.as_ref().map_or(rows, |(_, device)| device.batch_size())
    }

    /// Encrypts bits of a file. The first bit is in row `first`.
    pub(super) fn encrypt(&mut self, bits: &[bool], file: &str, first: u64) -> Result<Vec<Ciphertext>, CliError> {
        match &mut self.device {
            None => self.key.encrypt(bits).map_err(|error| CliError::at(file, offset(&error, first))),
            Some((provider, device)) => device.encrypt(self.key, bits).map_err(|error| failed(*provider, error)),
        }
    }

    /// Describes the engine's work after the last batch.
    pub(super) fn note(&mut self) -> Result<Option<String>, CliError> {
        let note = |(provider, device): &mut (&'static dyn DeviceProvider, Box<dyn IntegerEncryptingDevice>)| {
            note(*provider, &mut **device, "commands")
        };
        self.device.as_mut().map(note).transpose()
    }
}
