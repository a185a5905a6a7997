//! A private key: an accepted key is written and read back as the same, and decrypts what it
//! encrypts.
#![no_main]

use hearith_paillier::encoding::{decode_signed, encode_signed};
use hearith_paillier::{Engine, KeyPolicy, PrivateKey};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let read = |text: &str| PrivateKey::from_jwk(text, KeyPolicy::AllowInsecure, Engine::Serial);
    let Ok(key) = read(text) else { return };
    let again = read(&key.to_jwk()).expect("what was written is read");
    assert_eq!(again.public(), key.public());

    let numbers = [0, 1, -1, 1_000_000];
    let plaintexts = encode_signed(key.public(), &numbers).expect("a key has at least 64 bits");
    let ciphertexts = key.public().encrypt(&plaintexts).expect("plaintexts of the key");
    let decrypted = again.decrypt(&ciphertexts).expect("ciphertexts of the key");
    let decoded = decode_signed(key.public(), &decrypted).expect("plaintexts of the key");
    assert!(decoded.iter().map(|number| number.to_i128()).eq(numbers.map(Some)));
});
