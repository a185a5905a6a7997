//! The command line: arguments, one per line, are accepted or rejected with a message.
#![no_main]

use clap::Parser;
use hearith_cli::args::Arguments;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let words = std::iter::once("hearith").chain(text.lines());
    match Arguments::try_parse_from(words) {
        Ok(arguments) => drop(format!("{arguments:?}")),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
