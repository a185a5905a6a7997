//! Ballots: which ones hold, and which must not.

use crate::common::{self, Running, choices};
use hearith_election::{Ballot, Body, ErrorKind, Notice, Place, verify_ballots, verify_challenges};

fn verdict(running: &Running, ballot: &Ballot) -> Result<(), ErrorKind> {
    verify_ballots(&running.election, &[ballot]).pop().unwrap()
}

fn place(contest: usize, mark: impl Into<Option<usize>>) -> Place {
    Place { contest, mark: mark.into() }
}

#[test]
fn ballots_of_every_method_hold() {
    let running = Running::usual(12);
    let ballots: Vec<Ballot> = (0..12).map(|voter| running.make(voter, &choices(voter))).collect();
    for result in verify_ballots(&running.election, &ballots.iter().collect::<Vec<_>>()) {
        result.unwrap();
    }
    assert!(verify_ballots(&running.election, &[]).is_empty());
}

#[test]
fn every_part_of_a_ballot_counts() {
    let running = Running::usual(1);
    let ballot = running.make(0, &choices(0));
    for contest in 0..5 {
        let marks = ballot.contests[contest].marks.len();
        for mark in 0..marks {
            for byte in [0, 70, 200] {
                let mut changed = ballot.clone();
                changed.contests[contest].marks[mark].proof.0[byte] ^= 1;
                let found = verdict(&running, &changed);
                let here = place(contest, mark);
                assert!(
                    matches!(&found, Err(ErrorKind::DoesNotHold { place } | ErrorKind::OutOfRange { place }) if *place == here),
                    "{here}, byte {byte}: {found:?}"
                );
            }
            let mut changed = ballot.clone();
            changed.contests[contest].marks[mark].ciphertext.0[100] ^= 1;
            assert!(verdict(&running, &changed).is_err());
        }
        if ballot.contests[contest].sum.is_some() {
            let mut changed = ballot.clone();
            changed.contests[contest].sum.as_mut().unwrap().0[130] ^= 1;
            let found = verdict(&running, &changed);
            assert!(
                matches!(found, Err(ErrorKind::DoesNotHold { place: at }) if at == place(contest, None)),
                "{found:?}"
            );
        }
    }
}

#[test]
fn bad_ballots_among_many_are_named() {
    let running = Running::usual(40);
    let mut ballots: Vec<Ballot> = (0..40).map(|voter| running.make(voter, &choices(voter))).collect();
    ballots[3].contests[4].marks[0].proof.0[60] ^= 1;
    ballots[17].contests[0].sum.as_mut().unwrap().0[50] ^= 1;
    ballots[18].contests[1].marks.pop();
    ballots[39].contests[3].marks[0].ciphertext.0[9] ^= 4;
    // A ciphertext of 0, and one that is not below n^2.
    ballots[20].contests[0].marks[2].ciphertext.0.fill(0);
    ballots[21].contests[0].marks[1].ciphertext.0.fill(255);
    let verdicts = verify_ballots(&running.election, &ballots.iter().collect::<Vec<_>>());
    let wrong: Vec<usize> = (0..40).filter(|&ballot| verdicts[ballot].is_err()).collect();
    assert_eq!(wrong, [3, 17, 18, 20, 21, 39]);
    assert!(matches!(verdicts[20], Err(ErrorKind::OutOfRange { place: at }) if at == place(0, 2)));
    assert!(matches!(verdicts[18], Err(ErrorKind::Ballot { contest: 1, .. })));
}

#[test]
fn a_ciphertext_that_shares_a_factor_is_named_and_nothing_else() {
    let running = Running::usual(6);
    let mut ballots: Vec<Ballot> = (0..6).map(|voter| running.make(voter, &choices(voter))).collect();
    let p = common::key().private.primes()[0];
    let bytes: Vec<u8> = p.iter().rev().flat_map(|limb| limb.to_be_bytes()).collect();
    let width = running.election.key().ciphertext_bytes();
    ballots[2].contests[0].marks[3].ciphertext.0 = [vec![0; width - bytes.len()], bytes].concat();
    ballots[1].contests[0].marks[0].proof.0[60] ^= 1;
    let verdicts = verify_ballots(&running.election, &ballots.iter().collect::<Vec<_>>());
    let wrong: Vec<usize> = (0..6).filter(|&ballot| verdicts[ballot].is_err()).collect();
    assert_eq!(wrong, [1, 2]);
    assert!(matches!(verdicts[2], Err(ErrorKind::OutOfRange { place: at }) if at == place(0, 3)));
}

/// A mark of 2, and valid marks with a wrong sum.
#[test]
fn marks_and_sums_that_are_not_allowed_have_no_proof() {
    let running = Running::usual(1);
    let values = |marks: [usize; 4]| {
        let mut votes: Vec<_> = running.election.contests().iter().map(|one| vec![0; one.marks()].into()).collect();
        votes[0] = marks.to_vec().into();
        vec![("voter 0".to_owned(), votes)]
    };
    let wrong = running.election.prepare_all(&values([2, 0, 0, 0]));
    assert!(matches!(wrong, Err(ErrorKind::Proof(_))), "a prover has no proof for 2");
    for marks in [[1, 1, 1, 0], [1, 0, 0, 0], [0; 4]] {
        let ballot = running.election.prepare_all(&values(marks)).unwrap().pop().unwrap().into_ballot();
        let found = verdict(&running, &ballot);
        assert!(
            matches!(found, Err(ErrorKind::DoesNotHold { place: at }) if at == place(0, None)),
            "{marks:?}: {found:?}"
        );
    }
}

/// A voter adds 1 to a ciphertext so that it holds 2, or copies one from another voter or place.
#[test]
fn changed_and_copied_ballots_are_refused() {
    let running = Running::usual(2);
    let ballot = running.make(0, &choices(0));
    let key = running.election.key();
    let one = hearith_paillier::encoding::encode_signed(key, &[1]).unwrap();
    let mut more = ballot.clone();
    let number = key.ciphertexts_from_be(&more.contests[0].marks[0].ciphertext.0).unwrap();
    more.contests[0].marks[0].ciphertext.0 = key.add_plain(&number, &one).unwrap().to_be_bytes();
    assert!(matches!(verdict(&running, &more), Err(ErrorKind::DoesNotHold { place: at }) if at == place(0, 0)));

    let copied = Ballot { voter: "voter 1".into(), ..ballot.clone() };
    assert!(matches!(verdict(&running, &copied), Err(ErrorKind::DoesNotHold { place: at }) if at == place(0, 0)));
    let mut swapped = ballot.clone();
    swapped.contests[2].marks.swap(0, 1);
    assert!(matches!(verdict(&running, &swapped), Err(ErrorKind::DoesNotHold { place: at }) if at == place(2, 0)));
    let another = Running::usual(1);
    let moved = Ballot { election: another.election.id(), ..ballot };
    assert!(verify_ballots(&another.election, &[&moved])[0].is_err());
}

#[test]
fn challenges_show_what_was_in_a_ballot_and_nothing_else() {
    let running = Running::usual(2);
    let prepared = running.election.prepare("voter 1", &choices(1)).unwrap();
    assert!(!format!("{prepared:?}").contains("exponent"));
    let challenge = prepared.into_challenge();
    assert!(!format!("{challenge:?}").contains("exponent"));
    let shown: Vec<Vec<usize>> = running
        .election
        .contests()
        .iter()
        .zip(&challenge.openings)
        .map(|(contest, opened)| contest.chosen(&opened.iter().map(|one| one.value).collect::<Vec<_>>()))
        .collect();
    let mut expected = choices(1);
    expected.iter_mut().for_each(|chosen| chosen.sort_unstable());
    assert_eq!(shown, expected);
    let verdict = |challenge: &_| verify_challenges(&running.election, &[challenge]).pop().unwrap();
    verdict(&challenge).unwrap();
    let notice = Notice::signed(Body::Challenge(challenge.clone()), &running.cast.voters[1].1);
    running.state.check(&notice).unwrap();

    // A device that claims to have encrypted another choice.
    let mut lie = challenge.clone();
    lie.openings[3][0].value ^= 1;
    assert!(matches!(verdict(&lie), Err(ErrorKind::WrongOpening { place: at }) if at == place(3, 0)));
    let mut lie = challenge.clone();
    lie.openings[0][2].exponent.0[7] ^= 1;
    assert!(matches!(verdict(&lie), Err(ErrorKind::WrongOpening { place: at }) if at == place(0, 2)));
    let mut lie = challenge.clone();
    lie.openings[4][0].value = 2;
    assert!(matches!(verdict(&lie), Err(ErrorKind::WrongOpening { place: at }) if at == place(4, 0)));
}

#[test]
fn choices_that_a_contest_does_not_take_are_refused() {
    let running = Running::usual(1);
    let mut chosen = choices(0);
    chosen[0] = vec![1];
    let found = running.election.prepare("voter 0", &chosen);
    assert!(matches!(found, Err(ErrorKind::Choice { contest: 0, .. })));
    assert!(matches!(running.election.prepare("voter 0", &chosen[1..]), Err(ErrorKind::Choice { contest: 4, .. })));
}
