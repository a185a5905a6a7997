//! What converts integers to residues: this CPU, or a device.

use hearith_arith::Batch;
use hearith_arith::rns::{Basis, Residues};

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
pub(crate) fn open<'a>(_session: &Session, basis: &'a Basis) -> Result<Box<dyn Converter + 'a>, Failure> {
    Ok(Box::new(Cpu(basis)))
}

/// This CPU, by whichever engine of it the basis is prepared for.
struct Cpu<'a>(&'a Basis);

impl Converter for Cpu<'_> {
    fn residues(&mut self, numbers: &Batch) -> Result<Residues, Failure> {
        self.0.residues(numbers).map_err(Failure::new)
    }
}
