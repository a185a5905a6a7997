//! Barrett reduction \[Barrett86\] of inputs of any length, in full and truncated form.

use super::below;

/// `a mod q` for `a < 2^k` with any `k` ("flexible"): `m = floor(2^k / q)`,
/// `r = a - floor(a m / 2^k) q`.
///
/// # Bounds
/// `a / q - a m / 2^k = a (2^k mod q) / (2^k q) < 1`, and the floor subtracts less than 1. So the
/// quotient is right or one too small, `r` is in `[0, 2 q)`, and one conditional subtraction is
/// enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlexibleBarrett {
    /// The modulus.
    pub q: u64,
    /// Length of the input in bits.
    pub k: u32,
    /// `floor(2^k / q)`.
    pub m: u128,
}

impl FlexibleBarrett {
    /// For inputs of `k` bits. `k` and the bits of `2^k / q` together must be below 128.
    pub(super) fn new(q: u64, k: u32) -> Self {
        Self { q, k, m: (1 << k) / u128::from(q) }
    }

    /// The value before the conditional subtraction: congruent to `a` modulo `q`, below `2 q`.
    pub fn partial(&self, a: u128) -> u64 {
        let quotient = (below(a, self.k) * self.m) >> self.k;
        remainder(a, quotient, self.q)
    }

    /// `a mod q`.
    pub fn reduce(&self, a: u128) -> u64 {
        subtract_once(self.partial(a), self.q)
    }
}

/// `a mod q` for `a < 2^k`, where only the upper bits of `a` determine the quotient \[Dhem98\].
/// With `b` the bits of `q` and `g = k - b`,
///
/// ```text
/// m = floor(2^(b + g + 1) / q),   quotient = floor(floor(a / 2^(b - 2)) m / 2^(g + 3))
/// ```
///
/// The multiplier has `g + 2` by `g + 2` bits, the full one `k` by `g + 1` bits.
///
/// # Bounds
/// Write the two factors as `a / 2^(b-2) - x` and `2^(b+g+1) / q - y` with `0 <= x, y < 1`. The
/// quotient before its floor is smaller than `a / q` by less than
/// `y a / 2^(b+g+1) + x 2^(b-2) / q < 1/2 + 1/2`, as `a < 2^(b+g)` and `q > 2^(b-1)`. The floor
/// subtracts less than 1. The total error is less than 2, so `r` is in `[0, 2 q)`, and one
/// conditional subtraction is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TruncatedBarrett {
    /// The modulus.
    pub q: u64,
    /// Length of the input in bits.
    pub k: u32,
    /// Number of bits of `a` that the quotient ignores, `b - 2`.
    pub dropped: u32,
    /// Number of bits of the product that the quotient ignores, `g + 3`.
    pub shift: u32,
    /// `floor(2^(b + g + 1) / q)`.
    pub m: u128,
}

impl TruncatedBarrett {
    /// For inputs of `k` bits, at least as many as `q > 2` has and at most 126.
    pub(super) fn new(q: u64, k: u32) -> Self {
        let bits = u64::BITS - q.leading_zeros();
        let excess = k - bits;
        Self { q, k, dropped: bits - 2, shift: excess + 3, m: (1 << (k + 1)) / u128::from(q) }
    }

    /// The value before the conditional subtraction: congruent to `a` modulo `q`, below `2 q`.
    pub fn partial(&self, a: u128) -> u64 {
        let factor_bits = self.shift - 1;
        let upper = below(below(a, self.k) >> self.dropped, factor_bits);
        let quotient = (upper * below(self.m, factor_bits)) >> self.shift;
        remainder(a, quotient, self.q)
    }

    /// `a mod q`.
    pub fn reduce(&self, a: u128) -> u64 {
        subtract_once(self.partial(a), self.q)
    }
}

/// A Barrett reduction of either kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrett {
    /// With the whole product.
    Flexible(FlexibleBarrett),
    /// With only the upper bits.
    Truncated(TruncatedBarrett),
}

impl Barrett {
    /// Length of the input in bits.
    pub fn k(&self) -> u32 {
        match self {
            Barrett::Flexible(barrett) => barrett.k,
            Barrett::Truncated(barrett) => barrett.k,
        }
    }

    /// The constant factor.
    pub fn m(&self) -> u128 {
        match self {
            Barrett::Flexible(barrett) => barrett.m,
            Barrett::Truncated(barrett) => barrett.m,
        }
    }

    /// Lengths in bits of the factors of its multiplier: the input and the constant `m`.
    pub fn multiplier_bits(&self) -> (u32, u32) {
        let constant = u128::BITS - self.m().leading_zeros();
        match self {
            Barrett::Flexible(barrett) => (barrett.k, constant),
            Barrett::Truncated(barrett) => (barrett.k - barrett.dropped, constant),
        }
    }

    /// `a mod q`.
    pub fn reduce(&self, a: u128) -> u64 {
        match self {
            Barrett::Flexible(barrett) => barrett.reduce(a),
            Barrett::Truncated(barrett) => barrett.reduce(a),
        }
    }
}

/// `a - quotient q`, asserted to be in `[0, 2 q)`.
fn remainder(a: u128, quotient: u128, q: u64) -> u64 {
    let r = a.checked_sub(quotient * u128::from(q)).expect("no quotient is too large");
    assert!(r < 2 * u128::from(q), "a quotient is at most one too small");
    r as u64
}

/// `r mod q` for `r < 2 q`.
fn subtract_once(r: u64, q: u64) -> u64 {
    r.min(r.wrapping_sub(q))
}
