//! Exchange with python-paillier (`phe`): ciphertexts as JSON, and its encoding of floating-point
//! numbers.
//!
//! The JSON format is that of the command `pheutil`, with one object per ciphertext:
//! `{"v": "<decimal>", "e": <exponent>}`. [`PublicKey::to_jwk`](crate::PublicKey::to_jwk) and the
//! related methods exchange keys.
//!
//! ```
//! use hearith_paillier::phe_json::{Number, decode, encode, export, import};
//! use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let private = PrivateKey::generate(512, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best())?;
//! # let public = private.public();
//! let (plaintexts, exponents) = encode(public, &[Number::from_f64(-2.75)?])?;
//! let text = export(&public.encrypt(&plaintexts)?, &exponents)?.join("\n");
//!
//! let (ciphertexts, exponents) = import(public, &text)?;
//! let numbers = decode(public, &private.decrypt(&ciphertexts)?, &exponents)?;
//! assert_eq!(numbers[0].as_ref().map(|number| number.to_f64()), Some(Ok(-2.75)));
//! # Ok(())
//! # }
//! ```

mod ciphertexts;
mod number;

pub use ciphertexts::{export, import};
pub use number::{Number, decode, encode};
