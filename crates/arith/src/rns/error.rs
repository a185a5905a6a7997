//! What can be wrong with a residue number system or with what is put into one.

use crate::ArithError;
use thiserror::Error;

/// An error of the residue number systems. All values in it are public.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum RnsError {
    /// A parameter lies outside its range.
    #[error("{name} is {value}; {allowed}")]
    Parameter {
        /// What the parameter is called.
        name: &'static str,
        /// The value given.
        value: u64,
        /// The values allowed, in words.
        allowed: &'static str,
    },
    /// The number given as a special prime is none.
    #[error("{modulus} is no prime below 2^{word_bits}")]
    NotSpecial {
        /// The number given.
        modulus: u64,
        /// The word length given.
        word_bits: u32,
    },
    /// The arithmetic layer refused.
    #[error(transparent)]
    Arithmetic(#[from] ArithError),
}
