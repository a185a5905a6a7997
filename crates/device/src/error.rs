//! Errors of a device. No error carries key material or a plaintext.

use std::error::Error as Cause;
use std::fmt;
use std::io;
use std::sync::Arc;

use hearith_paillier::ErrorKind as SchemeErrorKind;

use crate::ballot;
use crate::coproc::Refusal;
#[cfg(feature = "dghv")]
use crate::dghv::{MemoryFault, Unfit};

/// A failure of a device or its connection, with the row of the batch if there is one.
///
/// No result of the batch is returned. The device has been flushed and can be used again unless it
/// has stopped answering.
///
/// Rows are counted from 0. The message begins with the row: `row 4: the device returned something
/// that is not a plaintext`.
///
/// ```
/// use hearith_device::{Error, ErrorKind};
/// let error = Error::from(ErrorKind::NotAPlaintext).at_row(4);
/// assert_eq!((error.row(), error.to_string()), (Some(4), "row 4: the device returned something that is not a plaintext".into()));
/// assert_eq!(error.offset_rows(1000).row(), Some(1004));
/// ```
#[derive(Clone, Debug)]
pub struct Error {
    row: Option<usize>,
    kind: ErrorKind,
}

impl Error {
    /// The kind of the error.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// The row of the batch at fault, counted from 0, if there is one.
    pub fn row(&self) -> Option<usize> {
        self.row
    }

    /// Returns the same error for this row.
    pub fn at_row(self, row: usize) -> Self {
        Self { row: Some(row), ..self }
    }

    /// Returns the same error with `rows` added to its row, for a batch that starts there.
    pub fn offset_rows(self, rows: usize) -> Self {
        Self { row: self.row.map(|row| row.saturating_add(rows)), ..self }
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self { row: None, kind }
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

impl Cause for Error {
    /// The underlying error of the kind: from the operating system, the scheme or a transport.
    fn source(&self) -> Option<&(dyn Cause + 'static)> {
        self.kind.source()
    }
}

/// The kind of an error. Its message does not mention the row; see [`Error`].
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system reports an error.
    #[error("{what}: {source}")]
    Io {
        /// The file concerned.
        what: String,
        /// Why it failed.
        source: Arc<io::Error>,
    },
    /// A transport outside this crate failed with an error of its own.
    #[error("{0}")]
    Transport(#[source] Arc<dyn Cause + Send + Sync>),
    /// A register access got no answer.
    #[error("the device does not answer (register {address:#x})")]
    Silent {
        /// Byte address of the register.
        address: u32,
    },
    /// Every register reads as all ones: the device is no longer there.
    #[error("the device is gone: its registers read as all ones")]
    Vanished,
    /// The modulus has a factor so small that it cannot be prepared for the device's multipliers.
    #[error("the device cannot compute with this modulus: it shares a factor with the number that scales it")]
    UnsuitableModulus,
    /// The device refused a register access: no such register, or not allowed now.
    #[error("the device rejects access to register {address:#x}")]
    Refused {
        /// Byte address of the register.
        address: u32,
    },
    /// The streams made no progress for longer than the device's time limit.
    #[error("the device stopped: it accepted {sent} and returned {received} of {expected} items")]
    Stalled {
        /// Items that the device accepted.
        sent: usize,
        /// Items that it returned.
        received: usize,
        /// Items sent to it.
        expected: usize,
    },
    /// The packet from the device was shorter or longer than it should be.
    #[error("the device's stream was cut: the answer ended after {bytes} of {expected} bytes")]
    CutShort {
        /// Bytes received.
        bytes: usize,
        /// Bytes expected.
        expected: usize,
    },
    /// The packet from the device answers a different request.
    #[error("the device answered another request")]
    WrongAnswer,
    /// The device recorded an error.
    #[error("the device reports: {causes}")]
    Noted {
        /// The recorded causes, in words.
        causes: String,
    },
    /// The device was reset, or flushed by another program, since it was opened.
    #[error("the device was reset while it was in use")]
    WasReset,
    /// The device accepts nothing: it has lost its constants.
    #[error("the device is not ready: it was reset or wiped while it was in use")]
    NotReady,
    /// A region of the device does not hold what was written to it.
    #[error("the key did not reach the device: region {region} has another checksum")]
    KeyNotLoaded {
        /// Number of the region.
        region: u32,
    },
    /// A packet arrived at the device with the wrong length.
    #[error("the device dropped a packet of the wrong length: the stream to it was cut")]
    Dropped,
    /// The device that answers is not the one that this driver drives.
    #[error("not a {expected}: its identity is {found:#010x}")]
    WrongDevice {
        /// Name of the device expected.
        expected: &'static str,
        /// Identity read.
        found: u32,
    },
    /// This driver does not know the device's register map or parameters.
    #[error("{name} has parameters that this driver does not know")]
    UnknownParameters {
        /// Name of the device.
        name: &'static str,
    },
    /// The key is larger than the device was built for.
    #[error("a key of {bits} bits does not fit: the device supports at most {largest}")]
    KeyTooLarge {
        /// Size of the key.
        bits: u32,
        /// Size of the largest that fits.
        largest: u32,
    },
    /// The device accepts keys of one size only, and this key has another.
    #[error("a key of {bits} bits does not fit: the device supports keys of {takes} bits")]
    KeySize {
        /// Size of the key.
        bits: u32,
        /// Size of the keys that fit.
        takes: u32,
    },
    /// The device has no key, or no key that allows this operation.
    #[error("the device has no key")]
    NoKey,
    /// The device returned wrong answers, although each has a possible value. Which rows are wrong
    /// is not known. The device has been wiped.
    #[error("the device returned a wrong result: the batch failed the check and was discarded")]
    FailedCheck,
    /// The device refuses a command, for the given reason. It may have carried out others of the
    /// batch, but no result is returned.
    #[error("the device rejects the command: {refusal}")]
    CommandRefused {
        /// The reason.
        refusal: Refusal,
    },
    /// The device returned a number that is not a ciphertext.
    #[error("the device returned something that is not a ciphertext")]
    NotACiphertext,
    /// The device returned a number that is not a plaintext.
    #[error("the device returned something that is not a plaintext")]
    NotAPlaintext,
    /// No available residue bank has these moduli and accepts numbers of this length.
    #[error("no residue bank has these {moduli} moduli for numbers of {bits} bits (the largest takes {largest} bits)")]
    NoResidueBank {
        /// Number of moduli requested.
        moduli: usize,
        /// Bits of a number.
        bits: u32,
        /// Bits of a number that the largest bank accepts.
        largest: u32,
    },
    /// The residue bank was not built for this modulus.
    #[error("the residue bank has no unit for the modulus {modulus}")]
    NotAModulus {
        /// The modulus.
        modulus: u64,
    },
    /// A number is longer than the residue bank accepts.
    #[error("the number is longer than the {bits} bits that the residue bank takes")]
    NumberTooLong {
        /// Most bits of a number that it accepts.
        bits: u32,
    },
    /// The device returned a number that is not below its modulus.
    #[error("the device returned something that is not a residue modulo {modulus}")]
    NotAResidue {
        /// The modulus.
        modulus: u64,
    },
    /// A key of the scheme over the integers needs more memory than the accelerator has.
    #[error("the key needs {words} words of the device's memory, which has {largest}")]
    MemoryTooSmall {
        /// Words of 64 bits that the key needs.
        words: u64,
        /// Words of the largest memory.
        largest: u32,
    },
    /// The key's coefficients are longer than the accelerator accepts for a modulus of its length
    /// (scheme over the integers).
    #[error(
        "coefficients of {bits} bits do not fit: the device supports at most {largest} with a modulus of this length"
    )]
    CoefficientTooLong {
        /// Bits of a coefficient.
        bits: u32,
        /// Most bits of a coefficient that fits.
        largest: u32,
    },
    /// The accelerator refuses to encrypt with its input. No result of the batch is returned.
    #[cfg(feature = "dghv")]
    #[error("the device rejects the encryption: {why}")]
    EncryptionRefused {
        /// The reason.
        why: Unfit,
    },
    /// The accelerator's memory failed. No result of the batch is returned.
    #[cfg(feature = "dghv")]
    #[error("the device's memory {fault} while the device was {}", if *.writing { "writing" } else { "reading" })]
    MemoryFailed {
        /// The fault of the memory.
        fault: MemoryFault,
        /// True if the device was writing, false if it was reading.
        writing: bool,
    },
    /// The election has more contests than the ballot machine was built for.
    #[error("an election of {contests} contests does not fit: the machine takes at most {most}")]
    TooManyContests {
        /// Contests of the election.
        contests: usize,
        /// The most that fit.
        most: usize,
    },
    /// A contest has more marks than the ballot machine was built for.
    #[error("contest {contest} does not fit: it has {marks} marks, and the machine takes at most {most}")]
    TooManyMarks {
        /// The contest, from 0.
        contest: usize,
        /// Its marks.
        marks: usize,
        /// The most that fit.
        most: usize,
    },
    /// The ballot machine makes proofs only for voters whose names are numbers.
    #[error("the machine accepts only voters with a number of eight hexadecimal digits, from 00000000 to {last}")]
    UnnumberedVoter {
        /// The highest voter number.
        last: String,
    },
    /// A ballot machine cannot be built with these settings.
    #[error("{what}")]
    Settings {
        /// The problem with the settings.
        what: String,
    },
    /// The ballot machine refuses a vote.
    #[error("the machine rejects the vote: {refusal}")]
    VoteRefused {
        /// The reason.
        refusal: ballot::Refusal,
    },
    /// A tally board rejects a request.
    #[error("the tally board rejects the request: {decline}")]
    OrderDeclined {
        /// The reason.
        decline: ballot::Decline,
    },
    /// An election has more ballots than fit a tally board.
    #[error("{ballots} ballots do not fit: the tally board counts at most {most}")]
    TooManyBallots {
        /// Number of ballots, counted per contest.
        ballots: usize,
        /// Number of ballots that fit.
        most: usize,
    },
    /// The key's shares are longer than a tally board accepts.
    #[error("shares of {bits} bits do not fit: the tally board takes shares of {most} bits at most")]
    ShareTooLong {
        /// Bits of the longest share of the key.
        bits: u32,
        /// Bits of the longest that fits.
        most: u32,
    },
    /// A tally board did not count all of its ballots.
    #[error("the tally board counted {counted} ballots of {ballots}")]
    NotCounted {
        /// Ballots that it counted.
        counted: u32,
        /// Ballots that it was given.
        ballots: u32,
    },
    /// The ballot machine returned a ballot that does not match its receipt, or not the ballot that
    /// was sealed.
    #[error("the machine returned something that is not a ballot")]
    NoBallot,
    /// The ballot machine does not answer.
    #[error("the machine does not answer: the line is silent or its data is damaged")]
    MachineSilent,
    /// Encryption over the integers itself failed.
    #[cfg(feature = "dghv")]
    #[error(transparent)]
    Integers(hearith_dghv::ErrorKind),
    /// The batch is not one for this key, or the key's constants cannot be computed.
    #[error(transparent)]
    Scheme(#[from] SchemeErrorKind),
}

impl From<hearith_paillier::Error> for Error {
    /// Keeps the row.
    fn from(error: hearith_paillier::Error) -> Self {
        Self { row: error.row(), kind: error.kind().clone().into() }
    }
}

#[cfg(feature = "dghv")]
impl From<hearith_dghv::Error> for Error {
    /// Keeps the row.
    fn from(error: hearith_dghv::Error) -> Self {
        Self { row: error.row(), kind: ErrorKind::Integers(error.kind().clone()) }
    }
}
