//! Table 6 of \[CMOOH13\] by its equation 12, and our encryptor by its model, which tests compare
//! with simulation. Prints rows of a table for `synth/dghv.py`.

use hearith_golden::integer_fft::encryption::{Encryptor, paper};
use hearith_golden::integer_fft::sizes::{CMNT, CNT, Size};
use hearith_golden::integer_fft::{CORRECTED, PRINTED, Parameters};

/// The paper's seconds in Table 6 for `2^64 + 1`, and its clock frequency in MHz.
const PRINTED_SECONDS: [[f64; 4]; 2] = [[0.000854, 0.0139, 0.239, 4.284], [0.000786, 0.0142, 0.5165, 8.655]];
const CLOCK: f64 = 179.346;

/// DSP blocks: the paper's, and ours with 16 per product of residues, as the paper counts.
const DSP: [f64; 2] = [2048.0, 16.0];

fn main() {
    for (scheme, sizes, quadratic) in [("CMNT", CMNT, true), ("CNT", CNT, false)] {
        for (size, key) in sizes.into_iter().enumerate() {
            let Size { name, coefficient, modulus, elements, .. } = key;
            let products = if quadratic { elements * elements } else { elements };
            let theirs = |parameters: &Parameters| paper(parameters, products, coefficient, modulus);
            let (printed, corrected) = (theirs(&PRINTED[1]), theirs(&CORRECTED[1]));
            let lengths = key.lengths(quadratic);
            let steps = if quadratic { Encryptor::HALVES.cmnt(&lengths) } else { Encryptor::HALVES.cnt(&lengths) };
            let ours = Encryptor::HALVES.cycles(&steps, 0);
            println!(
                "{scheme} {name}|{}|{:.4}|{printed}|{corrected}|{ours}|{:.1}|{:.2}",
                PRINTED_SECONDS[usize::from(!quadratic)][size],
                printed as f64 / CLOCK / 1e6,
                ours as f64 / printed as f64,
                printed as f64 * DSP[0] / (ours as f64 * DSP[1]),
            );
        }
    }
}
