//! The factors of `n`, prepared for arithmetic modulo their squares.

use crate::{Error, ErrorKind};
use hearith_arith::natural::{self, Secret, difference, is_one, limbs_of, product_in, resized};
use hearith_arith::{ArithError, Batch, Engine, Exponents, Factor, Memory, Modulus, Pairs, Square, pow_pairs};
use std::ops::Range;

/// `p < q`, the prime factors of `n`; wiped when dropped.
pub(crate) struct Factors {
    pub(crate) p: Secret,
    pub(crate) q: Secret,
    /// Arithmetic modulo `p^2` in parts modulo `p`.
    pub(crate) square_p: Square,
    /// Arithmetic modulo `q^2` in parts modulo `q`.
    pub(crate) square_q: Square,
    /// Bits of each prime.
    pub(crate) bits: u32,
}

impl Factors {
    pub(crate) fn new(p: Secret, q: Secret, engine: Engine) -> Result<Self, ArithError> {
        let (square_p, square_q) = (Square::new(engine, &p)?, Square::new(engine, &q)?);
        let bits = natural::bit_length(&p);
        Ok(Factors { p, q, square_p, square_q, bits })
    }

    /// 64-bit limbs of `n`, `p^2` and `q^2`. The squares have the length of `n` or one bit less,
    /// which never saves a limb because the length of `n` is even.
    pub(crate) fn limbs(&self) -> usize {
        limbs_of(2 * self.bits)
    }

    /// `p^2` and `q^2`.
    pub(crate) fn squares(&self) -> (Secret, Secret) {
        let square = |prime: &[u64]| product_in(prime, prime, self.limbs());
        (square(&self.p), square(&self.q))
    }

    /// `p - 1` and `q - 1`.
    pub(crate) fn less_one(&self) -> (Secret, Secret) {
        (difference(&self.p, &[1]), difference(&self.q, &[1]))
    }

    /// Computes the powers `x^e_p mod p^2` of all numbers in `at_p` and `y^e_q mod q^2` of all in
    /// `at_q` in parallel. Both batches have the same length. The exponents are below `2^bits` and
    /// no longer than the primes.
    pub(crate) fn powers(&self, at_p: &Batch, at_q: &Batch, exponents: (&[u64], &[u64]), bits: u32) -> (Pairs, Pairs) {
        let (rows, width) = (at_p.len(), self.p.len());
        if rows == 0 {
            let none = || Pairs { low: Batch::zeros(0, width), high: Batch::zeros(0, width) };
            return (none(), none());
        }
        let squares = [vec![&self.square_p; rows], vec![&self.square_q; rows]].concat();
        let of_rows = |row: usize| if row < rows { exponents.0 } else { exponents.1 };
        let limbs = exponents.0.len();
        let exponents = Batch::from_rows(limbs, (0..2 * rows).map(of_rows));
        let both = pow_pairs(&squares, &Batch::concat(&[at_p, at_q]), Exponents::Each(&exponents, bits));
        let half = |range: Range<usize>| Pairs { low: both.low.range(range.clone()), high: both.high.range(range) };
        (half(0..rows), half(rows..2 * rows))
    }
}

impl Memory for Factors {
    fn memory(&self, ranges: &mut Vec<Range<usize>>) {
        [&self.p, &self.q].iter().for_each(|prime| prime.memory(ranges));
        [&self.square_p, &self.square_q].iter().for_each(|square| square.memory(ranges));
    }
}

/// Fails with `fault` at the first row in which either part is not 1. For `c^(p-1) mod p` and
/// `c^(q-1) mod q`, this detects a ciphertext that shares a factor with `n`, by Fermat's little
/// theorem.
///
/// Proved: `units_detected` in formal/coq/schemes.v.
pub(crate) fn require_ones(p: &Batch, q: &Batch, fault: ErrorKind) -> Result<(), Error> {
    match p.rows().zip(q.rows()).position(|(p, q)| is_one(p) & is_one(q) == 0) {
        Some(row) => Err(fault.at_row(row)),
        None => Ok(()),
    }
}

/// `x^exponent mod m` for one secret number of any width.
pub(crate) fn power(m: &Modulus, x: &[u64], exponent: &[u64]) -> Secret {
    let base = Batch::from_rows(x.len(), [x]);
    Secret::new(m.pow(&base, Exponents::Shared(exponent, m.bits())).row(0).to_vec())
}

/// Combines residues modulo two coprime moduli `p < q` (Garner's form of the Chinese remainder
/// theorem).
#[derive(Clone)]
pub(crate) struct Chinese {
    p: Secret,
    q: Modulus,
    p_inverse: Factor,
    limbs: usize,
}

impl Chinese {
    /// Prepares moduli `p < q`, given `euler`, the order of the group of units modulo `q`, and the
    /// limbs of `p q`.
    pub(crate) fn new(p: &[u64], q: &Modulus, euler: &[u64], limbs: usize) -> Self {
        let p_inverse = q.factor(&power(q, p, &difference(euler, &[1])));
        Chinese { p: resized(p, p.len()), q: q.clone(), p_inverse, limbs }
    }

    /// The same with another inverse of `p` modulo `q`, for tests of faults.
    #[cfg(test)]
    pub(crate) fn with_inverse(self, other: impl FnOnce(&Factor) -> Factor) -> Self {
        Chinese { p_inverse: other(&self.p_inverse), ..self }
    }

    /// The numbers that are `x` modulo `p` and `y` modulo `q`: `x + p ((y - x) p^-1 mod q)`. A
    /// residue `x` needs no reduction modulo `q`, because `p < q`.
    ///
    /// Proved: `combine_correct` in formal/coq/schemes.v.
    pub(crate) fn combine(&self, x: &Batch, y: &Batch) -> Batch {
        let width = self.q.limbs();
        let differences = self.q.sub(&y.resize(width), &x.resize(width));
        let multiples = self.q.mul_by(&differences, &self.p_inverse);
        let mut out = Batch::zeros(x.len(), self.limbs);
        for ((out, x), multiple) in out.rows_mut().zip(x.rows()).zip(multiples.rows()) {
            out.copy_from_slice(&product_in(&self.p, multiple, self.limbs));
            natural::add_assign(out, x);
        }
        out
    }
}

impl Memory for Chinese {
    fn memory(&self, ranges: &mut Vec<Range<usize>>) {
        self.p.memory(ranges);
        self.q.memory(ranges);
        self.p_inverse.memory(ranges);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residues_are_put_together() {
        let q = Modulus::new(Engine::best(), &[13]).unwrap();
        let chinese = Chinese::new(&[11], &q, &[12], 1);
        let numbers: Vec<u64> = (0..143).collect();
        let residues = |m: u64| Batch::from_rows(1, numbers.iter().map(|x| x % m).collect::<Vec<_>>().chunks(1));
        assert_eq!(chinese.combine(&residues(11), &residues(13)).as_limbs(), numbers);
    }

    #[test]
    fn rows_that_are_not_one_are_found() {
        let batch = |rows: [u64; 3]| Batch::from_rows(1, rows.chunks(1));
        let judge = |p, q| require_ones(&batch(p), &batch(q), ErrorKind::CiphertextSharesFactor);
        assert_eq!(judge([1, 1, 1], [1, 1, 1]), Ok(()));
        let fault = |row| Err(ErrorKind::CiphertextSharesFactor.at_row(row));
        assert_eq!(judge([1, 1, 0], [1, 1, 1]), fault(2));
        assert_eq!(judge([1, 1, 1], [1, 3, 0]), fault(1));
    }
}
