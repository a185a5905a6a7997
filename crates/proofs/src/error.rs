//! Errors of a proof, with their position.

use hearith_paillier as paillier;
use std::fmt;

/// What is wrong, and in which row of the batch, from 0. The text names the place first, and holds
/// nothing secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    row: Option<usize>,
}

impl Error {
    /// What is wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// The row at fault, from 0, if there is one.
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

/// What is wrong. The text says nothing of the place; see [`Error`].
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The proof does not show what it should, in this context.
    #[error("the proof does not hold")]
    DoesNotHold,
    /// A number of the proof is 0, not below its modulus, or shares a factor with `n`.
    #[error("the proof has a number out of range")]
    OutOfRange,
    /// Bytes are not a whole number of proofs.
    #[error("{bytes} bytes are not a whole number of proofs of {width} bytes")]
    Width {
        /// Bytes of a proof.
        width: usize,
        /// Bytes given.
        bytes: usize,
    },
    /// Two batches that are taken row by row have different lengths.
    #[error("{left} rows do not match {right}")]
    Lengths {
        /// Rows of the first.
        left: usize,
        /// Rows of the second.
        right: usize,
    },
    /// A set of numbers needs at least one, and no number twice.
    #[error("a set has at least one number, and none twice")]
    BadSet,
    /// A prover named a number that the set does not have.
    #[error("the set has {numbers} numbers, but not this one")]
    NoSuchNumber {
        /// Numbers of the set.
        numbers: usize,
    },
    /// A key whose primes are not both 3 modulo 4 is none of a Blum number.
    #[error("the primes of the key are not both 3 modulo 4")]
    NotBlum,
    /// The key, a ciphertext or the random generator.
    #[error(transparent)]
    Scheme(paillier::ErrorKind),
}

impl ErrorKind {
    /// The error in this row, from 0.
    pub(crate) fn at_row(self, row: usize) -> Error {
        Error { kind: self, row: Some(row) }
    }
}

/// Fails unless two batches have as many rows.
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
