//! Systems that can be driven, and what is asked of those at hand: capabilities, each a trait.
//!
//! A front end lets its users name a system and asks the [`Kind`] that stands for it whether it has
//! the capability that is needed. It never matches on kinds. A new system is a module with its
//! driver and a line in [`SYSTEMS`]; wherever there are such devices, a [`Kind`].

use std::fmt;

use hearith_arith::Batch;
#[cfg(feature = "dghv")]
use hearith_dghv::Ciphertext;
use hearith_paillier::{Compute, Decrypt, PrivateKey, PublicKey};
use hearith_rns::Residues;

use crate::ballot::{CountsBallots, MakesBallots};
use crate::{Counters, Error, Trust, ballot, coproc, mesa, residue_bank};

/// A system that this crate has a driver for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct System {
    /// The name by which users choose it.
    pub name: &'static str,
    /// What it does, in words: "decrypts".
    pub does: &'static str,
}

/// All of them, whether or not there are such devices.
pub static SYSTEMS: &[&System] = &[
    &mesa::MESA,
    &mesa::MESA_DUAL,
    &residue_bank::RESIDUE_BANK,
    &coproc::COPROC,
    #[cfg(feature = "dghv")]
    &crate::dghv::DGHV,
    &ballot::BALLOT_MACHINE,
];

/// The devices of a system that are to be had in one way: simulated, or on a board.
pub trait Kind: fmt::Debug + Sync {
    /// The system.
    fn system(&self) -> &'static System;

    /// Whether there are such devices now, and which.
    fn state(&self) -> State;

    /// Some of the devices, by what stands behind the colon of a name such as `cuda:1`; none if
    /// they have no such names.
    fn part(&self, _which: &str) -> Option<&'static dyn Kind> {
        None
    }

    /// The devices for the batches that are large enough, with the CPU for all others; none if they
    /// are to be named.
    fn automatic(&self) -> Option<&'static dyn Kind> {
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

    /// The capability of making ballots.
    fn makes_ballots(&self) -> Option<&dyn MakesBallots> {
        None
    }

    /// The capability of counting ballots.
    fn counts_ballots(&self) -> Option<&dyn CountsBallots> {
        None
    }
}

/// Whether there are devices of a kind, and which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Whether one can be used.
    pub available: bool,
    /// Which there are, with their parameters; empty if there is none.
    pub description: String,
    /// What they need, in words.
    pub requires: &'static str,
}

/// The capability of decrypting with a key that a device is loaded with.
pub trait Decrypts {
    /// The smallest device that the key fits, with the key loaded; it is wiped when the device is
    /// dropped.
    ///
    /// # Errors
    /// [`ErrorKind::KeyTooLarge`](crate::ErrorKind::KeyTooLarge), or the device cannot be reached
    /// or fails.
    fn load(&self, key: &PrivateKey, trust: Trust) -> Result<Box<dyn DecryptingDevice>, Error>;
}

/// The capability of converting integers to residues.
pub trait Converts {
    /// The smallest device that has all these moduli and takes numbers of so many bits.
    ///
    /// # Errors
    /// [`ErrorKind::NoResidueBank`](crate::ErrorKind::NoResidueBank), or the device cannot be
    /// reached or fails.
    fn open(&self, moduli: &[u64], bits: u32, trust: Trust) -> Result<Box<dyn ConvertingDevice>, Error>;
}

/// The capability of computing with a public key: encrypting, and everything that is done with
/// ciphertexts.
pub trait Computes {
    /// A device that takes keys of this size, with the key loaded.
    ///
    /// # Errors
    /// [`ErrorKind::KeySize`](crate::ErrorKind::KeySize), or the device cannot be reached or fails.
    fn load_public(&self, key: &PublicKey, trust: Trust) -> Result<Box<dyn ComputingDevice>, Error>;

    /// The same for the key's owner: a device may encrypt through the primes.
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
    /// The smallest device that the key fits.
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
    /// What and where the device is, in words.
    fn describe(&self) -> String;

    /// What the device has counted.
    ///
    /// # Errors
    /// The device does not answer.
    fn counters(&mut self) -> Result<Counters, Error>;

    /// Rows that a batch should have for the filling of the device's pipeline not to matter.
    fn batch_size(&self) -> usize;

    /// What and where the device is and what it did, in words, for a report of work that took
    /// `rows` of it: "ciphertexts".
    ///
    /// # Errors
    /// As [`Device::counters`].
    fn note(&mut self, rows: &str) -> Result<String, Error> {
        let counters = self.counters()?;
        let (cycles, delivered) = (counters.busy_cycles, counters.delivered);
        Ok(format!("{}: {cycles} cycles for {delivered} {rows}", self.describe()))
    }
}

/// A device with a key in it. Its failures are
/// [`DecryptError::Device`](hearith_paillier::DecryptError::Device)s that hold an [`Error`].
pub trait DecryptingDevice: Device + Decrypt + Send {}

/// A device that converts integers to residues.
pub trait ConvertingDevice: Device + Send {
    /// The residues of every number modulo some of the device's moduli, in the order asked for.
    ///
    /// # Errors
    /// [`ErrorKind::NotAModulus`](crate::ErrorKind::NotAModulus),
    /// [`ErrorKind::NumberTooLong`](crate::ErrorKind::NumberTooLong),
    /// [`ErrorKind::NotAResidue`](crate::ErrorKind::NotAResidue),
    /// [`ErrorKind::FailedCheck`](crate::ErrorKind::FailedCheck), and whatever befalls the device;
    /// then no residues are given out.
    fn residues(&mut self, moduli: &[u64], numbers: &Batch) -> Result<Residues, Error>;
}

/// A device that computes with a public key: what it offers is [`Compute`]'s, with the same results
/// as the key's own but for what is random. Its failures are
/// [`ComputeError::Service`](hearith_paillier::ComputeError::Service)s that hold an [`Error`].
pub trait ComputingDevice: Device + Compute {}

/// A device that encrypts over the integers, with the same results as the key's own encryption but
/// for what is random.
#[cfg(feature = "dghv")]
pub trait IntegerEncryptingDevice: Device {
    /// Encrypts bits.
    ///
    /// # Errors
    /// [`ErrorKind::MemoryFailed`](crate::ErrorKind::MemoryFailed),
    /// [`ErrorKind::FailedCheck`](crate::ErrorKind::FailedCheck), and whatever befalls the device;
    /// then no ciphertexts are given out.
    fn encrypt(&mut self, key: &hearith_dghv::PublicKey, bits: &[bool]) -> Result<Vec<Ciphertext>, Error>;
}
