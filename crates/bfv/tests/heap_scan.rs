//! Checks that no secret is left on the heap: every block is searched when it is freed, for a
//! private key's seed and for encrypted numbers.
//!
//! Not covered: the secret polynomial and errors, whose coefficients are too short to distinguish
//! from chance, the stack and the registers.

use hearith_bfv::{Engine, PrivateKey, Set, Sums};
use hearith_testing::heap::{Recorder, Secrets, freed_by};
use std::hint::black_box;

#[global_allocator]
static RECORDER: Recorder = Recorder;

const NUMBER: i128 = 0x5d3a_91c7_e04b_26f8_8c15_7ae9_b36d;
const BITS: u32 = 127;

/// The value of a digit of base64url.
fn digit(byte: u8) -> u32 {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    digits.iter().position(|&digit| digit == byte).unwrap() as u32
}

/// The seed in the text of a private key, in limbs.
fn seed(text: &str) -> Vec<u64> {
    let encoded = &text.split("\"d\":\"").nth(1).unwrap().as_bytes()[..43];
    let bits: Vec<u8> =
        encoded.iter().flat_map(|&byte| (0..6).rev().map(move |i| (digit(byte) >> i & 1) as u8)).collect();
    let bytes: Vec<u8> = bits[..256].chunks(8).map(|bits| bits.iter().fold(0, |byte, bit| byte << 1 | bit)).collect();
    bytes.chunks(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap())).collect()
}

#[test]
fn no_secret_is_left_on_the_heap() {
    let mut secrets = Secrets::default();
    secrets.number("number", &[NUMBER as u64, (NUMBER >> 64) as u64]);
    let (_, freed) = freed_by(|| drop(black_box(vec![NUMBER; 2])));
    assert!(!secrets.within(&freed).is_empty(), "the search finds what is not wiped");

    for engine in Engine::ALL.iter().copied().filter(|engine| engine.is_available()) {
        let (text, freed) = freed_by(|| PrivateKey::generate(Set::Degree4096, engine).unwrap().to_text());
        let seed = seed(&text);
        secrets.number("seed", &seed);
        assert_eq!(secrets.within(&freed), [], "making a key");

        let (key, freed) = freed_by(|| {
            let wrong = text.replace("bfv-4096", "bfv-1024");
            assert!(PrivateKey::from_text(&wrong, engine).is_err());
            // This copy with the wrong name belongs to the test itself.
            drop(zeroize::Zeroizing::new(wrong));
            PrivateKey::from_text(&text, engine).unwrap()
        });
        assert_eq!(secrets.within(&freed), [], "reading a key");

        let wide = PrivateKey::generate(Set::Degree8192, engine).unwrap();
        let numbers = [NUMBER; 50];
        let (_, freed) = freed_by(|| {
            let (a, b) = (wide.encrypt(&numbers, BITS).unwrap(), wide.public().encrypt(&numbers, BITS).unwrap());
            assert_eq!(wide.decrypt(&a).unwrap()[..], wide.decrypt(&b).unwrap()[..]);
            let mut sums = Sums::new(wide.public(), BITS).unwrap();
            sums.add(&a, &[&[0][..], &[u32::MAX; 49]].concat(), None).unwrap();
            assert_eq!(wide.decrypt_total(&sums.release().unwrap()[0]).unwrap(), NUMBER);
            drop(key);
        });
        assert_eq!(secrets.within(&freed), [], "encrypting, adding up, decrypting, dropping a key");
    }
}
