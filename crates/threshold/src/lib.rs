//! Paillier keys shared among trustees: any `w` of `l` trustees decrypt together, and fewer learn
//! nothing.
//!
//! - [`deal`]: a dealer splits a key of safe primes into [`KeyShare`]s, and makes the
//!   [`Verification`] that goes with them;
//! - [`KeyShare::decrypt`]: a trustee's [`Shares`] of the decryption of a batch, each with a proof;
//! - [`Verification::verify`]: whether shares are right, singly or as many as there are;
//! - [`Verification::combine`]: the plaintexts, from any `w` right shares of each; wrong ones are
//!   named and left aside.
//!
//! ```
//! use hearith_paillier::encoding::{decode_signed, encode_signed};
//! use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant};
//! use hearith_threshold::{Contexts, deal};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // 256 bits only to make the example quick.
//! let private = PrivateKey::generate_safe(256, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best())?;
//! let (verification, trustees) = deal(&private, 2, 3)?;
//! let key = verification.key();
//! let totals = key.encrypt(&encode_signed(key, &[1234, -5])?)?;
//!
//! let contexts = Contexts::new(b"the year's accounts", ["salaries", "losses"]);
//! let first = trustees[0].decrypt(&contexts, &totals)?;
//! let third = trustees[2].decrypt(&contexts, &totals)?;
//! let combined = verification.combine(&contexts, &totals, &[&first, &third])?;
//! assert!(combined.wrong.is_empty());
//! let numbers = decode_signed(key, &combined.plaintexts)?;
//! assert_eq!((numbers[0].to_i128(), numbers[1].to_i128()), (Some(1234), Some(-5)));
//! # Ok(())
//! # }
//! ```
//!
//! # How it works
//! For safe primes `p = 2 p' + 1` and `q = 2 q' + 1`, a ciphertext to the power `d`, 0 modulo
//! `p' q'` and 1 modulo `n`, is `(1 + n)^m` up to a sign, which squaring takes away. `d` is the
//! value at 0 of a random polynomial modulo `n p' q'`, trustee `i`'s share its value at `i`
//! \[Shamir79\]. Lagrange's coefficients have denominators, which nobody can invert without the
//! factors of `n`; times `D = l!` they are integers \[Shoup00\], \[FPS00\], \[DJN10\].
//!
//! # What a proof shows
//! That `log c_i^2` to the base `c^4` is `log v_i` to the base `v`, in the squares modulo `n^2`:
//! that the share is `c^(2 D s_i)` up to a square root of 1, which combining squares away. `v`
//! follows from a hash of `n`, and all `v_i` are held together by `windows`: whatever the dealer
//! did, shares that hold combine to the plaintext, if `n` has two prime factors, modulo the larger
//! one.
//!
//! # What is trusted
//! The dealer, who sees the whole key and could keep it. Fewer than `w` trustees cannot decrypt;
//! `w` can decrypt whatever they like.
//!
//! # Secrets
//! Dealing and decrypting are constant time in the key and its shares, which are wiped, locked in
//! memory where the system allows, and never shown. Verifying and combining are not constant time,
//! and see nothing that is not in the shares.

mod combine;
mod deal;
pub mod distributed;
mod equation;
mod error;
mod file;
mod key;
mod lagrange;
mod partial;
mod shares;
mod windows;

pub use combine::Combined;
pub use deal::deal;
pub use error::{Error, ErrorKind};
pub use hearith_proofs::Contexts;
pub use key::{KeyShare, Origin, Verification};
pub use lagrange::MAX_TRUSTEES;
pub use shares::Shares;

/// The examples of the README, compiled and run with the others.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
