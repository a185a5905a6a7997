//! The random parts of a key: primes, and the generator of a DJN key.

use super::factors::Factors;
use super::prime::{ROUNDS, is_probably_prime, may_be_prime, rounds_for_random};
use crate::boxed::boxed;
use crate::random::{SystemRandom, unit};
use crate::{Error, ErrorKind};
use crypto_bigint::{BoxedUint, Gcd};
use crypto_primes::hazmat::{SetBits, SieveFactory, SmallFactorsSieveFactory};
use crypto_primes::{Flavor, is_prime};
use hearith_arith::natural::{self, Secret, from_be, is_one, limbs_of, shifted_down};
use hearith_arith::{Batch, Engine, Exponents, Modulus};
use zeroize::Zeroizing;

/// What is asked of the primes of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Primes {
    /// Nothing more.
    Any,
    /// `p = q = 3 mod 4` and `gcd(p - 1, q - 1) = 2`, which the DJN variant needs.
    Blum,
    /// `(p - 1) / 2` and `(q - 1) / 2` are prime too, which a shared key needs. They are `Blum`
    /// primes.
    Safe,
}

/// Two different primes of `bits / 2` bits, the smaller first, whose product has exactly `bits`
/// bits.
pub(crate) fn primes(bits: u32, kind: Primes, engine: Engine) -> Result<(Secret, Secret), Error> {
    loop {
        let (p, q) = rayon::join(|| prime_of(bits / 2, kind, engine), || prime_of(bits / 2, kind, engine));
        let (p, q) = (p?, q?);
        if apart(&p, &q, bits) && (kind == Primes::Any || halves_coprime(&p, &q)) {
            return Ok(if natural::less(&p, &q) == 1 { (p, q) } else { (q, p) });
        }
    }
}

/// A random prime of exactly `bits` bits, the two highest set, so that the product of two has
/// exactly `2 bits` bits: the first prime from a random start on. It has passed the strengthened
/// Baillie-PSW test, against which no composite number is known, and as many rounds of Miller and
/// Rabin's as FIPS 186-5, appendix C.1, asks for random numbers.
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

/// A random prime of exactly `bits` bits, as those of a key are found.
pub(crate) fn prime(bits: u32, engine: Engine) -> Result<Secret, Error> {
    prime_of(bits, Primes::Any, engine)
}

/// `(p - 1) / 2`, without the limb that halving may leave empty.
fn half(prime: &[u64]) -> Secret {
    let half = shifted_down(prime, 1);
    Zeroizing::new(half[..limbs_of(natural::bit_length(&half))].to_vec())
}

/// Whether both primes are safe ones: `(p - 1) / 2` and `(q - 1) / 2` are prime, whoever made them.
pub(crate) fn are_safe(factors: &Factors, engine: Engine) -> Result<bool, Error> {
    Ok(is_probably_prime(&half(&factors.p), ROUNDS, engine)? && is_probably_prime(&half(&factors.q), ROUNDS, engine)?)
}

/// A number that has passed the strengthened Baillie-PSW test, and its half where safe primes are
/// asked for. Fermat's test on the engine, of as many candidates at once as it has lanes, spares
/// almost all composite numbers that test.
fn candidate(bits: u32, kind: Primes, engine: Engine) -> Result<Secret, Error> {
    let mut random = SystemRandom::default();
    // The builder fails for lengths below 2 and making a sieve for lengths beyond the type, which
    // has none: neither can be.
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
                return Ok(random.vouch(found)?);
            }
        }
    }
}

/// The first of some numbers of one length that passes both tests, and its half where safe primes
/// are asked for.
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

/// Whether the primes differ, and far enough that Fermat's method cannot find them: \[FIPS186\],
/// A.1.3, asks for more than `2^(bits/2 - 100)` between them. Below 256 bits that leaves no choice,
/// and there they only have to differ.
pub(crate) fn apart(p: &[u64], q: &[u64], bits: u32) -> bool {
    let (mut over, mut under) = (Zeroizing::new(p.to_vec()), Zeroizing::new(q.to_vec()));
    natural::sub_assign(&mut over, q);
    natural::sub_assign(&mut under, p);
    natural::assign_if(&mut over, &under, natural::less(p, q));
    natural::bit_length(&over) > if bits < 256 { 0 } else { bits / 2 - 100 }
}

/// Whether `gcd(p - 1, q - 1) = 2`, for `p = q = 3 mod 4`.
fn halves_coprime(p: &[u64], q: &[u64]) -> bool {
    let half = |prime| Zeroizing::new(boxed(&shifted_down(prime, 1)));
    Zeroizing::new(half(p).gcd(&half(q))).is_one().into()
}

/// The generator of a DJN key: `h = -x^2 mod n` for a random unit `x`.
pub(crate) fn generator(n: &[u64], engine: Engine) -> Result<Secret, Error> {
    let modulus = Modulus::new(engine, n)?;
    let x = Batch::repeat(&unit(n)?, 1);
    let h = modulus.neg(&modulus.mul(&x, &x));
    Ok(Zeroizing::new(h.row(0).to_vec()))
}

/// Whether `h` is minus a square modulo both primes and these are 3 modulo 4, as the DJN variant
/// has it. Modulo such a prime -1 is no square, and Euler's criterion tells squares:
/// `x^((p-1)/2) = 1`.
pub(crate) fn generates(h: &[u64], factors: &Factors) -> bool {
    [factors.square_p.root(), factors.square_q.root()].into_iter().all(|prime| {
        let minus = prime.neg(&prime.reduce(&Batch::repeat(h, 1)));
        let half = shifted_down(prime.as_limbs(), 1);
        let symbol = prime.pow(&minus, Exponents::Shared(&half, prime.bits()));
        prime.as_limbs()[0] & 3 == 3 && is_one(symbol.row(0)) == 1
    })
}

/// The primes of a key that comes from outside, the smaller first, with the bits of their product.
///
/// That `n` and `(p - 1)(q - 1)` have no factor in common, which decryption needs, follows from the
/// checks: `p < q` of one length, so `p` could divide `q - 1` only as `q = p + 1`, which is even,
/// since `q >= 2 p + 1` is longer.
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

// GMP, which is C, does not run in Miri.
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
        // of all pairs of 32 bits with a product of 64
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
        assert!(!apart(&p, &p, 512));
        assert!(!apart(&p, &[1, 0, 1 << 27, 1 << 63], 512));
        assert!(apart(&p, &[1, 0, 1 << 28, 1 << 63], 512));
        assert!(apart(&[5, 0, 1, 1 << 63], &[7, 0, 0, 0], 512));
        assert!(apart(&[5], &[7], 64) && !apart(&[7], &[7], 64));
    }
}
