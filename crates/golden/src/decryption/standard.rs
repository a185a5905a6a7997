//! Decryption without the Chinese remainder theorem: `m = L(c^lambda mod n^2) mu mod n`.
//!
//! `lambda` may be any common multiple of `p - 1` and `q - 1` that is coprime to `n`. Here it is
//! their product. The running time follows from the length of `n`, and the least common multiple
//! would require a greatest common divisor of secrets.

use super::factors::{Factors, inverse, one_row};
use hearith_arith::natural::{Secret, is_one, product_in};
use hearith_arith::{ArithError, Batch, Exponents, Factor, Modulus, Square};
use hearith_paillier::{Error, ErrorKind};

pub(super) struct Standard {
    /// `n^2`, as a modulus for the power and as a square for splitting at `n`.
    squared: Modulus,
    square: Square,
    lambda: Secret,
    mu: Factor,
    /// Length of `n` in bits.
    bits: u32,
}

impl Standard {
    /// With `g = n + 1`, `L(g^lambda) = lambda`, so `mu` is its inverse modulo `n`.
    pub(super) fn new(factors: &Factors) -> Result<Self, ArithError> {
        let n = &factors.n;
        let [p_less, q_less] = factors.less_one();
        let lambda = product_in(&p_less, &q_less, factors.limbs());
        // lambda^-1 modulo p and modulo q, combined.
        let parts = [(&factors.p, 0), (&factors.q, 1)].map(|(prime, at)| {
            let inverse = inverse(prime, &lambda);
            n.mul(&one_row(&inverse), &one_row(&factors.idempotents()[at]))
        });
        let mu = n.add(&parts[0], &parts[1]);
        Ok(Standard {
            squared: Modulus::new(n.engine(), &product_in(n.as_limbs(), n.as_limbs(), 2 * n.limbs()))?,
            square: Square::new(n.engine(), n.as_limbs())?,
            mu: n.factor(mu.row(0)),
            bits: n.bits(),
            lambda,
        })
    }

    /// Decrypts ciphertexts below `n^2`.
    pub(super) fn decrypt(&self, c: &Batch) -> Result<Batch, Error> {
        let powers = self.squared.pow(c, Exponents::Shared(&self.lambda, self.bits));
        // Splitting a power 1 + L n at n gives L.
        let parts = self.square.split(&powers);
        match parts.low.rows().position(|low| is_one(low) == 0) {
            Some(row) => Err(ErrorKind::CiphertextSharesFactor.at_row(row)),
            None => Ok(self.square.root().mul_by(&parts.high, &self.mu)),
        }
    }
}
