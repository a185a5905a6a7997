//! Decryption, with arithmetic modulo `p` and `q` only.
//!
//! Modulo `p^2`, `c^(p-1) = 1 + L p`. In the parts that [`Square`](hearith_arith::Square) computes with, that is `(1, L)`:
//! the function `L(x) = (x - 1) / p` and its division are gone, and a low part other than 1 gives a ciphertext away that is
//! no unit. As `(1 + n)^(p-1) = 1 - n = 1 - q p` modulo `p^2`, the plaintext is `m = L (-q)^-1` modulo `p`, likewise
//! modulo `q`.

use crate::ciphertexts::check_key;
use crate::key::factors::{Chinese, Factors, power, require_ones};
use crate::{Ciphertexts, Error, Plaintexts, PrivateKey};
use hearith_arith::natural::{Secret, difference};
use hearith_arith::{Batch, Factor, Memory, Modulus};
use std::ops::Range;

impl PrivateKey {
    /// Decrypts every ciphertext; constant time in the key, the ciphertexts and the plaintexts.
    ///
    /// It believes the CPU. Where the results are seen by others and the machine may err, [`PrivateKey::decrypt_checked`] does not.
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey), or
    /// [`CiphertextSharesFactor`](crate::ErrorKind::CiphertextSharesFactor) for the first row that shares a factor with `n`.
    pub fn decrypt(&self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, Error> {
        let public = self.public();
        check_key(public.id(), ciphertexts.key_id())?;
        let residues = self.decryption().decrypt(self.factors(), ciphertexts.batch())?;
        Ok(Plaintexts::new(public.id(), public.plaintext_bytes(), residues))
    }
}

/// What decryption derives from the key.
pub(crate) struct Decryption {
    pub(crate) exponents: (Secret, Secret),
    pub(crate) h_p: Factor,
    pub(crate) h_q: Factor,
    pub(crate) chinese: Chinese,
}

impl Decryption {
    pub(crate) fn new(factors: &Factors) -> Self {
        let (p, q) = (factors.square_p.root(), factors.square_q.root());
        let exponents = factors.less_one();
        let chinese = Chinese::new(&factors.p, q, &exponents.1, factors.limbs());
        let (e_p, e_q) = plaintext_factors(factors);
        Decryption { exponents, h_p: p.factor(&e_p), h_q: q.factor(&e_q), chinese }
    }

    /// The plaintexts of ciphertexts below `n^2`.
    fn decrypt(&self, factors: &Factors, c: &Batch) -> Result<Batch, Error> {
        let (p, q) = factors.powers(c, c, (&self.exponents.0, &self.exponents.1));
        require_ones(&p.low, &q.low)?;
        let m_p = factors.square_p.root().mul_by(&p.high, &self.h_p);
        let m_q = factors.square_q.root().mul_by(&q.high, &self.h_q);
        Ok(self.chinese.combine(&m_p, &m_q))
    }
}

impl Memory for Decryption {
    fn memory(&self, ranges: &mut Vec<Range<usize>>) {
        [&self.exponents.0, &self.exponents.1].iter().for_each(|exponent| exponent.memory(ranges));
        [&self.h_p, &self.h_q].iter().for_each(|factor| factor.memory(ranges));
        self.chinese.memory(ranges);
    }
}

/// What takes `L(c^(p-1))` modulo `p` and `L(c^(q-1))` modulo `q` to the plaintext: `(-q)^-1 mod p` and `(-p)^-1 mod q`,
/// the `e_p` and `e_q` of \[HDSST25\].
fn plaintext_factors(factors: &Factors) -> (Secret, Secret) {
    let inverse = |modulus: &Modulus, other: &[u64], less_one: &[u64]| {
        let inverse = power(modulus, other, &difference(less_one, &[1]));
        Secret::new(modulus.neg(&Batch::repeat(&inverse, 1)).row(0).to_vec())
    };
    let (p_less, q_less) = factors.less_one();
    (inverse(factors.square_p.root(), &factors.q, &p_less), inverse(factors.square_q.root(), &factors.p, &q_less))
}
