//! `hearith election result`: a verified result as a table, or as a page to print.

use hearith_election::{Contest, Outcome, Report, State};

use super::elected::elected;
use super::letters::{Words, filled, words};
use super::organiser_dir::{record, write_new_bytes};
use super::outcome::at_ranks;
use super::pdf::Document;
use super::verify::verified;
use crate::args::ElectionResult;
use crate::engines::print;
use crate::failure::{CliError, name};
use crate::key_files::check_absent;
use crate::output::Access;
use crate::session::Session;

/// Verifies a record, and writes its result.
pub(super) fn run(session: &Session, command: &ElectionResult) -> Result<(), CliError> {
    let (source, location) = record(&command.record, command.ca.as_deref())?;
    for out in [&command.csv, &command.pdf].into_iter().flatten() {
        check_absent(out)?;
    }
    let report = verified(session, &*source, &location)?;
    let (Some(state), Some(result)) = (&report.state, report.result()) else {
        return Err(CliError::at(location, "there is no result yet"));
    };
    if let Some(out) = &command.csv {
        write_new_bytes(out, Access::Usual, &table(state, result)?)?;
        print(&format!("{}\n", name(out)))?;
    }
    if let Some(out) = &command.pdf {
        write_new_bytes(out, Access::Usual, &page(command, &report, state, result)?)?;
        print(&format!("{}\n", name(out)))?;
    }
    Ok(())
}

/// The outcome for a candidate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Elected,
    Tied,
    Blank,
    Other,
}

fn fates(contest: &Contest, votes: &[u64]) -> Vec<Fate> {
    let found = elected(contest, votes);
    let fate = |candidate: usize| match candidate {
        _ if contest.blank && candidate + 1 == contest.candidates.len() => Fate::Blank,
        _ if found.elected.contains(&candidate) => Fate::Elected,
        _ if found.tied.contains(&candidate) => Fate::Tied,
        _ => Fate::Other,
    };
    (0..contest.candidates.len()).map(fate).collect()
}

/// The maximum votes or points of a candidate, if ballots of total `weight` are counted.
fn max_votes(contest: &Contest, weight: u64) -> u64 {
    weight * contest.points().map_or(1, |points| points[0])
}

/// A percentage with one decimal digit, or 0 if `whole` is 0.
fn percent(part: u64, whole: u64) -> String {
    let thousandths = if whole == 0 { 0 } else { (u128::from(part) * 2000 / u128::from(whole)).div_ceil(2) };
    format!("{}.{}", thousandths / 10, thousandths % 10)
}

/// The result as CSV (RFC 4180), one row per candidate: `contest,candidate,votes,percent,outcome`.
///
/// If candidates are ranked in any contest, `points,ranks` follow: how often a candidate is at each
/// rank, separated by semicolons. Names that a spreadsheet would interpret as formulas get an
/// apostrophe prefix.
fn table(state: &State, result: &Outcome) -> Result<Vec<u8>, CliError> {
    let weight = state.counted().1;
    let mut table = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    let failed = |error: csv::Error| CliError::because("the table cannot be written", error);
    let contests = state.election().contests();
    let ranked = contests.iter().any(|contest| contest.points().is_some());
    let columns = if ranked { 7 } else { 5 };
    let head = ["contest", "candidate", "votes", "percent", "outcome", "points", "ranks"];
    table.write_record(&head[..columns]).map_err(failed)?;
    for (contest, votes) in contests.iter().zip(&result.contests) {
        for (at, fate) in fates(contest, votes).into_iter().enumerate() {
            let outcome = match fate {
                Fate::Elected => "elected",
                Fate::Tied => "tied",
                Fate::Blank => "blank",
                Fate::Other => "",
            };
            let (title, candidate) = (plain(&contest.title), plain(&contest.candidates[at]));
            let share = percent(votes[at], max_votes(contest, weight));
            let (given, points, ranks) = match contest.points() {
                None => (votes[at], String::new(), String::new()),
                Some(_) => {
                    let given = votes[contest.candidates.len() + at..].iter().step_by(contest.candidates.len()).sum();
                    (given, votes[at].to_string(), at_ranks(contest, votes, at).join(";"))
                }
            };
            let row: [&str; 7] = [&title, &candidate, &given.to_string(), &share, outcome, &points, &ranks];
            table.write_record(&row[..columns]).map_err(failed)?;
        }
    }
    table.into_inner().map_err(|_| CliError::new("the table cannot be written"))
}

/// Makes sure that no spreadsheet interprets a name as a formula.
fn plain(name: &str) -> String {
    if name.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{name}") } else { name.to_owned() }
}

/// The result as a page to print.
fn page(command: &ElectionResult, report: &Report, state: &State, result: &Outcome) -> Result<Vec<u8>, CliError> {
    let (words, manifest) = (words(command.language), state.election().manifest());
    let ((counted, weight), voters) = (state.counted(), state.voter_count());
    let mut document = Document::new(command.font.as_deref())?;
    document.text(&manifest.title, 18.0)?;
    document.space(10.0);
    if manifest.trial {
        document.text(words.trial, 13.0)?;
        document.space(10.0);
    }
    let [voted, all, of] = [counted, voters, weight].map(|number| number.to_string());
    document.text(&filled(words.turnout, &[("voted", &voted), ("voters", &all), ("weight", &of)]), 11.0)?;
    for (contest, votes) in state.election().contests().iter().zip(&result.contests) {
        section(&mut document, &words, contest, votes, weight)?;
    }
    document.space(16.0);
    let (id, root, size) = (state.election().id().to_string(), report.root.to_string(), report.size.to_string());
    document.text(&filled(words.verified, &[("id", &id), ("root", &root), ("size", &size)]), 8.0)?;
    document.end_page();
    Ok(document.finish(&manifest.title))
}

fn section(
    document: &mut Document,
    words: &Words,
    contest: &Contest,
    votes: &[u64],
    weight: u64,
) -> Result<(), CliError> {
    document.space(16.0);
    document.text(&contest.title, 13.0)?;
    document.space(4.0);
    let yes_no = contest.method == hearith_election::Method::YesNo;
    for (at, fate) in fates(contest, votes).into_iter().enumerate() {
        let outcome = match fate {
            Fate::Elected if yes_no => words.most,
            Fate::Elected => words.elected,
            Fate::Tied => words.tie,
            Fate::Blank => words.blank,
            Fate::Other => "",
        };
        document.text(&contest.candidates[at], 11.0)?;
        let unit = if contest.points().is_some() { words.points } else { words.votes };
        let (count, part) =
            (format!("{} {unit}", votes[at]), format!("{} %", percent(votes[at], max_votes(contest, weight))));
        document.row(&[(count.as_str(), 20.0), (part.as_str(), 150.0), (outcome, 220.0)], 10.0)?;
        if contest.points().is_some() {
            let ranks = at_ranks(contest, votes, at);
            let rank = |(rank, count): (usize, &String)| {
                filled(words.rank, &[("rank", &(rank + 1).to_string()), ("count", count)])
            };
            document.text(&ranks.iter().enumerate().map(rank).collect::<Vec<_>>().join("; "), 9.0)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_rounded_and_formulas_are_none() {
        for (part, whole, expected) in [
            (1, 3, "33.3"),
            (2, 3, "66.7"),
            (1, 1, "100.0"),
            (0, 0, "0.0"),
            (1, 2000, "0.1"),
            (1, 16, "6.3"),
            (1, 2001, "0.0"),
        ] {
            assert_eq!(percent(part, whole), expected, "{part} of {whole}");
        }
        assert_eq!(plain("=1+1"), "'=1+1");
        assert_eq!(plain("Ada-Lovelace"), "Ada-Lovelace");
    }
}
