//! A proof that a public key's `n` is a Blum number: a product of two primes, or of powers of two
//! primes, both 3 modulo 4.
//!
//! Numbers `y` are derived from a hash of `n`, and `w` is the smallest number with Jacobi symbol
//! -1. Modulo a Blum number, exactly one of `y`, `-y`, `w y` and `-w y` has a square root, which
//! the prover shows (\[GP87\]). If `n` has more than two prime factors, or one that is 1 modulo 4,
//! at most half of all numbers have such a root. So [`ROUNDS`] numbers leave a cheating probability
//! of `2^-128`. Two cases remain. The verifier excludes powers of a single prime by a check of `n`,
//! and [`roots`](crate::roots) excludes higher powers.
//!
//! The proof does not show that both primes have similar lengths.

use crate::error::{Error, ErrorKind};
use crate::hashed::hashed;
use hearith_arith::natural::{add_assign, bit_length, difference, divide_word, product_in, shifted_down};
use hearith_arith::{Batch, Exponents, Modulus};
use hearith_paillier::{Openings, PrivateKey, PublicKey};

/// Number of roots in a proof.
pub const ROUNDS: usize = 128;
/// Some number below this bound has Jacobi symbol -1, unless `n` is a square or was made to have
/// none.
const MOST: u64 = 1000;

/// Proves it as the key's owner. The proof is deterministic: it contains the roots that are squares
/// themselves. Two different roots of a number would leak the key.
///
/// # Errors
/// [`NotBlum`](ErrorKind::NotBlum), or, with negligible probability, a hashed number that shares a
/// factor with `n`.
pub fn prove(key: &PrivateKey) -> Result<Openings, Error> {
    let public = key.public();
    if key.primes().iter().any(|prime| prime[0] & 3 != 3) {
        return Err(ErrorKind::NotBlum.into());
    }
    let candidates = candidates(public).ok_or(ErrorKind::NotBlum)?;
    let mut chosen = Batch::zeros(ROUNDS, public.root().limbs());
    for candidates in &candidates {
        let roots = square_roots(key, candidates)?;
        let squares = public.root().mul(&roots, &roots);
        // The proof reveals which of the four it is.
        for row in (0..ROUNDS).filter(|&row| squares.row(row) == candidates.row(row)) {
            chosen.row_mut(row).copy_from_slice(roots.row(row));
        }
    }
    Ok(public.openings_from_be(&chosen.to_be_bytes(public.plaintext_bytes()))?)
}

/// Verifies a proof read by [`PublicKey::openings_from_be`].
///
/// # Errors
/// [`DoesNotHold`](ErrorKind::DoesNotHold) with the first invalid root, or without a row if there
/// are not [`ROUNDS`] roots or `n` is unsuitable.
pub fn verify(key: &PublicKey, roots: &Openings) -> Result<(), Error> {
    // The product of two primes that are 3 modulo 4 is 1 modulo 4.
    let fits = roots.key_id() == key.id() && roots.len() == ROUNDS && key.root().as_limbs()[0] & 3 == 1;
    let Some(candidates) = candidates(key).filter(|_| fits) else { return Err(ErrorKind::DoesNotHold.into()) };
    let squares = key.root().mul(roots.batch(), roots.batch());
    let holds = |row: &usize| candidates.iter().any(|candidates| candidates.row(*row) == squares.row(*row));
    (0..ROUNDS).find(|row| !holds(row)).map_or(Ok(()), |row| Err(ErrorKind::DoesNotHold.at_row(row)))
}

/// The candidates for roots: `y`, `w y`, `-y` and `-w y` for all numbers `y`, where `w` has Jacobi
/// symbol -1. `None` if there is no small `w`.
pub fn candidates(key: &PublicKey) -> Option<[Batch; 4]> {
    let n = key.root();
    let w = (2..MOST).find(|&w| jacobi(w, n.as_limbs()) == -1)?;
    let numbers = hashed("blum", key, ROUNDS);
    let multiples = n.mul_by(&numbers, &n.factor(&[w]));
    let (below, multiples_below) = (n.neg(&numbers), n.neg(&multiples));
    Some([numbers, multiples, below, multiples_below])
}

/// For squares modulo both primes, the square root that is a square itself. For other numbers the
/// result is arbitrary. Constant time.
fn square_roots(key: &PrivateKey, numbers: &Batch) -> Result<Batch, Error> {
    let [p, q] = key.primes();
    let engine = key.public().engine();
    let modulus = |prime| Modulus::new(engine, prime).map_err(|error| Error::from(ErrorKind::Scheme(error.into())));
    let (of_p, of_q) = (modulus(p)?, modulus(q)?);
    // x^((p + 1) / 4) is a root of a square x, since (p - 1) / 2 is odd.
    let root = |modulus: &Modulus| {
        let mut exponent = shifted_down(modulus.as_limbs(), 2);
        add_assign(&mut exponent, &[1]);
        modulus.pow(numbers, Exponents::Shared(&exponent, modulus.bits()))
    };
    let (modulo_p, modulo_q) = (root(&of_p), root(&of_q));
    // x_p + p ((x_q - x_p) / p mod q), with 1 / p = p^(q - 2).
    let exponent = difference(q, &[2]);
    let inverse = of_q.pow(&Batch::from_rows(p.len(), [p]), Exponents::Shared(&exponent, bit_length(q)));
    let quotients = of_q.mul_by(&of_q.sub(&modulo_q, &of_q.reduce(&modulo_p)), &of_q.factor(inverse.row(0)));
    let limbs = key.public().root().limbs();
    let mut roots = Batch::zeros(numbers.len(), limbs);
    for ((root, quotient), low) in roots.rows_mut().zip(quotients.rows()).zip(modulo_p.rows()) {
        root.copy_from_slice(&product_in(p, quotient, limbs));
        add_assign(root, low);
    }
    Ok(roots)
}

/// The Jacobi symbol `(w / n)` of a small number and an odd one, by reciprocity.
fn jacobi(w: u64, n: &[u64]) -> i32 {
    let twos = w.trailing_zeros();
    let odd = w >> twos;
    // (2 / n) depends on n modulo 8, and the reciprocity of (odd / n) on both modulo 4.
    let mut sign = if twos % 2 == 1 && matches!(n[0] & 7, 3 | 5) { -1 } else { 1 };
    if odd & 3 == 3 && n[0] & 3 == 3 {
        sign = -sign;
    }
    match odd {
        1 => sign,
        _ => match divide_word(n, odd).1 {
            0 => 0,
            rest => sign * jacobi(rest, &[odd]),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rug::{Integer, integer::Order};

    #[test]
    fn symbols_are_those_of_gmp() {
        for n in [3, 5, 15, 21, 35, 1_000_003, u64::MAX, 0x9e37_79b9_7f4a_7c15] {
            for high in [0, 1, 77] {
                let number = Integer::from_digits(&[n, high], Order::Lsf);
                for w in 1..60 {
                    assert_eq!(jacobi(w, &[n, high]), Integer::from(w).jacobi(&number), "({w} / {number})");
                }
            }
        }
    }
}
