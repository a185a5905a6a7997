//! Decryption by algorithm 4 of the MESA paper \[HDSST25\] ("eCRT-Paillier").
//!
//! Merging `e_p` and `l_3` into `t_p = e_p l_3 mod n` saves one multiplication per branch (equation
//! 8). Because `t_p` is a multiple of `q`, a power that is one `p^2` too large changes the result
//! by a multiple of `n` (equation 10). So no comparison is needed before the last step. The steps
//! are numbered as in the paper, whose `t_{q,R} = e_q R_0` is `t_q R_0`.

use super::crt::Powers;
use super::factors::{Factors, one_row};
use super::lazy::{LazyModulus, quotient};
use hearith_arith::natural::Secret;
use hearith_arith::{ArithError, Batch, Modulus};
use hearith_paillier::Error;

pub(super) struct Ecrt {
    powers: Powers,
    n: LazyModulus,
    /// For each branch, the prime and `t_p` in Montgomery form modulo `n`.
    branches: [(Secret, Secret); 2],
}

impl Ecrt {
    pub(super) fn new(factors: &Factors) -> Result<Self, ArithError> {
        let n = LazyModulus::new(factors.n.engine(), factors.n.as_limbs(), 2)?;
        let ([e_p, e_q], [l_p, l_q]) = (factors.plaintext_factors(), factors.idempotents());
        let branch = |prime: &Modulus, e: &[u64], l: &[u64]| {
            let t = factors.n.mul(&one_row(e), &one_row(l));
            (Secret::new(prime.as_limbs().to_vec()), n.enter(t.row(0)))
        };
        let branches = [branch(&factors.p, &e_p, &l_p), branch(&factors.q, &e_q, &l_q)];
        Ok(Ecrt { powers: Powers::new(factors)?, branches, n })
    }

    /// Decrypts ciphertexts below `n^2`.
    pub(super) fn decrypt(&self, c: &Batch) -> Result<Batch, Error> {
        self.powers.post_process(c, |at_p, at_q| self.plaintext(at_p, at_q))
    }

    /// Steps 3 to 6 for powers below `2 p^2` and `2 q^2`. Also returns 1 if the powers are 1 modulo
    /// `p` and `q` respectively, otherwise 0.
    pub(super) fn plaintext(&self, at_p: &[u64], at_q: &[u64]) -> (Secret, u64) {
        let (m_p, unit_p) = self.branch(&self.branches[0], at_p);
        let (m_q, unit_q) = self.branch(&self.branches[1], at_q);
        (self.n.add(&m_p, &m_q), unit_p & unit_q) // 6
    }

    fn branch(&self, (prime, t): &(Secret, Secret), power: &[u64]) -> (Secret, u64) {
        let (l, unit) = quotient(power, prime); // 3
        let mut m = self.n.multiply(&l, t); // 4
        self.n.final_subtraction(&mut m); // 5
        (m, unit)
    }
}
