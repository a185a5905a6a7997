//! A device that computes on behalf of a public key.

use std::sync::Arc;

use hearith_columns::EncryptionKey;
use hearith_device::{Computes, ComputingDevice, Error, Kind, Trust};
use hearith_paillier::{Compute, PublicKey};

use crate::device::{failed, note};
use crate::failure::Failure;
use crate::keys::Key;
use crate::session::{Session, only};

/// The device chosen, in a public key's stead.
pub(crate) struct LoadedAccelerator {
    kind: &'static dyn Kind,
    device: Arc<dyn ComputingDevice>,
}

impl LoadedAccelerator {
    /// The device, loaded with the key; none if none was chosen, or a service computes.
    pub(crate) fn load(
        session: &Session,
        key: &PublicKey,
        unchecked: bool,
        remote: bool,
    ) -> Result<Option<Self>, Failure> {
        Self::load_with(session, unchecked, remote, |computes, trust| computes.load_public(key, trust))
    }

    /// The same for encryption, with the private key if that is what was read.
    pub(crate) fn encrypting(
        session: &Session,
        key: &Key,
        unchecked: bool,
        remote: bool,
    ) -> Result<Option<Self>, Failure> {
        Self::load_with(session, unchecked, remote, |computes, trust| match key.encryption() {
            EncryptionKey::Owner(key) => computes.load_owner(key, trust),
            _ => computes.load_public(key.public(), trust),
        })
    }

    fn load_with(
        session: &Session,
        unchecked: bool,
        remote: bool,
        load: impl FnOnce(&dyn Computes, Trust) -> Result<Box<dyn ComputingDevice>, Error>,
    ) -> Result<Option<Self>, Failure> {
        let trust = session.trust(unchecked)?;
        let Some(kind) = session.device.filter(|_| !remote) else { return Ok(None) };
        let computes = kind.computes().ok_or_else(|| only(kind))?;
        let device = load(computes, trust).map_err(|error| failed(kind, error))?;
        Ok(Some(Self { kind, device: device.into() }))
    }

    /// What computes.
    pub(crate) fn key(&self) -> Arc<dyn Compute> {
        self.device.clone()
    }

    /// Rows that it should have at a time.
    pub(crate) fn rows(&self) -> usize {
        self.device.batch_size()
    }

    /// What it is and how many of its clock cycles it took; nothing while somebody else holds it.
    pub(crate) fn note(mut self) -> Result<Option<String>, Failure> {
        Arc::get_mut(&mut self.device).map(|device| note(self.kind, device, "commands")).transpose()
    }
}
