//! Errors in the input. No error contains a plaintext or key material.

use crate::convert::Cause;
use crate::parameters::Set;
use hearith_arith::ArithError;
use std::fmt;

/// An error, with the row of the number, counted from 0, if there is one. The message starts with
/// the row.
///
/// ```
/// use hearith_bfv::{Error, ErrorKind};
/// let error = Error::from(ErrorKind::OutOfRange { bits: 20 }).at_row(4);
/// assert_eq!(error.to_string(), "row 4: the number does not fit into 20 bits with its sign");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Located>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Located {
    row: Option<usize>,
    kind: ErrorKind,
}

impl Error {
    /// The kind of error.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The row, counted from 0, if the error belongs to one.
    pub fn row(&self) -> Option<usize> {
        self.0.row
    }

    /// The same error, assigned to this row.
    pub fn at_row(mut self, row: usize) -> Self {
        self.0.row = Some(row);
        self
    }
}

impl<K: Into<ErrorKind>> From<K> for Error {
    fn from(kind: K) -> Self {
        Error(Box::new(Located { row: None, kind: kind.into() }))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.row {
            Some(row) => write!(f, "row {row}: {}", self.0.kind),
            None => self.0.kind.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.kind.source()
    }
}

/// The kinds of errors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No parameter set has this name.
    #[error("unknown parameter set: choose one of bfv-4096, bfv-8192, bfv-16384")]
    UnknownSet,
    /// The set does not support plaintexts of this length.
    #[error("plaintexts of {bits} bits are not supported: {set} allows 2 to {largest} bits")]
    Bits {
        /// The requested length in bits.
        bits: u32,
        /// The largest length that the set supports.
        largest: u32,
        /// The set.
        set: Set,
    },
    /// A number does not fit into a plaintext.
    #[error("the number does not fit into {bits} bits with its sign")]
    OutOfRange {
        /// Length of a plaintext in bits.
        bits: u32,
    },
    /// There are no numbers, or more than a ciphertext can hold.
    #[error("a ciphertext holds 1 to {most} numbers, not {count}")]
    Count {
        /// How many numbers were given.
        count: usize,
        /// How many numbers a ciphertext holds, `N`.
        most: usize,
    },
    /// The ciphertext has a different number of values than there are groups or weights.
    #[error("expected {count} {what}, one for each number, not {found}")]
    Rows {
        /// Whether groups or weights.
        what: &'static str,
        /// How many were given.
        found: usize,
        /// How many numbers the ciphertext holds.
        count: usize,
    },
    /// The key, set or plaintext length differs.
    #[error("{0} differs")]
    Differs(&'static str),
    /// The noise could make the result wrong.
    #[error("the noise budget is exhausted, so the result could be wrong: use a larger parameter set")]
    Noise,
    /// The noise budget left is too small to hide the noise of the result.
    #[error("the noise budget is too small to hide the noise of the result: use a larger parameter set")]
    NoRoom,
    /// Decryption found more noise than the bound allows: the key is a different one, or the
    /// ciphertext was changed.
    #[error("the ciphertext was altered, or belongs to another key")]
    Altered,
    /// The bytes are not a ciphertext, or the text is not a key.
    #[error("{0}")]
    Malformed(&'static str),
    /// The converter that computes residues instead of this CPU failed.
    #[error(transparent)]
    Converter(#[from] Cause),
    /// The operating system provided no random numbers.
    #[error("the operating system's random generator failed")]
    Random(#[from] getrandom::Error),
    /// The engine is not available.
    #[error(transparent)]
    Arith(#[from] ArithError),
}
