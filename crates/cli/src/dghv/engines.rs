//! What encrypts bits: this CPU, or a device.

use hearith_device::{IntegerEncryptingDevice, Kind, Trust};
use hearith_dghv::{Ciphertext, PublicKey};

use super::offset;
use crate::device::{failed, note};
use crate::failure::Failure;
use crate::session::Session;

/// Encrypts with a key. The ciphertexts of all engines are the same but for what is random.
pub(super) struct Encryptor<'a> {
    key: &'a PublicKey,
    device: Option<(&'static dyn Kind, Box<dyn IntegerEncryptingDevice>)>,
}

impl<'a> Encryptor<'a> {
    /// The engine that the session has chosen.
    pub(super) fn open(session: &Session, key: &'a PublicKey, trust: Trust) -> Result<Self, Failure> {
        let load = |kind: &'static dyn Kind| {
            let encrypts = kind.encrypts_integers().expect("the session refused a device that does not encrypt");
            let device = encrypts.load_integers(key, trust).map_err(|error| failed(kind, error))?;
            Ok::<_, Failure>((kind, device))
        };
        Ok(Self { key, device: session.device.map(load).transpose()? })
    }

    /// Rows to encrypt at a time, if there is nothing better than this many.
    pub(super) fn rows(&self, rows: usize) -> usize {
        self.device.as_ref().map_or(rows, |(_, device)| device.batch_size())
    }

    /// Encrypts bits of a file, the first of which stands in this row.
    pub(super) fn encrypt(&mut self, bits: &[bool], file: &str, first: u64) -> Result<Vec<Ciphertext>, Failure> {
        match &mut self.device {
            None => self.key.encrypt(bits).map_err(|error| Failure::at(file, offset(&error, first))),
            Some((kind, device)) => device.encrypt(self.key, bits).map_err(|error| failed(*kind, error)),
        }
    }

    /// What is to be said of the engine when all is done.
    pub(super) fn note(&mut self) -> Result<Option<String>, Failure> {
        let note = |(kind, device): &mut (&'static dyn Kind, Box<dyn IntegerEncryptingDevice>)| {
            note(*kind, &mut **device, "commands")
        };
        self.device.as_mut().map(note).transpose()
    }
}
