//! Verification and combination of shares.

use crate::equation::{Claims, Statement};
use crate::error::{Error, ErrorKind, check_key, check_lengths};
use crate::lagrange::{coefficients, factorial};
use crate::shares::{challenges, out_of_range};
use crate::{Shares, VerificationKeys};
use hearith_arith::Modulus;
use hearith_arith::natural::word::inverse_mod;
use hearith_arith::natural::{add_assign, divide_word, is_one, mac_row};
use hearith_paillier::{Ciphertexts, Plaintexts};
use hearith_proofs::Contexts;
use zeroize::Zeroizing;

/// Bits of twice a Lagrange coefficient, for any set of trustees.
const COEFFICIENT_BITS: u32 = 97;

/// The result of combining shares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Combined {
    /// The plaintexts.
    pub plaintexts: Plaintexts,
    /// The errors of rejected shares, one for each trustee with an invalid share, with its first
    /// invalid row.
    pub wrong: Vec<Error>,
}

impl VerificationKeys {
    /// Verifies one trustee's shares of the decryption of a batch.
    ///
    /// # Errors
    /// [`DoesNotHold`](ErrorKind::DoesNotHold) or [`OutOfRange`](ErrorKind::OutOfRange) for the
    /// first row with an invalid share; [`Lengths`](ErrorKind::Lengths),
    /// [`OtherKey`](ErrorKind::OtherKey), [`NoSuchTrustee`](ErrorKind::NoSuchTrustee); a ciphertext
    /// that shares a factor with `n`; or if the random generator fails.
    pub fn verify(&self, contexts: &Contexts, ciphertexts: &Ciphertexts, shares: &Shares) -> Result<(), Error> {
        let statement = self.statement(contexts, ciphertexts)?;
        let claims = self.claims(contexts, ciphertexts, shares)?;
        match statement.first_invalid(&[claims])? {
            Some(row) => Err(ErrorKind::DoesNotHold.at_row(row).of(shares.trustee())),
            None => Ok(()),
        }
    }

    /// The plaintexts of a batch, from shares of at least [`VerificationKeys::needed`] trustees.
    /// Verifies all shares and ignores invalid ones if enough valid ones remain. The result does
    /// not depend on which valid shares are combined.
    ///
    /// # Errors
    /// [`TooFew`](ErrorKind::TooFew), [`Twice`](ErrorKind::Twice),
    /// [`DoNotCombine`](ErrorKind::DoNotCombine), or, if too few shares are valid, the error of
    /// [`VerificationKeys::verify`] for the first trustee with an invalid share.
    pub fn combine(
        &self,
        contexts: &Contexts,
        ciphertexts: &Ciphertexts,
        shares: &[&Shares],
    ) -> Result<Combined, Error> {
        let needed = self.needed();
        if let Some(again) =
            (0..shares.len()).find(|&at| shares[..at].iter().any(|one| one.trustee() == shares[at].trustee()))
        {
            return Err(ErrorKind::Twice.of(shares[again].trustee()));
        }
        if shares.len() < needed as usize {
            return Err(ErrorKind::TooFew { needed, given: shares.len() }.into());
        }
        let (right, wrong) = self.sorted(contexts, ciphertexts, shares)?;
        match wrong.first() {
            Some(error) if right.len() < needed as usize => Err(error.clone()),
            _ => Ok(Combined { plaintexts: self.put_together(&right[..needed as usize])?, wrong }),
        }
    }

    /// The valid shares, and the errors of the others. Verifies all shares together, and one by one
    /// only if that fails.
    fn sorted<'a>(
        &self,
        contexts: &Contexts,
        ciphertexts: &Ciphertexts,
        shares: &[&'a Shares],
    ) -> Result<(Vec<&'a Shares>, Vec<Error>), Error> {
        let statement = self.statement(contexts, ciphertexts)?;
        let (mut right, mut wrong) = (Vec::new(), Vec::new());
        let claims: Vec<_> = shares.iter().map(|shares| self.claims(contexts, ciphertexts, shares)).collect();
        if let Ok(claims) = claims.into_iter().collect::<Result<Vec<_>, _>>()
            && statement.all_hold(&claims)?
        {
            return Ok((shares.to_vec(), wrong));
        }
        for &one in shares {
            match self.verify(contexts, ciphertexts, one) {
                Ok(()) => right.push(one),
                Err(error) => wrong.push(error),
            }
        }
        Ok((right, wrong))
    }

    /// The part of the claims that all shares of these ciphertexts have in common.
    fn statement(&self, contexts: &Contexts, ciphertexts: &Ciphertexts) -> Result<Statement<'_>, Error> {
        check_key(self.key().id(), ciphertexts.key_id())?;
        check_lengths(ciphertexts.len(), contexts.len())?;
        self.key().check_coprime(ciphertexts)?;
        let squared = self.key().squared();
        let squares = squared.mul(ciphertexts.batch(), ciphertexts.batch());
        Ok(Statement { shared: self.shared(), fourths: squared.mul(&squares, &squares).public() })
    }

    /// The claims of a trustee's shares.
    fn claims<'a>(
        &self,
        contexts: &Contexts,
        ciphertexts: &Ciphertexts,
        shares: &'a Shares,
    ) -> Result<Claims<'a>, Error> {
        let (trustee, key) = (shares.trustee(), self.key());
        self.shared().check_trustee(trustee)?;
        check_key(key.id(), shares.key_id()).map_err(|error| error.of(trustee))?;
        check_lengths(ciphertexts.len(), shares.len()).map_err(|error| error.of(trustee))?;
        let (numbers, [a, b]) = (shares.numbers(), shares.commitments());
        for batch in [numbers, a, b] {
            key.check_coprime(batch).map_err(out_of_range(trustee))?;
        }
        let verification = self.trustee_keys().range(trustee as usize - 1..trustee as usize);
        let of_row = challenges(self.shared(), &verification, contexts, ciphertexts, trustee, [numbers, a, b]);
        Ok(Claims {
            verification,
            squares: key.squared().mul(numbers.batch(), numbers.batch()).public(),
            commitments: [a.batch(), b.batch()],
            challenges: of_row,
            responses: shares.responses(),
        })
    }

    /// Solves `prod c_i^(2 lambda_i) = (1 + n)^(4 D^2 m)` for `m`.
    ///
    /// Proved: `threshold_correct` in formal/coq/schemes.v.
    /// Proved: `threshold_shared` in formal/coq/lagrange.v.
    fn put_together(&self, shares: &[&Shares]) -> Result<Plaintexts, Error> {
        let (key, rows) = (self.key(), shares[0].len());
        let trustees: Vec<u32> = shares.iter().map(|shares| shares.trustee()).collect();
        let twice: Vec<i128> = coefficients(self.trustees(), &trustees).iter().map(|one| 2 * one).collect();
        let rest: Vec<_> = shares[1..].iter().map(|shares| shares.numbers()).collect();
        let all = Ciphertexts::concat(shares[0].numbers(), &rest)?;
        let by_row: Vec<usize> = (0..rows).flat_map(|row| (0..shares.len()).map(move |one| one * rows + row)).collect();
        let products = key.dot_deterministic(&all.select(&by_row)?, &twice, shares.len(), COEFFICIENT_BITS)?;
        let parts = key.square().split(products.batch());
        if let Some(row) = parts.low.rows().position(|low| is_one(low) == 0) {
            return Err(ErrorKind::DoNotCombine.at_row(row));
        }
        let inverse = key.root().factor(&inverse(key.root(), 2 * factorial(self.trustees())));
        let plaintexts = key.root().mul_by(&key.root().mul_by(&parts.high, &inverse), &inverse);
        let bytes = Zeroizing::new(plaintexts.to_be_bytes(key.plaintext_bytes()));
        Ok(key.plaintexts_from_be(&bytes)?)
    }
}

/// The inverse of a word modulo a public `n` without a common factor: `(1 + n y) / word` for the
/// `y` that makes it an integer.
pub(crate) fn inverse(n: &Modulus, word: u64) -> Vec<u64> {
    let (_, rest) = divide_word(n.as_limbs(), word);
    let negative = inverse_mod(rest, word).expect("n has no factor below 2^16");
    let mut multiple = vec![0; n.limbs() + 1];
    let carry = mac_row(&mut multiple[..n.limbs()], n.as_limbs(), (word - negative) % word);
    multiple[n.limbs()] = carry;
    add_assign(&mut multiple, &[1]);
    divide_word(&multiple, word).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use hearith_arith::Batch;
    use hearith_paillier::Engine;

    #[test]
    fn words_are_inverted() {
        let n = Modulus::new(Engine::best(), &[u64::MAX - 58, 77]).unwrap();
        for word in [2, 12, 240, 2 * factorial(20)] {
            let found = Batch::from_rows(3, [&inverse(&n, word)[..]]);
            let one = n.mul(&found, &Batch::from_rows(1, [&[word][..]]));
            assert_eq!(is_one(one.row(0)), 1, "{word}");
        }
    }
}
