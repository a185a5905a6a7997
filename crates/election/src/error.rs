//! Errors of an election's entries, with their position.

use crate::body::Kind;
use crate::state::Phase;
use std::fmt;

/// An error, and the index of its entry on the board, from 0. The text starts with the position and
/// contains no secrets.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    entry: Option<u64>,
}

impl Error {
    /// The kind of the error.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// The index of the invalid entry, from 0, if the error has one.
    pub fn entry(&self) -> Option<u64> {
        self.entry
    }

    /// The same error at this entry.
    pub fn at_entry(self, entry: u64) -> Self {
        Error { entry: Some(entry), ..self }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.entry {
            Some(entry) => write!(f, "entry {entry}: {}", self.kind),
            None => self.kind.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&self.kind)
    }
}

impl<T: Into<ErrorKind>> From<T> for Error {
    fn from(kind: T) -> Self {
        Error { kind: kind.into(), entry: None }
    }
}

/// A place in a ballot: a mark of a contest, both numbered from 0, or the sum of a contest's marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The contest.
    pub contest: usize,
    /// The mark, or `None` for the sum.
    pub mark: Option<usize>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mark {
            Some(mark) => write!(f, "contest {}, mark {mark}", self.contest),
            None => write!(f, "contest {}, the sum", self.contest),
        }
    }
}

/// The kind of an error. The text does not name the entry; see [`Error`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A text exceeds the maximum length.
    #[error("{bytes} bytes are too many for an entry")]
    TooLong {
        /// Length of the text.
        bytes: usize,
    },
    /// A text is not valid JSON of the expected type.
    #[error("{what} is not JSON of the required form (line {line}, column {column})")]
    Json {
        /// The expected value.
        what: &'static str,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// A text is not byte for byte in canonical form.
    #[error("{what} is not in canonical form")]
    NotCanonical {
        /// The expected value.
        what: &'static str,
    },
    /// A line's index differs from its position.
    #[error("the line states the index {found}")]
    WrongIndex {
        /// The index in the line.
        found: u64,
    },
    /// A line does not contain the hash of the previous line.
    #[error("the chain is broken: 'previous' is not the hash of the line before")]
    BrokenChain,
    /// A signature is not by the required author.
    #[error("the signature does not hold")]
    BadSignature,
    /// A public signing key is invalid.
    #[error("{whose} key is not an Ed25519 public key")]
    BadKey {
        /// The owner of the key.
        whose: &'static str,
    },
    /// An entry belongs to another election.
    #[error("belongs to another election")]
    WrongElection,
    /// An entry is not permitted in the current phase.
    #[error("an entry of kind '{kind}' is not allowed now: {phase}")]
    OutOfOrder {
        /// The kind of the entry.
        kind: Kind,
        /// The phase of the election.
        phase: Phase,
    },
    /// The election's dates do not permit an entry now.
    #[error("{problem}")]
    Date {
        /// The fault.
        problem: &'static str,
    },
    /// An invalid election.
    #[error("invalid election: {problem}")]
    Manifest {
        /// The fault.
        problem: &'static str,
    },
    /// An invalid contest.
    #[error("contest {contest} is invalid: {problem}")]
    Contest {
        /// The contest, from 0.
        contest: usize,
        /// The fault.
        problem: &'static str,
    },
    /// An invalid list of voters.
    #[error("voter {voter} of the entry: {problem}")]
    Voter {
        /// The index of the voter in the entry, from 0.
        voter: usize,
        /// The fault.
        problem: &'static str,
    },
    /// A ballot of someone who is not on the list of voters.
    #[error("not a voter of this election")]
    UnknownVoter,
    /// A second ballot where the first one is final.
    #[error("the voter has already cast a ballot")]
    VotedAlready,
    /// A choice that the contest does not allow.
    #[error("contest {contest}: {problem}")]
    Choice {
        /// The contest, from 0.
        contest: usize,
        /// The fault.
        problem: &'static str,
    },
    /// A ballot whose form does not fit this election.
    #[error("contest {contest}: {problem}")]
    Ballot {
        /// The contest, from 0, or the number of contests in the election if the ballot has a
        /// different number.
        contest: usize,
        /// The fault.
        problem: &'static str,
    },
    /// A ciphertext that is already on the board.
    #[error("{place}: the ciphertext is already on the board")]
    CiphertextTwice {
        /// Its place.
        place: Place,
    },
    /// A number that is 0, not below its modulus, or shares a factor with `n`.
    #[error("{place}: a number is out of range")]
    OutOfRange {
        /// Its place.
        place: Place,
    },
    /// A proof that does not hold.
    #[error("{place}: the proof does not hold")]
    DoesNotHold {
        /// Its place.
        place: Place,
    },
    /// An opening of a challenged ballot does not fit its ciphertext.
    #[error("{place}: the opening does not match the ciphertext")]
    WrongOpening {
        /// Its place.
        place: Place,
    },
    /// The products of a tally are not those of the counted ballots.
    #[error("{place}: not the product of the ballots on the board")]
    WrongTally {
        /// Its place.
        place: Place,
    },
    /// A tally counts different ballots than the board has.
    #[error("the board has {counted} ballots that count, of total weight {weight}, but the entry states otherwise")]
    WrongCount {
        /// The number of ballots that count.
        counted: u64,
        /// Their total weight.
        weight: u64,
    },
    /// The board shows a different entry for a receipt than the one that was sent.
    #[error("the receipt is for entry {index}, which differs from what was sent")]
    WrongReceipt {
        /// The entry that the receipt names.
        index: u64,
    },
    /// An entry does not have the form that the election requires.
    #[error("{problem}")]
    Shape {
        /// The fault.
        problem: &'static str,
    },
    /// A trustee that does not exist.
    #[error("there is no trustee with this number: the key has {trustees} trustees")]
    NoSuchTrustee {
        /// The number of trustees.
        trustees: u32,
    },
    /// A second share of the same trustee.
    #[error("trustee {trustee} has already given a share")]
    ShareTwice {
        /// The trustee, from 1.
        trustee: u32,
    },
    /// Fewer shares than the threshold.
    #[error("{given} shares, but {needed} are needed")]
    TooFewShares {
        /// The number of shares needed.
        needed: u32,
        /// The number of shares given.
        given: u32,
    },
    /// A result that differs from the decryption.
    #[error("contest {contest}: not what the tally decrypts to")]
    WrongResult {
        /// The contest, from 0.
        contest: usize,
    },
    /// A decryption that no valid tally can have.
    #[error("contest {contest}: the tally does not decrypt to a valid result")]
    NoResult {
        /// The contest, from 0.
        contest: usize,
    },
    /// A head whose root differs from that of the board.
    #[error("the head of {size} entries does not have the root of the board")]
    WrongRoot {
        /// The size of the head.
        size: u64,
    },
    /// A head that is smaller than its predecessor or larger than the board.
    #[error("the head of {size} entries is smaller than the head before it or larger than the board")]
    WrongSize {
        /// The size of the head.
        size: u64,
    },
    /// Entries after the last head, which the board has not signed.
    #[error("{entries} entries follow the last head: the board has not signed them")]
    Unsigned {
        /// The number of entries.
        entries: u64,
    },
    /// Invalid statements of the trustees about the key that they generated together.
    #[error("the trustees' statements about the key: {problem}")]
    Statements {
        /// The fault.
        problem: &'static str,
    },
    /// A credential or secret key that belongs to someone else.
    #[error("{problem}")]
    Secret {
        /// The fault.
        problem: &'static str,
    },
    /// An error of the key or a ciphertext.
    #[error(transparent)]
    Scheme(#[from] hearith_paillier::Error),
    /// An error of a proof.
    #[error(transparent)]
    Proof(#[from] hearith_proofs::Error),
    /// An error of a shared key or a share.
    #[error(transparent)]
    Shared(#[from] hearith_threshold::Error),
    /// A failure of the random generator.
    #[error("the operating system's random generator failed: {0}")]
    Randomness(#[from] getrandom::Error),
    /// The message of another machine that verifies a part of the record.
    #[error("{0}")]
    Elsewhere(String),
    /// A failure to read or write a record.
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

impl ErrorKind {
    /// The error at this entry, from 0.
    pub fn at_entry(self, entry: u64) -> Error {
        Error::from(self).at_entry(entry)
    }
}
