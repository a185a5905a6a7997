//! `hearith election vote` and `challenge`.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

use hearith_election::{
    Ballot, Body, Challenge, Contest, Election, ErrorKind, Folder, KeyRole, Lines, Notice, Receipt, SecretKey, Signer,
    State, Vote, canonical, shown_tracker, verify_ballots,
};
use zeroize::Zeroizing;

use super::machine;
use super::organiser_dir::{ElectionHandle, client, election_at, long_secret_text, of, record_folder, url, write_new};
use crate::args::{ElectionChallenge, ElectionVote};
use crate::engines::{print, print_json};
use crate::failure::{CliError, name};
use crate::output::Access;
use crate::progress::{Length, Progress};
use crate::session::Session;

/// Number of ballots prepared together.
const BATCH: usize = 256;

/// Prepares a ballot, casts one, or both.
pub(super) fn vote(session: &Session, command: &ElectionVote) -> Result<(), CliError> {
    if let Some(settings) = &command.machine {
        return machine::vote(session, command, settings);
    }
    match (&command.prepare, &command.cast, &command.ballots) {
        (Some(out), _, _) => prepare(session, command, out),
        (_, Some(prepared), _) => {
            let mut handle = ElectionHandle::visit(session, &command.location, command.ca.as_deref())?;
            let ballot = read_prepared(prepared)?.ballot.clone();
            let (_, signer) = credential(&command.credential, Some(&ballot.voter), handle.state().election())?;
            cast(session, &mut handle, command, ballot, &signer)
        }
        (_, _, Some(table)) => cast_all(session, command, table),
        _ => {
            let mut handle = ElectionHandle::visit(session, &command.location, command.ca.as_deref())?;
            let election = handle.state().election().clone();
            let (voter, signer) = credential(&command.credential, command.voter.as_deref(), &election)?;
            let chosen = chosen(election.contests(), &command.choose)?;
            let ballot = election.prepare(&voter, &chosen).map_err(CliError::new)?.into_ballot();
            cast(session, &mut handle, command, ballot, &signer)
        }
    }
}

/// Prepares a ballot without casting it, and stores its contents.
fn prepare(session: &Session, command: &ElectionVote, out: &Path) -> Result<(), CliError> {
    let election = election_of(session, &command.location, command.ca.as_deref())?;
    let (voter, _) = credential(&command.credential, command.voter.as_deref(), &election)?;
    let chosen = chosen(election.contests(), &command.choose)?;
    let prepared = election.prepare(&voter, &chosen).map_err(CliError::new)?;
    let shown = shown_tracker(&prepared.ballot().hash());
    let text = Zeroizing::new(canonical::to_text(&prepared.into_challenge()));
    write_new(out, Access::Owner, &text)?;
    match session.json {
        true => print_json(&serde_json::json!({ "prepared": name(out), "tracker": shown })),
        false => print(&format!("NOT CAST YET: note the tracker, then cast or challenge it\ntracker {shown}\n")),
    }
}

fn cast(
    session: &Session,
    handle: &mut ElectionHandle,
    command: &ElectionVote,
    ballot: Ballot,
    signer: &Signer,
) -> Result<(), CliError> {
    let shown = shown_tracker(&ballot.hash());
    let notice = Notice::signed(Body::Ballot(ballot), signer);
    handle.check(&notice)?;
    let receipt = handle.enter(notice)?;
    handle.sign_head()?;
    keep(command, &receipt)?;
    match session.json {
        true => print_json(&serde_json::json!({ "cast": receipt.index, "tracker": shown })),
        false => print(&format!("cast: entry {} of the board\ntracker {shown}\n", receipt.index)),
    }
}

/// Writes the board's receipt, if requested.
pub(super) fn keep(command: &ElectionVote, receipt: &Receipt) -> Result<(), CliError> {
    command.receipt.as_ref().map_or(Ok(()), |path| write_new(path, Access::Usual, &receipt.to_json()))
}

/// Casts the ballots of a table, as a polling station for many voters would.
fn cast_all(session: &Session, command: &ElectionVote, table: &Path) -> Result<(), CliError> {
    let mut handle = ElectionHandle::visit(session, &command.location, command.ca.as_deref())?;
    let election = handle.state().election().clone();
    let mut signers = credentials(&command.credential, &election)?;
    let votes = read_votes(table, election.contests())?;
    let progress = Progress::start("casting", Length::Rows(votes.len() as u64));
    let mut done = 0;
    for votes in votes.chunks(BATCH) {
        let prepared = election.prepare_all(votes).map_err(|error| of(table, error))?;
        let ballots: Vec<Ballot> = prepared.into_iter().map(|one| one.into_ballot()).collect();
        for verdict in verify_ballots(&election, &ballots.iter().collect::<Vec<_>>()) {
            verdict.map_err(CliError::new)?;
        }
        for ballot in ballots {
            let Some(signer) = signers.get_mut(&ballot.voter) else {
                return Err(CliError::at(
                    name(&command.credential),
                    format!("no credential for voter '{}'", ballot.voter),
                ));
            };
            handle.enter(Notice::signed(Body::Ballot(ballot), signer))?;
        }
        done += votes.len() as u64;
        progress.set(done, done);
    }
    drop(progress);
    handle.sign_head()?;
    print(&format!("cast: {done} ballots\n"))
}

/// Reveals what a prepared ballot contains. It will never count.
pub(super) fn challenge(session: &Session, command: &ElectionChallenge) -> Result<(), CliError> {
    let mut handle = ElectionHandle::visit(session, &command.location, command.ca.as_deref())?;
    let election = handle.state().election().clone();
    let challenge = read_prepared(&command.prepared)?;
    let (_, signer) = credential(&command.credential, Some(&challenge.ballot.voter), &election)?;
    publish_challenge(session, &mut handle, challenge, &signer)
}

/// Enters a challenge, and prints what the ballot contained.
pub(super) fn publish_challenge(
    session: &Session,
    handle: &mut ElectionHandle,
    challenge: Challenge,
    signer: &Signer,
) -> Result<(), CliError> {
    let (shown, choices) =
        (shown_tracker(&challenge.ballot.hash()), opened_choices(handle.state().election(), &challenge));
    let notice = Notice::signed(Body::Challenge(challenge), signer);
    handle.check(&notice)?;
    let receipt = handle.enter(notice)?;
    handle.sign_head()?;
    if session.json {
        let choices: HashMap<_, _> = choices.into_iter().collect();
        return print_json(&serde_json::json!({ "challenged": receipt.index, "tracker": shown, "held": choices }));
    }
    let lines: String = choices.iter().map(|(title, names)| format!("{title}: {}\n", names.join("; "))).collect();
    print(&format!("challenged: this ballot never counts; vote with a new one\ntracker {shown}\n{lines}"))
}

/// The contents of a challenged ballot by contest. Ranked candidates come with their ranks.
fn opened_choices(election: &Election, challenge: &Challenge) -> Vec<(String, Vec<String>)> {
    let of_contest = |(contest, openings): (&Contest, &Vec<hearith_election::RevealedMark>)| {
        let values: Vec<usize> = openings.iter().map(|opened| opened.value).collect();
        let names = contest.chosen(&values).into_iter().filter_map(|one| contest.candidates.get(one).cloned());
        let ranked = |(rank, name): (usize, String)| format!("{}. {name}", rank + 1);
        let names = match contest.points() {
            Some(_) => names.enumerate().map(ranked).collect(),
            None => names.collect(),
        };
        (contest.title.clone(), names)
    };
    election.contests().iter().zip(&challenge.openings).map(of_contest).collect()
}

/// Reads the election from a record's first entry, or from a server.
fn election_of(session: &Session, path: &Path, ca: Option<&Path>) -> Result<Election, CliError> {
    if let Some(url) = url(path) {
        return election_at(session, &client(url, ca)?, url);
    }
    let folder = record_folder(path)?;
    let source = Folder(folder.clone());
    let line = Lines::new(&source).next_line().map_err(|error| of(&folder, error))?;
    let Some(line) = line else { return Err(CliError::at(name(&folder), "there is no record here")) };
    let first = hearith_election::Entry::from_line(&line).map_err(|error| of(&folder, error))?;
    let state = State::begin(&first.notice, session.policy, session.engine).map_err(|error| of(&folder, error))?;
    Ok(state.election().clone())
}

fn read_prepared(path: &Path) -> Result<Challenge, CliError> {
    canonical::from_text("a prepared ballot", long_secret_text(path)?.trim_end()).map_err(|error| of(path, error))
}

/// A voter's credential: the only one in a file, or the requested one.
pub(super) fn credential(path: &Path, voter: Option<&str>, election: &Election) -> Result<(String, Signer), CliError> {
    let mut all = credentials(path, election)?;
    let voter = match (voter, all.len()) {
        (Some(voter), _) => voter.to_owned(),
        (None, 1) => all.keys().next().cloned().unwrap_or_default(),
        (None, _) => return Err(CliError::at(name(path), "several credentials: choose one with --voter")),
    };
    let signer = all.remove(&voter);
    signer
        .map(|signer| (voter.clone(), signer))
        .ok_or_else(|| CliError::at(name(path), format!("no credential for voter '{voter}'")))
}

/// Reads all credentials of a file.
fn credentials(path: &Path, election: &Election) -> Result<HashMap<String, Signer>, CliError> {
    let text = long_secret_text(path)?;
    let read = |line: &str| {
        let key = SecretKey::from_line(line, KeyRole::Voter)?;
        if key.election() != Some(election.id()) {
            return Err(ErrorKind::WrongElection);
        }
        Ok((key.voter().unwrap_or_default().to_owned(), key.signer()?))
    };
    let all: Result<HashMap<_, _>, ErrorKind> = text.lines().map(read).collect();
    all.map_err(|error| of(path, error))
}

/// The chosen candidates of each contest, by index. Ranked candidates are in order of preference.
pub(super) fn chosen(contests: &[Contest], choices: &[String]) -> Result<Vec<Vec<usize>>, CliError> {
    let mut chosen = vec![Vec::new(); contests.len()];
    for choice in choices {
        // Titles and names may contain equals signs themselves.
        let found = contests.iter().enumerate().find_map(|(contest, one)| {
            let candidate = choice.strip_prefix(one.title.as_str())?.strip_prefix('=')?;
            Some((contest, one.candidates.iter().position(|name| name == candidate)?))
        });
        let Some((contest, candidate)) = found else {
            return Err(CliError::new("--choose needs a CONTEST=CANDIDATE of this election")
                .with_note("your choice is not shown here"));
        };
        chosen[contest].push(candidate);
    }
    Ok(chosen)
}

/// Reads the votes of a table.
fn read_votes(path: &Path, contests: &[Contest]) -> Result<Vec<Vote>, CliError> {
    let file = File::open(path).map_err(|error| CliError::reading(&name(path), error))?;
    let mut table = csv::Reader::from_reader(file);
    let at = |error: csv::Error| CliError::at(name(path), error);
    let header = table.headers().map_err(at)?.clone();
    let column = |called: &str| header.iter().position(|name| name == called);
    let missing = |what: &str| CliError::at(name(path), format!("there is no column '{what}'"));
    let voter = column("voter").ok_or_else(|| missing("voter"))?;
    let columns: Vec<usize> = contests
        .iter()
        .map(|contest| column(&contest.title).ok_or_else(|| missing(&contest.title)))
        .collect::<Result<_, _>>()?;
    let mut votes = Vec::new();
    for (row, record) in table.records().enumerate() {
        let record = record.map_err(at)?;
        // Messages must not reveal votes, so they do not show the name.
        let wrong = |contest: &Contest, what: &str| {
            CliError::at(name(path), format!("row {}, column {}: {what}", row + 1, contest.title))
        };
        let values = contests.iter().zip(&columns).map(|(contest, &column)| {
            let names = record[column].split(';').map(str::trim).filter(|name| !name.is_empty());
            let find = |name: &str| contest.candidates.iter().position(|one| one == name);
            let chosen: Option<Vec<usize>> = names.map(find).collect();
            let chosen = chosen.ok_or_else(|| wrong(contest, "no such candidate"))?;
            contest.choose(&chosen).map(Zeroizing::new).map_err(|problem| wrong(contest, problem))
        });
        votes.push((record[voter].to_owned(), values.collect::<Result<_, _>>()?));
    }
    Ok(votes)
}
