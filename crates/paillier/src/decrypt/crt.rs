//! Decryption as Algorithm 3 of the MESA paper has it ("CRT-base Paillier").
//!
//! The steps are numbered as there. The exponentiations run by windows instead of the paper's ladder. A power may come
//! out one modulus too large, which step 3 mends. Where the paper prints the modulus `p` for the `q` branch, it is `q`.

use super::dual::plaintext_factors;
use super::unjudged::{Unjudged, quotient};
use crate::key::factors::Factors;
use crate::natural::{Secret, product};
use crate::{Error, ErrorKind, PublicKey};
use hearith_arith::{ArithError, Batch, Exponents, Memory, Modulus};
use std::ops::Range;

/// Quarters of `2 N` bits of the moduli `p^2`, `q^2` and `n`, and of `p` and `q`.
const WHOLE: u32 = 2;
const HALF: u32 = 1;

/// Powers modulo `p^2` and `q^2`, which both algorithms of the paper start with.
pub(super) struct Powers {
    squared: [Modulus; 2],
    exponents: [Secret; 2],
}

impl Powers {
    pub(super) fn new(public: &PublicKey, factors: &Factors) -> Result<Self, ArithError> {
        let (p_squared, q_squared) = factors.squares();
        let (p_less, q_less) = factors.less_one();
        let modulus = |m: &Secret| Modulus::new(public.engine(), m);
        Ok(Powers { squared: [modulus(&p_squared)?, modulus(&q_squared)?], exponents: [p_less, q_less] })
    }

    /// `c^(p-1) mod p^2` and `c^(q-1) mod q^2`.
    pub(super) fn of(&self, factors: &Factors, c: &Batch) -> [Batch; 2] {
        [0, 1].map(|i| self.squared[i].pow(c, Exponents::Shared(&self.exponents[i], factors.bits)))
    }
}

impl Memory for Powers {
    fn memory(&self, ranges: &mut Vec<Range<usize>>) {
        self.squared.iter().for_each(|modulus| modulus.memory(ranges));
        self.exponents.iter().for_each(|exponent| exponent.memory(ranges));
    }
}

/// The constants of one prime's branch.
struct Branch {
    /// `p^2`, of which only judgements are made.
    squared: Unjudged,
    prime: Unjudged,
    divisor: Secret,
    /// `e_p` in Montgomery form modulo `p`.
    e: Secret,
    /// `l_3 = q (q^-1 mod p)` in Montgomery form modulo `n`.
    l: Secret,
}

pub(crate) struct Crt {
    powers: Powers,
    n: Unjudged,
    branches: [Branch; 2],
}

impl Crt {
    pub(crate) fn new(public: &PublicKey, factors: &Factors) -> Result<Self, ArithError> {
        let engine = public.engine();
        let n = Unjudged::new(engine, public.modulus(), WHOLE)?;
        let (p_squared, q_squared) = factors.squares();
        let (e_p, e_q) = plaintext_factors(factors);
        let (l_p, l_q) = idempotents(factors);
        let branch = |squared: &[u64], prime: &Secret, e: &[u64], l: &[u64]| {
            let modulus = Unjudged::new(engine, prime, HALF)?;
            let (e, l) = (modulus.enter(e), n.enter(l));
            Ok(Branch { squared: Unjudged::new(engine, squared, WHOLE)?, prime: modulus, divisor: prime.clone(), e, l })
        };
        let branches = [branch(&p_squared, &factors.p, &e_p, &l_p)?, branch(&q_squared, &factors.q, &e_q, &l_q)?];
        Ok(Crt { powers: Powers::new(public, factors)?, branches, n })
    }

    /// The plaintexts of ciphertexts below `n^2`.
    pub(crate) fn decrypt(&self, factors: &Factors, c: &Batch) -> Result<Batch, Error> {
        post_process(&self.powers.of(factors, c), factors.limbs(), |at_p, at_q| self.plaintext(at_p, at_q))
    }

    /// Steps 3 to 9 for powers below `2 p^2` and `2 q^2`; with 1 if both are 1 modulo `p` and `q`, else 0.
    fn plaintext(&self, at_p: &[u64], at_q: &[u64]) -> (Secret, u64) {
        let (m_p, unit_p) = self.branch(&self.branches[0], at_p);
        let (m_q, unit_q) = self.branch(&self.branches[1], at_q);
        (self.n.add(&m_p, &m_q), unit_p & unit_q)
    }

    /// One branch of steps 3 to 8.
    fn branch(&self, of: &Branch, power: &[u64]) -> (Secret, u64) {
        let mut u = of.squared.load(power);
        of.squared.judge(&mut u); // 3
        let (l, unit) = quotient(&u, &of.divisor); // 4
        let mut m = of.prime.multiply(&l, &of.e); // 5
        of.prime.judge(&mut m); // 6
        let mut m = self.n.multiply(&m, &of.l); // 7
        self.n.judge(&mut m); // 8
        (m, unit)
    }
}

impl Memory for Crt {
    fn memory(&self, ranges: &mut Vec<Range<usize>>) {
        self.powers.memory(ranges);
        for Branch { squared, prime, divisor, e, l } in &self.branches {
            [squared, prime].iter().for_each(|modulus| modulus.memory(ranges));
            [divisor, e, l].iter().for_each(|number| number.memory(ranges));
        }
    }
}

/// Applies the post-processing to the powers of every row; fails for the first row that is no unit.
pub(super) fn post_process(
    powers: &[Batch; 2],
    limbs: usize,
    step: impl Fn(&[u64], &[u64]) -> (Secret, u64),
) -> Result<Batch, Error> {
    let mut plaintexts = Batch::zeros(powers[0].len(), limbs);
    for (row, (at_p, at_q)) in powers[0].rows().zip(powers[1].rows()).enumerate() {
        let (plaintext, unit) = step(at_p, at_q);
        if unit == 0 {
            return Err(ErrorKind::CiphertextSharesFactor.at_row(row));
        }
        plaintexts.row_mut(row).copy_from_slice(&plaintext[..limbs]);
    }
    Ok(plaintexts)
}

/// `l_3 = q (q^-1 mod p)` and `l_4 = p (p^-1 mod q)`: 1 modulo one prime and 0 modulo the other.
pub(super) fn idempotents(factors: &Factors) -> (Secret, Secret) {
    let (e_p, e_q) = plaintext_factors(factors);
    let positive = |modulus: &Modulus, e: &[u64]| Secret::new(modulus.neg(&Batch::repeat(e, 1)).row(0).to_vec());
    (
        product(&factors.q, &positive(factors.square_p.root(), &e_p), factors.limbs()),
        product(&factors.p, &positive(factors.square_q.root(), &e_q), factors.limbs()),
    )
}

#[cfg(test)]
mod tests {
    use super::super::unjudged::Unjudged;
    use super::*;
    use crate::{Engine, KeyPolicy, PrivateKey, Variant};
    use hearith_arith::limbs::add_assign;

    /// Both algorithms must take powers that are one modulus too large, which a lazy exponentiation may leave.
    #[test]
    fn powers_may_be_unreduced() {
        for bits in [64, 126, 128, 130, 512] {
            let key = PrivateKey::generate(bits, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
            let (public, factors) = (key.public(), key.factors());
            let crt = Crt::new(public, factors).unwrap();
            let ecrt = super::super::ecrt::Ecrt::new(public, factors).unwrap();
            let m = crate::random::units(5, public.modulus()).unwrap();
            let plaintexts = crate::Plaintexts::new(public.id(), public.plaintext_bytes(), m.clone());
            let [at_p, at_q] = crt.powers.of(factors, public.encrypt(&plaintexts).unwrap().batch());
            let (p_squared, q_squared) = factors.squares();
            let larger = |number: &[u64], by: &[u64]| {
                let room = Unjudged::new(Engine::best(), by, WHOLE).unwrap();
                let mut number = room.load(number);
                add_assign(&mut number, by);
                number
            };
            for row in 0..5 {
                let (p, q) = (at_p.row(row), at_q.row(row));
                let (over_p, over_q) = (larger(p, &p_squared), larger(q, &q_squared));
                for (p, q) in [(p, q), (&over_p, q), (p, &over_q), (&over_p, &over_q)] {
                    for (found, unit) in [crt.plaintext(p, q), ecrt.plaintext(p, q)] {
                        assert_eq!((&found[..factors.limbs()], unit), (m.row(row), 1));
                    }
                }
            }
        }
    }
}
