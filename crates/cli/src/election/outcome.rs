//! The result of an election, as commands print it.

use hearith_election::{Contest, Outcome};

use crate::engines::{print, print_json};
use crate::failure::Failure;
use crate::session::Session;

/// Each candidate's votes.
pub(super) fn print_outcome(session: &Session, contests: &[Contest], result: &Outcome) -> Result<(), Failure> {
    if session.json {
        let contest = |(contest, votes): (&Contest, &Vec<u64>)| serde_json::json!({ "title": contest.title, "candidates": contest.candidates, "votes": votes });
        return print_json(&contests.iter().zip(&result.contests).map(contest).collect::<Vec<_>>());
    }
    let mut text = String::new();
    for (contest, votes) in contests.iter().zip(&result.contests) {
        text += &format!("{}\n", contest.title);
        let width = contest.candidates.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        for (candidate, votes) in contest.candidates.iter().zip(votes) {
            text += &format!("  {candidate:<width$}  {votes:>10}\n");
        }
    }
    print(&text)
}
