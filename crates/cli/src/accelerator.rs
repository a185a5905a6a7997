//! A device that computes instead of a public key.

use std::sync::Arc;

use hearith_columns::EncryptionKey;
use hearith_device::{Computes, ComputingDevice, DeviceProvider, Error, Trust};
use hearith_paillier::{PublicKey, PublicKeyBackend};

use crate::device::{failed, note};
use crate::failure::CliError;
use crate::keys::Key;
use crate::session::{Session, only};

/// The selected device, loaded with a public key.
pub(crate) struct LoadedAccelerator {
    provider: &'static dyn DeviceProvider,
    device: Arc<dyn ComputingDevice>,
}

impl LoadedAccelerator {
    /// Loads the key into the selected device. Returns `None` if no device is selected, or a
    /// service computes.
    pub(crate) fn load(
        session: &Session,
        key: &PublicKey,
        unchecked: bool,
        remote: bool,
    ) -> Result<Option<Self>, CliError> {
        Self::load_with(session, unchecked, remote, |computes, trust| computes.load_public(key, trust))
    }

    /// Like `load`, for encryption: loads the private key if one was read.
    pub(crate) fn encrypting(
        session: &Session,
        key: &Key,
        unchecked: bool,
        remote: bool,
    ) -> Result<Option<Self>, CliError> {
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
    ) -> Result<Option<Self>, CliError> {
        let trust = session.trust(unchecked)?;
        let Some(provider) = session.device.filter(|_| !remote) else { return Ok(None) };
        let computes = provider.computes().ok_or_else(|| only(provider))?;
        let device = load(computes, trust).map_err(|error| failed(provider, error))?;
        Ok(Some(Self { provider, device: device.into() }))
    }

    /// Returns the device as a key's backend.
    pub(crate) fn key(&self) -> Arc<dyn PublicKeyBackend> {
        self.device.clone()
    }

    /// The number of rows that the device should have per batch.
    pub(crate) fn rows(&self) -> usize {
        self.device.batch_size()
    }

    /// Describes the device and its clock cycles. Returns `None` while the device is still shared.
    pub(crate) fn note(mut self) -> Result<Option<String>, CliError> {
        Arc::get_mut(&mut self.device).map(|device| note(self.provider, device, "commands")).transpose()
    }
}
