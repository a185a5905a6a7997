//! Decryption, with arithmetic modulo `p` and `q` only.
//!
//! Modulo `p^2`, `c^(p-1) = 1 + L p`. [`Square`](hearith_arith::Square) represents this as the
//! parts `(1, L)`. This avoids the function `L(x) = (x - 1) / p` with its division, and a low part
//! other than 1 reveals a ciphertext that is not a unit. Since `(1 + n)^(p-1) = 1 - n = 1 - q p`
//! modulo `p^2`, the plaintext is `m = L (-q)^-1` modulo `p`, and correspondingly modulo `q`.
//!
//! Under a subgroup key ([`Variant::Subgroup`](crate::Variant::Subgroup)) with `P = 2 p u + 1`, the
//! power `2 p` is enough. The randomiser is the `n`-th power of an element whose order modulo `P`
//! divides `2 p`, so `c^(2 p) = (1 + n)^(2 p m) = 1 + 2 p m Q P` modulo `P^2`, and
//! `m = L (2 p Q)^-1` modulo `P`. A ciphertext with any other randomiser has a different low part.
//!
//! Both halves are checked before they are combined: a number that is correct in only one half
//! would reveal a factor of `n`. A foreign row and a row that shares a factor with `n` produce the
//! same error, whichever half detects it.

use crate::ciphertexts::check_key;
use crate::key::factors::{Chinese, Factors, power, require_ones};
use crate::key::subgroup::Orders;
use crate::{Ciphertexts, Error, ErrorKind, Plaintexts, PrivateKey};
use hearith_arith::natural::{Secret, difference, product_in};
use hearith_arith::{Batch, Factor, Memory, Modulus};
use std::ops::Range;

impl PrivateKey {
    /// Decrypts every ciphertext, in constant time with respect to the key, the ciphertexts and the
    /// plaintexts.
    ///
    /// The method trusts the CPU. If the machine may be faulty and others see the results, use
    /// [`PrivateKey::decrypt_checked`].
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey), or
    /// [`CiphertextSharesFactor`](crate::ErrorKind::CiphertextSharesFactor) for the first row that
    /// shares a factor with `n`. A subgroup key returns
    /// [`ForeignRandomiser`](crate::ErrorKind::ForeignRandomiser) instead, for the first row that
    /// shares a factor or has a randomiser of another origin (but see
    /// [`PrivateKey::any_randomiser`]).
    pub fn decrypt(&self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, Error> {
        self.decrypt_by(self.short_decryption().unwrap_or(self.decryption()), ciphertexts)
    }

    /// Decrypts ciphertexts with any randomiser. Constant time like [`PrivateKey::decrypt`].
    ///
    /// A subgroup key uses the exponents of other keys, which take three to five times as long. It
    /// does so for all rows, because trying the short exponents first would reveal through timing
    /// which rows are foreign.
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey), or
    /// [`CiphertextSharesFactor`](crate::ErrorKind::CiphertextSharesFactor) for the first row that
    /// shares a factor with `n`.
    pub fn decrypt_any(&self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, Error> {
        self.decrypt_by(self.decryption(), ciphertexts)
    }

    fn decrypt_by(&self, decryption: &Decryption, ciphertexts: &Ciphertexts) -> Result<Plaintexts, Error> {
        let public = self.public();
        check_key(public.id(), ciphertexts.key_id())?;
        let residues = decryption.decrypt(self.factors(), ciphertexts.batch())?;
        Ok(Plaintexts::new(public.id(), public.plaintext_bytes(), residues))
    }
}

/// The constants that decryption derives from the key.
pub(crate) struct Decryption {
    pub(crate) exponents: (Secret, Secret),
    /// Bits of both exponents.
    pub(crate) bits: u32,
    /// Whether the exponents are those of a subgroup.
    pub(crate) is_short: bool,
    pub(crate) h_p: Factor,
    pub(crate) h_q: Factor,
    pub(crate) chinese: Chinese,
}

impl Decryption {
    pub(crate) fn new(factors: &Factors) -> Self {
        // (1 + n)^(p - 1) = 1 - q p modulo p^2.
        let negated = |modulus: &Modulus, other: &[u64]| modulus.neg(&modulus.reduce(&Batch::repeat(other, 1)));
        let steps = (negated(factors.square_p.root(), &factors.q), negated(factors.square_q.root(), &factors.p));
        let (p, q) = (&factors.p, factors.square_q.root());
        let (exponents, (h_p, h_q)) = (factors.less_one(), inverses(factors, &steps));
        let chinese = Chinese::new(p, q, &exponents.1, factors.limbs());
        Decryption { exponents, bits: factors.bits, is_short: false, h_p, h_q, chinese }
    }

    /// The constants for the exponents of a subgroup. Combining the halves uses the same constants
    /// as `full`.
    ///
    /// Proved: `subgroup_half` in formal/coq/schemes.v.
    /// Proved: `subgroup_correct` in formal/coq/schemes.v.
    pub(crate) fn short(full: &Self, factors: &Factors, orders: &Orders) -> Self {
        let exponents = orders.doubled();
        let step = |modulus: &Modulus, other: &[u64], exponent: &[u64]| {
            let product = product_in(other, exponent, other.len() + exponent.len());
            modulus.reduce(&Batch::repeat(&product, 1))
        };
        let at_p = step(factors.square_p.root(), &factors.q, &exponents.0);
        let at_q = step(factors.square_q.root(), &factors.p, &exponents.1);
        let (h_p, h_q) = inverses(factors, &(at_p, at_q));
        let (bits, chinese) = (orders.bits() + 1, full.chinese.clone());
        Decryption { exponents, bits, is_short: true, h_p, h_q, chinese }
    }

    /// The plaintexts of ciphertexts below `n^2`.
    ///
    /// Proved: `decrypt_half` in formal/coq/schemes.v.
    /// Proved: `decrypt_correct` in formal/coq/schemes.v.
    /// Proved: `djn_randomiser` in formal/coq/schemes.v.
    fn decrypt(&self, factors: &Factors, c: &Batch) -> Result<Batch, Error> {
        let (p, q) = factors.powers(c, c, (&self.exponents.0, &self.exponents.1), self.bits);
        let fault = if self.is_short { ErrorKind::ForeignRandomiser } else { ErrorKind::CiphertextSharesFactor };
        require_ones(&p.low, &q.low, fault)?;
        let m_p = factors.square_p.root().mul_by(&p.high, &self.h_p);
        let m_q = factors.square_q.root().mul_by(&q.high, &self.h_q);
        Ok(self.chinese.combine(&m_p, &m_q))
    }
}

/// The inverses modulo `p` and `q` of the high parts that the exponents yield for a plaintext of 1.
/// Multiplying by them gives the plaintext from any other high part (the `e_p` and `e_q` of
/// \[HDSST25\]).
fn inverses(factors: &Factors, steps: &(Batch, Batch)) -> (Factor, Factor) {
    let less_one = factors.less_one();
    let inverse = |modulus: &Modulus, step: &Batch, less_one: &[u64]| {
        modulus.factor(&power(modulus, step.row(0), &difference(less_one, &[1])))
    };
    let (p, q) = (factors.square_p.root(), factors.square_q.root());
    (inverse(p, &steps.0, &less_one.0), inverse(q, &steps.1, &less_one.1))
}

impl Memory for Decryption {
    fn memory(&self, ranges: &mut Vec<Range<usize>>) {
        [&self.exponents.0, &self.exponents.1].iter().for_each(|exponent| exponent.memory(ranges));
        [&self.h_p, &self.h_q].iter().for_each(|factor| factor.memory(ranges));
        self.chinese.memory(ranges);
    }
}
