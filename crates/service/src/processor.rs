//! Processors, which run batches: this CPU, or a device.

mod computer;
mod pace;

use std::error::Error as Cause;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hearith_device::{DecryptingDevice, DeviceProvider, Error as DeviceError, Trust};
use hearith_paillier::{DecryptError, Engine, Error, ErrorKind, PrivateKey};
use rayon::{ThreadPool, ThreadPoolBuilder};
use rustix::time::{ClockId, clock_gettime};

use crate::keys::ServedKey;
use crate::work::{Input, Operation, Output};

pub use computer::Computer;

use pace::Pace;

/// A processor of batches.
pub trait Processor: fmt::Debug + Send + Sync {
    /// Its name in metrics and logs.
    fn name(&self) -> String;

    /// Whether it supports an operation under a key.
    fn does(&self, operation: Operation, key: &ServedKey) -> bool;

    /// The number of batches that it runs concurrently.
    fn batches(&self) -> usize {
        1
    }

    /// The smallest number of rows that fully uses a unit (a core or the device) that runs a batch.
    fn full_rows(&self) -> usize;

    /// The number of rows beyond which a larger batch gains nothing.
    fn batch_rows(&self) -> usize;

    /// Estimates how long one unit (a core or the device) needs for rows of an operation under a
    /// key. Zero if fair sharing is not needed.
    fn time(&self, _operation: Operation, _key: &ServedKey, _rows: usize) -> Duration {
        Duration::ZERO
    }

    /// Runs a supported operation.
    ///
    /// # Errors
    /// The input is invalid, or the processor failed and another one has to run the operation.
    fn run(&self, key: &ServedKey, input: &Input) -> Result<Output, Fault>;
}

/// The reason why a batch failed.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The input is invalid.
    #[error(transparent)]
    Input(#[from] Error),
    /// The key does not suit this processor. From now on, [`Processor::does`] returns `false` for
    /// the key.
    #[error("the key does not fit")]
    Key,
    /// The processor failed or returned a wrong result.
    #[error("{0}")]
    Processor(#[source] Box<dyn Cause + Send + Sync>),
}

/// This CPU. Each core runs its own batches, because passing rows to other threads costs as much as
/// computing some of them.
#[derive(Clone, Debug)]
pub struct Cpu {
    engine: Engine,
    cores: usize,
    pace: Arc<Pace>,
}

/// Maximum number of rounds of all lanes in a batch of several requests.
///
/// This is enough to make the overhead per batch insignificant, and too few to delay other keys or
/// leave other cores idle.
const ROUNDS: usize = 2;

thread_local! {
    /// A pool that consists of the calling thread, so computations in it stay on that thread.
    static ALONE: Option<ThreadPool> = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().ok();
}

impl Cpu {
    /// Creates a processor with an engine and as many cores as rayon's current pool has threads.
    pub fn new(engine: Engine) -> Self {
        Self { engine, cores: rayon::current_num_threads(), pace: Arc::default() }
    }
}

impl Cpu {
    /// Rounds rows up to whole rounds of lanes, since an idle lane costs as much time.
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

/// A device loaded with a private key. The service checks what it decrypts ([`PrivateKey::check`]),
/// whatever the driver does.
pub struct Decryptor {
    name: &'static str,
    key: PrivateKey,
    batch: usize,
    device: Mutex<Box<dyn DecryptingDevice>>,
}

impl Decryptor {
    /// Loads a private key into a provider's device. Returns `None` if the provider does not
    /// decrypt.
    ///
    /// # Errors
    /// The key does not suit the device, or the device cannot be reached.
    pub fn load(provider: &dyn DeviceProvider, key: &PrivateKey) -> Option<Result<Self, DeviceError>> {
        let name = provider.system().name;
        Some(provider.decrypts()?.load(key, Trust::Unchecked).map(|device| Self::new(name, key.clone(), device)))
    }

    /// Wraps a device that holds `key`.
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
        // A device that panicked is not used again: its processor is quarantined.
        let device = self.device.lock().map_err(|_| Fault::Processor("the driver has panicked before".into()))?;
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
