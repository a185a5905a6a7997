//! The simulated residue banks.

use hearith_device::residue_bank::{RESIDUE_BANK, ResidueBank};
use hearith_device::{ConvertingDevice, Converts, DeviceProvider, Error, ErrorKind, State, System, Trust};
use hearith_verilated::Design;

use crate::Simulated;
use crate::designs::RESIDUE_BANKS;
use crate::state::state;

pub(crate) static PROVIDER: Banks = Banks;

/// The simulated residue banks.
#[derive(Debug)]
pub(crate) struct Banks;

impl DeviceProvider for Banks {
    fn system(&self) -> &'static System {
        &RESIDUE_BANK
    }

    fn state(&self) -> State {
        state(&RESIDUE_BANK, &RESIDUE_BANKS, |design| {
            format!("{} bits to {} moduli", longest(design), design.parameter("Count"))
        })
    }

    fn converts(&self) -> Option<&dyn Converts> {
        Some(self)
    }
}

impl Converts for Banks {
    fn open(&self, moduli: &[u64], bits: u32, trust: Trust) -> Result<Box<dyn ConvertingDevice>, Error> {
        let fits = |design: &&&Design| {
            let primes = primes(design);
            longest(design) >= bits && moduli.iter().all(|modulus| primes.contains(modulus))
        };
        let largest = RESIDUE_BANKS.iter().map(|design| longest(design)).max().unwrap_or(0);
        let missing = ErrorKind::NoResidueBank { moduli: moduli.len(), bits, largest };
        let design = RESIDUE_BANKS.iter().find(fits).ok_or(missing)?;
        Ok(Box::new(ResidueBank::open(Box::new(Simulated::new(design)?))?.with_trust(trust)))
    }
}

/// Bits of the longest number that a design accepts.
fn longest(design: &Design) -> u32 {
    design.parameter("V") * design.parameter("Words")
}

/// The primes that a design was built for, in the order of its units: 16 hexadecimal digits each,
/// the last first.
fn primes(design: &Design) -> Vec<u64> {
    let value = design.parameters().iter().find(|(name, _)| *name == "Primes").map(|&(_, value)| value);
    let digits = value.and_then(|value| value.split_once("'h")).map_or("", |(_, digits)| digits);
    let starts = (0..digits.len()).step_by(16).rev();
    starts.filter_map(|at| u64::from_str_radix(digits.get(at..at + 16)?, 16).ok()).collect()
}
