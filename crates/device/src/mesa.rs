//! MESA, the pipelined Paillier decryptor.

mod constants;

use hearith_paillier::{Ciphertexts, Plaintexts, PrivateKey, PublicKey};

use crate::accelerator::{Accelerator, Shape};
use crate::engine::plaintexts;
use crate::{Counters, DeviceError, Transport};
use constants::{Branch, Constants};

const NAME: &str = "MESA";
const IDENTITY: &[u8; 4] = b"MESA";

/// A MESA behind a transport. When dropped it wipes the key on the device.
#[derive(Debug)]
pub struct Mesa {
    device: Accelerator,
    parameters: MesaParameters,
    key: Option<PublicKey>,
}

/// What a MESA was built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MesaParameters {
    /// The largest key, in bits.
    pub bits: u32,
    /// Exponentiation stages of each of the two branches.
    pub stages: u32,
    /// Bits of a digit of its Montgomery multipliers.
    pub digit_bits: u32,
    /// Delay of the quotient in digits.
    pub delay: u32,
    /// Whether it divides from the low end, or by restoring division.
    pub exact_division: bool,
    /// Bits of a beat of its streams.
    pub stream_bits: u32,
    /// The `R` of its digit multipliers is `2^r_bits`.
    pub r_bits: u32,
    /// Bits that its radix-2 multipliers scan.
    pub scanned_bits: u32,
    /// Clock cycles between two plaintexts, once the pipeline is full.
    pub interval: u32,
}

impl Mesa {
    /// The device at the other end of a transport.
    ///
    /// # Errors
    /// There is no MESA, or it does not answer.
    pub fn open(transport: Box<dyn Transport>) -> Result<Self, DeviceError> {
        let device = Accelerator::open(transport, NAME, IDENTITY)?;
        let parameters = MesaParameters::read(device.parameters());
        let parameters = parameters.ok_or(DeviceError::UnknownParameters { name: NAME })?;
        Ok(Self { device, parameters, key: None })
    }

    /// What the device was built for.
    pub fn parameters(&self) -> MesaParameters {
        self.parameters
    }

    /// Where the device is, in words.
    pub fn describe(&self) -> String {
        self.device.describe()
    }

    /// Loads a key of at most the device's size. Its constants are computed here, in constant time, and wiped when they are written.
    ///
    /// # Errors
    /// [`DeviceError::KeyTooLarge`], or the device fails; it then has no key.
    pub fn load_key(&mut self, key: &PrivateKey) -> Result<(), DeviceError> {
        self.key = None;
        let (bits, largest) = (key.public().bits(), self.parameters.bits);
        if bits > largest {
            return Err(DeviceError::KeyTooLarge { bits, largest });
        }
        let constants = Constants::new(key, &self.parameters)?;
        self.device.load_key(self.layout(&constants))?;
        self.key = Some(key.public().clone());
        Ok(())
    }

    /// Decrypts every ciphertext.
    ///
    /// # Errors
    /// As [`PrivateKey::decrypt`], and whatever befalls the device; then no plaintext is given out.
    pub fn decrypt(&mut self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, DeviceError> {
        let key = self.key.as_ref().ok_or(DeviceError::NoKey)?;
        key.check_coprime(ciphertexts).map_err(hearith_paillier::OperationError::from)?;
        let limbs = key.plaintext_limbs();
        let residues = self.device.process(ciphertexts.batch(), limbs, self.parameters.shape())?;
        plaintexts(key, &residues)
    }

    /// What the device has counted; a product is a pair of products in one ladder.
    ///
    /// # Errors
    /// The device does not answer.
    pub fn counters(&mut self) -> Result<Counters, DeviceError> {
        self.device.counters()
    }

    /// Clears the key memory of the device and drops what is in flight.
    ///
    /// # Errors
    /// The device does not answer.
    pub fn wipe(&mut self) -> Result<(), DeviceError> {
        self.key = None;
        self.device.wipe()
    }

    /// The constants by their numbers in the key memory, with their widths.
    fn layout<'a>(&self, constants: &'a Constants) -> Vec<(u32, &'a [u64], u32)> {
        let MesaParameters { bits, digit_bits, .. } = self.parameters;
        let branch = |first: u32, branch: &'a Branch| {
            [
                (first, &branch.mt[..], bits.next_multiple_of(digit_bits)),
                (first + 1, &branch.square, bits),
                (first + 2, &branch.enter, bits),
                (first + 3, &branch.one, bits),
                (first + 4, &branch.exponent, bits / 2),
                (first + 5, &branch.prime, bits / 2),
                (first + 6, &branch.merged, bits),
            ]
        };
        let [p, q] = &constants.branches;
        [&branch(0, p)[..], &[(7, &constants.n, bits)], &branch(8, q)].concat()
    }
}

impl MesaParameters {
    fn read([bits, stages, kinds, stream_bits, r_bits, scanned_bits, interval, _]: [u32; 8]) -> Option<Self> {
        let [digit_bits, delay, exact, _] = kinds.to_le_bytes().map(u32::from);
        let known = (64..=8192).contains(&bits)
            && bits.is_multiple_of(4)
            && (1..=64).contains(&stages)
            && (4..=32).contains(&digit_bits)
            && digit_bits * (delay + 1) <= 64
            && (8..=bits / 2).contains(&stream_bits)
            && stream_bits.is_multiple_of(8)
            && (bits + 2..=bits + 512).contains(&r_bits)
            && scanned_bits >= 2 * bits + 2
            && scanned_bits <= 2 * bits + 512;
        let exact_division = exact != 0;
        let read =
            Self { bits, stages, digit_bits, delay, exact_division, stream_bits, r_bits, scanned_bits, interval };
        known.then_some(read)
    }

    /// Generous: several times what the way through the pipeline takes.
    fn quiet_cycles(&self) -> u64 {
        let (bits, stages, interval) = (u64::from(self.bits), u64::from(self.stages), u64::from(self.interval));
        4 * (stages + 2) * interval + 40 * bits + 10_000
    }

    fn shape(&self) -> Shape {
        let MesaParameters { bits, stream_bits, .. } = *self;
        Shape { stream_bits, input_bits: 2 * bits, output_bits: bits, quiet_cycles: self.quiet_cycles() }
    }
}
