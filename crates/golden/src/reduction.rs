//! The residue of one long integer modulo one special prime, as hardware computes it: reference
//! functions that assert a bound on every intermediate value.
//!
//! An integer is divided into `t` words `A[0..t]` of `v` bits. With `q = 2^v - beta`, `L` the bits
//! of beta and `d = ceil(t / 2)`:
//!
//! - [`Proposed`]: combines pairs of words by shifts and additions, then `d - 1` multiplications, a
//!   fold, and one Barrett reduction (full or truncated);
//! - [`RoyParallel`]: `t - 1` multiplications, a fold, and one Barrett reduction;
//! - [`Tan`]: combines pairs of words by shifts and additions, with a Barrett reduction each, then
//!   `d - 1` multiplications and one more Barrett reduction.
//!
//! Their constants are public fields. Words have at most 32 bits, so every value fits into 128
//! bits.

mod barrett;
mod fold;
mod proposed;
mod roy;
mod tan;

pub use barrett::{Barrett, FlexibleBarrett, TruncatedBarrett};
pub use fold::Fold;
pub use proposed::Proposed;
pub use roy::RoyParallel;
pub use tan::Tan;

use hearith_arith::natural::word::mul_mod;
use hearith_arith::natural::{bit_length, bits_at};
use hearith_rns::SpecialPrime;

/// The words of an integer below `2^(t v)`.
///
/// # Panics
/// If the integer is longer.
fn cut(number: &[u64], word_bits: u32, words: u32) -> Vec<u64> {
    let length = bit_length(number);
    assert!(length <= words * word_bits, "an integer of {length} bits in {words} words of {word_bits}");
    (0..words).map(|word| bits_at(number, (word * word_bits) as usize, word_bits)).collect()
}

/// `beta^(j step) mod q` for `j` from 0 to `count - 1`.
fn powers(prime: SpecialPrime, step: u32, count: u32) -> Vec<u64> {
    let q = prime.modulus();
    let factor = (0..step).fold(1, |power, _| mul_mod(power, prime.beta(), q));
    std::iter::successors(Some(1), |&power| Some(mul_mod(power, factor, q))).take(count as usize).collect()
}

/// Pairs of neighbouring words combined as `A[2j] + beta A[2j+1] < 2^(v + L)`. An odd number of
/// words is padded with a zero.
fn pairs(prime: SpecialPrime, words: &[u64]) -> Vec<u128> {
    let bits = prime.word_bits() + prime.beta_bits();
    let pair = |pair: &[u64]| {
        let high = pair.get(1).copied().unwrap_or(0);
        let sum = u128::from(pair[0]) + u128::from(prime.beta()) * u128::from(high);
        below(sum, bits)
    };
    words.chunks(2).map(pair).collect()
}

/// `ceil(log2 x)` for `x > 0`.
fn ceil_log2(x: u32) -> u32 {
    u32::BITS - (x - 1).leading_zeros()
}

/// Returns `x` after asserting that it is below `2^bits`.
fn below(x: u128, bits: u32) -> u128 {
    assert!(x >> bits == 0, "{x} has more than {bits} bits");
    x
}

// GMP is a C library and does not run in Miri.
#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use hearith_rns::{Bounds, PrimeSearch};
    use proptest::prelude::*;
    use rug::{Integer, integer::Order};
    use std::sync::LazyLock;

    /// All four units for one prime.
    struct Units {
        proposed: [Proposed; 4],
        roy: RoyParallel,
        tan: Tan,
    }

    impl Units {
        fn new(prime: SpecialPrime, bits: u32) -> Self {
            let proposed = [Bounds::Paper, Bounds::Tight].into_iter().flat_map(|bounds| {
                [Proposed::new(prime, bits, bounds).unwrap(), Proposed::truncated(prime, bits, bounds).unwrap()]
            });
            Units {
                proposed: proposed.collect::<Vec<_>>().try_into().ok().unwrap(),
                roy: RoyParallel::new(prime, bits).unwrap(),
                tan: Tan::new(prime, bits).unwrap(),
            }
        }

        fn check(&self, number: &Integer) {
            let limbs = number.to_digits::<u64>(Order::Lsf);
            let expected = Integer::from(number % self.tan.prime.modulus());
            for unit in &self.proposed {
                assert_eq!(unit.reduce(&limbs), expected, "{unit:?}");
            }
            assert_eq!(self.roy.reduce(&limbs), expected);
            assert_eq!(self.tan.reduce(&limbs), expected);
        }
    }

    /// Integers of this length at bounds: zero, all ones, alternating words, multiples of q and
    /// their neighbours.
    fn corners(prime: SpecialPrime, bits: u32) -> Vec<Integer> {
        let (v, q) = (prime.word_bits(), prime.modulus());
        let top = Integer::from(1) << bits;
        let all = Integer::from(&top - 1);
        let alternating = |first: u32| {
            (first..bits.div_ceil(v))
                .step_by(2)
                .fold(Integer::new(), |sum, word| sum + (Integer::from((1_u64 << v) - 1) << (word * v)))
                & &all
        };
        let multiple = Integer::from(&all / q) * q;
        let mut numbers = vec![Integer::from(0), Integer::from(1), Integer::from(q), Integer::from(q - 1)];
        numbers.extend([
            Integer::from(&multiple - 1),
            multiple,
            Integer::from(&top >> 1),
            alternating(0),
            alternating(1),
        ]);
        numbers.push(all);
        numbers
    }

    /// The pools for five terms: each prime with the length of its integers.
    static POOLS: LazyLock<Vec<(SpecialPrime, u32)>> = LazyLock::new(|| {
        let pools = [(13, 360, 62), (14, 720, 63), (15, 1440, 63)];
        let pool = |(log_degree, modulus_bits, max_word): (u32, u32, u32)| {
            let bounds = Bounds::Tight;
            let search =
                PrimeSearch { degree: 1 << log_degree, modulus_bits, word_bits: 30, max_word, terms: 5, bounds };
            search.primes().unwrap().map(move |prime| (prime, modulus_bits))
        };
        pools.into_iter().flat_map(pool).collect()
    });

    #[test]
    fn every_prime_of_the_pools_at_the_corners() {
        assert_eq!(POOLS.len(), 154 + 133 + 92);
        for &(prime, bits) in POOLS.iter() {
            let units = Units::new(prime, bits);
            corners(prime, bits).iter().for_each(|number| units.check(number));
        }
    }

    /// All primes of a small word length, with integers of even and odd lengths, over many numbers.
    #[test]
    fn every_small_prime() {
        for modulus in (17..256).filter(|&n| hearith_rns::is_prime(n)) {
            for bits in [17, 20, 24, 29, 37] {
                let prime = SpecialPrime::new(8, modulus).unwrap();
                let units = Units::new(prime, bits);
                corners(prime, bits).iter().for_each(|number| units.check(number));
                (0..1_u64 << bits).step_by((1 << bits) / 300 - 1).for_each(|number| units.check(&number.into()));
            }
        }
    }

    /// All numbers of two words.
    #[test]
    fn every_number_of_two_words() {
        for modulus in [5, 11, 17, 23, 29, 31] {
            let units = Units::new(SpecialPrime::new(5, modulus).unwrap(), 10);
            (0..1024).for_each(|number| units.check(&Integer::from(number)));
        }
    }

    proptest! {
        #[test]
        fn random_numbers(seed in proptest::collection::vec(any::<u64>(), 23), at: proptest::sample::Index) {
            let (prime, bits) = POOLS[at.index(POOLS.len())];
            let number = Integer::from_digits(&seed, Order::Lsf) >> (64 * 23 - bits);
            Units::new(prime, bits).check(&number);
        }
    }

    /// The word lengths of the units evaluated in the paper.
    #[test]
    fn the_evaluated_units() {
        let lengths = |modulus, bits| {
            let prime = SpecialPrime::new(30, modulus).unwrap();
            let proposed = Proposed::new(prime, bits, Bounds::Paper).unwrap();
            let roy = RoyParallel::new(prime, bits).unwrap();
            (proposed.lengths.sum, proposed.barrett.k(), roy.barrett.k, proposed.multipliers(), roy.multipliers())
        };
        assert_eq!(lengths(1_073_692_673, 360), (80, 56, 48, 5, 11));
        assert_eq!(lengths(1_073_479_681, 1440), (84, 58, 49, 23, 47));
    }

    /// The multipliers have the lengths that the product lists with the primes.
    #[test]
    fn multipliers_have_the_lengths_that_are_told() {
        for &(prime, bits) in POOLS.iter() {
            let full = Proposed::new(prime, bits, Bounds::Paper).unwrap();
            let truncated = Proposed::truncated(prime, bits, Bounds::Paper).unwrap();
            assert_eq!(full.lengths.constant(), full.barrett.m());
            assert_eq!(full.lengths.multiplier(), full.barrett.multiplier_bits());
            assert_eq!(full.lengths.truncated_multiplier(), truncated.barrett.multiplier_bits());
        }
    }

    #[test]
    fn shapes_out_of_range_are_refused() {
        let long = SpecialPrime::new(40, 1_099_511_627_689).unwrap();
        assert!(Tan::new(long, 400).unwrap_err().to_string().starts_with("the word length is 40;"));
        let prime = SpecialPrime::new(30, 1_073_692_673).unwrap();
        assert!(RoyParallel::new(prime, 30).unwrap_err().to_string().starts_with("the modulus length is 30;"));
    }
}
