//! Errors of a shared key or of shares of a decryption, with their position.

use hearith_paillier::{self as paillier, KeyId};
use std::fmt;

/// An error, with the trustee and the row of the batch that it concerns, from 0. The text starts
/// with the position and contains no secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    trustee: Option<u32>,
    row: Option<usize>,
}

impl Error {
    /// The kind of the error.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// The trustee with the invalid share, from 1, if the error concerns one.
    pub fn trustee(&self) -> Option<u32> {
        self.trustee
    }

    /// The invalid row, from 0, if the error concerns one.
    pub fn row(&self) -> Option<usize> {
        self.row
    }

    /// The same error for this trustee.
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

/// The kind of an error. The text does not name the position; see [`Error`].
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A key cannot be shared among this number of trustees with this threshold.
    #[error("a key can be shared by 1 to {} trustees, with a threshold of 1 to all of them", crate::MAX_TRUSTEES)]
    BadThreshold,
    /// This number of trustees cannot generate a key with this threshold or these public keys.
    #[error(
        "key generation needs 3 to 9 trustees with one public key each, and a threshold of at least 2 and at most half of them, rounded up"
    )]
    BadSharing,
    /// A key whose primes are not safe primes, which cannot be shared.
    #[error("the key cannot be shared: its primes are not safe primes")]
    NotSafePrimes,
    /// A trustee that the key does not have.
    #[error("there is no trustee with this number: the key has {trustees} trustees")]
    NoSuchTrustee {
        /// The number of trustees of the key.
        trustees: u32,
    },
    /// A share of a decryption is forged, or belongs to other ciphertexts, another trustee or
    /// another context.
    #[error("the share is wrong")]
    DoesNotHold,
    /// A number of a share is 0, not below its modulus, or shares a factor with `n`.
    #[error("a number in the share is out of range")]
    OutOfRange,
    /// Bytes are not a whole number of shares.
    #[error("expected whole shares of {width} bytes, not {bytes} bytes")]
    Width {
        /// Bytes of a share.
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
    /// Shares of a decryption under another key.
    #[error("the share belongs to key {found}, not to key {expected}")]
    OtherKey {
        /// Id of the key that decrypts.
        expected: KeyId,
        /// Id of the key of the share.
        found: KeyId,
    },
    /// Two shares of the same trustee.
    #[error("the share is given twice")]
    Twice,
    /// Fewer shares than the threshold.
    #[error("{given} shares, but {needed} are needed")]
    TooFew {
        /// The number of shares needed.
        needed: u32,
        /// The number of shares given.
        given: usize,
    },
    /// `v` differs from the hash of `n`, so someone may have chosen it.
    #[error(
        "v does not match the hash of n: the key was shared by a version whose dealer could choose results; \
         share a new key"
    )]
    OtherBase,
    /// The verification numbers `v_i` do not belong to one sharing of a decryption key.
    #[error("v_{first} to v_{last} do not belong to one sharing of a decryption key: the dealer forged them")]
    NotDealt {
        /// The first trustee of the window.
        first: u32,
        /// The last one.
        last: u32,
    },
    /// Valid shares do not combine to a plaintext: the verification keys do not belong to one key.
    #[error("the shares do not combine: the verification file is not the one that the dealer created")]
    DoNotCombine,
    /// The secret in a trustee's file does not match the verification number in the file.
    #[error("the trustee's secret does not belong to the key")]
    WrongSecret,
    /// The text of a file exceeds the maximum length.
    #[error("the file is too long: {bytes} bytes")]
    TooLong {
        /// Length of the text.
        bytes: usize,
    },
    /// The text of a file is not JSON with the required members.
    #[error("not the JSON of {what} (line {line}, column {column})")]
    Json {
        /// The expected file.
        what: &'static str,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// A member of a file is invalid.
    #[error("the member '{member}' {problem}")]
    Member {
        /// The name of the member.
        member: &'static str,
        /// The fault.
        problem: &'static str,
    },
    /// An error of the key, a ciphertext or the random generator.
    #[error(transparent)]
    Scheme(paillier::ErrorKind),
}

impl ErrorKind {
    /// The error at this row, from 0.
    pub(crate) fn at_row(self, row: usize) -> Error {
        Error { row: Some(row), ..self.into() }
    }

    /// The error for this trustee.
    pub(crate) fn of(self, trustee: u32) -> Error {
        Error::from(self).of(trustee)
    }
}

/// Fails unless two batches have the same number of rows.
pub(crate) fn check_lengths(left: usize, right: usize) -> Result<(), Error> {
    if left == right { Ok(()) } else { Err(ErrorKind::Lengths { left, right }.into()) }
}

/// Fails unless the key ids are equal.
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
        assert_eq!(ErrorKind::Twice.of(4).to_string(), "trustee 4: the share is given twice");
        let scheme = Error::from(paillier::ErrorKind::CiphertextZero.at_row(1));
        assert_eq!((scheme.row(), scheme.to_string().as_str()), (Some(1), "row 1: the ciphertext is 0"));
        assert_eq!(Error::from(ErrorKind::TooFew { needed: 3, given: 2 }).to_string(), "2 shares, but 3 are needed");
    }
}
