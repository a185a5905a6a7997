//! The accelerator of encryption over the integers of `rtl/dghv`: sums of multiples of a compressed key's elements, which the device makes again from the
//! key's seed and adds up in a memory of its own. Reductions, corrections and noise are the CPU's.

mod command;

use hearith_arith::Batch;
use hearith_arith::natural::Secret;
use hearith_dghv::{Ciphertext, PublicKey, SEED_BYTES, SumRequest};
use zeroize::Zeroizing;

use crate::accelerator::{Accelerator, Shape};
use crate::registers::dghv::{
    IDENTITY, PARAMETER_COUNT_BITS, PARAMETER_INTERVAL, PARAMETER_LIMBS, PARAMETER_MEMORY_WORDS, PARAMETER_ROUNDS,
    PARAMETER_STREAM_BITS, PARAMETER_TIMEOUT, SEED,
};
use crate::{Counters, Device, Error, ErrorKind, IntegerEncryptingDevice, System, Transport, Trust};

pub use command::MemoryFault;
use command::{ANSWER_WORDS, COMMAND_WORDS, Command, DATA_WORDS};

/// The system.
pub static DGHV: System = System { name: "dghv", does: "adds up multiples of the elements of keys over the integers" };

const NAME: &str = "dghv accelerator";
/// Commands in a packet at most, which bounds the memory of a batch.
const TOGETHER: usize = 1024;
/// Cycles of a command beside its words and the memory's silence.
const SLACK: u64 = 10_000;

/// The accelerator behind a transport.
#[derive(Debug)]
pub struct Dghv {
    device: Accelerator,
    parameters: DghvParameters,
    /// The seed that the device has.
    loaded: Option<[u8; SEED_BYTES]>,
    trust: Trust,
}

/// What an accelerator was built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DghvParameters {
    /// Limbs of a coefficient.
    pub limbs: u32,
    /// Circuits for a round of AES.
    pub rounds: u32,
    /// Words of 64 bits in its memory.
    pub memory_words: u32,
    /// Bits of a beat of its streams.
    pub stream_bits: u32,
    /// Bits of a number's length in words.
    pub count_bits: u32,
    /// Clock cycles between two words of an element.
    pub interval: u32,
    /// Clock cycles after which it calls its memory silent.
    pub timeout: u32,
}

impl DghvParameters {
    fn read(parameters: [u32; 8]) -> Option<Self> {
        let read = Self {
            limbs: parameters[PARAMETER_LIMBS],
            rounds: parameters[PARAMETER_ROUNDS],
            memory_words: parameters[PARAMETER_MEMORY_WORDS],
            stream_bits: parameters[PARAMETER_STREAM_BITS],
            count_bits: parameters[PARAMETER_COUNT_BITS],
            interval: parameters[PARAMETER_INTERVAL],
            timeout: parameters[PARAMETER_TIMEOUT],
        };
        let known = (8..=64).contains(&read.limbs)
            && read.limbs.is_multiple_of(8)
            && (8..=26).contains(&read.count_bits)
            && (1..=10).contains(&read.interval)
            && read.timeout > 1;
        known.then_some(read)
    }

    /// The longest element, in words: with room for a coefficient's words behind it.
    fn longest(&self) -> u32 {
        (self.memory_words.min((1 << self.count_bits) - 1) / DATA_WORDS as u32 * DATA_WORDS as u32)
            .saturating_sub(self.limbs)
    }
}

impl Dghv {
    /// The device at the other end of a transport.
    ///
    /// # Errors
    /// There is no such accelerator, or it does not answer.
    pub fn open(transport: Box<dyn Transport>) -> Result<Self, Error> {
        let device = Accelerator::open(transport, NAME, IDENTITY)?;
        let parameters =
            DghvParameters::read(device.parameters()).ok_or(ErrorKind::UnknownParameters { name: NAME })?;
        Ok(Self { device, parameters, loaded: None, trust: Trust::Check })
    }

    /// The same device, checked or believed: checked unless this says otherwise.
    pub fn with_trust(self, trust: Trust) -> Self {
        Self { trust, ..self }
    }

    /// What the device was built for.
    pub fn parameters(&self) -> DghvParameters {
        self.parameters
    }

    /// Loads a key's seed.
    ///
    /// # Errors
    /// Whatever befalls the device, which is then wiped.
    pub fn load(&mut self, seed: &[u8; SEED_BYTES]) -> Result<(), Error> {
        self.loaded = None;
        let seed_limbs: [u64; 2] =
            std::array::from_fn(|limb| seed[8 * limb..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes)));
        self.device.load_key([(SEED.number, &seed_limbs[..], (SEED.bits)(0, 0, 0))])?;
        self.loaded = Some(*seed);
        Ok(())
    }

    /// The sums that are asked for, checked modulo a random prime. Nothing of them stays in the device or in its memory.
    ///
    /// # Errors
    /// [`ErrorKind::ElementTooLong`], [`ErrorKind::CoefficientTooLong`], [`ErrorKind::MemoryFailed`], [`ErrorKind::FailedCheck`],
    /// and whatever befalls the device; then no sums are given out.
    pub fn sums(&mut self, request: &SumRequest<'_>) -> Result<Vec<Secret>, Error> {
        let words = self.fits(request)?;
        if self.loaded != Some(*request.seed()) {
            self.load(request.seed())?;
        }
        let sums: Result<Vec<_>, Error> = (0..request.sums()).map(|sum| self.sum(request, sum, words)).collect();
        let sums = sums.inspect_err(|_| self.forget())?;
        self.device.flush()?;
        let right = self.trust == Trust::Believe || request.check(&sums)?;
        if right { Ok(sums) } else { Err(ErrorKind::FailedCheck.into()) }
    }

    /// Words of an element, if sums of multiples of such fit into the device.
    fn fits(&self, request: &SumRequest<'_>) -> Result<u32, Error> {
        let words = request.element_bits().div_ceil(64);
        if words > self.parameters.longest() {
            let largest = 64 * self.parameters.longest();
            return Err(ErrorKind::ElementTooLong { bits: request.element_bits(), largest }.into());
        }
        // The sum is longer than an element by a coefficient and by the bits of the number of terms.
        let bits = request.coefficient_bits() + usize::BITS - request.terms().leading_zeros();
        let largest = 64 * self.parameters.limbs;
        if bits > largest {
            return Err(ErrorKind::CoefficientTooLong { bits: request.coefficient_bits(), largest }.into());
        }
        Ok(words)
    }

    /// One sum: a command or more for each term, then its words are read, and zeros written in their place.
    fn sum(&mut self, request: &SumRequest<'_>, sum: usize, words: u32) -> Result<Secret, Error> {
        let groups = request.coefficient_bits().div_ceil(64 * DATA_WORDS as u32) as usize;
        let terms = (0..request.terms()).flat_map(|term| {
            let coefficient = request.coefficient(sum, term);
            // All groups before the first term: a longer coefficient may be there from before.
            let groups = if term == 0 { self.parameters.limbs as usize / DATA_WORDS } else { groups };
            let parts = (0..groups).map(move |group| {
                let data = coefficient.get(DATA_WORDS * group..).unwrap_or(&[]);
                Command::Coefficient { group: group as u8, data: &data[..data.len().min(DATA_WORDS)] }
            });
            let index = (request.first() + term) as u32;
            parts.chain([Command::Sum { address: 0, fresh: term == 0, bits: request.element_bits(), index }])
        });
        let commands: Vec<Command<'_>> = terms.collect();
        for part in commands.chunks(TOGETHER) {
            self.carry_out(part, words)?;
        }
        let length = words + self.parameters.limbs;
        let places: Vec<u32> = (0..length).step_by(DATA_WORDS).collect();
        let mut number = Zeroizing::new(Vec::with_capacity(DATA_WORDS * places.len()));
        for part in places.chunks(TOGETHER) {
            let reads: Vec<_> = part.iter().map(|&address| Command::Read { address }).collect();
            let answers = self.carry_out(&reads, words)?;
            answers.rows().for_each(|row| number.extend_from_slice(&row[1..]));
        }
        self.clear(length)?;
        let (kept, beyond) = number.split_at((length as usize).min(request.limbs()));
        // What lies behind the sum in its last row of words is nobody's.
        if beyond.iter().take(length as usize - kept.len()).any(|&word| word != 0) {
            return Err(ErrorKind::FailedCheck.into());
        }
        let mut sum = Zeroizing::new(vec![0; request.limbs()]);
        sum[..kept.len()].copy_from_slice(kept);
        Ok(sum)
    }

    /// Writes zeros over so many words of the memory, and over the coefficient.
    fn clear(&mut self, length: u32) -> Result<(), Error> {
        let groups = (0..self.parameters.limbs / DATA_WORDS as u32)
            .map(|group| Command::Coefficient { group: group as u8, data: &[] });
        let places = (0..length).step_by(DATA_WORDS).map(|address| Command::Write { address, data: &[] });
        let commands: Vec<_> = groups.chain(places).collect();
        commands.chunks(TOGETHER).try_for_each(|part| self.carry_out(part, 0).map(drop))
    }

    /// After a failure: whatever the memory still does, nothing secret stays where it can be reached. The device may have lost its seed.
    fn forget(&mut self) {
        self.loaded = None;
        let longest = self.parameters.longest() + self.parameters.limbs;
        let _ = self.device.restart();
        let _ = self.clear(longest.min(self.parameters.memory_words));
    }

    /// Carries out commands about elements of so many words, and gives their answers.
    fn carry_out(&mut self, commands: &[Command<'_>], words: u32) -> Result<Batch, Error> {
        let mut batch = Batch::zeros(commands.len(), COMMAND_WORDS);
        batch.rows_mut().zip(commands).for_each(|(row, command)| command.write(row));
        let DghvParameters { stream_bits, interval, timeout, limbs, .. } = self.parameters;
        let shape = Shape {
            stream_bits,
            input_bits: 64 * COMMAND_WORDS as u32,
            output_bits: 64 * ANSWER_WORDS as u32,
            quiet_cycles: 16 * u64::from(interval) * u64::from(words + limbs) + 4 * u64::from(timeout) + SLACK,
        };
        let answers = self.device.process(&batch, ANSWER_WORDS, shape)?;
        for (command, answer) in commands.iter().zip(answers.rows()) {
            command.check(answer[0]).inspect_err(|_| _ = self.device.flush())?;
        }
        Ok(answers)
    }
}

impl Device for Dghv {
    fn describe(&self) -> String {
        self.device.describe()
    }

    fn counters(&mut self) -> Result<Counters, Error> {
        self.device.counters()
    }

    fn batch_size(&self) -> usize {
        1
    }
}

impl IntegerEncryptingDevice for Dghv {
    fn encrypt(&mut self, key: &PublicKey, bits: &[bool]) -> Result<Vec<Ciphertext>, Error> {
        key.encrypt_with(bits, &mut |request| self.sums(request))
    }
}
