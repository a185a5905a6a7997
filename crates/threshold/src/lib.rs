//! Threshold decryption for Paillier keys: any `w` of `l` trustees decrypt together, and fewer
//! learn nothing.
//!
//! - [`deal`]: a dealer splits a key of safe primes into [`KeyShare`]s and makes the matching
//!   [`VerificationKeys`].
//! - [`KeyShare::decrypt`]: makes a trustee's [`Shares`] of the decryption of a batch, each with a
//!   proof.
//! - [`VerificationKeys::verify`]: verifies one trustee's shares.
//! - [`VerificationKeys::combine`]: computes the plaintexts from the valid shares of any `w`
//!   trustees. It reports and ignores invalid shares.
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
//! Let `p = 2 p' + 1` and `q = 2 q' + 1` be safe primes, and `d` a number that is 0 modulo `p' q'`
//! and 1 modulo `n`. A ciphertext to the power `d` is `(1 + n)^m` up to a sign, which squaring
//! removes. `d` is the value at 0 of a random polynomial modulo `n p' q'`, and the share of trustee
//! `i` is its value at `i` \[Shamir79\]. Lagrange coefficients have denominators that cannot be
//! inverted without the factors of `n`. Multiplied by `D = l!`, they are integers \[Shoup00\],
//! \[FPS00\], \[DJN10\].
//!
//! # What a proof shows
//! That the logarithm of `c_i^2` to the base `c^4` equals that of `v_i` to the base `v`, in the
//! squares modulo `n^2`. So the share is `c^(2 D s_i)` up to a square root of 1, which combining
//! removes by squaring. `v` follows from a hash of `n`, and the `windows` check ensures that all
//! `v_i` are consistent. If `n` has two prime factors, shares that hold combine to the plaintext
//! modulo the larger one, whatever the dealer did.
//!
//! # Trust
//! The dealer is trusted: it sees the whole key and could keep it. Fewer than `w` trustees cannot
//! decrypt. Any `w` trustees can decrypt any ciphertext.
//!
//! # Secrets
//! Dealing and decrypting take constant time in the key and its shares. These are wiped, locked in
//! memory where the system allows it, and never shown. Verifying and combining are not constant
//! time and handle only the published shares.

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
pub use key::{KeyShare, Origin, VerificationKeys};
pub use lagrange::MAX_TRUSTEES;
pub use shares::Shares;

/// Compiles and runs the examples of the README together with the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
