//! Proofs made by another implementation hold (`vectors.py`, written from
//! docs/explanation/proofs.md and the crate's README with Python's standard library).

use hearith_paillier::encoding::encode_signed;
use hearith_paillier::{Engine, KeyPolicy, PublicKey};
use hearith_proofs::{Contexts, Form, blum, membership, residue, roots};

fn bytes(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn proofs_of_another_implementation_hold() {
    let lines: Vec<Vec<&str>> = include_str!("../vectors.txt").lines().map(|line| line.split(' ').collect()).collect();
    let contexts = Contexts::new(b"shared", [b"row"]);
    let mut held = Vec::new();
    for engine in Engine::ALL.iter().copied().filter(|engine| engine.is_available()) {
        let (n, h) = (bytes(lines[0][1]), bytes(lines[0][2]));
        let key = PublicKey::new(&n, Some(&h), KeyPolicy::AllowInsecure, engine).unwrap();
        let set = encode_signed(&key, &[0, 1, -5]).unwrap();
        for line in &lines[1..] {
            let parts: Vec<Vec<u8>> = line[1..].iter().map(|text| bytes(text)).collect();
            let name = line[0].strip_prefix("fast-");
            let form = if name.is_some() { Form::Short { bits: key.short_bits() } } else { Form::Openings };
            if matches!(line[0], "roots" | "blum") {
                let numbers = key.openings_from_be(&parts[0]).unwrap();
                if line[0] == "roots" { roots::verify(&key, &numbers) } else { blum::verify(&key, &numbers) }.unwrap();
                held.push(line[0]);
                continue;
            }
            let ciphertexts = key.ciphertexts_from_be(&parts[0]).unwrap();
            match name.unwrap_or(line[0]) {
                "residue" => {
                    let proofs = residue::Proofs::from_be_bytes(&key, form, &parts[1]).unwrap();
                    residue::verify(&key, &contexts, &ciphertexts, &proofs).unwrap();
                }
                _ => {
                    let proofs = membership::Proofs::from_be_bytes(&key, form, 3, &parts[1]).unwrap();
                    membership::verify(&key, &contexts, &set, &ciphertexts, &proofs).unwrap();
                }
            }
            held.push(line[0]);
        }
    }
    assert!(held.len().is_multiple_of(8) && held.starts_with(&["roots", "blum", "residue", "membership"]));
    assert!(held.contains(&"fast-residue") && held.contains(&"fast-membership"));
}
