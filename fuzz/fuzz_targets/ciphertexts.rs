//! Ciphertexts in bytes: those in range stay unchanged. Those that are also coprime to n decrypt,
//! alone and in a sum.
#![no_main]

use hearith_fuzz::key;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let public = key().public();
    let Ok(ciphertexts) = public.ciphertexts_from_be(bytes) else { return };
    assert_eq!(ciphertexts.to_be_bytes(), bytes);
    let sum = public.sum(&ciphertexts).expect("ciphertexts of the key");
    if public.check_coprime(&ciphertexts).is_ok() {
        key().decrypt(&ciphertexts).expect("checked ciphertexts");
        key().decrypt(&sum).expect("a product of units");
    }
});
