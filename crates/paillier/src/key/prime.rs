//! The Miller-Rabin test with random bases for batches of secret numbers. It leaves no copies
//! behind. Its running time depends only on the result and the power of 2 in `p - 1`.

use crate::Error;
use crate::random::residues;
use hearith_arith::natural::{self, Secret, difference, is_one, shifted_down};
use hearith_arith::{ArithError, Batch, Engine, Exponents, Modulus, powers_of_two};

/// The chance of accepting a composite number as prime is below `2^-SECURITY`.
pub(super) const SECURITY: u32 = 128;

/// Rounds for a number of any origin: a composite number passes one round with a probability of at
/// most 1/4 (Rabin, Probabilistic algorithm for testing primality, 1980).
pub(super) const ROUNDS: usize = (SECURITY / 2) as usize;

/// Rounds for a random number of this many bits. Most composite numbers fail with much higher
/// probability per round (Damgård, Landrock and Pomerance, Average case error estimates for the
/// strong probable prime test, 1993; FIPS 186-5, appendix C.1).
pub(super) fn rounds_for_random(bits: u32) -> usize {
    match bits {
        1024.. => 8,
        512..1024 => 24,
        _ => ROUNDS,
    }
}

/// Whether a number passes this many rounds. Each uses a random base that the number's creator
/// cannot predict.
///
/// # Errors
/// If the random generator fails, or the number is longer than the arithmetic supports.
pub(super) fn is_probably_prime(number: &[u64], rounds: usize, engine: Engine) -> Result<bool, Error> {
    let m = match Modulus::new(engine, number) {
        Ok(m) => m,
        // No key has a prime below 3.
        Err(ArithError::EvenModulus | ArithError::ModulusSize { bits: 0..=1, .. }) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    let bases = residues(&m, rounds)?;
    Ok(passes(&m, &bases))
}

/// Fermat's test to base 2, for odd numbers above 2 of one length in parallel. Primes pass, and
/// almost no other random number does. Composite numbers that pass can be constructed, so the
/// result means nothing for numbers from elsewhere.
///
/// # Errors
/// If a number is even or longer than the arithmetic supports.
pub(super) fn may_be_prime(numbers: &[&[u64]], engine: Engine) -> Result<Vec<bool>, Error> {
    let moduli = numbers.iter().map(|number| Modulus::new(engine, number)).collect::<Result<Vec<_>, _>>()?;
    let moduli: Vec<&Modulus> = moduli.iter().collect();
    let Some(first) = moduli.first() else { return Ok(Vec::new()) };
    let less_one: Vec<Secret> = moduli.iter().map(|m| difference(m.as_limbs(), &[1])).collect();
    let less_one = Batch::from_rows(first.limbs(), less_one.iter().map(|number| &number[..]));
    let powers = powers_of_two(&moduli, Exponents::Each(&less_one, first.bits()));
    Ok(powers.rows().map(|power| is_one(power) == 1).collect())
}

/// Whether all bases `a` in `[1, m)` pass a Miller-Rabin round: for `m - 1 = 2^s d` with odd `d`,
/// the powers `a^d, a^(2 d), ..., a^(2^(s - 1) d)` begin with 1 or contain -1.
fn passes(m: &Modulus, bases: &Batch) -> bool {
    let minus_one = difference(m.as_limbs(), &[1]);
    let s = (0..m.bits()).find(|&bit| natural::bits_at(&minus_one, bit as usize, 1) == 1).unwrap_or(0);
    let d = shifted_down(&minus_one, s);
    let mut powers = m.pow(bases, Exponents::Shared(&d, m.bits()));
    let mut passed = Secret::new(powers.rows().map(|power| is_one(power) | equal(power, &minus_one)).collect());
    for _ in 1..s {
        powers = m.mul(&powers, &powers);
        passed.iter_mut().zip(powers.rows()).for_each(|(passed, power)| *passed |= equal(power, &minus_one));
    }
    passed.iter().all(|&passed| passed == 1)
}

/// 1 if two numbers of the same length are equal, else 0.
fn equal(a: &[u64], b: &[u64]) -> u64 {
    1 ^ (natural::less(a, b) | natural::less(b, a))
}

// GMP is a C library, which Miri cannot run.
#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use crypto_primes::hazmat::minimum_mr_iterations;
    use rug::{Integer, integer::Order};

    fn passes_all(number: &Integer, bases: &[u64]) -> bool {
        let m = Modulus::new(Engine::best(), &number.to_digits::<u64>(Order::Lsf)).unwrap();
        passes(&m, &Batch::from_rows(m.limbs(), bases.chunks(1)))
    }

    #[test]
    fn every_small_number_is_judged_as_by_trial_division() {
        for number in (3u64..2000).step_by(2) {
            let prime = (3..number).step_by(2).take_while(|d| d * d <= number).all(|d| !number.is_multiple_of(d));
            assert_eq!(is_probably_prime(&[number], ROUNDS, Engine::best()), Ok(prime), "{number}");
        }
        for number in [0, 1, 2, 4, 1 << 63] {
            assert_eq!(is_probably_prime(&[number], 1, Engine::best()), Ok(false), "{number}");
        }
    }

    /// The smallest composite numbers that pass: Sarrus, 1819; Poulet, 1926.
    #[test]
    fn fermats_test_is_wrong_about_the_known_numbers_only() {
        let odd: Vec<u64> = (1 << 10..1 << 11).filter(|number| number & 1 == 1).collect();
        for engine in Engine::ALL.iter().copied().filter(|engine| engine.is_available()) {
            for some in odd.chunks(5) {
                let limbs: Vec<[u64; 1]> = some.iter().map(|&number| [number]).collect();
                let found = may_be_prime(&limbs.iter().map(|one| &one[..]).collect::<Vec<_>>(), engine).unwrap();
                for (number, found) in some.iter().zip(found) {
                    let prime = (2..50).all(|d| number % d != 0);
                    let pseudoprime = [1105, 1387, 1729, 1905, 2047].contains(number);
                    assert_eq!(found, prime || pseudoprime, "{number}, {engine}");
                }
            }
            assert_eq!(may_be_prime(&[], engine), Ok(vec![]));
            assert!(may_be_prime(&[&[1024]], engine).is_err());
        }
    }

    /// Composite numbers constructed to pass for all bases up to some bound fail for random bases.
    #[test]
    fn pseudoprimes_to_fixed_bases_are_found_out() {
        // Jaeschke, On strong pseudoprimes to several bases, 1993: passes all prime bases up to 31.
        // Arnault, Constructing Carmichael numbers which are strong pseudoprimes to several bases,
        // 1995, constructs larger ones in the same way: p1 (313 (p1 - 1) + 1) (353 (p1 - 1) + 1)
        // passes every prime base below 307.
        let psi = Integer::from(3_825_123_056_546_413_051u64);
        assert!(passes_all(&psi, &[2, 3, 5, 7, 11, 13, 17, 19, 23]));
        assert_eq!(is_probably_prime(&psi.to_digits(Order::Lsf), 24, Engine::best()), Ok(false));
        let p1: Integer = "29674495668685510550154174642905332730771991799853043350995075531276838753171770199594238596428121188033664754218345562493168782883".parse().unwrap();
        let factor = |k: u32| Integer::from(&p1 - 1) * k + 1;
        let arnault = &p1 * factor(313) * factor(353);
        assert!(passes_all(&arnault, &[2, 3, 5, 7, 11, 13, 101, 199, 293]));
        for engine in Engine::ALL.iter().copied().filter(|engine| engine.is_available()) {
            assert_eq!(is_probably_prime(&arnault.to_digits(Order::Lsf), 24, engine), Ok(false));
        }
    }

    #[test]
    fn large_primes_pass_on_every_engine() {
        for bits in [32u32, 63, 64, 65, 255, 512, 1024, 1536] {
            let prime = (Integer::from(1) << bits).next_prime();
            for engine in Engine::ALL.iter().copied().filter(|engine| engine.is_available()) {
                assert_eq!(is_probably_prime(&prime.to_digits(Order::Lsf), 16, engine), Ok(true), "{bits}, {engine}");
            }
        }
    }

    #[test]
    fn random_numbers_get_the_rounds_of_fips_186_5() {
        for bits in [512, 640, 1024, 1536, 2048] {
            let least = minimum_mr_iterations(bits, SECURITY).unwrap();
            assert!(rounds_for_random(bits) >= least, "{bits} bits need {least} rounds");
        }
        assert_eq!(rounds_for_random(32), 64);
    }
}
