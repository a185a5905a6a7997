//! Residue number systems: a long integer as its residues modulo several word-sized primes.
//!
//! - [`PrimeSearch`]: special primes `2^v - beta` that suit number-theoretic transforms and shift-and-add hardware;
//! - [`SpecialPrime`]: such a prime with the signed powers of two that `beta` is made of;
//! - [`reduction`]: what a residue unit in hardware computes, with the bound of every intermediate value.
//!
//! Everything here is public data: moduli and residues of ciphertext coefficients.
//! Shapes and bounds follow Chiu and Parhi, "Low-Latency Preprocessing Architecture for Residue Number System via
//! Flexible Barrett Reduction for Homomorphic Encryption".

mod error;
pub mod reduction;
mod search;
mod special;
mod word;

pub use error::RnsError;
pub use search::{Bounds, PrimeSearch};
pub use special::{SpecialPrime, Term};
pub use word::{is_prime, root_of_unity};
