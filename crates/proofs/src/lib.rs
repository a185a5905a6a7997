//! Proofs about Paillier ciphertexts, which reveal nothing else about the encrypted numbers.
//!
//! - [`residue`]: a number is an `n`-th power. So a ciphertext holds 0, two ciphertexts hold the
//!   same number, or a product of several holds a known sum.
//! - [`membership`]: a ciphertext holds one of a few known numbers, without revealing which.
//! - [`totals`]: several ciphertexts sum to a known total, or to at most a bound.
//! - [`roots`]: a public key's `n` has no common factor with the order of its group.
//! - [`blum`]: `n` has two prime factors, both 3 modulo 4.
//!
//! A decrypted total needs none of these proofs: the key holder publishes its opening, and anyone
//! can check it by re-encryption ([`PrivateKey::open`](hearith_paillier::PrivateKey::open),
//! [`PublicKey::check_openings`](hearith_paillier::PublicKey::check_openings)).
//!
//! ```
//! use hearith_paillier::encoding::encode_signed;
//! use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant};
//! use hearith_proofs::{Contexts, membership};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // 512 bits only to make the example quick.
//! let private = PrivateKey::generate(512, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best())?;
//! let public = private.public();
//! let set = encode_signed(public, &[0, 1])?;
//! let (ciphertexts, openings) = public.encrypt_opened(&encode_signed(public, &[1, 0, 1])?)?;
//!
//! let contexts = Contexts::new(b"the club's election", [b"ballot 1", b"ballot 2", b"ballot 3"]);
//! let proofs = membership::prove(public, &contexts, &set, &ciphertexts, &openings, &[1, 0, 1])?;
//! membership::verify(public, &contexts, &set, &ciphertexts, &proofs)?;
//! # Ok(())
//! # }
//! ```
//!
//! # Construction
//! The proofs are Sigma protocols made non-interactive by a hash that replaces the verifier
//! \[FS86\]. The hash covers the whole statement, the context and all commitments. If it covered
//! less, a prover could prove false statements \[BPW12\]. Challenges have 256 bits. [`Contexts`]
//! names the purpose of each row, so a proof copied to another context does not hold.
//!
//! # Security
//! If every prime factor of `n` exceeds `2^256`, a prover who cannot find one of them succeeds in
//! cheating with a probability of `2^-256` per hash evaluation. A verifier who does not trust the
//! key's maker needs evidence for this as well. [`roots`] and [`blum`] provide a part of it.
//!
//! # Batches
//! One equation verifies the proofs of many rows: the product of all their equations, each raised
//! to a random power (\[BGR98\]). Only if it fails, halving finds the first invalid row. Powers are
//! even, and single rows use the same equation, so the verdict on a row does not depend on the
//! others in its batch. An equation therefore holds if it is true up to a square root of 1. This is
//! harmless, because such a root is an `n`-th power.
//!
//! # Secrets
//! Provers take constant time in openings, randomness and the index of the chosen number in a set.
//! All of these are wiped. Verifiers handle no secrets.

pub mod blum;
mod equation;
mod error;
mod hashed;
pub mod membership;
pub mod residue;
pub mod roots;
pub mod totals;
mod transcript;
mod witness;

pub use error::{Error, ErrorKind};
pub use hashed::hashed;
pub use transcript::{CHALLENGE_BYTES, CHALLENGE_LIMBS, Contexts, Transcript};
pub use witness::{Form, Witness};

/// Compiles and runs the examples of the README together with the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
