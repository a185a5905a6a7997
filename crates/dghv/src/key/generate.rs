//! Key generation: \[CNT12\], section 3.2. Its compression also works for the quadratic scheme of
//! \[CMNT11\].

use super::{KeyPair, PrivateKey, PublicKey};
use crate::elements::{Elements, SEED_BYTES};
use crate::number::{Residues, add_modulus_if_borrowed, bits_of, product_of, secret_product};
use crate::random;
use crate::{Error, Parameters};
use hearith_arith::Engine;
use hearith_arith::natural::{Secret, add_assign, product, resized, sub_assign};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use zeroize::Zeroizing;

/// Length in bits of the prime factors of `q_0`: longer than `lambda` of every set, and too long
/// for elliptic-curve factoring.
const FACTOR_BITS: u32 = 256;

pub(super) fn key_pair(
    parameters: &Parameters,
    engine: Engine,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<KeyPair, Error> {
    engine.available().map_err(Error::from)?;
    let lengths = *parameters.lengths();
    let prime = random::prime(lengths.secret);
    let all = u64::from(factors(lengths.modulus - lengths.secret)) + parameters.key_elements() as u64;
    let steps = Steps { done: AtomicU64::new(0), all, progress };
    let modulus = modulus(&prime, lengths.modulus, &steps);
    let mut seed = [0; SEED_BYTES];
    getrandom::fill(&mut seed)?;
    let elements = Elements::new(&seed, lengths.modulus);
    let residues = Residues::new(&prime, parameters.limbs());
    let corrections: Result<Vec<Vec<u64>>, Error> = (0..parameters.key_elements())
        .into_par_iter()
        .map(|index| {
            let residue = residues.reduce(&elements.number(index));
            let correction = correction(parameters, &residue, &prime, None)?;
            steps.next();
            Ok(correction)
        })
        .collect();
    let public = PublicKey::new(parameters.clone(), engine, seed, modulus, corrections?.concat())?;
    let private = PrivateKey::new(parameters.clone(), public.id(), &prime);
    Ok(KeyPair { private, public })
}

/// Counts the steps done and reports progress.
struct Steps<'a> {
    done: AtomicU64,
    all: u64,
    progress: &'a (dyn Fn(u64, u64) + Sync),
}

impl Steps<'_> {
    fn next(&self) {
        (self.progress)(self.done.fetch_add(1, Ordering::Relaxed) + 1, self.all);
    }
}

/// The number of 256-bit primes that certainly leaves room for one more factor.
fn factors(missing: u32) -> u32 {
    (missing / FACTOR_BITS).saturating_sub(1)
}

/// `A_0 = p q_0` of exactly `bits` bits. `q_0` is a product of random primes, so it has no square
/// and no small factors.
fn modulus(prime: &[u64], bits: u32, steps: &Steps<'_>) -> Vec<u64> {
    let mut most = resized(prime, prime.len());
    let mut missing = bits - bits_of(&most) as u32;
    // A product of primes is shorter than the sum of their lengths, by almost half a bit per prime.
    // A second round fills the gap.
    for round in 0.. {
        let primes: Vec<Secret> = (0..factors(missing))
            .into_par_iter()
            .map(|_| {
                let factor = random::prime_of_256_bits();
                if round == 0 {
                    steps.next();
                }
                factor
            })
            .collect();
        if primes.is_empty() {
            break;
        }
        most = secret_product(&product_of(&primes), &most);
        missing = bits - bits_of(&most) as u32;
    }
    // The last factor has as many bits as are missing, or one more. The top bits of the product
    // decide which of the two lengths can give exactly `bits` bits.
    loop {
        for length in [missing, missing + 1] {
            // A product of the wrong length must stay secret: its common divisor with the modulus
            // is the product of all factors but the last, including `p`.
            let number = Zeroizing::new(product(&most, &random::prime(length)));
            if bits_of(&number) == u64::from(bits) {
                return number[..bits.div_ceil(64) as usize].to_vec();
            }
        }
    }
}

/// `(chi mod p) + xi p - r`, with `xi` uniform below `2^lambda` and `r` in `(-2^rho, 2^rho)`, of
/// the given parity if there is one. Subtracting it makes the element congruent to `r` modulo `p`,
/// and `xi` hides the residue.
pub(crate) fn correction(
    parameters: &Parameters,
    residue: &[u64],
    prime: &[u64],
    parity: Option<u64>,
) -> Result<Vec<u64>, Error> {
    let (lengths, limbs) = (parameters.lengths(), parameters.correction_limbs());
    let xi = random::bits(lengths.security.div_ceil(64) as usize, lengths.security)?;
    let mut correction = resized(&Zeroizing::new(product(prime, &xi)), limbs);
    add_assign(&mut correction, residue);
    // r = 2^rho - u for u in [1, 2^(rho + 1)). If the lowest bit is replaced, u is at least 2.
    let width = limbs.min((lengths.key_noise as usize + 2).div_ceil(64));
    let u = loop {
        let mut u = random::bits(width, lengths.key_noise + 1)?;
        if bits_of(&u) > u64::from(parity.is_some()) {
            u[0] = parity.map_or(u[0], |parity| u[0] & !1 | parity);
            break u;
        }
    };
    let mut shift = Zeroizing::new(vec![0; width]);
    shift[lengths.key_noise as usize / 64] = 1 << (lengths.key_noise % 64);
    add_assign(&mut correction, &u);
    let borrow = sub_assign(&mut correction, &shift);
    add_modulus_if_borrowed(&mut correction, borrow, &resized(prime, limbs));
    Ok(correction.to_vec())
}
