#![doc = include_str!("../README.md")]

mod accelerator;
pub mod ballot;
pub mod coproc;
#[cfg(feature = "dghv")]
pub mod dghv;
mod error;
mod lattice;
#[cfg(unix)]
mod mapped;
pub mod mesa;
pub mod randomised;
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
    Computes, ComputingDevice, ConvertingDevice, Converts, DecryptingDevice, Decrypts, Device, DeviceProvider, SYSTEMS,
    State, System,
};
#[cfg(feature = "dghv")]
pub use system::{EncryptsIntegers, IntegerEncryptingDevice};
pub use transport::{Exchange, Marks, Transport};
pub use trust::Trust;
