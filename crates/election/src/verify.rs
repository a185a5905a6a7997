//! The verifier: checks every claim of a published record from the record alone.
//!
//! It reads the record once. All cores check lines and signatures. Ballots are collected into
//! batches that share one equation, and each batch is verified while the next one is read. Memory
//! holds at most two such batches, plus some hundred bytes per voter and some twenty per
//! ciphertext. Only files with replaced ballots are read twice.

use crate::board::{Board, SignedTreeHead};
use crate::body::{Ballot, Body, Challenge, Kind, Manifest, Tally};
use crate::canonical::Hash;
use crate::election::Election;
use crate::entry::{Entry, line_hash};
use crate::error::{Error, ErrorKind};
use crate::record::{FILE_ENTRIES, Lines, Source, heads};
use crate::report::{Check, Report, Step};
use crate::signature;
use crate::state::{Admitted, Outline, State};
use crate::tally::Products;
use crate::tree::leaf_hash;
use crate::verify_ballots::{verify_ballots, verify_challenges};
use hearith_paillier::{Engine, KeyPolicy};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::mem;

/// Lines in a batch of reading.
const BATCH_LINES: usize = 250;
/// Maximum lines per task of the thread pool, small enough to balance the load of the cores.
const LINES_PER_TASK: usize = 4;
/// Size at which a batch of reading ends, in bytes.
const BATCH_BYTES: usize = 64 << 20;
/// Size at which collected ballots are verified, in bytes: large enough that the cost per proof is
/// close to its minimum.
const QUEUE_BYTES: usize = 108 << 20;
/// Reported faults of a check. The rest are only counted.
const MAX_REPORTED_FAULTS: usize = 20;

/// Verifies a record. Calls `progress` with the number of bytes read so far. An invalid record is
/// not an error: its faults are in the report.
///
/// # Errors
/// If the record cannot be read.
pub fn verify(
    source: &dyn Source,
    policy: KeyPolicy,
    engine: Engine,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Report, Error> {
    let mut verifier = Verifier::new(policy, engine);
    verifier.read_heads(heads(source))?;
    let mut reader = Reader { lines: Lines::new(source), bytes: 0, progress };
    loop {
        let batch = verifier.take_batch();
        // While ballots are verified, the next batch is read, hashed and checked against the rules.
        let (continues, verified) = rayon::join(|| verifier.gather(&mut reader), || batch.map(BallotBatch::verify));
        verifier.note_verified(verified);
        if !continues? {
            break;
        }
    }
    verifier.finish(Some(source))
}

/// The reader of a record.
struct Reader<'a> {
    lines: Lines<'a>,
    bytes: u64,
    progress: &'a (dyn Fn(u64) + Sync),
}

impl Reader<'_> {
    /// The next lines, parsed and hashed, up to the first unreadable one, and its error.
    fn next(&mut self) -> (Vec<HashedLine>, Option<Error>) {
        let (batch, error) = next_batch(&mut self.lines);
        self.bytes += batch.iter().map(|line| line.len() as u64 + 1).sum::<u64>();
        (self.progress)(self.bytes);
        (batch.into_par_iter().with_max_len(LINES_PER_TASK).map(|line| HashedLine::new(&line)).collect(), error)
    }
}

/// The next lines up to the first unreadable one, and its error.
fn next_batch(lines: &mut Lines<'_>) -> (Vec<String>, Option<Error>) {
    let (mut batch, mut bytes) = (Vec::with_capacity(BATCH_LINES), 0);
    while batch.len() < BATCH_LINES && bytes < BATCH_BYTES {
        match lines.next_line() {
            Ok(Some(line)) => {
                bytes += line.len();
                batch.push(line);
            }
            Ok(None) => break,
            Err(error) => return (batch, Some(error)),
        }
    }
    (batch, None)
}

/// A parsed line with its hashes.
pub(crate) struct HashedLine {
    pub(crate) item: Result<ParsedEntry, ErrorKind>,
    pub(crate) line: Hash,
    pub(crate) leaf: Hash,
}

impl HashedLine {
    pub(crate) fn new(line: &str) -> Self {
        let item = Entry::from_line(line).map(ParsedEntry::Whole);
        HashedLine { item, line: line_hash(line), leaf: leaf_hash(line) }
    }
}

/// A parsed entry, as input of the rules.
pub(crate) enum ParsedEntry {
    Whole(Entry),
    /// A ballot on another machine, with its place and the check of its form.
    Outline {
        index: u64,
        previous: Hash,
        outline: Outline,
        form: Result<(), ErrorKind>,
    },
}

impl ParsedEntry {
    fn link(&self) -> (u64, &Hash) {
        match self {
            ParsedEntry::Whole(entry) => (entry.index, &entry.previous),
            ParsedEntry::Outline { index, previous, .. } => (*index, previous),
        }
    }

    fn kind(&self) -> Kind {
        match self {
            ParsedEntry::Whole(entry) => entry.notice.kind(),
            ParsedEntry::Outline { outline, .. } => outline.kind,
        }
    }
}

/// An entry admitted by the rules.
struct AcceptedEntry {
    entry: Entry,
    admitted: Admitted,
    author: signature::PublicKey,
}

/// A ballot whose proofs are not verified yet. A ballot of weight 0 is not counted.
pub(crate) struct QueuedBallot {
    pub(crate) entry: u64,
    pub(crate) weight: u64,
    pub(crate) ballot: Ballot,
}

/// A cast or challenged ballot whose signature and proofs another machine checks.
pub(crate) struct RemoteBallot {
    pub(crate) entry: u64,
    pub(crate) author: signature::PublicKey,
    pub(crate) weight: u64,
}

/// Ballots that are verified together.
pub(crate) struct BallotBatch {
    pub(crate) election: Election,
    pub(crate) ballots: Vec<QueuedBallot>,
}

/// The outcome of a batch: each entry's verdict, and the product of the ballots.
pub(crate) struct Verified {
    pub(crate) verdicts: Vec<(u64, Result<(), ErrorKind>)>,
    pub(crate) product: Result<Products, ErrorKind>,
}

impl BallotBatch {
    pub(crate) fn verify(self) -> Verified {
        let ballots: Vec<&Ballot> = self.ballots.iter().map(|one| &one.ballot).collect();
        let verdicts = verify_ballots(&self.election, &ballots);
        // Invalid ciphertexts have no product. Their ballots are already reported.
        let multiplied = |verdict: &Result<(), ErrorKind>| !verdict.as_ref().is_err_and(is_left_out);
        let weighed = self.ballots.iter().zip(&verdicts).filter(|(one, verdict)| one.weight > 0 && multiplied(verdict));
        let weighed: Vec<(&Ballot, u64)> = weighed.map(|(one, _)| (&one.ballot, one.weight)).collect();
        let mut product = Products::new(&self.election);
        let product = product.add(&weighed).map(|()| product);
        Verified { verdicts: self.ballots.iter().map(|one| one.entry).zip(verdicts).collect(), product }
    }
}

fn is_left_out(error: &ErrorKind) -> bool {
    matches!(error, ErrorKind::OutOfRange { .. })
}

pub(crate) struct Verifier {
    policy: KeyPolicy,
    engine: Engine,
    board: Board,
    pub(crate) state: Option<State>,
    products: Option<Products>,
    /// Ballots whose proofs are not verified yet, and the total size of their bodies in bytes.
    queued: Vec<QueuedBallot>,
    queued_bytes: usize,
    /// Ballots on other machines.
    pub(crate) remote_ballots: Vec<RemoteBallot>,
    kinds: BTreeMap<Kind, u64>,
    checks: BTreeMap<Step, Check>,
    pub(crate) heads: Vec<SignedTreeHead>,
    /// Whether the record could not be followed to its end.
    pub(crate) stopped: bool,
    /// The number of heads whose root was compared.
    compared: usize,
    /// A hash over the lines of each file, to detect a change between two readings.
    pub(crate) files: Vec<Hash>,
    /// Entries of replaced ballots, with their weight.
    pub(crate) replaced: BTreeMap<u64, u64>,
    /// Entries of ballots that no product includes because their ciphertexts are invalid.
    left_out: BTreeSet<u64>,
    tally: Option<(u64, Tally)>,
    /// The entries of each trustee's share, of the opening and of the result.
    shares: BTreeMap<u32, u64>,
    opening: Option<u64>,
    result: Option<u64>,
    /// The entries where voting began and ended, and the last cast or challenged ballot that the
    /// rules admit.
    opened: Option<u64>,
    closed: Option<u64>,
    last_ballot: Option<u64>,
}

impl Verifier {
    pub(crate) fn new(policy: KeyPolicy, engine: Engine) -> Self {
        Verifier {
            policy,
            engine,
            board: Board::default(),
            state: None,
            products: None,
            queued: Vec::new(),
            queued_bytes: 0,
            remote_ballots: Vec::new(),
            kinds: BTreeMap::new(),
            checks: Step::ALL.into_iter().map(|step| (step, Check::default())).collect(),
            heads: Vec::new(),
            stopped: false,
            compared: 0,
            files: Vec::new(),
            replaced: BTreeMap::new(),
            left_out: BTreeSet::new(),
            tally: None,
            shares: BTreeMap::new(),
            opening: None,
            result: None,
            opened: None,
            closed: None,
            last_ballot: None,
        }
    }

    fn check(&mut self, step: Step) -> &mut Check {
        self.checks.entry(step).or_default()
    }

    /// The number of entries processed.
    pub(crate) fn size(&self) -> u64 {
        self.board.size()
    }

    pub(crate) fn checked(&mut self, step: Step, count: u64) {
        self.check(step).checked += count;
    }

    pub(crate) fn fault(&mut self, step: Step, error: Error) {
        let check = self.check(step);
        check.wrong += 1;
        if check.faults.len() < MAX_REPORTED_FAULTS {
            check.faults.push(error);
        }
    }

    pub(crate) fn read_heads(&mut self, heads: Result<Vec<SignedTreeHead>, Error>) -> Result<(), Error> {
        match heads {
            Ok(heads) => self.heads = heads,
            Err(error) => match error.kind() {
                ErrorKind::Io(_) => return Err(error),
                _ => self.fault(Step::Heads, error),
            },
        }
        let empty = self.heads.iter().map(|head| head.size).filter(|&size| size == 0);
        let pairs = self.heads.windows(2);
        let back =
            pairs.filter(|pair| pair[1].size < pair[0].size || pair[1].time < pair[0].time).map(|pair| pair[1].size);
        let back = empty.chain(back);
        for size in back.collect::<Vec<_>>() {
            self.fault(Step::Heads, ErrorKind::WrongSize { size }.into());
        }
        self.checked(Step::Heads, self.heads.len() as u64);
        Ok(())
    }

    /// Processes lines until a batch of ballots is complete. Returns whether there may be more
    /// lines.
    fn gather(&mut self, reader: &mut Reader<'_>) -> Result<bool, Error> {
        while self.queued_bytes < QUEUE_BYTES {
            let (read, error) = reader.next();
            let at_end = read.is_empty();
            let continues = self.take(read);
            self.stopped = !continues || error.is_some();
            match error {
                Some(error) if matches!(error.kind(), ErrorKind::Io(_)) => return Err(error),
                Some(error) if continues => self.fault(Step::Chain, error),
                _ => {}
            }
            if at_end || self.stopped {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Processes lines. Returns whether the following lines can be processed.
    pub(crate) fn take(&mut self, read: Vec<HashedLine>) -> bool {
        let mut accepted = Vec::with_capacity(read.len());
        let mut continues = true;
        for HashedLine { item, line, leaf } in read {
            let index = self.board.size();
            let followed = item.and_then(|item| {
                let (index, previous) = item.link();
                self.board.follow_hashed(index, previous, line, leaf).map(|()| item)
            });
            match followed {
                Ok(item) => {
                    self.checked(Step::Chain, 1);
                    *self.kinds.entry(item.kind()).or_default() += 1;
                    self.note_line(index, leaf);
                    continues = match item {
                        ParsedEntry::Whole(entry) => self.admit(entry, &mut accepted),
                        ParsedEntry::Outline { outline, form, .. } => self.admit_outline(index, &outline, form),
                    };
                }
                Err(error) => {
                    self.fault(Step::Chain, error.at_entry(index));
                    continues = false;
                }
            }
            if !continues {
                break;
            }
        }
        self.check_signatures(&accepted);
        self.check_challenges(&accepted);
        self.queue_ballots(accepted);
        continues
    }

    /// Updates the hash of the line's file, and compares the roots of heads up to this line.
    fn note_line(&mut self, index: u64, leaf: Hash) {
        if index.is_multiple_of(FILE_ENTRIES) {
            self.files.push(Hash::of(&[]));
        }
        if let Some(file) = self.files.last_mut() {
            *file = Hash::of(&[&file.0, &leaf.0]);
        }
        while let Some(head) = self.heads.get(self.compared).filter(|head| head.size <= index + 1) {
            let (size, right) = (head.size, head.size == index + 1 && head.root == self.board.root());
            self.compared += 1;
            if !right {
                self.fault(Step::Heads, ErrorKind::WrongRoot { size }.into());
            }
        }
    }

    /// Applies the rules to an entry. Returns whether the record can be followed further.
    fn admit(&mut self, entry: Entry, accepted: &mut Vec<AcceptedEntry>) -> bool {
        let index = entry.index;
        let Some(state) = &mut self.state else {
            self.checked(Step::Election, 1);
            self.checked(Step::Signatures, 1);
            match State::begin(&entry.notice, self.policy, self.engine) {
                Ok(state) => {
                    self.products = Some(Products::new(state.election()));
                    self.state = Some(state);
                    return true;
                }
                Err(error @ ErrorKind::BadSignature) => self.fault(Step::Signatures, error.at_entry(index)),
                Err(error) => self.fault(Step::Election, error.at_entry(index)),
            }
            return false;
        };
        match state.admit_unsigned(&entry.notice) {
            Ok((admitted, author)) => {
                let weight = admitted.weight;
                match entry.notice.body() {
                    Body::Tally(tally) => self.tally = Some((index, tally.clone())),
                    Body::Share(share) => _ = self.shares.insert(share.trustee, index),
                    Body::Opening(_) => self.opening = Some(index),
                    Body::Result(_) => self.result = Some(index),
                    Body::Open(_) => self.opened = Some(index),
                    Body::Close(_) => self.closed = Some(index),
                    Body::Ballot(_) | Body::Challenge(_) => self.last_ballot = Some(index),
                    _ => {}
                }
                self.replaced.extend(admitted.replaced.map(|entry| (entry, weight)));
                accepted.push(AcceptedEntry { entry, admitted, author });
            }
            Err(error) => {
                state.skip_entry();
                self.fault(Step::Rules, error.at_entry(index));
            }
        }
        self.checked(Step::Rules, 1);
        true
    }

    /// As `admit`, for a ballot of which only the outline is available. The machine that has the
    /// ballot checks signature and proofs.
    fn admit_outline(&mut self, entry: u64, outline: &Outline, form: Result<(), ErrorKind>) -> bool {
        let Some(state) = &mut self.state else { return false };
        match state.admit_outline(outline, form) {
            Ok((Admitted { weight, replaced }, author)) => {
                self.last_ballot = Some(entry);
                self.remote_ballots.push(RemoteBallot { entry, author, weight });
                self.replaced.extend(replaced.map(|entry| (entry, weight)));
            }
            Err(error) => {
                state.skip_entry();
                self.fault(Step::Rules, error.at_entry(entry));
            }
        }
        self.checked(Step::Rules, 1);
        true
    }

    fn check_signatures(&mut self, accepted: &[AcceptedEntry]) {
        let wrong: Vec<Error> = accepted
            .par_iter()
            .with_max_len(LINES_PER_TASK)
            .filter_map(|one| {
                let found = one.entry.notice.check_signature(&one.author);
                found.err().map(|error| error.at_entry(one.entry.index))
            })
            .collect();
        self.checked(Step::Signatures, accepted.len() as u64);
        wrong.into_iter().for_each(|error| self.fault(Step::Signatures, error));
    }

    /// Queues ballots until there are enough for a batch.
    fn queue_ballots(&mut self, accepted: Vec<AcceptedEntry>) {
        for AcceptedEntry { entry, admitted, .. } in accepted {
            let (index, bytes) = (entry.index, entry.notice.text().len());
            if let Body::Ballot(ballot) = entry.notice.into_body() {
                self.queued.push(QueuedBallot { entry: index, weight: admitted.weight, ballot });
                self.queued_bytes += bytes;
            }
        }
    }

    /// The queued ballots, if there are any.
    fn take_batch(&mut self) -> Option<BallotBatch> {
        let election = self.state.as_ref().filter(|_| !self.queued.is_empty())?.election().clone();
        self.queued_bytes = 0;
        Some(BallotBatch { election, ballots: mem::take(&mut self.queued) })
    }

    pub(crate) fn note_verified(&mut self, verified: Option<Verified>) {
        let Some((Verified { verdicts, product }, products)) = verified.zip(self.products.as_mut()) else { return };
        let added = product.and_then(|product| products.multiply(&product));
        self.checked(Step::Ballots, verdicts.len() as u64);
        for (entry, verdict) in verdicts {
            if let Err(error) = verdict {
                if is_left_out(&error) {
                    self.left_out.insert(entry);
                }
                self.fault(Step::Ballots, error.at_entry(entry));
            }
        }
        if let Err(error) = added {
            self.fault(Step::Tally, error.into());
        }
    }

    fn check_challenges(&mut self, accepted: &[AcceptedEntry]) {
        let Some(state) = &self.state else { return };
        let challenges: Vec<(u64, &Challenge)> = accepted
            .iter()
            .filter_map(|one| match one.entry.notice.body() {
                Body::Challenge(challenge) => Some((one.entry.index, challenge)),
                _ => None,
            })
            .collect();
        if challenges.is_empty() {
            return;
        }
        let verdicts = verify_challenges(state.election(), &challenges.iter().map(|(_, one)| *one).collect::<Vec<_>>());
        self.checked(Step::Challenges, challenges.len() as u64);
        for (verdict, (index, _)) in verdicts.into_iter().zip(challenges) {
            if let Err(error) = verdict {
                self.fault(Step::Challenges, error.at_entry(index));
            }
        }
    }

    pub(crate) fn finish(mut self, source: Option<&dyn Source>) -> Result<Report, Error> {
        let last = self.take_batch().map(BallotBatch::verify);
        self.note_verified(last);
        self.finish_heads();
        self.finish_dates();
        if self.board.size() == 0 && self.checks[&Step::Chain].wrong == 0 {
            self.fault(Step::Chain, ErrorKind::Shape { problem: "there is no record here" }.into());
        }
        self.finish_tally(source)?;
        self.finish_result();
        Ok(Report {
            kinds: self.kinds,
            root: self.board.root(),
            size: self.board.size(),
            replaced: self.replaced.len() as u64,
            checks: self.checks,
            state: self.state,
        })
    }

    fn finish_heads(&mut self) {
        let size = self.board.size();
        if !self.stopped {
            let beyond: Vec<u64> = self.heads[self.compared..].iter().map(|head| head.size).collect();
            beyond.into_iter().for_each(|size| self.fault(Step::Heads, ErrorKind::WrongSize { size }.into()));
            let covered = self.heads.last().map_or(0, |head| head.size);
            if covered < size {
                self.fault(Step::Heads, ErrorKind::Unsigned { entries: size - covered }.into());
            }
        }
        if let Some(board) = self.state.as_ref().map(|state| *state.election().board()) {
            let wrong = |head: &&SignedTreeHead| head.check_signature(&board).is_err();
            let unsigned = self.heads.par_iter().filter(wrong).count();
            (0..unsigned).for_each(|_| self.fault(Step::Heads, ErrorKind::BadSignature.into()));
        }
    }

    /// Checks that voting begins and ends as the manifest says, by the times of the heads before
    /// and after.
    fn finish_dates(&mut self) {
        let Some(state) = &self.state else { return };
        let Manifest { opens, closes, .. } = state.election().manifest();
        let covered = |at: Option<u64>, date: &Option<String>, early: bool| {
            let (at, date) = (at?, date.as_ref()?);
            let fits = |head: &SignedTreeHead| {
                if early { head.time < *date && head.size > at } else { head.time >= *date && head.size <= at }
            };
            self.heads.iter().any(fits).then_some(at)
        };
        let found = [
            (covered(self.opened, opens, true), "voting begins before its date"),
            (covered(self.closed, closes, true), "voting ends before its date"),
            (covered(self.last_ballot, closes, false), "a ballot was added after the date at which voting ends"),
        ];
        for (entry, problem) in found {
            if let Some(entry) = entry {
                self.fault(Step::Rules, ErrorKind::Shape { problem }.at_entry(entry));
            }
        }
    }

    /// Compares the tally with the products. Without a source, replaced ballots were never included
    /// in the products.
    fn finish_tally(&mut self, source: Option<&dyn Source>) -> Result<(), Error> {
        let (Some((index, tally)), Some(mut products)) = (self.tally.clone(), self.products.take()) else {
            return Ok(());
        };
        let counted = source.map_or(Ok(Ok(())), |source| self.remove_replaced(source, &mut products))?;
        let found = counted.and_then(|()| products.check(&tally));
        self.checked(Step::Tally, tally.contests.iter().flatten().count() as u64);
        if let Err(error) = found {
            self.fault(Step::Tally, error.at_entry(index));
        }
        Ok(())
    }

    /// Removes replaced ballots from the products, file by file. The outer error is a source that
    /// cannot be read.
    fn remove_replaced(&self, source: &dyn Source, products: &mut Products) -> Result<Result<(), ErrorKind>, Error> {
        let files: BTreeSet<u64> = self.replaced.keys().map(|entry| entry / FILE_ENTRIES).collect();
        for file in files {
            let (mut lines, mut hash) = (Lines::from_file(source, file * FILE_ENTRIES), Hash::of(&[]));
            let mut ballots = Vec::new();
            for entry in file * FILE_ENTRIES..((file + 1) * FILE_ENTRIES).min(self.board.size()) {
                let Some(line) = lines.next_line()? else { break };
                hash = Hash::of(&[&hash.0, &leaf_hash(&line).0]);
                if let Some(weight) = self.replaced.get(&entry).filter(|_| !self.left_out.contains(&entry))
                    && let Body::Ballot(ballot) = Entry::from_line(&line)?.notice.into_body()
                {
                    ballots.push((ballot, *weight));
                }
            }
            if self.files.get(file as usize) != Some(&hash) {
                return Ok(Err(ErrorKind::Shape { problem: "the record changed while it was being read" }));
            }
            if let Err(error) =
                products.remove(&ballots.iter().map(|(ballot, weight)| (ballot, *weight)).collect::<Vec<_>>())
            {
                return Ok(Err(error));
            }
        }
        Ok(Ok(()))
    }

    fn finish_result(&mut self) {
        let Some(state) = &self.state else { return };
        let Some(tally) = state.tally() else { return };
        let election: &Election = state.election();
        let share = |(trustee, share)| Some((*self.shares.get(trustee)?, election.verify_share(tally, share)));
        let opening = |(at, opening)| (at, election.check_opening(tally, opening).map(|_| ()));
        let given = state.shares().iter().filter_map(share).chain(self.opening.zip(state.opening()).map(opening));
        let given: Vec<(u64, Result<(), ErrorKind>)> = given.collect();
        let result = state.result().map(|result| {
            let right = state.outcome()?;
            let differs = right.contests.iter().zip(&result.contests).position(|(right, found)| right != found);
            differs.map_or(Ok(()), |contest| Err(ErrorKind::WrongResult { contest }))
        });
        self.checked(Step::Decryption, given.len() as u64);
        for (index, found) in given {
            if let Err(error) = found {
                self.fault(Step::Decryption, error.at_entry(index));
            }
        }
        if let (Some(result), Some(index)) = (result, self.result) {
            self.checked(Step::Result, 1);
            if let Err(error) = result {
                self.fault(Step::Result, error.at_entry(index));
            }
        }
    }
}
