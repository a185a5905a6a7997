//! A validated election: the checked manifest, with its key prepared for an engine.

use crate::body::{Ballot, Challenge, ElectionKey, Generated, Manifest, Signed, Statement, Trustees};
use crate::canonical::{Bytes, Hash};
use crate::contest::{Contest, Limit, MAX_CONTESTS, MAX_MARKS, Sums};
use crate::error::{ErrorKind, Place};
use crate::key::public_key;
use crate::names;
use crate::signature;
use crate::time::is_time;
use hearith_arith::Engine;
use hearith_paillier::{KeyPolicy, Plaintexts, PublicKey};
use hearith_proofs::{Form, membership, residue};
use hearith_threshold::distributed::Finished;
use hearith_threshold::{Origin, VerificationKeys};
use std::fmt;
use std::sync::Arc;

/// Maximum length of an election's title, in bytes.
const MAX_TITLE: usize = 400;
/// The tag of proofs on ballots, which precedes the election's id in the shared part of their
/// contexts.
const BALLOT: &str = "hearith-election 1 ";
/// The same tag for shares.
const SHARE: &str = "hearith-election 1 share ";

/// A validated election that makes and verifies ballots. Cloning is cheap.
#[derive(Clone)]
pub struct Election(Arc<Parts>);

struct Parts {
    manifest: Manifest,
    id: Hash,
    key: PublicKey,
    organiser: signature::PublicKey,
    board: signature::PublicKey,
    registrar: Option<signature::PublicKey>,
    trustees: Option<VerificationKeys>,
    /// The keys with which trustees sign shares.
    signing: Vec<signature::PublicKey>,
    /// The permitted plaintexts of each contest's marks.
    sets: Vec<Plaintexts>,
    /// The sums that each contest's proofs cover.
    sums: Vec<Vec<Sums>>,
}

impl Election {
    /// Checks a manifest, its key and the key's proofs, and prepares the key.
    ///
    /// # Errors
    /// [`Manifest`](ErrorKind::Manifest), [`Contest`](ErrorKind::Contest),
    /// [`BadKey`](ErrorKind::BadKey), a key that the policy rejects or whose proofs do not hold, or
    /// invalid trustees.
    pub fn new(manifest: Manifest, policy: KeyPolicy, engine: Engine) -> Result<Self, ErrorKind> {
        let wrong = |problem| Err(ErrorKind::Manifest { problem });
        if let Some(fault) = names::fault(&manifest.title, MAX_TITLE) {
            return wrong(fault);
        }
        if let Some(fault) = manifest.about.as_deref().and_then(names::about_fault) {
            return wrong(fault);
        }
        if [&manifest.opens, &manifest.closes].into_iter().flatten().any(|time| !is_time(time)) {
            return wrong("a date is not a time like 2026-11-22T20:15:00Z");
        }
        // Times in this format sort chronologically as strings.
        if manifest.opens.is_some() && manifest.closes.is_some() && manifest.opens >= manifest.closes {
            return wrong("voting must end after it begins");
        }
        if !(1..=MAX_CONTESTS).contains(&manifest.contests.len()) {
            return wrong("an election must have 1 to 64 contests");
        }
        if manifest.contests.iter().map(|contest| contest.size().min(MAX_MARKS + 1)).sum::<usize>() > MAX_MARKS {
            return wrong("there are more than 512 candidates, counting each once per rank");
        }
        let key = public_key(&manifest.key, policy, engine)?;
        for (contest, one) in manifest.contests.iter().enumerate() {
            one.check(key.bits()).map_err(|problem| ErrorKind::Contest { contest, problem })?;
        }
        let organiser = signature::PublicKey::new("the organiser's", &manifest.organiser)?;
        let board = signature::PublicKey::new("the board's", &manifest.board)?;
        if organiser == board {
            return wrong("the organiser and the board have the same key");
        }
        let registrar = manifest.registrar.as_ref();
        let registrar = registrar.map(|key| signature::PublicKey::new("the registrar's", key)).transpose()?;
        if registrar.is_some_and(|key| [organiser, board].contains(&key)) {
            return wrong("the registrar has the organiser's or the board's key");
        }
        let others: Vec<_> = [organiser, board].into_iter().chain(registrar).collect();
        let of_trustees = |trustees: &Trustees| {
            let keys: Vec<Vec<u8>> = trustees.keys.iter().map(|key| key.0.clone()).collect();
            VerificationKeys::from_be(key.clone(), trustees.needed, &trustees.base.0, &keys, trustees.origin())
        };
        let signing = manifest.trustees.as_ref().map(|trustees| signing_keys(trustees, &others));
        let trustees = manifest.trustees.as_ref().map(of_trustees).transpose()?;
        let signing = signing.transpose()?.unwrap_or_default();
        if let Some(trustees) = &manifest.trustees {
            trustees.check_statements(&manifest.key, &signing)?;
        }
        let sets = manifest.contests.iter().map(|contest| contest.set(&key)).collect::<Result<_, _>>()?;
        let sums = manifest.contests.iter().map(Contest::sums).collect();
        let id = manifest.id();
        let parts = Parts { manifest, id, key, organiser, board, registrar, trustees, signing, sets, sums };
        Ok(Election(Arc::new(parts)))
    }

    /// The manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.0.manifest
    }

    /// The hash of the manifest.
    pub fn id(&self) -> Hash {
        self.0.id
    }

    /// The key that encrypts the ballots.
    pub fn key(&self) -> &PublicKey {
        &self.0.key
    }

    /// The contests.
    pub fn contests(&self) -> &[Contest] {
        &self.0.manifest.contests
    }

    /// The organiser's key.
    pub fn organiser(&self) -> &signature::PublicKey {
        &self.0.organiser
    }

    /// The board's key.
    pub fn board(&self) -> &signature::PublicKey {
        &self.0.board
    }

    /// The key that signs lists of voters and replacements: the registrar's, or the organiser's if
    /// there is no registrar.
    pub fn registrar(&self) -> &signature::PublicKey {
        self.0.registrar.as_ref().unwrap_or(&self.0.organiser)
    }

    /// The keys that verify shares, if the election's key is shared.
    pub fn trustees(&self) -> Option<&VerificationKeys> {
        self.0.trustees.as_ref()
    }

    /// The key with which a trustee, numbered from 1, signs shares.
    pub fn signing_key(&self, trustee: u32) -> Option<&signature::PublicKey> {
        self.0.signing.get((trustee as usize).checked_sub(1)?)
    }

    /// The number of marks in a ballot.
    pub fn marks(&self) -> usize {
        self.contests().iter().map(Contest::marks).sum()
    }

    /// The contest of every mark and its index there, in the order of a ballot.
    pub fn places(&self) -> Vec<Place> {
        let of_contest = |(contest, one): (usize, &Contest)| {
            (0..one.marks()).map(move |mark| Place { contest, mark: Some(mark) }).collect::<Vec<_>>()
        };
        self.contests().iter().enumerate().flat_map(of_contest).collect()
    }

    /// The permitted plaintexts of a contest's marks.
    pub(crate) fn set(&self, contest: usize) -> &Plaintexts {
        &self.0.sets[contest]
    }

    /// The sums that a contest's proofs cover, in the order of a ballot.
    pub(crate) fn sums(&self, contest: usize) -> &[Sums] {
        &self.0.sums[contest]
    }

    /// The shared context of all proofs on ballots.
    pub(crate) fn ballot_context(&self) -> Vec<u8> {
        format!("{BALLOT}{}", self.id()).into_bytes()
    }

    /// The contexts of all shares.
    pub(crate) fn share_contexts(&self) -> hearith_proofs::Contexts {
        let places = self.places();
        let rows = places.iter().map(|place| crate::canonical::to_text(&(place.contest, place.mark)));
        hearith_proofs::Contexts::new(format!("{SHARE}{}", self.id()).as_bytes(), rows)
    }

    /// The form of the proofs on marks.
    pub(crate) fn mark_form(&self) -> Form {
        Form::Short { bits: self.key().short_bits() }
    }

    /// The form of proofs of sums. An opening may be longer than that of a mark by the bit length
    /// of `f - 1`, where `f` is the number of summands with repetitions.
    pub(crate) fn sum_form(&self, sums: &Sums) -> Form {
        let more = usize::BITS - (sums.factors() - 1).leading_zeros();
        Form::Short { bits: self.key().short_bits() + more }
    }

    /// Checks that a ballot has one part for each contest, and that each part has the right length.
    ///
    /// # Errors
    /// [`Ballot`](ErrorKind::Ballot).
    pub fn check_shape(&self, ballot: &Ballot) -> Result<(), ErrorKind> {
        let (key, contests) = (self.key(), self.contests());
        if ballot.contests.len() != contests.len() {
            let problem = "the ballot and the election differ in the number of contests";
            return Err(ErrorKind::Ballot { contest: contests.len(), problem });
        }
        for (contest, (one, selection)) in contests.iter().zip(&ballot.contests).enumerate() {
            let wrong = |problem| Err(ErrorKind::Ballot { contest, problem });
            if selection.marks.len() != one.marks() {
                return wrong("the number of marks differs from that of the contest");
            }
            let width = membership::Proofs::row_bytes(key, self.mark_form(), one.values());
            if selection.marks.iter().any(|mark| mark.ciphertext.0.len() != key.ciphertext_bytes()) {
                return wrong("a ciphertext does not have the length that the key requires");
            }
            if selection.marks.iter().any(|mark| mark.proof.0.len() != width) {
                return wrong("a proof has the wrong length");
            }
            if selection.sum.as_ref().map(|sum| sum.0.len()) != self.sum_bytes(contest) {
                return wrong("the proof of the sum is missing, superfluous or of the wrong length");
            }
        }
        Ok(())
    }

    /// Checks the form of a challenged ballot and its openings.
    ///
    /// # Errors
    /// The errors of [`Election::check_shape`], [`WrongElection`](ErrorKind::WrongElection) or
    /// [`WrongOpening`](ErrorKind::WrongOpening).
    pub(crate) fn check_challenge(&self, challenge: &Challenge) -> Result<(), ErrorKind> {
        if challenge.ballot.election != challenge.election {
            return Err(ErrorKind::WrongElection);
        }
        self.check_shape(&challenge.ballot)?;
        let width = self.key().short_bits().div_ceil(8) as usize;
        self.check_marks(&challenge.openings, |one| one.exponent.0.len() == width)?;
        for (contest, (one, openings)) in self.contests().iter().zip(&challenge.openings).enumerate() {
            if let Some(mark) = openings.iter().position(|opened| opened.value >= one.values()) {
                return Err(ErrorKind::WrongOpening { place: Place { contest, mark: Some(mark) } });
            }
        }
        Ok(())
    }

    /// Checks that every mark of every contest has an element of the right form.
    pub(crate) fn check_marks<T>(&self, contests: &[Vec<T>], form: impl Fn(&T) -> bool) -> Result<(), ErrorKind> {
        let expected = self.contests();
        let fits = contests.len() == expected.len()
            && contests
                .iter()
                .zip(expected)
                .all(|(marks, contest)| marks.len() == contest.marks() && marks.iter().all(&form));
        if fits {
            Ok(())
        } else {
            let problem = "the entry does not have one value of the right length for each mark of each contest";
            Err(ErrorKind::Shape { problem })
        }
    }

    /// Length in bytes of a proof of one of these sums.
    pub(crate) fn sum_width(&self, sums: &Sums) -> usize {
        let (key, form) = (self.key(), self.sum_form(sums));
        match sums.limit {
            Limit::Exactly(_) => residue::Proofs::row_bytes(key, form),
            Limit::AtMost(k) => membership::Proofs::row_bytes(key, form, k as usize + 1),
        }
    }

    /// Length in bytes of a ballot's proofs for a contest's sums, if the contest requires any.
    fn sum_bytes(&self, contest: usize) -> Option<usize> {
        let widths = self.sums(contest).iter().map(|sums| sums.groups.len() * self.sum_width(sums));
        widths.reduce(|all, more| all + more)
    }
}

impl fmt::Debug for Election {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Election({})", self.id())
    }
}

/// The trustees' signing keys. All are different from each other and from `others`, so neither the
/// dealer nor an official can sign for a trustee.
fn signing_keys(trustees: &Trustees, others: &[signature::PublicKey]) -> Result<Vec<signature::PublicKey>, ErrorKind> {
    let wrong = |problem| Err(ErrorKind::Manifest { problem });
    let Some(keys) = &trustees.signing else {
        return wrong("the trustees have no signing keys: the election was set up by an earlier version");
    };
    if keys.len() != trustees.keys.len() {
        return wrong("the number of signing keys differs from the number of trustees");
    }
    let keys: Vec<_> =
        keys.iter().map(|key| signature::PublicKey::new("a trustee's", key)).collect::<Result<_, _>>()?;
    let all: Vec<_> = others.iter().chain(&keys).collect();
    if (1..all.len()).any(|at| all[..at].contains(&all[at])) {
        return wrong("two of the trustees, registrar, organiser and board have the same key");
    }
    Ok(keys)
}

impl Trustees {
    /// The trustees of a key that a dealer made, with the signing keys that the trustees made.
    pub fn new(verification: &VerificationKeys, signing: Vec<Bytes>) -> Self {
        Trustees {
            base: Bytes(verification.base_be()),
            generated: None,
            keys: verification.trustee_keys_be().into_iter().map(Bytes).collect(),
            needed: verification.needed(),
            signing: Some(signing),
        }
    }

    /// The trustees and the key of a joint key generation, from the statements of all trustees.
    ///
    /// # Errors
    /// [`Statements`](ErrorKind::Statements): a missing or repeated trustee, different keys or
    /// runs, or a statement that the trustee's key did not sign.
    pub fn of_statements(mut all: Vec<Signed>, signing: Vec<Bytes>) -> Result<(ElectionKey, Self), ErrorKind> {
        let wrong = |problem| Err(ErrorKind::Statements { problem });
        all.sort_by_key(|one| one.statement.trustee);
        let Some(Statement { base, key, keys, needed, transcript, .. }) = all.first().map(|one| one.statement.clone())
        else {
            return wrong("at least one statement is needed");
        };
        let same = |one: &Statement| {
            (&one.base, &one.key, &one.keys, one.needed, one.transcript) == (&base, &key, &keys, needed, transcript)
        };
        if !all.iter().all(|one| same(&one.statement)) {
            return wrong("they concern different keys, so they come from different runs");
        }
        if all.iter().map(|one| one.statement.trustee).ne(1..=signing.len() as u32) || keys.len() != signing.len() {
            return wrong("there must be one from each trustee");
        }
        let keys_to_sign = signing.iter().map(|key| signature::PublicKey::new("a trustee's", key));
        let keys_to_sign = keys_to_sign.collect::<Result<Vec<_>, _>>()?;
        let generated = Generated { statements: all.into_iter().map(|one| one.signature).collect(), transcript };
        let trustees = Trustees { base, generated: Some(generated), keys, needed, signing: Some(signing) };
        match trustees.check_statements(&key, &keys_to_sign) {
            Ok(()) => Ok((key, trustees)),
            Err(_) => wrong("one is not signed by its trustee's key"),
        }
    }

    fn origin(&self) -> Origin {
        if self.generated.is_some() { Origin::Distributed } else { Origin::Dealt }
    }

    /// Checks every trustee's statement about a jointly generated key.
    fn check_statements(&self, key: &ElectionKey, signing: &[signature::PublicKey]) -> Result<(), ErrorKind> {
        let Some(Generated { statements, transcript }) = &self.generated else { return Ok(()) };
        if statements.len() != signing.len() {
            return Err(ErrorKind::Manifest { problem: "each trustee must have one statement about the key" });
        }
        let (base, keys) = (self.base.clone(), self.keys.clone());
        let (needed, transcript) = (self.needed, *transcript);
        let mut statement = Statement { base, key: key.clone(), keys, needed, transcript, trustee: 0 };
        for (signed, signer) in statements.iter().zip(signing) {
            statement.trustee += 1;
            let problem = "a trustee did not sign its statement about the key";
            statement.verify(signed, signer).map_err(|_| ErrorKind::Manifest { problem })?;
        }
        Ok(())
    }
}

impl Statement {
    /// A trustee's statement about the key that it generated with the others.
    ///
    /// # Errors
    /// A key of the standard variant, which has no proofs and cannot be used in an election.
    pub fn new(finished: &Finished) -> Result<Self, ErrorKind> {
        let verification = &finished.verification;
        Ok(Statement {
            base: Bytes(verification.base_be()),
            key: ElectionKey::generated(verification.key(), finished.proofs.as_ref())?,
            keys: verification.trustee_keys_be().into_iter().map(Bytes).collect(),
            needed: verification.needed(),
            transcript: Hash(finished.transcript),
            trustee: finished.share.trustee(),
        })
    }

    /// Signs the statement.
    pub fn sign(self, signer: &signature::Signer) -> Signed {
        let signature = signer.sign(signature::GENERATION, &crate::canonical::to_text(&self));
        Signed { signature, statement: self }
    }

    /// Checks a signature of the statement.
    ///
    /// # Errors
    /// [`BadSignature`](ErrorKind::BadSignature).
    pub fn verify(&self, signed: &Bytes, signer: &signature::PublicKey) -> Result<(), ErrorKind> {
        signer.verify(signature::GENERATION, &crate::canonical::to_text(self), signed)
    }
}
