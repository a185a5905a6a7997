//! Shortens a sum by multiplying its upper bits by a constant.

use super::below;
use hearith_arith::natural::word::pow_mod;

/// Maps `x < 2^length` to `x mod 2^s + floor(x / 2^s) (2^s mod q) < 2^(s + 1)`, which is congruent
/// to `x` modulo `q`.
///
/// # Bounds
/// With `s = ceil((length + v) / 2)` and `q < 2^v`, the product is below
/// `2^(length - s + v) <= 2^s`, like the lower part. No other `s` gives a shorter sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    /// Length of the input in bits.
    pub length: u32,
    /// `s`, the bit position where it is split.
    pub split: u32,
    /// `2^s mod q`.
    pub constant: u64,
}

impl Fold {
    /// For inputs of `length` bits and a modulus below `2^word_bits`.
    pub(super) fn new(q: u64, word_bits: u32, length: u32) -> Self {
        let split = (length + word_bits).div_ceil(2);
        Self { length, split, constant: pow_mod(2, split.into(), q) }
    }

    /// Length of the result in bits, `s + 1`.
    pub fn result_bits(&self) -> u32 {
        self.split + 1
    }

    /// The shortened number.
    pub fn apply(&self, x: u128) -> u128 {
        let high = below(x, self.length) >> self.split;
        let low = x - (high << self.split);
        below(low + below(high * u128::from(self.constant), self.split), self.result_bits())
    }
}
