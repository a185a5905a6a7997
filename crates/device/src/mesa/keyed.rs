//! A decryptor with a key loaded: the common part of MESA and its dual-number form.

use std::fmt;

use hearith_arith::Batch;
use hearith_arith::natural::{bit_length, limbs_of};
use hearith_paillier::{Ciphertexts, ErrorKind as SchemeErrorKind, Plaintexts, PrivateKey, PublicKey, Variant};
use zeroize::Zeroizing;

use crate::accelerator::{Accelerator, Shape};
use crate::{Counters, Error, ErrorKind, Transport, Trust};

/// A secret number, wiped when dropped.
pub type Secret = Zeroizing<Vec<u64>>;

/// A constant of a key: its region number, its value, and its width in bits there.
pub type Constant = (u32, Secret, u32);

/// The parameters of one type of decryptor, and the constants that it derives from a key.
pub trait Parameters: Copy + fmt::Debug + Send {
    /// The type's name, in words.
    const NAME: &str;
    /// The device's identity.
    const IDENTITY: [u8; 4];

    /// Parses the device's eight parameters. `None` if they do not fit this type.
    fn read(parameters: [u32; 8]) -> Option<Self>;

    /// Bits of the largest key.
    fn bits(&self) -> u32;

    /// The device's exponentiators, in words.
    fn units(&self) -> String;

    /// Number of ciphertexts from which the time to fill the pipeline is negligible.
    fn batch_size(&self) -> usize;

    /// The shape of its streams.
    fn shape(&self) -> Shape;

    /// The constants of a key, by region.
    ///
    /// # Errors
    /// Those of the arithmetic that computes them.
    fn constants(&self, key: &PrivateKey) -> Result<Vec<Constant>, hearith_paillier::Error>;
}

/// A decryptor behind a transport. Dropping it wipes the key on the device and the driver's copy of
/// the key.
#[derive(Debug)]
pub struct Keyed<P> {
    device: Accelerator,
    parameters: P,
    trust: Trust,
    key: Option<LoadedKey>,
}

/// The driver's copy of the key on the device.
#[derive(Debug)]
enum LoadedKey {
    /// The private key: answers are checked.
    Private(PrivateKey),
    /// The public key only: answers are not checked.
    Public(PublicKey),
}

impl LoadedKey {
    fn public(&self) -> &PublicKey {
        match self {
            LoadedKey::Private(key) => key.public(),
            LoadedKey::Public(key) => key,
        }
    }

    /// Fails if the plaintexts do not match the ciphertexts. Checks only with the private key.
    fn check(&self, ciphertexts: &Ciphertexts, plaintexts: &Plaintexts) -> Result<(), Error> {
        let LoadedKey::Private(key) = self else { return Ok(()) };
        key.check(ciphertexts, plaintexts).map_err(|error| match error.kind() {
            SchemeErrorKind::WrongDecryption => ErrorKind::FailedCheck.into(),
            _ => error.into(),
        })
    }
}

impl<P: Parameters> Keyed<P> {
    /// The reason why a row that the device reports as foreign has no plaintext. With the private
    /// key, this CPU determines it, and a device that reports a good row as foreign has failed.
    fn refused(loaded_key: &LoadedKey, ciphertexts: &Ciphertexts, row: usize) -> Error {
        let error = match loaded_key {
            LoadedKey::Private(key) => match ciphertexts.range(row..row + 1).and_then(|one| key.decrypt(&one)) {
                Ok(_) => return ErrorKind::FailedCheck.into(),
                Err(error) => error.kind().clone(),
            },
            LoadedKey::Public(key) if key.variant() == Variant::Subgroup => SchemeErrorKind::ForeignRandomiser,
            LoadedKey::Public(_) => SchemeErrorKind::CiphertextSharesFactor,
        };
        error.at_row(row).into()
    }

    /// Opens the device at the other end of a transport.
    ///
    /// # Errors
    /// There is no such device, or it does not answer.
    pub fn open(transport: Box<dyn Transport>) -> Result<Self, Error> {
        let device = Accelerator::open(transport, P::NAME, P::IDENTITY)?;
        let parameters = P::read(device.parameters()).ok_or(ErrorKind::UnknownParameters { name: P::NAME })?;
        Ok(Self { device, parameters, trust: Trust::default(), key: None })
    }

    /// Sets whether answers are checked, from the next key on. They are by default.
    pub fn with_trust(self, trust: Trust) -> Self {
        Self { trust, ..self }
    }

    /// Whether a key is loaded.
    pub fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// The parameters that the device was built with.
    pub fn parameters(&self) -> P {
        self.parameters
    }

    /// The location of the device, in words.
    pub fn describe(&self) -> String {
        self.device.describe()
    }

    /// Loads a key of at most the device's size. This CPU computes its constants in constant time
    /// and wipes them after writing them.
    ///
    /// # Errors
    /// [`ErrorKind::KeyTooLarge`], or a failure of the device, which then has no key.
    pub fn load_key(&mut self, key: &PrivateKey) -> Result<(), Error> {
        self.key = None;
        let (bits, largest) = (key.public().bits(), self.parameters.bits());
        if bits > largest {
            return Err(ErrorKind::KeyTooLarge { bits, largest }.into());
        }
        let constants = self.parameters.constants(key)?;
        self.device.load_key(constants.iter().map(|(region, limbs, bits)| (*region, &limbs[..], *bits)))?;
        self.key = Some(match self.trust {
            Trust::Checked => LoadedKey::Private(key.clone()),
            Trust::Unchecked => LoadedKey::Public(key.public().clone()),
        });
        Ok(())
    }

    /// Decrypts every ciphertext.
    ///
    /// Unless checks are off, [`PrivateKey::check`] checks the batch before any plaintext is
    /// returned. The check takes about as long as the decryption of one row, and a small part of a
    /// decryption per row.
    ///
    /// The device is loaded with the exponents that [`PrivateKey::decrypt`] uses. For each row it
    /// reports whether both powers were 1 modulo the primes. If not, this CPU confirms it, and the
    /// row is reported as an error. The device keeps its key.
    ///
    /// # Errors
    /// Those of [`PrivateKey::decrypt`], or any failure of the device. No plaintext is returned
    /// then. After [`ErrorKind::FailedCheck`] and [`ErrorKind::NotAPlaintext`] the device has been
    /// wiped and has no key, because the fault may be in it. After [`ErrorKind::NotReady`],
    /// [`ErrorKind::WasReset`] and [`ErrorKind::Vanished`] it has no key either.
    pub fn decrypt(&mut self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, Error> {
        let loaded_key = self.key.as_ref().ok_or(ErrorKind::NoKey)?;
        let key = loaded_key.public();
        if key.id() != ciphertexts.key_id() {
            let (expected, found) = (key.id(), ciphertexts.key_id());
            return Err(hearith_paillier::Error::from(SchemeErrorKind::WrongKey { expected, found }).into());
        }
        key.check_coprime(ciphertexts)?;
        let bits = self.parameters.bits();
        let residues = self.device.process(ciphertexts.batch(), limbs_of(bits), self.parameters.shape());
        let answer = residues.and_then(|residues| {
            if let Some(row) = residues.rows().position(|row| says_foreign(row, bits)) {
                return Err(Self::refused(loaded_key, ciphertexts, row));
            }
            let answer = plaintexts(key, &residues)?;
            loaded_key.check(ciphertexts, &answer)?;
            Ok(answer)
        });
        answer.inspect_err(|error| match error.kind() {
            ErrorKind::FailedCheck | ErrorKind::NotAPlaintext => {
                // A failure to wipe adds nothing to this error, and dropping the driver wipes
                // again.
                let _ = self.wipe();
            }
            ErrorKind::NotReady | ErrorKind::WasReset | ErrorKind::Vanished => self.key = None,
            _ => {}
        })
    }

    /// The device's counters.
    ///
    /// # Errors
    /// The device does not answer.
    pub fn counters(&mut self) -> Result<Counters, Error> {
        self.device.counters()
    }

    /// Clears the key memory of the device and drops everything in flight.
    ///
    /// # Errors
    /// The device does not answer.
    pub fn wipe(&mut self) -> Result<(), Error> {
        self.key = None;
        self.device.wipe()
    }
}

/// Whether a device for keys of `bits` bits reports a foreign row: instead of a plaintext it
/// returns `bits` ones.
fn says_foreign(number: &[u64], bits: u32) -> bool {
    let ones: u32 = number.iter().map(|limb| limb.count_ones()).sum();
    (ones, bit_length(number)) == (bits, bits)
}

/// The plaintexts of a device's answer, each of which must be below `n`.
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
