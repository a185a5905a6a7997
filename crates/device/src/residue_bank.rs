//! The residue bank, which converts long integers to residues modulo the primes that the device was
//! built for.

mod check;

use std::mem;

use hearith_arith::natural::bits_at;
use hearith_arith::{Batch, natural};
use hearith_rns::Residues;
use zeroize::Zeroizing;

use crate::accelerator::{Accelerator, Shape};
use crate::registers::residue_bank::IDENTITY;
use crate::{ConvertingDevice, Counters, Device, Error, ErrorKind, System, Transport, Trust};
use check::Checker;

/// The system.
pub static RESIDUE_BANK: System = System { name: "residue-bank", does: "converts integers to residues" };

const NAME: &str = "residue bank";
/// Numbers sent at a time, a limit on the memory of a batch.
const CHUNK: usize = 4096;
/// Batch size from which the bank's latency is negligible.
const BATCH: usize = 1024;

/// A residue bank behind a transport.
#[derive(Debug)]
pub struct ResidueBank {
    device: Accelerator,
    parameters: ResidueBankParameters,
    moduli: Vec<u64>,
    /// Whether the bank accepts numbers: nothing has failed since its start.
    started: bool,
    /// `None` if results are not checked.
    checker: Option<Checker>,
}

/// The parameters that a residue bank was built with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResidueBankParameters {
    /// Bits of the longest number.
    pub bits: u32,
    /// Number of moduli.
    pub moduli: u32,
    /// Bits of a modulus and of a word.
    pub word_bits: u32,
    /// Pipeline registers of a unit.
    pub stages: u32,
    /// Architecture of the units: 0 the paper's, 1 ours, compact, 2 Roy's, 3 Tan's.
    pub architecture: u32,
    /// Bits of a beat of its streams.
    pub stream_bits: u32,
    /// Clock cycles between two numbers, while neither stream stalls.
    pub interval: u32,
    /// Clock cycles from the last beat of a number to the first beat of its residues.
    pub latency: u32,
}

impl ResidueBank {
    /// Opens and starts the device at the other end of a transport.
    ///
    /// # Errors
    /// There is no residue bank, or it does not answer.
    pub fn open(transport: Box<dyn Transport>) -> Result<Self, Error> {
        let mut device = Accelerator::open(transport, NAME, IDENTITY)?;
        let unknown = ErrorKind::UnknownParameters { name: NAME };
        let parameters = ResidueBankParameters::read(device.parameters()).ok_or_else(|| unknown.clone())?;
        let mut moduli = Vec::new();
        let words = parameters.residue_bits() / 32;
        for number in 0..parameters.moduli {
            let mut modulus = 0;
            for word in 0..words {
                modulus |= u64::from(device.entry(words * number + word)?) << (32 * word);
            }
            moduli.push(modulus);
        }
        let fitting = |&modulus: &u64| natural::bit_length(&[modulus]) == parameters.word_bits;
        if !moduli.iter().all(fitting) {
            return Err(unknown.into());
        }
        let checker = Some(Checker::new(&moduli, parameters.word_bits).map_err(|_| unknown)?);
        device.start()?;
        Ok(Self { device, parameters, moduli, started: true, checker })
    }

    /// Sets whether results are checked. They are by default.
    pub fn with_trust(self, trust: Trust) -> Self {
        let checker = self.checker.filter(|_| trust == Trust::Checked);
        Self { checker, ..self }
    }

    /// The parameters that the device was built with.
    pub fn parameters(&self) -> ResidueBankParameters {
        self.parameters
    }

    /// The moduli, in the order of the device's units.
    pub fn moduli(&self) -> &[u64] {
        &self.moduli
    }

    /// The location of the device, in words.
    pub fn describe(&self) -> String {
        self.device.describe()
    }

    /// Returns the residues of every number modulo each of `moduli`, in this order.
    ///
    /// The device must have these moduli. Results are checked by random linear combinations: a
    /// wrong batch passes with a probability of at most `2^-64`.
    ///
    /// # Errors
    /// [`ErrorKind::NotAModulus`], [`ErrorKind::NumberTooLong`], [`ErrorKind::NotAResidue`],
    /// [`ErrorKind::FailedCheck`], or any failure of the device. No residues are returned then, and
    /// the next batch restarts the device.
    pub fn residues(&mut self, moduli: &[u64], numbers: &Batch) -> Result<Residues, Error> {
        let unit = |&modulus: &u64| {
            let found = self.moduli.iter().position(|&known| known == modulus);
            found.ok_or(ErrorKind::NotAModulus { modulus })
        };
        let units = moduli.iter().map(unit).collect::<Result<Vec<_>, _>>()?;
        let bits = self.parameters.bits;
        let too_long = numbers.rows().position(|row| natural::has_bits_from(row, bits));
        if let Some(row) = too_long {
            return Err(Error::from(ErrorKind::NumberTooLong { bits }).at_row(row));
        }
        if !mem::take(&mut self.started) {
            self.device.restart()?;
        }
        let words = self.converted(moduli, &units, numbers)?;
        self.started = true;
        Ok(Residues::new(moduli, numbers.len(), words).expect("every residue was compared with its modulus"))
    }

    /// The residues modulo `moduli`, the moduli of `units`: all residues of one modulus, then those
    /// of the next.
    fn converted(&mut self, moduli: &[u64], units: &[usize], numbers: &Batch) -> Result<Vec<u64>, Error> {
        // The numbers may be secret: residues that are not returned are wiped.
        let mut words = Zeroizing::new(vec![0; moduli.len() * numbers.len()]);
        let slot = self.parameters.residue_bits();
        let limbs = (slot * self.parameters.moduli).div_ceil(64) as usize;
        for start in (0..numbers.len()).step_by(CHUNK) {
            let chunk = numbers.range(start..numbers.len().min(start + CHUNK));
            let answers = self.device.process(&chunk, limbs, self.parameters.shape())?;
            for (row, answer) in (start..).zip(answers.rows()) {
                for (index, &unit) in units.iter().enumerate() {
                    let residue = bits_at(answer, unit * slot as usize, slot);
                    if residue >= moduli[index] {
                        let error = ErrorKind::NotAResidue { modulus: moduli[index] };
                        return Err(Error::from(error).at_row(row));
                    }
                    words[index * numbers.len() + row] = residue;
                }
            }
            if let Some(checker) = &self.checker {
                let rows = start..start + chunk.len();
                let columns: Vec<&[u64]> =
                    words.chunks_exact(numbers.len()).map(|column| &column[rows.clone()]).collect();
                checker.check(&chunk, units, &columns)?;
            }
        }
        Ok(mem::take(&mut *words))
    }

    /// The device's counters. A product is a residue.
    ///
    /// # Errors
    /// The device does not answer.
    pub fn counters(&mut self) -> Result<Counters, Error> {
        self.device.counters()
    }
}

impl Device for ResidueBank {
    fn describe(&self) -> String {
        Self::describe(self)
    }

    fn counters(&mut self) -> Result<Counters, Error> {
        Self::counters(self)
    }

    fn batch_size(&self) -> usize {
        BATCH
    }
}

impl ConvertingDevice for ResidueBank {
    fn residues(&mut self, moduli: &[u64], numbers: &Batch) -> Result<Residues, Error> {
        Self::residues(self, moduli, numbers)
    }
}

impl ResidueBankParameters {
    fn read([bits, moduli, kinds, stream_bits, interval, latency, _, _]: [u32; 8]) -> Option<Self> {
        let [word_bits, stages, architecture, _] = kinds.to_le_bytes().map(u32::from);
        let known = (2..=62).contains(&word_bits)
            && bits.is_multiple_of(word_bits)
            && (2 * word_bits..=1 << 16).contains(&bits)
            && (1..=if word_bits > 31 { 128 } else { 256 }).contains(&moduli)
            && stages <= 64
            && architecture <= 3
            && (32..=1 << 16).contains(&stream_bits)
            && stream_bits.is_multiple_of(32)
            && (1..1 << 16).contains(&interval)
            && latency < 1 << 16;
        let read = Self { bits, moduli, word_bits, stages, architecture, stream_bits, interval, latency };
        known.then_some(read)
    }

    /// Bits of a residue in an answer, and of a modulus in the device's table.
    fn residue_bits(&self) -> u32 {
        if self.word_bits > 31 { 64 } else { 32 }
    }

    fn shape(&self) -> Shape {
        let ResidueBankParameters { bits, moduli, stream_bits, interval, latency, .. } = *self;
        // Several times the latency of the bank.
        let quiet_cycles = 8 * u64::from(interval + latency) + 1000;
        Shape { stream_bits, input_bits: bits, output_bits: self.residue_bits() * moduli, quiet_cycles }
    }
}
