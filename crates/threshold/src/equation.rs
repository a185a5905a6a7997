//! The equations of all shares' proofs, for many rows and trustees at once.

use hearith_arith::natural::{add_assign, limbs_of, mac_row};
use hearith_arith::{Batch, random};
use hearith_proofs::CHALLENGE_LIMBS;
use std::ops::Range;

use crate::key::{Shared, joined};

/// Limbs of a weight: 127 random bits above a zero bit.
const WEIGHT_LIMBS: usize = 2;
const WEIGHT_BITS: u32 = 128;
/// Limbs of a sum of products of challenges and weights: one more than a product.
const SUM_LIMBS: usize = CHALLENGE_LIMBS + WEIGHT_LIMBS + 1;
/// Number of rows from which buckets need fewer products than shared squarings.
const BUCKETS_FROM: usize = 256;
/// Number of row groups that share squarings in parallel: the lanes of the widest engine.
const GROUPS: usize = 8;

/// A trustee's claims, one per row: `a = (c^4)^z (c_i^2)^(-e)` and `b = v^z v_i^(-e)`, modulo `n^2`
/// and up to a square root of 1.
pub(crate) struct Claims<'a> {
    /// `v_i`.
    pub(crate) verification: Batch,
    /// `c_i^2`. Units.
    pub(crate) squares: Batch,
    /// `a` and `b`. Units.
    pub(crate) commitments: [&'a Batch; 2],
    /// `e`.
    pub(crate) challenges: Batch,
    /// `z`.
    pub(crate) responses: &'a Batch,
}

/// The common subject of all trustees' claims: `c^4`, one per row.
pub(crate) struct Statement<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) fourths: Batch,
}

impl Statement<'_> {
    /// The first row with a claim that does not hold, if there is one. A false claim is accepted
    /// with a probability of `2^-127`.
    pub(crate) fn first_invalid(&self, claims: &[Claims<'_>]) -> Result<Option<usize>, getrandom::Error> {
        let (mut first, mut end) = (0, self.fourths.len());
        if self.holds(claims, first..end)? {
            return Ok(None);
        }
        while end - first > 1 {
            let middle = first + (end - first) / 2;
            if self.holds(claims, first..middle)? { first = middle } else { end = middle }
        }
        Ok(Some(first))
    }

    /// Whether all claims of all rows hold.
    pub(crate) fn all_hold(&self, claims: &[Claims<'_>]) -> Result<bool, getrandom::Error> {
        self.holds(claims, 0..self.fourths.len())
    }

    /// Whether all claims of a range of rows hold. With random weights `g` and `h` for each claim,
    /// checks `prod (c^4)^(z g) v^(z h) = prod a^g b^h (c_i^2)^(e g) v_i^(e h)`.
    ///
    /// Weights are even, so equations hold up to square roots of 1. The order of squares modulo
    /// `n^2` has no small prime factors, so at most one weight in `2^127` accepts a false claim
    /// (\[BGR98\]).
    fn holds(&self, claims: &[Claims<'_>], rows: Range<usize>) -> Result<bool, getrandom::Error> {
        let limbs = limbs_of(self.shared.response_bits()) + WEIGHT_LIMBS + 1;
        // One row for each ciphertext, and one for v.
        let mut of_rows = Batch::zeros(rows.len() + 1, limbs).public();
        let (mut short, mut long) = (Side::default(), Side::default());
        for claims in claims {
            let mut of_verification = [0; SUM_LIMBS];
            let mut of_squares = Batch::zeros(rows.len(), SUM_LIMBS).public();
            let weights = [weights(rows.len())?, weights(rows.len())?];
            for (index, row) in rows.clone().enumerate() {
                let [g, h] = [weights[0].row(index), weights[1].row(index)];
                let (challenge, response) = (claims.challenges.row(row), claims.responses.row(row));
                add_product(of_rows.row_mut(index), response, g);
                add_product(of_rows.row_mut(rows.len()), response, h);
                add_product(of_squares.row_mut(index), challenge, g);
                add_product(&mut of_verification, challenge, h);
            }
            for (commitments, weights) in claims.commitments.iter().zip(weights) {
                short.push(commitments.range(rows.clone()), weights);
            }
            long.push(claims.squares.range(rows.clone()), of_squares);
            long.push(claims.verification.clone(), Batch::from_rows(SUM_LIMBS, [&of_verification[..]]));
        }
        let bases = Batch::concat(&[&self.fourths.range(rows), self.shared.generator()]);
        let left = self.product(&bases, &of_rows, 64 * limbs as u32);
        let right = [short.product(self, WEIGHT_BITS), long.product(self, 64 * SUM_LIMBS as u32)];
        Ok(left == self.shared.key().squared().mul(&right[0], &right[1]))
    }

    /// The product of the powers of all rows.
    fn product(&self, bases: &Batch, exponents: &Batch, bits: u32) -> Batch {
        let (key, square) = (self.shared.key(), self.shared.key().square());
        if bases.len() >= BUCKETS_FROM {
            return joined(key, &square.product_of_powers(bases, exponents, bits));
        }
        let all: Vec<u32> = (0..bases.len() as u32).collect();
        let groups: Vec<&[u32]> = all.chunks(all.len().div_ceil(GROUPS).max(1)).collect();
        let parts = joined(key, &square.multi_pow(bases, exponents, bits, &groups));
        key.squared().products(&parts, &[&all[..parts.len()]])
    }
}

/// Collected bases and exponents of one length.
#[derive(Default)]
struct Side {
    bases: Vec<Batch>,
    exponents: Vec<Batch>,
}

impl Side {
    fn push(&mut self, bases: Batch, exponents: Batch) {
        self.bases.push(bases);
        self.exponents.push(exponents);
    }

    fn product(&self, statement: &Statement<'_>, bits: u32) -> Batch {
        let [bases, exponents] =
            [&self.bases, &self.exponents].map(|parts| Batch::concat(&parts.iter().collect::<Vec<_>>()));
        statement.product(&bases, &exponents, bits)
    }
}

/// Random even numbers below `2^128`.
fn weights(len: usize) -> Result<Batch, getrandom::Error> {
    let mut weights = random::bits(len, WEIGHT_LIMBS, WEIGHT_BITS)?.public();
    weights.rows_mut().for_each(|weight| weight[0] &= !1);
    Ok(weights)
}

/// `sum += number weight`. The sum is longer than both factors together.
fn add_product(sum: &mut [u64], number: &[u64], weight: &[u64]) {
    for (limb, &weight) in weight.iter().enumerate() {
        let (low, high) = sum[limb..].split_at_mut(number.len());
        let carry = mac_row(low, number, weight);
        add_assign(high, &[carry]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_added_up() {
        let mut sum = [u64::MAX, 0, 0, 0, 0];
        add_product(&mut sum, &[u64::MAX, u64::MAX], &[2, 1]);
        // 2^64 - 1 + (2^128 - 1)(2^64 + 2)
        assert_eq!(sum, [u64::MAX - 2, u64::MAX, 1, 1, 0]);
    }
}
