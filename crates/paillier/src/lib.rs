//! The Paillier cryptosystem, for batches of numbers.
//!
//! A ciphertext encrypts an integer modulo `n`; multiplying ciphertexts adds their plaintexts.
//! Anyone with the public key can compute sums, differences, multiples and weighted sums of numbers
//! that only the key holder can read \[Paillier99\].
//!
//! ```
//! use hearith_paillier::encoding::{decode_signed, encode_signed};
//! use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // 512 bits only to make the example quick: use `DEFAULT_BITS` and `KeyPolicy::Secure`.
//! let private = PrivateKey::generate(512, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best())?;
//! let public = private.public();
//!
//! let salaries = public.encrypt(&encode_signed(public, &[3100, 2800, -250])?)?;
//! let total = public.sum(&salaries)?;
//!
//! let decrypted = decode_signed(public, &private.decrypt(&total)?)?;
//! assert_eq!(decrypted[0].to_string(), "5650");
//! # Ok(())
//! # }
//! ```
//!
//! # Notation
//! `n = p q` is the public modulus, where `p < q` are primes of equal length. The generator is
//! always `g = n + 1`. A plaintext is a residue modulo `n`, a ciphertext is
//! `c = (1 + m n) r^n mod n^2`, and `r^n` is its *randomiser*.
//!
//! # Batches and keys
//! All operations process batches of one number per row. Batches carry the ID of their key, and
//! mixing keys is an error. Rows are counted from 0.
//!
//! # What results reveal
//! Sums, differences and negatives are deterministic functions of their input ciphertexts. Anyone
//! who holds the inputs can recognise which operation produced a result. The sum of one row is that
//! row itself, and a plaintext added by [`PublicKey::add_plain`] is visible.
//! [`PublicKey::rerandomise`] returns ciphertexts that nobody can link to the inputs without the
//! private key. The key holder does so faster ([`PrivateKey::rerandomise`]). Precomputed
//! [`Randomisers`], or a [`RandomiserPool`] that refills itself, make it almost instant. Multiples
//! and weighted sums ([`PublicKey::multiply`], [`PublicKey::dot`]) are re-randomised, because a
//! small factor could be found by trial.
//!
//! # Faults
//! A faulty decryption, in a device or in this CPU, can leak the private key to anyone who learns
//! both its result and the correct one. [`PrivateKey::check`] detects faulty batches at a few
//! hundredths of the cost of decryption.
//!
//! # Secrets
//! The running time and memory addresses of operations on `p`, `q`, a randomiser or a plaintext do
//! not depend on their values. There are two exceptions: the search for primes depends on the
//! candidates (see [`PrivateKey::generate`]), and the primality test depends on the power of 2 in
//! `p - 1`. Secrets are wiped when dropped and appear neither in `Debug` output nor in errors. The
//! pages of a private key are kept out of swap space where the operating system allows it
//! ([`PrivateKey::is_locked_in_memory`]), and a program can disable its own core dumps
//! ([`disable_core_dumps`]). All randomness comes from the operating system's generator.

mod backend;
mod boxed;
mod check;
mod ciphertexts;
mod decrypt;
pub mod described;
pub mod encoding;
mod encrypt;
mod error;
mod hardening;
mod homomorphic;
mod kept;
mod key;
mod lazy;
mod locked;
mod openings;
pub mod phe_json;
mod plaintexts;
mod random;
mod randomiser_pool;
mod randomisers;
mod short;

pub use backend::{ComputeError, DecryptError, DecryptionBackend, PublicKeyBackend};
pub use check::FaultChecked;
pub use ciphertexts::Ciphertexts;
pub use error::{Error, ErrorKind};
pub use hardening::disable_core_dumps;
pub use hearith_arith::{Batch, Engine, Process};
pub use kept::Kept;
pub use key::private::PrivateKey;
pub use key::public::PublicKey;
pub use key::{
    DEFAULT_BITS, DEFAULT_ITERATIONS, EncryptedJwk, KeyId, KeyKind, KeyPolicy, MAX_BITS, MAX_ITERATIONS, MAX_KEY_TEXT,
    MIN_BITS, MIN_ITERATIONS, MIN_SECURE_BITS, MIN_SUBGROUP_BITS, SecretText, Variant, Weakness,
};
pub use locked::Locked;
pub use openings::Openings;
pub use plaintexts::Plaintexts;
pub use randomiser_pool::RandomiserPool;
pub use randomisers::Randomisers;
pub use short::ShortOpenings;

/// The examples of the README, compiled and run as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
