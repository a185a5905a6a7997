//! python-paillier's ciphertexts: accepted ciphertexts are written and read back as the same.
#![no_main]

use hearith_fuzz::key;
use hearith_paillier::phe_json::{decode, export, import};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let public = key().public();
    let Ok((ciphertexts, exponents)) = import(public, text) else { return };
    let written = export(&ciphertexts, &exponents).expect("one exponent a ciphertext").join("\n");
    assert_eq!(import(public, &written), Ok((ciphertexts.clone(), exponents.clone())));

    let plaintexts = key().decrypt(&ciphertexts).expect("checked ciphertexts");
    if let Ok(numbers) = decode(public, &plaintexts, &exponents) {
        for number in numbers.into_iter().flatten() {
            let _ = number.to_f64();
        }
    }
});
