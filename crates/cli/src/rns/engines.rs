//! What converts integers to residues: this CPU, or a device.

use hearith_arith::Batch;
use hearith_arith::natural::bit_length;
use hearith_device::{ConvertingDevice, Kind, Trust};
use hearith_rns::{Basis, Residues};

use crate::device::{failed, note};
use crate::failure::Failure;
use crate::session::Session;

/// Converts integers below the product of the moduli to residues. Every engine gives the same ones.
pub(crate) trait Converter {
    /// The residues of rows of as many limbs as the basis has.
    fn residues(&mut self, numbers: &Batch) -> Result<Residues, Failure>;

    /// Rows to convert at a time.
    fn rows(&self) -> usize {
        8192
    }

    /// What is to be said of the engine when all is done.
    fn note(&mut self) -> Result<Option<String>, Failure> {
        Ok(None)
    }
}

/// The engine that the session has chosen.
pub(crate) fn open<'a>(session: &Session, basis: &'a Basis, trust: Trust) -> Result<Box<dyn Converter + 'a>, Failure> {
    match session.device {
        None => Ok(Box::new(Cpu(basis))),
        Some(kind) => Ok(Box::new(OnDevice::open(kind, basis, trust)?)),
    }
}

/// This CPU, by whichever engine of it the basis is prepared for.
struct Cpu<'a>(&'a Basis);

impl Converter for Cpu<'_> {
    fn residues(&mut self, numbers: &Batch) -> Result<Residues, Failure> {
        self.0.residues(numbers).map_err(Failure::new)
    }
}

/// A device that has all moduli of the basis.
struct OnDevice<'a> {
    kind: &'static dyn Kind,
    device: Box<dyn ConvertingDevice>,
    basis: &'a Basis,
}

impl<'a> OnDevice<'a> {
    fn open(kind: &'static dyn Kind, basis: &'a Basis, trust: Trust) -> Result<Self, Failure> {
        let converts = kind.converts().expect("the session refused a device that does not convert");
        let device = converts.open(basis.moduli(), bit_length(basis.product()), trust);
        Ok(Self { kind, device: device.map_err(|error| failed(kind, error))?, basis })
    }
}

impl Converter for OnDevice<'_> {
    fn residues(&mut self, numbers: &Batch) -> Result<Residues, Failure> {
        let residues = self.device.residues(self.basis.moduli(), numbers);
        residues.map_err(|error| failed(self.kind, error))
    }

    fn rows(&self) -> usize {
        self.device.batch_size()
    }

    fn note(&mut self) -> Result<Option<String>, Failure> {
        note(self.kind, &mut *self.device, "integers").map(Some)
    }
}
