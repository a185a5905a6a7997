//! What converts integers to residues: this CPU, or a device.

use hearith_arith::Batch;
use hearith_arith::natural::bit_length;
use hearith_device::{DeviceEngine, ResidueBank};
use hearith_rns::{Basis, Residues};

use crate::device::failed;
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
pub(crate) fn open<'a>(session: &Session, basis: &'a Basis) -> Result<Box<dyn Converter + 'a>, Failure> {
    match session.device {
        None => Ok(Box::new(Cpu(basis))),
        Some(engine) => Ok(Box::new(Bank::open(engine, basis)?)),
    }
}

/// This CPU, by whichever engine of it the basis is prepared for.
struct Cpu<'a>(&'a Basis);

impl Converter for Cpu<'_> {
    fn residues(&mut self, numbers: &Batch) -> Result<Residues, Failure> {
        self.0.residues(numbers).map_err(Failure::new)
    }
}

/// A residue bank that has all moduli of the basis.
struct Bank<'a> {
    engine: DeviceEngine,
    device: ResidueBank,
    basis: &'a Basis,
}

impl<'a> Bank<'a> {
    fn open(engine: DeviceEngine, basis: &'a Basis) -> Result<Self, Failure> {
        let device = ResidueBank::simulated(basis.moduli(), bit_length(basis.product()));
        Ok(Self { engine, device: device.map_err(|error| failed(engine, &error))?, basis })
    }
}

impl Converter for Bank<'_> {
    fn residues(&mut self, numbers: &Batch) -> Result<Residues, Failure> {
        let residues = self.device.residues(self.basis.moduli(), numbers);
        residues.map_err(|error| failed(self.engine, &error))
    }

    fn rows(&self) -> usize {
        1024
    }

    fn note(&mut self) -> Result<Option<String>, Failure> {
        let counters = self.device.counters().map_err(|error| failed(self.engine, &error))?;
        let (cycles, integers) = (counters.busy_cycles, counters.delivered);
        Ok(Some(format!("{}: {cycles} cycles for {integers} integers", self.device.describe())))
    }
}
