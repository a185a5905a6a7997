//! Ranked candidates: random orders compared with plaintext counts, and marks that form no order.

use crate::common::{self, POLICY, Running, contest};
use hearith_election::{Ballot, Body, Contest, ErrorKind, Method, Place, canonical, verify, verify_ballots};
use hearith_paillier::Engine;

/// All candidates ranked, two of four, and one of two.
fn contests() -> Vec<Contest> {
    let rank = |points: &[u64]| Method::Rank { points: points.to_vec() };
    vec![
        contest("Chair", &["Ada", "Bo", "Cy"], rank(&[3, 2, 1])),
        contest("Day", &["Mon", "Tue", "Wed", "Thu"], rank(&[65535, 7])),
        contest("Colour", &["red", "blue"], rank(&[1])),
    ]
}

/// Pseudo-random orders from Lehmer's generator modulo 2^31 - 1.
struct Orders(u64);

impl Orders {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0 * 48271 % 0x7fff_ffff;
        self.0 as usize % limit
    }

    fn of(&mut self, candidates: usize, ranks: usize) -> Vec<usize> {
        let mut rest: Vec<usize> = (0..candidates).collect();
        (0..ranks).map(|_| rest.remove(self.below(rest.len()))).collect()
    }

    fn all(&mut self) -> Vec<Vec<usize>> {
        vec![self.of(3, 3), self.of(4, 2), self.of(2, 1)]
    }
}

#[test]
fn random_orders_come_to_what_plain_counting_gives() {
    let mut orders = Orders(20261127);
    let mut running = Running::new(12, true, false, contests());
    // Points of each candidate, followed by the number of times each holds each rank.
    let mut chair = [0_u64; 3 + 9];
    let mut day = [0_u64; 4 + 8];
    let mut colour = [0_u64; 2 + 2];
    for voter in 0..11 {
        let chosen = orders.all();
        let weight = running.state.voter(running.id(voter)).unwrap().weight();
        for (rank, points) in [3, 2, 1].into_iter().enumerate() {
            chair[chosen[0][rank]] += points * weight;
            chair[3 + 3 * rank + chosen[0][rank]] += weight;
        }
        day[chosen[1][0]] += 65535 * weight;
        day[4 + chosen[1][0]] += weight;
        day[chosen[1][1]] += 7 * weight;
        day[8 + chosen[1][1]] += weight;
        colour[chosen[2][0]] += weight;
        colour[2 + chosen[2][0]] += weight;
        let notice = running.cast.ballot(voter, running.make(voter, &chosen));
        running.enter(notice);
    }
    running.tally();
    [2, 3, 4].into_iter().for_each(|trustee| running.share(trustee));
    running.finish();
    let report = verify(&running.record(), POLICY, Engine::best(), &|_| {}).unwrap();
    let expected = [chair.to_vec(), day.to_vec(), colour.to_vec()];
    assert_eq!(report.result().expect("a good record").contests, expected);
}

fn verdicts(running: &Running, ballots: &[Ballot]) -> Vec<Result<(), ErrorKind>> {
    verify_ballots(&running.election, &ballots.iter().collect::<Vec<_>>())
}

#[test]
fn every_proof_of_a_sum_counts() {
    let mut orders = Orders(7);
    let running = Running::new(4, false, false, contests());
    let good: Vec<Ballot> = (0..4).map(|voter| running.make(voter, &orders.all())).collect();
    assert!(verdicts(&running, &good).iter().all(Result::is_ok));
    // The sums of ranks and then of candidates. With one rank, there are no sums of candidates.
    for (contest, proofs) in [(0, 3 + 3), (1, 2 + 4), (2, 1)] {
        let bytes = good[0].contests[contest].sum.as_ref().unwrap().0.len();
        for proof in 0..proofs {
            // A byte of each proof, wherever it starts: there are at most two lengths.
            let mut ballots = good.clone();
            ballots[2].contests[contest].sum.as_mut().unwrap().0[bytes * proof / proofs + bytes / proofs / 2] ^= 1;
            let found = verdicts(&running, &ballots);
            let here = Place { contest, mark: None };
            assert!(
                matches!(found[2], Err(ErrorKind::DoesNotHold { place } | ErrorKind::OutOfRange { place }) if place == here),
                "{here}, proof {proof}: {:?}",
                found[2]
            );
            assert!([0, 1, 3].iter().all(|&other| found[other].is_ok()), "{here}, proof {proof}");
        }
        for bytes in [bytes - 1, bytes + 1] {
            let mut ballots = good.clone();
            ballots[1].contests[contest].sum.as_mut().unwrap().0.resize(bytes, 0);
            assert!(matches!(verdicts(&running, &ballots)[1], Err(ErrorKind::Ballot { .. })));
        }
    }
    // Two ballots with faults in different sums are both named.
    let mut ballots = good.clone();
    ballots[0].contests[1].sum.as_mut().unwrap().0[20] ^= 1;
    *ballots[3].contests[1].sum.as_mut().unwrap().0.last_mut().unwrap() ^= 1;
    let wrong: Vec<bool> = verdicts(&running, &ballots).iter().map(Result::is_err).collect();
    assert_eq!(wrong, [true, false, false, true]);
}

#[test]
fn marks_that_are_no_order_have_no_proof() {
    let running = Running::new(1, false, false, contests());
    let made = |contest: usize, marks: &[usize]| {
        let mut votes: Vec<_> = [[1, 0, 0, 0, 1, 0, 0, 0, 1].to_vec(), [1, 0, 0, 0, 0, 1, 0, 0].to_vec(), vec![1, 0]]
            .into_iter()
            .map(Into::into)
            .collect();
        votes[contest] = marks.to_vec().into();
        running.election.prepare_all(&[("voter 0".to_owned(), votes)])
    };
    for (contest, marks) in [
        (0, &[1, 1, 0, 0, 0, 0, 0, 0, 1][..]),
        (0, &[1, 0, 0, 1, 0, 0, 0, 0, 1]),
        (0, &[1, 0, 0, 0, 1, 0, 0, 0, 0]),
        (1, &[1, 1, 0, 0, 0, 0, 1, 0]),
        (1, &[0; 8]),
        (2, &[1, 1]),
    ] {
        let ballot = made(contest, marks).unwrap().pop().unwrap().into_ballot();
        let found = verdicts(&running, &[ballot]).pop().unwrap();
        let here = Place { contest, mark: None };
        assert!(matches!(found, Err(ErrorKind::DoesNotHold { place }) if place == here), "{marks:?}: {found:?}");
    }
    // A candidate at both of two ranks: there is no proof of at most one for 2.
    assert!(matches!(made(1, &[1, 0, 0, 0, 1, 0, 0, 0]), Err(ErrorKind::Proof(_))));
    assert!(matches!(made(0, &[2, 0, 0, 0, 1, 0, 0, 0, 1]), Err(ErrorKind::Proof(_))));
    made(1, &[0, 0, 0, 1, 1, 0, 0, 0]).unwrap();
}

#[test]
fn a_challenge_shows_the_order() {
    let running = Running::new(1, false, false, contests());
    let chosen = [vec![2, 0, 1], vec![3, 1], vec![1]];
    let challenge = running.election.prepare("voter 0", &chosen).unwrap().into_challenge();
    let values = |contest: usize| challenge.openings[contest].iter().map(|one| one.value).collect::<Vec<_>>();
    for (contest, (one, chosen)) in running.election.contests().iter().zip(&chosen).enumerate() {
        assert_eq!(one.chosen(&values(contest)), *chosen);
    }
    let text = Body::Challenge(challenge).to_text();
    assert!(canonical::from_text::<hearith_election::Challenge>("a challenge", &text).is_ok());
    for (contest, wrong) in [(0, vec![0, 1]), (1, vec![0, 1, 2]), (1, vec![1, 1]), (2, vec![2])] {
        let mut chosen = chosen.clone();
        chosen[contest] = wrong;
        let found = running.election.prepare("voter 0", &chosen);
        assert!(matches!(found, Err(ErrorKind::Choice { contest: at, .. }) if at == contest));
    }
    // The other methods have one sum or none.
    let usual = Running::usual(1).make(0, &common::choices(0));
    let sums: Vec<bool> = usual.contests.iter().map(|one| one.sum.is_some()).collect();
    assert_eq!(sums, [true, true, false, false, false]);
}
