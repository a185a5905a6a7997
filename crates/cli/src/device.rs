//! Decrypting on a device.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use hearith_columns::{Decrypt, DecryptError};
use hearith_device::{Decryptor, DeviceEngine, DeviceError};
use hearith_paillier::{Ciphertexts, Plaintexts, PrivateKey, PublicKey};

use crate::failure::Failure;

/// A device that was loaded with the key.
pub(crate) struct DeviceDecryptor {
    engine: DeviceEngine,
    device: Mutex<Box<dyn Decryptor>>,
    public: PublicKey,
}

impl DeviceDecryptor {
    /// Loads the key into the device that suits it.
    pub(crate) fn open(engine: DeviceEngine, key: &PrivateKey) -> Result<Self, Failure> {
        let device = engine.open(key).map_err(|error| failed(engine, &error))?;
        Ok(Self { engine, device: Mutex::new(device), public: key.public().clone() })
    }

    /// Rows at a time that keep the device's pipeline filled.
    pub(crate) fn batch_size(&self) -> usize {
        self.device.lock().unwrap_or_else(PoisonError::into_inner).batch_size()
    }

    /// What the device is and how many of its clock cycles it took.
    pub(crate) fn note(self) -> Result<String, Failure> {
        let mut device = self.device.into_inner().unwrap_or_else(PoisonError::into_inner);
        let counters = device.counters().map_err(|error| failed(self.engine, &error))?;
        let (cycles, ciphertexts) = (counters.busy_cycles, counters.delivered);
        Ok(format!("{}: {cycles} cycles for {ciphertexts} ciphertexts", device.describe()))
    }
}

impl Decrypt for DeviceDecryptor {
    fn public(&self) -> &PublicKey {
        &self.public
    }

    fn decrypt(&self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, DecryptError> {
        let mut device = self.device.lock().unwrap_or_else(PoisonError::into_inner);
        device.decrypt(ciphertexts).map_err(|error| match error {
            DeviceError::Operation(error) => DecryptError::Ciphertexts(error),
            other => DecryptError::Device(format!("engine {}: {other}", self.engine.name()).into()),
        })
    }
}

impl fmt::Debug for DeviceDecryptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceDecryptor").field("engine", &self.engine).finish_non_exhaustive()
    }
}

/// The failure of a device, which the engine's name stands before.
pub(crate) fn failed(engine: DeviceEngine, error: &DeviceError) -> Failure {
    Failure::new(format!("engine {}: {error}", engine.name()))
}
