//! A decryptor with a key in it: what MESA and its dual-number form have in common.

use hearith_arith::Batch;
use hearith_paillier::{Ciphertexts, OperationError, Plaintexts, PrivateKey, PublicKey};
use zeroize::Zeroizing;

use crate::accelerator::{Accelerator, Shape};
use crate::{Counters, DeviceError};

/// A secret number, wiped when dropped.
pub(crate) type Secret = Zeroizing<Vec<u64>>;

/// A constant of a key: its number in the key memory, its value, its width in bits there.
pub(crate) type Constant = (u32, Secret, u32);

/// A decryptor behind the common register map.
#[derive(Debug)]
pub(crate) struct Keyed {
    device: Accelerator,
    key: Option<PublicKey>,
}

impl Keyed {
    pub(crate) fn new(device: Accelerator) -> Self {
        Self { device, key: None }
    }

    pub(crate) fn describe(&self) -> String {
        self.device.describe()
    }

    /// Loads a key of at most `largest` bits, given by constants that are made only if it fits.
    pub(crate) fn load_key(
        &mut self,
        key: &PrivateKey,
        largest: u32,
        constants: impl FnOnce() -> Result<Vec<Constant>, OperationError>,
    ) -> Result<(), DeviceError> {
        self.key = None;
        let bits = key.public().bits();
        if bits > largest {
            return Err(DeviceError::KeyTooLarge { bits, largest });
        }
        let constants = constants()?;
        self.device.load_key(constants.iter().map(|(number, limbs, bits)| (*number, &limbs[..], *bits)))?;
        self.key = Some(key.public().clone());
        Ok(())
    }

    pub(crate) fn decrypt(&mut self, ciphertexts: &Ciphertexts, shape: Shape) -> Result<Plaintexts, DeviceError> {
        let key = self.key.as_ref().ok_or(DeviceError::NoKey)?;
        if key.id() != ciphertexts.key_id() {
            let (expected, found) = (key.id(), ciphertexts.key_id());
            return Err(OperationError::WrongKey { expected, found }.into());
        }
        key.check_coprime(ciphertexts).map_err(OperationError::from)?;
        let residues = self.device.process(ciphertexts.batch(), key.plaintext_limbs(), shape)?;
        plaintexts(key, &residues)
    }

    pub(crate) fn counters(&mut self) -> Result<Counters, DeviceError> {
        self.device.counters()
    }

    pub(crate) fn wipe(&mut self) -> Result<(), DeviceError> {
        self.key = None;
        self.device.wipe()
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
    key.plaintexts_from_be(&cut).map_err(|error| match error {
        OperationError::PlaintextTooLarge { row } => DeviceError::NotAPlaintext { row },
        other => other.into(),
    })
}
