//! Writes an election under a 512-bit key as test vectors for other implementations:
//! `tests/vectors/election.json`, or, with the argument `one-holder`,
//! `tests/vectors/one_holder.json`, in which the organiser opens the tally. Every run generates a
//! new election.

#[path = "../tests/all/common/mod.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod common;

use common::{Running, choices, key, opened, opened_result, whole};
use hearith_election::{Body, Bytes, Entry, Receipt, Signer, shown_tracker};
use serde_json::{Value, json};

fn main() {
    let vectors = match std::env::args().nth(1).as_deref() {
        None => shared(&whole()),
        Some("one-holder") => one_holder(&opened()),
        Some(other) => panic!("there is no election '{other}'"),
    };
    println!("{}", serde_json::to_string_pretty(&vectors).unwrap());
}

fn secret(signer: &Signer) -> Value {
    json!(Bytes(signer.secret().to_vec()))
}

fn head(running: &Running) -> String {
    running.board.head("2026-11-22T20:30:00Z", &running.cast.board).to_line()
}

fn one_holder(running: &Running) -> Value {
    json!({
        "about": "An election whose key one holder has, of 512 bits; see docs/explanation/election.md. Written by examples/vectors.rs.",
        "board_secret": secret(&running.cast.board),
        "heads": [head(running)],
        "organiser_secret": secret(&running.cast.organiser),
        "record": running.lines,
        "result": opened_result(),
    })
}

fn shared(running: &Running) -> Value {
    let entries: Vec<Entry> = running.lines.iter().map(|line| Entry::from_line(line).unwrap()).collect();
    let ballots = entries.iter().filter(|entry| matches!(entry.notice.body(), Body::Ballot(_)));
    let trackers: Vec<Value> = ballots
        .map(|entry| {
            let hash = entry.notice.hash();
            json!({ "hash": hash, "index": entry.index, "tracker": shown_tracker(&hash) })
        })
        .collect();
    let prepared = running.election.prepare("voter 9", &choices(4)).unwrap();
    let made = prepared.ballot().clone();
    let receipt = Receipt::new(running.election.id(), 4, &running.lines[4], &running.cast.board);
    let shares: Vec<Value> = key().shares.iter().map(|share| serde_json::from_str(&share.to_json()).unwrap()).collect();
    json!({
        "about": "An election under a key of 512 bits that has no secrets left; see docs/explanation/election.md. Written by examples/vectors.rs.",
        "ballot_of_voter_9": { "body": made, "challenge": prepared.into_challenge(), "choices": choices(4) },
        "board_secret": secret(&running.cast.board),
        "heads": [head(running)],
        "id": running.election.id(),
        "organiser_secret": secret(&running.cast.organiser),
        "receipt": receipt,
        "record": running.lines,
        "result": common::whole_result(),
        "root": running.board.root(),
        "shares_of_key": shares,
        "trackers": trackers,
        "trustee_secrets": running.cast.trustees.iter().map(secret).collect::<Vec<_>>(),
        "voters": running.cast.voters.iter().map(|(id, signer)| json!({ "id": id, "secret": secret(signer) })).collect::<Vec<_>>(),
    })
}
