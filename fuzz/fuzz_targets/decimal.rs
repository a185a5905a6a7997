//! Decimal numbers: an accepted number is formatted and read back as the same. The first byte is
//! the scale.
#![no_main]

use hearith_paillier::encoding::{format_decimal, parse_decimal};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &str)| {
    let (scale, text) = (u32::from(input.0), input.1);
    if let Ok(value) = parse_decimal(text, scale) {
        assert_eq!(parse_decimal(&format_decimal(value, scale), scale), Ok(value));
    }
});
