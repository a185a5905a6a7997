//! What entries say: a type for each kind, with members in the order of the alphabet, as
//! [`canonical`](crate::canonical) asks.

use crate::canonical::{Bytes, Hash, from_text, to_text};
use crate::contest::Contest;
use crate::error::ErrorKind;
use serde::{Deserialize, Serialize};
use std::fmt;
use zeroize::Zeroize;

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The election itself: the first entry.
    Election,
    /// Voters, added to the list.
    Voters,
    /// New keys for voters who lost theirs.
    Replace,
    /// Voting begins.
    Open,
    /// A ballot, which counts.
    Ballot,
    /// A ballot that was challenged: shown, and never counted.
    Challenge,
    /// Voting ends.
    Close,
    /// The products of all ballots that count.
    Tally,
    /// A trustee's share of the tally's decryption.
    Share,
    /// The tally's decryption by the one who holds the key.
    Opening,
    /// Each candidate's votes.
    Result,
}

impl Kind {
    /// All of them, in the order in which they come.
    pub const ALL: [Kind; 11] = [
        Kind::Election,
        Kind::Voters,
        Kind::Replace,
        Kind::Open,
        Kind::Ballot,
        Kind::Challenge,
        Kind::Close,
        Kind::Tally,
        Kind::Share,
        Kind::Opening,
        Kind::Result,
    ];

    /// Its name in an entry.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Election => "election",
            Kind::Voters => "voters",
            Kind::Replace => "replace",
            Kind::Open => "open",
            Kind::Ballot => "ballot",
            Kind::Challenge => "challenge",
            Kind::Close => "close",
            Kind::Tally => "tally",
            Kind::Share => "share",
            Kind::Opening => "opening",
            Kind::Result => "result",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The election as everybody knows it: the body of the first entry, whose hash is its id.
///
/// Members that are `None` or `false` are not written: records of elections without them are as
/// they were before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// What voters should know about it: at most 4000 bytes, on lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The key that the board signs heads and receipts with.
    pub board: Bytes,
    /// When voting ends, as heads write times; the board then signs `close`, in place of the
    /// organiser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closes: Option<String>,
    /// What is voted on.
    pub contests: Vec<Contest>,
    /// What ballots are encrypted with.
    pub key: ElectionKey,
    /// Whether voters may be added, and lost credentials replaced, while voting goes on.
    #[serde(default, skip_serializing_if = "is_false")]
    pub late: bool,
    /// When voting begins, as heads write times; the board then signs `open`, in place of the
    /// organiser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opens: Option<String>,
    /// The organiser's key.
    pub organiser: Bytes,
    /// The key of the authority that lists voters and makes their credentials, in place of the
    /// organiser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registrar: Option<Bytes>,
    /// Whether a voter may cast another ballot in place of the last.
    pub revoting: bool,
    /// What it is called.
    pub title: String,
    /// Whether it is a trial, whose result binds nobody.
    #[serde(default, skip_serializing_if = "is_false")]
    pub trial: bool,
    /// Those who decrypt, if the key is shared.
    pub trustees: Option<Trustees>,
}

/// Whether a flag is not written.
pub(crate) fn is_false(flag: &bool) -> bool {
    !flag
}

impl Manifest {
    /// The election's id: the hash of this body.
    pub fn id(&self) -> Hash {
        Hash::of(&[to_text(self).as_bytes()])
    }
}

/// The public key, and the proofs about it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ElectionKey {
    /// Square roots of 128 hashed numbers or their multiples: `n` has two prime factors. Records of
    /// earlier versions have none, and are refused by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blum: Option<Vec<Bytes>>,
    /// `h`.
    pub generator: Bytes,
    /// `n`.
    pub modulus: Bytes,
    /// `n`-th roots of eleven hashed numbers.
    pub roots: Vec<Bytes>,
}

/// What shares of a decryption are verified by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trustees {
    /// `v`.
    pub base: Bytes,
    /// What the trustees say of a key that they generated together. A key without was dealt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated: Option<Generated>,
    /// `v_1, v_2, ...`
    pub keys: Vec<Bytes>,
    /// How many of them it takes.
    pub needed: u32,
    /// The keys that they sign shares with, which they made themselves. Records of earlier versions
    /// have none, and are rejected by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing: Option<Vec<Bytes>>,
}

/// What trustees say of a key that they generated together: who ran a machine, no record can tell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generated {
    /// Each trustee's signature of a [`Statement`], in their order, by the key that it signs shares
    /// with.
    pub statements: Vec<Bytes>,
    /// The hash of all that trustees sent to everybody.
    pub transcript: Hash,
}

/// What a trustee signs of a key: with its own machine it took part in this generation, and of all
/// that the others sent it saw this.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// `v`.
    pub base: Bytes,
    /// The key that came of it.
    pub key: ElectionKey,
    /// The numbers `v_1, v_2, ...`.
    pub keys: Vec<Bytes>,
    /// How many of the trustees it takes.
    pub needed: u32,
    /// The hash of all that trustees sent to everybody.
    pub transcript: Hash,
    /// Who signs, from 1.
    pub trustee: u32,
}

/// A statement as a trustee hands it to the organiser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signed {
    /// Of the statement's canonical form.
    pub signature: Bytes,
    /// What is signed.
    pub statement: Statement,
}

/// Voters, added to the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Voters {
    /// The election.
    pub election: Hash,
    /// Who.
    pub voters: Vec<Voter>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Voter {
    /// A name that no other voter has.
    pub id: String,
    /// The key that the voter signs with.
    pub key: Bytes,
    /// How often the ballot counts.
    pub weight: u64,
}

/// New keys for voters who lost theirs, and have not voted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replace {
    /// The election.
    pub election: Hash,
    /// Whose.
    pub voters: Vec<NewKey>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewKey {
    /// The voter.
    pub id: String,
    /// The key that the voter signs with from now on.
    pub key: Bytes,
}

/// Nothing but which election it is of: `open` and `close`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ElectionRef {
    /// The election.
    pub election: Hash,
}

/// A ballot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ballot {
    /// A part for each contest.
    pub contests: Vec<Selection>,
    /// The election.
    pub election: Hash,
    /// Whose it is.
    pub voter: String,
}

/// A ballot's part for one contest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    /// The ciphertexts.
    pub marks: Vec<Mark>,
    /// The proofs of what they add up to, one after another, where the contest asks for any.
    pub sum: Option<Bytes>,
}

/// A ciphertext, and the proof that it holds one of the numbers that it may.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// `c`.
    pub ciphertext: Bytes,
    /// The proof.
    pub proof: Bytes,
}

impl Ballot {
    /// What a voter finds the ballot by, and compares before it is cast: its hash.
    pub fn hash(&self) -> Hash {
        Hash::of(&[to_text(self).as_bytes()])
    }
}

/// A ballot that was challenged, with what was in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Challenge {
    /// The ballot.
    pub ballot: Ballot,
    /// The election.
    pub election: Hash,
    /// For each contest and mark what it was made with.
    pub openings: Vec<Vec<RevealedMark>>,
}

/// What a mark was made with: a secret until it is shown. Wiped when dropped; `Debug` does not show
/// it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RevealedMark {
    /// The short opening `a`.
    pub exponent: Bytes,
    /// Which of the numbers that the mark may hold it holds, from 0.
    pub value: usize,
}

impl fmt::Debug for RevealedMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RevealedMark")
    }
}

impl Drop for RevealedMark {
    fn drop(&mut self) {
        self.exponent.0.zeroize();
        self.value.zeroize();
    }
}

/// What the ballots come to, encrypted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// For each contest and mark the product of all ciphertexts, each to the power of its voter's
    /// weight.
    pub contests: Vec<Vec<Bytes>>,
    /// How many ballots count.
    pub counted: u64,
    /// The election.
    pub election: Hash,
    /// What they weigh.
    pub weight: u64,
}

/// A trustee's share of the tally's decryption.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// The election.
    pub election: Hash,
    /// The shares of all marks, one after another, with their proofs.
    pub shares: Bytes,
    /// Whose they are, from 1.
    pub trustee: u32,
}

/// The tally's decryption by the one who holds the key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opening {
    /// For each contest and mark.
    pub contests: Vec<Vec<DecryptedMark>>,
    /// The election.
    pub election: Hash,
}

/// A mark of the tally, decrypted so that everybody can check it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecryptedMark {
    /// The opening `r`.
    pub opening: Bytes,
    /// The number.
    pub plaintext: Bytes,
}

/// Each candidate's votes, or points where candidates are ranked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// For each contest and candidate; where candidates are ranked, afterwards how often each of
    /// them stands at each rank, rank by rank.
    pub contests: Vec<Vec<u64>>,
    /// The election.
    pub election: Hash,
}

/// The body of an entry of any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Body {
    Election(Box<Manifest>),
    Voters(Voters),
    Replace(Replace),
    Open(ElectionRef),
    Ballot(Ballot),
    Challenge(Challenge),
    Close(ElectionRef),
    Tally(Tally),
    Share(Share),
    Opening(Opening),
    Result(Outcome),
}

impl Body {
    /// The body of this kind whose canonical form a text is.
    ///
    /// # Errors
    /// As [`from_text`].
    pub fn from_text(kind: Kind, text: &str) -> Result<Self, ErrorKind> {
        Ok(match kind {
            Kind::Election => Body::Election(Box::new(from_text("an election", text)?)),
            Kind::Voters => Body::Voters(from_text("a list of voters", text)?),
            Kind::Replace => Body::Replace(from_text("a replacement of credentials", text)?),
            Kind::Open => Body::Open(from_text("an opening of the vote", text)?),
            Kind::Ballot => Body::Ballot(from_text("a ballot", text)?),
            Kind::Challenge => Body::Challenge(from_text("a challenge", text)?),
            Kind::Close => Body::Close(from_text("a close of the vote", text)?),
            Kind::Tally => Body::Tally(from_text("a tally", text)?),
            Kind::Share => Body::Share(from_text("a share", text)?),
            Kind::Opening => Body::Opening(from_text("a decryption", text)?),
            Kind::Result => Body::Result(from_text("a result", text)?),
        })
    }

    /// The canonical form.
    pub fn to_text(&self) -> String {
        match self {
            Body::Election(body) => to_text(body),
            Body::Voters(body) => to_text(body),
            Body::Replace(body) => to_text(body),
            Body::Open(body) | Body::Close(body) => to_text(body),
            Body::Ballot(body) => to_text(body),
            Body::Challenge(body) => to_text(body),
            Body::Tally(body) => to_text(body),
            Body::Share(body) => to_text(body),
            Body::Opening(body) => to_text(body),
            Body::Result(body) => to_text(body),
        }
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        match self {
            Body::Election(_) => Kind::Election,
            Body::Voters(_) => Kind::Voters,
            Body::Replace(_) => Kind::Replace,
            Body::Open(_) => Kind::Open,
            Body::Ballot(_) => Kind::Ballot,
            Body::Challenge(_) => Kind::Challenge,
            Body::Close(_) => Kind::Close,
            Body::Tally(_) => Kind::Tally,
            Body::Share(_) => Kind::Share,
            Body::Opening(_) => Kind::Opening,
            Body::Result(_) => Kind::Result,
        }
    }

    /// The election that it says it is of; the first entry says nothing of the kind.
    pub fn election(&self) -> Option<Hash> {
        match self {
            Body::Election(_) => None,
            Body::Voters(body) => Some(body.election),
            Body::Replace(body) => Some(body.election),
            Body::Open(body) | Body::Close(body) => Some(body.election),
            Body::Ballot(body) => Some(body.election),
            Body::Challenge(body) => Some(body.election),
            Body::Tally(body) => Some(body.election),
            Body::Share(body) => Some(body.election),
            Body::Opening(body) => Some(body.election),
            Body::Result(body) => Some(body.election),
        }
    }
}
