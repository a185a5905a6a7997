//! The factors of `n`, and the constants that several methods derive from them.

use hearith_arith::natural::{Secret, difference, product_in};
use hearith_arith::{ArithError, Batch, Exponents, Modulus};
use hearith_paillier::PrivateKey;

/// `n` and its prime factors `p < q`. Wiped when dropped.
pub(super) struct Factors {
    pub(super) p: Modulus,
    pub(super) q: Modulus,
    pub(super) n: Modulus,
}

impl Factors {
    pub(super) fn new(key: &PrivateKey) -> Result<Self, ArithError> {
        let ([p, q], engine) = (key.primes(), key.public().engine());
        let n = product_in(p, q, key.public().plaintext_limbs());
        Ok(Factors { p: Modulus::new(engine, p)?, q: Modulus::new(engine, q)?, n: Modulus::new(engine, &n)? })
    }

    /// Number of 64-bit limbs of `n`, and of `p^2` and `q^2`.
    pub(super) fn limbs(&self) -> usize {
        self.n.limbs()
    }

    /// `p^2` and `q^2`.
    pub(super) fn squares(&self) -> [Secret; 2] {
        [&self.p, &self.q].map(|prime| product_in(prime.as_limbs(), prime.as_limbs(), self.limbs()))
    }

    /// `p - 1` and `q - 1`.
    pub(super) fn less_one(&self) -> [Secret; 2] {
        [&self.p, &self.q].map(|prime| difference(prime.as_limbs(), &[1]))
    }

    /// The factors that convert `L(c^(p-1))` modulo `p` and `L(c^(q-1))` modulo `q` to the
    /// plaintext: `e_p = (-q)^-1 mod p` and `e_q = (-p)^-1 mod q`.
    pub(super) fn plaintext_factors(&self) -> [Secret; 2] {
        [(&self.p, &self.q), (&self.q, &self.p)].map(|(prime, other)| {
            let inverse = inverse(prime, other.as_limbs());
            first_row(&prime.neg(&one_row(&inverse)))
        })
    }

    /// `l_3 = q (q^-1 mod p)` and `l_4 = p (p^-1 mod q)`, which are 1 modulo one prime and 0 modulo
    /// the other.
    pub(super) fn idempotents(&self) -> [Secret; 2] {
        [(&self.p, &self.q), (&self.q, &self.p)]
            .map(|(prime, other)| product_in(other.as_limbs(), &inverse(prime, other.as_limbs()), self.limbs()))
    }
}

/// `x^-1` modulo a prime, by Fermat's little theorem. `x` may have any width.
pub(super) fn inverse(prime: &Modulus, x: &[u64]) -> Secret {
    let exponent = difference(prime.as_limbs(), &[2]);
    first_row(&prime.pow(&one_row(x), Exponents::Shared(&exponent, prime.bits())))
}

/// A batch of one number.
pub(super) fn one_row(number: &[u64]) -> Batch {
    Batch::from_rows(number.len(), [number])
}

/// The first number of a batch.
pub(super) fn first_row(batch: &Batch) -> Secret {
    Secret::new(batch.row(0).to_vec())
}
