//! The attack: greatest common divisors, with a search for the noise.
//!
//! The modulus `A_0` is a multiple of the secret prime `p`, and so is an element of the public key
//! minus its noise `r`. Hence `p` divides the product of `A - r` over all possible noises, and the
//! greatest common divisor of `A_0` and that product reveals it. Following Chen and Nguyen
//! \[CN12\], the product is computed from many values of one polynomial,
//!
//! ```text
//! f(x) = x (x - 1) ... (x - d + 1)          product = f(A + s_0) f(A + s_0 - d) f(A + s_0 - 2 d) ...
//! ```
//!
//! and arithmetic on the long number `A` is done only once. By Vandermonde's identity
//!
//! ```text
//! f(A + s) = sum over k of C(d, k) A (A - 1) ... (A - k + 1)  s (s - 1) ... (s - (d - k) + 1)
//! ```
//!
//! is a polynomial of the small number `s` in Newton's form, with the same coefficients for all
//! values. It costs `2 d` products of long numbers, and for every noise a product with a one-word
//! number.

use hearith_dghv::{InsecureHistoricalParameters, PrivateKey, PublicKey};
use rayon::prelude::*;
use rug::Integer;
use rug::integer::Order;

/// Finds the private key of a public key.
pub fn find_key(public: &PublicKey) -> Option<PrivateKey> {
    let (parameters, lengths) = (public.parameters(), public.parameters().lengths());
    let number = |limbs: &[u64]| Integer::from_digits(limbs, Order::Lsf);
    let modulus = number(public.modulus());
    // The common divisor of the modulus and one element may be a multiple of the secret. For
    // several elements this is unlikely.
    let mut divisor = modulus.clone();
    for index in 0..parameters.key_elements() {
        divisor.gcd_mut(&common_divisor(&modulus, &number(&public.element(index)), lengths.key_noise)?);
        if divisor.significant_bits() <= lengths.secret {
            break;
        }
    }
    let prime: Vec<u64> = divisor.to_digits(Order::Lsf);
    let key = PrivateKey::from_parts(parameters.clone(), public.id(), &prime, InsecureHistoricalParameters).ok()?;
    key.check(public).ok().map(|()| key)
}

/// The common divisor of the modulus and of an element minus some noise `-2^bits < r < 2^bits`, if
/// it is not 1: the secret or a multiple of it.
///
/// # Panics
/// If the noise has 40 bits or more, which would take years.
pub fn common_divisor(modulus: &Integer, element: &Integer, noise_bits: u32) -> Option<Integer> {
    assert!(noise_bits < 40, "a search through 2^{noise_bits} noises");
    let degree = 1_i64 << noise_bits.div_ceil(2).min(11);
    let newton = Newton::new(modulus, element, degree);
    let bound = 1_i64 << noise_bits;
    let starts: Vec<i64> = (0..=2 * bound / degree).map(|block| bound - block * degree).collect();
    let multiply = |a: Integer, b: Integer| (a * b) % modulus;
    let product = starts.par_iter().map(|&start| newton.value(start)).reduce(|| Integer::from(1), multiply);
    Some(product.gcd(modulus)).filter(|divisor| *divisor != 1)
}

/// `f(A + s)` modulo `A_0` as a polynomial of `s`.
struct Newton<'a> {
    modulus: &'a Integer,
    /// `C(d, k) A (A - 1) ... (A - k + 1)`, from `k = 0` on.
    coefficients: Vec<Integer>,
}

impl<'a> Newton<'a> {
    fn new(modulus: &'a Integer, element: &Integer, degree: i64) -> Self {
        let (mut falling, mut binomial) = (Integer::from(1), Integer::from(1));
        let mut coefficients = vec![Integer::from(1)];
        for k in 0..degree {
            falling = falling * Integer::from(element - k) % modulus;
            binomial = binomial * (degree - k) / (k + 1);
            coefficients.push(Integer::from(&falling * &binomial) % modulus);
        }
        Newton { modulus, coefficients }
    }

    /// Evaluates the polynomial by Horner's rule. The multipliers are short, so a single reduction
    /// at the end suffices.
    fn value(&self, s: i64) -> Integer {
        let (first, others) = self.coefficients.split_first().expect("a polynomial has a constant coefficient");
        let mut value = first.clone();
        for (coefficient, j) in others.iter().zip((0..others.len() as i64).rev()) {
            value *= s - j;
            value += coefficient;
        }
        value % self.modulus
    }
}
