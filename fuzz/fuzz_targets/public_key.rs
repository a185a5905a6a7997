//! A public key: an accepted key is written and read back as the same.
#![no_main]

use hearith_paillier::{Engine, KeyPolicy, PublicKey};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let read = |text: &str| PublicKey::from_jwk(text, KeyPolicy::AllowInsecure, Engine::Serial);
    if let Ok(key) = read(text) {
        assert_eq!(read(&key.to_jwk()).as_ref(), Ok(&key));
    }
});
