//! Engines that convert integers to residues: this CPU, or a device.

use hearith_arith::Batch;
use hearith_arith::natural::bit_length;
use hearith_device::{ConvertingDevice, DeviceProvider, Trust};
use hearith_rns::{Basis, Residues};

use crate::device::{failed, note};
use crate::failure::CliError;
use crate::session::Session;

/// Converts integers below the product of the moduli to residues. All engines return the same
/// residues.
pub(crate) trait Converter {
    /// Returns the residues of rows that have as many limbs as the basis.
    fn residues(&mut self, numbers: &Batch) -> Result<Residues, CliError>;

    /// The number of rows to convert at a time.
    fn rows(&self) -> usize {
        8192
    }

    /// Describes the engine's work after the last batch.
    fn note(&mut self) -> Result<Option<String>, CliError> {
        Ok(None)
    }
}

/// Opens the session's engine.
pub(crate) fn open<'a>(session: &Session, basis: &'a Basis, trust: Trust) -> Result<Box<dyn Converter + 'a>, CliError> {
    match session.device {
        None => Ok(Box::new(Cpu(basis))),
        Some(provider) => Ok(Box::new(OnDevice::open(provider, basis, trust)?)),
    }
}

/// This CPU, with the engine that the basis was prepared for.
struct Cpu<'a>(&'a Basis);

impl Converter for Cpu<'_> {
    fn residues(&mut self, numbers: &Batch) -> Result<Residues, CliError> {
        self.0.residues(numbers).map_err(CliError::new)
    }
}

/// A device with all moduli of the basis.
struct OnDevice<'a> {
    provider: &'static dyn DeviceProvider,
    device: Box<dyn ConvertingDevice>,
    basis: &'a Basis,
}

impl<'a> OnDevice<'a> {
    fn open(provider: &'static dyn DeviceProvider, basis: &'a Basis, trust: Trust) -> Result<Self, CliError> {
        let converts = provider.converts().expect("the session refused a device that does not convert");
        let device = converts.open(basis.moduli(), bit_length(basis.product()), trust);
        Ok(Self { provider, device: device.map_err(|error| failed(provider, error))?, basis })
    }
}

impl Converter for OnDevice<'_> {
    fn residues(&mut self, numbers: &Batch) -> Result<Residues, CliError> {
        let residues = self.device.residues(self.basis.moduli(), numbers);
        residues.map_err(|error| failed(self.provider, error))
    }

    fn rows(&self) -> usize {
        self.device.batch_size()
    }

    fn note(&mut self) -> Result<Option<String>, CliError> {
        note(self.provider, &mut *self.device, "integers").map(Some)
    }
}
