//! Decryption by algorithm 3 of the MESA paper \[HDSST25\] ("CRT-base Paillier").
//!
//! The steps are numbered as in the paper. The exponentiations use windows instead of the paper's
//! ladder. A power may be one modulus too large, which step 3 corrects. Where the paper prints the
//! modulus `p` for the `q` branch, this code uses `q`.

use super::factors::Factors;
use super::lazy::{LazyModulus, quotient};
use hearith_arith::natural::Secret;
use hearith_arith::{ArithError, Batch, Exponents, Modulus};
use hearith_paillier::{Error, ErrorKind};

/// Quarters of `2 N` bits: `WHOLE` for the moduli `p^2`, `q^2` and `n`, `HALF` for `p` and `q`.
const WHOLE: u32 = 2;
const HALF: u32 = 1;

/// Powers modulo `p^2` and `q^2`, the first step of both algorithms in the paper.
pub(super) struct Powers {
    squared: [Modulus; 2],
    exponents: [Secret; 2],
    /// Length of the primes in bits, and number of limbs of `n`.
    bits: u32,
    limbs: usize,
}

impl Powers {
    pub(super) fn new(factors: &Factors) -> Result<Self, ArithError> {
        let [p_squared, q_squared] = factors.squares();
        let modulus = |m: &Secret| Modulus::new(factors.n.engine(), m);
        let squared = [modulus(&p_squared)?, modulus(&q_squared)?];
        Ok(Powers { squared, exponents: factors.less_one(), bits: factors.p.bits(), limbs: factors.limbs() })
    }

    /// `c^(p-1) mod p^2` and `c^(q-1) mod q^2`.
    pub(super) fn of(&self, c: &Batch) -> [Batch; 2] {
        [0, 1].map(|i| self.squared[i].pow(c, Exponents::Shared(&self.exponents[i], self.bits)))
    }

    /// Applies the post-processing to the powers of every row. Fails with the first row that is not
    /// a unit.
    pub(super) fn post_process(
        &self,
        c: &Batch,
        step: impl Fn(&[u64], &[u64]) -> (Secret, u64),
    ) -> Result<Batch, Error> {
        let [at_p, at_q] = self.of(c);
        let mut plaintexts = Batch::zeros(c.len(), self.limbs);
        for (row, (at_p, at_q)) in at_p.rows().zip(at_q.rows()).enumerate() {
            let (plaintext, unit) = step(at_p, at_q);
            if unit == 0 {
                return Err(ErrorKind::CiphertextSharesFactor.at_row(row));
            }
            plaintexts.row_mut(row).copy_from_slice(&plaintext[..self.limbs]);
        }
        Ok(plaintexts)
    }
}

/// The constants of one prime's branch.
struct Branch {
    /// `p^2`, used only for comparison.
    squared: LazyModulus,
    prime: LazyModulus,
    divisor: Secret,
    /// `e_p` in Montgomery form modulo `p`.
    e: Secret,
    /// `l_3 = q (q^-1 mod p)` in Montgomery form modulo `n`.
    l: Secret,
}

pub(super) struct Crt {
    powers: Powers,
    n: LazyModulus,
    branches: [Branch; 2],
}

impl Crt {
    pub(super) fn new(factors: &Factors) -> Result<Self, ArithError> {
        let engine = factors.n.engine();
        let n = LazyModulus::new(engine, factors.n.as_limbs(), WHOLE)?;
        let ([p_squared, q_squared], [e_p, e_q]) = (factors.squares(), factors.plaintext_factors());
        let [l_p, l_q] = factors.idempotents();
        let branch = |squared: &[u64], prime: &Modulus, e: &[u64], l: &[u64]| {
            let divisor = Secret::new(prime.as_limbs().to_vec());
            let prime = LazyModulus::new(engine, &divisor, HALF)?;
            let (e, l) = (prime.enter(e), n.enter(l));
            Ok(Branch { squared: LazyModulus::new(engine, squared, WHOLE)?, prime, divisor, e, l })
        };
        let branches = [branch(&p_squared, &factors.p, &e_p, &l_p)?, branch(&q_squared, &factors.q, &e_q, &l_q)?];
        Ok(Crt { powers: Powers::new(factors)?, branches, n })
    }

    /// Decrypts ciphertexts below `n^2`.
    pub(super) fn decrypt(&self, c: &Batch) -> Result<Batch, Error> {
        self.powers.post_process(c, |at_p, at_q| self.plaintext(at_p, at_q))
    }

    /// Steps 3 to 9 for powers below `2 p^2` and `2 q^2`. Also returns 1 if the powers are 1 modulo
    /// `p` and `q` respectively, otherwise 0.
    fn plaintext(&self, at_p: &[u64], at_q: &[u64]) -> (Secret, u64) {
        let (m_p, unit_p) = self.branch(&self.branches[0], at_p);
        let (m_q, unit_q) = self.branch(&self.branches[1], at_q);
        (self.n.add(&m_p, &m_q), unit_p & unit_q)
    }

    /// One branch of steps 3 to 8.
    fn branch(&self, of: &Branch, power: &[u64]) -> (Secret, u64) {
        let mut u = of.squared.load(power);
        of.squared.final_subtraction(&mut u); // 3
        let (l, unit) = quotient(&u, &of.divisor); // 4
        let mut m = of.prime.multiply(&l, &of.e); // 5
        of.prime.final_subtraction(&mut m); // 6
        let mut m = self.n.multiply(&m, &of.l); // 7
        self.n.final_subtraction(&mut m); // 8
        (m, unit)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ecrt::Ecrt, lazy::LazyModulus};
    use super::*;
    use hearith_arith::natural::add_assign;
    use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant};

    /// Both algorithms must accept powers that are one modulus too large, as a lazy exponentiation
    /// may return them.
    #[test]
    fn powers_may_be_unreduced() {
        for bits in [64, 126, 128, 130, 512] {
            let key = PrivateKey::generate(bits, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
            let (public, factors) = (key.public(), Factors::new(&key).unwrap());
            let (crt, ecrt) = (Crt::new(&factors).unwrap(), Ecrt::new(&factors).unwrap());
            // Below n, since the highest byte of n is not 0 and this one is.
            let width = public.plaintext_bytes();
            let bytes: Vec<u8> =
                (0..5 * width).map(|at| if at % width == 0 { 0 } else { (at * 89 + 7) as u8 }).collect();
            let m = public.plaintexts_from_be(&bytes).unwrap();
            let [at_p, at_q] = crt.powers.of(public.encrypt(&m).unwrap().batch());
            let [p_squared, q_squared] = factors.squares();
            let larger = |number: &[u64], by: &[u64]| {
                let room = LazyModulus::new(Engine::best(), by, WHOLE).unwrap();
                let mut number = room.load(number);
                add_assign(&mut number, by);
                number
            };
            for row in 0..5 {
                let (p, q) = (at_p.row(row), at_q.row(row));
                let (over_p, over_q) = (larger(p, &p_squared), larger(q, &q_squared));
                for (p, q) in [(p, q), (&over_p, q), (p, &over_q), (&over_p, &over_q)] {
                    for (found, unit) in [crt.plaintext(p, q), ecrt.plaintext(p, q)] {
                        assert_eq!((&found[..factors.limbs()], unit), (m.batch().row(row), 1));
                    }
                }
            }
        }
    }
}
