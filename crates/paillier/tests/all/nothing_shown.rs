//! Neither `Debug` nor an error shows a plaintext, a scalar or a key. The tests search all printed
//! output for the numbers that they supplied.

use crate::common::{key, some_keys};
use hearith_arith::{Engine, Factor, Modulus};
use hearith_paillier::encoding::{Signed, SlotLayout, decode_signed, encode_signed, parse_decimal};
use hearith_paillier::phe_json::{self, Number};
use hearith_paillier::{KeyPolicy, PrivateKey, Variant};
use std::error::Error;
use std::fmt::Debug;

/// A number that shares no part with any other number here.
const CANARY: i128 = 0x5d3a_91c7_e04b_26f8_8c15_7ae9_b36d_f042;

/// Whether a text contains part of the number in any base.
fn shows(text: &str, number: i128) -> bool {
    let limbs = [number as u64, (number >> 64) as u64];
    let decimals = [number.to_string(), limbs[0].to_string(), limbs[1].to_string(), format!("{:?}", number as f64)];
    let hexadecimals = [format!("{number:x}"), format!("{:x}", limbs[0])];
    let bytes = [format!("{:?}", limbs[0].to_le_bytes()), format!("{:?}", limbs[0].to_be_bytes())];
    let bytes = bytes.iter().map(|list| list.trim_matches(['[', ']']).to_owned());
    let lower = text.to_lowercase();
    decimals.into_iter().chain(hexadecimals).chain(bytes).any(|written| lower.contains(&written[..8]))
}

#[track_caller]
fn silent(value: &dyn Debug) {
    for text in [format!("{value:?}"), format!("{value:#?}")] {
        assert!(!shows(&text, CANARY), "{text}");
    }
}

#[track_caller]
fn refused<T: Debug>(result: Result<T, impl Error>) {
    let error = result.unwrap_err();
    silent(&error);
    let mut cause: Option<&dyn Error> = Some(&error);
    while let Some(error) = cause {
        assert!(!shows(&format!("{error}"), CANARY), "{error}");
        cause = error.source();
    }
}

#[test]
fn the_search_finds_what_is_shown() {
    let limbs = [CANARY as u64, (CANARY >> 64) as u64];
    let shown: [&dyn Debug; 6] =
        [&CANARY, &limbs, &Some(-CANARY), &(CANARY as f64), &CANARY.to_be_bytes(), &format!("{CANARY:X}")];
    for value in shown {
        assert!(shows(&format!("{value:?}"), CANARY), "{value:?}");
    }
    assert!(!shows("Signed(2 limbs)", CANARY));
}

#[test]
fn numbers_are_not_shown() {
    for key in some_keys() {
        let public = key.public();
        let plaintexts = encode_signed(public, &[CANARY, -CANARY]).unwrap();
        let decoded = decode_signed(public, &plaintexts).unwrap();
        silent(&decoded);
        silent(&Signed::from(CANARY));
        silent(&plaintexts);
        silent(plaintexts.batch());
        silent(&public.encrypt(&plaintexts));
        let layout = SlotLayout::new(public.bits(), 1, i128::MAX as u128, 1).unwrap();
        silent(&layout.unpack(public, &layout.pack(public, &[CANARY]).unwrap(), &[1]));
        silent(&Number::from(CANARY));
        silent(&Number::from_f64(CANARY as f64));
        silent(&phe_json::decode(public, &plaintexts, &[0, 0]));
        let limbs = [CANARY as u64 | 1, (CANARY >> 64) as u64];
        let modulus = Modulus::new(Engine::best(), &limbs).unwrap();
        let factor: Factor = modulus.factor(&limbs);
        silent(&(modulus, factor));
    }
}

#[test]
fn errors_do_not_show_numbers() {
    for text in
        [format!("{CANARY}x"), format!("{CANARY}.{CANARY}"), format!("{CANARY}{CANARY}"), format!("-{CANARY}e5")]
    {
        refused(parse_decimal(&text, 3));
    }
    let small = key(64, Variant::Standard, Engine::best());
    refused(encode_signed(small.public(), &[1, CANARY]));
    refused(SlotLayout::new(64, 1, 1000, 1000).unwrap().pack(small.public(), &[-CANARY]));
    refused(phe_json::encode(small.public(), &[Number::from(CANARY)]));
    refused(Number::from(CANARY).with_exponent(1));
    refused(Number::new(CANARY.into(), 1000).to_f64());
    refused(i128::try_from(&Signed::new(false, [CANARY as u64, (CANARY >> 64) as u64, 1].to_vec())));
    refused(small.public().plaintexts_from_be(&[CANARY.to_be_bytes(), [0xff; 16]].concat()));
    refused(small.public().ciphertexts_from_be(&[CANARY.to_be_bytes(), [0; 16]].concat()));
    for key in some_keys() {
        let plaintexts = encode_signed(key.public(), &[CANARY]).unwrap();
        refused(key.check(&key.public().zero(), &plaintexts));
        silent(&key.with_fault_check());
    }
    let one = small.public().zero();
    refused(small.public().multiply_bounded(&one, &[CANARY], 12));
    refused(small.public().multiply_wide(&one, &[CANARY.into()], 12));
    refused(small.public().dot_bounded(&one, &[-CANARY], 1, 12));
    refused(phe_json::import(small.public(), &format!("{{\"v\": \"{CANARY}{CANARY}\", \"e\": 0}}")));
    refused(phe_json::import(small.public(), &format!("{{\"v\": {CANARY}, \"e\": \"{CANARY}\"}}")));
    let policy = KeyPolicy::AllowInsecure;
    let bytes = CANARY.to_be_bytes();
    refused(PrivateKey::from_primes(&bytes, &bytes, None, policy, Engine::best()));
    refused(PrivateKey::from_primes(
        &bytes,
        &[&[0][..], &(CANARY + 1).to_be_bytes()].concat(),
        None,
        policy,
        Engine::best(),
    ));
    refused(PrivateKey::from_jwk(&format!("{{\"kty\": \"DAJ\", \"p\": {CANARY}}}"), policy, Engine::best()));
    refused(PrivateKey::from_jwk(&format!("{{\"{CANARY}"), policy, Engine::best()));
}
