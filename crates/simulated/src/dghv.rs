//! The simulated accelerators of encryption over the integers, each with a memory.

use hearith_device::dghv::{DGHV, Dghv, memory_words};
use hearith_device::{
    DeviceProvider, EncryptsIntegers, Error, ErrorKind, IntegerEncryptingDevice, State, System, Trust,
};
use hearith_dghv::PublicKey;
use hearith_verilated::Design;

use crate::Simulated;
use crate::designs::DGHVS;
use crate::state::state;

pub(crate) static PROVIDER: Dghvs = Dghvs;

/// The simulated accelerators.
#[derive(Debug)]
pub(crate) struct Dghvs;

impl DeviceProvider for Dghvs {
    fn system(&self) -> &'static System {
        &DGHV
    }

    fn state(&self) -> State {
        state(&DGHV, &DGHVS, |design| format!("{} words", design.parameter("MemoryWords")))
    }

    fn encrypts_integers(&self) -> Option<&dyn EncryptsIntegers> {
        Some(self)
    }
}

impl EncryptsIntegers for Dghvs {
    fn load_integers(&self, key: &PublicKey, trust: Trust) -> Result<Box<dyn IntegerEncryptingDevice>, Error> {
        let words = memory_words(key.parameters())?;
        let has = |design: &Design| design.parameter("MemoryWords");
        let largest = DGHVS.iter().map(|design| has(design)).max().unwrap_or(0);
        let fitting = DGHVS.iter().find(|design| u64::from(has(design)) >= words);
        let design = fitting.ok_or(ErrorKind::MemoryTooSmall { words, largest })?;
        Ok(Box::new(Dghv::open(Box::new(Simulated::new(design)?))?.with_trust(trust)))
    }
}
