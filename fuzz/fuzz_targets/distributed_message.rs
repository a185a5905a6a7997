//! Messages of a deviating trustee while three trustees generate a key.
//!
//! Trustee 2 is fuzzed; 1 and 3 follow the protocol. Input: a byte for the round of the first
//! message, a byte for the kind of message, and the content. The kinds, modulo 4, are:
//!
//! - 0: the raw bytes;
//! - 1: the message of that round, with content for everybody (after its two-byte length) and for
//!   the receiver;
//! - 2: a message after a failure;
//! - 3: a farewell.
//!
//! Kinds 1 to 3 are signed. Trustee 2 repeats the message in all later rounds. Nothing may panic,
//! and the run must end without a key, unless the message was right.
#![no_main]

use hearith_paillier::{Engine, KeyPolicy, Variant};
use hearith_threshold::distributed::{Identity, Parameters, Reason, Step, Trustee, session_id};
use libfuzzer_sys::fuzz_target;
use sha2::{Digest, Sha256};
use std::sync::OnceLock;

const TRUSTEES: usize = 3;
const FUZZED: usize = 1;
/// Positions of a message's kind, its stage, and the lengths of its parts.
const KIND: usize = 5;
const STAGE: usize = 6;
const LENGTHS: usize = 77;
const HEADER: usize = 85;
const SIGNATURE: usize = 64;
/// Maximum additional rounds of a run that fails.
const LONGER: usize = 20;

fn identity(trustee: usize) -> Identity {
    Identity::from_seed(&[trustee as u8 + 1; 32])
}

fn trustees() -> Vec<Trustee> {
    let parameters = Parameters::new(128, 2, 3, Variant::Djn, KeyPolicy::AllowInsecure, Engine::Serial);
    let parameters = parameters.expect("good parameters").with_candidates(CANDIDATES);
    let keys: Vec<[u8; 32]> = (0..TRUSTEES).map(|trustee| identity(trustee).public()).collect();
    let session = session_id(&parameters, &keys, &[[1; 32], [2; 32], [3; 32]]);
    let trustee = |number: usize| {
        let seed = [SEED ^ number as u8; 32];
        Trustee::with_seed(parameters.clone(), number as u32 + 1, identity(number), &keys, session, &seed)
    };
    (0..TRUSTEES).map(|number| trustee(number).expect("a trustee")).collect()
}

const CANDIDATES: usize = 24;
const SEED: u8 = 0x40;

/// Returns the messages of trustee 2 in a run in which all follow the protocol, by round and
/// receiver.
fn honest() -> &'static [Vec<Vec<u8>>] {
    static HONEST: OnceLock<Vec<Vec<Vec<u8>>>> = OnceLock::new();
    HONEST.get_or_init(|| {
        let mut rounds = Vec::new();
        let mut running = trustees();
        let mut sent: Vec<Vec<Vec<u8>>> = running.iter_mut().map(Trustee::start).collect();
        loop {
            rounds.push(sent[FUZZED].clone());
            let steps: Vec<Step> = (0..TRUSTEES).map(|to| running[to].step(&received(&sent, to))).collect();
            let next = steps.into_iter().map_while(|step| match step {
                Step::Send(messages) => Some(messages),
                _ => None,
            });
            sent = next.collect();
            if sent.len() < TRUSTEES {
                return rounds;
            }
        }
    })
}

fn received(sent: &[Vec<Vec<u8>>], to: usize) -> Vec<Option<Vec<u8>>> {
    sent.iter().map(|messages| messages.get(to).filter(|message| !message.is_empty()).cloned()).collect()
}

/// Returns the message that replaces another one.
fn replaced(message: &[u8], round: usize, what: u8, content: &[u8]) -> Vec<u8> {
    let mut kind = [0, 0, 1, 2][usize::from(what % 4)];
    let (broadcast, private) = match content.split_first_chunk() {
        _ if what.is_multiple_of(4) => return content.to_vec(),
        Some((length, rest)) if kind == 0 => rest.split_at(rest.len().min(usize::from(u16::from_be_bytes(*length)))),
        _ => (content, &[][..]),
    };
    if what >= 128 {
        // Occasionally a kind that does not exist.
        kind = what;
    }
    let mut made = message[..HEADER].to_vec();
    (made[KIND], made[STAGE]) = (kind, if kind == 0 { message[STAGE] } else { 0 });
    made[9..13].copy_from_slice(&(round as u32).to_be_bytes());
    made[LENGTHS..LENGTHS + 4].copy_from_slice(&(broadcast.len() as u32).to_be_bytes());
    made[LENGTHS + 4..HEADER].copy_from_slice(&(private.len() as u32).to_be_bytes());
    made.extend_from_slice(broadcast);
    made.extend_from_slice(private);
    let mut hash = Sha256::new();
    for part in [b"hearith-distributed 1 message", &made[..]] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let signature = identity(FUZZED).sign(&hash.finalize());
    made.extend_from_slice(&signature);
    assert_eq!(made.len(), HEADER + broadcast.len() + private.len() + SIGNATURE);
    made
}

fuzz_target!(|bytes: &[u8]| {
    let [first, what, content @ ..] = bytes else { return };
    let honest = honest();
    let first = usize::from(*first) % honest.len();
    let mut running: Vec<Option<Trustee>> = trustees().into_iter().map(Some).collect();
    running[FUZZED] = None;
    let mut sent: Vec<Vec<Vec<u8>>> =
        running.iter_mut().map(|one| one.as_mut().map(Trustee::start).unwrap_or_default()).collect();
    let (mut is_same, mut keys) = (true, 0);
    for round in 0..honest.len() + LONGER {
        // After the end of the honest run, use the headers of its last round with the round number
        // corrected.
        let templates = &honest[round.min(honest.len() - 1)];
        sent[FUZZED] = templates
            .iter()
            .map(|message| match (round < first, message.is_empty()) {
                (true, _) | (_, true) => message.clone(),
                (false, false) => {
                    let made = replaced(message, round, *what, content);
                    is_same &= made == *message;
                    made
                }
            })
            .collect();
        let mut next = vec![Vec::new(); TRUSTEES];
        for to in 0..TRUSTEES {
            let Some(trustee) = &mut running[to] else { continue };
            match trustee.step(&received(&sent, to)) {
                Step::Send(messages) => next[to] = messages,
                Step::Finished(_) => {
                    keys += 1;
                    running[to] = None;
                }
                Step::Failed { failure, farewell } => {
                    // A trustee that follows the protocol is never reported to have deviated from
                    // it.
                    let is_named = failure.trustees.iter().all(|&number| number as usize == FUZZED + 1);
                    assert!(is_named || matches!(failure.reason, Reason::Reported { .. }), "{failure}");
                    next[to] = farewell;
                    running[to] = None;
                }
            }
        }
        if running.iter().all(Option::is_none) {
            assert!(keys == 0 || is_same, "a key");
            return;
        }
        sent = next;
    }
    panic!("the run did not end");
});
