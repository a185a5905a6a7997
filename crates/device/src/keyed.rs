//! A decryptor with a key in it: what MESA and its dual-number form have in common.

use hearith_arith::Batch;
use hearith_paillier::{Ciphertexts, Error, ErrorKind, Plaintexts, PrivateKey, PublicKey};
use zeroize::Zeroizing;

use crate::accelerator::{Accelerator, Shape};
use crate::{Counters, Decryptor, DeviceError, Transport};

/// A secret number, wiped when dropped.
pub type Secret = Zeroizing<Vec<u64>>;

/// A constant of a key: its number in the key memory, its value, its width in bits there.
pub type Constant = (u32, Secret, u32);

/// What one kind of decryptor was built for, and what it wants to know of a key.
pub trait Parameters: Copy + Send {
    /// The kind, in words.
    const NAME: &str;
    /// What the device says that it is.
    const IDENTITY: &[u8; 4];

    /// From the device's eight parameters; `None` if they are not those of this kind.
    fn read(parameters: [u32; 8]) -> Option<Self>;

    /// The largest key, in bits.
    fn bits(&self) -> u32;

    /// Its exponentiators, in words.
    fn units(&self) -> String;

    /// [`Decryptor::batch_size`].
    fn batch_size(&self) -> usize;

    /// Its streams.
    fn shape(&self) -> Shape;

    /// The constants of a key, where the device wants them.
    ///
    /// # Errors
    /// As the arithmetic that makes them.
    fn constants(&self, key: &PrivateKey) -> Result<Vec<Constant>, Error>;
}

/// A decryptor behind a transport. When dropped it wipes the key on the device.
#[derive(Debug)]
pub struct Keyed<P> {
    device: Accelerator,
    parameters: P,
    key: Option<PublicKey>,
}

impl<P: Parameters> Keyed<P> {
    /// The device at the other end of a transport.
    ///
    /// # Errors
    /// There is no such device, or it does not answer.
    pub fn open(transport: Box<dyn Transport>) -> Result<Self, DeviceError> {
        let device = Accelerator::open(transport, P::NAME, P::IDENTITY)?;
        let parameters = P::read(device.parameters()).ok_or(DeviceError::UnknownParameters { name: P::NAME })?;
        Ok(Self { device, parameters, key: None })
    }

    /// What the device was built for.
    pub fn parameters(&self) -> P {
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
        let (bits, largest) = (key.public().bits(), self.parameters.bits());
        if bits > largest {
            return Err(DeviceError::KeyTooLarge { bits, largest });
        }
        let constants = self.parameters.constants(key)?;
        self.device.load_key(constants.iter().map(|(number, limbs, bits)| (*number, &limbs[..], *bits)))?;
        self.key = Some(key.public().clone());
        Ok(())
    }

    /// Decrypts every ciphertext.
    ///
    /// # Errors
    /// As [`PrivateKey::decrypt`], and whatever befalls the device; then no plaintext is given out.
    pub fn decrypt(&mut self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, DeviceError> {
        let key = self.key.as_ref().ok_or(DeviceError::NoKey)?;
        if key.id() != ciphertexts.key_id() {
            let (expected, found) = (key.id(), ciphertexts.key_id());
            return Err(Error::from(ErrorKind::WrongKey { expected, found }).into());
        }
        key.check_coprime(ciphertexts)?;
        let residues = self.device.process(ciphertexts.batch(), key.plaintext_limbs(), self.parameters.shape())?;
        plaintexts(key, &residues)
    }

    /// What the device has counted.
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
}

impl<P: Parameters> Decryptor for Keyed<P> {
    fn decrypt(&mut self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, DeviceError> {
        Self::decrypt(self, ciphertexts)
    }

    fn counters(&mut self) -> Result<Counters, DeviceError> {
        Self::counters(self)
    }

    fn describe(&self) -> String {
        let (bits, units) = (self.parameters.bits(), self.parameters.units());
        format!("{}, N = {bits} with {units}", Self::describe(self))
    }

    fn batch_size(&self) -> usize {
        self.parameters.batch_size()
    }
}

/// The plaintexts that a device gave, each of which must be below `n`.
fn plaintexts(key: &PublicKey, residues: &Batch) -> Result<Plaintexts, DeviceError> {
    let (width, padded) = (key.plaintext_bytes(), 8 * key.plaintext_limbs());
    let bytes = Zeroizing::new(residues.to_be_bytes(padded));
    let mut cut = Zeroizing::new(Vec::with_capacity(residues.len() * width));
    for (row, number) in bytes.chunks_exact(padded).enumerate() {
        let (high, low) = number.split_at(padded - width);
        if high.iter().any(|&byte| byte != 0) {
            return Err(DeviceError::NotAPlaintext { row });
        }
        cut.extend_from_slice(low);
    }
    key.plaintexts_from_be(&cut).map_err(|error| match (error.kind(), error.row()) {
        (ErrorKind::PlaintextTooLarge, Some(row)) => DeviceError::NotAPlaintext { row },
        _ => error.into(),
    })
}
