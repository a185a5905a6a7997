//! What can be wrong with a shared key or with shares of a decryption, and where.

use hearith_paillier::{self as paillier, KeyId};
use std::fmt;

/// What is wrong, with whose share and in which row of the batch, from 0. The text names the place first, and holds nothing secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    trustee: Option<u32>,
    row: Option<usize>,
}

impl Error {
    /// What is wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// The trustee whose share is at fault, from 1, if it is one's.
    pub fn trustee(&self) -> Option<u32> {
        self.trustee
    }

    /// The row at fault, from 0, if there is one.
    pub fn row(&self) -> Option<usize> {
        self.row
    }

    /// The same error of this trustee's.
    pub(crate) fn of(self, trustee: u32) -> Self {
        Error { trustee: Some(trustee), ..self }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.trustee, self.row) {
            (Some(trustee), Some(row)) => write!(f, "trustee {trustee}, row {row}: {}", self.kind),
            (Some(trustee), None) => write!(f, "trustee {trustee}: {}", self.kind),
            (None, Some(row)) => write!(f, "row {row}: {}", self.kind),
            (None, None) => self.kind.fmt(f),
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
        Error { kind, trustee: None, row: None }
    }
}

impl From<paillier::Error> for Error {
    fn from(error: paillier::Error) -> Self {
        Error { row: error.row(), ..ErrorKind::Scheme(error.kind().clone()).into() }
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
    /// So many trustees cannot share a key so.
    #[error("a key is shared by 1 to {} trustees, of whom 1 to all are needed", crate::MAX_TRUSTEES)]
    BadThreshold,
    /// Only keys of safe primes are shared.
    #[error("the key cannot be shared: its primes are not safe ones")]
    NotSafePrimes,
    /// A number that is not that of a trustee of the key.
    #[error("the key has {trustees} trustees, and none of this number")]
    NoSuchTrustee {
        /// Trustees that the key has.
        trustees: u32,
    },
    /// A share of a decryption does not belong to these ciphertexts, this trustee or this context; or was made up.
    #[error("the share is wrong")]
    DoesNotHold,
    /// A number of a share is 0, not below its modulus, or shares a factor with `n`.
    #[error("the share has a number out of range")]
    OutOfRange,
    /// Bytes are no whole number of shares.
    #[error("{bytes} bytes are no whole number of shares of {width} bytes")]
    Width {
        /// Bytes of a share.
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
    /// Shares are of another key's decryption.
    #[error("the share is of key {found}, not of {expected}")]
    OtherKey {
        /// Id of the key that decrypts.
        expected: KeyId,
        /// Id of the key that the share is of.
        found: KeyId,
    },
    /// One trustee's share was given twice.
    #[error("the share is there twice")]
    Twice,
    /// Fewer shares than it takes.
    #[error("{given} shares, and it takes {needed}")]
    TooFew {
        /// Shares that it takes.
        needed: u32,
        /// Shares given.
        given: usize,
    },
    /// `v` is a number that somebody chose.
    #[error(
        "v is not the number that the hash of n gives: the key was shared by a version whose dealer could choose results; \
         share a new key"
    )]
    OtherBase,
    /// Numbers that shares are verified by do not belong to one sharing of a decryption key.
    #[error("v_{first} to v_{last} are not those of a key that decrypts: the dealer made them up")]
    NotDealt {
        /// The first trustee of the window.
        first: u32,
        /// The last one.
        last: u32,
    },
    /// Right shares combine to no plaintext: what they are verified by is not of one key.
    #[error("the shares do not combine: the verification file is not what the dealer made")]
    DoNotCombine,
    /// The secret of a trustee's file is not what the file says that it is verified by.
    #[error("the trustee's secret does not belong to the key")]
    WrongSecret,
    /// The text of a file is longer than any.
    #[error("{bytes} bytes are more than any such file has")]
    TooLong {
        /// Bytes given.
        bytes: usize,
    },
    /// The text of a file is not JSON with the members that it must have.
    #[error("not the JSON of {what} (line {line}, column {column})")]
    Json {
        /// What it should be.
        what: &'static str,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// A member of a file is not what it must be.
    #[error("the member '{member}' {problem}")]
    Member {
        /// Its name.
        member: &'static str,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The key, a ciphertext or the random generator.
    #[error(transparent)]
    Scheme(paillier::ErrorKind),
}

impl ErrorKind {
    /// The error in this row, from 0.
    pub(crate) fn at_row(self, row: usize) -> Error {
        Error { row: Some(row), ..self.into() }
    }

    /// The error of this trustee's.
    pub(crate) fn of(self, trustee: u32) -> Error {
        Error::from(self).of(trustee)
    }
}

/// Fails unless two batches have as many rows.
pub(crate) fn check_lengths(left: usize, right: usize) -> Result<(), Error> {
    if left == right { Ok(()) } else { Err(ErrorKind::Lengths { left, right }.into()) }
}

/// Fails unless something is of the key.
pub(crate) fn check_key(expected: KeyId, found: KeyId) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(ErrorKind::OtherKey { expected, found }.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_comes_first() {
        let error = ErrorKind::DoesNotHold.at_row(3).of(2);
        assert_eq!((error.trustee(), error.row()), (Some(2), Some(3)));
        assert_eq!(error.to_string(), "trustee 2, row 3: the share is wrong");
        assert_eq!(ErrorKind::Twice.of(4).to_string(), "trustee 4: the share is there twice");
        let scheme = Error::from(paillier::ErrorKind::CiphertextZero.at_row(1));
        assert_eq!((scheme.row(), scheme.to_string().as_str()), (Some(1), "row 1: the ciphertext is 0"));
        assert_eq!(Error::from(ErrorKind::TooFew { needed: 3, given: 2 }).to_string(), "2 shares, and it takes 3");
    }
}
