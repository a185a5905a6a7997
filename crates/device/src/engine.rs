//! Devices as engines that users choose by name.

use hearith_arith::Batch;
use hearith_paillier::{Ciphertexts, Plaintexts, PrivateKey, PublicKey};
use hearith_verilated::Design;

use crate::simulated::designs::MESAS;
use crate::{Counters, DeviceError, Mesa, Simulated};

/// A kind of device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeviceEngine {
    /// [`Mesa`].
    Mesa,
}

/// Whether a kind of device is there, and in what form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineState {
    /// Whether it can be used.
    pub available: bool,
    /// Its parameters, or what is missing.
    pub description: String,
}

/// A device with a key that decrypts.
pub trait Decryptor: Send {
    /// Decrypts every ciphertext.
    ///
    /// # Errors
    /// As [`Mesa::decrypt`].
    fn decrypt(&mut self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, DeviceError>;

    /// What the device has counted.
    ///
    /// # Errors
    /// The device does not answer.
    fn counters(&mut self) -> Result<Counters, DeviceError>;

    /// Where the device is, in words.
    fn describe(&self) -> String;

    /// Ciphertexts that a batch should hold at least for the filling of the pipeline not to matter.
    fn batch_size(&self) -> usize;
}

impl DeviceEngine {
    /// All of them.
    pub const ALL: [DeviceEngine; 1] = [DeviceEngine::Mesa];

    /// The name by which users choose it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mesa => "mesa",
        }
    }

    /// The engine of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|engine| engine.name() == name)
    }

    /// Whether there is such a device: today, simulated ones.
    pub fn state(self) -> EngineState {
        let designs = self.designs();
        let available = designs.iter().any(|design| design.is_available());
        let description = match available {
            true => format!("simulated, decrypts; {}", list(designs, Self::parameters)),
            false => "needs Verilator when it is built".to_owned(),
        };
        EngineState { available, description }
    }

    /// The smallest device that the key fits, with the key loaded.
    ///
    /// # Errors
    /// [`DeviceError::KeyTooLarge`], [`DeviceError::NoModel`].
    pub fn open(self, key: &PrivateKey) -> Result<Box<dyn Decryptor>, DeviceError> {
        let (bits, designs) = (key.public().bits(), self.designs());
        let fitting = designs.iter().find(|design| design.parameter("N") >= bits);
        let largest = designs.last().map_or(0, |design| design.parameter("N"));
        let design = fitting.ok_or(DeviceError::KeyTooLarge { bits, largest })?;
        let transport = Box::new(Simulated::new(design)?);
        match self {
            Self::Mesa => {
                let mut device = Mesa::open(transport)?;
                device.load_key(key)?;
                Ok(Box::new(device))
            }
        }
    }

    /// The simulated devices of this kind, smallest first.
    fn designs(self) -> &'static [&'static Design] {
        match self {
            Self::Mesa => &MESAS,
        }
    }

    fn parameters(design: &Design) -> String {
        format!("N = {} with {} MEs", design.parameter("N"), 2 * design.parameter("Stages"))
    }
}

impl Decryptor for Mesa {
    fn decrypt(&mut self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, DeviceError> {
        Self::decrypt(self, ciphertexts)
    }

    fn counters(&mut self) -> Result<Counters, DeviceError> {
        Self::counters(self)
    }

    fn describe(&self) -> String {
        let parameters = self.parameters();
        format!("{}, N = {} with {} MEs", Self::describe(self), parameters.bits, 2 * parameters.stages)
    }

    fn batch_size(&self) -> usize {
        4 * (self.parameters().stages as usize + 2)
    }
}

/// The plaintexts that a device gave, each of which must be below `n`.
pub(crate) fn plaintexts(key: &PublicKey, residues: &Batch) -> Result<Plaintexts, DeviceError> {
    let bytes = zeroize::Zeroizing::new(residues.to_be_bytes(8 * key.plaintext_limbs()));
    let (width, padded) = (key.plaintext_bytes(), 8 * key.plaintext_limbs());
    let mut cut = zeroize::Zeroizing::new(Vec::with_capacity(residues.len() * width));
    for (row, number) in bytes.chunks_exact(padded).enumerate() {
        let (high, low) = number.split_at(padded - width);
        if high.iter().any(|&byte| byte != 0) {
            return Err(DeviceError::NotAPlaintext { row });
        }
        cut.extend_from_slice(low);
    }
    key.plaintexts_from_be(&cut).map_err(|error| match error {
        hearith_paillier::OperationError::PlaintextTooLarge { row } => DeviceError::NotAPlaintext { row },
        other => other.into(),
    })
}

fn list(designs: &[&Design], describe: impl Fn(&Design) -> String) -> String {
    designs.iter().map(|design| describe(design)).collect::<Vec<_>>().join(", ")
}
