//! Decryption without the Chinese remainder theorem: `m = L(c^lambda mod n^2) mu mod n`.

use super::factors::{Factors, inverse, one_row};
use crypto_bigint::{BoxedUint, Lcm};
use hearith_arith::natural::{Secret, is_one, product_in, resized};
use hearith_arith::{ArithError, Batch, Exponents, Factor, Modulus, Square};
use hearith_paillier::{Error, ErrorKind};
use zeroize::Zeroizing;

pub(super) struct Standard {
    /// `n^2`, for the power, and as a square, for what is above `n`.
    squared: Modulus,
    square: Square,
    lambda: Secret,
    mu: Factor,
    /// Bits of `n`.
    bits: u32,
}

impl Standard {
    /// With `g = n + 1`, `L(g^lambda) = lambda`, so that `mu` is its inverse modulo `n`.
    pub(super) fn new(factors: &Factors) -> Result<Self, ArithError> {
        let n = &factors.n;
        let [p_less, q_less] = factors.less_one();
        let lambda = least_common_multiple(&p_less, &q_less, factors.limbs());
        // lambda^-1 modulo p and modulo q, put together.
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

    /// The plaintexts of ciphertexts below `n^2`.
    pub(super) fn decrypt(&self, c: &Batch) -> Result<Batch, Error> {
        let powers = self.squared.pow(c, Exponents::Shared(&self.lambda, self.bits));
        // Split at n, a power 1 + L n shows its L.
        let parts = self.square.split(&powers);
        match parts.low.rows().position(|low| is_one(low) == 0) {
            Some(row) => Err(ErrorKind::CiphertextSharesFactor.at_row(row)),
            None => Ok(self.square.root().mul_by(&parts.high, &self.mu)),
        }
    }
}

/// `lcm(a, b)` in `limbs` limbs.
fn least_common_multiple(a: &[u64], b: &[u64], limbs: usize) -> Secret {
    let (a, b) = (Zeroizing::new(boxed(a)), Zeroizing::new(boxed(b)));
    resized(Zeroizing::new(a.lcm(&b)).as_words(), limbs)
}

fn boxed(number: &[u64]) -> BoxedUint {
    BoxedUint::from_words(number.iter().copied())
}
