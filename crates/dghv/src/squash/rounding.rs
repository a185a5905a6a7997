//! The circuit that adds the numbers modulo 2 and rounds the sum, column by column.
//!
//! Each column is counted separately. Full adders with a single AND add three bits at a time, then
//! three of their carries, and so on. Bit `j` of the count moves `j` columns up. This computes the
//! elementary symmetric polynomials \[DGHV10\] with 46 ANDs, where direct evaluation needs
//! hundreds. Their degree stays 15 because carries of different columns never meet before they are
//! counted. The order of the additions also affects the noise, so the least noisy bits go first.

use super::{BITS, SUBSET};
use crate::circuit::{Builder, Circuit, Noise, Wire};
use crate::noise;
use std::sync::LazyLock;

/// Maps [`SUBSET`] numbers of [`BITS`] bits, four of them after the point, to the parity of the
/// integer nearest to their sum.
pub(super) static CIRCUIT: LazyLock<Circuit> = LazyLock::new(circuit);

/// Noise in bits assumed to order the additions. Any realistic noise gives the same order.
const ASSUMED: f64 = 40.0;

/// A wire and its expected noise.
#[derive(Clone, Copy)]
struct Noisy {
    wire: Wire,
    noise: f64,
}

fn circuit() -> Circuit {
    let mut builder = Builder::new(&[BITS; SUBSET]);
    let inputs = builder.inputs();
    let column =
        |position| inputs.iter().skip(position).step_by(BITS).map(|&wire| Noisy { wire, noise: ASSUMED }).collect();
    let mut columns: Vec<Vec<Noisy>> = (0..BITS).map(column).collect();
    let mut half = None;
    for position in 0..BITS {
        let count = count(&mut builder, std::mem::take(&mut columns[position]), BITS - position);
        half = std::mem::replace(&mut columns[position], count[..1].to_vec()).pop().or(half);
        for (bit, &wire) in count.iter().enumerate().skip(1) {
            columns[position + bit].push(wire);
        }
    }
    let [.., ref half, ref ones] = columns[..] else { unreachable!("five columns") };
    let rounded = builder.xor(ones[0].wire, half[0].wire);
    builder.finish(&[&[rounded]])
}

/// The lowest `digits` bits of the number of set bits.
fn count(builder: &mut Builder, mut bits: Vec<Noisy>, digits: usize) -> Vec<Noisy> {
    let mut count = Vec::new();
    while !bits.is_empty() && count.len() < digits {
        // Carries out of the last digit are dropped.
        let (sum, carries) =
            if count.len() + 1 < digits { sum(builder, bits) } else { (parity(builder, &bits), Vec::new()) };
        count.push(sum);
        bits = carries;
    }
    count
}

/// The sum of the bits modulo 2, and the carries of the additions.
fn sum(builder: &mut Builder, mut bits: Vec<Noisy>) -> (Noisy, Vec<Noisy>) {
    let mut carries = Vec::new();
    while bits.len() > 1 {
        bits.sort_by(|a, b| a.noise.total_cmp(&b.noise));
        let three = bits.len() > 2;
        let taken: Vec<Noisy> = bits.drain(..2 + usize::from(three)).collect();
        carries.push(carry(builder, &taken));
        bits.push(parity(builder, &taken));
    }
    (bits[0], carries)
}

/// The carry of two or three bits. The least noisy of three bits enters both factors.
fn carry(builder: &mut Builder, bits: &[Noisy]) -> Noisy {
    match *bits {
        [a, b] => Noisy { wire: builder.and(a.wire, b.wire), noise: a.noise + b.noise },
        [c, a, b] => {
            let product = noise::sum(a.noise, c.noise) + noise::sum(b.noise, c.noise);
            Noisy { wire: builder.majority(a.wire, b.wire, c.wire), noise: noise::sum(product, c.noise) }
        }
        _ => unreachable!("two or three bits are added"),
    }
}

fn parity(builder: &mut Builder, bits: &[Noisy]) -> Noisy {
    let xor = |a: Noisy, b: &Noisy| Noisy { wire: builder.xor(a.wire, b.wire), noise: noise::sum(a.noise, b.noise) };
    bits[1..].iter().fold(bits[0], xor)
}

/// Noise in bits of the result after one more addition, given the noise of the input bits.
pub(super) fn noise(inputs: f64) -> f64 {
    noise::sum(Noise::of_output(&CIRCUIT, inputs), 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parity_next_to_sum(numbers: &[usize]) -> bool {
        let sixteenths: usize = numbers.iter().sum();
        (sixteenths + 8) / 16 % 2 == 1
    }

    #[test]
    fn rounds_to_the_nearest() {
        let mut state = 1_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % below) as usize
        };
        let mut cases: Vec<Vec<usize>> = (0..4000).map(|_| (0..SUBSET).map(|_| random(32)).collect()).collect();
        // Equal numbers, and every sum modulo 32 with and without carries.
        cases.extend((0..32).map(|number| vec![number; SUBSET]));
        cases.extend((0..32).map(|number| [vec![number], vec![0; SUBSET - 1]].concat()));
        cases.extend((0..32).map(|number| [vec![number], vec![31; SUBSET - 1]].concat()));
        for numbers in cases {
            let bits: Vec<bool> = numbers.iter().flat_map(|n| (0..BITS).map(move |bit| n >> bit & 1 == 1)).collect();
            assert_eq!(CIRCUIT.evaluate_plain(&bits), [parity_next_to_sum(&numbers)], "{numbers:?}");
        }
    }

    #[test]
    fn it_is_as_small_as_the_page_says() {
        assert_eq!(CIRCUIT.ands(), 46);
        // The noise grows by 15 bits per bit of input noise, the circuit's degree.
        assert!((noise(1001.0) - noise(1000.0) - 15.0).abs() < 1e-3);
    }
}
