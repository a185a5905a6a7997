//! Super-size arithmetic: products of 10^4 to 10^9 bits, and remainders. Knows no scheme.
//!
//! - [`Ring`]: integers modulo `2^N - 1`, with products by number-theoretic transforms: of numbers,
//!   of factors that are kept transformed, and sums of products with one way back;
//! - [`Barrett`]: remainders by a modulus that is kept with its reciprocal, both transformed;
//! - [`reciprocal`]: by Newton's iteration.
//!
//! Numbers are slices of 64-bit limbs, least significant first; the caller has the places for
//! results. All [engines](hearith_arith::Engine) give the same results, and work spreads over the
//! cores of rayon's current pool. The crate's README explains the transforms. **Nothing here
//! is constant time, and nothing is wiped**: it is not for secrets.

mod barrett;
mod engine;
mod error;
mod memory;
mod primes;
mod reciprocal;
mod ring;
mod shape;
mod transform;

pub use barrett::Barrett;
pub use error::NttError;
pub use reciprocal::reciprocal;
pub use ring::{Ring, Sum, Transformed};

/// The example of this crate's page, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
