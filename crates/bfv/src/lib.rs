//! BFV, a lattice scheme, for whole columns of integers \[Brakerski12\], \[FV12\].
//!
//! A ciphertext holds up to `N` numbers, one a coefficient of a polynomial, and sums of them by
//! groups, with weights, come at the cost of a transform each. Plaintexts are integers modulo a
//! power of two of up to 127 bits, so a sum of 64-bit numbers is one number and needs no residues
//! put together.
//!
//! - [`Set`]: named parameters of 128-bit security;
//! - [`PrivateKey`], [`PublicKey`]: both encrypt, a private key in half the bytes;
//! - [`Ciphertext`]: numbers, added one by one and multiplied by public ones;
//! - [`Sums`], [`Total`]: sums by groups and weights, of which the key's owner sees the numbers
//!   alone.
//!
//! Every ciphertext carries a bound on its noise. What could be wrong with a probability above
//! 2^-64 is an error, and so is a ciphertext in which decryption finds more noise than its bound.

mod ciphertext;
mod convert;
mod error;
mod kernel;
mod key;
mod noise;
mod packing;
mod parameters;
mod prime;
mod random;
mod ring;
mod sums;

pub use ciphertext::Ciphertext;
pub use convert::{Cause, Convert, Reason};
pub use error::{Error, ErrorKind};
pub use hearith_arith::Engine;
pub use key::{KEY_TYPE, KeyId, MAX_KEY_TEXT, PrivateKey, PublicKey, is_key};
pub use parameters::{MAX_BITS, Set};
pub use random::SEED_BYTES;
pub use sums::{NO_GROUP, Sums, Total};

/// The example of this crate's page, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
