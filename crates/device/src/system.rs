//! Systems with a driver in this crate, and the capabilities of the available devices, each a
//! trait.
//!
//! A front end lets its users name a system and asks that system's [`DeviceProvider`] whether it
//! has the required capability. It never matches on individual systems. To add a system, write a
//! module with its driver, add a line to [`SYSTEMS`], and implement [`DeviceProvider`] wherever
//! there are such devices.

use std::fmt;

use hearith_arith::Batch;
#[cfg(feature = "dghv")]
use hearith_dghv::Ciphertext;
use hearith_paillier::{DecryptionBackend, PrivateKey, PublicKey, PublicKeyBackend};
use hearith_rns::Residues;

use crate::ballot::{CountsBallots, MakesBallots};
use crate::{Counters, Error, Trust, ballot, coproc, mesa, residue_bank};

/// A system that this crate has a driver for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct System {
    /// The name by which users choose it.
    pub name: &'static str,
    /// What the system does, in words: "decrypts".
    pub does: &'static str,
}

/// All systems with a driver, whether or not such devices are available.
pub static SYSTEMS: &[&System] = &[
    &mesa::MESA,
    &mesa::MESA_DUAL,
    &residue_bank::RESIDUE_BANK,
    &coproc::COPROC,
    #[cfg(feature = "dghv")]
    &crate::dghv::DGHV,
    &ballot::BALLOT_MACHINE,
];

/// The devices of one system that can be used in one way: simulated, or on a board.
pub trait DeviceProvider: fmt::Debug + Sync {
    /// The system.
    fn system(&self) -> &'static System;

    /// Whether such devices are available now, and which.
    fn state(&self) -> State;

    /// The subset of devices named by the text after the colon of a name such as `cuda:1`. `None`
    /// if the devices have no such names.
    fn part(&self, _which: &str) -> Option<&'static dyn DeviceProvider> {
        None
    }

    /// The devices for sufficiently large batches, with the CPU for all others. `None` if users
    /// must name these devices explicitly.
    fn automatic(&self) -> Option<&'static dyn DeviceProvider> {
        None
    }

    /// The capability of decrypting.
    fn decrypts(&self) -> Option<&dyn Decrypts> {
        None
    }

    /// The capability of converting integers to residues.
    fn converts(&self) -> Option<&dyn Converts> {
        None
    }

    /// The capability of computing with a public key.
    fn computes(&self) -> Option<&dyn Computes> {
        None
    }

    /// The capability of encrypting over the integers.
    #[cfg(feature = "dghv")]
    fn encrypts_integers(&self) -> Option<&dyn EncryptsIntegers> {
        None
    }

    /// The capability of encrypting votes into ballots.
    fn makes_ballots(&self) -> Option<&dyn MakesBallots> {
        None
    }

    /// The capability of counting ballots.
    fn counts_ballots(&self) -> Option<&dyn CountsBallots> {
        None
    }
}

/// Whether devices of a system are available, and which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Whether at least one device can be used.
    pub available: bool,
    /// The available devices with their parameters. If there are none: empty, or the reason.
    pub description: String,
    /// The requirements for such devices, in words.
    pub requires: &'static str,
}

/// The capability of decrypting with a key loaded into a device.
pub trait Decrypts {
    /// Loads the key into the smallest device that it fits. Dropping the device wipes the key.
    ///
    /// # Errors
    /// [`ErrorKind::KeyTooLarge`](crate::ErrorKind::KeyTooLarge), or the device cannot be reached
    /// or fails.
    fn load(&self, key: &PrivateKey, trust: Trust) -> Result<Box<dyn DecryptingDevice>, Error>;
}

/// The capability of converting integers to residues.
pub trait Converts {
    /// Opens the smallest device that has all these moduli and accepts numbers of `bits` bits.
    ///
    /// # Errors
    /// [`ErrorKind::NoResidueBank`](crate::ErrorKind::NoResidueBank), or the device cannot be
    /// reached or fails.
    fn open(&self, moduli: &[u64], bits: u32, trust: Trust) -> Result<Box<dyn ConvertingDevice>, Error>;
}

/// The capability of computing with a public key: encryption and all operations on ciphertexts.
pub trait Computes {
    /// Loads the key into a device that accepts keys of this size.
    ///
    /// # Errors
    /// [`ErrorKind::KeySize`](crate::ErrorKind::KeySize), or the device cannot be reached or fails.
    fn load_public(&self, key: &PublicKey, trust: Trust) -> Result<Box<dyn ComputingDevice>, Error>;

    /// Loads the key on behalf of its owner: the device may use the primes to encrypt faster.
    ///
    /// # Errors
    /// As [`Computes::load_public`].
    fn load_owner(&self, key: &PrivateKey, trust: Trust) -> Result<Box<dyn ComputingDevice>, Error> {
        self.load_public(key.public(), trust)
    }
}

/// The capability of encrypting over the integers.
#[cfg(feature = "dghv")]
pub trait EncryptsIntegers {
    /// Loads the key into the smallest device that it fits.
    ///
    /// # Errors
    /// [`ErrorKind::MemoryTooSmall`](crate::ErrorKind::MemoryTooSmall),
    /// [`ErrorKind::CoefficientTooLong`](crate::ErrorKind::CoefficientTooLong), or the device
    /// cannot be reached or fails.
    fn load_integers(
        &self,
        key: &hearith_dghv::PublicKey,
        trust: Trust,
    ) -> Result<Box<dyn IntegerEncryptingDevice>, Error>;
}

/// A device that is ready for batches.
pub trait Device {
    /// The type and location of the device, in words.
    fn describe(&self) -> String;

    /// The device's counters.
    ///
    /// # Errors
    /// The device does not answer.
    fn counters(&mut self) -> Result<Counters, Error>;

    /// Batch size from which the time to fill the device's pipeline is negligible.
    fn batch_size(&self) -> usize;

    /// A note for a report: the device, its location and its work, in words. `rows` names the rows
    /// that it processed: "ciphertexts".
    ///
    /// # Errors
    /// As [`Device::counters`].
    fn note(&mut self, rows: &str) -> Result<String, Error> {
        let counters = self.counters()?;
        let (cycles, delivered) = (counters.busy_cycles, counters.delivered);
        Ok(format!("{}: {cycles} cycles for {delivered} {rows}", self.describe()))
    }
}

/// A device with a key loaded. It reports failures as
/// [`DecryptError::Device`](hearith_paillier::DecryptError::Device), which holds an [`Error`].
pub trait DecryptingDevice: Device + DecryptionBackend + Send {}

/// A device that converts integers to residues.
pub trait ConvertingDevice: Device + Send {
    /// Returns the residues of every number modulo each of `moduli`, in this order. The device must
    /// have these moduli.
    ///
    /// # Errors
    /// [`ErrorKind::NotAModulus`](crate::ErrorKind::NotAModulus),
    /// [`ErrorKind::NumberTooLong`](crate::ErrorKind::NumberTooLong),
    /// [`ErrorKind::NotAResidue`](crate::ErrorKind::NotAResidue),
    /// [`ErrorKind::FailedCheck`](crate::ErrorKind::FailedCheck), or any failure of the device. No
    /// residues are returned then.
    fn residues(&mut self, moduli: &[u64], numbers: &Batch) -> Result<Residues, Error>;
}

/// A device that computes with a public key, through [`PublicKeyBackend`].
///
/// Except for randomness, results equal those of the key itself. It reports failures as
/// [`ComputeError::Service`](hearith_paillier::ComputeError::Service), which holds an [`Error`].
pub trait ComputingDevice: Device + PublicKeyBackend {}

/// A device that encrypts over the integers. Except for randomness, results equal those of the key
/// itself.
#[cfg(feature = "dghv")]
pub trait IntegerEncryptingDevice: Device {
    /// Encrypts bits.
    ///
    /// # Errors
    /// [`ErrorKind::MemoryFailed`](crate::ErrorKind::MemoryFailed),
    /// [`ErrorKind::FailedCheck`](crate::ErrorKind::FailedCheck), or any failure of the device. No
    /// ciphertexts are returned then.
    fn encrypt(&mut self, key: &hearith_dghv::PublicKey, bits: &[bool]) -> Result<Vec<Ciphertext>, Error>;
}
