//! The simulated co-processors.

use hearith_device::coproc::{COPROC, LoadedCoproc};
use hearith_device::{
    Computes, ComputingDevice, DecryptingDevice, Decrypts, Error, ErrorKind, Kind, State, System, Trust,
};
use hearith_paillier::{PrivateKey, PublicKey};

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
    /// The device for keys of so many bits.
    fn device(bits: u32) -> Result<Box<Simulated>, Error> {
        let fitting = COPROCS.iter().find(|design| design.parameter("N") == bits);
        // What there is that comes next: the smallest that is not smaller, or the largest.
        let sizes = || COPROCS.iter().map(|design| design.parameter("N"));
        let takes = sizes().filter(|&size| size > bits).min().or(sizes().max()).unwrap_or(0);
        let design = fitting.ok_or(ErrorKind::KeySize { bits, takes })?;
        Ok(Box::new(Simulated::new(design)?))
    }
}

impl Decrypts for Coprocs {
    fn load(&self, key: &PrivateKey, trust: Trust) -> Result<Box<dyn DecryptingDevice>, Error> {
        Ok(Box::new(LoadedCoproc::with_private(Self::device(key.public().bits())?, key, trust)?))
    }
}

impl Computes for Coprocs {
    fn load_public(&self, key: &PublicKey, trust: Trust) -> Result<Box<dyn ComputingDevice>, Error> {
        Ok(Box::new(LoadedCoproc::with_public(Self::device(key.bits())?, key, trust)?))
    }
}
