//! Batches of fixed-width modular arithmetic, the foundation of every scheme in Hearith.
//! Independent of any scheme.
//!
//! - [`Modulus`]: arithmetic modulo an odd `m` of up to 16 384 bits, on a [`Batch`] of numbers at a
//!   time
//! - [`Square`]: arithmetic modulo `m^2`, computed modulo `m` ("dual Montgomery"), with
//!   [`FixedBase`] powers
//! - [`Engine`]: the kernel under both, selected at run time. Every engine gives the same results.
//!   [`dispatch!`] performs the selection, here and for the kernels of other crates
//! - [`natural`]: single natural numbers, with operations for set-up and conversions from and to
//!   bytes and text
//! - [`random`]: numbers from the operating system's generator
//! - [`Process`]: identifies the current process, for data that a child of `fork` must not share
//!   with its parent
//!
//! Work is distributed over the lanes of the engine, then over the cores of rayon's current thread
//! pool. Operations are constant time in the numbers and in secret [`Exponents`]: neither branches
//! nor memory addresses depend on them. Numbers are slices of 64-bit limbs, least significant
//! first.

mod backend;
mod barrett;
mod batch;
mod buckets;
mod constants;
pub mod cost;
mod doubling;
mod engine;
mod error;
mod exponents;
mod fixed_base;
mod groups;
#[cfg(target_arch = "x86_64")]
pub mod ifma;
mod kernel;
mod ladder;
mod memory;
mod modulus;
mod multi_pow;
pub mod natural;
mod pow;
mod process;
mod product;
pub mod random;
mod ring;
mod single;
mod sliding;
mod square;

pub use batch::Batch;
pub use engine::{Available, Engine};
pub use error::ArithError;
pub use exponents::Exponents;
pub use fixed_base::FixedBase;
pub use memory::Memory;
pub use modulus::{Factor, Modulus, powers_of_two};
pub use process::Process;
pub use square::{Pairs, Square, pow_pairs};

/// The examples of the README, compiled and run as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
