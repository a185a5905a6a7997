//! The workload: one key and the same numbers for every library.

use crate::Result;
use crate::number::{from_be, random_below, random_bits};
use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant};
use rug::{Complete, Integer};
use serde::Deserialize;

/// Rows of every input.
pub const ROWS: usize = 256;

/// Bits of the scalars that ciphertexts are multiplied by.
pub const SCALAR_BITS: u32 = 64;

/// One key and the numbers that every library computes with.
pub struct Workload {
    /// Bits of `n`.
    pub bits: u32,
    /// The private key as a JSON Web Key, of the DJN variant.
    pub jwk: String,
    /// The primes, `p < q`.
    pub p: Integer,
    /// The other prime, see `p`.
    pub q: Integer,
    /// `p q`.
    pub n: Integer,
    /// `n^2`.
    pub n_squared: Integer,
    /// The generator of the DJN variant.
    pub h: Integer,
    /// Random residues modulo `n`.
    pub plaintexts: Vec<Integer>,
    /// Ciphertexts of the plaintexts.
    pub left: Vec<Integer>,
    /// Other ciphertexts.
    pub right: Vec<Integer>,
    /// Random 64-bit numbers, the highest bit set.
    pub scalars: Vec<u64>,
}

impl Workload {
    /// Creates a random key of `bits` bits and random numbers.
    pub fn new(bits: u32) -> Result<Self> {
        let key = PrivateKey::generate(bits, Variant::Djn, KeyPolicy::AllowInsecure, Engine::Serial)?;
        let jwk = key.to_jwk().to_string();
        let (p, q) = primes(&jwk)?;
        let n = (&p * &q).complete();
        let n_squared = n.clone().square();
        let h = from_be(&key.public().generator_be().expect("a DJN key has a generator"));
        let plaintexts: Vec<_> = (0..ROWS).map(|_| random_below(&n)).collect();
        let left = ciphertexts(&plaintexts, &n, &n_squared);
        let right = ciphertexts(&plaintexts, &n, &n_squared);
        let scalars = (0..ROWS).map(|_| random_bits(SCALAR_BITS).to_u64_wrapping() | 1 << 63).collect();
        Ok(Workload { bits, jwk, p, q, n, n_squared, h, plaintexts, left, right, scalars })
    }

    /// Decrypts a ciphertext by the textbook formula.
    pub fn decrypt(&self, ciphertext: &Integer) -> Integer {
        let lambda = ((&self.p - 1u32).complete()).lcm(&(&self.q - 1u32).complete());
        let power = ciphertext.pow_mod_ref(&lambda, &self.n_squared).map(Integer::from).expect("a positive exponent");
        let quotient = (power - 1u32).div_exact(&self.n);
        let mu = lambda.invert(&self.n).expect("lambda is a unit");
        quotient * mu % &self.n
    }
}

/// Valid ciphertexts of the plaintexts. The randomisers are powers of one random `n`-th power,
/// which is fast and looks as random as any.
fn ciphertexts(plaintexts: &[Integer], n: &Integer, n_squared: &Integer) -> Vec<Integer> {
    let step = random_below(n).pow_mod(n, n_squared).expect("a positive exponent");
    let mut randomiser = step.clone();
    let row = |plaintext: &Integer| {
        randomiser = (&randomiser * &step).complete() % n_squared;
        (n * plaintext + Integer::from(1)) * &randomiser % n_squared
    };
    plaintexts.iter().map(row).collect()
}

/// The primes of a private key, read from its JSON Web Key.
fn primes(jwk: &str) -> Result<(Integer, Integer)> {
    #[derive(Deserialize)]
    struct Primes {
        p: String,
        q: String,
    }
    let primes: Primes = serde_json::from_str(jwk)?;
    Ok((base64url(&primes.p)?, base64url(&primes.q)?))
}

/// The number encoded in unpadded base64url.
fn base64url(text: &str) -> Result<Integer> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut number = Integer::new();
    for byte in text.bytes() {
        let digit = DIGITS.iter().position(|&digit| digit == byte).ok_or("not base64url")?;
        number = (number << 6u32) + digit as u32;
    }
    Ok(number >> (6 * text.len() % 8) as u32)
}
