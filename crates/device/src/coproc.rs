//! The Paillier co-processor of `rtl/coproc`, for all operations with a public key and for
//! decryption.
//!
//! The driver identifies the device, loads a key, encrypts, adds, multiplies, sums, re-randomises
//! and decrypts. It also computes single products and powers modulo `n^2`, counts cycles, and wipes
//! the device.

mod command;
mod constants;
mod crt;
mod driver;
mod dual;
mod loaded;
mod parameters;
mod randomness;

pub use command::{Command, Number, Operation, Refusal};
pub use crt::CrtCoproc;
pub use driver::{Coproc, Scalars};
pub use loaded::LoadedCoproc;
pub use parameters::{CoprocParameters, Core};

use crate::System;

/// The co-processor.
pub static COPROC: System = System { name: "coproc", does: "encrypts, adds up and decrypts" };
