//! Errors of a proof, with their position.

use hearith_paillier as paillier;
use std::fmt;

/// An error, and the row of the batch that it concerns, from 0. The text starts with the position
/// and contains no secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    row: Option<usize>,
}

impl Error {
    /// The kind of the error.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// The invalid row, from 0, if the error concerns one.
    pub fn row(&self) -> Option<usize> {
        self.row
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.row {
            Some(row) => write!(f, "row {row}: {}", self.kind),
            None => self.kind.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            ErrorKind::Scheme(error) => std::error::Error::source(error),
            _ => None,
        }
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Error { kind, row: None }
    }
}

impl From<paillier::Error> for Error {
    fn from(error: paillier::Error) -> Self {
        Error { row: error.row(), kind: ErrorKind::Scheme(error.kind().clone()) }
    }
}

impl From<getrandom::Error> for Error {
    fn from(error: getrandom::Error) -> Self {
        ErrorKind::Scheme(paillier::ErrorKind::Randomness(error)).into()
    }
}

/// The kind of an error. The text does not name the position; see [`Error`].
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The proof does not hold for this statement and context.
    #[error("the proof does not hold")]
    DoesNotHold,
    /// A number of the proof is 0, not below its modulus, or shares a factor with `n`.
    #[error("a number in the proof is out of range")]
    OutOfRange,
    /// Bytes are not a whole number of proofs.
    #[error("expected whole proofs of {width} bytes, not {bytes} bytes")]
    Width {
        /// Bytes of a proof.
        width: usize,
        /// Bytes given.
        bytes: usize,
    },
    /// Two batches that are processed row by row have different lengths.
    #[error("the batches must have the same number of rows, not {left} and {right}")]
    Lengths {
        /// Rows of the first batch.
        left: usize,
        /// Rows of the second batch.
        right: usize,
    },
    /// The set of numbers is empty or contains a number twice.
    #[error("a set needs at least one number, and each number only once")]
    BadSet,
    /// The prover chose a number that is not in the set.
    #[error("the number is none of the {numbers} numbers in the set")]
    NoSuchNumber {
        /// The size of the set.
        numbers: usize,
    },
    /// The key is not a Blum number, because its primes are not both 3 modulo 4.
    #[error("the primes of the key are not both 3 modulo 4")]
    NotBlum,
    /// An error of the key, a ciphertext or the random generator.
    #[error(transparent)]
    Scheme(paillier::ErrorKind),
}

impl ErrorKind {
    /// The error at this row, from 0.
    pub(crate) fn at_row(self, row: usize) -> Error {
        Error { kind: self, row: Some(row) }
    }
}

/// Fails unless two batches have the same number of rows.
pub(crate) fn check_lengths(left: usize, right: usize) -> Result<(), Error> {
    if left == right { Ok(()) } else { Err(ErrorKind::Lengths { left, right }.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_comes_first() {
        let error = ErrorKind::DoesNotHold.at_row(3);
        assert_eq!((error.row(), error.to_string().as_str()), (Some(3), "row 3: the proof does not hold"));
        let scheme = Error::from(paillier::ErrorKind::CiphertextZero.at_row(1));
        assert_eq!((scheme.row(), scheme.to_string().as_str()), (Some(1), "row 1: the ciphertext is 0"));
    }
}
