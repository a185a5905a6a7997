//! Fully homomorphic encryption over the integers: the schemes of Coron, Mandal, Naccache and
//! Tibouchi (CMNT) and of Coron, Naccache and Tibouchi (CNT).
//!
//! **Every parameter set is historical and broken.** Every function that creates a key therefore
//! requires an [`InsecureHistoricalParameters`] argument.
//!
//! A private key is a prime `p`. A bit `m` is encrypted as a number `p q + 2 r + m` modulo a public
//! multiple `A_0` of `p`. Sums and products of ciphertexts encrypt the XOR and AND of the bits
//! while the noise `2 r + m` stays below `p / 2`. Every [`Ciphertext`] carries a bound on its
//! noise.
//!
//! - [`Parameters`]: the published sets of both [schemes](Scheme), and others;
//! - [`KeyPair`], [`PrivateKey`], [`PublicKey`]: public keys are compressed to a seed and short
//!   corrections;
//! - [`mod@format`]: files of keys and ciphertexts;
//! - [`PublicKey::encrypt`], [`add`](PublicKey::add), [`multiply`](PublicKey::multiply),
//!   [`PrivateKey::decrypt`]: operations on batches of bits;
//! - [`RecryptionKey`]: replaces ciphertexts whose noise is nearly exhausted by ciphertexts with
//!   little noise;
//! - [`Ladder`]: modulus switching, which reduces the noise of ciphertexts;
//! - [`circuit`]: Boolean circuits, parsed from Bristol Fashion or built in code, and the
//!   [`Evaluator`] that runs them on ciphertexts.
//!
//! Numbers are slices of 64-bit limbs, least significant first.

pub mod circuit;

mod ciphertext;
mod elements;
mod encrypt;
mod error;
pub mod format;
mod homomorphic;
mod key;
mod ladder;
mod noise;
mod number;
mod parameters;
mod private_keys;
mod public_keys;
mod random;
mod reduction;
mod squash;
mod sums;

pub use ciphertext::Ciphertext;
pub use circuit::Evaluator;
pub use elements::SEED_BYTES;
pub use encrypt::{EncryptionRequest, Reduced};
pub use error::{Error, ErrorKind};
pub use key::{InsecureHistoricalParameters, KeyId, KeyPair, PrivateKey, PublicKey};
pub use ladder::{Ladder, Rung, SwitchingKey};
pub use parameters::{Lengths, Parameters, Scheme, Size};
pub use private_keys::PrivateKeys;
pub use public_keys::PublicKeys;
pub use squash::RecryptionKey;

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
