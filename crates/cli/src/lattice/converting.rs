//! A device that turns plaintexts into residues in this CPU's stead.

use std::sync::Arc;

use hearith_bfv::{Convert, ErrorKind, Set};
use hearith_columns::Error;
use hearith_device::{Kind, PlaintextConverter};

use crate::device::{failed, note};
use crate::failure::Failure;
use crate::session::Session;

/// The device chosen, between plaintexts and residues.
pub(super) struct Converting {
    kind: &'static dyn Kind,
    converter: Arc<PlaintextConverter>,
}

impl Converting {
    /// A device with the primes of a parameter set; none if no device was chosen.
    pub(super) fn open(session: &Session, set: Set, unchecked: bool) -> Result<Option<Self>, Failure> {
        let trust = session.trust(unchecked)?;
        let Some(kind) = session.named_device() else { return Ok(None) };
        let converts = kind.converts().ok_or_else(|| super::no_keys(kind))?;
        let device = converts.open(set.moduli(), set.modulus_bits(), trust).map_err(|error| failed(kind, error))?;
        Ok(Some(Self { kind, converter: Arc::new(PlaintextConverter::new(device)) }))
    }

    /// What a key is to convert by.
    pub(super) fn converter(&self) -> Arc<dyn Convert> {
        self.converter.clone()
    }

    /// What it is and how many of its clock cycles it took.
    pub(super) fn note(&self) -> Result<String, Failure> {
        note(self.kind, &mut **self.converter.device(), "coefficients")
    }
}

/// Why a piece of a table could not be encrypted: a device's own failure, which its name stands
/// before, or what is wrong with the table.
pub(super) fn failure(session: &Session, table: &str, error: Error) -> Failure {
    match (session.named_device(), error.kind()) {
        (Some(kind), hearith_columns::ErrorKind::Lattice(ErrorKind::Converter(cause))) => {
            Failure::at(format!("engine {}", kind.system().name), cause.clone())
        }
        _ => Failure::at(table, error),
    }
}
