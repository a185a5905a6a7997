//! MESA, the Paillier decryptor of `rtl/mesa`, in two forms: a pipeline that divides, and dual
//! numbers, which need no division.
//!
//! The driver identifies the device, loads a key, decrypts batches, counts cycles, and wipes the
//! device.

pub(crate) mod constants;
mod dual;
mod keyed;
mod loaded;
mod pipelined;

pub use constants::{Powers, merged};
pub use dual::{MesaDual, MesaDualParameters};
pub(crate) use keyed::{Constant, Secret};
pub use keyed::{Keyed, Parameters};
pub use loaded::Loaded;
pub use pipelined::{Mesa, MesaParameters};

use crate::System;

/// The pipelined decryptor.
pub static MESA: System = System { name: "mesa", does: "decrypts" };

/// The decryptor in dual numbers.
pub static MESA_DUAL: System = System { name: "mesa-dual", does: "decrypts" };
