//! The residue bank: long integers to their residues modulo the primes that the device was built for.

use hearith_arith::{Batch, natural};
use hearith_rns::Residues;
use hearith_verilated::Design;

use crate::accelerator::{Accelerator, Shape};
use crate::simulated::designs::RESIDUE_BANKS;
use crate::{Counters, DeviceError, Simulated, Transport};

const NAME: &str = "residue bank";
const IDENTITY: &[u8; 4] = b"RESB";
/// The parameter that shows the selected prime.
const SELECTED: usize = 7;
/// Numbers sent at a time, which bounds the memory of a batch.
const CHUNK: usize = 4096;

/// A residue bank behind a transport.
#[derive(Debug)]
pub struct ResidueBank {
    device: Accelerator,
    parameters: ResidueBankParameters,
    moduli: Vec<u64>,
}

/// What a residue bank was built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResidueBankParameters {
    /// The longest number, in bits.
    pub bits: u32,
    /// How many moduli it has.
    pub moduli: u32,
    /// Bits of a modulus and of a word.
    pub word_bits: u32,
    /// Registers of a unit from end to end.
    pub stages: u32,
    /// The units: 0 the paper's, 1 ours, compact, 2 Roy's, 3 Tan's.
    pub architecture: u32,
    /// Bits of a beat of its streams.
    pub stream_bits: u32,
    /// Clock cycles between two numbers, while neither stream stalls.
    pub interval: u32,
    /// Clock cycles from the last beat of a number to the first beat of its residues.
    pub latency: u32,
}

impl ResidueBank {
    /// The device at the other end of a transport, started.
    ///
    /// # Errors
    /// There is no residue bank, or it does not answer.
    pub fn open(transport: Box<dyn Transport>) -> Result<Self, DeviceError> {
        let mut device = Accelerator::open(transport, NAME, IDENTITY)?;
        let unknown = DeviceError::UnknownParameters { name: NAME };
        let parameters = ResidueBankParameters::read(device.parameters()).ok_or(unknown.clone())?;
        let mut moduli = Vec::new();
        for number in 0..parameters.moduli {
            device.select(number)?;
            moduli.push(device.parameter(SELECTED)?.into());
        }
        let fitting = |&modulus: &u64| natural::bit_length(&[modulus]) == parameters.word_bits;
        if !moduli.iter().all(fitting) {
            return Err(unknown);
        }
        device.start()?;
        Ok(Self { device, parameters, moduli })
    }

    /// The smallest simulated bank that has all these moduli and takes numbers of so many bits.
    ///
    /// # Errors
    /// [`DeviceError::NoResidueBank`], [`DeviceError::NoModel`].
    pub fn simulated(moduli: &[u64], bits: u32) -> Result<Self, DeviceError> {
        let fits = |design: &&&Design| {
            let primes = primes(design);
            longest(design) >= bits && moduli.iter().all(|modulus| primes.contains(modulus))
        };
        let largest = RESIDUE_BANKS.iter().map(|design| longest(design)).max().unwrap_or(0);
        let missing = DeviceError::NoResidueBank { moduli: moduli.len(), bits, largest };
        let design = RESIDUE_BANKS.iter().find(fits).ok_or(missing)?;
        Self::open(Box::new(Simulated::new(design)?))
    }

    /// What the device was built for.
    pub fn parameters(&self) -> ResidueBankParameters {
        self.parameters
    }

    /// The moduli, in the order of the device's units.
    pub fn moduli(&self) -> &[u64] {
        &self.moduli
    }

    /// Where the device is, in words.
    pub fn describe(&self) -> String {
        self.device.describe()
    }

    /// The residues of every number modulo some of the device's moduli, in the order asked for.
    ///
    /// # Errors
    /// [`DeviceError::NotAModulus`], [`DeviceError::NumberTooLong`], [`DeviceError::NotAResidue`], and whatever befalls the
    /// device; then no residues are given out.
    pub fn residues(&mut self, moduli: &[u64], numbers: &Batch) -> Result<Residues, DeviceError> {
        let unit = |&modulus: &u64| {
            let found = self.moduli.iter().position(|&known| known == modulus);
            found.ok_or(DeviceError::NotAModulus { modulus })
        };
        let units = moduli.iter().map(unit).collect::<Result<Vec<_>, _>>()?;
        let bits = self.parameters.bits;
        let too_long = numbers.rows().position(|row| natural::bit_length(row) > bits);
        if let Some(row) = too_long {
            return Err(DeviceError::NumberTooLong { row, bits });
        }
        let mut words = vec![0; moduli.len() * numbers.len()];
        for start in (0..numbers.len()).step_by(CHUNK) {
            let chunk = numbers.range(start..numbers.len().min(start + CHUNK));
            let answers = self.device.process(&chunk, units_limbs(self.parameters.moduli), self.parameters.shape())?;
            for (row, answer) in (start..).zip(answers.rows()) {
                for (index, &unit) in units.iter().enumerate() {
                    let residue = answer[unit / 2] >> (32 * (unit % 2)) & u64::from(u32::MAX);
                    if residue >= moduli[index] {
                        return Err(DeviceError::NotAResidue { row, modulus: moduli[index] });
                    }
                    words[index * numbers.len() + row] = residue;
                }
            }
        }
        Ok(Residues::new(moduli, numbers.len(), words).expect("every residue was compared with its modulus"))
    }

    /// What the device has counted; a product is a residue.
    ///
    /// # Errors
    /// The device does not answer.
    pub fn counters(&mut self) -> Result<Counters, DeviceError> {
        self.device.counters()
    }
}

impl ResidueBankParameters {
    fn read([bits, moduli, kinds, stream_bits, interval, latency, _, _]: [u32; 8]) -> Option<Self> {
        let [word_bits, stages, architecture, _] = kinds.to_le_bytes().map(u32::from);
        let known = (2..=31).contains(&word_bits)
            && bits.is_multiple_of(word_bits)
            && (2 * word_bits..=1 << 16).contains(&bits)
            && (1..=256).contains(&moduli)
            && stages <= 64
            && architecture <= 3
            && (32..=1 << 16).contains(&stream_bits)
            && stream_bits.is_multiple_of(32)
            && (1..1 << 16).contains(&interval)
            && latency < 1 << 16;
        let read = Self { bits, moduli, word_bits, stages, architecture, stream_bits, interval, latency };
        known.then_some(read)
    }

    fn shape(&self) -> Shape {
        let ResidueBankParameters { bits, moduli, stream_bits, interval, latency, .. } = *self;
        // Several times what the way through the bank takes.
        let quiet_cycles = 8 * u64::from(interval + latency) + 1000;
        Shape { stream_bits, input_bits: bits, output_bits: 32 * moduli, quiet_cycles }
    }
}

/// Limbs that hold a residue in every 32 bits.
fn units_limbs(units: u32) -> usize {
    units.div_ceil(2) as usize
}

/// The longest number that a design takes, in bits.
fn longest(design: &Design) -> u32 {
    design.parameter("V") * design.parameter("Words")
}

/// The primes that a design was built for, in the order of its units: 8 hexadecimal digits each, the last first.
fn primes(design: &Design) -> Vec<u64> {
    let value = design.parameters().iter().find(|(name, _)| *name == "Primes").map(|&(_, value)| value);
    let digits = value.and_then(|value| value.split_once("'h")).map_or("", |(_, digits)| digits);
    let starts = (0..digits.len()).step_by(8).rev();
    starts.filter_map(|at| u64::from_str_radix(digits.get(at..at + 8)?, 16).ok()).collect()
}
