//! The Paillier cryptosystem in batches.
//!
//! A ciphertext encrypts an integer modulo `n`; multiplying ciphertexts adds their plaintexts. So
//! anyone with the public key can compute sums, differences, multiples and weighted sums of numbers
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
//! `n = p q` is the public modulus, `p < q` primes of equal length; the generator is always
//! `g = n + 1`. A plaintext is a residue modulo `n`, a ciphertext `c = (1 + m n) r^n mod n^2`, and
//! `r^n` its *randomiser*.
//!
//! # Batches and keys
//! All operations take batches, one row a number. Batches carry the id of their key, and mixing
//! keys is an error. Rows are numbered from 0.
//!
//! # What results give away
//! Sums, differences and negatives are functions of the ciphertexts that go in, and nothing in them
//! is random: whoever has those can recognise what was done with which. The sum of one row is that
//! row, a plaintext added by [`PublicKey::add_plain`] can be read off. [`PublicKey::rerandomise`]
//! makes results that nobody can link to anything without the private key; the key's owner does it
//! faster ([`PrivateKey::rerandomise`]), and a pool of [`Randomisers`], or a [`RandomiserPool`]
//! that fills itself, at once. Multiples and weighted sums ([`PublicKey::multiply`],
//! [`PublicKey::dot`]) are re-randomised, since a small factor could be found by trying.
//!
//! # Faults
//! A decryption that went wrong, in a device or in this CPU, can give the private key away to
//! whoever learns its result and the right one: see [`PrivateKey::check`], which tells wrong
//! batches at a few hundredths of the price of decrypting them.
//!
//! # Secrets
//! Everything that touches `p`, `q`, a randomiser or a plaintext runs in a time and with memory
//! addresses that do not depend on their values, except the search for primes, which depends on
//! candidates (see [`PrivateKey::generate`]), and their check, which depends on the power of 2 in
//! `p - 1`; it is wiped when dropped and appears neither in `Debug` nor in errors. The pages of a
//! private key are kept out of swap space where the operating system allows
//! ([`PrivateKey::is_locked_in_memory`]), and a program can forbid core dumps of itself
//! ([`disable_core_dumps`]). Randomness comes from the operating system's generator only.

mod boxed;
mod check;
mod ciphertexts;
mod decrypt;
pub mod described;
pub mod encoding;
mod encrypt;
mod error;
mod hardening;
mod holder;
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

pub use check::FaultChecked;
pub use ciphertexts::Ciphertexts;
pub use error::{Error, ErrorKind};
pub use hardening::disable_core_dumps;
pub use hearith_arith::{Batch, Engine, Process};
pub use holder::{Compute, ComputeError, Decrypt, DecryptError};
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

/// The examples of the README, compiled and run with the others.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
