//! Sums of multiples of a key's elements, which dominate the time of encryption.

#[cfg(target_arch = "x86_64")]
mod blocks;
#[cfg(target_arch = "x86_64")]
mod ifma;
#[cfg(target_arch = "x86_64")]
mod karatsuba;
mod serial;

use crate::Error;
use crate::elements::Elements;
use hearith_arith::natural::{Secret, clear_bits_from};
use hearith_arith::{Available, dispatch, random};
use zeroize::Zeroizing;

/// The random coefficients of one sum, all with the same number of limbs.
pub(crate) struct Coefficients {
    limbs: Secret,
    each: usize,
    bits: u32,
}

impl Coefficients {
    /// Draws `count` uniform numbers below `2^bits`.
    pub(crate) fn random(count: usize, bits: u32) -> Result<Self, Error> {
        let each = bits.div_ceil(64) as usize;
        let mut limbs = Zeroizing::new(vec![0; count * each]);
        random::fill(&mut limbs)?;
        limbs.chunks_mut(each).for_each(|coefficient| clear_bits_from(coefficient, bits));
        Ok(Coefficients { limbs, each, bits })
    }

    /// Coefficients of at most 64 bits, one word each.
    pub(crate) fn of_words(words: Vec<u64>, bits: u32) -> Self {
        Coefficients { limbs: Zeroizing::new(words), each: 1, bits }
    }

    /// The number of coefficients.
    pub(crate) fn len(&self) -> usize {
        self.limbs.len() / self.each
    }

    pub(crate) fn get(&self, index: usize) -> &[u64] {
        &self.limbs[index * self.each..][..self.each]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u64]> {
        self.limbs.chunks(self.each)
    }
}

/// The operations of an engine. Their time depends only on lengths.
trait SumKernel {
    /// See [`sums`].
    fn sums(elements: &Elements, first: usize, coefficients: &[Coefficients], limbs: usize) -> Vec<Secret>;
}

/// The sum of `b_i chi_(first + i)` over the coefficients `b` of each sum, in `limbs` limbs. All
/// sums have the same number of coefficients. `limbs` is at least one more than the limbs of an
/// element and a coefficient together.
pub(crate) fn sums(
    engine: Available,
    elements: &Elements,
    first: usize,
    coefficients: &[Coefficients],
    limbs: usize,
) -> Vec<Secret> {
    dispatch!(engine, K in { serial: serial::Serial, avx2: serial::Serial, ifma: ifma::Ifma } => K::sums(elements, first, coefficients, limbs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hearith_arith::Engine;
    use rug::{Integer, integer::Order};

    fn integer(limbs: &[u64]) -> Integer {
        Integer::from_digits(limbs, Order::Lsf)
    }

    fn all_ones(count: usize, bits: u32) -> Coefficients {
        let each = bits.div_ceil(64) as usize;
        let mut limbs = Zeroizing::new(vec![u64::MAX; count * each]);
        limbs.chunks_mut(each).for_each(|coefficient| clear_bits_from(coefficient, bits));
        Coefficients { limbs, each, bits }
    }

    /// The sums on every engine, and by every method that an engine chooses between.
    fn all_ways(
        elements: &Elements,
        first: usize,
        coefficients: &[Coefficients],
        limbs: usize,
    ) -> Vec<(String, Vec<Secret>)> {
        let engines = Engine::ALL.iter().filter_map(|engine| engine.available().ok());
        let mut found: Vec<_> = engines
            .map(|engine| (format!("{:?}", engine.engine()), sums(engine, elements, first, coefficients, limbs)))
            .collect();
        #[cfg(target_arch = "x86_64")]
        if Engine::Ifma.available().is_ok() {
            found.push(("digits".into(), ifma::sums(elements, first, coefficients, limbs)));
            if let Some(shape) = blocks::Shape::new(elements, &coefficients[0]) {
                found.push(("blocks".into(), blocks::sums(elements, first, coefficients, limbs, &shape)));
            }
        }
        found
    }

    #[test]
    fn sums_are_those_of_gmp_on_every_engine() {
        // Lengths just below and above segments, chunks, blocks and levels. Element counts up to
        // the limit of columns and transforms before carries, and beyond.
        let shapes = [
            (1, 1, 1),
            (700, 3, 40),
            (5_000, 9, 96),
            (20_011, 7, 72),
            (60_000, 40, 936),
            (110_000, 17, 2016),
            (450_001, 5, 2556),
            (3_000, 1400, 480),
            (900, 4500, 600),
            (30_000, 3, 8192),
        ];
        for (bits, count, width) in shapes {
            let elements = Elements::new(&[7; 16], bits);
            let coefficients: Vec<_> = (0..11)
                .map(|m| if m % 4 == 1 { all_ones(count, width) } else { Coefficients::random(count, width).unwrap() })
                .collect();
            let limbs = (bits.div_ceil(64) + width.div_ceil(64)) as usize + 1;
            let numbers: Vec<Integer> = (0..count).map(|index| integer(&elements.number(4 + index))).collect();
            let expected = |coefficients: &Coefficients| -> Integer {
                numbers.iter().zip(coefficients.iter()).map(|(number, b)| number * integer(b)).sum()
            };
            let expected: Vec<Integer> = coefficients.iter().map(expected).collect();
            for sums in [1, 2, 3, 5, 11] {
                for (way, found) in all_ways(&elements, 4, &coefficients[..sums], limbs) {
                    assert_eq!(found.len(), sums);
                    for (found, expected) in found.iter().zip(&expected) {
                        assert_eq!(integer(found), *expected, "{bits} bits, {count} by {width}, {sums} sums, {way}");
                    }
                }
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn transforms_are_refused_where_the_primes_are_too_few() {
        let elements = Elements::new(&[7; 16], 1000);
        assert!(blocks::Shape::new(&elements, &all_ones(8191, 4096)).is_some());
        assert!(blocks::Shape::new(&elements, &all_ones(8192, 4096)).is_none());
        assert!(blocks::Shape::new(&elements, &all_ones((1 << 15) + 1, 64)).is_none());
    }
}
