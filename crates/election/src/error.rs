//! What can be wrong with an election's entries, and where.

use crate::body::Kind;
use crate::state::Phase;
use std::fmt;

/// What is wrong, and in which entry of the board, from 0. The text names the place first, and
/// holds nothing secret.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    entry: Option<u64>,
}

impl Error {
    /// What is wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// The entry at fault, from 0, if there is one.
    pub fn entry(&self) -> Option<u64> {
        self.entry
    }

    /// The same error in this entry.
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

/// A place in a ballot: contest and mark, from 0, or the sum of a contest's marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The contest.
    pub contest: usize,
    /// The mark; `None` is the sum.
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

/// What is wrong. The text says nothing of the entry; see [`Error`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A text is longer than any.
    #[error("{bytes} bytes are too long for an entry")]
    TooLong {
        /// Bytes given.
        bytes: usize,
    },
    /// A text is not the JSON that it must be.
    #[error("not the JSON of {what} (line {line}, column {column})")]
    Json {
        /// What it should be.
        what: &'static str,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// A text is not byte for byte what it must be.
    #[error("{what} is not in its canonical form")]
    NotCanonical {
        /// What it should be.
        what: &'static str,
    },
    /// A line has another number than its place.
    #[error("the line says that it is entry {found}")]
    WrongIndex {
        /// What the line says.
        found: u64,
    },
    /// A line does not name the hash of the line before.
    #[error("the chain is broken: 'previous' is not the hash of the line before")]
    BrokenChain,
    /// An entry is not signed by whoever must have made it.
    #[error("the signature does not hold")]
    BadSignature,
    /// A public key of signatures is none.
    #[error("{whose} key is not an Ed25519 public key")]
    BadKey {
        /// Whose it is.
        whose: &'static str,
    },
    /// An entry is of another election.
    #[error("belongs to another election")]
    WrongElection,
    /// An entry comes when it must not.
    #[error("an entry '{kind}' cannot come now: {phase}")]
    OutOfOrder {
        /// What it is.
        kind: Kind,
        /// What the election is at.
        phase: Phase,
    },
    /// An entry comes when the election's dates do not allow it.
    #[error("{problem}")]
    Date {
        /// What is wrong.
        problem: &'static str,
    },
    /// An election that cannot be held so.
    #[error("invalid election: {problem}")]
    Manifest {
        /// What is wrong.
        problem: &'static str,
    },
    /// A contest that cannot be held so.
    #[error("contest {contest} is invalid: {problem}")]
    Contest {
        /// The contest, from 0.
        contest: usize,
        /// What is wrong.
        problem: &'static str,
    },
    /// A list of voters that cannot be.
    #[error("voter {voter} of the entry: {problem}")]
    Voter {
        /// The voter's place in the entry, from 0.
        voter: usize,
        /// What is wrong.
        problem: &'static str,
    },
    /// A ballot by somebody who is not on the list.
    #[error("not a voter of this election")]
    UnknownVoter,
    /// A second ballot where the first is final.
    #[error("the voter has cast a ballot already")]
    VotedAlready,
    /// A choice that the contest does not allow.
    #[error("contest {contest}: {problem}")]
    Choice {
        /// The contest, from 0.
        contest: usize,
        /// What is wrong.
        problem: &'static str,
    },
    /// A ballot that is not one of this election.
    #[error("contest {contest}: {problem}")]
    Ballot {
        /// The contest, from 0; the number of contests if that is wrong.
        contest: usize,
        /// What is wrong.
        problem: &'static str,
    },
    /// A ciphertext that is on the board already.
    #[error("{place}: the ciphertext is on the board already")]
    CiphertextTwice {
        /// Where.
        place: Place,
    },
    /// A number that is 0, not below its modulus, or shares a factor with `n`.
    #[error("{place}: a number out of range")]
    OutOfRange {
        /// Where.
        place: Place,
    },
    /// A proof that does not show what it should.
    #[error("{place}: the proof does not hold")]
    DoesNotHold {
        /// Where.
        place: Place,
    },
    /// An opening of a challenged ballot is not that of its ciphertext.
    #[error("{place}: the opening is not that of the ciphertext")]
    WrongOpening {
        /// Where.
        place: Place,
    },
    /// The products of a tally are not those of the ballots on the board.
    #[error("{place}: not the product of the ballots on the board")]
    WrongTally {
        /// Where.
        place: Place,
    },
    /// A tally counts other ballots than the board has.
    #[error("the board has {counted} ballots that count, of weight {weight}: the entry says otherwise")]
    WrongCount {
        /// Ballots that count.
        counted: u64,
        /// Their weight.
        weight: u64,
    },
    /// The board shows something else for a receipt than was sent.
    #[error("the receipt is of entry {index}, which is not what was sent")]
    WrongReceipt {
        /// The entry that the receipt names.
        index: u64,
    },
    /// An entry has not the form that the election asks for.
    #[error("{problem}")]
    Shape {
        /// What is wrong.
        problem: &'static str,
    },
    /// A trustee that there is not.
    #[error("the key has {trustees} trustees, none with this number")]
    NoSuchTrustee {
        /// Trustees that there are.
        trustees: u32,
    },
    /// A second share of one trustee.
    #[error("trustee {trustee} has given a share already")]
    ShareTwice {
        /// The trustee, from 1.
        trustee: u32,
    },
    /// Fewer shares than it takes.
    #[error("{given} shares, but {needed} are needed")]
    TooFewShares {
        /// Shares that it takes.
        needed: u32,
        /// Shares there are.
        given: u32,
    },
    /// A result that the decryption does not give.
    #[error("contest {contest}: not what the tally decrypts to")]
    WrongResult {
        /// The contest, from 0.
        contest: usize,
    },
    /// A decryption that no tally can have.
    #[error("contest {contest}: the tally decrypts to no result")]
    NoResult {
        /// The contest, from 0.
        contest: usize,
    },
    /// A head has another root than the board.
    #[error("the head of {size} entries does not have the root of the board")]
    WrongRoot {
        /// Entries that the head is of.
        size: u64,
    },
    /// Heads that go back, or are of more entries than there are.
    #[error("a head of {size} entries cannot come here")]
    WrongSize {
        /// Entries that the head is of.
        size: u64,
    },
    /// Entries after the last head, for which the board does not answer.
    #[error("{entries} entries are after the last head: the board has not signed them")]
    Unsigned {
        /// How many.
        entries: u64,
    },
    /// What trustees say of the key that they generated together.
    #[error("the trustees' statements about the key: {problem}")]
    Statements {
        /// What is wrong.
        problem: &'static str,
    },
    /// A credential or key of somebody else.
    #[error("{problem}")]
    Secret {
        /// What is wrong.
        problem: &'static str,
    },
    /// The key or a ciphertext.
    #[error(transparent)]
    Scheme(#[from] hearith_paillier::Error),
    /// A proof.
    #[error(transparent)]
    Proof(#[from] hearith_proofs::Error),
    /// A shared key or a share.
    #[error(transparent)]
    Shared(#[from] hearith_threshold::Error),
    /// The random generator.
    #[error("the system's random generator fails: {0}")]
    Randomness(#[from] getrandom::Error),
    /// What another machine found that verifies a part of the record, in its words.
    #[error("{0}")]
    Elsewhere(String),
    /// Reading or writing a record.
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

impl ErrorKind {
    /// The error in this entry, from 0.
    pub fn at_entry(self, entry: u64) -> Error {
        Error::from(self).at_entry(entry)
    }
}
