//! The simulated co-processors.

use hearith_device::coproc::{COPROC, CrtCoproc, LoadedCoproc};
use hearith_device::{
    Computes, ComputingDevice, DecryptingDevice, Decrypts, Error, ErrorKind, Kind, State, System, Transport, Trust,
};
use hearith_paillier::{PrivateKey, PublicKey};
use hearith_verilated::Design;

use crate::Simulated;
use crate::designs::COPROCS;
use crate::state::state;

pub(crate) static KIND: Coprocs = Coprocs;

/// The simulated co-processors.
#[derive(Debug)]
pub(crate) struct Coprocs;

impl Kind for Coprocs {
    fn system(&self) -> &'static System {
        &COPROC
    }

    fn state(&self) -> State {
        state(&COPROC, &COPROCS, |design| {
            format!("N = {} with {} cores", design.parameter("N"), design.parameter("Cores"))
        })
    }

    fn decrypts(&self) -> Option<&dyn Decrypts> {
        Some(self)
    }

    fn computes(&self) -> Option<&dyn Computes> {
        Some(self)
    }
}

impl Coprocs {
    /// The device for moduli of so many bits, if there is one.
    fn design(bits: u32) -> Option<&'static Design> {
        COPROCS.into_iter().find(|design| design.parameter("N") == bits)
    }

    /// The device for keys of so many bits.
    fn device(bits: u32) -> Result<Box<Simulated>, Error> {
        // What there is that comes next: the smallest that is not smaller, or the largest.
        let sizes = || COPROCS.iter().map(|design| design.parameter("N"));
        let takes = sizes().filter(|&size| size > bits).min().or(sizes().max()).unwrap_or(0);
        let design = Self::design(bits).ok_or(ErrorKind::KeySize { bits, takes })?;
        Ok(Box::new(Simulated::new(design)?))
    }
}

impl Decrypts for Coprocs {
    fn load(&self, key: &PrivateKey, trust: Trust) -> Result<Box<dyn DecryptingDevice>, Error> {
        let bits = key.public().bits();
        // Two of half the length are faster than one of the whole.
        if let Some(half) = Self::design(bits / 2) {
            let devices: [Box<dyn Transport>; 2] = [Box::new(Simulated::new(half)?), Box::new(Simulated::new(half)?)];
            return Ok(Box::new(CrtCoproc::new(devices, key, trust)?));
        }
        Ok(Box::new(LoadedCoproc::with_private(Self::device(bits)?, key, trust)?))
    }
}

impl Computes for Coprocs {
    fn load_public(&self, key: &PublicKey, trust: Trust) -> Result<Box<dyn ComputingDevice>, Error> {
        Ok(Box::new(LoadedCoproc::with_public(Self::device(key.bits())?, key, trust)?))
    }
}
