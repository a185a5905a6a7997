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

/// A device, or the way to it, failed: what is wrong, and in which row of the batch. Nothing of a
/// batch is given out then; the device has been flushed and can be used again unless it has stopped
/// answering.
///
/// Rows are counted from 0. The text names the row first:
/// `row 4: the device returned something that is not a plaintext`.
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
    /// What is wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// The row of the batch at fault, from 0, if there is one.
    pub fn row(&self) -> Option<usize> {
        self.row
    }

    /// The same error in this row.
    pub fn at_row(self, row: usize) -> Self {
        Self { row: Some(row), ..self }
    }

    /// The same error with `rows` added to its row, for a batch that starts there.
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
    /// What lies beneath the kind: the operating system's error, the scheme's, or that of a
    /// transport.
    fn source(&self) -> Option<&(dyn Cause + 'static)> {
        self.kind.source()
    }
}

/// What is wrong. The text says nothing of the row; see [`Error`].
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refuses.
    #[error("{what}: {source}")]
    Io {
        /// The file concerned.
        what: String,
        /// Why it failed.
        source: Arc<io::Error>,
    },
    /// A transport that is not this crate's failed in a way of its own.
    #[error("{0}")]
    Transport(#[source] Arc<dyn Cause + Send + Sync>),
    /// A register access got no answer.
    #[error("the device does not answer (register {address:#x})")]
    Silent {
        /// Byte address of the register.
        address: u32,
    },
    /// Every register reads as all ones: nothing is there any more.
    #[error("the device has gone: its registers read as all ones")]
    Vanished,
    /// The modulus has so small a factor that the device's multipliers cannot be made ready for it.
    #[error("the device cannot compute with this modulus: it shares a factor with the number that scales it")]
    UnsuitableModulus,
    /// The device refused a register access: no such register, or not now.
    #[error("the device rejects access to register {address:#x}")]
    Refused {
        /// Byte address of the register.
        address: u32,
    },
    /// The streams made no progress for longer than the device may take.
    #[error("the device stopped: it accepted {sent} and returned {received} of {expected} items")]
    Stalled {
        /// Items that it took.
        sent: usize,
        /// Items that it gave.
        received: usize,
        /// Items sent to it.
        expected: usize,
    },
    /// The packet from the device was shorter or longer than it should be.
    #[error("the device's stream was cut: the answer ended after {bytes} of {expected} bytes")]
    CutShort {
        /// Bytes that came.
        bytes: usize,
        /// Bytes that should have come.
        expected: usize,
    },
    /// The packet from the device answers something else than was asked.
    #[error("the device answered another request")]
    WrongAnswer,
    /// The device noted something that should not have happened.
    #[error("the device reports: {causes}")]
    Noted {
        /// What it noted, in words.
        causes: String,
    },
    /// The device was reset, or flushed by somebody else, since it was opened.
    #[error("the device was reset while it was in use")]
    WasReset,
    /// The device takes nothing: it has lost its constants.
    #[error("the device is not ready: it was reset or wiped while it was in use")]
    NotReady,
    /// What arrived in a region of the device is not what was written there.
    #[error("the key did not reach the device: region {region} has another checksum")]
    KeyNotLoaded {
        /// Number of the region.
        region: u32,
    },
    /// A packet to the device was shorter or longer than it should be when it arrived there.
    #[error("the device dropped a packet of the wrong length: the stream to it was cut")]
    Dropped,
    /// Something else answers than the device that is driven.
    #[error("not a {expected}: its identity is {found:#010x}")]
    WrongDevice {
        /// Name of the device expected.
        expected: &'static str,
        /// Identity read.
        found: u32,
    },
    /// The device's register map or parameters are not those that this driver knows.
    #[error("{name} has parameters that this driver does not know")]
    UnknownParameters {
        /// Name of the device.
        name: &'static str,
    },
    /// The key is larger than the device was built for.
    #[error("a key of {bits} bits does not fit: the device takes at most {largest}")]
    KeyTooLarge {
        /// Size of the key.
        bits: u32,
        /// Size of the largest that fits.
        largest: u32,
    },
    /// The key has not the one size that the device takes.
    #[error("a key of {bits} bits does not fit: the device takes keys of {takes} bits")]
    KeySize {
        /// Size of the key.
        bits: u32,
        /// Size of those that fit.
        takes: u32,
    },
    /// A batch came before a key, or before one that can do this.
    #[error("the device has no key")]
    NoKey,
    /// The device's answers are not the right ones, though each could be one. Which rows are wrong
    /// is not known; the device has been wiped.
    #[error("the device returned a wrong result: the batch failed the check and was discarded")]
    FailedCheck,
    /// The device refuses a command, and says why; others of the batch were carried out, but
    /// nothing of it is given out.
    #[error("the device rejects the command: {refusal}")]
    CommandRefused {
        /// Why.
        refusal: Refusal,
    },
    /// The device gave a number that is no ciphertext.
    #[error("the device returned something that is not a ciphertext")]
    NotACiphertext,
    /// The device gave a number that is no plaintext.
    #[error("the device returned something that is not a plaintext")]
    NotAPlaintext,
    /// No residue bank at hand has these moduli and takes numbers of this length.
    #[error("no residue bank has these {moduli} moduli for numbers of {bits} bits (the largest takes {largest} bits)")]
    NoResidueBank {
        /// How many moduli were asked for.
        moduli: usize,
        /// Bits of a number.
        bits: u32,
        /// Bits of a number that the largest bank takes.
        largest: u32,
    },
    /// The residue bank was not built for this modulus.
    #[error("the residue bank has no unit for the modulus {modulus}")]
    NotAModulus {
        /// The modulus.
        modulus: u64,
    },
    /// A number is longer than the residue bank takes.
    #[error("the number is longer than the {bits} bits that the residue bank takes")]
    NumberTooLong {
        /// Bits of a number that it takes.
        bits: u32,
    },
    /// The device gave a number that is not below its modulus.
    #[error("the device returned something that is not a residue modulo {modulus}")]
    NotAResidue {
        /// The modulus.
        modulus: u64,
    },
    /// What a key over the integers takes of the accelerator's memory is more than there is.
    #[error("the key takes {words} words of the device's memory, which has {largest}")]
    MemoryTooSmall {
        /// Words of 64 bits that it takes.
        words: u64,
        /// Those that the largest memory has.
        largest: u32,
    },
    /// The coefficients of a key over the integers are longer than the accelerator takes for a
    /// modulus of its length.
    #[error("coefficients of {bits} bits do not fit: the device takes at most {largest} with a modulus of this length")]
    CoefficientTooLong {
        /// Bits of a coefficient.
        bits: u32,
        /// The most that fit.
        largest: u32,
    },
    /// The accelerator refuses to encrypt with what it was given; nothing of the batch is given
    /// out.
    #[cfg(feature = "dghv")]
    #[error("the device rejects the encryption: {why}")]
    EncryptionRefused {
        /// What is wrong.
        why: Unfit,
    },
    /// The memory of the accelerator failed; nothing of the batch is given out.
    #[cfg(feature = "dghv")]
    #[error("the device's memory {fault} while the device was {}", if *.writing { "writing" } else { "reading" })]
    MemoryFailed {
        /// What is wrong with it.
        fault: MemoryFault,
        /// Whether it was being written.
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
    /// The ballot machine proves for voters whose names are numbers.
    #[error(
        "the machine knows voters by numbers of eight hexadecimal digits, from 00000000 to {last}, and this one by none"
    )]
    UnnumberedVoter {
        /// The highest.
        last: String,
    },
    /// A ballot machine is not to be had with these settings.
    #[error("{what}")]
    Settings {
        /// What is wrong with them.
        what: String,
    },
    /// The ballot machine refuses a vote.
    #[error("the machine rejects the vote: {refusal}")]
    VoteRefused {
        /// Why.
        refusal: ballot::Refusal,
    },
    /// A tally board refuses an order.
    #[error("the tally board rejects the request: {decline}")]
    OrderDeclined {
        /// Why.
        decline: ballot::Decline,
    },
    /// An election has more ballots than a tally board has places for.
    #[error("{ballots} ballots do not fit: the tally board counts at most {most}")]
    TooManyBallots {
        /// How many there are, contest by contest.
        ballots: usize,
        /// How many fit.
        most: usize,
    },
    /// Shares of a key are longer than those that a tally board takes.
    #[error("shares of {bits} bits do not fit: the tally board takes shares of {most} bits at most")]
    ShareTooLong {
        /// Bits of the longest share of the key.
        bits: u32,
        /// Bits of the longest that fits.
        most: u32,
    },
    /// A tally board does not count what it is given.
    #[error("the tally board counted {counted} ballots of {ballots}")]
    NotCounted {
        /// How many it counted.
        counted: u32,
        /// How many it was given.
        ballots: u32,
    },
    /// What a ballot machine gave is not the ballot that its receipt is of, or not the one that was
    /// sealed.
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
