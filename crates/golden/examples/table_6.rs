//! Table 6 of \[CMOOH13\] by its equation 12, and our encryptor by its model, which tests hold against simulation: rows of a table for `synth/dghv.py`.

use hearith_golden::integer_fft::encryption::{Encryptor, Lengths, paper};
use hearith_golden::integer_fft::{CORRECTED, PRINTED, Parameters};

/// A set of parameters: its name, bits of a coefficient and of the modulus, elements, the correction's bits.
type Size = (&'static str, u64, u64, u64, u64);

/// CMNT's lengths as in the paper's Table 1, corrections as `hearith-dghv` has them.
const CMNT: [Size; 4] = [
    ("toy", 42, 160_000, 12, 1131),
    ("small", 52, 860_000, 23, 1685),
    ("medium", 62, 4_200_000, 44, 2239),
    ("large", 72, 19_000_000, 88, 2793),
];

/// CNT's as in its Table 2: moduli are rounded there, and the last number of elements is a misprint for 7659 that its Table 6 was run with.
const CNT: [Size; 4] = [
    ("toy", 936, 150_000, 158, 1031),
    ("small", 1476, 830_000, 572, 1611),
    ("medium", 2016, 4_200_000, 2110, 2191),
    ("large", 2556, 19_350_000, 7695, 2771),
];

/// The paper's seconds in Table 6 for `2^64 + 1`, and its clock in MHz.
const PRINTED_SECONDS: [[f64; 4]; 2] = [[0.000854, 0.0139, 0.239, 4.284], [0.000786, 0.0142, 0.5165, 8.655]];
const CLOCK: f64 = 179.346;

/// DSP blocks: the paper's, and ours of 16 a product of residues, as it counts.
const DSP: [f64; 2] = [2048.0, 16.0];

fn main() {
    for (scheme, sizes, quadratic) in [("CMNT", CMNT, true), ("CNT", CNT, false)] {
        for (size, (name, coefficient, modulus, elements, correction)) in sizes.into_iter().enumerate() {
            let products = if quadratic { elements * elements } else { elements };
            let theirs = |parameters: &Parameters| paper(parameters, products, coefficient, modulus);
            let (printed, corrected) = (theirs(&PRINTED[1]), theirs(&CORRECTED[1]));
            let terms = u64::from(elements.ilog2()) + 2;
            let excess = if quadratic { modulus + coefficient + 2 * terms } else { coefficient + terms };
            let lengths = Lengths { modulus, elements, coefficient, correction, excess };
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
