//! BFV, a lattice scheme for batched columns of integers \[Brakerski12\], \[FV12\].
//!
//! A ciphertext holds up to `N` numbers, one per coefficient of a polynomial. A weighted sum by
//! group costs one transform per group. Plaintexts are integers modulo a power of two of up to 127
//! bits, so a sum of 64-bit numbers is one number and needs no residue number system.
//!
//! - [`Set`]: named parameters of 128-bit security;
//! - [`PrivateKey`], [`PublicKey`]: both encrypt; ciphertexts of a private key have half the size;
//! - [`Ciphertext`]: encrypted numbers, which can be added and multiplied by public ones;
//! - [`Sums`], [`Total`]: weighted sums by group. A released sum shows the key holder only its
//!   value.
//!
//! Every ciphertext carries a bound on its noise. An operation whose result could be wrong with a
//! probability above 2^-64 is an error. So is decrypting a ciphertext with more noise than its
//! bound.

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

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
