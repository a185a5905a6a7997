//! Circuits in Bristol Fashion: an accepted circuit is written, read back as the same, and
//! evaluated.
#![no_main]

use hearith_dghv::circuit::Circuit;
use libfuzzer_sys::fuzz_target;

/// Circuits with more wires than this only cost time.
const EVALUATED: usize = 1 << 12;

fuzz_target!(|text: &str| {
    if let Ok(circuit) = Circuit::parse(text) {
        assert_eq!(Circuit::parse(&circuit.to_string()).as_ref(), Ok(&circuit));
        if circuit.wires() <= EVALUATED {
            let outputs = circuit.evaluate_plain(&vec![true; circuit.input_bits()]);
            assert_eq!(outputs.len(), circuit.output_bits());
        }
    }
});
