//! Self-describing values: any text or bytes are an error or are read as the only form of a value,
//! and results computed from its description stay within it.
#![no_main]

use hearith_paillier::described::{DESCRIPTION_BYTES, Described, Description};
use libfuzzer_sys::fuzz_target;

/// Checks the properties of every value, whichever form it was read from.
fn check(value: &Described) {
    assert_eq!(Described::from_bytes(&value.to_bytes()).as_ref(), Ok(value));
    assert_eq!(value.to_string().parse().as_ref(), Ok(value));
    let description = value.description();
    assert_eq!(value.ciphertext().len(), description.ciphertext_bytes());
    assert!((1..=description.headroom()).contains(&description.additions()));
    // Operands come from the value itself, so that the fuzzer chooses them.
    let factor = value.ciphertext().iter().take(16).fold(0_i128, |number, &byte| number << 8 | i128::from(byte));
    let places = u32::from(value.ciphertext().last().copied().unwrap_or(0)) % 40;
    let computed = [
        description.plus(description),
        description.common(description),
        description.times(factor, places),
        description.plus_plain(factor, places),
        description.at_scale(places),
        description.with_additions(factor.unsigned_abs() as u64),
    ];
    for result in computed.into_iter().flatten() {
        assert_eq!((result.key(), result.bits()), (description.key(), description.bits()));
        assert!(result.headroom() <= description.headroom() && result.additions() <= result.headroom());
        assert!(result.scale() >= description.scale() && result.range() >= description.range());
        assert_eq!(
            Description::read(&[&result.to_bytes(), value.ciphertext()].concat()),
            Ok((result, value.ciphertext()))
        );
    }
}

fuzz_target!(|bytes: &[u8]| {
    if let Ok(value) = Described::from_bytes(bytes) {
        assert_eq!(value.to_bytes(), bytes);
        check(&value);
    }
    if let Some(text) = std::str::from_utf8(bytes).ok()
        && let Ok(value) = text.parse::<Described>()
    {
        assert_eq!(value.to_string(), text);
        check(&value);
    }
    // The fuzzer seldom finds a ciphertext of the length in the description by itself.
    if let Some(head) = bytes.get(..DESCRIPTION_BYTES) {
        let bits = u16::from_be_bytes([head[2], head[3]]);
        let mut padded = bytes.to_vec();
        padded.resize(DESCRIPTION_BYTES + 2 * usize::from(bits).div_ceil(8), 0);
        if let Ok(value) = Described::from_bytes(&padded) {
            check(&value);
        }
    }
});
