//! The Paillier co-processor of `rtl/coproc`: everything that is done with a public key, and
//! decryption. Identify, load a key, encrypt, add, multiply, sum, re-randomise, decrypt; products
//! and powers modulo `n^2` by themselves; count cycles, wipe.

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
