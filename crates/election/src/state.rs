//! The state of an election after a sequence of entries, which checks everything about an entry
//! except proofs.
//!
//! For each entry it checks that its kind is permitted now, that it has the right author, and that
//! it is consistent with the previous entries. Proofs are verified in batches: see
//! [`verify_ballots`](crate::verify_ballots), [`verify_challenges`](crate::verify_challenges) and
//! [`State::check_proofs`].

use crate::body::{Body, DecryptionOpening, ElectionRef, Kind, Manifest, Outcome, Replace, Share, Tally, Voters};
use crate::canonical::Hash;
use crate::decryption::Decryption;
use crate::election::Election;
use crate::entry::Notice;
use crate::error::ErrorKind;
use crate::names;
use crate::signature;
use crate::verify_ballots::{verify_ballots, verify_challenges};
use hearith_paillier::{Engine, KeyPolicy};
use hearith_threshold::VerificationKeys;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::hash::{BuildHasher, RandomState};

/// Maximum number of voters that one entry adds.
pub const MAX_VOTERS_AN_ENTRY: usize = 1000;
/// Maximum length of a voter's id, in bytes.
pub const MAX_VOTER_ID: usize = 128;
/// Maximum weight of a voter.
pub const MAX_WEIGHT: u64 = 1 << 32;
/// Exclusive upper bound of the total weight of all voters, so that it fits in a digit of a
/// plurality contest's total.
const ALL_WEIGHTS: u64 = 1 << crate::contest::DIGIT_BITS;

/// The phase of an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Voters are registered.
    Preparing,
    /// Ballots are cast.
    Open,
    /// Voting has ended.
    Closed,
    /// The products are on the board and are being decrypted.
    Tallied,
    /// The result is on the board.
    Finished,
}

impl Phase {
    /// The name of the phase.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Preparing => "preparing",
            Phase::Open => "open",
            Phase::Closed => "closed",
            Phase::Tallied => "tallied",
            Phase::Finished => "finished",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Phase::Preparing => "voting has not begun",
            Phase::Open => "voting is in progress",
            Phase::Closed => "voting has ended",
            Phase::Tallied => "the tally is being decrypted",
            Phase::Finished => "the election is over",
        })
    }
}

/// The state of a voter.
#[derive(Clone, Debug)]
pub struct VoterState {
    key: signature::PublicKey,
    weight: u64,
    counted_entry: Option<u64>,
}

impl VoterState {
    /// The key with which the voter signs.
    pub fn key(&self) -> &signature::PublicKey {
        &self.key
    }

    /// The weight with which the ballot counts.
    pub fn weight(&self) -> u64 {
        self.weight
    }

    /// The entry of the counted ballot, if the voter has voted.
    pub fn counted_entry(&self) -> Option<u64> {
        self.counted_entry
    }
}

/// The state of an election after the entries of its board.
pub struct State {
    election: Election,
    size: u64,
    phase: Phase,
    voters: HashMap<String, VoterState>,
    all_weights: u64,
    outliner: Outliner,
    /// Keyed hashes of the ciphertexts on the board.
    seen: HashSet<u128>,
    counted: u64,
    weight: u64,
    challenges: u64,
    changes: Vec<Change>,
    tally: Option<Tally>,
    shares: BTreeMap<u32, Share>,
    opening: Option<DecryptionOpening>,
    result: Option<Outcome>,
}

/// A change of the list of voters that should be visible to everyone: a replaced credential, or a
/// voter added during voting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The entry with the change, from 0.
    pub entry: u64,
    /// Whether voting was in progress.
    pub late: bool,
    /// Whether a credential was replaced. Otherwise the voter was added.
    pub replaced: bool,
    /// The voter.
    pub voter: String,
}

/// The effect of an entry, apart from the phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Admitted {
    /// The weight of a ballot.
    pub weight: u64,
    /// The entry whose ballot no longer counts.
    pub replaced: Option<u64>,
}

impl State {
    /// The state after the first entry. Checks its signature as well.
    ///
    /// # Errors
    /// A notice that is not an election, the errors of [`Election::new`], or
    /// [`BadSignature`](ErrorKind::BadSignature).
    pub fn begin(first: &Notice, policy: KeyPolicy, engine: Engine) -> Result<Self, ErrorKind> {
        let Body::Election(manifest) = first.body() else {
            return Err(ErrorKind::Shape { problem: "the first entry is not an election" });
        };
        let election = Election::new(Manifest::clone(manifest), policy, engine)?;
        first.check_signature(election.organiser())?;
        Ok(Self::new(election))
    }

    /// The state after the first entry of an election.
    pub fn new(election: Election) -> Self {
        State {
            outliner: Outliner::new(&election),
            election,
            size: 1,
            phase: Phase::Preparing,
            voters: HashMap::new(),
            all_weights: 0,
            seen: HashSet::new(),
            counted: 0,
            weight: 0,
            challenges: 0,
            changes: Vec::new(),
            tally: None,
            shares: BTreeMap::new(),
            opening: None,
            result: None,
        }
    }

    /// The election.
    pub fn election(&self) -> &Election {
        &self.election
    }

    /// The number of entries.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The phase.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The state of a voter.
    pub fn voter(&self, id: &str) -> Option<&VoterState> {
        self.voters.get(id)
    }

    /// All voters, in arbitrary order.
    pub fn voters(&self) -> impl Iterator<Item = (&str, &VoterState)> {
        self.voters.iter().map(|(id, voter)| (id.as_str(), voter))
    }

    /// The number of voters.
    pub fn voter_count(&self) -> u64 {
        self.voters.len() as u64
    }

    /// The number of counted ballots and their total weight.
    pub fn counted(&self) -> (u64, u64) {
        (self.counted, self.weight)
    }

    /// The number of challenged ballots.
    pub fn challenges(&self) -> u64 {
        self.challenges
    }

    /// Replaced credentials and voters added during voting, in order.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The shares entered so far, by trustee.
    pub fn shares(&self) -> &BTreeMap<u32, Share> {
        &self.shares
    }

    /// The tally on the board.
    pub fn tally(&self) -> Option<&Tally> {
        self.tally.as_ref()
    }

    /// The key holder's decryption on the board.
    pub fn opening(&self) -> Option<&DecryptionOpening> {
        self.opening.as_ref()
    }

    /// The result on the board.
    pub fn result(&self) -> Option<&Outcome> {
        self.result.as_ref()
    }

    /// The state of the tally's decryption, as a copy that can be checked independently.
    pub fn decryption(&self) -> Decryption {
        let (election, tally) = (self.election.clone(), self.tally.clone());
        Decryption { election, tally, shares: self.shares.clone(), opening: self.opening.clone() }
    }

    /// Verifies the shares or the opening on the board and returns the result of the tally.
    ///
    /// # Errors
    /// The errors of [`Decryption::outcome`].
    pub fn outcome(&self) -> Result<Outcome, ErrorKind> {
        self.decryption().outcome()
    }

    /// Verifies the proofs of one admissible entry. A tally is not checked here, since the state
    /// does not keep the ballots: see [`Products`](crate::Products).
    ///
    /// # Errors
    /// The first fault found.
    pub fn check_proofs(&self, notice: &Notice) -> Result<(), ErrorKind> {
        let one = |mut verdicts: Vec<Result<(), ErrorKind>>| verdicts.pop().unwrap_or(Ok(()));
        match notice.body() {
            Body::Ballot(ballot) => one(verify_ballots(&self.election, &[ballot])),
            Body::Challenge(challenge) => one(verify_challenges(&self.election, &[challenge])),
            other => self.decryption().check(other),
        }
    }

    /// Checks that an entry is permitted now, including its author's signature but not its proofs.
    ///
    /// # Errors
    /// Any fault of the entry.
    pub fn check(&self, notice: &Notice) -> Result<(), ErrorKind> {
        self.check_rules(notice)?;
        notice.check_signature(&self.author(notice)?)
    }

    /// Checks that the election's dates permit an entry of this kind at a time, in the format of
    /// heads: `open` and `close` not before their dates, and no ballots or challenges from the
    /// second at which voting ends.
    ///
    /// # Errors
    /// [`Date`](ErrorKind::Date).
    pub fn check_date(&self, kind: Kind, time: &str) -> Result<(), ErrorKind> {
        let Manifest { opens, closes, .. } = self.election.manifest();
        // Times in this format sort chronologically as strings.
        let reached = |date: &Option<String>| date.as_ref().map(|date| time >= date.as_str());
        match kind {
            Kind::Open if reached(opens) == Some(false) => Err(ErrorKind::Date { problem: "voting begins later" }),
            Kind::Close if reached(closes) == Some(false) => Err(ErrorKind::Date { problem: "voting ends later" }),
            Kind::Ballot | Kind::Challenge if reached(closes) == Some(true) => {
                Err(ErrorKind::Date { problem: "voting has ended: the date at which it ends has passed" })
            }
            _ => Ok(()),
        }
    }

    /// The entry that the board itself must make at this time because of the election's dates:
    /// `open` or `close`.
    pub fn due(&self, time: &str) -> Option<Body> {
        let (manifest, of) = (self.election.manifest(), ElectionRef { election: self.election.id() });
        let reached = |date: &Option<String>| date.as_ref().is_some_and(|date| time >= date.as_str());
        match self.phase {
            Phase::Preparing if reached(&manifest.opens) && !self.voters.is_empty() => Some(Body::Open(of)),
            Phase::Open if reached(&manifest.closes) => Some(Body::Close(of)),
            _ => None,
        }
    }

    /// Checks an entry and applies it.
    ///
    /// # Errors
    /// The errors of [`State::check`], in which case nothing changes.
    pub fn admit(&mut self, notice: &Notice) -> Result<Admitted, ErrorKind> {
        self.check(notice)?;
        Ok(self.admit_unsigned(notice)?.0)
    }

    /// As [`State::admit`] without checking the signature. The caller checks it with the returned
    /// key.
    pub(crate) fn admit_unsigned(&mut self, notice: &Notice) -> Result<(Admitted, signature::PublicKey), ErrorKind> {
        if let Some((outline, form)) = self.outliner.outline(notice) {
            return self.admit_outline(&outline, form);
        }
        self.check_rules(notice)?;
        let author = self.author(notice)?;
        self.apply(notice.body());
        Ok((Admitted::default(), author))
    }

    /// As [`State::admit_unsigned`], for a cast or challenged ballot of which only the outline is
    /// available.
    pub(crate) fn admit_outline(
        &mut self,
        outline: &Outline,
        form: Result<(), ErrorKind>,
    ) -> Result<(Admitted, signature::PublicKey), ErrorKind> {
        self.check_outline(outline, form)?;
        let author = self.voters.get(&outline.voter).ok_or(ErrorKind::UnknownVoter)?.key;
        Ok((self.apply_outline(outline), author))
    }

    /// The maker of outlines for this state.
    pub(crate) fn outliner(&self) -> &Outliner {
        &self.outliner
    }

    /// Skips an invalid entry that still occupies an index.
    pub(crate) fn skip_entry(&mut self) {
        self.size += 1;
    }

    /// The key that must sign an entry: that of the organiser, the registrar, the board, a voter or
    /// a trustee.
    ///
    /// # Errors
    /// [`UnknownVoter`](ErrorKind::UnknownVoter), [`NoSuchTrustee`](ErrorKind::NoSuchTrustee).
    pub fn author(&self, notice: &Notice) -> Result<signature::PublicKey, ErrorKind> {
        let voter = |id: &str| self.voters.get(id).map(|voter| voter.key).ok_or(ErrorKind::UnknownVoter);
        match notice.body() {
            Body::Ballot(ballot) => voter(&ballot.voter),
            Body::Challenge(challenge) => voter(&challenge.ballot.voter),
            Body::Share(share) => {
                let trustees = self.election.trustees().map_or(0, |trustees| trustees.trustees());
                let key = self.election.signing_key(share.trustee);
                key.copied().ok_or(ErrorKind::NoSuchTrustee { trustees })
            }
            Body::Voters(_) | Body::Replace(_) => Ok(*self.election.registrar()),
            Body::Open(_) if self.election.manifest().opens.is_some() => Ok(*self.election.board()),
            Body::Close(_) if self.election.manifest().closes.is_some() => Ok(*self.election.board()),
            _ => Ok(*self.election.organiser()),
        }
    }

    /// Checks everything except signature and proofs.
    fn check_rules(&self, notice: &Notice) -> Result<(), ErrorKind> {
        if let Some((outline, form)) = self.outliner.outline(notice) {
            return self.check_outline(&outline, form);
        }
        let (body, kind) = (notice.body(), notice.kind());
        if body.election() != Some(self.election.id()) && kind != Kind::Election {
            return Err(ErrorKind::WrongElection);
        }
        self.check_order(kind)?;
        match body {
            Body::Voters(voters) => self.check_voters(voters),
            Body::Replace(replace) => self.check_replace(replace),
            Body::Open(_) if self.voters.is_empty() => Err(ErrorKind::Shape { problem: "there are no voters" }),
            Body::Tally(tally) => {
                if (tally.counted, tally.weight) != (self.counted, self.weight) {
                    return Err(ErrorKind::WrongCount { counted: self.counted, weight: self.weight });
                }
                let width = self.election.key().ciphertext_bytes();
                self.election.check_marks(&tally.contests, |number| number.0.len() == width)
            }
            Body::Share(share) => self.check_share(share.trustee, share.shares.0.len()),
            Body::Opening(opening) => {
                let width = self.election.key().plaintext_bytes();
                self.election.check_marks(&opening.contests, |one| {
                    (one.opening.0.len(), one.plaintext.0.len()) == (width, width)
                })
            }
            Body::Result(result) => {
                let given = self.shares.len() as u32;
                let needed = self.election.trustees().map_or(0, |trustees| trustees.needed());
                if given < needed {
                    return Err(ErrorKind::TooFewShares { needed, given });
                }
                if self.election.trustees().is_none() && self.opening.is_none() {
                    return Err(ErrorKind::Shape { problem: "the tally is not decrypted yet" });
                }
                let contests = self.election.contests();
                let fits = result.contests.len() == contests.len()
                    && result.contests.iter().zip(contests).all(|(votes, contest)| votes.len() == contest.results());
                if fits {
                    Ok(())
                } else {
                    Err(ErrorKind::Shape { problem: "the result has the wrong number of contests or votes" })
                }
            }
            _ => Ok(()),
        }
    }

    /// Checks that the phase permits an entry of this kind.
    fn check_order(&self, kind: Kind) -> Result<(), ErrorKind> {
        let shared = self.election.trustees().is_some();
        let now = match (kind, self.phase) {
            (Kind::Voters | Kind::Replace | Kind::Open, Phase::Preparing) => true,
            (Kind::Voters | Kind::Replace, Phase::Open) => self.election.manifest().late,
            (Kind::Ballot | Kind::Challenge | Kind::Close, Phase::Open) => true,
            (Kind::Tally, Phase::Closed) => true,
            (Kind::Share, Phase::Tallied) => shared,
            (Kind::Opening, Phase::Tallied) => !shared && self.opening.is_none(),
            (Kind::Result, Phase::Tallied) => true,
            _ => false,
        };
        if now { Ok(()) } else { Err(ErrorKind::OutOfOrder { kind, phase: self.phase }) }
    }

    fn check_voters(&self, voters: &Voters) -> Result<(), ErrorKind> {
        if !(1..=MAX_VOTERS_AN_ENTRY).contains(&voters.voters.len()) {
            return Err(ErrorKind::Shape { problem: "an entry must list 1 to 1000 voters" });
        }
        let (mut ids, mut weights) = (HashSet::new(), self.all_weights);
        for (voter, one) in voters.voters.iter().enumerate() {
            let wrong = |problem| Err(ErrorKind::Voter { voter, problem });
            if let Some(fault) = names::fault(&one.id, MAX_VOTER_ID) {
                return wrong(fault);
            }
            if self.voters.contains_key(&one.id) || !ids.insert(&one.id) {
                return wrong("a voter with this ID already exists");
            }
            if !(1..=MAX_WEIGHT).contains(&one.weight) {
                return wrong("a weight must be between 1 and 2^32");
            }
            weights += one.weight;
            if weights >= ALL_WEIGHTS {
                return wrong("the sum of all weights must be below 2^48");
            }
            if self.election.contests().iter().any(|contest| weights > contest.most_weight()) {
                return wrong("the sum of all weights, times the points of a first rank, must be below 2^53");
            }
            if signature::PublicKey::new("a voter's", &one.key).is_err() {
                return wrong("the key is not an Ed25519 public key");
            }
        }
        Ok(())
    }

    fn check_replace(&self, replace: &Replace) -> Result<(), ErrorKind> {
        if !(1..=MAX_VOTERS_AN_ENTRY).contains(&replace.voters.len()) {
            return Err(ErrorKind::Shape { problem: "an entry must replace the credentials of 1 to 1000 voters" });
        }
        let mut ids = HashSet::new();
        for (voter, one) in replace.voters.iter().enumerate() {
            let wrong = |problem| Err(ErrorKind::Voter { voter, problem });
            let Some(current) = self.voters.get(&one.id) else { return wrong("there is no voter with this ID") };
            if !ids.insert(&one.id) {
                return wrong("the entry lists the voter twice");
            }
            // Otherwise the maker of the new key could replace the ballot.
            if current.counted_entry.is_some() {
                return wrong("the voter has voted, so the credential can no longer be replaced");
            }
            match signature::PublicKey::new("a voter's", &one.key) {
                Err(_) => return wrong("the key is not an Ed25519 public key"),
                Ok(key) if key == current.key => return wrong("the new key is the same as the old one"),
                Ok(_) => {}
            }
        }
        Ok(())
    }

    /// Checks the rules for a cast or challenged ballot. `form` is the result of the check of its
    /// form, made where the ballot was read.
    fn check_outline(&self, outline: &Outline, form: Result<(), ErrorKind>) -> Result<(), ErrorKind> {
        if outline.election != self.election.id() {
            return Err(ErrorKind::WrongElection);
        }
        self.check_order(outline.kind)?;
        let voter = self.voters.get(&outline.voter).ok_or(ErrorKind::UnknownVoter)?;
        if outline.kind == Kind::Ballot && voter.counted_entry.is_some() && !self.election.manifest().revoting {
            return Err(ErrorKind::VotedAlready);
        }
        form?;
        let mut own = HashSet::new();
        match outline.marks.iter().position(|hash| self.seen.contains(hash) || !own.insert(hash)) {
            Some(mark) => Err(ErrorKind::CiphertextTwice { place: self.election.places()[mark] }),
            None => Ok(()),
        }
    }

    fn check_share(&self, trustee: u32, bytes: usize) -> Result<(), ErrorKind> {
        let shared = self.election.trustees();
        let trustees = shared.map_or(0, VerificationKeys::trustees);
        let Some(shared) = shared.filter(|_| (1..=trustees).contains(&trustee)) else {
            return Err(ErrorKind::NoSuchTrustee { trustees });
        };
        if self.shares.contains_key(&trustee) {
            return Err(ErrorKind::ShareTwice { trustee });
        }
        let expected = self.election.marks() * shared.share_bytes();
        if bytes == expected {
            Ok(())
        } else {
            Err(ErrorKind::Shape { problem: "the shares have the wrong length for the marks of the tally" })
        }
    }

    /// Applies a checked entry.
    fn apply(&mut self, body: &Body) {
        let (entry, late) = (self.size, self.phase == Phase::Open);
        self.size += 1;
        match body {
            Body::Voters(voters) => voters.voters.iter().for_each(|voter| {
                if let Ok(key) = signature::PublicKey::new("a voter's", &voter.key) {
                    self.all_weights += voter.weight;
                    self.voters.insert(voter.id.clone(), VoterState { key, weight: voter.weight, counted_entry: None });
                    if late {
                        self.changes.push(Change { entry, late, replaced: false, voter: voter.id.clone() });
                    }
                }
            }),
            Body::Replace(replace) => replace.voters.iter().for_each(|one| {
                let key = signature::PublicKey::new("a voter's", &one.key);
                if let (Ok(key), Some(voter)) = (key, self.voters.get_mut(&one.id)) {
                    voter.key = key;
                    self.changes.push(Change { entry, late, replaced: true, voter: one.id.clone() });
                }
            }),
            Body::Open(_) => self.phase = Phase::Open,
            Body::Close(_) => self.phase = Phase::Closed,
            Body::Tally(tally) => {
                self.tally = Some(tally.clone());
                self.phase = Phase::Tallied;
            }
            Body::Share(share) => _ = self.shares.insert(share.trustee, share.clone()),
            Body::Opening(opening) => self.opening = Some(opening.clone()),
            Body::Result(result) => {
                self.result = Some(result.clone());
                self.phase = Phase::Finished;
            }
            Body::Election(_) | Body::Ballot(_) | Body::Challenge(_) => {}
        }
    }

    /// Applies the outline of a ballot.
    fn apply_outline(&mut self, outline: &Outline) -> Admitted {
        let entry = self.size;
        self.size += 1;
        self.seen.extend(&outline.marks);
        let voter = self.voters.get_mut(&outline.voter).filter(|_| outline.kind == Kind::Ballot);
        let Some(voter) = voter else {
            self.challenges += 1;
            return Admitted::default();
        };
        let admitted = Admitted { weight: voter.weight, replaced: voter.counted_entry.replace(entry) };
        if admitted.replaced.is_none() {
            self.counted += 1;
            self.weight += voter.weight;
        }
        admitted
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "State({}, {} entries, {})", self.election.id(), self.size, self.phase.name())
    }
}

/// The part of a cast or challenged ballot that the rules depend on. It is small and is made where
/// the entry is read.
#[derive(Debug)]
pub(crate) struct Outline {
    pub(crate) election: Hash,
    pub(crate) kind: Kind,
    pub(crate) voter: String,
    /// Keyed hashes of the ciphertexts, in order.
    pub(crate) marks: Vec<u128>,
}

/// Makes outlines. Keyed 128-bit hashes identify ciphertexts, so memory does not depend on their
/// length. The key is random, so nobody can find a collision. Among `2^40` ciphertexts one occurs
/// by chance in one of `2^48` boards.
#[derive(Clone)]
pub(crate) struct Outliner {
    election: Election,
    key: [u64; 4],
}

impl Outliner {
    fn new(election: &Election) -> Self {
        let source = RandomState::new();
        Self::with_key(election, std::array::from_fn(|word| source.hash_one(word)))
    }

    /// A maker of outlines for the state of another process.
    pub(crate) fn with_key(election: &Election, key: [u64; 4]) -> Self {
        Outliner { election: election.clone(), key }
    }

    pub(crate) fn key(&self) -> [u64; 4] {
        self.key
    }

    /// The outline of a cast or challenged ballot, and the check of its form. `None` for other
    /// entries.
    pub(crate) fn outline(&self, notice: &Notice) -> Option<(Outline, Result<(), ErrorKind>)> {
        let (election, ballot, form) = match notice.body() {
            Body::Ballot(ballot) => (ballot.election, ballot, self.election.check_shape(ballot)),
            Body::Challenge(challenge) => {
                (challenge.election, &challenge.ballot, self.election.check_challenge(challenge))
            }
            _ => return None,
        };
        let marks = ballot.contests.iter().flat_map(|one| &one.marks).map(|mark| self.hash(&mark.ciphertext.0));
        let outline = Outline { election, kind: notice.kind(), voter: ballot.voter.clone(), marks: marks.collect() };
        Some((outline, form))
    }

    fn hash(&self, ciphertext: &[u8]) -> u128 {
        let key = self.key.map(u64::to_be_bytes);
        let Hash(hash) = Hash::of(&[key.as_flattened(), ciphertext]);
        u128::from_be_bytes(std::array::from_fn(|byte| hash[byte]))
    }
}
