//! Processors of batches: this CPU, or a device.

mod computer;
mod pace;

use std::error::Error as Cause;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hearith_device::{DecryptingDevice, Error as DeviceError, Kind, Trust};
use hearith_paillier::{DecryptError, Engine, Error, ErrorKind, PrivateKey};
use rayon::{ThreadPool, ThreadPoolBuilder};
use rustix::time::{ClockId, clock_gettime};

use crate::keys::ServedKey;
use crate::work::{Input, Operation, Output};

pub use computer::Computer;

use pace::Pace;

/// What carries batches out.
pub trait Processor: fmt::Debug + Send + Sync {
    /// Its name in metrics and logs.
    fn name(&self) -> String;

    /// Whether it carries out an operation under a key.
    fn does(&self, operation: Operation, key: &ServedKey) -> bool;

    /// Batches that it works on at a time.
    fn batches(&self) -> usize {
        1
    }

    /// Rows with which none of what works on a batch is idle.
    fn full_rows(&self) -> usize;

    /// Rows beyond which a batch gains nothing.
    fn batch_rows(&self) -> usize;

    /// How long rows of an operation under a key take one of what works on a batch, as far as is
    /// known; nothing where turns need not be fair.
    fn time(&self, _operation: Operation, _key: &ServedKey, _rows: usize) -> Duration {
        Duration::ZERO
    }

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
    /// The key is none for this processor, which from then on says that it does nothing with it.
    #[error("the key does not fit")]
    Key,
    /// The processor is: it fails, or gives what is not right.
    #[error("{0}")]
    Processor(#[source] Box<dyn Cause + Send + Sync>),
}

/// This CPU. Each core has batches of its own, since handing rows to other threads costs as much as
/// some of them.
#[derive(Clone, Debug)]
pub struct Cpu {
    engine: Engine,
    cores: usize,
    pace: Arc<Pace>,
}

/// Rounds of all lanes that a batch of several requests has at most: enough to make its beginning
/// and end no matter, few enough for neither other keys nor other cores to wait.
const ROUNDS: usize = 2;

thread_local! {
    /// A pool of the thread that asks, and no other: what is computed in it stays on that thread.
    static ALONE: Option<ThreadPool> = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().ok();
}

impl Cpu {
    /// The CPU with an engine, and as many threads as rayon's current pool has.
    pub fn new(engine: Engine) -> Self {
        Self { engine, cores: rayon::current_num_threads(), pace: Arc::default() }
    }
}

impl Cpu {
    /// Rows of as many whole rounds of lanes: a lane without a row takes as long.
    fn rounded(&self, rows: usize) -> usize {
        rows.next_multiple_of(self.full_rows().max(1))
    }
}

impl Processor for Cpu {
    fn name(&self) -> String {
        self.engine.name().to_owned()
    }

    fn does(&self, operation: Operation, key: &ServedKey) -> bool {
        operation != Operation::Decrypt || key.private().is_some()
    }

    fn batches(&self) -> usize {
        self.cores
    }

    fn full_rows(&self) -> usize {
        self.engine.lanes()
    }

    fn batch_rows(&self) -> usize {
        ROUNDS * self.full_rows()
    }

    fn time(&self, operation: Operation, key: &ServedKey, rows: usize) -> Duration {
        self.pace.time(operation, key, self.rounded(rows))
    }

    fn run(&self, key: &ServedKey, input: &Input) -> Result<Output, Fault> {
        let compute = || input.compute(key);
        let began = clock_gettime(ClockId::ThreadCPUTime);
        let output = ALONE.with(|alone| alone.as_ref().map_or_else(compute, |alone| alone.install(compute)));
        let ended = clock_gettime(ClockId::ThreadCPUTime);
        if output.is_ok()
            && input.rows() >= self.full_rows()
            && let Ok(took) = Duration::try_from(ended - began)
        {
            self.pace.learn(input.operation(), key, self.rounded(input.rows()), took);
        }
        output.map_err(|error| match error.kind() {
            ErrorKind::WrongDecryption => Fault::Processor(Box::new(error)),
            _ => Fault::Input(error),
        })
    }
}

/// A device that was loaded with a private key. What it decrypts is checked here
/// ([`PrivateKey::check`]), whatever its driver does.
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
        Some(kind.decrypts()?.load(key, Trust::Unchecked).map(|device| Self::new(name, key.clone(), device)))
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
        // A device that panicked is not asked again: its processor is quarantined.
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
