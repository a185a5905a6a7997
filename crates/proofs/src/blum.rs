//! A proof that a public key's `n` is a Blum number: a product of two primes, or of powers of two
//! primes, both 3 modulo 4.
//!
//! Numbers `y` follow from a hash of `n`, and `w` is the least number with the Jacobi symbol -1.
//! Modulo a Blum number exactly one of `y`, `-y`, `w y` and `-w y` has a square root, and the
//! prover shows it (\[GP87\]). If `n` has more prime factors than two, or one that is 1 modulo 4,
//! at most half of all numbers have such a root, so [`ROUNDS`] of them leave a chance of `2^-128`.
//! What remains are powers: of a single prime, which a verifier excludes by looking whether `n` is
//! one, and higher ones than the first, which [`roots`](crate::roots) exclude.
//!
//! That both primes are about as long the proof does not show.

use crate::error::{Error, ErrorKind};
use crate::hashed::hashed;
use hearith_arith::natural::{add_assign, bit_length, difference, divide_word, product_in, shifted_down};
use hearith_arith::{Batch, Exponents, Modulus};
use hearith_paillier::{Openings, PrivateKey, PublicKey};

/// Roots in a proof.
pub const ROUNDS: usize = 128;
/// Of so many numbers one has the Jacobi symbol -1, unless `n` is a square or made to have none.
const MOST: u64 = 1000;

/// Proves it, by the key's owner. The roots are the ones that are squares themselves, the same
/// every time: two different ones would give the key away.
///
/// # Errors
/// [`NotBlum`](ErrorKind::NotBlum), or if a number that the hash gives shares a factor with `n`,
/// which nobody will see.
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
        // Which of the four it is everybody sees in the proof.
        for row in (0..ROUNDS).filter(|&row| squares.row(row) == candidates.row(row)) {
            chosen.row_mut(row).copy_from_slice(roots.row(row));
        }
    }
    Ok(public.openings_from_be(&chosen.to_be_bytes(public.plaintext_bytes()))?)
}

/// Checks a proof that [`PublicKey::openings_from_be`] has read.
///
/// # Errors
/// [`DoesNotHold`](ErrorKind::DoesNotHold) with the first root that is none, or if there are not
/// [`ROUNDS`], or `n` is no number for it.
pub fn verify(key: &PublicKey, roots: &Openings) -> Result<(), Error> {
    // Of two primes that are both 3 modulo 4 the product is 1.
    let fits = roots.key_id() == key.id() && roots.len() == ROUNDS && key.root().as_limbs()[0] & 3 == 1;
    let Some(candidates) = candidates(key).filter(|_| fits) else { return Err(ErrorKind::DoesNotHold.into()) };
    let squares = key.root().mul(roots.batch(), roots.batch());
    let holds = |row: &usize| candidates.iter().any(|candidates| candidates.row(*row) == squares.row(*row));
    (0..ROUNDS).find(|row| !holds(row)).map_or(Ok(()), |row| Err(ErrorKind::DoesNotHold.at_row(row)))
}

/// What roots are of: `y`, `w y`, `-y` and `-w y` for all numbers `y`, where `w` has the Jacobi
/// symbol -1; `None` if there is no small `w`.
pub fn candidates(key: &PublicKey) -> Option<[Batch; 4]> {
    let n = key.root();
    let w = (2..MOST).find(|&w| jacobi(w, n.as_limbs()) == -1)?;
    let numbers = hashed("blum", key, ROUNDS);
    let multiples = n.mul_by(&numbers, &n.factor(&[w]));
    let (below, multiples_below) = (n.neg(&numbers), n.neg(&multiples));
    Some([numbers, multiples, below, multiples_below])
}

/// For numbers that are squares modulo both primes the root that is a square itself; for others
/// anything. Constant time.
fn square_roots(key: &PrivateKey, numbers: &Batch) -> Result<Batch, Error> {
    let [p, q] = key.primes();
    let engine = key.public().engine();
    let modulus = |prime| Modulus::new(engine, prime).map_err(|error| Error::from(ErrorKind::Scheme(error.into())));
    let (of_p, of_q) = (modulus(p)?, modulus(q)?);
    // x^((p + 1) / 4): of squares a root, since (p - 1) / 2 is odd.
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

/// The Jacobi symbol `(w / n)` of a small number by an odd one, by reciprocity.
fn jacobi(w: u64, n: &[u64]) -> i32 {
    let twos = w.trailing_zeros();
    let odd = w >> twos;
    // (2 / n) by n modulo 8; turning (odd / n) over by both modulo 4.
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
