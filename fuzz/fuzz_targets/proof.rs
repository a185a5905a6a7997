//! A ciphertext and a proof about it. Input: a byte for the numbers of the set (0 for a proof that
//! it holds 0, plus 128 for a proof by a short opening), the ciphertext, the proof. An accepted
//! proof is written back unchanged, and a valid proof states the truth.
#![no_main]

use hearith_fuzz::{key, with_generator};
use hearith_paillier::encoding::{decode_signed, encode_signed};
use hearith_proofs::{Contexts, Form, membership, residue};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((&sides, rest)) = bytes.split_first() else { return };
    let (public, form) = match sides & 128 {
        0 => (key().public(), Form::Openings),
        _ => (with_generator(), Form::Short { bits: with_generator().short_bits() }),
    };
    let Some((ciphertext, proof)) = rest.split_at_checked(public.ciphertext_bytes()) else { return };
    let Ok(ciphertexts) = public.ciphertexts_from_be(ciphertext) else { return };
    let contexts = Contexts::new(b"fuzz", [b"row"]);
    let sides = sides & 127;
    let numbers: Vec<i128> = (0..i128::from(sides)).collect();
    let holds = if sides == 0 {
        let Ok(proofs) = residue::Proofs::from_be_bytes(public, form, proof) else { return };
        assert_eq!(proofs.to_be_bytes(), proof);
        residue::verify(public, &contexts, &ciphertexts, &proofs).is_ok()
    } else {
        let Ok(proofs) = membership::Proofs::from_be_bytes(public, form, sides.into(), proof) else { return };
        assert_eq!(proofs.to_be_bytes(), proof);
        let set = encode_signed(public, &numbers).expect("small numbers");
        membership::verify(public, &contexts, &set, &ciphertexts, &proofs).is_ok()
    };
    if holds {
        let plaintext = key().decrypt(&ciphertexts).expect("a unit");
        let number = decode_signed(public, &plaintext).expect("within the key")[0].to_i128();
        assert!(
            number.is_some_and(|number| number == 0 && sides == 0 || numbers.contains(&number)),
            "a false proof holds"
        );
    }
});
