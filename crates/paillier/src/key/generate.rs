//! The random parts of a key: primes, and the generator of a DJN key.

use super::factors::Factors;
use super::prime::{ROUNDS, is_probably_prime, may_be_prime, rounds_for_random};
use crate::boxed::to_boxed_uint;
use crate::random::{SystemRandom, unit};
use crate::{Error, ErrorKind};
use crypto_bigint::{BoxedUint, Gcd};
use crypto_primes::hazmat::{SetBits, SieveFactory, SmallFactorsSieveFactory};
use crypto_primes::{Flavor, is_prime};
use hearith_arith::natural::{self, Secret, from_be, is_one, limbs_of, shifted_down};
use hearith_arith::{Batch, Engine, Exponents, Modulus};
use zeroize::Zeroizing;

/// Requirements on the primes of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Primes {
    /// No further requirement.
    Any,
    /// `p = q = 3 mod 4` and `gcd(p - 1, q - 1) = 2`, which the DJN variant needs.
    Blum,
    /// `(p - 1) / 2` and `(q - 1) / 2` are also prime, which a shared key needs. Safe primes are
    /// also `Blum` primes.
    Safe,
}

/// Two different primes of `bits / 2` bits, the smaller first, whose product has exactly `bits`
/// bits.
pub(crate) fn primes(bits: u32, kind: Primes, engine: Engine) -> Result<(Secret, Secret), Error> {
    loop {
        let (p, q) = rayon::join(|| prime_of(bits / 2, kind, engine), || prime_of(bits / 2, kind, engine));
        let (p, q) = (p?, q?);
        if are_far_apart(&p, &q, bits) && (kind == Primes::Any || halves_coprime(&p, &q)) {
            return Ok(if natural::less(&p, &q) == 1 { (p, q) } else { (q, p) });
        }
    }
}

/// A random prime of exactly `bits` bits: the first from a random start. The two highest bits are
/// set, which gives the product of two such primes exactly `2 bits` bits. The prime has passed the
/// strengthened Baillie-PSW test, for which no counterexample is known, and the number of
/// Miller-Rabin rounds that FIPS 186-5, appendix C.1, requires for random numbers.
fn prime_of(bits: u32, kind: Primes, engine: Engine) -> Result<Secret, Error> {
    let rounds = rounds_for_random(bits);
    loop {
        let found = candidate(bits, kind, engine)?;
        let is_prime = |number: &[u64]| is_probably_prime(number, rounds, engine);
        if is_prime(&found)? && (kind != Primes::Safe || is_prime(&half(&found))?) {
            return Ok(found);
        }
    }
}

/// A random prime of exactly `bits` bits, found like the primes of a key.
pub(crate) fn prime(bits: u32, engine: Engine) -> Result<Secret, Error> {
    prime_of(bits, Primes::Any, engine)
}

/// `(p - 1) / 2`, without a limb that halving empties.
fn half(prime: &[u64]) -> Secret {
    let half = shifted_down(prime, 1);
    Zeroizing::new(half[..limbs_of(natural::bit_length(&half))].to_vec())
}

/// Whether both primes are safe: `(p - 1) / 2` and `(q - 1) / 2` are prime. Sound for primes of any
/// origin.
pub(crate) fn are_safe(factors: &Factors, engine: Engine) -> Result<bool, Error> {
    Ok(is_probably_prime(&half(&factors.p), ROUNDS, engine)? && is_probably_prime(&half(&factors.q), ROUNDS, engine)?)
}

/// A number that has passed the strengthened Baillie-PSW test; for safe primes, its half has passed
/// too. A Fermat test on the engine, with one candidate per lane, first discards almost all
/// composite numbers.
fn candidate(bits: u32, kind: Primes, engine: Engine) -> Result<Secret, Error> {
    let mut random = SystemRandom::default();
    // Neither error can occur: the builder fails for lengths below 2, and making a sieve fails for
    // lengths beyond the integer type, which is unbounded.
    let out_of_range = || ErrorKind::KeySizeOutOfRange { bits };
    let flavor = if kind == Primes::Safe { Flavor::Safe } else { Flavor::Any };
    let mut sieves =
        SmallFactorsSieveFactory::<BoxedUint>::new(flavor, bits, SetBits::TwoMsb).map_err(|_| out_of_range())?;
    let of_kind = |number: &Zeroizing<BoxedUint>| kind == Primes::Any || number.as_words()[0] & 3 == 3;
    loop {
        let sieve = sieves.make_sieve(&mut random, None).ok().flatten().ok_or_else(out_of_range)?;
        let mut numbers = sieve.map(Zeroizing::new).filter(of_kind);
        loop {
            let some: Vec<_> = numbers.by_ref().take(engine.lanes()).collect();
            if some.is_empty() {
                break;
            }
            if let Some(found) = first_prime(&some, kind, engine)? {
                return Ok(random.checked(found)?);
            }
        }
    }
}

/// The first number that passes both tests; for safe primes, its half must pass too. All numbers
/// have the same length.
fn first_prime(numbers: &[Zeroizing<BoxedUint>], kind: Primes, engine: Engine) -> Result<Option<Secret>, Error> {
    let (flavor, safe) = if kind == Primes::Safe { (Flavor::Safe, true) } else { (Flavor::Any, false) };
    let may_be_prime = may_be_prime(&numbers.iter().map(|number| number.as_words()).collect::<Vec<_>>(), engine)?;
    for number in numbers.iter().zip(may_be_prime).filter_map(|(number, may_be)| may_be.then_some(number)) {
        let words = number.as_words();
        if (!safe || is_probably_prime(&half(words), 1, engine)?) && is_prime(flavor, &**number) {
            return Ok(Some(Zeroizing::new(words.to_vec())));
        }
    }
    Ok(None)
}

/// Whether the primes are far enough apart that Fermat's method cannot find them: \[FIPS186\],
/// A.1.3, requires a distance of more than `2^(bits/2 - 100)`. Keys below 256 bits are too short
/// for this, and their primes only have to differ.
pub(crate) fn are_far_apart(p: &[u64], q: &[u64], bits: u32) -> bool {
    let (mut over, mut under) = (Zeroizing::new(p.to_vec()), Zeroizing::new(q.to_vec()));
    natural::sub_assign(&mut over, q);
    natural::sub_assign(&mut under, p);
    natural::assign_if(&mut over, &under, natural::less(p, q));
    natural::bit_length(&over) > if bits < 256 { 0 } else { bits / 2 - 100 }
}

/// Whether `gcd(p - 1, q - 1) = 2`, for `p = q = 3 mod 4`.
fn halves_coprime(p: &[u64], q: &[u64]) -> bool {
    let half = |prime| Zeroizing::new(to_boxed_uint(&shifted_down(prime, 1)));
    Zeroizing::new(half(p).gcd(&half(q))).is_one().into()
}

/// The generator of a DJN key: `h = -x^2 mod n` for a random unit `x`.
pub(crate) fn generator(n: &[u64], engine: Engine) -> Result<Secret, Error> {
    let modulus = Modulus::new(engine, n)?;
    let x = Batch::repeat(&unit(n)?, 1);
    let h = modulus.neg(&modulus.mul(&x, &x));
    Ok(Zeroizing::new(h.row(0).to_vec()))
}

/// Whether `h` is minus a square modulo both primes and both are 3 modulo 4, as the DJN variant
/// requires. Modulo such a prime -1 is not a square, and Euler's criterion `x^((p-1)/2) = 1`
/// identifies squares.
pub(crate) fn generates(h: &[u64], factors: &Factors) -> bool {
    [factors.square_p.root(), factors.square_q.root()].into_iter().all(|prime| {
        let minus = prime.neg(&prime.reduce(&Batch::repeat(h, 1)));
        let half = shifted_down(prime.as_limbs(), 1);
        let symbol = prime.pow(&minus, Exponents::Shared(&half, prime.bits()));
        prime.as_limbs()[0] & 3 == 3 && is_one(symbol.row(0)) == 1
    })
}

/// Checks the big-endian primes of an imported key and returns them, the smaller first.
///
/// The checks imply that `n` and `(p - 1)(q - 1)` are coprime, which decryption needs. Since
/// `p < q`, only `p` could divide `q - 1`. `q >= 2 p + 1` would be longer than `p`, and `q = p + 1`
/// is even.
pub(crate) fn check_primes(p_be: &[u8], q_be: &[u8], engine: Engine) -> Result<(Secret, Secret), Error> {
    let longest = limbs_of(crate::MAX_BITS / 2);
    let too_long = ErrorKind::KeySizeOutOfRange { bits: 16 * p_be.len().max(q_be.len()) as u32 };
    let (Some(p), Some(q)) = (from_be(p_be, longest), from_be(q_be, longest)) else {
        return Err(too_long.into());
    };
    let bits = natural::bit_length(&p);
    if bits != natural::bit_length(&q) || p == q {
        return Err(ErrorKind::UnequalPrimes.into());
    }
    let cut = |number: Secret| Zeroizing::new(number[..limbs_of(bits)].to_vec());
    let (p, q) = if natural::less(&p, &q) == 1 { (cut(p), cut(q)) } else { (cut(q), cut(p)) };
    if !is_probably_prime(&p, ROUNDS, engine)? {
        return Err(ErrorKind::NotPrime { factor: "p" }.into());
    }
    if !is_probably_prime(&q, ROUNDS, engine)? {
        return Err(ErrorKind::NotPrime { factor: "q" }.into());
    }
    Ok((p, q))
}

// GMP is a C library, which Miri cannot run.
#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use rug::{Integer, integer::IsPrime, integer::Order};

    fn integer(limbs: &[u64]) -> Integer {
        Integer::from_digits(limbs, Order::Lsf)
    }

    #[test]
    fn primes_are_prime_and_of_the_right_size() {
        for bits in [64, 66, 126, 128, 130, 192, 254, 256, 320, 512, 1024] {
            for kind in [Primes::Any, Primes::Blum, Primes::Safe] {
                let (p, q) = primes(bits, kind, Engine::best()).unwrap();
                let (p, q) = (integer(&p), integer(&q));
                assert!(p < q);
                assert_eq!((p.significant_bits(), q.significant_bits()), (bits / 2, bits / 2));
                assert_eq!((Integer::from(&p * &q)).significant_bits(), bits);
                assert!([&p, &q].iter().all(|prime| prime.is_probably_prime(30) != IsPrime::No));
                if kind != Primes::Any {
                    assert!(p.mod_u(4) == 3 && q.mod_u(4) == 3);
                    assert_eq!(Integer::from(&p - 1).gcd(&Integer::from(&q - 1)), 2);
                }
                if kind == Primes::Safe {
                    assert!([p, q].into_iter().all(|prime| (prime >> 1u32).is_probably_prime(30) != IsPrime::No));
                }
            }
        }
    }

    #[test]
    fn generators_are_negative_squares() {
        let (p, q) = primes(128, Primes::Blum, Engine::best()).unwrap();
        let n = integer(&p) * integer(&q);
        let h = integer(&generator(&n.to_digits(Order::Lsf), Engine::best()).unwrap());
        for prime in [integer(&p), integer(&q)] {
            assert_eq!((-h.clone()).jacobi(&prime), 1);
        }
    }

    #[test]
    fn bad_primes_are_refused() {
        let check = |p: u64, q: u64| {
            check_primes(&p.to_be_bytes(), &q.to_be_bytes(), Engine::best()).map(|(p, q)| (p[0], q[0]))
        };
        // The smallest and largest 32-bit primes of a pair whose product has 64 bits.
        let (least, greatest) = (3_037_000_507, 4_294_967_291);
        assert_eq!(check(greatest, least), Ok((least, greatest)));
        assert_eq!(check(least, least), Err(ErrorKind::UnequalPrimes.into()));
        assert_eq!(check(65537, greatest), Err(ErrorKind::UnequalPrimes.into()));
        assert_eq!(check(least + 2, greatest), Err(ErrorKind::NotPrime { factor: "p" }.into()));
        assert_eq!(check(least, greatest - 2), Err(ErrorKind::NotPrime { factor: "q" }.into()));
        let long = [1; 600];
        assert_eq!(check_primes(&long, &long, Engine::best()), Err(ErrorKind::KeySizeOutOfRange { bits: 9600 }.into()));
    }

    #[test]
    fn close_primes_are_refused() {
        let p = [1, 0, 0, 1 << 63];
        assert!(!are_far_apart(&p, &p, 512));
        assert!(!are_far_apart(&p, &[1, 0, 1 << 27, 1 << 63], 512));
        assert!(are_far_apart(&p, &[1, 0, 1 << 28, 1 << 63], 512));
        assert!(are_far_apart(&[5, 0, 1, 1 << 63], &[7, 0, 0, 0], 512));
        assert!(are_far_apart(&[5], &[7], 64) && !are_far_apart(&[7], &[7], 64));
    }
}
