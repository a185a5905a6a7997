//! A device that computes in a public key's stead.

use std::sync::Arc;

use hearith_device::{ComputingDevice, Kind};
use hearith_paillier::{Compute, PublicKey};

use crate::device::{failed, note};
use crate::failure::Failure;
use crate::session::{Session, only};

/// The device chosen, in a public key's stead.
pub(crate) struct Computing {
    kind: &'static dyn Kind,
    device: Arc<dyn ComputingDevice>,
}

impl Computing {
    /// The device, loaded with the key; none if none was chosen, or a service computes.
    pub(crate) fn load(
        session: &Session,
        key: &PublicKey,
        unchecked: bool,
        remote: bool,
    ) -> Result<Option<Self>, Failure> {
        let trust = session.trust(unchecked)?;
        let Some(kind) = session.device.filter(|_| !remote) else { return Ok(None) };
        let computes = kind.computes().ok_or_else(|| only(kind))?;
        let device = computes.load_public(key, trust).map_err(|error| failed(kind, error))?;
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
