//! Residue number systems: a long integer as its residues modulo several word-sized primes.
//!
//! - [`Basis`]: batches of integers into [`Residues`] and back, on any [`Engine`](crate::Engine);
//! - [`PrimeSearch`]: special primes `2^v - beta` that suit number-theoretic transforms and shift-and-add hardware;
//! - [`SpecialPrime`]: such a prime with the signed powers of two that `beta` is made of;
//! - [`reduction`]: what a residue unit in hardware computes, with the bound of every intermediate value.
//!
//! Everything here is public data: moduli and residues of ciphertext coefficients.
//! Shapes and bounds follow Chiu and Parhi \[CP24\].

mod basis;
mod convert;
mod error;
pub mod reduction;
mod residues;
mod search;
mod special;
mod word;

pub use basis::Basis;
pub use error::RnsError;
pub use residues::Residues;
pub use search::{Bounds, PrimeSearch};
pub use special::{SpecialPrime, Term};
pub use word::{is_prime, root_of_unity};
