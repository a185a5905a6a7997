//! The dealer, who splits a private key into shares.

use crate::error::{Error, ErrorKind};
use crate::key::{KeyShare, Origin, Shared, VerificationKeys};
use crate::lagrange::factorial;
use hearith_arith::natural::{Secret, bit_length, difference, limbs_of, product_in, shifted_down};
use hearith_arith::{Batch, Exponents, Modulus, random};
use hearith_paillier::{ErrorKind as SchemeError, PrivateKey};

/// Additional random bits beyond the length of a modulus, which limit the bias of a reduction to
/// `2^-128`.
const EXTRA_BITS: u32 = 128;

/// Shares a key of safe primes ([`PrivateKey::generate_safe`]) among `trustees`. Any `needed` of
/// them can decrypt. The key itself can still decrypt, so the dealer must destroy it.
///
/// # Errors
/// [`BadThreshold`](ErrorKind::BadThreshold), [`NotSafePrimes`](ErrorKind::NotSafePrimes), or if
/// the random generator fails.
pub fn deal(private: &PrivateKey, needed: u32, trustees: u32) -> Result<(VerificationKeys, Vec<KeyShare>), Error> {
    let key = private.public();
    let shared = Shared::new(key.clone(), needed, trustees, Origin::Dealt)?;
    if !private.has_safe_primes()? {
        return Err(ErrorKind::NotSafePrimes.into());
    }
    let shares = shares(private, needed, trustees)?;
    let trustee_keys = verification(&shared, &shares);
    let trustee =
        |row: usize| KeyShare::new(shared.clone(), row as u32 + 1, trustee_keys.range(row..row + 1), shares.row(row));
    let dealt = (0..trustees as usize).map(trustee).collect::<Result<_, _>>()?;
    Ok((VerificationKeys::new(shared, trustee_keys), dealt))
}

/// `f(1) ... f(l)` modulo `n m` with `m = p' q'`, one per row, for
/// `f(X) = d + a_1 X + ... + a_(w-1) X^(w-1)` with random coefficients.
fn shares(private: &PrivateKey, needed: u32, trustees: u32) -> Result<Batch, Error> {
    let root = private.public().root();
    let (order, d) = order_and_exponent(private, root);
    let modulus = product_in(&order, root.as_limbs(), limbs_of(2 * root.bits()));
    let modulus = Modulus::new(root.engine(), &modulus[..limbs_of(bit_length(&modulus))])
        .map_err(|error| hearith_paillier::Error::from(SchemeError::Arithmetic(error)))?;
    let coefficients = below(&modulus, needed as usize - 1)?;
    let at = Batch::from_rows(1, (1..=u64::from(trustees)).map(|i| [i]).collect::<Vec<_>>().iter().map(|i| &i[..]));
    let constant = Batch::from_rows(modulus.limbs(), [&d[..modulus.limbs()]]);
    let all = Batch::concat(&[&constant, &coefficients]);
    let repeated = |row: &[u64]| Batch::repeat(row, trustees as usize);
    let horner = |values: Batch, row: &[u64]| modulus.add(&modulus.mul(&values, &at), &repeated(row));
    Ok(all.rows().rev().fold(Batch::zeros(trustees as usize, modulus.limbs()), horner))
}

/// `m = p' q'`, and the `d` below `n m` that is 0 modulo `m` and 1 modulo `n`. It is `m` times the
/// inverse of `m` modulo `n`. By Euler's theorem this inverse is `m^(2 m - 1)`, since the order of
/// every unit divides `2 m`.
fn order_and_exponent(private: &PrivateKey, root: &Modulus) -> (Secret, Secret) {
    let [half_p, half_q] = private.primes().map(|prime| shifted_down(prime, 1));
    let order = product_in(&half_p, &half_q, root.limbs());
    let twice = product_in(&order, &[2], root.limbs());
    let base = Batch::from_rows(order.len(), [&order[..]]);
    let inverse = root.pow(&base, Exponents::Shared(&difference(&twice, &[1]), root.bits()));
    let d = product_in(&order, inverse.row(0), 2 * root.limbs());
    (order, d)
}

/// `v^(D s_i)`, one per row.
fn verification(shared: &Shared, shares: &Batch) -> Batch {
    let factorial = factorial(shared.trustees());
    let mut exponents = Batch::zeros(shares.len(), shares.limbs() + 1);
    for (exponent, share) in exponents.rows_mut().zip(shares.rows()) {
        exponent.copy_from_slice(&product_in(share, &[factorial], share.len() + 1));
    }
    shared.generator_powers(&exponents).public()
}

/// Random numbers below a modulus.
fn below(modulus: &Modulus, len: usize) -> Result<Batch, Error> {
    let bits = modulus.bits() + EXTRA_BITS;
    Ok(modulus.reduce(&random::bits(len, limbs_of(bits), bits)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hearith_paillier::{Engine, KeyPolicy, Variant};
    use rug::{Integer, integer::Order};

    fn integer(limbs: &[u64]) -> Integer {
        Integer::from_digits(limbs, Order::Lsf)
    }

    #[test]
    fn the_exponent_decrypts_and_any_so_many_shares_give_it() {
        for engine in Engine::ALL.iter().copied().filter(|engine| engine.is_available()) {
            // Halves of 64 bits have one limb and 63 bits, which tests leading zeros.
            for bits in [128, 130, 256] {
                let private =
                    PrivateKey::generate_safe(bits, Variant::Standard, KeyPolicy::AllowInsecure, engine).unwrap();
                let n = integer(private.public().root().as_limbs());
                let (order, d) = order_and_exponent(&private, private.public().root());
                let (order, d) = (integer(&order), integer(&d));
                let [p, q] = private.primes().map(integer);
                assert_eq!(order, (p - 1u32) / 2u32 * ((q - 1u32) / 2u32));
                assert_eq!((Integer::from(&d % &order), Integer::from(&d % &n)), (Integer::new(), Integer::from(1)));

                let shares = shares(&private, 3, 5).unwrap();
                let modulus = n * order;
                let at = |i: u32| integer(shares.row(i as usize - 1));
                for set in [[1, 2, 3], [5, 1, 4], [3, 4, 5]] {
                    let sum: Integer =
                        crate::lagrange::coefficients(5, &set).iter().zip(set).map(|(&l, i)| at(i) * l).sum();
                    assert_eq!((sum - Integer::from(&d * 120u32)) % &modulus, 0, "{set:?}");
                }
                // Two shares do not determine the secret: another pair gives another line.
                let line = |a: u32, b: u32| {
                    let slope = (at(b) - at(a)) * Integer::from(b - a).invert(&modulus).unwrap();
                    (at(a) - slope * a).modulo(&modulus)
                };
                assert_ne!(line(1, 2), line(2, 3));
            }
        }
    }
}
