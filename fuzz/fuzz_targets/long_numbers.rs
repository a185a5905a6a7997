//! Products and remainders of long numbers: every engine agrees with GMP.
#![no_main]

use hearith_arith::Engine;
use hearith_ntt::{Barrett, Ring};
use libfuzzer_sys::fuzz_target;
use rug::{Integer, integer::Order};

/// Maximum limbs of a number: several lengths of transforms, and still many runs per second.
const MOST: usize = 700;

/// Returns `limbs` limbs that repeat the same words, so that few bytes make numbers of all ones, or
/// of one bit per word.
fn number(limbs: u16, words: &[u64], from: usize) -> Vec<u64> {
    (0..usize::from(limbs) % MOST).map(|i| words[(from + i) % words.len()]).collect()
}

fuzz_target!(|input: &[u8]| {
    let Some((&[a, b, c, d], rest)) = input.split_first_chunk() else { return };
    let words: Vec<u64> = rest.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)).collect();
    if words.is_empty() {
        return;
    }
    let x = number(u16::from_le_bytes([a, b]), &words, 0);
    let y = number(u16::from_le_bytes([c, d]), &words, words.len() / 2);
    let [long_x, long_y] = [&x, &y].map(|number| Integer::from_digits(number, Order::Lsf));
    for engine in Engine::ALL.iter().copied().filter(|engine| engine.is_available()) {
        let mut product = vec![1; x.len() + y.len()];
        let ring = Ring::new(engine, product.len()).expect("it is short enough");
        ring.product(&x, &y, &mut product).expect("the ring is long enough");
        assert!(Integer::from_digits(&product, Order::Lsf) == Integer::from(&long_x * &long_y));
        if long_y == 0 {
            continue;
        }
        let excess = long_x.significant_bits().saturating_sub(long_y.significant_bits());
        let barrett = Barrett::new(engine, &y, excess as usize).expect("it is not zero");
        let mut rest = vec![1; barrett.modulus().len()];
        barrett.reduce(&x, &mut rest).expect("it was prepared for that length");
        assert!(Integer::from_digits(&rest, Order::Lsf) == Integer::from(&long_x % &long_y));
    }
});
