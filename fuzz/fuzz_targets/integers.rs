//! Files of integers: an accepted number is formatted and read back as the same; a whole file gives
//! numbers or an error, never a panic.
#![no_main]

use hearith_arith::natural::{parse, to_decimal, to_hexadecimal};
use hearith_cli::rns::integers::Integers;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let mut number = [0; 6];
    if parse(input, &mut number).is_ok() {
        for text in [to_decimal(&number), to_hexadecimal(&number)] {
            let mut again = [0; 6];
            assert_eq!(parse(text.as_bytes(), &mut again), Ok(()));
            assert_eq!(again, number);
        }
    }
    let bound = [0, 0, 1 << 40];
    for batch in Integers::new("file".to_owned(), input, &bound, 4).flatten() {
        assert!((1..=4).contains(&batch.len()) && batch.rows().all(|row| row[2] < 1 << 40));
    }
});
