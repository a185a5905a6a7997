//! A device that computes with public keys, those that clients register: it holds the key of its
//! last batch, and is loaded with another when a batch needs it.

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use hearith_device::{ComputingDevice, ErrorKind, Kind, Trust};
use hearith_paillier::{Ciphertexts, ComputeError};

use super::{Fault, Processor};
use crate::keys::{Handle, ServedKey};
use crate::work::{Input, Operation, Output};

/// Keys of which it is kept in mind that they do not fit; when there are more, all are tried again.
const MOST_UNFIT: usize = 1024;

/// A device of a kind. What it computes is checked by its driver.
pub struct Computer {
    kind: &'static dyn Kind,
    loaded: Mutex<Option<Loaded>>,
    /// Rows that fill the device that was loaded last.
    rows: AtomicUsize,
    unfit: Mutex<HashSet<Handle>>,
}

struct Loaded {
    key: Handle,
    device: Box<dyn ComputingDevice>,
}

impl Computer {
    /// A device of a kind, without a key yet; `None` if the kind does not compute with public keys.
    pub fn new(kind: &'static dyn Kind) -> Option<Self> {
        kind.computes()?;
        Some(Self { kind, loaded: Mutex::default(), rows: AtomicUsize::new(1), unfit: Mutex::default() })
    }

    /// The device with a key in it.
    fn load(&self, key: &ServedKey) -> Result<Loaded, Fault> {
        let computes = self.kind.computes().expect("the kind computes");
        match computes.load_public(key.public(), Trust::Checked) {
            Ok(device) => {
                self.rows.store(device.batch_size().max(1), Ordering::Relaxed);
                Ok(Loaded { key: key.handle(), device })
            }
            // Somebody may well register such a key: that says nothing of the device.
            Err(error) if matches!(error.kind(), ErrorKind::KeySize { .. } | ErrorKind::UnsuitableModulus) => {
                self.refuse(key.handle());
                Err(Fault::Key)
            }
            Err(error) => Err(Fault::Processor(Box::new(error))),
        }
    }

    fn refuse(&self, key: Handle) {
        let mut unfit = self.unfit();
        if unfit.len() >= MOST_UNFIT {
            unfit.clear();
        }
        unfit.insert(key);
    }

    fn unfit(&self) -> std::sync::MutexGuard<'_, HashSet<Handle>> {
        self.unfit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Processor for Computer {
    fn name(&self) -> String {
        self.kind.system().name.to_owned()
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
        // A device that panicked is not asked again: its processor is quarantined.
        let mut loaded = self.loaded.lock().map_err(|_| Fault::Processor("the driver broke down before".into()))?;
        // Whatever was loaded is given back, and its key wiped, before another is.
        let held = loaded.take().filter(|held| held.key == key.handle());
        let held = loaded.insert(held.map_or_else(|| self.load(key), Ok)?);
        compute(&*held.device, input).map(Output::Ciphertexts).map_err(|error| match error {
            ComputeError::Batch(error) => Fault::Input(error),
            ComputeError::Service(error) => Fault::Processor(error),
        })
    }
}

/// What a device makes of an input.
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
        write!(f, "Computer({})", self.kind.system().name)
    }
}
