//! Trustees' shares: only those signed by their trustee are verified, one per trustee at a time.

use std::sync::mpsc;

use hearith_election::{Body, Notice, Products, Share, Signer, Tally};
use hearith_election_server::limits::Limits;
use hearith_election_server::store::Store;
use hearith_paillier::Engine;

use crate::common::{Cast, Hall, POLICY, code, wide};

/// A tallied election with trustees, and two votes for Bo.
fn tallied(limits: Limits) -> (Hall, Tally) {
    let hall = Hall::of(Cast::shared(2), limits);
    hall.begin();
    let (cast, client) = (&hall.cast, hall.client());
    let mut products = Products::new(&cast.election);
    for voter in 0..2 {
        let ballot = cast.prepare(voter, 1).into_ballot();
        products.add(&[(&ballot, 1)]).unwrap();
        client.send(&cast.cast(voter, ballot)).unwrap();
    }
    client.send(&cast.sign(Body::Close(cast.of()))).unwrap();
    let tally = products.to_tally((2, 2));
    client.send(&cast.sign(Body::Tally(tally.clone()))).unwrap();
    (hall, tally)
}

/// A share whose proof does not hold.
fn wrong(share: &Body) -> Body {
    let Body::Share(mut share) = share.clone() else { panic!("no share") };
    *share.shares.0.last_mut().unwrap() ^= 1;
    Body::Share(share)
}

#[test]
fn shares_are_those_that_their_trustees_signed() {
    let (hall, tally) = tallied(Limits { bad_ballots: 2, ..wide() });
    let (cast, client) = (&hall.cast, hall.client());
    let sent = |notice: &Notice| client.send(notice).map_or_else(|error| code::<()>(Err(error)), |_| "ok".to_owned());
    let first = cast.share(1, &tally);
    // Valid and invalid shares signed by others are not verified: nobody learns whether their
    // proofs hold.
    let strangers = [&cast.organiser, &cast.trustees[1], &cast.voters[0].1, &Signer::generate().unwrap()];
    for by in strangers {
        assert_eq!(sent(&Notice::signed(first.clone(), by)), "not_signed");
        assert_eq!(sent(&Notice::signed(wrong(&first), by)), "not_signed");
    }
    let unsigned = Notice::new(first.kind(), &first.to_text(), Default::default()).unwrap();
    assert_eq!(sent(&unsigned), "not_signed");
    // A trustee only uses up its own limit.
    let bad = cast.by_trustee(2, wrong(&cast.share(2, &tally)));
    assert_eq!([sent(&bad), sent(&bad), sent(&bad)], ["unproven", "unproven", "too_many"]);
    assert_eq!(sent(&cast.by_trustee(2, cast.share(2, &tally))), "too_many");
    assert_eq!(sent(&cast.by_trustee(1, first.clone())), "ok");
    assert_eq!(sent(&cast.by_trustee(1, first)), "doubled");
    let Body::Share(third) = cast.share(3, &tally) else { panic!("no share") };
    let none = Share { trustee: 4, ..third.clone() };
    assert_eq!(sent(&cast.by_trustee(3, Body::Share(none))), "bad_request");
    assert_eq!(sent(&cast.by_trustee(3, Body::Share(third))), "ok");
    let report = hearith_election::verify(&client.record().unwrap(), POLICY, Engine::best(), &|_| ());
    let report = report.unwrap();
    let outcome = report.state.as_ref().unwrap().outcome().unwrap();
    assert_eq!(outcome.contests, [[0, 2, 0]]);
    assert_eq!(sent(&cast.sign(Body::Result(outcome))), "ok");
}

/// While the store blocks writes, verified shares wait: one for each trustee.
#[test]
fn one_share_of_each_trustee_waits() {
    let (hall, tally) = tallied(wide());
    let (cast, client) = (&hall.cast, hall.client());
    let [first, third] = [1, 3].map(|trustee| cast.by_trustee(trustee, cast.share(trustee, &tally)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let store = runtime.block_on(Store::open_existing(&hall.options().store)).unwrap();
    let writing = runtime.block_on(store.append()).unwrap();
    std::thread::scope(|scope| {
        let (answers, answered) = mpsc::channel();
        for _ in 0..4 {
            let (client, first, answers) = (&client, &first, answers.clone());
            scope.spawn(move || answers.send(client.send(first)).unwrap());
        }
        // All but the waiting one are refused at once.
        for _ in 0..3 {
            assert_eq!(code(answered.recv().unwrap()), "busy");
        }
        let other = scope.spawn(|| client.send(&third));
        while !hall.metrics().contains("hearith_election_waiting_entries 2\n") {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        runtime.block_on(writing.commit()).unwrap();
        answered.recv().unwrap().unwrap();
        other.join().unwrap().unwrap();
    });
    assert_eq!(code(client.send(&first)), "doubled");
    assert_eq!(client.election().unwrap().size, 9);
    runtime.block_on(store.close());
}
