//! Squares of numbers as long as the moduli of the keys in \[CMOOH13\], by schoolbook
//! multiplication over blocks and by four-step transforms. The costs come from models that tests
//! compare with simulation. Prints rows of a table for `synth/dghv.py`, then the length in bits
//! from which on transforms always take fewer cycles.

use hearith_golden::integer_fft::encryption::{Encryptor, Step};
use hearith_golden::integer_fft::four_step::FourStep;

/// Lengths of the moduli in bits.
const SIZES: [(&str, u64); 8] = [
    ("CNT toy", 150_000),
    ("CMNT toy", 160_000),
    ("CNT small", 830_000),
    ("CMNT small", 860_000),
    ("CNT medium", 4_200_000),
    ("CMNT medium", 4_200_000),
    ("CMNT large", 19_000_000),
    ("CNT large", 19_350_000),
];

/// Logarithm of the shortest transform of `FourStep::LONG`.
const SHORTEST: u64 = 6;

/// Cycles, and the number of words read and written.
struct Cost {
    cycles: u64,
    words: u64,
}

/// Squares a number of `words` words by schoolbook multiplication.
fn school_book(design: &Encryptor, words: u64) -> Cost {
    let step = Step::Product { x: words, y: words, z: 2 * words, terms: 1, lanes: 1 };
    Cost { cycles: step.cycles(design), words: 2 * design.block * step.products(design.block) + 2 * words }
}

/// Squares it by transforms, in the shape that holds the square. Also returns the number of points.
fn four_step(words: u64) -> (u64, Cost) {
    let long = FourStep::LONG;
    let shape = long.shape(SHORTEST, 2 * 64 * words).expect("a shape as long");
    let (read, written) = long.moved(shape, words, words, 2 * words);
    (shape.points(), Cost { cycles: long.cycles(shape), words: read + written })
}

fn main() {
    for (name, bits) in SIZES {
        let words = bits.div_ceil(64);
        let [short, blocks] = [Encryptor::HALVES, Encryptor::LONG].map(|design| school_book(&design, words));
        let (points, ours) = four_step(words);
        println!(
            "{name}|{bits}|{}|{}|{points}|{}|{:.0}|{:.1}|{}|{}|{:.2}|{:.2}",
            short.cycles,
            blocks.cycles,
            ours.cycles,
            short.cycles as f64 / ours.cycles as f64,
            blocks.cycles as f64 / ours.cycles as f64,
            short.words,
            ours.words,
            short.words as f64 / short.cycles as f64,
            ours.words as f64 / ours.cycles as f64,
        );
    }
    for (name, design) in [("128", Encryptor::HALVES), ("4096", Encryptor::LONG)] {
        // One more than the last length at which transforms do not win.
        let loses = (1..20_000).rev().find(|&words| school_book(&design, words).cycles <= four_step(words).1.cycles);
        println!("crossover|{name}|{}", 64 * (loses.expect("a short number") + 1));
    }
}
