//! An encrypted private key, in either serialisation. An accepted input is decrypted with the
//! passphrase of the seeds; the result is read as a key, written, encrypted and decrypted again.
#![no_main]

use hearith_paillier::{EncryptedJwk, Engine, KeyPolicy, MIN_ITERATIONS, PrivateKey, SecretText};
use libfuzzer_sys::fuzz_target;

/// The passphrase of the seeds.
const PASSPHRASE: &str = "fuzz";
/// Maximum rounds of PBKDF2 that fuzzing has time for.
const PATIENCE: u32 = 2 * MIN_ITERATIONS;

fuzz_target!(|text: &str| {
    let _ = SecretText::from(text.to_owned()).kind();
    let Ok(encrypted) = EncryptedJwk::parse(text) else { return };
    let _ = (encrypted.key_id(), encrypted.algorithm(), encrypted.encryption());
    if encrypted.iterations() > PATIENCE {
        return;
    }
    let Ok(jwk) = encrypted.decrypt(PASSPHRASE.as_bytes()) else { return };
    let read = |jwk: &str| PrivateKey::from_jwk(jwk, KeyPolicy::AllowInsecure, Engine::Serial);
    let Ok(key) = read(&jwk) else { return };
    let again = key.to_encrypted_jwk(PASSPHRASE, MIN_ITERATIONS).expect("a passphrase and rounds that are taken");
    let opened = EncryptedJwk::parse(&again).and_then(|again| again.decrypt(PASSPHRASE.as_bytes()));
    assert_eq!(opened.expect("what was written is read"), key.to_jwk());
});
