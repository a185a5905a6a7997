//! The constants of a key as MESA wants them (`rtl/mesa/mesa_branch.sv`), in constant time.

use hearith_arith::{ArithError, Batch, Exponents, Modulus, limbs};
use hearith_paillier::{OperationError, PrivateKey};
use zeroize::Zeroizing;

use super::MesaParameters;

/// A secret number, wiped when dropped.
type Secret = Zeroizing<Vec<u64>>;

pub(super) struct Constants {
    pub(super) n: Secret,
    /// Of `p` and of `q`.
    pub(super) branches: [Branch; 2],
}

/// The constants of the branch of `p`.
pub(super) struct Branch {
    /// `(M' + 1) / 2^(W (D+1))` for the scaled modulus `M' = u p^2 = -1 mod 2^(W (D+1))`.
    pub(super) mt: Secret,
    /// `p^2`.
    pub(super) square: Secret,
    /// `R 2^X mod p^2`, which takes a number into Montgomery form; `X` bits are scanned.
    pub(super) enter: Secret,
    /// `R mod p^2`.
    pub(super) one: Secret,
    /// `p - 1`.
    pub(super) exponent: Secret,
    /// `p`.
    pub(super) prime: Secret,
    /// `t_p 2^X mod n`, where `t_p = e_p l_p`, `e_p = (-q)^-1 mod p`, `l_p = q (q^-1 mod p)` (Algorithm 4 of the MESA paper).
    pub(super) merged: Secret,
}

impl Constants {
    pub(super) fn new(key: &PrivateKey, parameters: &MesaParameters) -> Result<Self, OperationError> {
        let [p, q] = key.primes();
        let engine = key.public().engine();
        let product = Zeroizing::new(limbs::product(p, q));
        let n = Modulus::new(engine, &product)?;
        let branch = |prime: &[u64], other: &[u64]| Branch::new(prime, other, &n, parameters);
        let branches = [branch(p, q)?, branch(q, p)?];
        Ok(Self { n: product, branches })
    }
}

impl Branch {
    fn new(prime: &[u64], other: &[u64], n: &Modulus, parameters: &MesaParameters) -> Result<Self, ArithError> {
        let MesaParameters { digit_bits, delay, r_bits, scanned_bits, .. } = *parameters;
        let square = Zeroizing::new(limbs::product(prime, prime));
        let modulo_square = Modulus::new(n.engine(), &square)?;
        let power_of_two = |bits: u32| reduced(&modulo_square, &power_of_two(bits));
        let exponent = less(prime, 1);
        Ok(Self {
            mt: scaled_modulus_digits(&square, digit_bits * (delay + 1)),
            enter: power_of_two(r_bits + scanned_bits),
            one: power_of_two(r_bits),
            merged: merged(prime, other, n, scanned_bits)?,
            prime: Zeroizing::new(prime.to_vec()),
            square,
            exponent,
        })
    }
}

/// `(u m + 1) / 2^bits` with `u = -m^-1 mod 2^bits`, for an odd `m` and at most 64 bits.
fn scaled_modulus_digits(m: &[u64], bits: u32) -> Secret {
    let mask = u64::MAX >> (64 - bits);
    let u = Zeroizing::new(limbs::inverse_word(m[0]).wrapping_neg() & mask);
    let mut scaled = Zeroizing::new(limbs::product(m, &[*u]));
    limbs::add_assign(&mut scaled, &[1]);
    let positions = (bits..).step_by(64).take(m.len());
    Zeroizing::new(positions.map(|position| limbs::bits_at(&scaled, position as usize, 64)).collect())
}

/// `t_p 2^scanned mod n`.
fn merged(prime: &[u64], other: &[u64], n: &Modulus, scanned_bits: u32) -> Result<Secret, ArithError> {
    let modulo_prime = Modulus::new(n.engine(), prime)?;
    let base = Batch::from_rows(other.len(), [other]);
    // By Fermat; the bits of the exponent beyond those of the prime are 0.
    let inverse = modulo_prime.pow(&base, Exponents::Shared(&less(prime, 2), modulo_prime.bits()));
    let e = modulo_prime.neg(&inverse);
    let l = Zeroizing::new(limbs::product(other, inverse.row(0)));
    let t = n.mul(&Batch::from_rows(l.len(), [&l[..]]), &e);
    let shift = power_of_two(scanned_bits);
    Ok(Zeroizing::new(n.mul(&t, &Batch::from_rows(shift.len(), [&shift[..]])).row(0).to_vec()))
}

fn less(number: &[u64], by: u64) -> Secret {
    let mut rest = Zeroizing::new(number.to_vec());
    limbs::sub_assign(&mut rest, &[by]);
    rest
}

fn reduced(modulus: &Modulus, number: &[u64]) -> Secret {
    Zeroizing::new(modulus.reduce(&Batch::from_rows(number.len(), [number])).row(0).to_vec())
}

fn power_of_two(bits: u32) -> Vec<u64> {
    let mut number = vec![0; bits as usize / 64 + 1];
    number[bits as usize / 64] = 1 << (bits % 64);
    number
}
