//! Conversion of integers to residues by a device, for BFV encryption.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hearith_arith::Batch;
use hearith_bfv::{Convert, Reason};
use zeroize::{Zeroize, Zeroizing};

use crate::ConvertingDevice;

/// A device with all primes of a parameter set, which converts between plaintexts and residues for
/// [`PublicKey::with_converter`](hearith_bfv::PublicKey::with_converter) and its counterpart of the
/// private key.
///
/// The device sees the plaintexts. It serves one caller at a time.
pub struct PlaintextConverter(Mutex<Box<dyn ConvertingDevice>>);

impl PlaintextConverter {
    /// Wraps the device. Its residues are [checked](crate::Trust) as always.
    pub fn new(device: Box<dyn ConvertingDevice>) -> Self {
        Self(Mutex::new(device))
    }

    /// Locks and returns the device, for its description and counters.
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
