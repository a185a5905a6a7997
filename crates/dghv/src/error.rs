//! The error type, which names the fault in the input and its row. No error carries a plaintext or
//! key material.

use hearith_arith::ArithError;
use hearith_ntt::NttError;
use std::fmt;

/// What is wrong, and in which row of a batch, from 0. The text names the row first.
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
    /// What is wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The row of the batch at fault, from 0, if there is one.
    pub fn row(&self) -> Option<usize> {
        self.0.row
    }

    /// The same error in this row.
    pub fn at_row(mut self, row: usize) -> Self {
        self.0.row = Some(row);
        self
    }

    /// The same error of no row: what a circuit's level computes is none of the caller's.
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
    /// What lies beneath the kind: the failure of the random generator, or of the arithmetic.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.kind.source()
    }
}

/// What is wrong. The text says nothing of the row; see [`Error`].
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A name that is none of those known.
    #[error("unknown {what}: known are {known}")]
    UnknownName {
        /// What it should name.
        what: &'static str,
        /// The names there are.
        known: &'static str,
    },
    /// Lengths with which the scheme would not work.
    #[error("parameters: {what}")]
    Parameters {
        /// What is wrong with them.
        what: &'static str,
    },
    /// A part of a key has not the length, or not the form, that its parameters ask for.
    #[error("the key is malformed: {what}")]
    MalformedKey {
        /// What is wrong with it.
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
    /// The result might not decrypt, or the ciphertext given.
    #[error("noise of up to {bits} bits where {limit} decrypt")]
    NoiseExhausted {
        /// Bits of noise, rounded up.
        bits: u32,
        /// Most bits that decrypt.
        limit: u32,
    },
    /// A ladder with more rungs than its parameters have room for, or with none.
    #[error("a ladder of {rungs} rungs: these parameters allow 1 to {most}")]
    Ladder {
        /// Rungs asked for.
        rungs: usize,
        /// Rungs that there is room for.
        most: usize,
    },
    /// There is no room for a ladder at all.
    #[error("these parameters are too small for a ladder")]
    NoLadder,
    /// Switching keys that would be too long, and a switch that would take too long.
    #[error("a ladder of these parameters needs {mebibytes} MiB per rung: at most {most} MiB are allowed")]
    LadderTooLarge {
        /// MiB of the first switching key.
        mebibytes: u64,
        /// Most that are made or read.
        most: u64,
    },
    /// A level that the key's ladder does not have, or one above the ciphertext's.
    #[error("no way from level {from} to level {to}: the key has {levels} levels below its own")]
    Level {
        /// The ciphertext's level.
        from: usize,
        /// The level asked for.
        to: usize,
        /// Rungs of the ladder.
        levels: usize,
    },
    /// Not 32 lower-case hexadecimal digits.
    #[error("not a key id: 32 lower-case hexadecimal digits")]
    NotAKeyId,
    /// Batches of different lengths.
    #[error("batches of {left} and {right} ciphertexts")]
    UnequalLengths {
        /// Rows of the first.
        left: usize,
        /// Rows of the second.
        right: usize,
    },
    /// A circuit's row has another number of bits than the circuit's inputs.
    #[error("{found} bits for a circuit of {expected}")]
    Inputs {
        /// Bits of the row.
        found: usize,
        /// Bits of all inputs.
        expected: usize,
    },
    /// The operating system gave no random numbers.
    #[error("the operating system gives no random numbers")]
    Random(#[from] getrandom::Error),
    /// The arithmetic layer refused.
    #[error(transparent)]
    Arith(#[from] ArithError),
    /// The super-size arithmetic refused.
    #[error(transparent)]
    Ntt(#[from] NttError),
}
