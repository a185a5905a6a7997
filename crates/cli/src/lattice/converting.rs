//! A device that converts plaintexts into residues instead of this CPU.

use std::sync::Arc;

use hearith_bfv::{Convert, ErrorKind, Set};
use hearith_columns::Error;
use hearith_device::{DeviceProvider, PlaintextConverter};

use crate::device::{failed, note};
use crate::failure::CliError;
use crate::session::Session;

/// The selected device, as a converter of plaintexts.
pub(super) struct Converting {
    provider: &'static dyn DeviceProvider,
    converter: Arc<PlaintextConverter>,
}

impl Converting {
    /// Opens a device with the primes of a parameter set. Returns `None` if no device is selected.
    pub(super) fn open(session: &Session, set: Set, unchecked: bool) -> Result<Option<Self>, CliError> {
        let trust = session.trust(unchecked)?;
        let Some(provider) = session.named_device() else { return Ok(None) };
        let converts = provider.converts().ok_or_else(|| super::no_keys(provider))?;
        let device = converts.open(set.moduli(), set.modulus_bits(), trust).map_err(|error| failed(provider, error))?;
        Ok(Some(Self { provider, converter: Arc::new(PlaintextConverter::new(device)) }))
    }

    /// The converter for a key.
    pub(super) fn converter(&self) -> Arc<dyn Convert> {
        self.converter.clone()
    }

    /// Describes the device and its clock cycles.
    pub(super) fn note(&self) -> Result<String, CliError> {
        note(self.provider, &mut **self.converter.device(), "coefficients")
    }
}

/// The failure for a piece of a table: the device's own failure, prefixed with its name, or a fault
/// of the table.
pub(super) fn failure(session: &Session, table: &str, error: Error) -> CliError {
    match (session.named_device(), error.kind()) {
        (Some(provider), hearith_columns::ErrorKind::Lattice(ErrorKind::Converter(cause))) => {
            CliError::at(format!("engine {}", provider.system().name), cause.clone())
        }
        _ => CliError::at(table, error),
    }
}
