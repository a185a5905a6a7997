//! Checks of the dealer: `v` follows from `n`, and all `v_i` lie on one polynomial.
//! docs/explanation/threshold.md explains why this suffices.

use crate::error::{Error, ErrorKind};
use crate::key::{Shared, joined};
use crate::lagrange::{coefficients, factorial};
use hearith_arith::{Batch, Exponents, Pairs};
use hearith_paillier::PublicKey;
use hearith_proofs::hashed;

/// Bits of a Lagrange coefficient, for any set of trustees.
const COEFFICIENT_BITS: u32 = 96;

/// `v = ((1 + n) H^n)^2` modulo `n^2`, where `H` is a hash of `n`. Its plaintext is 2, and nobody
/// can choose the rest.
pub(crate) fn generator(key: &PublicKey) -> Result<Batch, Error> {
    let squared = key.squared();
    let hashed = hashed("base", key, 1).resize(squared.limbs());
    let power = joined(key, &key.square().pow(&hashed, Exponents::Public(key.root().as_limbs())));
    let root = squared.mul(&power, &plain(key, 1));
    let generator = squared.mul(&root, &root).public();
    // A number shares a factor with n only by chance.
    key.check_coprime(&key.ciphertexts_from_be(&generator.to_be_bytes(key.ciphertext_bytes()))?)?;
    Ok(generator)
}

/// Fails unless `prod v_i^(lambda_i) = (1 + n)^(2 D^2)`, up to a square root of 1, for every window
/// of `w` neighbouring trustees. Two neighbouring windows share `w - 1` trustees and the value at
/// 0, so all shares lie on one polynomial.
pub(crate) fn check_windows(shared: &Shared, trustee_keys: &Batch) -> Result<(), Error> {
    let (key, needed, trustees) = (shared.key(), shared.needed(), shared.trustees());
    let squared = key.squared();
    let delta = u128::from(factorial(trustees));
    let expected = plain(key, 2 * delta * delta);
    for first in 1..=trustees - needed + 1 {
        let last = first + needed - 1;
        let window: Vec<u32> = (first..=last).collect();
        let lambda = coefficients(trustees, &window);
        // Negative powers move to the other side.
        let side = |negative: bool| {
            let chosen = window.iter().zip(&lambda).filter(|(_, lambda)| (**lambda < 0) == negative);
            let rows: Vec<(usize, u128)> = chosen.map(|(i, lambda)| (*i as usize - 1, lambda.unsigned_abs())).collect();
            power_product(key, trustee_keys, &rows)
        };
        let (left, right) = (side(false), squared.mul(&expected, &side(true)));
        if squared.mul(&left, &left) != squared.mul(&right, &right) {
            return Err(ErrorKind::NotDealt { first, last }.into());
        }
    }
    Ok(())
}

/// The product of the powers of some rows.
fn power_product(key: &PublicKey, trustee_keys: &Batch, rows: &[(usize, u128)]) -> Batch {
    if rows.is_empty() {
        return plain(key, 0);
    }
    let bases: Vec<&[u64]> = rows.iter().map(|&(row, _)| trustee_keys.row(row)).collect();
    let bases = Batch::from_rows(trustee_keys.limbs(), bases).public();
    let exponents: Vec<[u64; 2]> = rows.iter().map(|&(_, power)| [power as u64, (power >> 64) as u64]).collect();
    let exponents = Batch::from_rows(2, exponents.iter().map(|one| &one[..])).public();
    joined(key, &key.square().product_of_powers(&bases, &exponents, COEFFICIENT_BITS))
}

/// `(1 + n)^number = 1 + number n`.
fn plain(key: &PublicKey, number: u128) -> Batch {
    let limbs = [number as u64, (number >> 64) as u64];
    let high = key.root().reduce(&Batch::from_rows(2, [&limbs[..]]).public());
    let low = Batch::from_rows(high.limbs(), [&[1][..]]).public();
    joined(key, &Pairs { low, high }).public()
}
