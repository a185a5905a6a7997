//! The accelerator of `rtl/dghv` for encryption over the integers.
//!
//! It carries out whole CMNT and CNT encryptions in its own memory and regenerates a key's elements
//! from the seed. The CPU supplies the randomness.

mod command;
mod layout;

use hearith_arith::Batch;
use hearith_arith::natural::Secret;
use hearith_dghv::{Ciphertext, EncryptionRequest, KeyId, Parameters, PublicKey, Reduced, Scheme};
use zeroize::Zeroizing;

use crate::accelerator::{Accelerator, Shape};
use crate::registers::dghv::{
    IDENTITY, PARAMETER_BLOCK, PARAMETER_LONG_WORDS, PARAMETER_MEMORY_WORDS, PARAMETER_POINTS, PARAMETER_ROUNDS,
    PARAMETER_STREAM_BITS, PARAMETER_TIMEOUT, SEED,
};
use crate::{Counters, Device, Error, ErrorKind, IntegerEncryptingDevice, System, Transport, Trust};

use command::{ANSWER_WORDS, COMMAND_WORDS, Command, DATA_WORDS, Encryption};
pub use command::{MemoryFault, Unfit};
use layout::{Layout, Operand};

/// The system.
pub static DGHV: System = System { name: "dghv", does: "encrypts with keys over the integers" };

const NAME: &str = "dghv accelerator";
/// The most commands of a packet, which bounds the memory of a batch.
const COMMANDS_PER_PACKET: usize = 1024;
/// Cycles allowed for a command in addition to its words and the memory's timeout.
const TIMEOUT_MARGIN_CYCLES: u64 = 20_000;
/// Allowed slowdown of a computation compared with a memory that answers at once.
const MAX_SLOWDOWN: u64 = 16;

/// The accelerator behind a transport.
#[derive(Debug)]
pub struct Dghv {
    device: Accelerator,
    parameters: DghvParameters,
    /// The loaded key and its memory layout.
    loaded: Option<(KeyId, Layout)>,
    trust: Trust,
}

/// The parameters that an accelerator was built with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DghvParameters {
    /// Words of 64 bits of a block.
    pub block: u32,
    /// Clock cycles of a product of blocks.
    pub points: u32,
    /// Words of 64 bits in its memory.
    pub memory_words: u32,
    /// Bits of a beat of its streams.
    pub stream_bits: u32,
    /// Circuits that compute a round of AES.
    pub rounds: u32,
    /// Clock cycles without an answer after which it reports its memory as silent.
    pub timeout: u32,
    /// Least number of words of both factors for which transforms compute a reduction's product. 0:
    /// the device has no transforms.
    pub long_words: u32,
}

impl DghvParameters {
    fn read(parameters: [u32; 8]) -> Option<Self> {
        let read = Self {
            block: parameters[PARAMETER_BLOCK],
            points: parameters[PARAMETER_POINTS],
            memory_words: parameters[PARAMETER_MEMORY_WORDS],
            stream_bits: parameters[PARAMETER_STREAM_BITS],
            rounds: parameters[PARAMETER_ROUNDS],
            timeout: parameters[PARAMETER_TIMEOUT],
            long_words: parameters[PARAMETER_LONG_WORDS],
        };
        let known = (2..=1 << 16).contains(&read.block)
            && (2..=1 << 20).contains(&read.points)
            && (1..=10).contains(&read.rounds)
            && read.timeout > 1;
        known.then_some(read)
    }
}

/// Words of memory that a device without transforms needs for keys of these parameters.
///
/// # Errors
/// [`ErrorKind::CoefficientTooLong`]: coefficients are as long as an eighth of the modulus.
pub fn memory_words(parameters: &Parameters) -> Result<u64, Error> {
    Ok(Layout::new(parameters, 0)?.1)
}

impl Dghv {
    /// Opens the device at the other end of a transport.
    ///
    /// # Errors
    /// There is no such accelerator, or it does not answer.
    pub fn open(transport: Box<dyn Transport>) -> Result<Self, Error> {
        let device = Accelerator::open(transport, NAME, IDENTITY)?;
        let parameters =
            DghvParameters::read(device.parameters()).ok_or(ErrorKind::UnknownParameters { name: NAME })?;
        Ok(Self { device, parameters, loaded: None, trust: Trust::Checked })
    }

    /// Sets whether results are checked. They are by default.
    pub fn with_trust(self, trust: Trust) -> Self {
        Self { trust, ..self }
    }

    /// The parameters that the device was built with.
    pub fn parameters(&self) -> DghvParameters {
        self.parameters
    }

    /// Loads a key: its seed into the device, its modulus and corrections into the memory. All
    /// memory that the key uses is zeroed first.
    ///
    /// # Errors
    /// [`ErrorKind::MemoryTooSmall`], [`ErrorKind::CoefficientTooLong`], or any failure of the
    /// device, which then has no key.
    pub fn load(&mut self, key: &PublicKey) -> Result<(), Error> {
        self.loaded = None;
        let (layout, words) = Layout::new(key.parameters(), self.parameters.long_words)?;
        if words > self.parameters.memory_words.into() {
            return Err(ErrorKind::MemoryTooSmall { words, largest: self.parameters.memory_words }.into());
        }
        let limb = |at: usize| key.seed()[8 * at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let seed: [u64; 2] = std::array::from_fn(limb);
        self.device.load_key([(SEED.number, &seed[..], (SEED.bits)(0, 0, 0))])?;
        let reciprocal = key.reciprocal(layout.power as usize)?;
        self.wipe(layout.whole())?;
        let parts = [
            (layout.modulus, key.modulus()),
            (layout.reciprocal.at, &reciprocal),
            (layout.corrections.at, key.corrections()),
        ];
        for (at, number) in parts {
            self.write(at, number)?;
        }
        self.loaded = Some((key.id(), layout));
        Ok(())
    }

    /// Returns the numbers of the requested encryptions, checked modulo a random prime. No secret
    /// stays in the device or its memory.
    ///
    /// # Errors
    /// [`ErrorKind::MemoryTooSmall`], [`ErrorKind::CoefficientTooLong`],
    /// [`ErrorKind::MemoryFailed`], [`ErrorKind::EncryptionRefused`], [`ErrorKind::FailedCheck`],
    /// or any failure of the device. No numbers are returned then.
    pub fn encryptions(&mut self, request: &EncryptionRequest<'_>) -> Result<Vec<Secret>, Error> {
        let layout = match &self.loaded {
            Some((id, layout)) if *id == request.key().id() => layout.clone(),
            _ => {
                self.load(request.key())?;
                Layout::new(request.key().parameters(), self.parameters.long_words)?.0
            }
        };
        let answers: Result<Vec<Reduced>, Error> =
            (0..request.messages()).map(|message| self.encryption(request, message, &layout)).collect();
        let answers = answers.inspect_err(|_| self.forget(&layout))?;
        self.device.flush()?;
        if self.trust == Trust::Checked && !request.check(&answers)? {
            // The key in the memory may be damaged.
            self.forget(&layout);
            return Err(ErrorKind::FailedCheck.into());
        }
        Ok(answers.into_iter().map(|answer| answer.value).collect())
    }

    /// Computes one encryption: writes coefficients and noise, computes and reads the number, and
    /// overwrites all of it with zeros.
    fn encryption(
        &mut self,
        request: &EncryptionRequest<'_>,
        message: usize,
        layout: &Layout,
    ) -> Result<Reduced, Error> {
        let parameters = request.key().parameters();
        let lengths = parameters.lengths();
        let encryption = Encryption {
            quadratic: parameters.scheme() == Scheme::Cmnt,
            coefficients: layout.coefficients,
            corrections: layout.corrections,
            result: layout.result.at,
            modulus: layout.modulus,
            reciprocal: layout.reciprocal.at,
            bits: lengths.modulus,
            excess: parameters.encryption_excess(),
            elements: lengths.elements,
            noise: layout.noise,
            scratch: layout.scratch,
        };
        // Rows of words up to the end of the noise. Gaps between numbers stay zero.
        let until = layout.noise.at + 2 * layout.noise.words - layout.coefficients.at;
        let mut secrets = Zeroizing::new(vec![0; until as usize]);
        secrets.iter_mut().zip(request.coefficients(message)).for_each(|(to, limb)| *to = limb);
        let noise = (layout.noise.at - layout.coefficients.at) as usize;
        let (of_noise, of_shift) = secrets[noise..].split_at_mut(layout.noise.words as usize);
        of_noise.copy_from_slice(request.noise(message));
        of_shift.copy_from_slice(&request.shift());
        self.write(layout.coefficients.at, &secrets)?;
        let (products, words) = layout.work(parameters, self.parameters.block);
        // A block of rows from the seed takes as long as its AES circuits or its products,
        // whichever is longer.
        let seed = 8 * 10 / u64::from(self.parameters.rounds) * u64::from(self.parameters.block);
        let cycles = products * (u64::from(self.parameters.points) + seed) + words;
        self.carry_out(&[Command::Encrypt(&encryption)], cycles)?;
        let number = self.read(layout.result)?;
        self.wipe(layout.secrets())?;
        let (value, quotient) = number.split_at(layout.limbs as usize);
        Ok(Reduced { value: Zeroizing::new(value.to_vec()), quotient: Zeroizing::new(quotient.to_vec()) })
    }

    /// Writes words from an address at the start of a row of words.
    fn write(&mut self, at: u32, words: &[u64]) -> Result<(), Error> {
        let addresses = (at..).step_by(DATA_WORDS);
        let commands: Vec<_> =
            addresses.zip(words.chunks(DATA_WORDS)).map(|(address, data)| Command::Write { address, data }).collect();
        commands.chunks(COMMANDS_PER_PACKET).try_for_each(|part| self.carry_out(part, 0).map(drop))
    }

    /// Reads a number.
    fn read(&mut self, number: Operand) -> Result<Secret, Error> {
        let addresses: Vec<u32> = (number.at..number.at + number.words).step_by(DATA_WORDS).collect();
        let mut words = Zeroizing::new(Vec::with_capacity(DATA_WORDS * addresses.len()));
        for part in addresses.chunks(COMMANDS_PER_PACKET) {
            let reads: Vec<_> = part.iter().map(|&address| Command::Read { address }).collect();
            let answers = self.carry_out(&reads, 0)?;
            answers.rows().for_each(|row| words.extend_from_slice(&row[1..]));
        }
        // The rest of the last row of words does not belong to the number.
        words.truncate(number.words as usize);
        Ok(words)
    }

    /// Overwrites a range of the memory with zeros.
    fn wipe(&mut self, words: Operand) -> Result<(), Error> {
        self.carry_out(&[Command::Wipe(words)], 4 * u64::from(words.words)).map(drop)
    }

    /// Erases all secrets after a failure, as far as the memory still works. The device may have
    /// lost its key.
    fn forget(&mut self, layout: &Layout) {
        self.loaded = None;
        // The device accepts commands only with a seed, and has none after a reset.
        let _ = self.device.load_key([(SEED.number, &[0; 2][..], (SEED.bits)(0, 0, 0))]);
        let _ = self.wipe(layout.whole());
    }

    /// Carries out commands of at least `cycles` cycles each and returns their answers.
    fn carry_out(&mut self, commands: &[Command<'_>], cycles: u64) -> Result<Batch, Error> {
        let mut batch = Batch::zeros(commands.len(), COMMAND_WORDS);
        batch.rows_mut().zip(commands).for_each(|(row, command)| command.write(row));
        let DghvParameters { stream_bits, timeout, long_words, .. } = self.parameters;
        // Added after every computation.
        let tiles = if long_words > 0 { layout::TILE_CYCLES } else { 0 };
        let shape = Shape {
            stream_bits,
            input_bits: 64 * COMMAND_WORDS as u32,
            output_bits: 64 * ANSWER_WORDS as u32,
            quiet_cycles: MAX_SLOWDOWN * cycles + 4 * u64::from(timeout) + TIMEOUT_MARGIN_CYCLES + tiles,
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
        key.encrypt_with(bits, &mut |request| self.encryptions(request))
    }
}
