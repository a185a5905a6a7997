//! Residue number systems: a long integer represented by its residues modulo several word-sized
//! primes.
//!
//! - [`Basis`]: converts batches of integers to [`Residues`] and back, on any
//!   [`Engine`](hearith_arith::Engine);
//! - [`PrimeSearch`]: searches for special primes `2^v - beta` suited to number-theoretic
//!   transforms and shift-and-add hardware;
//! - [`SpecialPrime`]: such a prime with the signed powers of two whose sum is `beta`;
//! - [`ResidueUnitWidths`]: the word lengths of the hardware that computes one residue.
//!
//! All data in this crate is public: moduli and residues of ciphertext coefficients. Resulting
//! batches are not wiped. Rows are numbered from 0.
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

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
