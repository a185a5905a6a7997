#![doc = include_str!("../README.md")]

mod accelerator;
pub mod ballot;
pub mod coproc;
pub mod dghv;
mod error;
mod lattice;
#[cfg(unix)]
mod mapped;
pub mod mesa;
pub mod registers;
pub mod residue_bank;
mod system;
mod transport;
mod trust;

pub use accelerator::Counters;
pub use error::{Error, ErrorKind};
pub use lattice::PlaintextConverter;
#[cfg(unix)]
pub use mapped::{Mapping, MemoryMapped, Window};
pub use system::{
    Computes, ComputingDevice, ConvertingDevice, Converts, DecryptingDevice, Decrypts, Device, EncryptsIntegers,
    IntegerEncryptingDevice, Kind, SYSTEMS, State, System,
};
pub use transport::{Exchange, Marks, Transport};
pub use trust::Trust;
