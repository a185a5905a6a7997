//! Subgroup keys: primes `P = 2 p u + 1` and `Q = 2 q v + 1` with known primes `p` and `q`, and
//! randomisers from the subgroup of order `2 p q` (Ma, Han and Lei \[MHL21\]).
//!
//! - The cofactors `u` and `v` are also prime, which leaves no element of small odd order.
//! - `h = -y^(2 u v) mod n` has the order `2 p q` exactly. `(h^n)^r` randomises a ciphertext, where
//!   the exponent `r` is [`SLACK`] bits longer than `p q`: its distance from uniform modulo the
//!   order is at most `2^-129`.
//! - Decryption raises to the power `2 p` modulo `P^2`, instead of `P - 1`, and to `2 q` modulo
//!   `Q^2`.
//!
//! Lengths of `p` and `q`: the best known attack on the subgroup \[CJMNT11\] takes about `2^(b/2)`
//! steps for a prime of `b` bits. The sizes of [`order_bits`] exceed the security of the factors of
//! `n` by a margin of at least 16 bits.

use super::factors::Factors;
use super::generate::{are_far_apart, prime};
use super::prime::{ROUNDS, is_probably_prime, may_be_prime, rounds_for_random};
use super::weakness::{odd_primes, remainder};
use crate::boxed::to_boxed_uint;
use crate::random::unit;
use crate::{Error, ErrorKind, MAX_BITS};
use crypto_bigint::NonZero;
use crypto_primes::{Flavor, is_prime};
use hearith_arith::natural::{
    self, Secret, add_assign, bit_length, bits_at, clear_bits_from, divide_exact, is_one, limbs_of, product_in,
    resized, shifted_down, word,
};
use hearith_arith::random::fill;
use hearith_arith::{Batch, Engine, Exponents, Memory, Modulus};
use std::ops::Range;
use zeroize::{Zeroize, Zeroizing};

/// Minimum size of a subgroup key in bits. Keys below [`MIN_SECURE_BITS`](crate::MIN_SECURE_BITS)
/// serve to reproduce published figures.
pub const MIN_SUBGROUP_BITS: u32 = 1024;
/// Number of bits by which a randomiser's exponent is longer than `p q`.
const SLACK: u32 = 128;
/// Minimum length of a cofactor in bits.
const LEAST_COFACTOR_BITS: u32 = 257;
/// Number of cofactors per sieve, and the bound of the sieving primes.
const WINDOW: usize = 1 << 15;
const SIEVE_BOUND: u32 = 1 << 15;

/// Minimum length in bits of `p` and `q` for a key of `bits` bits.
pub(crate) fn order_bits(bits: u32) -> u32 {
    match bits {
        0..2048 => 160,
        2048 => 256,
        2049..=3072 => 288,
        3073..=4096 => 336,
        4097..=7680 => 416,
        7681.. => 432,
    }
}

/// The minimum and maximum length in bits of a randomiser's exponent for a key of `bits` bits.
pub(crate) fn exponent_range(bits: u32) -> (u32, u32) {
    (2 * order_bits(bits) + SLACK, bits / 2)
}

/// Fails unless a subgroup key may have this size and this exponent length. A shorter exponent
/// would not hide.
pub(crate) fn check_exponent(bits: u32, exponent: u32) -> Result<(), Error> {
    check_size(bits)?;
    let (least, most) = exponent_range(bits);
    if (least..=most).contains(&exponent) {
        Ok(())
    } else {
        Err(ErrorKind::ExponentLength { bits: exponent, least, most }.into())
    }
}

fn check_size(bits: u32) -> Result<(), Error> {
    if bits < MIN_SUBGROUP_BITS { Err(ErrorKind::SubgroupKeySize { bits }.into()) } else { Ok(()) }
}

/// The primes `p` and `q` of a subgroup key, in the order of their primes `P < Q`. Wiped when
/// dropped.
pub(crate) struct Orders {
    pub(crate) p: Secret,
    pub(crate) q: Secret,
}

impl Orders {
    /// Bits of each.
    pub(crate) fn bits(&self) -> u32 {
        bit_length(&self.p)
    }

    /// Minimum exponent length in bits that hides with these primes.
    pub(crate) fn exponent_bits(&self) -> u32 {
        bit_length(&product_in(&self.p, &self.q, self.p.len() + self.q.len())) + SLACK
    }

    /// `2 p` and `2 q`, the exponents of decryption.
    ///
    /// Proved: `subgroup_own` in formal/coq/schemes.v.
    pub(crate) fn doubled(&self) -> (Secret, Secret) {
        let double = |prime: &[u64]| product_in(prime, &[2], limbs_of(self.bits() + 1));
        (double(&self.p), double(&self.q))
    }

    /// Checks the big-endian primes of an imported key: `p` divides `P - 1` and `q` divides
    /// `Q - 1`, for `P < Q` of `factors`, and the cofactors are prime.
    ///
    /// It follows that `gcd(P - 1, Q - 1) = 2` and `gcd(p q, n) = 1`: all four primes differ, and
    /// `p < P`.
    ///
    /// # Errors
    /// [`InvalidSubgroup`](ErrorKind::InvalidSubgroup), which states the problem, or if the random
    /// generator fails.
    pub(crate) fn checked(p_be: &[u8], q_be: &[u8], factors: &Factors, engine: Engine) -> Result<Self, Error> {
        let invalid = |problem| Error::from(ErrorKind::InvalidSubgroup { problem });
        let width = limbs_of(MAX_BITS / 2);
        let read = |bytes: &[u8]| natural::from_be(bytes, width).ok_or_else(|| invalid("the primes are too long"));
        let (p, q) = (read(p_be)?, read(q_be)?);
        let bits = bit_length(&p);
        let least = order_bits(2 * factors.bits);
        if bits < least || bits != bit_length(&q) || bits + LEAST_COFACTOR_BITS >= factors.bits {
            return Err(invalid("the primes do not have the length that the key requires"));
        }
        let cut = |number: Secret| resized(&number, limbs_of(bits));
        let orders = Orders { p: cut(p), q: cut(q) };
        if *orders.p == *orders.q {
            return Err(invalid("the primes are the same"));
        }
        let u = cofactor(&factors.p, &orders.p).ok_or_else(|| invalid("p does not divide P - 1"))?;
        let v = cofactor(&factors.q, &orders.q).ok_or_else(|| invalid("q does not divide Q - 1"))?;
        if [&u, &v].into_iter().any(|cofactor| bit_length(cofactor) < LEAST_COFACTOR_BITS) {
            return Err(invalid("a cofactor is too short"));
        }
        if same(&u, &v) || [&u, &v].into_iter().any(|one| same(one, &orders.p) || same(one, &orders.q)) {
            return Err(invalid("two of the primes are the same"));
        }
        for (number, problem) in [
            (&orders.p, "p is not prime"),
            (&orders.q, "q is not prime"),
            (&u, "a cofactor is not prime"),
            (&v, "a cofactor is not prime"),
        ] {
            if !is_probably_prime(number, ROUNDS, engine)? {
                return Err(invalid(problem));
            }
        }
        Ok(orders)
    }

    /// Whether `h` has the order `2 p q` exactly: `-h` has the order `p` modulo `P` and `q` modulo
    /// `Q`.
    pub(crate) fn is_order_of(&self, h: &[u64], factors: &Factors) -> bool {
        let halves = [(factors.square_p.root(), &self.p), (factors.square_q.root(), &self.q)];
        halves.into_iter().all(|(prime, order)| {
            let minus = prime.neg(&prime.reduce(&Batch::repeat(h, 1)));
            let power = prime.pow(&minus, Exponents::Shared(order, self.bits()));
            is_one(minus.row(0)) == 0 && is_one(power.row(0)) == 1
        })
    }
}

impl Memory for Orders {
    fn memory(&self, ranges: &mut Vec<Range<usize>>) {
        self.p.memory(ranges);
        self.q.memory(ranges);
    }
}

/// Whether two numbers are equal, whatever their widths.
fn same(a: &[u64], b: &[u64]) -> bool {
    let width = a.len().max(b.len());
    *resized(a, width) == *resized(b, width)
}

/// The `u` of `P = 2 p u + 1`, without leading zero limbs; `None` if `2 p` does not divide `P - 1`.
fn cofactor(prime: &[u64], order: &[u64]) -> Option<Secret> {
    let half = shifted_down(prime, 1);
    if prime[0] & 3 != 3 || order[0] & 1 == 0 {
        return None;
    }
    let quotient = divide_exact(&half, order, half.len());
    let product = product_in(&quotient, order, quotient.len() + order.len());
    same(&product, &half).then(|| resized(&quotient, limbs_of(bit_length(&quotient).max(1))))
}

/// A prime `2 p u + 1` with `p` as `order` and `u` as `cofactor`.
struct Half {
    prime: Secret,
    order: Secret,
    cofactor: Secret,
}

/// The secret components of a new key.
pub(crate) struct Parts {
    /// `P < Q`.
    pub(crate) primes: (Secret, Secret),
    pub(crate) orders: Orders,
    cofactors: (Secret, Secret),
}

/// Generates random primes for a key of `bits` bits.
///
/// # Errors
/// If the key is too small or the random generator fails.
pub(crate) fn parts(bits: u32, engine: Engine) -> Result<Parts, Error> {
    check_size(bits)?;
    loop {
        let (one, other) = rayon::join(|| half(bits / 2, bits, engine), || half(bits / 2, bits, engine));
        let (one, other) = (one?, other?);
        let primes = [&one.order, &one.cofactor, &other.order, &other.cofactor];
        let differ = (0..4).all(|at| primes[at + 1..].iter().all(|later| !same(primes[at], later)));
        if !are_far_apart(&one.prime, &other.prime, bits) || !differ {
            continue;
        }
        let (low, high) = if natural::less(&one.prime, &other.prime) == 1 { (one, other) } else { (other, one) };
        return Ok(Parts {
            primes: (low.prime, high.prime),
            orders: Orders { p: low.order, q: high.order },
            cofactors: (low.cofactor, high.cofactor),
        });
    }
}

impl Parts {
    /// `h = -y^(2 u v) mod n` for a random unit `y`, of order `2 p q`.
    pub(crate) fn generator(&self, n: &[u64], factors: &Factors, engine: Engine) -> Result<Secret, Error> {
        let modulus = Modulus::new(engine, n)?;
        let exponent = product_in(&self.cofactors.0, &self.cofactors.1, n.len());
        let exponent = product_in(&exponent, &[2], n.len());
        loop {
            let y = Batch::repeat(&unit(n)?, 1);
            let h = modulus.neg(&modulus.pow(&y, Exponents::Shared(&exponent, modulus.bits())));
            if self.orders.is_order_of(h.row(0), factors) {
                return Ok(Secret::new(h.row(0).to_vec()));
            }
        }
    }
}

/// A random prime of exactly `bits` bits, with the two highest set, of the form `2 p u + 1` with
/// primes `p` and `u`.
fn half(bits: u32, key_bits: u32, engine: Engine) -> Result<Half, Error> {
    let order = prime(order_bits(key_bits), engine)?;
    loop {
        if let Some(found) = search(&order, bits, engine)? {
            return Ok(found);
        }
    }
}

/// The first pair of primes `u` and `2 p u + 1` in a window after a random start, if there is one.
///
/// The running time depends on the rejected candidates.
fn search(order: &[u64], bits: u32, engine: Engine) -> Result<Option<Half>, Error> {
    let start = random_start(order, bits)?;
    let offsets = sieve(order, &start);
    let length = bit_length(&start);
    let mut offsets = offsets.iter().enumerate().filter(|(_, composite)| **composite == 0).map(|(offset, _)| offset);
    let mut promising: Vec<Secret> = Vec::new();
    loop {
        let candidates: Vec<Secret> = offsets
            .by_ref()
            .take(engine.lanes())
            .map(|offset| {
                let mut candidate = resized(&start, start.len());
                add_assign(&mut candidate, &[2 * offset as u64]);
                candidate
            })
            .filter(|candidate| bit_length(candidate) == length)
            .collect();
        let is_over = candidates.is_empty();
        let passed = may_be_prime(&candidates.iter().map(|one| &one[..]).collect::<Vec<_>>(), engine)?;
        promising.extend(candidates.into_iter().zip(passed).filter_map(|(one, passed)| passed.then_some(one)));
        // Test the primes in parallel once there are enough to fill the lanes.
        if (promising.len() >= engine.lanes() || is_over)
            && let Some(found) = first(order, &mut promising, bits, engine)?
        {
            return Ok(Some(found));
        }
        if is_over {
            return Ok(None);
        }
    }
}

/// The first cofactor that is prime and yields a prime. Empties `cofactors`.
fn first(order: &[u64], cofactors: &mut Vec<Secret>, bits: u32, engine: Engine) -> Result<Option<Half>, Error> {
    let doubled = product_in(order, &[2], order.len() + 1);
    let halves = cofactors.drain(..).map(|cofactor| {
        let mut prime = resized(&product_in(&doubled, &cofactor, limbs_of(bits)), limbs_of(bits));
        add_assign(&mut prime, &[1]);
        (cofactor, prime)
    });
    let has_length = |prime: &[u64]| bit_length(prime) == bits && bits_at(prime, bits as usize - 2, 2) == 3;
    let halves: Vec<(Secret, Secret)> = halves.filter(|(_, prime)| has_length(prime)).collect();
    let passed = may_be_prime(&halves.iter().map(|(_, prime)| &prime[..]).collect::<Vec<_>>(), engine)?;
    for (cofactor, prime) in halves.into_iter().zip(passed).filter_map(|(half, passed)| passed.then_some(half)) {
        if is_sure(&cofactor, engine)? && is_sure(&prime, engine)? {
            return Ok(Some(Half { prime, order: resized(order, order.len()), cofactor }));
        }
    }
    Ok(None)
}

/// Whether a random number is prime, with the certainty of all new primes: see [`super::generate`].
fn is_sure(number: &[u64], engine: Engine) -> Result<bool, Error> {
    let strong = is_prime(Flavor::Any, &*Zeroizing::new(to_boxed_uint(number)));
    Ok(strong && is_probably_prime(number, rounds_for_random(bit_length(number)), engine)?)
}

/// A random odd start for `u`, from which `2 p u + 1` has `bits` bits with the two highest set: a
/// random number of that form divided by `2 p`.
fn random_start(order: &[u64], bits: u32) -> Result<Secret, Error> {
    let mut target = Secret::new(vec![0; limbs_of(bits)]);
    fill(&mut target)?;
    clear_bits_from(&mut target, bits - 2);
    [bits - 1, bits - 2].into_iter().for_each(|bit| target[bit as usize / 64] |= 1 << (bit % 64));
    let doubled = to_boxed_uint(&product_in(order, &[2], order.len() + 1));
    let divisor = NonZero::new(doubled).into_option().ok_or(ErrorKind::KeySizeOutOfRange { bits })?;
    let (quotient, rest) = Zeroizing::new(to_boxed_uint(&target)).div_rem(&divisor);
    let (quotient, _rest) = (Zeroizing::new(quotient), Zeroizing::new(rest));
    let mut divisor = divisor.get();
    divisor.zeroize();
    let mut start = resized(quotient.as_words(), limbs_of(bits));
    start[0] |= 1;
    let limbs = limbs_of(bit_length(&start));
    Ok(resized(&start, limbs))
}

/// Marks the numbers `u = start + 2 k`: 1 if `u` or `2 p u + 1` has a small factor, else 0.
fn sieve(order: &[u64], start: &[u64]) -> Zeroizing<Vec<u8>> {
    let mut composite = Zeroizing::new(vec![0; WINDOW]);
    for r in odd_primes(SIEVE_BOUND) {
        let (first, factor) = (remainder(start, r), 2 * remainder(order, r) % u64::from(r));
        let r = u64::from(r);
        let half = r.div_ceil(2);
        let mut strike = |residue: u64| {
            // start + 2 k = residue modulo r.
            let k = (residue + r - first) % r * half % r;
            (k as usize..WINDOW).step_by(r as usize).for_each(|k| composite[k] = 1);
        };
        strike(0);
        if let Some(inverse) = word::inverse_mod(factor, r) {
            strike(r - inverse);
        }
    }
    composite
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
    fn sizes_are_those_of_the_table() {
        let sizes = [(1024, 160), (2046, 160), (2048, 256), (2050, 288), (3072, 288), (3074, 336), (4096, 336)];
        for (bits, expected) in sizes.into_iter().chain([(4098, 416), (7680, 416), (7682, 432), (8192, 432)]) {
            assert_eq!(order_bits(bits), expected, "{bits}");
        }
        assert!((MIN_SUBGROUP_BITS..=MAX_BITS).all(|bits| exponent_range(bits).0 <= exponent_range(bits).1));
        assert_eq!(check_exponent(2048, 640), Ok(()));
        for (bits, exponent) in [(2048, 639), (2048, 1), (2048, 1025), (1022, 448), (3072, 640)] {
            assert!(check_exponent(bits, exponent).is_err(), "{bits}, {exponent}");
        }
    }

    #[test]
    fn new_primes_are_of_the_form() {
        for bits in [1024, 1026, 2048] {
            let parts = parts(bits, Engine::best()).unwrap();
            let [big_p, big_q] = [&parts.primes.0, &parts.primes.1].map(|prime| integer(prime));
            let [p, q] = [&parts.orders.p, &parts.orders.q].map(|prime| integer(prime));
            let [u, v] = [&parts.cofactors.0, &parts.cofactors.1].map(|prime| integer(prime));
            assert!(big_p < big_q);
            assert_eq!(Integer::from(&p * &u) * 2 + 1, big_p);
            assert_eq!(Integer::from(&q * &v) * 2 + 1, big_q);
            for prime in [&big_p, &big_q, &p, &q, &u, &v] {
                assert!(prime.is_probably_prime(40) != IsPrime::No);
            }
            let n = Integer::from(&big_p * &big_q);
            assert_eq!(n.significant_bits(), bits);
            assert_eq!(Integer::from(&big_p - 1).gcd(&Integer::from(&big_q - 1)), 2);
            assert_eq!((p.significant_bits(), q.significant_bits()), (order_bits(bits), order_bits(bits)));
            assert!(u.significant_bits() >= LEAST_COFACTOR_BITS && v.significant_bits() >= LEAST_COFACTOR_BITS);

            let factors = Factors::new(parts.primes.0.clone(), parts.primes.1.clone(), Engine::best()).unwrap();
            let h = parts.generator(&n.to_digits(Order::Lsf), &factors, Engine::best()).unwrap();
            let h = integer(&h);
            let order = Integer::from(&p * &q);
            assert_eq!(h.clone().pow_mod(&order, &n).unwrap(), Integer::from(&n - 1), "h^(p q) = -1");
            let square = Integer::from(h.square_ref()) % &n;
            assert!([&big_p, &big_q].iter().all(|&prime| Integer::from(&square - 1) % prime != 0));
            assert_eq!(parts.orders.exponent_bits(), order.significant_bits() + SLACK);
        }
    }

    #[test]
    fn the_sieve_strikes_what_has_a_small_factor_and_nothing_else() {
        let order = Integer::from(Integer::u_pow_u(2, 159)).next_prime();
        let start = Integer::from(Integer::u_pow_u(2, 300)) + 12_345;
        let limbs = |number: &Integer| number.to_digits::<u64>(Order::Lsf);
        let composite = sieve(&limbs(&order), &limbs(&start));
        let small: Vec<u32> = odd_primes(SIEVE_BOUND).collect();
        assert_eq!((small.len(), small[0], small.last()), (3511, 3, Some(&32749)));
        for k in (0..WINDOW).step_by(97) {
            let u = Integer::from(&start + 2 * k as u64);
            let prime: Integer = Integer::from(&order * 2) * &u + 1;
            let has = small.iter().any(|&r| u.is_divisible_u(r) || prime.is_divisible_u(r));
            assert_eq!(composite[k] == 1, has, "{k}");
        }
    }
}
