//! Conversion of integers to residues by a device, for BFV encryption.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hearith_arith::Batch;
use hearith_bfv::{Convert, Reason};
use zeroize::{Zeroize, Zeroizing};

use crate::ConvertingDevice;

/// A device that has all primes of a parameter set, between whose plaintexts and residues it
/// stands: of [`PublicKey::with_converter`](hearith_bfv::PublicKey::with_converter) and the private
/// key's.
///
/// The device sees the plaintexts. One at a time is served.
pub struct PlaintextConverter(Mutex<Box<dyn ConvertingDevice>>);

impl PlaintextConverter {
    /// The device, whose residues are [checked](crate::Trust) as always.
    pub fn new(device: Box<dyn ConvertingDevice>) -> Self {
        Self(Mutex::new(device))
    }

    /// The device: what it is, and what it has counted.
    pub fn device(&self) -> MutexGuard<'_, Box<dyn ConvertingDevice>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for PlaintextConverter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PlaintextConverter({})", self.device().describe())
    }
}

impl Convert for PlaintextConverter {
    fn residues(&self, moduli: &[u64], numbers: &Batch) -> Result<Zeroizing<Vec<u64>>, Reason> {
        let mut residues = self.device().residues(moduli, numbers)?;
        let mut words = Zeroizing::new(Vec::with_capacity(moduli.len() * numbers.len()));
        residues.columns().for_each(|column| words.extend_from_slice(column));
        residues.zeroize();
        Ok(words)
    }
}
