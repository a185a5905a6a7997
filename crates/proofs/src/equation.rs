//! The equation of all proofs of `n`-th powers, for many rows at once.

use crate::error::Error;
use crate::transcript::{CHALLENGE_BITS, CHALLENGE_LIMBS};
use crate::witness::Responses;
use hearith_arith::natural::{add_assign, add_multiple, bit_length, mac_row, resized};
use hearith_arith::{Batch, Exponents, Pairs, random};
use hearith_paillier::{Plaintexts, PublicKey};
use std::borrow::Cow;
use std::ops::Range;

/// Limbs of a weight: 127 random bits above a zero.
const WEIGHT_LIMBS: usize = 2;
const WEIGHT_BITS: u32 = 128;
/// Limbs of a sum of challenges times weights: one more than a product has.
const SUM_LIMBS: usize = CHALLENGE_LIMBS + WEIGHT_LIMBS + 1;

/// Claims that `z_j^n`, or `(h^n)^(z_j)`, is `A_j (c (1 + n)^(-m_j))^(e_j)` modulo `n^2` up to a
/// square root of 1, for every number `c` and every `m_j` of a set.
pub(crate) struct Claims<'a> {
    pub(crate) key: &'a PublicKey,
    /// `m_j`, the same for every number.
    pub(crate) set: &'a Plaintexts,
    /// `c`, a row each. Units.
    pub(crate) numbers: &'a Batch,
    /// `A_j`, `set.len()` rows for each number. Units.
    pub(crate) commitments: &'a Batch,
    /// `e_j`, likewise.
    pub(crate) challenges: &'a Batch,
    /// `z_j`, likewise.
    pub(crate) responses: &'a Responses,
}

/// What claims multiply up to.
struct Combined {
    holds: bool,
    numbers: Batch,
    commitments: Batch,
}

/// Rows of a batch, without a copy if they are all.
fn part(batch: &Batch, rows: Range<usize>) -> Cow<'_, Batch> {
    if rows == (0..batch.len()) { Cow::Borrowed(batch) } else { Cow::Owned(batch.range(rows)) }
}

impl Claims<'_> {
    /// The first number whose claims do not all hold, if there is one, after
    /// [`Claims::hold_and_are_units`] said no for claims of units. A wrong one is taken for right
    /// with a probability of `2^-127`.
    pub(crate) fn first_invalid(&self) -> Result<Option<usize>, Error> {
        let all = self.numbers.len();
        // Of more claims it is known that they do not hold together.
        let unknown = self.one_by_one(all * self.set.len());
        if unknown { self.first_invalid_before(all) } else { self.bisect(0..all).map(Some) }
    }

    /// The first wrong one among the numbers before one.
    pub(crate) fn first_invalid_before(&self, end: usize) -> Result<Option<usize>, Error> {
        if self.holds(0..end)? { Ok(None) } else { self.bisect(0..end).map(Some) }
    }

    /// The first wrong one of numbers among which there is one, by halving.
    fn bisect(&self, rows: Range<usize>) -> Result<usize, Error> {
        let Range { start: mut first, mut end } = rows;
        while end - first > 1 {
            let middle = first + (end - first) / 2;
            if self.holds(first..middle)? { first = middle } else { end = middle }
        }
        Ok(first)
    }

    /// Whether all claims of a range of numbers hold: with a random weight `g` for each,
    /// `(prod z^g)^n`, or `(h^n)^(sum of z g)`, is `prod A^g prod (c (1 + n)^(-m))^(e g)`.
    ///
    /// An equation that is wrong by a factor `d` passes if `d^g = 1`. Weights are even: `d = -1`
    /// passes always, and so do the other roots of 1, which are `n`-th powers of themselves. If the
    /// order of `d` has a prime factor above `2^127`, at most one weight lets it pass.
    fn holds(&self, rows: Range<usize>) -> Result<bool, Error> {
        let sides = self.set.len();
        let claims = rows.start * sides..rows.end * sides;
        if self.one_by_one(claims.len()) {
            return self.holds_one_by_one(claims);
        }
        Ok(self.combined(rows)?.holds)
    }

    /// Whether all claims hold and all numbers and commitments, of which nothing is known yet, are
    /// units; what [`Claims::holds`] multiplies up shows both. False for few claims too, which are
    /// not combined.
    pub(crate) fn hold_and_are_units(&self) -> Result<bool, Error> {
        if self.one_by_one(self.numbers.len() * self.set.len()) {
            return Ok(false);
        }
        // No exponent is 0 but with a probability of `2^-127`: the hash is not, so one challenge of
        // a number is not.
        let combined = self.combined(0..self.numbers.len())?;
        let bytes = self.key.ciphertext_bytes();
        let products = [&combined.numbers, &combined.commitments].map(|one| one.to_be_bytes(bytes)).concat();
        let products = self.key.ciphertexts_from_be(&products);
        Ok(combined.holds && products.is_ok_and(|products| self.key.check_coprime(&products).is_ok()))
    }

    /// Whether so many claims are checked faster one by one, in lanes, than combined. By openings
    /// the powers to the `n` become one, which pays at once where one number alone is cheap.
    fn one_by_one(&self, claims: usize) -> bool {
        let alone = matches!(self.responses, Responses::Openings(_)) && self.key.square().shares_squarings(claims);
        claims <= if alone { 1 } else { self.responses.few() }
    }

    /// Claims multiplied up with random weights.
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
        // For some lengths of n its square takes a limb less than both parts.
        Ok(Combined { holds: left.resize(right.limbs()) == right, numbers, commitments })
    }

    /// The same claim by claim, in the lanes of one batch: of few that is less work. The squares of
    /// both sides are compared.
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

    /// The left side, of these claims.
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

    /// For each number the sum of `e_j g_j` over the set, and for each of the set the sum over the
    /// numbers.
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

    /// `(1 + n)^(-S) = 1 - S n` for the sum `S` of `m_j` times its exponent.
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
