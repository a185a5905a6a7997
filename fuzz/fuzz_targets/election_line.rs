//! Lines of an election's record. Input: a byte for the kind (0 an entry, 1 a head, 2 a receipt, 3
//! a notice, else an entry after the first entries of hearith-election's test vectors), then the
//! line. An accepted line is written back unchanged, and a line in a wrong place causes no failure.
#![no_main]

use hearith_election::{Entry, Notice, Receipt, SignedTreeHead, State, canonical};
use hearith_paillier::{Engine, KeyPolicy};
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;

/// The state after two entries, when voters are listed and voting has not begun, and after three,
/// when it has.
fn known() -> &'static [State; 2] {
    static KNOWN: OnceLock<[State; 2]> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let text = include_str!("../../crates/election/tests/vectors/election.json");
        let vectors: serde_json::Value = canonical::parse("test vectors", text).expect("the tests' file");
        let line = |at: usize| vectors["record"][at].as_str().expect("a line");
        let notice = |at| Entry::from_line(line(at)).expect("an entry").notice;
        [2, 3].map(|entries| {
            let begun = State::begin(&notice(0), KeyPolicy::AllowInsecure, Engine::Serial);
            let mut state = begun.expect("an election");
            (1..entries).for_each(|at| _ = state.admit(&notice(at)).expect("an entry that may come"));
            state
        })
    })
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&what, rest)) = bytes.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    match what {
        0 => drop(Entry::from_line(text).map(|read| assert_eq!(read.to_line(), text))),
        1 => drop(SignedTreeHead::from_line(text).map(|read| assert_eq!(read.to_line(), text))),
        2 => drop(Receipt::from_json(text).map(|read| assert_eq!(read.to_json(), text))),
        3 => drop(Notice::from_json(text).map(|read| assert_eq!(read.to_json(), text))),
        _ => {
            let Ok(read) = Entry::from_line(text) else { return };
            let state = &known()[usize::from(what & 1)];
            if state.check(&read.notice).is_ok() {
                let _ = state.check_proofs(&read.notice);
            }
        }
    }
});
