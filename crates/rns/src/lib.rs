//! Residue number systems: a long integer as its residues modulo several word-sized primes.
//!
//! - [`Basis`]: batches of integers into [`Residues`] and back, on any
//!   [`Engine`](hearith_arith::Engine);
//! - [`PrimeSearch`]: special primes `2^v - beta` that suit number-theoretic transforms and
//!   shift-and-add hardware;
//! - [`SpecialPrime`]: such a prime with the signed powers of two that `beta` is made of;
//! - [`ResidueUnitWidths`]: the word lengths of the hardware that computes one residue.
//!
//! Everything here is public data: moduli and residues of ciphertext coefficients. Batches that
//! come out are not wiped. Rows are numbered from 0.
//!
//! Shapes and bounds follow Chiu and Parhi \[CP24\].

mod basis;
mod convert;
mod error;
mod residues;
mod search;
mod special;
mod unit;

pub use basis::Basis;
pub use error::{Error, ErrorKind};
pub use hearith_arith::natural::word::{is_prime, root_of_unity};
pub use residues::Residues;
pub use search::{Bounds, PrimeSearch};
pub use special::{SpecialPrime, Term};
pub use unit::ResidueUnitWidths;

/// The example of this crate's page, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
