//! The constants that decryptors are loaded with, in constant time.

use hearith_arith::{ArithError, Batch, Exponents, Modulus, natural};

use super::keyed::Secret;

/// The factor that scales an odd modulus `m` so that its low word is -1: `-m^-1 mod 2^bits`, for at most 64 bits.
pub(crate) fn scale(m: &[u64], bits: u32) -> Secret {
    let mask = u64::MAX >> (64 - bits);
    Secret::new(vec![natural::inverse_word(m[0]).wrapping_neg() & mask])
}

/// The scaled modulus as the digit multipliers take it: `(u m + 1) / 2^bits`, `u` from [`scale`].
pub(crate) fn scaled_digits(m: &[u64], bits: u32) -> Secret {
    let mut scaled = Secret::new(natural::product(m, &scale(m, bits)));
    natural::add_assign(&mut scaled, &[1]);
    let positions = (bits as usize..).step_by(64).take(m.len());
    Secret::new(positions.map(|position| natural::bits_at(&scaled, position, 64)).collect())
}

/// What takes `L(c^(p-1))` to the part of the plaintext modulo `n`, times `2^bits` for a Montgomery product that scans so
/// many bits: `t = e l mod n`, `e = (-q)^-1 mod p`, `l = q (q^-1 mod p)` (\[HDSST25\], algorithm 4).
pub(crate) fn merged(prime: &[u64], other: &[u64], n: &Modulus, bits: u32) -> Result<Secret, ArithError> {
    let modulo_prime = Modulus::new(n.engine(), prime)?;
    let inverse = inverse(&modulo_prime, other);
    let e = modulo_prime.neg(&one_row(&inverse));
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
