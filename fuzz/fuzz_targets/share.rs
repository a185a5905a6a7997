//! Files of shared keys, and shares of a decryption under one. Input: a byte for the kind (0 a
//! verification file, 1 a trustee's file, else a share of the first ciphertext in the tests of
//! hearith-threshold, by the trustee of this number minus 1), then the text or the bytes. An
//! accepted input is written back unchanged; a valid share decrypts to the truth.
#![no_main]

use hearith_paillier::{Engine, KeyPolicy};
use hearith_threshold::{Contexts, KeyShare, Shares, VerificationKeys};
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;

const POLICY: KeyPolicy = KeyPolicy::AllowInsecure;
const ENGINE: Engine = Engine::Serial;

/// A dealt key, a ciphertext, and its shares by all trustees.
struct Known {
    verification: VerificationKeys,
    ciphertext: hearith_paillier::Ciphertexts,
    shares: Vec<Shares>,
}

fn known() -> &'static Known {
    static KNOWN: OnceLock<Known> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let lines: Vec<Vec<&str>> = include_str!("../../crates/threshold/tests/vectors.txt")
            .lines()
            .map(|line| line.split(' ').collect())
            .collect();
        let bytes = |text: &str| -> Vec<u8> {
            (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("digits")).collect()
        };
        let verification = VerificationKeys::from_json(lines[0][1], POLICY, ENGINE).expect("the tests' file");
        let key = verification.key();
        let ciphertext = key.ciphertexts_from_be(&bytes(lines[6][2])).expect("the tests' ciphertext");
        let share = |line: &Vec<&str>| {
            Shares::from_be_bytes(key, line[1].parse().expect("a number"), &bytes(line[2])).expect("the tests' share")
        };
        let shares = lines[7..12].iter().map(share).collect();
        Known { ciphertext, shares, verification }
    })
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&what, rest)) = bytes.split_first() else { return };
    match (what, std::str::from_utf8(rest)) {
        (0, Ok(text)) => {
            let Ok(read) = VerificationKeys::from_json(text, POLICY, ENGINE) else { return };
            assert_eq!(VerificationKeys::from_json(&read.to_json(), POLICY, ENGINE).as_ref(), Ok(&read));
        }
        (1, Ok(text)) => {
            let Ok(read) = KeyShare::from_json(text, POLICY, ENGINE) else { return };
            let again = KeyShare::from_json(&read.to_json(), POLICY, ENGINE).expect("what was written");
            assert_eq!(*again.to_json(), *read.to_json());
        }
        (2.., _) => {
            let Known { verification, ciphertext, shares } = known();
            let trustee = u32::from(what) - 1;
            let Ok(read) = verification.shares_from_be_bytes(trustee, rest) else { return };
            assert_eq!(read.to_be_bytes(), rest);
            let contexts = Contexts::new(b"shared", [b"row"]);
            if verification.verify(&contexts, ciphertext, &read).is_ok() {
                let others: Vec<&Shares> = shares.iter().filter(|one| one.trustee() != trustee).take(2).collect();
                let combined = verification.combine(&contexts, ciphertext, &[&read, others[0], others[1]]);
                assert!(combined.expect("right shares").plaintexts.batch().as_limbs().iter().all(|&limb| limb == 0));
            }
        }
        _ => {}
    }
});
