//! What carries batches out: this CPU, or a device.

use std::error::Error as Cause;
use std::fmt;
use std::sync::Mutex;

use hearith_device::{DecryptingDevice, Error as DeviceError, Kind, Trust};
use hearith_paillier::{DecryptError, Engine, Error, ErrorKind, PrivateKey};

use crate::keys::ServedKey;
use crate::work::{Input, Operation, Output};

/// What carries batches out.
pub trait Processor: fmt::Debug + Send + Sync {
    /// Its name in metrics and logs.
    fn name(&self) -> String;

    /// Whether it carries out an operation under a key.
    fn does(&self, operation: Operation, key: &ServedKey) -> bool;

    /// Rows with which none of it is idle.
    fn full_rows(&self) -> usize;

    /// Rows beyond which a batch gains nothing.
    fn batch_rows(&self) -> usize;

    /// Carries out an operation that it does.
    ///
    /// # Errors
    /// What is wrong with the input, or with the processor: then somebody else has to do it.
    fn run(&self, key: &ServedKey, input: &Input) -> Result<Output, Fault>;
}

/// Why a batch was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The input is wrong.
    #[error(transparent)]
    Input(#[from] Error),
    /// The processor is: it fails, or gives what is not right.
    #[error("{0}")]
    Processor(#[source] Box<dyn Cause + Send + Sync>),
}

/// This CPU, all the cores of rayon's pool at once.
#[derive(Clone, Copy, Debug)]
pub struct Cpu {
    engine: Engine,
    threads: usize,
}

/// Rounds of all lanes of all cores that a batch of several requests has at most: enough to make their beginning and end no matter, few
/// enough for the other keys not to wait.
const ROUNDS: usize = 8;

impl Cpu {
    /// The CPU with an engine.
    pub fn new(engine: Engine) -> Self {
        Self { engine, threads: rayon::current_num_threads() }
    }
}

impl Processor for Cpu {
    fn name(&self) -> String {
        self.engine.name().to_owned()
    }

    fn does(&self, operation: Operation, key: &ServedKey) -> bool {
        operation != Operation::Decrypt || key.private().is_some()
    }

    fn full_rows(&self) -> usize {
        self.engine.lanes() * self.threads
    }

    fn batch_rows(&self) -> usize {
        ROUNDS * self.full_rows()
    }

    fn run(&self, key: &ServedKey, input: &Input) -> Result<Output, Fault> {
        input.compute(key).map_err(|error| match error.kind() {
            ErrorKind::WrongDecryption => Fault::Processor(Box::new(error)),
            _ => Fault::Input(error),
        })
    }
}

/// A device that was loaded with a private key. What it decrypts is checked here ([`PrivateKey::check`]), whatever its driver does.
pub struct Decryptor {
    name: &'static str,
    key: PrivateKey,
    batch: usize,
    device: Mutex<Box<dyn DecryptingDevice>>,
}

impl Decryptor {
    /// A device of a kind, loaded with a key; `None` if the kind does not decrypt.
    ///
    /// # Errors
    /// The key does not fit, or the device cannot be reached.
    pub fn load(kind: &dyn Kind, key: &PrivateKey) -> Option<Result<Self, DeviceError>> {
        let name = kind.system().name;
        Some(kind.decrypts()?.load(key, Trust::Believe).map(|device| Self::new(name, key.clone(), device)))
    }

    /// A device that holds a key.
    pub fn new(name: &'static str, key: PrivateKey, device: Box<dyn DecryptingDevice>) -> Self {
        Self { name, key, batch: device.batch_size(), device: Mutex::new(device) }
    }
}

impl Processor for Decryptor {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn does(&self, operation: Operation, key: &ServedKey) -> bool {
        operation == Operation::Decrypt && key.public().id() == self.key.public().id()
    }

    fn full_rows(&self) -> usize {
        self.batch
    }

    fn batch_rows(&self) -> usize {
        self.batch
    }

    fn run(&self, _: &ServedKey, input: &Input) -> Result<Output, Fault> {
        let Input::Decrypt(ciphertexts) = input else { unreachable!("a decryptor does nothing else") };
        // A device that panicked is not asked again: its processor is set aside.
        let device = self.device.lock().map_err(|_| Fault::Processor("the driver broke down before".into()))?;
        let plaintexts = device.decrypt(ciphertexts).map_err(|error| match error {
            DecryptError::Ciphertexts(error) => Fault::Input(error),
            DecryptError::Device(error) => Fault::Processor(error),
        })?;
        match self.key.check(ciphertexts, &plaintexts) {
            Ok(()) => Ok(Output::Plaintexts(plaintexts)),
            Err(error) => Err(Fault::Processor(Box::new(error))),
        }
    }
}

impl fmt::Debug for Decryptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Decryptor({} with key {})", self.name, self.key.public().id())
    }
}
