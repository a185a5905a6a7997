//! Files of bits, one per line: an accepted file is read back as the same when rewritten with one
//! bit per line.
#![no_main]

use hearith_cli::dghv::bits;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Ok(read) = bits::read("file", input) else { return };
    let plain: String = read.iter().map(|&bit| if bit { "1\n" } else { "0\n" }).collect();
    assert_eq!(bits::read("file", plain.as_bytes()).expect("bits, one a line"), read);
});
