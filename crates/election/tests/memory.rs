//! The state of a board stores little of each ballot, neither its ciphertexts nor its proofs, for
//! any number of voters.

#[path = "all/common/mod.rs"]
#[allow(dead_code, reason = "the other tests use the rest")]
mod common;

use common::{POLICY, Running, contest};
use hearith_election::{Entry, Limit, Method, State};
use hearith_paillier::Engine;
use hearith_testing::heap::{Counter, live};

#[global_allocator]
static COUNTER: Counter = Counter;

/// The ciphertexts of this many voters fill more than half of the hash table.
const VOTERS: usize = 500;

#[test]
fn of_a_ballot_some_hundred_bytes_are_kept() {
    let candidates: Vec<String> = (0..10).map(|number| format!("candidate {number}")).collect();
    let names: Vec<&str> = candidates.iter().map(String::as_str).collect();
    let chair = contest("Chair", &names, Method::Choose(Limit::Exactly(1)));
    let mut running = Running::new(VOTERS, false, true, vec![chair]);
    let begun = running.lines.len();
    // Everyone votes twice.
    for round in 0..2 {
        let values = || vec![running.election.contests()[0].choose(&[round]).unwrap().into()];
        let votes: Vec<_> = (0..VOTERS).map(|voter| (running.id(voter).to_owned(), values())).collect();
        let made = running.election.prepare_all(&votes).unwrap();
        for (voter, prepared) in made.into_iter().enumerate() {
            running.enter(running.cast.ballot(voter, prepared.into_ballot()));
        }
    }

    let notices = || running.lines.iter().map(|line| Entry::from_line(line).unwrap().notice);
    let mut state = State::begin(&notices().next().unwrap(), POLICY, Engine::best()).unwrap();
    notices().take(begun).skip(1).for_each(|notice| _ = state.admit(&notice).unwrap());
    let before = live();
    notices().skip(begun).for_each(|notice| _ = state.admit(&notice).unwrap());
    let kept = (live() - before) / (2 * VOTERS);
    assert_eq!(state.counted().0, VOTERS as u64);
    // A 16-byte hash for each of ten ciphertexts, in a table that is between half full and nearly
    // full.
    assert!((160..400).contains(&kept), "{kept} bytes a ballot");
    let ballot = running.lines.last().unwrap().len();
    assert!(ballot > 5000, "a ballot has {ballot} bytes");
}
