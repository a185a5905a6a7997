//! The simulated co-processors.

use hearith_device::coproc::{COPROC, CrtCoproc, LoadedCoproc};
use hearith_device::{
    Computes, ComputingDevice, DecryptingDevice, Decrypts, DeviceProvider, Error, ErrorKind, State, System, Transport,
    Trust,
};
use hearith_paillier::{PrivateKey, PublicKey};
use hearith_verilated::Design;

use crate::Simulated;
use crate::designs::COPROCS;
use crate::state::state;

pub(crate) static PROVIDER: Coprocs = Coprocs;

/// The simulated co-processors.
#[derive(Debug)]
pub(crate) struct Coprocs;

impl DeviceProvider for Coprocs {
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
    /// The design for moduli of exactly `bits` bits, if there is one.
    fn design(bits: u32) -> Option<&'static Design> {
        COPROCS.into_iter().find(|design| design.parameter("N") == bits)
    }

    /// A simulated device for keys of exactly `bits` bits.
    fn device(bits: u32) -> Result<Box<Simulated>, Error> {
        // Size for the error: the next larger, or else the largest.
        let sizes = || COPROCS.iter().map(|design| design.parameter("N"));
        let takes = sizes().filter(|&size| size > bits).min().or(sizes().max()).unwrap_or(0);
        let design = Self::design(bits).ok_or(ErrorKind::KeySize { bits, takes })?;
        Ok(Box::new(Simulated::new(design)?))
    }
}

impl Decrypts for Coprocs {
    fn load(&self, key: &PrivateKey, trust: Trust) -> Result<Box<dyn DecryptingDevice>, Error> {
        let bits = key.public().bits();
        // Two devices of half the length are faster than one of the full length.
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
