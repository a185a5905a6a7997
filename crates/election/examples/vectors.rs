//! Writes an election under a key of 512 bits as the test vectors of other implementations: `tests/vectors/election.json`. Every run makes another one.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{choices, key, whole};
use hearith_election::{Body, Bytes, Entry, Receipt, tracker};
use serde_json::{Value, json};

fn main() {
    let running = whole();
    let secret = |signer: &hearith_election::Signer| json!(Bytes(signer.secret().to_vec()));
    let entries: Vec<Entry> = running.lines.iter().map(|line| Entry::from_line(line).unwrap()).collect();
    let ballots = entries.iter().filter(|entry| matches!(entry.notice.body(), Body::Ballot(_)));
    let trackers: Vec<Value> = ballots
        .map(|entry| {
            let hash = entry.notice.hash();
            json!({ "hash": hash, "index": entry.index, "tracker": tracker(&hash) })
        })
        .collect();
    let prepared = running.election.prepare("voter 9", &choices(4)).unwrap();
    let made = prepared.ballot().clone();
    let receipt = Receipt::new(running.election.id(), 4, &running.lines[4], &running.cast.board);
    let shares: Vec<Value> = key().shares.iter().map(|share| serde_json::from_str(&share.to_json()).unwrap()).collect();
    let vectors = json!({
        "about": "An election under a key of 512 bits that has no secrets left; see docs/election.md. Written by examples/vectors.rs.",
        "ballot_of_voter_9": { "body": made, "challenge": prepared.into_challenge(), "choices": choices(4) },
        "board_secret": secret(&running.cast.board),
        "heads": [running.board.head("2026-11-22T20:30:00Z", &running.cast.board).to_line()],
        "id": running.election.id(),
        "organiser_secret": secret(&running.cast.organiser),
        "receipt": receipt,
        "record": running.lines,
        "result": common::whole_result(),
        "root": running.board.root(),
        "shares_of_key": shares,
        "trackers": trackers,
        "voters": running.cast.voters.iter().map(|(id, signer)| json!({ "id": id, "secret": secret(signer) })).collect::<Vec<_>>(),
    });
    println!("{}", serde_json::to_string_pretty(&vectors).unwrap());
}
