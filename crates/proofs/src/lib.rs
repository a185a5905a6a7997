//! Proofs about Paillier ciphertexts, which reveal nothing else about the encrypted numbers.
//!
//! - [`residue`]: a number is an `n`-th power: a ciphertext holds 0, two hold the same, a product
//!   of several holds a known sum;
//! - [`membership`]: a ciphertext holds one of a few known numbers, and nobody learns which;
//! - [`totals`]: what several ciphertexts add up to, exactly or at most;
//! - [`roots`]: a public key's `n` has no factor in common with the order of its group;
//! - [`blum`]: it has two prime factors, both 3 modulo 4.
//!
//! That a total is right needs no proof of this kind: its owner publishes its opening, and anybody
//! encrypts anew ([`PrivateKey::open`](hearith_paillier::PrivateKey::open),
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
//! # How they are made
//! They are Sigma protocols, made to stand alone by a hash in the verifier's place \[FS86\]. It
//! goes over the whole statement, the context and all commitments: with less of it, proofs of wrong
//! statements can be made \[BPW12\]. Challenges have 256 bits. A [`Contexts`] names what each row
//! is for, so that a proof copied from elsewhere is none.
//!
//! # What they rest on
//! A prover who cannot find a prime factor of `n` cheats with a probability of `2^-256` for every
//! hash tried, if every prime factor of `n` is above `2^256`. A verifier who does not know the
//! key's maker has to be shown that too; [`roots`] and [`blum`] show a part.
//!
//! # Batches
//! Proofs of many rows are verified by one equation, the product of all of theirs, each to a random
//! power (\[BGR98\]); only if it fails, halving finds the first row at fault. Powers are even, and
//! a row is judged by the same equation when it is alone, so that a row passes or fails whatever
//! company it is in: an equation that holds up to a square root of 1 holds, and such a root is an
//! `n`-th power itself.
//!
//! # Secrets
//! Provers are constant time in openings, randomness and in which number of a set it is; all of it
//! is wiped. Verifiers see nothing secret.

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

/// The examples of the README, compiled and run with the others.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
