//! Proofs that another implementation made (`vectors.py`, written from docs/proofs.md in Python's standard library) hold.

use hearith_paillier::encoding::encode_signed;
use hearith_paillier::{Engine, KeyPolicy, PublicKey};
use hearith_proofs::{Contexts, membership, residue, roots};

fn bytes(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn proofs_of_another_implementation_hold() {
    let lines: Vec<Vec<&str>> = include_str!("vectors.txt").lines().map(|line| line.split(' ').collect()).collect();
    let contexts = Contexts::new(b"shared", [b"row"]);
    let mut held = Vec::new();
    for engine in Engine::ALL.iter().copied().filter(|engine| engine.is_available()) {
        let key = PublicKey::new(&bytes(lines[0][1]), None, KeyPolicy::AllowInsecure, engine).unwrap();
        for line in &lines[1..] {
            let parts: Vec<Vec<u8>> = line[1..].iter().map(|text| bytes(text)).collect();
            match line[0] {
                "roots" => roots::verify(&key, &key.openings_from_be(&parts[0]).unwrap()).unwrap(),
                "residue" => {
                    let proofs = residue::Proofs::from_be_bytes(&key, &parts[1]).unwrap();
                    residue::verify(&key, &contexts, &key.ciphertexts_from_be(&parts[0]).unwrap(), &proofs).unwrap();
                }
                _ => {
                    let set = encode_signed(&key, &[0, 1, -5]).unwrap();
                    let proofs = membership::Proofs::from_be_bytes(&key, 3, &parts[1]).unwrap();
                    let ciphertexts = key.ciphertexts_from_be(&parts[0]).unwrap();
                    membership::verify(&key, &contexts, &set, &ciphertexts, &proofs).unwrap();
                }
            }
            held.push(line[0]);
        }
    }
    assert!(held.len().is_multiple_of(5) && held.starts_with(&["roots", "residue", "membership"]));
}
