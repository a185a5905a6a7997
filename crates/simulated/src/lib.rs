//! Simulated accelerators: the designs of `rtl/` as Verilator models, linked in and driven cycle by
//! cycle by the drivers of [`hearith_device`].
//!
//! - [`Simulated`] is a [`Transport`](hearith_device::Transport) to a model of any of the
//!   [`designs`].
//! - [`PROVIDERS`] are the simulated devices that users choose by name. The program
//!   `hearith-simulated` is the command line with them.
//!
//! Each system is a feature (`ballot-machine`, `coproc`, `dghv`, `mesa`, `mesa-dual`, `rns`). All
//! are on by default; select fewer to save time, since models take minutes to compile. Without
//! Verilator the crate still builds, and every device reports what is missing.

#[cfg(feature = "ballot-machine")]
pub mod ballot_machine;
#[cfg(feature = "coproc")]
mod coproc;
#[cfg(any(feature = "mesa", feature = "mesa-dual"))]
mod decryptors;
pub mod designs;
#[cfg(feature = "dghv")]
mod dghv;
#[cfg(feature = "mesa")]
mod mesa;
#[cfg(feature = "mesa-dual")]
mod mesa_dual;
#[cfg(feature = "rns")]
mod residue_bank;
mod simulated;
#[cfg(any(
    feature = "ballot-machine",
    feature = "coproc",
    feature = "dghv",
    feature = "mesa",
    feature = "mesa-dual",
    feature = "rns"
))]
mod state;

pub use simulated::Simulated;

use hearith_device::DeviceProvider;

/// The simulated devices, one provider per system.
pub static PROVIDERS: &[&dyn DeviceProvider] = &[
    #[cfg(feature = "mesa")]
    &mesa::PROVIDER,
    #[cfg(feature = "mesa-dual")]
    &mesa_dual::PROVIDER,
    #[cfg(feature = "rns")]
    &residue_bank::PROVIDER,
    #[cfg(feature = "coproc")]
    &coproc::PROVIDER,
    #[cfg(feature = "dghv")]
    &dghv::PROVIDER,
    #[cfg(feature = "ballot-machine")]
    &ballot_machine::PROVIDER,
];
