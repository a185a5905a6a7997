//! Decryption without the Chinese remainder theorem: `m = L(c^lambda mod n^2) mu mod n`.
//!
//! `lambda` may be any common multiple of `p - 1` and `q - 1` that is coprime to `n`. It is their product here: the time
//! follows from the length of `n`, and the least one would take a greatest common divisor of secrets.

use super::dual::Dual;
use crate::key::factors::{Factors, power, require_ones};
use crate::natural::{Secret, difference, product};
use crate::{Error, PublicKey};
use hearith_arith::{Batch, Exponents, Factor, Memory};
use std::ops::Range;

pub(crate) struct Standard {
    lambda: Secret,
    mu: Factor,
}

impl Standard {
    /// With `g = n + 1`, `L(g^lambda) = lambda`, so that `mu` is its inverse modulo `n`.
    pub(crate) fn new(public: &PublicKey, factors: &Factors, dual: &Dual) -> Self {
        let (p, q) = (factors.square_p.root(), factors.square_q.root());
        let (p_less, q_less) = factors.less_one();
        let lambda = product(&p_less, &q_less, factors.limbs());
        let inverse_p = power(p, &lambda, &difference(&p_less, &[1]));
        let inverse_q = power(q, &lambda, &difference(&q_less, &[1]));
        let mu = dual.chinese.combine(&Batch::repeat(&inverse_p, 1), &Batch::repeat(&inverse_q, 1));
        Standard { lambda, mu: public.root().factor(mu.row(0)) }
    }

    /// The plaintexts of ciphertexts below `n^2`.
    pub(crate) fn decrypt(&self, public: &PublicKey, c: &Batch) -> Result<Batch, Error> {
        let powers = public.squared().pow(c, Exponents::Shared(&self.lambda, public.bits()));
        // Split at n, a power 1 + L n shows its L.
        let parts = public.square().split(&powers);
        require_ones(&parts.low, &parts.low)?;
        Ok(public.root().mul_by(&parts.high, &self.mu))
    }
}

impl Memory for Standard {
    fn memory(&self, ranges: &mut Vec<Range<usize>>) {
        self.lambda.memory(ranges);
        self.mu.memory(ranges);
    }
}
