//! SystemVerilog designs as Rust values.
//!
//! A build script names designs (`build::Build`, feature `build`): a top module, its parameters,
//! the directories of its sources. [Verilator](https://verilator.org) turns each into a C++ model,
//! which is compiled into a static library and linked in. The crate then contains
//!
//! ```ignore
//! hearith_verilated::designs!();
//! ```
//!
//! and has a [`Design`] for every name. It creates [`Model`]s from them: ports by name as bit
//! vectors, evaluation, clock. [`bench::Bench`] drives a model's valid/ready streams with random
//! back-pressure and counts cycles.
//!
//! Without Verilator everything still builds. A design then has no model, which
//! [`Design::is_available`] reports, and the configuration `verilator` is not set:
//! `#[cfg_attr(not(verilator), ignore = "needs Verilator")]`.
//!
//! Values are slices of 64-bit limbs, least significant first. Ports are read as the bytes of
//! Verilator's storage, so the host must be little-endian.

#[cfg(target_endian = "big")]
compile_error!("the ports of a model are read as little-endian bytes");

mod backdoor;
pub mod bench;
#[cfg(feature = "build")]
pub mod build;
#[cfg(feature = "build")]
mod cache;
mod design;
#[cfg(feature = "build")]
mod headers;
mod model;
#[cfg(feature = "build")]
mod verilator;

pub use design::{Binding, Design, Direction, NoVerilator, Port};
pub use model::{Bits, Model};

/// Declares the designs of the crate's build script as constants.
#[macro_export]
macro_rules! designs {
    () => {
        include!(concat!(env!("OUT_DIR"), "/designs.rs"));
    };
}

/// The examples of the README, as doc tests.
#[cfg(all(doctest, feature = "build"))]
#[doc = include_str!("../README.md")]
struct Readme;
