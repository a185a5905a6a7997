//! Super-size arithmetic: products of 10^4 to 10^9 bits, and remainders. It is independent of any
//! scheme.
//!
//! - [`Ring`]: integers modulo `2^N - 1`, with products by number-theoretic transforms. It
//!   multiplies numbers and factors that are kept transformed, and computes sums of products with a
//!   single inverse transform;
//! - [`Barrett`]: remainders modulo a fixed modulus, which is kept transformed together with its
//!   reciprocal;
//! - [`reciprocal`]: by Newton's iteration.
//!
//! Numbers are slices of 64-bit limbs, least significant first. The caller allocates the results.
//! All [engines](hearith_arith::Engine) give the same results, and work spreads over the cores of
//! rayon's current pool. The crate's README explains the transforms. **Nothing here is constant
//! time, and nothing is wiped**: the crate is not for secrets.

mod barrett;
mod engine;
mod error;
mod memory;
mod plan;
mod primes;
mod reciprocal;
mod ring;
mod transform;

pub use barrett::Barrett;
pub use error::NttError;
pub use reciprocal::reciprocal;
pub use ring::{Ring, Sum, Transformed};

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
