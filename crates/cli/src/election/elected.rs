//! Determines who is elected: as many candidates as the contest has seats, and nobody by lot. The
//! web pages apply the same rules.

use hearith_election::{Contest, Limit, Method};

/// The outcome of a contest.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Elected {
    /// The candidates with the most votes, at most as many as there are seats, in the ballot's
    /// order.
    pub(super) elected: Vec<usize>,
    /// The candidates that are tied for the remaining seats.
    pub(super) tied: Vec<usize>,
}

/// The seats of a contest: as many as a voter may choose, and one with approval or ranks.
fn seats(contest: &Contest) -> usize {
    match contest.method {
        Method::Choose(Limit::AtMost(k) | Limit::Exactly(k)) => k as usize,
        Method::Approval | Method::Plurality | Method::Rank { .. } | Method::YesNo => 1,
    }
}

/// Determines the candidates with the most votes, or points, from a result's numbers.
///
/// Candidates without a vote are never elected or tied. The blank vote is not a candidate.
pub(super) fn elected(contest: &Contest, votes: &[u64]) -> Elected {
    let candidates = contest.candidates.len() - usize::from(contest.blank);
    let places = seats(contest);
    let mut counts: Vec<u64> = votes[..candidates].iter().copied().filter(|&count| count > 0).collect();
    counts.sort_unstable_by(|one, other| other.cmp(one));
    let at = |place: usize| counts.get(place).copied().unwrap_or(0);
    let (last, next) = (at(places - 1), at(places));
    let tie = last > 0 && last == next;
    let those =
        |fits: &dyn Fn(u64) -> bool| (0..candidates).filter(|&one| votes[one] > 0 && fits(votes[one])).collect();
    Elected {
        elected: those(&|count| if tie { count > last } else { count >= last }),
        tied: if tie { those(&|count| count == last) } else { Vec::new() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_votes_win_and_ties_stay_open() {
        let contest = |method, candidates: usize| {
            Contest::new("a contest", (0..candidates).map(|one| format!("candidate {one}")).collect(), method)
        };
        let two = contest(Method::Choose(Limit::Exactly(2)), 4);
        for (votes, expected, tied) in [
            ([5, 3, 2, 0], vec![0, 1], vec![]),
            ([3, 5, 3, 0], vec![1], vec![0, 2]),
            ([3, 3, 3, 0], vec![], vec![0, 1, 2]),
            ([0, 4, 0, 0], vec![1], vec![]),
            ([0, 0, 0, 0], vec![], vec![]),
            ([2, 2, 1, 1], vec![0, 1], vec![]),
        ] {
            assert_eq!(elected(&two, &votes), Elected { elected: expected, tied }, "{votes:?}");
        }
        // The blank vote is never elected, however many votes it gets.
        let blank = Contest { blank: true, ..contest(Method::Plurality, 3) };
        assert_eq!(elected(&blank, &[2, 1, 9]), Elected { elected: vec![0], tied: vec![] });
        assert_eq!(elected(&blank, &[1, 1, 9]), Elected { elected: vec![], tied: vec![0, 1] });
        // Points decide, not how often a candidate is at a rank.
        let ranked = contest(Method::Rank { points: vec![2, 1] }, 3);
        assert_eq!(elected(&ranked, &[3, 4, 2, 1, 1, 1, 1, 2, 0]), Elected { elected: vec![1], tied: vec![] });
        assert_eq!(elected(&ranked, &[3, 3, 0, 1, 1, 0, 1, 1, 0]), Elected { elected: vec![], tied: vec![0, 1] });
    }
}
