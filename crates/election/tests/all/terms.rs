//! Optional parts of a manifest: dates, late lists, blank votes. The corpus tests how verifiers
//! treat them.

use crate::common::{self, Running, contest};
use hearith_election::{
    Body, Contest, Detail, Election, ErrorKind, Kind, Limit, Manifest, Method, NewKey, Notice, Phase, Replace, Signer,
    State, Voter, Voters, verify_ballots,
};
use hearith_paillier::Engine;

fn blank(title: &str, candidates: &[&str], method: Method) -> Contest {
    Contest { blank: true, ..contest(title, candidates, method) }
}

#[test]
fn a_blank_vote_stands_alone_and_is_counted() {
    let contests = vec![
        blank("Speakers", &["Ada", "Bo", "Cy", "nobody"], Method::Choose(Limit::Exactly(2))),
        blank("Days", &["Mon", "Tue", "none"], Method::Choose(Limit::AtMost(2))),
        blank("Colour", &["red", "none"], Method::Plurality),
    ];
    let mut running = Running::new(4, true, false, contests);
    for wrong in [
        [vec![0, 3], vec![0], vec![0]],
        [vec![3, 0, 1], vec![0], vec![0]],
        [vec![0], vec![0], vec![0]],
        [vec![], vec![0], vec![0]],
        [vec![0, 1], vec![0, 2], vec![0]],
        [vec![0, 1], vec![0], vec![0, 1]],
    ] {
        assert!(matches!(running.election.prepare("voter 0", &wrong), Err(ErrorKind::Choice { .. })), "{wrong:?}");
    }
    let choices = [
        [vec![0, 1], vec![0], vec![0]],
        [vec![3], vec![2], vec![1]],
        [vec![1, 2], vec![0, 1], vec![0]],
        [vec![3], vec![], vec![1]],
    ];
    let ballots: Vec<_> = choices.iter().enumerate().map(|(voter, chosen)| running.make(voter, chosen)).collect();
    for verdict in verify_ballots(&running.election, &ballots.iter().collect::<Vec<_>>()) {
        verdict.unwrap();
    }
    for (voter, ballot) in ballots.into_iter().enumerate() {
        let notice = running.cast.ballot(voter, ballot);
        running.enter(notice);
    }
    running.tally();
    running.share(1);
    running.share(2);
    running.share(3);
    running.finish();
    // The third of them has weight 3.
    let votes = &running.state.result().unwrap().contests;
    assert_eq!(*votes, [vec![1, 4, 3, 2], vec![4, 3, 1], vec![4, 2]]);
}

#[test]
fn dates_bind_what_comes_when() {
    let running = Running::new(1, true, false, common::contests());
    let manifest = Manifest {
        opens: Some("2026-11-20T08:00:00Z".into()),
        closes: Some("2026-11-22T18:00:00Z".into()),
        ..running.election.manifest().clone()
    };
    let begin = |manifest: &Manifest| Election::new(manifest.clone(), common::POLICY, Engine::best());
    let mut state = State::new(begin(&manifest).unwrap());
    let allowed = |state: &State, kind, time: &str| state.check_date(kind, time).is_ok();
    for (kind, time, expected) in [
        (Kind::Open, "2026-11-20T07:59:59Z", false),
        (Kind::Open, "2026-11-20T08:00:00Z", true),
        (Kind::Ballot, "2026-11-22T17:59:59Z", true),
        (Kind::Ballot, "2026-11-22T18:00:00Z", false),
        (Kind::Challenge, "2026-11-22T18:00:00Z", false),
        (Kind::Close, "2026-11-22T17:59:59Z", false),
        (Kind::Close, "2026-11-22T18:00:00Z", true),
        (Kind::Voters, "2020-01-01T00:00:00Z", true),
    ] {
        assert_eq!(allowed(&state, kind, time), expected, "{kind} at {time}");
    }
    // The board itself begins the vote as soon as there are voters, and ends it.
    assert!(state.due("2026-11-21T00:00:00Z").is_none());
    let voters = vec![Voter { id: "voter 0".into(), key: running.cast.voters[0].1.public(), weight: 1 }];
    let list = Body::Voters(Voters { election: state.election().id(), voters });
    state.admit(&running.cast.sign(list)).unwrap();
    assert!(state.due("2026-11-20T07:59:59Z").is_none());
    for (time, kind, phase) in
        [("2026-11-20T08:00:00Z", Kind::Open, Phase::Open), ("2026-11-22T18:00:00Z", Kind::Close, Phase::Closed)]
    {
        let due = state.due(time).unwrap();
        assert_eq!(due.kind(), kind);
        let by_organiser = running.cast.sign(due.clone());
        assert!(matches!(state.admit(&by_organiser), Err(ErrorKind::BadSignature)), "{kind}");
        state.admit(&Notice::signed(due, &running.cast.board)).unwrap();
        assert_eq!(state.phase(), phase);
    }
    assert!(state.due("2026-11-23T00:00:00Z").is_none());
    for (opens, closes) in
        [("2026-11-22T18:00:00Z", "2026-11-22T18:00:00Z"), ("2026-02-31T00:00:00Z", "2027-01-01T00:00:00Z")]
    {
        let other = Manifest { opens: Some(opens.into()), closes: Some(closes.into()), ..manifest.clone() };
        assert!(matches!(begin(&other), Err(ErrorKind::Manifest { .. })), "{opens} {closes}");
    }
}

#[test]
fn a_lost_credential_is_worth_nothing_once_it_is_replaced() {
    let mut running = Running::new(2, true, false, common::contests());
    let manifest = Manifest { late: true, ..running.election.manifest().clone() };
    let first = running.cast.sign(Body::Election(Box::new(manifest)));
    let mut state = State::begin(&first, common::POLICY, Engine::best()).unwrap();
    running.election = state.election().clone();
    let election = running.election.id();
    state.admit(&running.cast.voters(&running.election)).unwrap();
    state.admit(&running.cast.sign(Body::Open(hearith_election::ElectionRef { election }))).unwrap();
    let new = Signer::generate().unwrap();
    let replace = |voter: &str, key: &Signer| {
        let voters = vec![NewKey { id: voter.into(), key: key.public() }];
        running.cast.sign(Body::Replace(Replace { election, voters }))
    };
    state.admit(&replace("voter 1", &new)).unwrap();
    let ballot = running.make(1, &common::choices(1));
    assert!(matches!(state.check(&running.cast.ballot(1, ballot.clone())), Err(ErrorKind::BadSignature)));
    state.admit(&Notice::signed(Body::Ballot(ballot), &new)).unwrap();
    // No new credential can replace a ballot that was cast.
    let again = Signer::generate().unwrap();
    assert!(matches!(state.admit(&replace("voter 1", &again)), Err(ErrorKind::Voter { .. })));
    state.admit(&replace("voter 0", &again)).unwrap();
    let changed: Vec<_> = state.changes().iter().map(|one| (one.entry, one.late, one.replaced, &*one.voter)).collect();
    assert_eq!(changed, [(3, true, true, "voter 1"), (5, true, true, "voter 0")]);
}

#[test]
fn links_are_those_of_the_web() {
    let with = |link: &str| {
        let detail = Detail { about: None, link: Some(link.into()) };
        let one =
            Contest { details: Some(vec![detail, Detail::default()]), ..contest("A", &["a", "b"], Method::YesNo) };
        let running = Running::new(1, true, false, vec![one]);
        drop(running);
    };
    with("https://example.org/a?b=c#d");
    for link in ["http://example.org", "javascript:alert(1)", "https://", "https://example.org/a b"] {
        assert!(std::panic::catch_unwind(|| with(link)).is_err(), "{link}");
    }
}
