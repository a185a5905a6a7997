//! Distributed verification, for records that take too long on one machine: workers read files of
//! the board, and a coordinator combines their findings.
//!
//! 1. A worker reads a file and returns its *outline*: hashes of every line, the full text of
//!    entries other than ballots, and for a ballot its voter and keyed hashes of its ciphertexts
//!    ([`Worker::outline`]).
//! 2. The coordinator processes the outlines in the order of the files. It checks chain, tree,
//!    heads, rules and all entries other than ballots ([`Coordinator::take`]).
//! 3. A worker reads files again and checks the ballots with their voters' keys: signatures,
//!    proofs, and the product of the counted ballots ([`Worker::check`]).
//! 4. The coordinator collects the verdicts and products and produces the same report as
//!    [`verify`](crate::verify) ([`Coordinator::finish`]).
//!
//! All messages between them are text. A worker's result depends only on its input, so lost work
//! can be repeated elsewhere.

use crate::body::{Body, Kind, Manifest};
use crate::canonical::{Bytes, Hash, parse, to_text};
use crate::election::Election;
use crate::entry::{Entry, line_hash};
use crate::error::{Error, ErrorKind};
use crate::record::{FILE_ENTRIES, heads_of, read_line};
use crate::report::{Report, Step};
use crate::signature::PublicKey;
use crate::state::{Outline, Outliner};
use crate::tally::Products;
use crate::tree::leaf_hash;
use crate::verify::{BallotBatch, HashedLine, ParsedEntry, QueuedBallot, Verified, Verifier};
use crate::verify_ballots::verify_challenges;
use hearith_paillier::{Engine, KeyPolicy};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The configuration of every worker.
#[derive(Serialize, Deserialize)]
struct JobConfig {
    hashing: [u64; 4],
    manifest: Manifest,
}

/// A line of a file in an outline.
#[derive(Serialize, Deserialize)]
struct Line {
    leaf: Hash,
    line: Hash,
    what: LineKind,
}

#[derive(Serialize, Deserialize)]
enum LineKind {
    Whole(String),
    Ballot {
        election: Hash,
        index: u64,
        kind: Kind,
        marks: Bytes,
        previous: Hash,
        problem: Option<String>,
        voter: String,
    },
    /// An unreadable line.
    Fault(String),
}

/// The ballots of a file that a worker has to check.
#[derive(Serialize, Deserialize)]
struct Task {
    ballots: Vec<BallotTask>,
    /// The number of accepted entries of the file and a hash over their lines, which shows that the
    /// file is the one that was outlined.
    entries: usize,
    file: u64,
    hash: Hash,
}

/// A cast or challenged ballot with its voter's key. A ballot with weight 0 does not count.
#[derive(Serialize, Deserialize)]
struct BallotTask {
    entry: u64,
    key: Bytes,
    weight: u64,
}

/// A worker's findings for some files.
#[derive(Default, Serialize, Deserialize)]
struct TaskResult {
    ballots: Vec<Verdict>,
    challenges: Vec<Verdict>,
    product: Vec<Bytes>,
    signatures: Vec<Verdict>,
}

/// An entry and its fault, if any.
type Verdict = (u64, Option<String>);

fn verdict(entry: u64, found: Result<(), ErrorKind>) -> Verdict {
    (entry, found.err().map(|error| error.to_string()))
}

fn result((entry, problem): Verdict) -> (u64, Result<(), ErrorKind>) {
    (entry, problem.map_or(Ok(()), |problem| Err(ErrorKind::Elsewhere(problem))))
}

/// A worker, which reads files of the board.
pub struct Worker {
    election: Election,
    outliner: Outliner,
}

impl Worker {
    /// Creates a worker from the output of [`Coordinator::setup`].
    ///
    /// # Errors
    /// If the text is not such an output, or the election is invalid.
    pub fn new(setup: &str, policy: KeyPolicy, engine: Engine) -> Result<Self, Error> {
        let JobConfig { hashing, manifest } = parse("a worker's part", setup)?;
        let election = Election::new(manifest, policy, engine)?;
        Ok(Worker { outliner: Outliner::with_key(&election, hashing), election })
    }

    /// The outline of a file, including its faults.
    pub fn outline(&self, file: &[u8]) -> String {
        let (lines, error) = lines(file);
        let mut outline: Vec<Line> = lines.par_iter().map(|line| self.outline_line(line)).collect();
        if let Some(error) = error {
            outline.push(Line {
                leaf: Hash::of(&[]),
                line: Hash::of(&[]),
                what: LineKind::Fault(error.kind().to_string()),
            });
        }
        to_text(&outline)
    }

    fn outline_line(&self, line: &str) -> Line {
        let what = match Entry::from_line(line) {
            Err(error) => LineKind::Fault(error.to_string()),
            Ok(Entry { notice, index, previous }) => match self.outliner.outline(&notice) {
                None => LineKind::Whole(line.to_owned()),
                Some((Outline { election, kind, voter, marks }, form)) => {
                    let marks = Bytes(marks.iter().flat_map(|mark| mark.to_be_bytes()).collect());
                    let problem = form.err().map(|error| error.to_string());
                    LineKind::Ballot { election, index, kind, marks, previous, problem, voter }
                }
            },
        };
        Line { leaf: leaf_hash(line), line: line_hash(line), what }
    }

    /// Checks the ballots of files, each with the text of [`Coordinator::task`] for it.
    ///
    /// # Errors
    /// An invalid text, or a file that differs from the outlined one.
    pub fn check(&self, files: &[(&str, &[u8])]) -> Result<String, Error> {
        let mut ballots = BallotBatch { election: self.election.clone(), ballots: Vec::new() };
        let (mut challenges, mut found) = (Vec::new(), TaskResult::default());
        for (task, file) in files {
            let asked = asked(&parse("a worker's part", task)?, file)?;
            let signatures = asked.par_iter().map(|(asked, entry)| {
                let found = PublicKey::new("a voter's", &asked.key).and_then(|key| entry.notice.check_signature(&key));
                verdict(asked.entry, found)
            });
            found.signatures.par_extend(signatures);
            for (BallotTask { entry, weight, .. }, Entry { notice, .. }) in asked {
                match notice.into_body() {
                    Body::Ballot(ballot) => ballots.ballots.push(QueuedBallot { entry, weight, ballot }),
                    Body::Challenge(challenge) => challenges.push((entry, challenge)),
                    _ => {}
                }
            }
        }
        let verdicts = verify_challenges(&self.election, &challenges.iter().map(|(_, one)| one).collect::<Vec<_>>());
        found.challenges = challenges.iter().zip(verdicts).map(|((entry, _), found)| verdict(*entry, found)).collect();
        let Verified { verdicts, product } = ballots.verify();
        found.ballots = verdicts.into_iter().map(|(entry, found)| verdict(entry, found)).collect();
        found.product = product?.to_bytes();
        Ok(to_text(&found))
    }
}

/// The requested entries of a file.
fn asked(task: &Task, file: &[u8]) -> Result<Vec<(BallotTask, Entry)>, Error> {
    let changes = || Error::from(ErrorKind::Shape { problem: "the record changed while it was being read" });
    let (mut lines, _) = lines(file);
    lines.truncate(task.entries);
    let hash = lines.iter().fold(Hash::of(&[]), |hash, line| Hash::of(&[&hash.0, &leaf_hash(line).0]));
    if hash != task.hash {
        return Err(changes());
    }
    let read = |one: &BallotTask| {
        let line = lines.get(one.entry.checked_sub(task.file * FILE_ENTRIES)? as usize)?;
        let asked = BallotTask { entry: one.entry, key: one.key.clone(), weight: one.weight };
        Some((asked, Entry::from_line(line).ok()?))
    };
    task.ballots.par_iter().map(read).collect::<Option<Vec<_>>>().ok_or_else(changes)
}

/// The lines of a file up to the first unreadable one, and its error.
fn lines(mut file: &[u8]) -> (Vec<String>, Option<Error>) {
    let mut lines = Vec::new();
    loop {
        match read_line(&mut file) {
            Ok(Some(_)) if lines.len() as u64 == FILE_ENTRIES => {
                let problem = "a file has more than 1000 entries";
                return (lines, Some(ErrorKind::Shape { problem }.into()));
            }
            Ok(Some(line)) => lines.push(line),
            Ok(None) => return (lines, None),
            Err(error) => return (lines, Some(error)),
        }
    }
}

/// The coordinator, which combines the workers' findings.
pub struct Coordinator {
    verifier: Verifier,
    setup: Option<String>,
    file: u64,
    continues: bool,
}

impl Coordinator {
    /// Starts with the file of heads and the board's first file, of which it reads only the first
    /// line.
    ///
    /// # Errors
    /// Only read errors, which cannot occur here.
    pub fn new(first: &[u8], heads: &[u8], policy: KeyPolicy, engine: Engine) -> Result<Self, Error> {
        let mut verifier = Verifier::new(policy, engine);
        verifier.read_heads(heads_of(heads))?;
        let mut rest = first;
        let continues = match read_line(&mut rest) {
            Ok(Some(line)) => verifier.take(vec![HashedLine::new(&line)]),
            // An empty record can be followed further: its heads are still checked.
            Ok(None) => true,
            Err(error) => {
                verifier.fault(Step::Chain, error.at_entry(0));
                false
            }
        };
        let setup = |outliner: &Outliner, election: &Election| {
            to_text(&JobConfig { hashing: outliner.key(), manifest: election.manifest().clone() })
        };
        let setup = verifier.state.as_ref().map(|state| setup(state.outliner(), state.election()));
        Ok(Coordinator { verifier, setup, file: 0, continues })
    }

    /// The configuration of every worker. `None` if the record does not begin with an election.
    pub fn setup(&self) -> Option<&str> {
        self.setup.as_deref()
    }

    /// Processes the outline of the next file. Returns whether the following files can be
    /// processed. `last` marks the last file.
    ///
    /// # Errors
    /// If the text is not an outline.
    pub fn take(&mut self, outline: &str, last: bool) -> Result<bool, Error> {
        // An outline may be longer than a line of the board.
        let lines: Vec<Line> =
            serde_json::from_str(outline).map_err(|error| ErrorKind::Elsewhere(error.to_string()))?;
        let full = lines.len() as u64 == FILE_ENTRIES;
        let skipped = usize::from(self.file == 0);
        if self.continues {
            self.continues = self.verifier.take(lines.into_iter().skip(skipped).map(read).collect());
        }
        if self.continues && !last && !full {
            let problem = "a file before the last one has fewer than 1000 entries";
            let at = self.verifier.size();
            self.verifier.fault(Step::Chain, ErrorKind::Shape { problem }.at_entry(at));
            self.continues = false;
        }
        self.file += 1;
        Ok(self.continues)
    }

    /// The task of a worker for a file, after all outlines were processed. `None` if the file has
    /// nothing to check.
    pub fn task(&self, file: u64) -> Option<String> {
        let remote_ballots = &self.verifier.remote_ballots;
        let at = |entry: u64| remote_ballots.partition_point(|remote| remote.entry < entry);
        let of_file = &remote_ballots[at(file * FILE_ENTRIES)..at((file + 1) * FILE_ENTRIES)];
        let counted = |entry, weight| if self.verifier.replaced.contains_key(&entry) { 0 } else { weight };
        let asked = of_file.iter().map(|remote| BallotTask {
            entry: remote.entry,
            key: remote.author.to_bytes(),
            weight: counted(remote.entry, remote.weight),
        });
        let hash = *self.verifier.files.get(file as usize)?;
        let entries = self.verifier.size().saturating_sub(file * FILE_ENTRIES).min(FILE_ENTRIES) as usize;
        Some(to_text(&Task { ballots: asked.collect(), entries, file, hash })).filter(|_| !of_file.is_empty())
    }

    /// Records a worker's findings.
    ///
    /// # Errors
    /// If the text is not a worker's result.
    pub fn note(&mut self, found: &str) -> Result<(), Error> {
        let found: TaskResult = serde_json::from_str(found).map_err(|error| ErrorKind::Elsewhere(error.to_string()))?;
        let Some(election) = self.verifier.state.as_ref().map(|state| state.election().clone()) else { return Ok(()) };
        for (step, verdicts) in [(Step::Signatures, found.signatures), (Step::Challenges, found.challenges)] {
            self.verifier.checked(step, verdicts.len() as u64);
            for (entry, verdict) in verdicts.into_iter().map(result) {
                if let Err(error) = verdict {
                    self.verifier.fault(step, error.at_entry(entry));
                }
            }
        }
        let verdicts = found.ballots.into_iter().map(result).collect();
        let product = Products::from_bytes(&election, &found.product);
        self.verifier.note_verified(Some(Verified { verdicts, product }));
        Ok(())
    }

    /// Produces the report.
    ///
    /// # Errors
    /// Only read errors, which cannot occur here.
    pub fn finish(mut self) -> Result<Report, Error> {
        self.verifier.stopped = !self.continues;
        self.verifier.finish(None)
    }
}

/// Converts a line to the verifier's input.
fn read(line: Line) -> HashedLine {
    let Line { leaf, line, what } = line;
    let item = match what {
        LineKind::Whole(text) => Entry::from_line(&text).map(ParsedEntry::Whole),
        LineKind::Fault(problem) => Err(ErrorKind::Elsewhere(problem)),
        LineKind::Ballot { election, index, kind, marks, previous, problem, voter } => {
            let (marks, _) = marks.0.as_chunks::<16>();
            let marks = marks.iter().map(|mark| u128::from_be_bytes(*mark)).collect();
            let form = problem.map_or(Ok(()), |problem| Err(ErrorKind::Elsewhere(problem)));
            Ok(ParsedEntry::Outline { index, previous, outline: Outline { election, kind, voter, marks }, form })
        }
    };
    HashedLine { item, line, leaf }
}
