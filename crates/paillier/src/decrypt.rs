//! Decryption, with arithmetic modulo `p` and `q` only.
//!
//! Modulo `p^2`, `c^(p-1) = 1 + L p`. In the parts that [`Square`](hearith_arith::Square) computes
//! with, that is `(1, L)`: the function `L(x) = (x - 1) / p` and its division are gone, and a low
//! part other than 1 gives a ciphertext away that is not a unit. As
//! `(1 + n)^(p-1) = 1 - n = 1 - q p` modulo `p^2`, the plaintext is `m = L (-q)^-1` modulo `p`,
//! likewise modulo `q`.
//!
//! Under a subgroup key ([`Variant::Subgroup`](crate::Variant::Subgroup)) with `P = 2 p u + 1` the
//! power `2 p` is enough. The randomiser is the power `n` of an element whose order modulo `P`
//! divides `2 p`, so `c^(2 p) = (1 + n)^(2 p m) = 1 + 2 p m Q P` modulo `P^2`, and
//! `m = L (2 p Q)^-1` modulo `P`. A ciphertext with any other randomiser has another low part.
//!
//! Both halves are looked at before they are put together: a number that is right in one half only
//! would give a factor of `n` away. A foreign row and one that shares a factor with `n` end in one
//! error, whichever half shows it.

use crate::ciphertexts::check_key;
use crate::key::factors::{Chinese, Factors, power, require_ones};
use crate::key::subgroup::Orders;
use crate::{Ciphertexts, Error, ErrorKind, Plaintexts, PrivateKey};
use hearith_arith::natural::{Secret, difference, product_in};
use hearith_arith::{Batch, Factor, Memory, Modulus};
use std::ops::Range;

impl PrivateKey {
    /// Decrypts every ciphertext; constant time in the key, the ciphertexts and the plaintexts.
    ///
    /// It believes the CPU. Where the results are seen by others and the machine may err,
    /// [`PrivateKey::decrypt_checked`] does not.
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey), or
    /// [`CiphertextSharesFactor`](crate::ErrorKind::CiphertextSharesFactor) for the first row that
    /// shares a factor with `n`. Under a subgroup key
    /// [`ForeignRandomiser`](crate::ErrorKind::ForeignRandomiser) instead (but see
    /// [`PrivateKey::any_randomiser`]), for the first row of which that is so or whose randomiser
    /// is not one of this key's.
    pub fn decrypt(&self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, Error> {
        self.decrypt_by(self.short_decryption().unwrap_or(self.decryption()), ciphertexts)
    }

    /// Decrypts as [`PrivateKey::decrypt`] does, whatever randomisers the ciphertexts have: under a
    /// subgroup key with the exponents of other keys, which take three to five times as long.
    /// Constant time in the same way.
    ///
    /// It is for all rows or none: what tried the short exponents first would tell by its time
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

/// What decryption derives from the key.
pub(crate) struct Decryption {
    pub(crate) exponents: (Secret, Secret),
    /// Bits of both.
    pub(crate) bits: u32,
    /// Whether they are those of a subgroup.
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

    /// With the exponents of a subgroup, beside `full`, which puts the halves together in the same
    /// way.
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

/// The inverses, modulo `p` and `q`, of what the exponents make of a plaintext of 1: they take
/// every other one to its plaintext (the `e_p` and `e_q` of \[HDSST25\]).
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
