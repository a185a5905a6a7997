//! Keys and shares of another implementation are accepted, and it accepts ours (`vectors.py`,
//! written from docs/explanation/threshold.md and the crate's README with Python's standard
//! library).

use hearith_paillier::encoding::encode_signed;
use hearith_paillier::{Ciphertexts, Engine, KeyPolicy, PrivateKey, Variant};
use hearith_threshold::{Contexts, KeyShare, Shares, VerificationKeys, deal};
use rug::{Integer, integer::Order};
use std::io::Write;
use std::process::{Command, Stdio};

fn bytes(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn contexts() -> Contexts {
    Contexts::new(b"shared", [b"row"])
}

fn engines() -> impl Iterator<Item = Engine> {
    Engine::ALL.iter().copied().filter(|engine| engine.is_available())
}

/// Shares made by another implementation, and shares made here with its key shares, give its
/// plaintexts.
#[test]
fn what_another_implementation_dealt_and_shared_is_combined() {
    let lines: Vec<Vec<&str>> = include_str!("../vectors.txt").lines().map(|line| line.split(' ').collect()).collect();
    for engine in engines() {
        let verification = VerificationKeys::from_json(lines[0][1], KeyPolicy::AllowInsecure, engine).unwrap();
        let key = verification.key();
        assert_eq!((verification.needed(), verification.trustees()), (3, 5));
        let trustees: Vec<KeyShare> = lines[1..6]
            .iter()
            .map(|line| KeyShare::from_json(line[2], KeyPolicy::AllowInsecure, engine).unwrap())
            .collect();
        let mut combined = 0;
        for rows in lines[6..].chunks(6) {
            let ciphertext = key.ciphertexts_from_be(&bytes(rows[0][2])).unwrap();
            let theirs: Vec<Shares> = rows[1..]
                .iter()
                .map(|line| Shares::from_be_bytes(key, line[1].parse().unwrap(), &bytes(line[2])).unwrap())
                .collect();
            let ours: Vec<Shares> =
                trustees.iter().map(|trustee| trustee.decrypt(&contexts(), &ciphertext).unwrap()).collect();
            for of in [
                [&theirs[0], &theirs[1], &theirs[2]],
                [&theirs[4], &theirs[1], &theirs[3]],
                [&ours[4], &theirs[0], &ours[2]],
            ] {
                let found = verification.combine(&contexts(), &ciphertext, &of).unwrap();
                assert!(found.wrong.is_empty());
                assert_eq!(text(&found.plaintexts.to_be_bytes()), rows[0][1], "{engine}");
                combined += 1;
            }
        }
        assert_eq!(combined, 9);
    }
}

/// Base64url without padding, as far as needed here.
fn text(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let digits = |part: &[u8]| {
        let word = part.iter().fold(0_u32, |word, &byte| word << 8 | u32::from(byte)) << (8 * (3 - part.len()));
        (0..=part.len())
            .map(move |digit| char::from(DIGITS[(word >> (18 - 6 * digit) & 63) as usize]))
            .collect::<String>()
    };
    bytes.chunks(3).map(digits).collect()
}

/// The other implementation verifies and combines keys and shares made here.
#[test]
fn another_implementation_takes_what_is_dealt_and_shared_here() {
    for engine in engines() {
        let private = PrivateKey::generate_safe(512, Variant::Djn, KeyPolicy::AllowInsecure, engine).unwrap();
        let (verification, trustees) = deal(&private, 2, 4).unwrap();
        let key = verification.key();
        let plaintexts = encode_signed(key, &[0, 77, -1]).unwrap();
        let ciphertexts: Ciphertexts = key.encrypt(&plaintexts).unwrap();
        let mut lines = vec![format!("verification {}", verification.to_json())];
        lines.extend(trustees.iter().map(|one| format!("key {} {}", one.trustee(), *one.to_json())));
        for row in 0..3 {
            let ciphertext = ciphertexts.range(row..row + 1).unwrap();
            lines.push(format!("ciphertext - {}", hex(&ciphertext.to_be_bytes())));
            for one in &trustees {
                let shares = one.decrypt(&contexts(), &ciphertext).unwrap();
                lines.push(format!("share {} {}", one.trustee(), hex(&shares.to_be_bytes())));
            }
        }
        let n = Integer::from_digits(&key.modulus_be(), Order::Msf);
        assert_eq!(python(&(lines.join("\n") + "\n")), format!("0\n77\n{}\n", n - 1u32));
    }
}

/// The output of `vectors.py check` for a file.
fn python(file: &str) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors.py");
    let mut child = Command::new("python3")
        .args([script, "check"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 is there");
    child.stdin.take().unwrap().write_all(file.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}
