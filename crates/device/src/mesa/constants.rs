//! The constants of a key that decryptors are loaded with, computed in constant time.

use hearith_arith::{ArithError, Batch, Exponents, Modulus, natural};
use hearith_paillier::PrivateKey;

use super::keyed::Secret;

/// The factor that scales an odd modulus `m` so that its low word is -1: `-m^-1 mod 2^bits`, for at
/// most 64 bits.
pub(crate) fn scale(m: &[u64], bits: u32) -> Secret {
    let mask = u64::MAX >> (64 - bits);
    Secret::new(vec![natural::inverse_word(m[0]).wrapping_neg() & mask])
}

/// The scaled modulus in the form for the digit multipliers: `(u m + 1) / 2^bits`, `u` from
/// [`scale`].
pub(crate) fn scaled_digits(m: &[u64], bits: u32) -> Secret {
    let mut scaled = Secret::new(natural::product(m, &scale(m, bits)));
    natural::add_assign(&mut scaled, &[1]);
    let positions = (bits as usize..).step_by(64).take(m.len());
    Secret::new(positions.map(|position| natural::bits_at(&scaled, position, 64)).collect())
}

/// The exponents to which a device raises ciphertexts, modulo the squares of a key's primes.
pub struct Powers {
    /// Exponents for the two primes, the smaller prime first.
    pub exponents: [Secret; 2],
    /// Bits of each exponent.
    pub bits: u32,
}

impl Powers {
    /// The exponents of [`PrivateKey::decrypt`]: `p - 1`, or twice the prime of the subgroup.
    pub fn of(key: &PrivateKey) -> Self {
        let orders = key.subgroup_primes().filter(|_| !key.decrypts_any_randomiser());
        match orders {
            Some(orders) => Powers {
                exponents: orders.map(|order| Secret::new(natural::product(order, &[2]))),
                bits: natural::bit_length(orders[0]) + 1,
            },
            None => Powers { exponents: key.primes().map(|prime| less(prime, 1)), bits: key.public().bits() / 2 },
        }
    }
}

/// The factor that maps `L(c^e)` to its part of the plaintext modulo `n`, times `2^bits` for a
/// Montgomery product that scans `bits` bits.
///
/// It is `t = f l mod n` with `f = (e q)^-1 mod p` and `l = q (q^-1 mod p)`; with `e = p - 1` as in
/// \[HDSST25\], algorithm 4. The plaintext is the sum of the parts of both halves.
///
/// # Errors
/// The arithmetic does not support the prime.
pub fn merged([prime, other]: [&[u64]; 2], exponent: &[u64], n: &Modulus, bits: u32) -> Result<Secret, ArithError> {
    let modulo_prime = Modulus::new(n.engine(), prime)?;
    let inverse = self::inverse(&modulo_prime, other);
    let step = modulo_prime.reduce(&one_row(&Secret::new(natural::product(other, exponent))));
    let e = one_row(&self::inverse(&modulo_prime, &first_row(&step)));
    let l = Secret::new(natural::product(other, &inverse));
    let t = n.mul(&one_row(&l), &e);
    Ok(first_row(&n.mul(&t, &one_row(&power_of_two(bits)))))
}

/// `x^-1` modulo a prime, by Fermat.
pub(crate) fn inverse(prime: &Modulus, x: &[u64]) -> Secret {
    let exponent = less(prime.as_limbs(), 2);
    first_row(&prime.pow(&one_row(x), Exponents::Shared(&exponent, prime.bits())))
}

/// `2^bits mod m`.
pub(crate) fn power_modulo(m: &Modulus, bits: u32) -> Secret {
    first_row(&m.reduce(&one_row(&power_of_two(bits))))
}

/// `number - by`, which must not be negative.
pub(crate) fn less(number: &[u64], by: u64) -> Secret {
    let mut rest = Secret::new(number.to_vec());
    natural::sub_assign(&mut rest, &[by]);
    rest
}

/// A batch of one number.
pub(crate) fn one_row(number: &[u64]) -> Batch {
    Batch::from_rows(number.len(), [number])
}

/// The first number of a batch.
pub(crate) fn first_row(batch: &Batch) -> Secret {
    Secret::new(batch.row(0).to_vec())
}

fn power_of_two(bits: u32) -> Vec<u64> {
    let mut number = vec![0; bits as usize / 64 + 1];
    number[bits as usize / 64] = 1 << (bits % 64);
    number
}
