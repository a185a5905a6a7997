//! The printed result of an election.

use hearith_election::{Contest, Outcome};

use crate::engines::{print, print_json};
use crate::failure::CliError;
use crate::session::Session;

/// Prints each candidate's votes, or points and how often the candidate is at each rank.
pub(super) fn print_outcome(session: &Session, contests: &[Contest], result: &Outcome) -> Result<(), CliError> {
    if session.json {
        let contest = |(contest, votes): (&Contest, &Vec<u64>)| {
            let (title, candidates) = (&contest.title, &contest.candidates);
            match contest.points() {
                None => serde_json::json!({ "title": title, "candidates": candidates, "votes": votes }),
                Some(_) => {
                    let (points, counts) = votes.split_at(candidates.len());
                    let ranks: Vec<&[u64]> = counts.chunks(candidates.len()).collect();
                    serde_json::json!({ "title": title, "candidates": candidates, "points": points, "ranks": ranks })
                }
            }
        };
        return print_json(&contests.iter().zip(&result.contests).map(contest).collect::<Vec<_>>());
    }
    let mut text = String::new();
    for (contest, votes) in contests.iter().zip(&result.contests) {
        text += &format!("{}\n", contest.title);
        let width = contest.candidates.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        for (at, (candidate, count)) in contest.candidates.iter().zip(votes).enumerate() {
            let ranks = match contest.points() {
                None => String::new(),
                Some(_) => format!(" points; by rank: {}", at_ranks(contest, votes, at).join(", ")),
            };
            text += &format!("  {candidate:<width$}  {count:>10}{ranks}\n");
        }
    }
    print(&text)
}

/// How often a candidate is at each rank, from a result's numbers.
pub(super) fn at_ranks(contest: &Contest, votes: &[u64], candidate: usize) -> Vec<String> {
    let count = contest.candidates.len();
    votes[count..].chunks(count).map(|rank| rank[candidate].to_string()).collect()
}
