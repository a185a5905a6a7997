//! `hearith election audit`: the history of a record, and whether others were shown the same
//! record.

use std::collections::BTreeMap;
use std::path::Path;

use hearith_election::{
    Board, Body, Change, Kind, Lines, Receipt, SignedTreeHead, Source, State, leaf_hash, read_tracker, tracker,
};

use super::organiser_dir::{of, record, text};
use super::verify::terms;
use crate::args::ElectionAudit;
use crate::engines::{print, print_json};
use crate::failure::CliError;
use crate::session::Session;

/// The findings.
struct Story {
    state: State,
    board: Board,
    kinds: BTreeMap<Kind, u64>,
    found: Vec<String>,
}

/// Reads a record, checks everything but proofs, and compares it.
pub(super) fn run(session: &Session, command: &ElectionAudit) -> Result<(), CliError> {
    let (source, location) = record(&command.record, command.ca.as_deref())?;
    let heads = command.heads.as_deref().map(read_heads).transpose()?.unwrap_or_default();
    let receipt = command.receipt.as_deref().map(read_receipt).transpose()?;
    let wanted = command
        .tracker
        .as_deref()
        .map(|text| read_tracker(text).map_err(|error| CliError::new(format!("--tracker: {error}"))));
    let wanted = wanted.transpose()?;
    let story = read(session, &*source, &location, &heads, receipt.as_ref(), wanted.as_deref())?;
    let compared = command.other.as_deref().map(|other| {
        let (other, other_location) = record(other, command.ca.as_deref())?;
        compare((&*source, &location), (&*other, &other_location))
    });
    let compared = compared.transpose()?;
    show(session, command, &story, compared)
}

fn read(
    session: &Session,
    source: &dyn Source,
    location: &str,
    heads: &[SignedTreeHead],
    receipt: Option<&Receipt>,
    wanted: Option<&str>,
) -> Result<Story, CliError> {
    let of = |error: hearith_election::Error| CliError::at(location, error);
    let (mut lines, mut board, mut state) = (Lines::new(source), Board::default(), None);
    let (mut kinds, mut found, mut place) = (BTreeMap::new(), Vec::new(), None);
    let mut roots = BTreeMap::new();
    let mut leaf = None;
    while let Some(line) = lines.next_line().map_err(of)? {
        let index = board.size();
        let at = |error: hearith_election::ErrorKind| of(error.at_entry(index));
        let notice = board.follow(&line).map_err(at)?.notice;
        match &mut state {
            None => state = Some(State::begin(&notice, session.policy, session.engine).map_err(at)?),
            Some(state) => _ = state.admit(&notice).map_err(at)?,
        }
        *kinds.entry(notice.kind()).or_insert(0) += 1;
        if heads.iter().any(|head| head.size == board.size()) {
            roots.insert(board.size(), board.root());
        }
        if receipt.is_some_and(|receipt| receipt.index == index) {
            leaf = Some(leaf_hash(&line));
        }
        let ballot = match notice.body() {
            Body::Ballot(ballot) => Some(ballot),
            Body::Challenge(challenge) => Some(&challenge.ballot),
            _ => None,
        };
        if let Some(ballot) = ballot.filter(|_| wanted.is_some())
            && Some(tracker(&ballot.hash()).as_str()) == wanted
        {
            place = Some((index, notice.kind(), ballot.voter.clone()));
        }
    }
    let Some(state) = state else { return Err(CliError::at(location, "there is no record here")) };
    let refuted = |what: String| CliError::refuted(location, what);
    for head in heads {
        head.check_signature(state.election().board())
            .map_err(|error| refuted(format!("a head of {} entries: {error}", head.size)))?;
        match roots.get(&head.size) {
            Some(root) if *root == head.root => {}
            Some(_) => {
                return Err(refuted(format!(
                    "a signed head of {} entries has a different root: there are two boards",
                    head.size
                )));
            }
            None => {
                return Err(refuted(format!(
                    "a signed head covers {} entries, but the record has {}",
                    head.size,
                    board.size()
                )));
            }
        }
    }
    if !heads.is_empty() {
        found.push(format!("{} heads match this record", heads.len()));
    }
    if let Some(receipt) = receipt {
        receipt.check_signature(state.election().board()).map_err(|error| refuted(format!("the receipt: {error}")))?;
        if leaf != Some(receipt.hash) || receipt.election != state.election().id() {
            return Err(refuted(format!("the board signed a different entry {}", receipt.index)));
        }
        found.push(format!("the receipt is for entry {}, which is in the record", receipt.index));
    }
    if wanted.is_some() {
        let Some((index, kind, voter)) = place else { return Err(refuted("no ballot has this tracker".to_owned())) };
        let counts = match (kind, state.voter(&voter).and_then(|voter| voter.counted_entry())) {
            (Kind::Challenge, _) => "challenged: it never counts",
            (_, Some(counted)) if counted == index => "it counts",
            _ => "replaced by a later one",
        };
        if let Some(other) = receipt.filter(|receipt| receipt.index != index) {
            return Err(refuted(format!(
                "the tracker's ballot is entry {index}, but the receipt is for entry {}",
                other.index
            )));
        }
        found.push(format!("the ballot of '{voter}' is entry {index}: {counts}"));
    }
    Ok(Story { state, board, kinds, found })
}

fn show(session: &Session, command: &ElectionAudit, story: &Story, compared: Option<String>) -> Result<(), CliError> {
    let (state, (counted, weight)) = (&story.state, story.state.counted());
    let mut voters: Vec<(&str, bool)> =
        state.voters().map(|(id, voter)| (id, voter.counted_entry().is_some())).collect();
    voters.sort_unstable();
    if session.json {
        let kinds: BTreeMap<&str, u64> = story.kinds.iter().map(|(kind, count)| (kind.name(), *count)).collect();
        let change = |change: &Change| {
            let Change { entry, late, replaced, voter } = change;
            serde_json::json!({ "entry": entry, "late": late, "replaced": replaced, "voter": voter })
        };
        let changes: Vec<_> = state.changes().iter().map(change).collect();
        return print_json(&serde_json::json!({
            "election": state.election().id().to_string(), "phase": state.phase().name(), "entries": story.board.size(),
            "root": story.board.root().to_string(), "kinds": kinds, "voters": voters.len(), "voted": counted, "weight": weight,
            "found": story.found, "compared": compared, "who_voted": command.voters.then_some(voters), "changes": changes,
        }));
    }
    let mut text = format!("{}\nelection {}\n", state.election().manifest().title, state.election().id());
    text += &terms(state);
    text += &format!("root     {} of {} entries\n", story.board.root(), story.board.size());
    text += &format!("phase    {}\n", state.phase());
    let kinds = story.kinds.iter().map(|(kind, count)| format!("  {kind:<10}{count:>10}\n"));
    text += &kinds.collect::<String>();
    text += &format!("{counted} of {} voters voted, of weight {weight}\n", voters.len());
    story.found.iter().chain(&compared).for_each(|line| text += &format!("{line}\n"));
    if command.voters {
        let line = |(id, voted): &(&str, bool)| format!("{}  {id}\n", if *voted { "voted    " } else { "not voted" });
        text += &voters.iter().map(line).collect::<String>();
        let change = |Change { entry, late, replaced, voter }: &Change| {
            let what = if *replaced { "credential replaced" } else { "voter added" };
            format!("entry {entry}: {what}{}: {voter}\n", if *late { " while voting went on" } else { "" })
        };
        text += &state.changes().iter().map(change).collect::<String>();
    }
    print(&text)
}

/// Compares two copies line by line. Describes what they have in common.
fn compare(one: (&dyn Source, &str), other: (&dyn Source, &str)) -> Result<String, CliError> {
    let (mut left, mut right) = (Lines::new(one.0), Lines::new(other.0));
    let mut common = 0;
    loop {
        let line = left.next_line().map_err(|error| CliError::at(one.1, error))?;
        match (line, right.next_line().map_err(|error| CliError::at(other.1, error))?) {
            (Some(left), Some(right)) if left == right => common += 1,
            (Some(_), Some(_)) => {
                return Err(CliError::refuted(other.1, format!("differs from {} at entry {common}", one.1)));
            }
            (None, None) => return Ok(format!("both copies have the same {common} entries")),
            (left, _) => {
                let longer = if left.is_some() { "the first has more" } else { "the second has more" };
                return Ok(format!("the copies have {common} entries in common, and {longer}"));
            }
        }
    }
}

fn read_heads(path: &Path) -> Result<Vec<SignedTreeHead>, CliError> {
    text(path)?.lines().map(|line| SignedTreeHead::from_line(line).map_err(|error| of(path, error))).collect()
}

fn read_receipt(path: &Path) -> Result<Receipt, CliError> {
    Receipt::from_json(text(path)?.trim_end()).map_err(|error| of(path, error))
}
