//! GMP alone: the same formulas with `mpz_powm` (variable time) or `mpz_powm_sec` (constant time).

use crate::Result;
use crate::contestant::{Contestant, Way};
use crate::number::{random_below, random_bits};
use crate::workload::{ROWS, Workload};
use rug::{Complete, Integer};
use std::hint::black_box;
use std::time::Instant;

/// GMP with one of its two modular exponentiations.
pub struct Gmp<'a> {
    workload: &'a Workload,
    secure: bool,
    /// `p`, `q` and the decryption constants modulo each.
    halves: [Half; 2],
    /// `p^-1 mod q`, for joining residues modulo the primes.
    p_inverse: Integer,
    /// `p^-2 mod q^2`, for joining residues modulo their squares.
    p_squared_inverse: Integer,
    lambda: Integer,
    mu: Integer,
    /// `h^n mod n^2`.
    power_of_h: Integer,
    randomisers: Vec<Integer>,
}

struct Half {
    prime: Integer,
    less_one: Integer,
    square: Integer,
    /// `L((n+1)^(p-1) mod p^2)^-1 mod p`.
    factor: Integer,
}

impl Half {
    fn new(prime: &Integer, n: &Integer) -> Self {
        let less_one = (prime - 1u32).complete();
        let square = prime.clone().square();
        let power = Integer::from(n + 1u32).pow_mod(&less_one, &square).expect("a positive exponent");
        let factor = (power - 1u32).div_exact(prime).invert(prime).expect("a unit");
        Half { prime: prime.clone(), less_one, square, factor }
    }
}

impl<'a> Gmp<'a> {
    /// Prepares GMP for a workload, with `mpz_powm_sec` if `secure`.
    pub fn new(workload: &'a Workload, secure: bool) -> Self {
        let Workload { p, q, n, n_squared, h, .. } = workload;
        let halves = [Half::new(p, n), Half::new(q, n)];
        let invert = |a: &Integer, m: &Integer| a.invert_ref(m).map(Integer::from).expect("p and q are coprime");
        let lambda = halves[0].less_one.clone().lcm(&halves[1].less_one);
        let power_of_h = h.pow_mod_ref(n, n_squared).map(Integer::from).expect("a positive exponent");
        Gmp {
            workload,
            secure,
            p_inverse: invert(p, q),
            p_squared_inverse: invert(&halves[0].square, &halves[1].square),
            mu: invert(&lambda, n),
            lambda,
            randomisers: (0..ROWS).map(|_| random_below(n_squared)).collect(),
            power_of_h,
            halves,
        }
    }

    fn pow(&self, base: &Integer, exponent: &Integer, modulus: &Integer) -> Integer {
        if self.secure {
            base.secure_pow_mod_ref(exponent, modulus).into()
        } else {
            base.pow_mod_ref(exponent, modulus).expect("a positive exponent").into()
        }
    }

    fn row(&self, way: Way, row: usize) -> Integer {
        let Workload { bits, n, n_squared, plaintexts, left, right, scalars, .. } = self.workload;
        let encrypt = |randomiser: Integer| (n * &plaintexts[row] + Integer::from(1)) * randomiser % n_squared;
        match way {
            Way::EncryptPublic => encrypt(self.pow(&random_below(n), n, n_squared)),
            Way::EncryptOwner => encrypt(self.owner_randomiser()),
            Way::EncryptDjn => encrypt(self.pow(&self.power_of_h, &random_bits(bits / 2), n_squared)),
            Way::EncryptOnline => (n * &plaintexts[row] + Integer::from(1)) * &self.randomisers[row] % n_squared,
            Way::DecryptStandard => self.decrypt_standard(&left[row]),
            Way::DecryptCrt => self.decrypt_crt(&left[row]),
            Way::Add => (&left[row] * &right[row]).complete() % n_squared,
            Way::Scale => self.pow(&left[row], &Integer::from(scalars[row]), n_squared),
            Way::DecryptEcrt | Way::DecryptDual | Way::DecryptOne => unreachable!("not among the ways of GMP"),
        }
    }

    /// An `n`-th power: a `p`-th power modulo `p^2` and a `q`-th power modulo `q^2`, joined.
    fn owner_randomiser(&self) -> Integer {
        let [p, q] = &self.halves;
        let [a, b] = [p, q].map(|half| self.pow(&random_below(&half.prime), &half.prime, &half.square));
        let difference = (b - &a) * &self.p_squared_inverse;
        a + difference.modulo(&q.square) * &p.square
    }

    fn decrypt_standard(&self, ciphertext: &Integer) -> Integer {
        let power = self.pow(ciphertext, &self.lambda, &self.workload.n_squared);
        (power - 1u32).div_exact(&self.workload.n) * &self.mu % &self.workload.n
    }

    fn decrypt_crt(&self, ciphertext: &Integer) -> Integer {
        let [a, b] = self.halves.each_ref().map(|half| {
            let reduced = (ciphertext % &half.square).complete();
            let power = self.pow(&reduced, &half.less_one, &half.square);
            (power - 1u32).div_exact(&half.prime) * &half.factor % &half.prime
        });
        let difference = (b - &a) * &self.p_inverse;
        a + difference.modulo(&self.workload.q) * &self.workload.p
    }
}

/// The ways that depend on the exponentiation, and those that do not.
const WAYS: [Way; 8] = [
    Way::EncryptPublic,
    Way::EncryptOwner,
    Way::EncryptDjn,
    Way::DecryptStandard,
    Way::DecryptCrt,
    Way::Scale,
    Way::EncryptOnline,
    Way::Add,
];
const POWER_WAYS: usize = 6;

impl Contestant for Gmp<'_> {
    fn name(&self) -> &str {
        if self.secure { "GMP mpz_powm_sec" } else { "GMP mpz_powm" }
    }

    fn ways(&self) -> &[Way] {
        if self.secure { &WAYS[..POWER_WAYS] } else { &WAYS }
    }

    fn comparable(&self, way: Way) -> Option<Way> {
        let way = match way {
            Way::DecryptEcrt | Way::DecryptDual | Way::DecryptOne => Way::DecryptCrt,
            way => way,
        };
        self.ways().contains(&way).then_some(way)
    }

    fn run(&mut self, way: Way, rows: usize, repeats: usize) -> Result<f64> {
        let start = Instant::now();
        for _ in 0..repeats {
            for row in 0..rows {
                black_box(self.row(way, row));
            }
        }
        Ok(start.elapsed().as_secs_f64())
    }

    fn output(&mut self, way: Way, rows: usize) -> Result<Vec<Integer>> {
        // For timing, random numbers serve as randomisers. Checked results need real ones, used
        // once.
        if way == Way::EncryptOnline {
            for row in 0..rows {
                self.randomisers[row] = self.owner_randomiser();
            }
        }
        Ok((0..rows).map(|row| self.row(way, row)).collect())
    }
}
