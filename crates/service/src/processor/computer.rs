//! A device that computes with the public keys that clients register.
//!
//! It holds the key of its last batch and loads another when a batch needs it.

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use hearith_device::{ComputingDevice, DeviceProvider, ErrorKind, Trust};
use hearith_paillier::{Ciphertexts, ComputeError};

use super::{Fault, Processor};
use crate::keys::{KeyHandle, ServedKey};
use crate::work::{Input, Operation, Output};

/// Maximum number of keys remembered as unsuitable. When it is reached, all are forgotten and tried
/// again.
const MAX_UNFIT: usize = 1024;

/// A device of a provider. Its driver checks its results.
pub struct Computer {
    provider: &'static dyn DeviceProvider,
    loaded: Mutex<Option<Loaded>>,
    /// Rows that fill the device that was loaded last.
    rows: AtomicUsize,
    unfit: Mutex<HashSet<KeyHandle>>,
}

struct Loaded {
    key: KeyHandle,
    device: Box<dyn ComputingDevice>,
}

impl Computer {
    /// Creates a processor without a key yet. Returns `None` if the provider does not compute with
    /// public keys.
    pub fn new(provider: &'static dyn DeviceProvider) -> Option<Self> {
        provider.computes()?;
        Some(Self { provider, loaded: Mutex::default(), rows: AtomicUsize::new(1), unfit: Mutex::default() })
    }

    /// Loads a key into the device.
    fn load(&self, key: &ServedKey) -> Result<Loaded, Fault> {
        let computes = self.provider.computes().expect("the provider computes");
        match computes.load_public(key.public(), Trust::Checked) {
            Ok(device) => {
                self.rows.store(device.batch_size().max(1), Ordering::Relaxed);
                Ok(Loaded { key: key.handle(), device })
            }
            // Any client may register such a key. It does not mean that the device is faulty.
            Err(error) if matches!(error.kind(), ErrorKind::KeySize { .. } | ErrorKind::UnsuitableModulus) => {
                self.mark_unfit(key.handle());
                Err(Fault::Key)
            }
            Err(error) => Err(Fault::Processor(Box::new(error))),
        }
    }

    fn mark_unfit(&self, key: KeyHandle) {
        let mut unfit = self.unfit();
        if unfit.len() >= MAX_UNFIT {
            unfit.clear();
        }
        unfit.insert(key);
    }

    fn unfit(&self) -> std::sync::MutexGuard<'_, HashSet<KeyHandle>> {
        self.unfit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Processor for Computer {
    fn name(&self) -> String {
        self.provider.system().name.to_owned()
    }

    fn does(&self, operation: Operation, key: &ServedKey) -> bool {
        operation != Operation::Decrypt && !self.unfit().contains(&key.handle())
    }

    fn full_rows(&self) -> usize {
        self.rows.load(Ordering::Relaxed)
    }

    fn batch_rows(&self) -> usize {
        self.full_rows()
    }

    fn run(&self, key: &ServedKey, input: &Input) -> Result<Output, Fault> {
        input.check(key)?;
        // A device that panicked is not used again: its processor is quarantined.
        let mut loaded = self.loaded.lock().map_err(|_| Fault::Processor("the driver has panicked before".into()))?;
        // The previous device is released, and its key wiped, before another is loaded.
        let same = loaded.take().filter(|loaded| loaded.key == key.handle());
        let loaded = loaded.insert(same.map_or_else(|| self.load(key), Ok)?);
        compute(&*loaded.device, input).map(Output::Ciphertexts).map_err(|error| match error {
            ComputeError::Batch(error) => Fault::Input(error),
            ComputeError::Service(error) => Fault::Processor(error),
        })
    }
}

/// Runs an input on a device.
fn compute(device: &dyn ComputingDevice, input: &Input) -> Result<Ciphertexts, ComputeError> {
    match input {
        Input::Encrypt(plaintexts) => device.encrypt(plaintexts),
        Input::Rerandomise(ciphertexts) => device.rerandomise(ciphertexts),
        Input::Add(left, right) => device.add(left, right),
        Input::Multiply { ciphertexts, scalars, bits, deterministic } => {
            let products = device.multiply(ciphertexts, scalars, *bits)?;
            if *deterministic { Ok(products) } else { device.rerandomise(&products) }
        }
        Input::SumGroups { ciphertexts, groups } => device.sum_groups(ciphertexts, groups),
        Input::Decrypt(_) => unreachable!("a public key does not decrypt"),
    }
}

impl fmt::Debug for Computer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Computer({})", self.provider.system().name)
    }
}
