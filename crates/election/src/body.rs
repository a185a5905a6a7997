//! The bodies of entries: one type for each kind, with members in alphabetical order as
//! [`canonical`](crate::canonical) requires.

use crate::canonical::{Bytes, Hash, from_text, to_text};
use crate::contest::Contest;
use crate::error::ErrorKind;
use serde::{Deserialize, Serialize};
use std::fmt;
use zeroize::Zeroize;

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The manifest of the election: the first entry.
    Election,
    /// Voters added to the list.
    Voters,
    /// New keys for voters who lost theirs.
    Replace,
    /// Voting begins.
    Open,
    /// A ballot that was cast.
    Ballot,
    /// A challenged ballot: opened, and never counted.
    Challenge,
    /// Voting ends.
    Close,
    /// The products of all counted ballots.
    Tally,
    /// A trustee's share of the tally's decryption.
    Share,
    /// The tally's decryption by the key holder.
    Opening,
    /// Each candidate's votes.
    Result,
}

impl Kind {
    /// All kinds, in the order in which they occur.
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

    /// The name of the kind in an entry.
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

/// The public description of an election: the body of the first entry. Its hash is the election's
/// id.
///
/// Members that are `None` or `false` are omitted, which keeps records of earlier elections without
/// them unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Information for voters about the election: at most 4000 bytes, possibly on several lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The key with which the board signs heads and receipts.
    pub board: Bytes,
    /// The time at which voting ends, in the format of heads. If set, the board signs `close`
    /// instead of the organiser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closes: Option<String>,
    /// The contests.
    pub contests: Vec<Contest>,
    /// The key that encrypts the ballots.
    pub key: ElectionKey,
    /// Whether voters may be added and lost credentials replaced during voting.
    #[serde(default, skip_serializing_if = "is_false")]
    pub late: bool,
    /// The time at which voting begins, in the format of heads. If set, the board signs `open`
    /// instead of the organiser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opens: Option<String>,
    /// The organiser's key.
    pub organiser: Bytes,
    /// The key of the authority that registers voters and issues their credentials instead of the
    /// organiser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registrar: Option<Bytes>,
    /// Whether a voter may replace a cast ballot by another one.
    pub revoting: bool,
    /// The title of the election.
    pub title: String,
    /// Whether this is a trial whose result is not binding.
    #[serde(default, skip_serializing_if = "is_false")]
    pub trial: bool,
    /// The trustees who decrypt the tally, if the key is shared.
    pub trustees: Option<Trustees>,
}

/// Whether serialisation omits a flag.
pub(crate) fn is_false(flag: &bool) -> bool {
    !flag
}

impl Manifest {
    /// The election's id: the hash of this body.
    pub fn id(&self) -> Hash {
        Hash::of(&[to_text(self).as_bytes()])
    }
}

/// The election's public key with its proofs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ElectionKey {
    /// Square roots of 128 hashed numbers or their multiples, which prove that `n` has two prime
    /// factors. Records of earlier versions have none and are rejected with an error that says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blum: Option<Vec<Bytes>>,
    /// `h`.
    pub generator: Bytes,
    /// `n`.
    pub modulus: Bytes,
    /// `n`-th roots of eleven hashed numbers.
    pub roots: Vec<Bytes>,
}

/// The public data that verifies shares of the decryption.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trustees {
    /// `v`.
    pub base: Bytes,
    /// The trustees' statements about a key that they generated together. `None` for a key that a
    /// dealer made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated: Option<Generated>,
    /// `v_1, v_2, ...`
    pub keys: Vec<Bytes>,
    /// The number of shares that a decryption needs.
    pub needed: u32,
    /// The keys with which trustees sign shares, which they made themselves. Records of earlier
    /// versions have none and are rejected with an error that says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing: Option<Vec<Bytes>>,
}

/// The trustees' statements about a key that they generated together. No record can show who
/// operated a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generated {
    /// Each trustee's signature of a [`Statement`], in the order of the trustees, by its key for
    /// signing shares.
    pub statements: Vec<Bytes>,
    /// The hash of all broadcast messages of the key generation.
    pub transcript: Hash,
}

/// A trustee's statement about a key: it took part in this generation with its own machine and saw
/// this transcript.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// `v`.
    pub base: Bytes,
    /// The generated key.
    pub key: ElectionKey,
    /// The numbers `v_1, v_2, ...`.
    pub keys: Vec<Bytes>,
    /// The number of shares that a decryption needs.
    pub needed: u32,
    /// The hash of all broadcast messages of the key generation.
    pub transcript: Hash,
    /// The trustee who signs, from 1.
    pub trustee: u32,
}

/// A signed statement, as a trustee delivers it to the organiser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signed {
    /// The signature of the statement's canonical form.
    pub signature: Bytes,
    /// The statement.
    pub statement: Statement,
}

/// Voters added to the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Voters {
    /// The election.
    pub election: Hash,
    /// The voters.
    pub voters: Vec<Voter>,
}

/// A voter on the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Voter {
    /// The voter's id, unique in the election.
    pub id: String,
    /// The key with which the voter signs.
    pub key: Bytes,
    /// The weight with which the ballot counts.
    pub weight: u64,
}

/// New keys for voters who lost theirs and have not voted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replace {
    /// The election.
    pub election: Hash,
    /// The voters with their new keys.
    pub voters: Vec<NewKey>,
}

/// A new key of one voter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewKey {
    /// The voter.
    pub id: String,
    /// The new key with which the voter signs.
    pub key: Bytes,
}

/// The body of `open` and `close`, which only names the election.
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
    /// One selection for each contest.
    pub contests: Vec<Selection>,
    /// The election.
    pub election: Hash,
    /// The voter's id.
    pub voter: String,
}

/// A ballot's part for one contest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    /// The ciphertexts.
    pub marks: Vec<Mark>,
    /// The concatenated proofs of the sums of marks, if the contest requires any.
    pub sum: Option<Bytes>,
}

/// A ciphertext and the proof that it holds one of the permitted numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// `c`.
    pub ciphertext: Bytes,
    /// The proof.
    pub proof: Bytes,
}

impl Ballot {
    /// The hash of the ballot, which the voter compares before casting and uses to find the ballot.
    pub fn hash(&self) -> Hash {
        Hash::of(&[to_text(self).as_bytes()])
    }
}

/// A challenged ballot with its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Challenge {
    /// The ballot.
    pub ballot: Ballot,
    /// The election.
    pub election: Hash,
    /// The opening of each mark, contest by contest.
    pub openings: Vec<Vec<RevealedMark>>,
}

/// The opening of a mark, which is secret until published. It is wiped when dropped, and `Debug`
/// does not show it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RevealedMark {
    /// The short opening `a`.
    pub exponent: Bytes,
    /// The index of the mark's value among the permitted values, from 0.
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

/// The encrypted sums of the ballots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// For each contest and mark, the product of all ciphertexts, each raised to its voter's
    /// weight.
    pub contests: Vec<Vec<Bytes>>,
    /// The number of counted ballots.
    pub counted: u64,
    /// The election.
    pub election: Hash,
    /// The total weight of the counted ballots.
    pub weight: u64,
}

/// A trustee's share of the tally's decryption.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// The election.
    pub election: Hash,
    /// The concatenated shares of all marks, with their proofs.
    pub shares: Bytes,
    /// The trustee, from 1.
    pub trustee: u32,
}

/// The tally's decryption by the key holder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecryptionOpening {
    /// The decrypted marks of each contest.
    pub contests: Vec<Vec<DecryptedMark>>,
    /// The election.
    pub election: Hash,
}

/// A decrypted mark of the tally, with the opening that lets anyone check it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecryptedMark {
    /// The opening `r`.
    pub opening: Bytes,
    /// The plaintext.
    pub plaintext: Bytes,
}

/// The result of each contest: votes, or points if candidates are ranked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// The votes of each candidate, contest by contest. For ranked candidates, points, followed by
    /// the number of times each candidate holds each rank, rank by rank.
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
    Opening(DecryptionOpening),
    Result(Outcome),
}

impl Body {
    /// Parses the canonical form of a body of this kind.
    ///
    /// # Errors
    /// The errors of [`from_text`].
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

    /// The kind of the body.
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

    /// The election that the body names. The first entry names none.
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
