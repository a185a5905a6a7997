//! What the verifier reports: the outcome of every check of a record.

use crate::body::{Kind, Outcome};
use crate::canonical::Hash;
use crate::error::Error;
use crate::state::State;
use std::collections::BTreeMap;
use std::fmt;

/// A check of the verifier, in the order of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Every line is a canonical entry with the right index and the hash of the previous line.
    Chain,
    /// The board's heads are signed and have the board's roots.
    Heads,
    /// The first entry is a valid election, with a valid key and proofs about it.
    Election,
    /// Entries come in the right order from the permitted authors. No voter counts twice, and no
    /// ciphertext occurs twice.
    Rules,
    /// Every entry is signed by its author.
    Signatures,
    /// The proofs of every ballot hold.
    Ballots,
    /// The openings of challenged ballots fit their ciphertexts.
    Challenges,
    /// The tally is the product of the ballots that count.
    Tally,
    /// The tally is decrypted correctly.
    Decryption,
    /// The result is the decryption of the tally.
    Result,
}

impl Step {
    /// All checks.
    pub const ALL: [Step; 10] = [
        Step::Chain,
        Step::Heads,
        Step::Election,
        Step::Rules,
        Step::Signatures,
        Step::Ballots,
        Step::Challenges,
        Step::Tally,
        Step::Decryption,
        Step::Result,
    ];

    /// The name of the check.
    pub fn name(self) -> &'static str {
        match self {
            Step::Chain => "chain",
            Step::Heads => "heads",
            Step::Election => "election",
            Step::Rules => "rules",
            Step::Signatures => "signatures",
            Step::Ballots => "ballots",
            Step::Challenges => "challenges",
            Step::Tally => "tally",
            Step::Decryption => "decryption",
            Step::Result => "result",
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The outcome of a check.
#[derive(Debug, Default)]
pub struct Check {
    /// The number of checked items: entries, heads, signatures, ballots, marks.
    pub checked: u64,
    /// The first twenty faults.
    pub faults: Vec<Error>,
    /// The number of faults.
    pub wrong: u64,
}

/// The report of the verifier.
#[derive(Debug)]
pub struct Report {
    /// The state of the election, as far as the record could be followed.
    pub state: Option<State>,
    /// The number of entries of each kind.
    pub kinds: BTreeMap<Kind, u64>,
    /// The root of the tree over all entries read.
    pub root: Hash,
    /// The number of entries read.
    pub size: u64,
    /// The number of ballots that voters replaced.
    pub replaced: u64,
    /// The outcome of each check.
    pub checks: BTreeMap<Step, Check>,
}

impl Report {
    /// Whether all checks passed.
    pub fn is_good(&self) -> bool {
        self.checks.values().all(|check| check.wrong == 0)
    }

    /// The report as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        let check = |(step, check): (&Step, &Check)| {
            let faults: Vec<String> = check.faults.iter().map(ToString::to_string).collect();
            let found = serde_json::json!({ "checked": check.checked, "wrong": check.wrong, "faults": faults });
            (step.name().to_owned(), found)
        };
        let checks: serde_json::Map<String, serde_json::Value> = self.checks.iter().map(check).collect();
        let election = self.state.as_ref().map(|state| state.election().id().to_string());
        let phase = self.state.as_ref().map(|state| state.phase().name());
        serde_json::json!({
            "election": election, "entries": self.size, "root": self.root.to_string(), "phase": phase,
            "verified": self.is_good(), "checks": checks, "result": self.result(),
        })
    }

    /// The result, if all checks passed and the election has ended.
    pub fn result(&self) -> Option<&Outcome> {
        self.state.as_ref()?.result().filter(|_| self.is_good())
    }
}
