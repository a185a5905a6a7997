//! `hearith election verify`.

use hearith_election::{Report, Source, State, Step, verify};

use super::organiser_dir::{of, record};
use super::outcome::print_outcome;
use crate::args::ElectionVerify;
use crate::engines::{print, print_json};
use crate::failure::{CliError, eprint_line};
use crate::progress::{Length, Progress};
use crate::session::Session;

/// Verifies a record and prints a verdict for each check.
pub(super) fn run(session: &Session, command: &ElectionVerify) -> Result<(), CliError> {
    let (source, name) = record(&command.record, command.ca.as_deref())?;
    let report = read(session, &*source, &name)?;
    show(session, &report)?;
    if !report.is_good() {
        return Err(refuted(&report, &name));
    }
    match (&report.state, report.result()) {
        (Some(state), Some(result)) if !session.json => print_outcome(session, state.election().contests(), result),
        (Some(state), None) if !session.json => print(&format!("no result yet: {}\n", state.phase())),
        _ => Ok(()),
    }
}

/// Verifies a record, as far as it goes. Returns an error if any check fails.
pub(super) fn verified(session: &Session, source: &dyn Source, name: &str) -> Result<Report, CliError> {
    let report = read(session, source, name)?;
    if report.is_good() { Ok(report) } else { Err(refuted(&report, name)) }
}

fn read(session: &Session, source: &dyn Source, name: &str) -> Result<Report, CliError> {
    let length = source.bytes().map_or(Length::Unknown, Length::Bytes);
    let progress = Progress::start("verifying", length);
    let report = verify(source, session.policy, session.engine, &|bytes| progress.set_bytes(bytes));
    let report = report.map_err(|error| of(name.as_ref(), error))?;
    if let Some(state) = &report.state {
        session.warn_insecure_key(name, state.election().key());
    }
    Ok(report)
}

/// The failure that names the failed checks and the first fault.
fn refuted(report: &Report, name: &str) -> CliError {
    let mut failed = report.checks.iter().filter(|(_, check)| check.wrong > 0);
    let names: Vec<&str> = failed.clone().map(|(step, _)| step.name()).collect();
    let first = failed.find_map(|(_, check)| check.faults.first()).map(ToString::to_string).unwrap_or_default();
    CliError::refuted(name, format!("NOT VERIFIED, failed: {}; first: {first}", names.join(", ")))
}

fn show(session: &Session, report: &Report) -> Result<(), CliError> {
    for (step, check) in &report.checks {
        let lines = check.faults.iter().map(|fault| format!("{step}: {fault}"));
        lines.for_each(|line| eprint_line(&line));
        let more = check.wrong - check.faults.len() as u64;
        if more > 0 {
            eprint_line(&format!("{step}: and {more} more"));
        }
    }
    if session.json {
        return print_json(&report.to_json());
    }
    let mut text = String::new();
    if let Some(state) = &report.state {
        text += &format!("{}\nelection {}\n", state.election().manifest().title, state.election().id());
        text += &terms(state);
    }
    text += &format!("root     {} of {} entries\n", report.root, report.size);
    for (step, check) in &report.checks {
        let verdict = match (check.wrong, check.checked) {
            (0, 0) => "nothing to check".to_owned(),
            (0, checked) => format!("good  {checked} {}", counted_items(*step)),
            (wrong, _) => format!("WRONG {wrong}"),
        };
        text += &format!("{step:<11}{verdict}\n");
    }
    print(&text)
}

/// Other terms of the election, and changes to its list of voters that everyone should see.
pub(super) fn terms(state: &State) -> String {
    let manifest = state.election().manifest();
    let mut text = String::new();
    if manifest.trial {
        text += "trial    its result is not binding\n";
    }
    for (what, date) in [("opens", &manifest.opens), ("closes", &manifest.closes)] {
        text += &date.as_ref().map_or_else(String::new, |date| format!("{what:<9}{date}, by the board\n"));
    }
    if manifest.registrar.is_some() {
        text += "voters   listed by a registrar\n";
    }
    for (what, replaced) in [("voters added while voting went on", false), ("credentials replaced", true)] {
        let count = state.changes().iter().filter(|change| change.replaced == replaced).count();
        if count > 0 {
            text += &format!("changes  {what}: {count}\n");
        }
    }
    text
}

/// What a check counts.
fn counted_items(step: Step) -> &'static str {
    match step {
        Step::Chain => "entries in order",
        Step::Heads => "heads signed by the board",
        Step::Election => "election with its key",
        Step::Rules => "entries in an allowed order",
        Step::Signatures => "entries signed by their authors",
        Step::Ballots => "ballots, all proofs",
        Step::Challenges => "challenged ballots opened",
        Step::Tally => "products of the ballots that count",
        Step::Decryption => "decryptions with proofs",
        Step::Result => "result",
    }
}
