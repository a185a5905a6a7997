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
    /// Two moduli of a basis have a factor in common.
    #[error("the moduli {first} and {second} are not coprime")]
    NotCoprime {
        /// One of them.
        first: u64,
        /// The other.
        second: u64,
    },
    /// A number is longer than the basis can hold.
    #[error("row {} has more than {bits} bits", row + 1)]
    TooLong {
        /// Which number, from 0.
        row: usize,
        /// Most bits of a number.
        bits: u32,
    },
    /// A residue is not below its modulus.
    #[error("row {}: {residue} is not a residue modulo {modulus}", row + 1)]
    ResidueTooLarge {
        /// Which number, from 0.
        row: usize,
        /// The residue given.
        residue: u64,
        /// The modulus.
        modulus: u64,
    },
    /// Residues belong to other moduli than the basis has.
    #[error("the residues are to other moduli than those of the basis")]
    OtherBasis,
    /// The arithmetic layer refused.
    #[error(transparent)]
    Arithmetic(#[from] ArithError),
}
