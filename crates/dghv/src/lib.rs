//! Fully homomorphic encryption over the integers: the schemes of Coron, Mandal, Naccache and
//! Tibouchi (CMNT) and of Coron, Naccache and Tibouchi (CNT).
//!
//! **Every parameter set is historical and broken.** Whatever makes a key asks for
//! [`InsecureHistoricalParameters`] by that name.
//!
//! A private key is a prime `p`, an encryption of a bit `m` a number `p q + 2 r + m` modulo a
//! public multiple `A_0` of `p`; sums and products of ciphertexts are those of bits, as long as the
//! noise `2 r + m` stays below `p / 2`. Every [`Ciphertext`] carries a bound on it.
//!
//! - [`Parameters`]: the published sets of both [schemes](Scheme), and others;
//! - [`KeyPair`], [`PrivateKey`], [`PublicKey`]: public keys are compressed to a seed and short
//!   corrections;
//! - [`mod@format`]: files of keys and ciphertexts;
//! - [`PublicKey::encrypt`], [`add`](PublicKey::add), [`multiply`](PublicKey::multiply),
//!   [`PrivateKey::decrypt`]: on batches of bits.
//! - [`RecryptionKey`]: ciphertexts whose noise is nearly exhausted get little noise again;
//! - [`Ladder`]: modulus switching, by which ciphertexts leave noise behind;
//! - [`circuit`]: boolean circuits, from texts in Bristol Fashion or built here, and the
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

/// The example of this crate's page, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
