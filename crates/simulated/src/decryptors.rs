//! Simulated decryptors of one system, in several sizes.

use hearith_device::{DecryptingDevice, Decrypts, DeviceProvider, Error, ErrorKind, State, System, Transport, Trust};
use hearith_paillier::PrivateKey;
use hearith_verilated::Design;

use crate::Simulated;
use crate::state::state;

/// Loads a key into a device.
type Load = fn(Box<dyn Transport>, &PrivateKey, Trust) -> Result<Box<dyn DecryptingDevice>, Error>;

/// A system's designs, and the function that loads a key into a device.
#[derive(Debug)]
pub(crate) struct Decryptors {
    pub(crate) system: &'static System,
    /// Designs, the smallest first; `N` is the size of the largest key.
    pub(crate) designs: &'static [&'static Design],
    /// A design's exponentiators, in words.
    pub(crate) units: fn(&Design) -> String,
    pub(crate) load: Load,
}

impl DeviceProvider for Decryptors {
    fn system(&self) -> &'static System {
        self.system
    }

    fn state(&self) -> State {
        state(self.system, self.designs, |design| {
            format!("N = {} with {}", design.parameter("N"), (self.units)(design))
        })
    }

    fn decrypts(&self) -> Option<&dyn Decrypts> {
        Some(self)
    }
}

impl Decrypts for Decryptors {
    fn load(&self, key: &PrivateKey, trust: Trust) -> Result<Box<dyn DecryptingDevice>, Error> {
        let bits = key.public().bits();
        let fitting = self.designs.iter().find(|design| design.parameter("N") >= bits);
        let largest = self.designs.last().map_or(0, |design| design.parameter("N"));
        let design = fitting.ok_or(ErrorKind::KeyTooLarge { bits, largest })?;
        (self.load)(Box::new(Simulated::new(design)?), key, trust)
    }
}
