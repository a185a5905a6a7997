//! Errors in the input. No error carries a plaintext or key material.

use crate::convert::Cause;
use crate::parameters::Set;
use hearith_arith::ArithError;
use std::fmt;

/// What is wrong, and with which number of several, from 0. The text names the row first.
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
    /// What is wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The row at fault, from 0, if there is one.
    pub fn row(&self) -> Option<usize> {
        self.0.row
    }

    /// The same error in this row.
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

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No parameter set has this name.
    #[error("unknown parameter set; known are bfv-4096, bfv-8192, bfv-16384")]
    UnknownSet,
    /// Plaintexts of this length are not for this set.
    #[error("plaintexts of {bits} bits: {set} takes 2 to {largest}")]
    Bits {
        /// The bits asked for.
        bits: u32,
        /// The most that the set takes.
        largest: u32,
        /// The set.
        set: Set,
    },
    /// A number does not fit.
    #[error("the number does not fit into {bits} bits with its sign")]
    OutOfRange {
        /// Bits of a plaintext.
        bits: u32,
    },
    /// More numbers than a ciphertext holds, or none.
    #[error("{count} numbers for a ciphertext, which holds 1 to {most}")]
    Count {
        /// The numbers given.
        count: usize,
        /// `N`.
        most: usize,
    },
    /// Groups or weights are not as many as numbers.
    #[error("{found} {what} for {count} numbers")]
    Rows {
        /// What was given.
        what: &'static str,
        /// How many of them.
        found: usize,
        /// Numbers in the ciphertext.
        count: usize,
    },
    /// What is of another key, set or length of plaintexts.
    #[error("{0} differs")]
    Differs(&'static str),
    /// Noise could make the result wrong.
    #[error("the noise budget is exhausted, so the result could be wrong: use a larger parameter set")]
    Noise,
    /// There is no room for what hides the noise.
    #[error("the noise budget is too small to hide the noise of the result: use a larger parameter set")]
    NoRoom,
    /// Decryption found more noise than there can be: the key is another, or the ciphertext was
    /// changed.
    #[error("the ciphertext was altered, or is of another key")]
    Altered,
    /// Bytes that are no ciphertext, or a text that is no key.
    #[error("{0}")]
    Malformed(&'static str),
    /// What turns plaintexts into residues in this CPU's stead failed.
    #[error(transparent)]
    Converter(#[from] Cause),
    /// The operating system gave no random numbers.
    #[error("the operating system gave no random numbers")]
    Random(#[from] getrandom::Error),
    /// The engine cannot be had.
    #[error(transparent)]
    Arith(#[from] ArithError),
}
