//! Decryption as Algorithm 4 of the MESA paper has it ("eCRT-Paillier").
//!
//! Merging `e_p` and `l_3` into `t_p = e_p l_3 mod n` saves a multiplication a branch (equation 8). Because `t_p` is a multiple
//! of `q`, a power that is one `p^2` too large changes the result by a multiple of `n` (equation 10), so nothing is
//! judged before the last step. The steps are numbered as in the paper, whose `t_{q,R} = e_q R_0` is `t_q R_0`.

use super::crt::{Powers, idempotents, post_process};
use super::dual::plaintext_factors;
use super::unjudged::{Unjudged, quotient};
use crate::key::factors::Factors;
use crate::natural::Secret;
use crate::{Error, PublicKey};
use hearith_arith::{ArithError, Batch, Memory};
use std::ops::Range;

pub(crate) struct Ecrt {
    powers: Powers,
    n: Unjudged,
    /// Of each branch the prime, and `t_p` in Montgomery form modulo `n`.
    branches: [(Secret, Secret); 2],
}

impl Ecrt {
    pub(crate) fn new(public: &PublicKey, factors: &Factors) -> Result<Self, ArithError> {
        let n = Unjudged::new(public.engine(), public.modulus(), 2)?;
        let (e, l) = (plaintext_factors(factors), idempotents(factors));
        let merged = |e: &[u64], l: &[u64]| {
            let t = public.root().mul(&Batch::from_rows(e.len(), [e]), &Batch::from_rows(l.len(), [l]));
            n.enter(t.row(0))
        };
        let branches = [(factors.p.clone(), merged(&e.0, &l.0)), (factors.q.clone(), merged(&e.1, &l.1))];
        Ok(Ecrt { powers: Powers::new(public, factors)?, branches, n })
    }

    /// The plaintexts of ciphertexts below `n^2`.
    pub(crate) fn decrypt(&self, factors: &Factors, c: &Batch) -> Result<Batch, Error> {
        post_process(&self.powers.of(factors, c), factors.limbs(), |at_p, at_q| self.plaintext(at_p, at_q))
    }

    /// Steps 3 to 6 for powers below `2 p^2` and `2 q^2`; with 1 if both are 1 modulo `p` and `q`, else 0.
    pub(super) fn plaintext(&self, at_p: &[u64], at_q: &[u64]) -> (Secret, u64) {
        let (m_p, unit_p) = self.branch(&self.branches[0], at_p);
        let (m_q, unit_q) = self.branch(&self.branches[1], at_q);
        (self.n.add(&m_p, &m_q), unit_p & unit_q) // 6
    }

    fn branch(&self, (prime, t): &(Secret, Secret), power: &[u64]) -> (Secret, u64) {
        let (l, unit) = quotient(power, prime); // 3
        let mut m = self.n.multiply(&l, t); // 4
        self.n.judge(&mut m); // 5
        (m, unit)
    }
}

impl Memory for Ecrt {
    fn memory(&self, ranges: &mut Vec<Range<usize>>) {
        self.powers.memory(ranges);
        self.branches.iter().flat_map(|(prime, t)| [prime, t]).for_each(|number| number.memory(ranges));
    }
}
