//! An encrypted private key, in either serialisation: whatever is taken as one is tried with the
//! passphrase of the seeds, and what that opens is read as a key, written, encrypted and opened
//! again.
#![no_main]

use hearith_paillier::{EncryptedJwk, Engine, KeyPolicy, MIN_ITERATIONS, PrivateKey, SecretText};
use libfuzzer_sys::fuzz_target;

/// The passphrase of the seeds.
const PASSPHRASE: &str = "fuzz";
/// Rounds of PBKDF2 that fuzzing has the time for.
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
