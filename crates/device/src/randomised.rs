//! Verifies that a device encrypted the given values, at a fraction of the cost of encryption.
//!
//! Each result `c_i` should be `rho_i^n x_i`, where `x_i` is `1 + m_i n` or a ciphertext. The check
//! draws random exponents `t_i` of 64 bits when the results have arrived. It then requires that
//! `prod c_i^(t_i)` equals `(prod rho_i^(t_i))^n prod x_i^(t_i)` modulo `n^2`. Only the power by
//! `n` is as long as one that the device computes per row. Among thousands of rows, a row costs
//! some 10 products modulo `n^2`, twice as many where the randomisers are raised too. An encryption
//! costs 1.25 times as many products as the key has bits.
//!
//! # Soundness
//! Let the unit `d_i` modulo `n^2` be the quotient of `c_i` and its right value. If the plaintext
//! of `c_i` is wrong, `d_i` to the power `(p - 1) (q - 1)` is not 1, and a prime above `2^64` (`p`
//! or `q`) divides its order. At most one value of `t_i` then makes the product right, whatever the
//! others are: a wrong plaintext passes with a probability of at most `2^-64`. A factor that is an
//! `n`-th power of small order, such as -1, may pass with a higher probability, but leaves the
//! plaintext right. (Small exponents as in \[BGR98\].)

use hearith_arith::natural::add_multiple;
use hearith_arith::{Batch, Exponents, Modulus, Square, natural};
use zeroize::Zeroizing;

use crate::{Error, ErrorKind};

/// Bits of a random exponent.
const FACTOR_BITS: u32 = 64;
/// Number of rows from which products are computed by the digits of the factors.
const MANY: usize = 128;
/// Rows that share their squarings, the most that `Square::multi_pow` allows.
const TERMS: u32 = 16;

/// The randomisers of a batch.
#[derive(Clone, Copy, Debug)]
pub enum Randomisers<'a> {
    /// `rho^n`.
    Units(&'a Batch),
    /// `rho^n` where `n` is secret: a prime of the key's owner, modulo whose square the results
    /// are.
    Residues(&'a Batch),
    /// Powers of this number, with exponents of the given number of bits.
    Comb(&'a [u64], &'a Batch, u32),
}

/// The values that the randomisers are multiplied by.
#[derive(Clone, Copy, Debug)]
pub enum Payload<'a> {
    /// `1 + m n`.
    Plaintexts(&'a Batch),
    /// Numbers modulo `n^2`.
    Numbers(&'a Batch),
}

/// Fails unless every result is its randomiser times its payload modulo the square of `n`, up to
/// the factors that the module documentation describes.
///
/// # Errors
/// [`ErrorKind::FailedCheck`], or the random generator fails.
pub fn check(
    n: &[u64],
    squared: &Modulus,
    results: &Batch,
    randomisers: &Randomisers<'_>,
    payload: &Payload<'_>,
) -> Result<(), Error> {
    if results.is_empty() {
        return Ok(());
    }
    let square = Square::new(squared.engine(), n).map_err(hearith_paillier::Error::from)?;
    let random = |error| ErrorKind::Scheme(hearith_paillier::ErrorKind::Randomness(error));
    let factors = hearith_arith::random::bits(results.len(), 1, FACTOR_BITS).map_err(random)?;
    let random = match randomisers {
        Randomisers::Units(units) => squared.pow(&product(&square, squared, units, &factors), Exponents::Public(n)),
        Randomisers::Residues(residues) => {
            let exponent = Exponents::Shared(n, natural::bit_length(n));
            squared.pow(&product(&square, squared, residues, &factors), exponent)
        }
        Randomisers::Comb(base, exponents, bits) => {
            let (sum, bits) = (combination(exponents, &factors), bits + 2 * FACTOR_BITS);
            squared.pow(&Batch::repeat(base, 1), Exponents::Shared(&sum, bits))
        }
    };
    let expected = match payload {
        Payload::Numbers(numbers) => product(&square, squared, numbers, &factors),
        Payload::Plaintexts(plaintexts) => {
            let sum = square
                .root()
                .reduce(&Batch::from_rows(plaintexts.limbs() + 2, [&combination(plaintexts, &factors)[..]]));
            let mut number = Zeroizing::new(natural::product(sum.row(0), n));
            natural::add_assign(&mut number, &[1]);
            Batch::from_rows(number.len(), [&number[..]])
        }
    };
    let right = squared.mul(&random, &squared.reduce(&expected)) == product(&square, squared, results, &factors);
    if right { Ok(()) } else { Err(ErrorKind::FailedCheck.into()) }
}

/// The product of all rows, each to the power of its factor. Constant time in the rows and the
/// modulus.
fn product(square: &Square, squared: &Modulus, rows: &Batch, factors: &Batch) -> Batch {
    // A square may be a limb shorter than two of its root.
    let joined = |powers| square.join(&powers).resize(squared.limbs());
    if rows.len() >= MANY {
        // The time depends on the factors, which are random and used for this batch only.
        return joined(square.product_of_powers(rows, factors, FACTOR_BITS));
    }
    let numbers: Vec<u32> = (0..).take(rows.len()).collect();
    let groups: Vec<&[u32]> = numbers.chunks(TERMS as usize).collect();
    let parts = joined(square.multi_pow(&rows.resize(squared.limbs()), factors, FACTOR_BITS, &groups));
    squared.products(&parts, &[&numbers[..parts.len()]])
}

/// The sum of all rows times their factors.
fn combination(rows: &Batch, factors: &Batch) -> Zeroizing<Vec<u64>> {
    let mut sum = Zeroizing::new(vec![0; rows.limbs() + 2]);
    for (row, factor) in rows.rows().zip(factors.as_limbs()) {
        add_multiple(&mut sum, row, *factor);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use hearith_paillier::encoding::encode_signed;
    use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant};

    /// Small and large batches, which multiply in different ways.
    #[test]
    fn one_wrong_row_is_found_among_any_number() {
        for engine in Engine::ALL.iter().copied().filter(|engine| engine.is_available()) {
            let key = PrivateKey::generate(256, Variant::Standard, KeyPolicy::AllowInsecure, engine).unwrap();
            let public = key.public();
            for rows in [0, 1, MANY - 1, MANY, MANY + 3] {
                let numbers: Vec<i128> = (0..rows as i128).map(|row| row - 7).collect();
                let plaintexts = encode_signed(public, &numbers).unwrap();
                let (made, openings) = public.encrypt_opened(&plaintexts).unwrap();
                let judge = |results: &Batch, plaintexts: &Batch| {
                    let (units, payload) = (Randomisers::Units(openings.batch()), Payload::Plaintexts(plaintexts));
                    check(public.root().as_limbs(), public.squared(), results, &units, &payload)
                };
                judge(made.batch(), plaintexts.batch()).unwrap();
                for row in [0, rows / 2, rows.saturating_sub(1)].into_iter().filter(|row| *row < rows) {
                    let mut results = made.batch().clone();
                    results.row_mut(row)[0] ^= 1;
                    let error = judge(&results, plaintexts.batch()).unwrap_err();
                    assert!(matches!(error.kind(), ErrorKind::FailedCheck), "{row} of {rows}");
                    let mut others = plaintexts.batch().clone();
                    others.row_mut(row)[0] ^= 1;
                    let error = judge(made.batch(), &others).unwrap_err();
                    assert!(matches!(error.kind(), ErrorKind::FailedCheck), "{row} of {rows}");
                }
            }
        }
    }
}
