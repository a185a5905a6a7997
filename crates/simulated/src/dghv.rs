//! The simulated accelerators of encryption over the integers, each with a memory.

use hearith_device::dghv::{DGHV, Dghv};
use hearith_device::{EncryptsIntegers, Error, ErrorKind, IntegerEncryptingDevice, Kind, State, System, Trust};
use hearith_dghv::PublicKey;
use hearith_verilated::Design;

use crate::Simulated;
use crate::designs::DGHVS;
use crate::state::state;

pub(crate) static KIND: Dghvs = Dghvs;

/// The simulated accelerators.
#[derive(Debug)]
pub(crate) struct Dghvs;

impl Kind for Dghvs {
    fn system(&self) -> &'static System {
        &DGHV
    }

    fn state(&self) -> State {
        state(&DGHV, &DGHVS, |design| format!("{} bits by {}", longest(design), 64 * design.parameter("Limbs")))
    }

    fn encrypts_integers(&self) -> Option<&dyn EncryptsIntegers> {
        Some(self)
    }
}

impl EncryptsIntegers for Dghvs {
    fn load_integers(&self, key: &PublicKey, trust: Trust) -> Result<Box<dyn IntegerEncryptingDevice>, Error> {
        let lengths = key.parameters().lengths();
        let coefficient = lengths.coefficient + lengths.elements.ilog2() + 1;
        let takes = |design: &Design| 64 * design.parameter("Limbs");
        let mut long = DGHVS.iter().filter(|design| longest(design) >= lengths.modulus).peekable();
        let largest = DGHVS.iter().map(|design| longest(design)).max().unwrap_or(0);
        long.peek().ok_or(ErrorKind::ElementTooLong { bits: lengths.modulus, largest })?;
        let largest = DGHVS.iter().map(|design| takes(design)).max().unwrap_or(0);
        let missing = ErrorKind::CoefficientTooLong { bits: lengths.coefficient, largest };
        let design = long.find(|design| takes(design) >= coefficient).ok_or(missing)?;
        Ok(Box::new(Dghv::open(Box::new(Simulated::new(design)?))?.with_trust(trust)))
    }
}

/// The longest element that a design takes, in bits.
fn longest(design: &Design) -> u32 {
    64 * design.parameter("MemoryWords").saturating_sub(design.parameter("Limbs"))
}
