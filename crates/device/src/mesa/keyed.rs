//! A decryptor with a key in it: what MESA and its dual-number form have in common.

use std::fmt;

use hearith_arith::Batch;
use hearith_arith::natural::{bit_length, limbs_of};
use hearith_paillier::{Ciphertexts, ErrorKind as SchemeErrorKind, Plaintexts, PrivateKey, PublicKey, Variant};
use zeroize::Zeroizing;

use crate::accelerator::{Accelerator, Shape};
use crate::{Counters, Error, ErrorKind, Transport, Trust};

/// A secret number, wiped when dropped.
pub type Secret = Zeroizing<Vec<u64>>;

/// A constant of a key: the number of its region, its value, its width in bits there.
pub type Constant = (u32, Secret, u32);

/// What one kind of decryptor was built for, and what it wants to know of a key.
pub trait Parameters: Copy + fmt::Debug + Send {
    /// The kind, in words.
    const NAME: &str;
    /// What the device says that it is.
    const IDENTITY: [u8; 4];

    /// From the device's eight parameters; `None` if they are not those of this kind.
    fn read(parameters: [u32; 8]) -> Option<Self>;

    /// The largest key, in bits.
    fn bits(&self) -> u32;

    /// Its exponentiators, in words.
    fn units(&self) -> String;

    /// Ciphertexts that a batch should hold for the filling of the pipeline not to matter.
    fn batch_size(&self) -> usize;

    /// Its streams.
    fn shape(&self) -> Shape;

    /// The constants of a key, where the device wants them.
    ///
    /// # Errors
    /// As the arithmetic that makes them.
    fn constants(&self, key: &PrivateKey) -> Result<Vec<Constant>, hearith_paillier::Error>;
}

/// A decryptor behind a transport. When dropped it wipes the key on the device, and what it keeps
/// of the key itself.
#[derive(Debug)]
pub struct Keyed<P> {
    device: Accelerator,
    parameters: P,
    trust: Trust,
    key: Option<Held>,
}

/// What the driver keeps of the key on the device.
#[derive(Debug)]
enum Held {
    /// All of it: answers are checked.
    Private(PrivateKey),
    /// What everybody may know: answers are believed.
    Public(PublicKey),
}

impl Held {
    fn public(&self) -> &PublicKey {
        match self {
            Held::Private(key) => key.public(),
            Held::Public(key) => key,
        }
    }

    /// Fails if the plaintexts are not those of the ciphertexts, as far as that is checked.
    fn check(&self, ciphertexts: &Ciphertexts, plaintexts: &Plaintexts) -> Result<(), Error> {
        let Held::Private(key) = self else { return Ok(()) };
        key.check(ciphertexts, plaintexts).map_err(|error| match error.kind() {
            SchemeErrorKind::WrongDecryption => ErrorKind::FailedCheck.into(),
            _ => error.into(),
        })
    }
}

impl<P: Parameters> Keyed<P> {
    /// Why a row that the device calls foreign has no plaintext: what this CPU says of it, if it
    /// has the key. A device that calls a good row foreign has failed.
    fn refused(held: &Held, ciphertexts: &Ciphertexts, row: usize) -> Error {
        let error = match held {
            Held::Private(key) => match ciphertexts.range(row..row + 1).and_then(|one| key.decrypt(&one)) {
                Ok(_) => return ErrorKind::FailedCheck.into(),
                Err(error) => error.kind().clone(),
            },
            Held::Public(key) if key.variant() == Variant::Subgroup => SchemeErrorKind::ForeignRandomiser,
            Held::Public(_) => SchemeErrorKind::CiphertextSharesFactor,
        };
        error.at_row(row).into()
    }

    /// The device at the other end of a transport.
    ///
    /// # Errors
    /// There is no such device, or it does not answer.
    pub fn open(transport: Box<dyn Transport>) -> Result<Self, Error> {
        let device = Accelerator::open(transport, P::NAME, P::IDENTITY)?;
        let parameters = P::read(device.parameters()).ok_or(ErrorKind::UnknownParameters { name: P::NAME })?;
        Ok(Self { device, parameters, trust: Trust::default(), key: None })
    }

    /// The same device, whose answers are checked or believed from the next key on: checked unless
    /// this says otherwise.
    pub fn with_trust(self, trust: Trust) -> Self {
        Self { trust, ..self }
    }

    /// Whether a key is loaded.
    pub fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// What the device was built for.
    pub fn parameters(&self) -> P {
        self.parameters
    }

    /// Where the device is, in words.
    pub fn describe(&self) -> String {
        self.device.describe()
    }

    /// Loads a key of at most the device's size. Its constants are computed here, in constant time,
    /// and wiped when they are written.
    ///
    /// # Errors
    /// [`ErrorKind::KeyTooLarge`], or the device fails; it then has no key.
    pub fn load_key(&mut self, key: &PrivateKey) -> Result<(), Error> {
        self.key = None;
        let (bits, largest) = (key.public().bits(), self.parameters.bits());
        if bits > largest {
            return Err(ErrorKind::KeyTooLarge { bits, largest }.into());
        }
        let constants = self.parameters.constants(key)?;
        self.device.load_key(constants.iter().map(|(region, limbs, bits)| (*region, &limbs[..], *bits)))?;
        self.key = Some(match self.trust {
            Trust::Checked => Held::Private(key.clone()),
            Trust::Unchecked => Held::Public(key.public().clone()),
        });
        Ok(())
    }

    /// Decrypts every ciphertext. Unless the device is believed, the batch is checked with
    /// [`PrivateKey::check`] before any of it is given out: that takes about as long as decrypting
    /// one row, and a small part of a decryption for each.
    ///
    /// The device is loaded with the exponents that [`PrivateKey::decrypt`] takes. Of each row it
    /// says whether both powers were 1 modulo the primes. A row of which that is not so is an error
    /// of that row, after this CPU has found the same; the device keeps its key.
    ///
    /// # Errors
    /// As [`PrivateKey::decrypt`], and whatever befalls the device; then no plaintext is given out.
    /// After [`ErrorKind::FailedCheck`] and [`ErrorKind::NotAPlaintext`] the device has been wiped
    /// and has no key: what is wrong may be in it. Nor has it one after [`ErrorKind::NotReady`],
    /// [`ErrorKind::WasReset`] and [`ErrorKind::Vanished`].
    pub fn decrypt(&mut self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, Error> {
        let held = self.key.as_ref().ok_or(ErrorKind::NoKey)?;
        let key = held.public();
        if key.id() != ciphertexts.key_id() {
            let (expected, found) = (key.id(), ciphertexts.key_id());
            return Err(hearith_paillier::Error::from(SchemeErrorKind::WrongKey { expected, found }).into());
        }
        key.check_coprime(ciphertexts)?;
        let bits = self.parameters.bits();
        let residues = self.device.process(ciphertexts.batch(), limbs_of(bits), self.parameters.shape());
        let answer = residues.and_then(|residues| {
            if let Some(row) = residues.rows().position(|row| says_foreign(row, bits)) {
                return Err(Self::refused(held, ciphertexts, row));
            }
            let answer = plaintexts(key, &residues)?;
            held.check(ciphertexts, &answer)?;
            Ok(answer)
        });
        answer.inspect_err(|error| match error.kind() {
            ErrorKind::FailedCheck | ErrorKind::NotAPlaintext => {
                // A failure to wipe is no news beside this one; dropping the driver tries again.
                let _ = self.wipe();
            }
            ErrorKind::NotReady | ErrorKind::WasReset | ErrorKind::Vanished => self.key = None,
            _ => {}
        })
    }

    /// What the device has counted.
    ///
    /// # Errors
    /// The device does not answer.
    pub fn counters(&mut self) -> Result<Counters, Error> {
        self.device.counters()
    }

    /// Clears the key memory of the device and drops what is in flight.
    ///
    /// # Errors
    /// The device does not answer.
    pub fn wipe(&mut self) -> Result<(), Error> {
        self.key = None;
        self.device.wipe()
    }
}

/// Whether this is what a device for keys of so many bits gives instead of a plaintext: as many
/// ones.
fn says_foreign(number: &[u64], bits: u32) -> bool {
    let ones: u32 = number.iter().map(|limb| limb.count_ones()).sum();
    (ones, bit_length(number)) == (bits, bits)
}

/// The plaintexts that a device gave, each of which must be below `n`.
fn plaintexts(key: &PublicKey, residues: &Batch) -> Result<Plaintexts, Error> {
    let (width, padded) = (key.plaintext_bytes(), 8 * residues.limbs());
    let bytes = Zeroizing::new(residues.to_be_bytes(padded));
    let mut cut = Zeroizing::new(Vec::with_capacity(residues.len() * width));
    for (row, number) in bytes.chunks_exact(padded).enumerate() {
        let (high, low) = number.split_at(padded - width);
        if high.iter().any(|&byte| byte != 0) {
            return Err(Error::from(ErrorKind::NotAPlaintext).at_row(row));
        }
        cut.extend_from_slice(low);
    }
    key.plaintexts_from_be(&cut).map_err(|error| match (error.kind(), error.row()) {
        (SchemeErrorKind::PlaintextTooLarge, Some(row)) => Error::from(ErrorKind::NotAPlaintext).at_row(row),
        _ => error.into(),
    })
}
