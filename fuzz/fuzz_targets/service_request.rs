//! Requests to the service: a letter for the operation, and then the message. An accepted request
//! gets an answer for every row that it announces, or names a rejected row by number. Encrypted and
//! summed results decrypt.
#![no_main]

use std::sync::LazyLock;

use hearith_fuzz::key;
use hearith_service::keys::ServedKey;
use hearith_service::request::read;
use hearith_service::work::{Operation, Output};
use libfuzzer_sys::fuzz_target;

static KEY: LazyLock<ServedKey> = LazyLock::new(|| ServedKey::new(key().public().clone(), Some(key().clone())));

fuzz_target!(|bytes: &[u8]| {
    let Some((letter, message)) = bytes.split_first() else { return };
    let operation = match letter {
        b'e' => Operation::Encrypt,
        b'r' => Operation::Rerandomise,
        b'a' => Operation::Add,
        b'm' => Operation::Multiply { bits: 0, deterministic: false },
        b's' => Operation::SumGroups,
        b'd' => Operation::Decrypt,
        _ => return,
    };
    let Ok(input) = read(operation, message, &KEY) else { return };
    assert!(input.rows() <= message.len() && input.answers() <= message.len(), "a row takes bytes");
    match input.compute(&KEY) {
        Ok(output) => {
            assert_eq!(output.rows(), input.answers());
            if let Output::Ciphertexts(ciphertexts) = output
                && key().public().check_coprime(&ciphertexts).is_ok()
            {
                key().decrypt(&ciphertexts).expect("ciphertexts of the key");
            }
        }
        Err(error) => assert!(error.row().is_none_or(|row| row < input.rows()), "{error}"),
    }
});
