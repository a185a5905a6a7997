//! Accelerators: what stands behind a board's registers and streams, driven the same way whether it is silicon or a simulation.
//!
//! - [`Transport`]: 32-bit registers, and packets in and out. [`Simulated`] is the hardware description itself, compiled by
//!   Verilator and linked in, cycle by cycle; [`MemoryMapped`] is a real board (UIO or XDMA), **which has been tested against
//!   a fake register file only and has never run on silicon**.
//! - [`Mesa`]: the pipelined Paillier decryptor in `rtl/mesa`: identify, load a key, decrypt a batch, count cycles, wipe.
//!   [`MesaDual`] is its form in dual numbers, which divides nothing.
//! - [`ResidueBank`]: long integers to their residues modulo the primes that it was built for (`rtl/rns`).
//! - [`DeviceEngine`]: what users choose by name, and the device that suits a key.
//!
//! Errors are typed and bounded in time: a device that stops answering, refuses a register, or cuts a stream short
//! gives a [`DeviceError`], never a wrong number.

mod accelerator;
mod constants;
mod engine;
mod error;
mod keyed;
#[cfg(unix)]
mod mapped;
mod mesa;
mod mesa_dual;
mod residue_bank;
mod simulated;
mod transport;

pub use accelerator::Counters;
pub use engine::{Decryptor, DeviceEngine, EngineState};
pub use error::DeviceError;
pub use keyed::Keyed;
#[cfg(unix)]
pub use mapped::MemoryMapped;
pub use mesa::{Mesa, MesaParameters};
pub use mesa_dual::{MesaDual, MesaDualParameters};
pub use residue_bank::{ResidueBank, ResidueBankParameters};
pub use simulated::{Simulated, designs};
pub use transport::{Exchange, Transport};
