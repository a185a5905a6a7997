//! Elections that the board begins and ends by itself, and lists that change during voting.

use std::time::{Duration, Instant};

use hearith_election::{Body, Kind, NewKey, Notice, Replace, Signer, Voter, Voters, verify};
use hearith_paillier::Engine;
use serde_json::Value;

use crate::common::{Cast, Hall, POLICY, code, wide};

/// Waits for a phase, for as long as a slow machine needs.
fn wait_for(hall: &Hall, phase: &str) {
    let since = Instant::now();
    while hall.client().election().unwrap().phase != phase {
        assert!(since.elapsed() < Duration::from_secs(120), "not {phase}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn begun(change: impl FnOnce(&mut hearith_election::Manifest)) -> Hall {
    let hall = Hall::of(Cast::changed(3, change), wide());
    hall.client().send(&hall.cast.first()).unwrap();
    hall
}

fn lists(hall: &Hall, from: u64) -> Value {
    let address = format!("http://{}/api/lists?from={from}", hall.address());
    serde_json::from_str(&ureq_get(&address)).unwrap()
}

/// The answer of a URL, fetched over a separate connection.
fn ureq_get(address: &str) -> String {
    use std::io::{Read, Write};
    let (host, path) = address.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = std::net::TcpStream::connect(host).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text.split_once("\r\n\r\n").unwrap().1.to_owned()
}

#[test]
fn the_board_opens_and_nobody_else_does() {
    let mut hall = begun(|manifest| {
        manifest.opens = Some("2020-01-01T00:00:00Z".into());
        manifest.closes = Some("9999-01-01T00:00:00Z".into());
        manifest.late = true;
    });
    let client = hall.client();
    let election = hall.cast.election.id();
    let open = hall.cast.sign(Body::Open(hall.cast.of()));
    assert_eq!(code(client.send(&open)), "bad_request");
    for list in hall.cast.lists() {
        client.send(&list).unwrap();
    }
    wait_for(&hall, "open");
    client.send(&hall.cast.ballot(0, 1)).unwrap();
    let close = hall.cast.sign(Body::Close(hall.cast.of()));
    assert_eq!(code(client.send(&close)), "not_signed");
    // Lists change during voting, and readers can request only them.
    let (late, new) = (Signer::generate().unwrap(), Signer::generate().unwrap());
    let voters = vec![Voter { id: "late".into(), key: late.public(), weight: 1 }];
    client.send(&hall.cast.sign(Body::Voters(Voters { election, voters }))).unwrap();
    let voters = vec![NewKey { id: "voter 1".into(), key: new.public() }];
    client.send(&hall.cast.sign(Body::Replace(Replace { election, voters }))).unwrap();
    assert_eq!(code(client.send(&hall.cast.ballot(1, 0))), "not_signed");
    let ballot = hall.cast.prepare(1, 0).into_ballot();
    client.send(&Notice::signed(Body::Ballot(ballot), &new)).unwrap();
    let kinds = |answer: &Value| -> Vec<String> {
        answer["entries"].as_array().unwrap().iter().map(|one| one["kind"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds(&lists(&hall, 0)), ["voters", "voters", "replace"]);
    assert_eq!(kinds(&lists(&hall, 2)), ["voters", "replace"]);
    assert!(lists(&hall, 0)["next"].is_null());
    let report = verify(&client.record().unwrap(), POLICY, Engine::best(), &|_| {}).unwrap();
    assert!(report.is_good(), "{:?}", report.checks);
    assert_eq!(report.state.unwrap().changes().len(), 2);
    // A restart reads everything again.
    hall.start(|_| {});
    hall.client().send(&hall.cast.ballot(2, 2)).unwrap();
    let entered = hall.audit().into_iter().filter(|line| line["kind"] == "open" && line["event"] == "entered");
    assert_eq!(entered.count(), 1);
}

#[test]
fn the_board_closes_when_the_time_is_over() {
    let hall = begun(|manifest| {
        manifest.opens = Some("2020-01-01T00:00:00Z".into());
        manifest.closes = Some("2020-01-02T00:00:00Z".into());
    });
    for list in hall.cast.lists() {
        hall.client().send(&list).unwrap();
    }
    wait_for(&hall, "closed");
    assert_eq!(code(hall.client().send(&hall.cast.ballot(0, 1))), "phase");
    let report = verify(&hall.client().record().unwrap(), POLICY, Engine::best(), &|_| {}).unwrap();
    assert!(report.is_good(), "{:?}", report.checks);
    assert_eq!((report.kinds[&Kind::Open], report.kinds[&Kind::Close]), (1, 1));
}
