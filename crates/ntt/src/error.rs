//! What can be wrong with the input of super-size arithmetic.

use hearith_arith::ArithError;
use thiserror::Error;

/// An error of this crate. None of them carries a value, only shapes and names.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum NttError {
    /// Nothing is prepared for numbers as long, or for sums of as many products.
    #[error("no transform takes {limbs} limbs and sums of {terms} products")]
    Size {
        /// 64-bit limbs asked for.
        limbs: usize,
        /// Products in a sum asked for.
        terms: usize,
    },
    /// A number is longer than what was prepared takes.
    #[error("{limbs} limbs where at most {most} are taken")]
    TooLong {
        /// Its 64-bit limbs, or those of the product.
        limbs: usize,
        /// The most that are taken.
        most: usize,
    },
    /// The place for a result has another length than the result.
    #[error("a buffer of {limbs} limbs for a result of {needed}")]
    Place {
        /// 64-bit limbs of the place.
        limbs: usize,
        /// 64-bit limbs of the result.
        needed: usize,
    },
    /// A batch has results and places of different counts.
    #[error("{places} buffers for {results} results")]
    Places {
        /// Places given.
        places: usize,
        /// Results.
        results: usize,
    },
    /// A transform was made for another ring, or on another engine.
    #[error("a transform of another ring")]
    OtherRing,
    /// A sum has as many products as its ring was prepared for.
    #[error("a sum of more than {terms} products")]
    TooManyTerms {
        /// Most products of a sum.
        terms: usize,
    },
    /// Division by zero.
    #[error("the modulus is zero")]
    ZeroModulus,
    /// A number exceeds the modulus by more bits than the reduction was prepared for.
    #[error("a number of {bits} bits where at most {most} are reduced")]
    TooLarge {
        /// Its bits.
        bits: usize,
        /// The most bits that are reduced.
        most: usize,
    },
    /// The arithmetic layer refused.
    #[error(transparent)]
    Arith(#[from] ArithError),
}
