//! Simulated decryptors of one system, in several sizes.

use hearith_device::{DecryptingDevice, Decrypts, Error, ErrorKind, Kind, State, System, Transport, Trust};
use hearith_paillier::PrivateKey;
use hearith_verilated::Design;

use crate::Simulated;
use crate::state::state;

/// Loads a device with a key.
type Load = fn(Box<dyn Transport>, &PrivateKey, Trust) -> Result<Box<dyn DecryptingDevice>, Error>;

/// A system's designs, and how one of them is loaded with a key.
#[derive(Debug)]
pub(crate) struct Decryptors {
    pub(crate) system: &'static System,
    /// Smallest first; `N` is the size of the largest key.
    pub(crate) designs: &'static [&'static Design],
    /// A design's exponentiators, in words.
    pub(crate) units: fn(&Design) -> String,
    pub(crate) load: Load,
}

impl Kind for Decryptors {
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
