//! Public numbers: small factors, and the Jacobi symbol.

use hearith_arith::natural::word::{gcd, is_prime};
use hearith_arith::natural::{bits_at, is_one, is_zero, less, limbs_of, sub_assign};
use std::sync::OnceLock;

/// Bound of the primes that are tried as factors of `N`: the same as for every public key.
const TRIAL_BOUND: u64 = 1 << 16;

/// Products of two primes each, with the remainders of the powers of `2^32` modulo each product.
pub(crate) struct Trial {
    digits: usize,
    moduli: &'static [u64],
    remainders: Vec<u32>,
}

impl Trial {
    /// Prepares trial division of numbers of `bits` bits.
    pub(crate) fn new(bits: u32) -> Self {
        let (moduli, digits) = (products_of_primes(), 2 * limbs_of(bits));
        let mut remainders = Vec::with_capacity(digits * moduli.len());
        for &modulus in moduli {
            let powers = std::iter::successors(Some(1 % modulus), |power| Some((power << 32) % modulus));
            // Below 2^32, as the moduli are.
            remainders.extend(powers.take(digits).map(|power| power as u32));
        }
        Trial { digits, moduli, remainders }
    }

    /// Whether an odd prime below 2^16 divides a number.
    pub(crate) fn finds_factor(&self, number: &[u64]) -> bool {
        let digits: Vec<u32> = number.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]).collect();
        self.remainders.chunks_exact(self.digits).zip(self.moduli).any(|(remainders, &modulus)| {
            let (mut low, mut high) = (0_u64, 0_u64);
            for (&digit, &remainder) in digits.iter().zip(remainders) {
                let product = u64::from(digit) * u64::from(remainder);
                low += product & 0xffff_ffff;
                high += product >> 32;
            }
            let rest = ((u128::from(high) << 32) + u128::from(low)) % u128::from(modulus);
            // Both are below 2^32.
            gcd(rest as u64, modulus) > 1
        })
    }
}

/// The products of pairs of neighbouring odd primes below the bound.
fn products_of_primes() -> &'static [u64] {
    static PRODUCTS: OnceLock<Vec<u64>> = OnceLock::new();
    PRODUCTS.get_or_init(|| {
        let primes: Vec<u64> = (3..TRIAL_BOUND).step_by(2).filter(|&number| is_prime(number)).collect();
        primes.chunks(2).map(|two| two.iter().product()).collect()
    })
}

/// The Jacobi symbol `(a / n)` of a public `a` below an odd public `n` with the same number of
/// limbs, by the binary algorithm. It is 0 if they have a common factor.
pub(crate) fn jacobi(a: &[u64], n: &[u64]) -> i32 {
    let (mut a, mut n) = (a.to_vec(), n.to_vec());
    let mut symbol = 1;
    while is_zero(&a) == 0 {
        let twos = a.iter().position(|&limb| limb != 0).map_or(0, |limb| 64 * limb + a[limb].trailing_zeros() as usize);
        shift_down(&mut a, twos);
        // (2 / n) is -1 where n is 3 or 5 modulo 8.
        if twos % 2 == 1 && matches!(n[0] & 7, 3 | 5) {
            symbol = -symbol;
        }
        if less(&a, &n) == 1 {
            // Both are odd: reciprocity.
            if a[0] & 3 == 3 && n[0] & 3 == 3 {
                symbol = -symbol;
            }
            std::mem::swap(&mut a, &mut n);
        }
        sub_assign(&mut a, &n);
    }
    if is_one(&n) == 1 { symbol } else { 0 }
}

fn shift_down(number: &mut [u64], bits: usize) {
    for index in 0..number.len() {
        number[index] = bits_at(number, 64 * index + bits, 64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rug::{Integer, integer::Order};

    #[test]
    fn small_factors_are_found() {
        let trial = Trial::new(256);
        let prime = (Integer::from(1) << 200u32).next_prime();
        let found = |number: Integer| {
            let mut limbs = number.to_digits::<u64>(Order::Lsf);
            limbs.resize(4, 0);
            trial.finds_factor(&limbs)
        };
        assert!(!found(prime.clone()) && !found(prime.clone() * 65537u32));
        for factor in [3u32, 5, 7, 251, 257, 65519, 65521] {
            assert!(found(prime.clone() * factor), "{factor}");
        }
    }

    proptest! {
        #[test]
        fn symbols_are_those_of_gmp(a in proptest::collection::vec(any::<u64>(), 3), n in proptest::collection::vec(any::<u64>(), 3)) {
            let mut n = n;
            n[0] |= 1;
            let modulus = Integer::from_digits(&n, Order::Lsf);
            let number = Integer::from_digits(&a, Order::Lsf) % &modulus;
            let mut limbs = number.to_digits::<u64>(Order::Lsf);
            limbs.resize(3, 0);
            prop_assert_eq!(jacobi(&limbs, &n), number.jacobi(&modulus));
        }
    }

    #[test]
    fn symbols_of_small_numbers() {
        for n in (1..60_u64).step_by(2) {
            for a in 0..n {
                assert_eq!(jacobi(&[a], &[n]), Integer::from(a).jacobi(&Integer::from(n)), "{a} / {n}");
            }
        }
    }
}
