//! The error type, which reports the kind of error and the row. No error contains a plaintext or
//! key material.

use hearith_arith::ArithError;
use hearith_ntt::NttError;
use std::fmt;

/// An error, with the row of the batch, counted from 0, if there is one. The message starts with
/// the row.
///
/// ```
/// use hearith_dghv::{Error, ErrorKind};
/// let error = Error::from(ErrorKind::OtherKey).at_row(4);
/// assert_eq!((error.kind(), error.row()), (&ErrorKind::OtherKey, Some(4)));
/// assert_eq!(error.to_string(), "row 4: the ciphertext belongs to another key");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Located>);

#[derive(Clone, PartialEq, Eq)]
struct Located {
    row: Option<usize>,
    kind: ErrorKind,
}

impl Error {
    /// The kind of error.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The row of the batch, counted from 0, if the error belongs to one.
    pub fn row(&self) -> Option<usize> {
        self.0.row
    }

    /// The same error, assigned to this row.
    pub fn at_row(mut self, row: usize) -> Self {
        self.0.row = Some(row);
        self
    }

    /// The same error without a row: rows inside the evaluation of a circuit mean nothing to the
    /// caller.
    pub(crate) fn without_row(mut self) -> Self {
        self.0.row = None;
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

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error").field("row", &self.0.row).field("kind", &self.0.kind).finish()
    }
}

impl std::error::Error for Error {
    /// The cause of the error: a failure of the random generator or of the arithmetic.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.kind.source()
    }
}

/// The kinds of errors. Their messages omit the row; see [`Error`].
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An unknown name.
    #[error("unknown {what}: choose one of {known}")]
    UnknownName {
        /// The kind of thing to be named.
        what: &'static str,
        /// The known names.
        known: &'static str,
    },
    /// Lengths for which the scheme does not work.
    #[error("parameters: {what}")]
    Parameters {
        /// The violated condition.
        what: &'static str,
    },
    /// A part of a key has a length or form that does not match its parameters.
    #[error("the key is malformed: {what}")]
    MalformedKey {
        /// The problem.
        what: &'static str,
    },
    /// The parts of a key pair do not belong together.
    #[error("the private key does not belong to the public key")]
    KeysDiffer,
    /// A ciphertext of another key.
    #[error("the ciphertext belongs to another key")]
    OtherKey,
    /// A ciphertext is not below the modulus, or not of its length.
    #[error("the ciphertext is not a number below the key's modulus")]
    OutOfRange,
    /// The noise of the result or of the given ciphertext is too large to decrypt reliably.
    #[error("noise of up to {bits} bits is too much: at most {limit} bits decrypt correctly")]
    NoiseExhausted {
        /// Noise in bits, rounded up.
        bits: u32,
        /// Largest noise in bits that decrypts.
        limit: u32,
    },
    /// A ladder with no rungs, or with more than its parameters allow.
    #[error("a ladder of {rungs} rungs is not possible: these parameters allow 1 to {most}")]
    Ladder {
        /// Rungs requested.
        rungs: usize,
        /// Rungs that the parameters allow.
        most: usize,
    },
    /// The parameters do not allow a ladder.
    #[error("these parameters are too small for a ladder")]
    NoLadder,
    /// The switching keys would be too long and a switch too slow.
    #[error("a ladder of these parameters needs {mebibytes} MiB per rung: at most {most} MiB are allowed")]
    LadderTooLarge {
        /// Size of the first switching key in MiB.
        mebibytes: u64,
        /// Largest size in MiB that is generated or read.
        most: u64,
    },
    /// A level that the key's ladder does not have, or one above the ciphertext's level.
    #[error("cannot switch from level {from} to level {to}: the key has {levels} levels below its own")]
    Level {
        /// The ciphertext's level.
        from: usize,
        /// The requested level.
        to: usize,
        /// Rungs of the ladder.
        levels: usize,
    },
    /// The text is not 32 lower-case hexadecimal digits.
    #[error("not a key ID: expected 32 lower-case hexadecimal digits")]
    NotAKeyId,
    /// Batches of different lengths.
    #[error("the batches must have the same length, not {left} and {right} ciphertexts")]
    UnequalLengths {
        /// Rows of the first.
        left: usize,
        /// Rows of the second.
        right: usize,
    },
    /// A row has a different number of bits than the circuit's inputs.
    #[error("the circuit needs {expected} input bits, not {found}")]
    Inputs {
        /// Bits of the row.
        found: usize,
        /// Bits of all inputs.
        expected: usize,
    },
    /// The operating system provided no random numbers.
    #[error("the operating system's random generator failed")]
    Random(#[from] getrandom::Error),
    /// The arithmetic layer reported an error.
    #[error(transparent)]
    Arith(#[from] ArithError),
    /// The super-size arithmetic reported an error.
    #[error(transparent)]
    Ntt(#[from] NttError),
}
