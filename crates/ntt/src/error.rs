//! Errors in the input of super-size arithmetic.

use hearith_arith::ArithError;
use thiserror::Error;

/// An error of this crate. Errors contain only shapes and names, never values.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum NttError {
    /// No transform is long enough for numbers of this length and sums of this many products.
    #[error("no transform supports numbers of {limbs} limbs and sums of {terms} products")]
    Size {
        /// 64-bit limbs requested.
        limbs: usize,
        /// Products per sum requested.
        terms: usize,
    },
    /// A number is longer than the prepared transform allows.
    #[error("{limbs} limbs are too long: at most {most} are supported")]
    TooLong {
        /// 64-bit limbs of the number or of the product.
        limbs: usize,
        /// Maximum number of limbs.
        most: usize,
    },
    /// The buffer for a result has a different length than the result.
    #[error("the buffer has {limbs} limbs, but the result has {needed}")]
    Place {
        /// 64-bit limbs of the buffer.
        limbs: usize,
        /// 64-bit limbs of the result.
        needed: usize,
    },
    /// The numbers of results and buffers in a batch differ.
    #[error("expected one buffer for each of {results} results, not {places}")]
    Places {
        /// Buffers given.
        places: usize,
        /// Results of the batch.
        results: usize,
    },
    /// A transform was computed for another ring or by another engine.
    #[error("the transform belongs to another ring")]
    OtherRing,
    /// A sum already has as many products as its ring allows.
    #[error("the sum has more than {terms} products")]
    TooManyTerms {
        /// Maximum number of products in a sum.
        terms: usize,
    },
    /// Division by zero.
    #[error("the modulus is zero")]
    ZeroModulus,
    /// A number exceeds the modulus by more bits than the reduction was prepared for.
    #[error("a number of {bits} bits is too long to reduce: at most {most} bits are supported")]
    TooLarge {
        /// Bits of the number.
        bits: usize,
        /// Largest number of bits that can be reduced.
        most: usize,
    },
    /// The arithmetic layer reported an error.
    #[error(transparent)]
    Arith(#[from] ArithError),
}
