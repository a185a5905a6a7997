//! Reasons why a working key is insecure.

use super::generate::are_far_apart;
use crate::boxed::to_boxed_uint;
use crate::{Error, ErrorKind, MIN_SECURE_BITS};
use crypto_bigint::{BoxedUint, Resize};
use crypto_primes::{Flavor, is_prime};
use hearith_arith::{Batch, Exponents, Modulus, natural};
use std::{fmt, iter};

/// Number of steps of Fermat's method that a modulus must withstand.
const FERMAT_STEPS: usize = 100;

/// Why a key offers no security although it encrypts and decrypts.
/// [`KeyPolicy::Secure`](crate::KeyPolicy::Secure) rejects such keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Weakness {
    /// The modulus has fewer than [`MIN_SECURE_BITS`] bits.
    Short {
        /// The size of the key in bits.
        bits: u32,
    },
    /// The modulus is prime, so its factors are public.
    PrimeModulus,
    /// The primes are so close to each other that Fermat's method may find them: FIPS 186-5, A.1.3,
    /// requires a distance of more than `2^(bits/2 - 100)`. The modulus alone reveals only very
    /// close primes.
    ClosePrimes,
}

impl Weakness {
    /// The requirement that a key with this weakness fails.
    pub(crate) fn requirement(self) -> String {
        match self {
            Weakness::Short { .. } => format!("at least {MIN_SECURE_BITS} are needed"),
            Weakness::PrimeModulus => "n must be a product of two primes".to_owned(),
            Weakness::ClosePrimes => "the primes must differ in their leading 100 bits".to_owned(),
        }
    }

    /// The weakness that anyone can detect in a modulus without small factors. The running time
    /// depends on the modulus.
    ///
    /// # Errors
    /// If the modulus is a square, which makes decryption ambiguous.
    pub(crate) fn of_modulus(modulus: &Modulus) -> Result<Option<Self>, Error> {
        let n = to_boxed_uint(modulus.as_limbs());
        if n.checked_sqrt_vartime().is_some() {
            return Err(ErrorKind::SquareModulus.into());
        }
        let bits = natural::bit_length(modulus.as_limbs());
        Ok(match bits {
            ..MIN_SECURE_BITS => Some(Weakness::Short { bits }),
            _ if is_prime_modulus(modulus, &n) => Some(Weakness::PrimeModulus),
            _ if fermat_finds_factors(&n) => Some(Weakness::ClosePrimes),
            _ => None,
        })
    }

    /// The weakness that only the primes of a key of `bits` bits reveal.
    pub(crate) fn of_primes(p: &[u64], q: &[u64], bits: u32) -> Option<Self> {
        (!are_far_apart(p, q, bits)).then_some(Weakness::ClosePrimes)
    }
}

impl fmt::Display for Weakness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Weakness::Short { bits } => write!(f, "a key of {bits} bits"),
            Weakness::PrimeModulus => f.write_str("a key whose modulus n is prime"),
            Weakness::ClosePrimes => f.write_str("a key whose primes are close together"),
        }
    }
}

/// Whether the modulus is prime. Fermat's test, which almost no composite number passes, runs
/// before the test that no known composite number passes.
fn is_prime_modulus(modulus: &Modulus, n: &BoxedUint) -> bool {
    let mut less_one = modulus.as_limbs().to_vec();
    less_one[0] &= !1;
    let mut two = vec![0; less_one.len()];
    two[0] = 2;
    let power = modulus.pow(&Batch::repeat(&two, 1), Exponents::Public(&less_one));
    natural::is_one(power.row(0)) == 1 && is_prime(Flavor::Any, n)
}

/// Whether `n = a^2 - b^2 = (a - b)(a + b)` for one of the first [`FERMAT_STEPS`] values `a` above
/// its square root.
pub(super) fn fermat_finds_factors(n: &BoxedUint) -> bool {
    let width = n.bits_precision() + 64;
    let n = n.resize(width);
    let one = BoxedUint::one_with_precision(width);
    let mut a = n.floor_sqrt_vartime().wrapping_add(&one);
    let mut rest = a.wrapping_mul(&a).wrapping_sub(&n);
    for _ in 0..FERMAT_STEPS {
        if may_be_square(&rest) && rest.checked_sqrt_vartime().is_some() {
            return true;
        }
        // (a + 1)^2 - n = (a^2 - n) + 2 a + 1
        rest = rest.wrapping_add(&a).wrapping_add(&a).wrapping_add(&one);
        a = a.wrapping_add(&one);
    }
    false
}

/// Whether the last six bits are those of a square: true for 12 of 64 values.
fn may_be_square(number: &BoxedUint) -> bool {
    let low = number.as_words()[0] & 63;
    (0..64).any(|root: u64| (root * root) & 63 == low)
}

/// The smallest prime factor of a number, if it is below `bound`.
pub(crate) fn small_factor(n: &[u64], bound: u32) -> Option<u64> {
    iter::once(2).chain(odd_primes(bound)).find(|&prime| remainder(n, prime) == 0).map(u64::from)
}

/// The odd primes below `bound`.
pub(super) fn odd_primes(bound: u32) -> impl Iterator<Item = u32> {
    let mut composite = vec![false; bound as usize];
    let mut candidate = 3;
    while candidate * candidate < bound {
        if !composite[candidate as usize] {
            let multiples = (candidate * candidate..bound).step_by(2 * candidate as usize);
            multiples.for_each(|multiple| composite[multiple as usize] = true);
        }
        candidate += 2;
    }
    (3..bound).step_by(2).filter(move |number| !composite[*number as usize])
}

/// `n mod d`, in divisions of 64 bits by 32 bits.
pub(super) fn remainder(n: &[u64], d: u32) -> u64 {
    let d = u64::from(d);
    n.iter().rev().fold(0, |rest, limb| {
        let high = (rest << 32 | limb >> 32) % d;
        (high << 32 | (limb & 0xffff_ffff)) % d
    })
}

// GMP is a C library, which Miri cannot run.
#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use hearith_arith::Engine;
    use rug::{Integer, integer::Order};

    fn weakness(n: &Integer) -> Result<Option<Weakness>, Error> {
        Weakness::of_modulus(&Modulus::new(Engine::best(), &n.to_digits(Order::Lsf)).unwrap())
    }

    fn prime_from(start: Integer) -> Integer {
        start.next_prime()
    }

    /// A number of `bits` bits whose two highest bits are set.
    fn start(bits: u32, seed: u32) -> Integer {
        let mut random = rug::rand::RandState::new();
        random.seed(&seed.into());
        let low = Integer::from(Integer::random_bits(bits - 2, &mut random));
        (Integer::from(3) << (bits - 2)) + low
    }

    #[test]
    fn moduli_are_judged() {
        let p = prime_from(start(1024, 1));
        let q = prime_from(start(1024, 2));
        assert_eq!(weakness(&Integer::from(&p * &q)), Ok(None));
        assert_eq!(weakness(&Integer::from(p.square_ref())), Err(ErrorKind::SquareModulus.into()));
        assert_eq!(weakness(&Integer::from(&p * &q).square()), Err(ErrorKind::SquareModulus.into()));
        assert_eq!(weakness(&prime_from(start(2048, 3))), Ok(Some(Weakness::PrimeModulus)));
        let neighbour = prime_from(Integer::from(&p + 1));
        assert_eq!(weakness(&(p.clone() * neighbour)), Ok(Some(Weakness::ClosePrimes)));
        let short = start(512, 4).next_prime() * start(512, 5).next_prime();
        assert_eq!(weakness(&short), Ok(Some(Weakness::Short { bits: 1024 })));
    }

    #[test]
    fn fermat_goes_a_hundred_steps() {
        let p = prime_from(start(1024, 1));
        // Primes that are k fourth roots of n apart take about k^2 / 8 steps.
        let root = Integer::from(p.sqrt_ref());
        let (near, far) = (prime_from(p.clone() + Integer::from(&root * 20)), prime_from(p.clone() + root * 40));
        assert_eq!(weakness(&(p.clone() * near)), Ok(Some(Weakness::ClosePrimes)));
        assert_eq!(weakness(&(p * far)), Ok(None));
    }

    #[test]
    fn small_factors_are_found() {
        let limbs = |n: &Integer| n.to_digits::<u64>(Order::Lsf);
        let large = start(1024, 1).next_prime();
        assert_eq!(small_factor(&limbs(&large), 1 << 16), None);
        for factor in [2, 3, 997, 65521] {
            assert_eq!(small_factor(&limbs(&Integer::from(&large * factor)), 1 << 16), Some(factor));
        }
        assert_eq!(small_factor(&limbs(&(large * 65537)), 1 << 16), None);
    }
}
