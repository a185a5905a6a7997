//! The verification equation of all proofs of `n`-th powers, for many rows at once.

use crate::error::Error;
use crate::transcript::{CHALLENGE_BITS, CHALLENGE_LIMBS};
use crate::witness::Responses;
use hearith_arith::natural::{add_assign, add_multiple, bit_length, mac_row, resized};
use hearith_arith::{Batch, Exponents, Pairs, random};
use hearith_paillier::{Plaintexts, PublicKey};
use std::borrow::Cow;
use std::ops::Range;

/// Limbs of a weight: 127 random bits above a zero bit.
const WEIGHT_LIMBS: usize = 2;
const WEIGHT_BITS: u32 = 128;
/// Limbs of a sum of products of challenges and weights: one more than a product.
const SUM_LIMBS: usize = CHALLENGE_LIMBS + WEIGHT_LIMBS + 1;

/// Claims that `z_j^n`, or `(h^n)^(z_j)`, equals `A_j (c (1 + n)^(-m_j))^(e_j)` modulo `n^2` up to
/// a square root of 1, for every number `c` and every `m_j` of a set.
pub(crate) struct Claims<'a> {
    pub(crate) key: &'a PublicKey,
    /// `m_j`, the same for every number.
    pub(crate) set: &'a Plaintexts,
    /// `c`, one per row. Units.
    pub(crate) numbers: &'a Batch,
    /// `A_j`, `set.len()` rows for each number. Units.
    pub(crate) commitments: &'a Batch,
    /// `e_j`, `set.len()` rows for each number.
    pub(crate) challenges: &'a Batch,
    /// `z_j`, `set.len()` rows for each number.
    pub(crate) responses: &'a Responses,
}

/// The result of combining claims: whether they hold, and the weighted products of numbers and
/// commitments.
struct Combined {
    holds: bool,
    numbers: Batch,
    commitments: Batch,
}

/// Some rows of a batch. Does not copy if all rows are selected.
fn part(batch: &Batch, rows: Range<usize>) -> Cow<'_, Batch> {
    if rows == (0..batch.len()) { Cow::Borrowed(batch) } else { Cow::Owned(batch.range(rows)) }
}

impl Claims<'_> {
    /// The first number with a claim that does not hold, if there is one. Call it after
    /// [`Claims::hold_and_are_units`] returned `false`, for claims of units. A false claim is
    /// accepted with a probability of `2^-127`.
    pub(crate) fn first_invalid(&self) -> Result<Option<usize>, Error> {
        let all = self.numbers.len();
        // The combined equation of a larger batch is known to fail.
        let unknown = self.one_by_one(all * self.set.len());
        if unknown { self.first_invalid_before(all) } else { self.bisect(0..all).map(Some) }
    }

    /// The first number before `end` with a claim that does not hold, if there is one.
    pub(crate) fn first_invalid_before(&self, end: usize) -> Result<Option<usize>, Error> {
        if self.holds(0..end)? { Ok(None) } else { self.bisect(0..end).map(Some) }
    }

    /// The first invalid number in a range that contains one, by halving.
    fn bisect(&self, rows: Range<usize>) -> Result<usize, Error> {
        let Range { start: mut first, mut end } = rows;
        while end - first > 1 {
            let middle = first + (end - first) / 2;
            if self.holds(first..middle)? { first = middle } else { end = middle }
        }
        Ok(first)
    }

    /// Whether all claims of a range of numbers hold. With a random weight `g` for each claim,
    /// checks that `(prod z^g)^n`, or `(h^n)^(sum of z g)`, equals
    /// `prod A^g prod (c (1 + n)^(-m))^(e g)`.
    ///
    /// An equation that is wrong by a factor `d` is accepted if `d^g = 1`. Weights are even, so it
    /// is always accepted for `d = -1` and the other square roots of 1, which are `n`-th powers
    /// themselves. If the order of `d` has a prime factor above `2^127`, at most one weight accepts
    /// it.
    fn holds(&self, rows: Range<usize>) -> Result<bool, Error> {
        let sides = self.set.len();
        let claims = rows.start * sides..rows.end * sides;
        if self.one_by_one(claims.len()) {
            return self.holds_one_by_one(claims);
        }
        Ok(self.combined(rows)?.holds)
    }

    /// Whether all claims hold and all numbers and commitments, about which nothing is known yet,
    /// are units. The products of the combined equation show both. Also returns `false` for few
    /// claims, which are not combined.
    pub(crate) fn hold_and_are_units(&self) -> Result<bool, Error> {
        if self.one_by_one(self.numbers.len() * self.set.len()) {
            return Ok(false);
        }
        // No exponent is 0, except with a probability of `2^-127`: the hash is not 0, so some
        // challenge of each number is not 0.
        let combined = self.combined(0..self.numbers.len())?;
        let bytes = self.key.ciphertext_bytes();
        let products = [&combined.numbers, &combined.commitments].map(|one| one.to_be_bytes(bytes)).concat();
        let products = self.key.ciphertexts_from_be(&products);
        Ok(combined.holds && products.is_ok_and(|products| self.key.check_coprime(&products).is_ok()))
    }

    /// Whether it is faster to check `claims` claims individually, in lanes, than combined. For
    /// openings, combining merges all powers to the `n`, which pays off immediately where a single
    /// number is cheap.
    fn one_by_one(&self, claims: usize) -> bool {
        let alone = matches!(self.responses, Responses::Openings(_)) && self.key.square().shares_squarings(claims);
        claims <= if alone { 1 } else { self.responses.max_individual_claims() }
    }

    /// Combines claims with random weights.
    fn combined(&self, rows: Range<usize>) -> Result<Combined, Error> {
        let (square, sides) = (self.key.square(), self.set.len());
        let claims = rows.start * sides..rows.end * sides;
        let mut weights = random::bits(claims.len(), WEIGHT_LIMBS, WEIGHT_BITS)?.public();
        weights.rows_mut().for_each(|weight| weight[0] &= !1);

        let left = self.left(&claims, &weights)?;
        let (of_numbers, of_set) = self.exponents(&rows, &weights);
        let bits = 64 * (SUM_LIMBS as u32 - 1) + bit_length(&[sides as u64]);
        let numbers = square.join(&square.product_of_powers(&part(self.numbers, rows), &of_numbers, bits));
        let commitments = part(self.commitments, claims);
        let commitments = square.join(&square.product_of_powers(&commitments, &weights, WEIGHT_BITS));
        let right = self.key.squared().mul(&self.key.squared().mul(&numbers, &commitments), &self.shift(&of_set));
        // For some lengths of n, n^2 has one limb fewer than both halves together.
        Ok(Combined { holds: left.resize(right.limbs()) == right, numbers, commitments })
    }

    /// Checks claims individually in the lanes of one batch, which is less work for few claims.
    /// Compares the squares of both sides.
    fn holds_one_by_one(&self, claims: Range<usize>) -> Result<bool, Error> {
        let (square, root, sides) = (self.key.square(), self.key.root(), self.set.len());
        let [of_numbers, of_set] = [|claim, sides| claim / sides, |claim, sides| claim % sides]
            .map(|of: fn(usize, usize) -> usize| claims.clone().map(|claim| of(claim, sides)).collect::<Vec<_>>());
        let challenges = self.challenges.range(claims.clone());
        let left = self.responses.range(claims.clone())?.powers(self.key)?;
        let numbers = self.numbers.select(&of_numbers);
        let powers = square.join(&square.pow(&numbers, Exponents::Each(&challenges, CHALLENGE_BITS)));
        let shift = self.shifted_by(&root.mul(&self.set.batch().select(&of_set), &challenges));
        let squared = self.key.squared();
        let right = squared.mul(&squared.mul(&self.commitments.range(claims), &powers), &shift);
        Ok(squared.mul(left.batch(), left.batch()) == squared.mul(&right, &right))
    }

    /// The left side of the equation for some claims.
    fn left(&self, claims: &Range<usize>, weights: &Batch) -> Result<Batch, Error> {
        let (square, root) = (self.key.square(), self.key.root());
        let numbers = match self.responses {
            Responses::Openings(openings) => {
                let product = root.product_of_powers(&openings.batch().range(claims.clone()), weights, WEIGHT_BITS);
                return Ok(square.join(&square.pow(&product, Exponents::Public(root.as_limbs()))));
            }
            Responses::Short(openings) => openings.batch(),
        };
        let mut sum = vec![0; numbers.limbs() + WEIGHT_LIMBS + 1];
        for (row, weight) in claims.clone().zip(weights.rows()) {
            for (at, &limb) in weight.iter().enumerate() {
                add_multiple(&mut sum[at..], numbers.row(row), limb);
            }
        }
        Ok(self.key.generator_power(&sum)?)
    }

    /// For each number, the sum of `e_j g_j` over the set, and for each member of the set, the sum
    /// over the numbers.
    fn exponents(&self, rows: &Range<usize>, weights: &Batch) -> (Batch, Batch) {
        let sides = self.set.len();
        let mut of_numbers = Batch::zeros(rows.len(), SUM_LIMBS).public();
        let mut of_set = Batch::zeros(sides, SUM_LIMBS + 1).public();
        for (claim, weight) in weights.rows().enumerate() {
            let (row, side) = (claim / sides, claim % sides);
            let challenge = self.challenges.row(rows.start * sides + claim);
            let mut product = [0; SUM_LIMBS];
            for (limb, &weight) in weight.iter().enumerate() {
                product[limb + CHALLENGE_LIMBS] = mac_row(&mut product[limb..][..CHALLENGE_LIMBS], challenge, weight);
            }
            add_assign(of_numbers.row_mut(row), &product);
            add_assign(of_set.row_mut(side), &product);
        }
        (of_numbers, of_set)
    }

    /// `(1 + n)^(-S) = 1 - S n`, where `S` is the sum of each `m_j` times its exponent.
    fn shift(&self, of_set: &Batch) -> Batch {
        let root = self.key.root();
        let products = root.mul(self.set.batch(), of_set);
        let zero = Batch::zeros(1, root.limbs());
        let sum = (0..products.len()).fold(zero, |sum, side| root.add(&sum, &products.range(side..side + 1)));
        self.shifted_by(&sum)
    }

    /// `(1 + n)^(-S) = 1 - S n` for each `S`.
    fn shifted_by(&self, sums: &Batch) -> Batch {
        let root = self.key.root();
        let ones = Batch::repeat(&resized(&[1], root.limbs()), sums.len());
        self.key.square().join(&Pairs { low: ones, high: root.neg(sums) })
    }
}
