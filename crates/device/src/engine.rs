//! Devices as engines that users choose by name.

use hearith_paillier::{Ciphertexts, Plaintexts, PrivateKey};
use hearith_verilated::Design;

use crate::keyed::{Keyed, Parameters};
use crate::simulated::designs::{MESAS, MESAS_DUAL, RESIDUE_BANKS};
use crate::{Counters, DeviceError, MesaDualParameters, MesaParameters, Simulated, Transport};

/// A kind of device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeviceEngine {
    /// [`Mesa`](crate::Mesa).
    Mesa,
    /// [`MesaDual`](crate::MesaDual).
    MesaDual,
    /// [`ResidueBank`](crate::ResidueBank), which converts integers to residues and decrypts nothing.
    ResidueBank,
}

/// Whether a kind of device is there, and in what form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineState {
    /// Whether it can be used.
    pub available: bool,
    /// What it is, with its parameters; empty if it is not there.
    pub description: String,
    /// What it needs, in words.
    pub requires: &'static str,
}

/// A device with a key that decrypts.
pub trait Decryptor: Send {
    /// Decrypts every ciphertext.
    ///
    /// # Errors
    /// As [`Keyed::decrypt`].
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
    pub const ALL: [DeviceEngine; 3] = [DeviceEngine::Mesa, DeviceEngine::MesaDual, DeviceEngine::ResidueBank];

    /// The name by which users choose it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mesa => "mesa",
            Self::MesaDual => "mesa-dual",
            Self::ResidueBank => "residue-bank",
        }
    }

    /// Whether it decrypts; the others convert integers to residues.
    pub fn decrypts(self) -> bool {
        self != Self::ResidueBank
    }

    /// The engine of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|engine| engine.name() == name)
    }

    /// Whether there is such a device: today, simulated ones.
    pub fn state(self) -> EngineState {
        let designs = self.designs();
        let does = if self.decrypts() { "decrypts" } else { "converts to residues" };
        let available = designs.iter().any(|design| design.is_available());
        let description = match available {
            true => format!("{does}, simulated: {}", list(designs, |design| self.parameters(design))),
            false => String::new(),
        };
        EngineState { available, description, requires: "Verilator, when Hearith is built" }
    }

    /// The smallest device that the key fits, with the key loaded.
    ///
    /// # Errors
    /// [`DeviceError::KeyTooLarge`], [`DeviceError::NoModel`], [`DeviceError::DecryptsNothing`].
    pub fn open(self, key: &PrivateKey) -> Result<Box<dyn Decryptor>, DeviceError> {
        match self {
            Self::Mesa => loaded::<MesaParameters>(self.fitting(key)?, key),
            Self::MesaDual => loaded::<MesaDualParameters>(self.fitting(key)?, key),
            Self::ResidueBank => Err(DeviceError::DecryptsNothing { name: self.name() }),
        }
    }

    /// The smallest simulated decryptor that the key fits.
    fn fitting(self, key: &PrivateKey) -> Result<Box<dyn Transport>, DeviceError> {
        let (bits, designs) = (key.public().bits(), self.designs());
        let fitting = designs.iter().find(|design| design.parameter("N") >= bits);
        let largest = designs.last().map_or(0, |design| design.parameter("N"));
        let design = fitting.ok_or(DeviceError::KeyTooLarge { bits, largest })?;
        Ok(Box::new(Simulated::new(design)?))
    }

    /// The simulated devices of this kind, smallest first.
    fn designs(self) -> &'static [&'static Design] {
        match self {
            Self::Mesa => &MESAS,
            Self::MesaDual => &MESAS_DUAL,
            Self::ResidueBank => &RESIDUE_BANKS,
        }
    }

    fn parameters(self, design: &Design) -> String {
        let value = |name| design.parameter(name);
        match self {
            Self::Mesa => format!("N = {} with {} MEs", value("N"), 2 * value("Stages")),
            Self::MesaDual => format!("N = {} with {} lanes", value("N"), 2 * value("Lanes")),
            Self::ResidueBank => format!("{} bits to {} moduli", value("V") * value("Words"), value("Count")),
        }
    }
}

/// A decryptor with the key loaded.
fn loaded<P: Parameters + 'static>(
    transport: Box<dyn Transport>,
    key: &PrivateKey,
) -> Result<Box<dyn Decryptor>, DeviceError> {
    let mut device = Keyed::<P>::open(transport)?;
    device.load_key(key)?;
    Ok(Box::new(device))
}

fn list(designs: &[&Design], describe: impl Fn(&Design) -> String) -> String {
    designs.iter().map(|design| describe(design)).collect::<Vec<_>>().join(", ")
}
