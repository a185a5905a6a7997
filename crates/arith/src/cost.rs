//! The cost model of the vector engine: how many IFMA instructions an operation needs, and how many the core can do.
//!
//! One IFMA instruction adds the low or the high half of eight products of 52-bit limbs to eight sums, so a product of
//! limbs takes two. The counts are of what the algorithms need, for eight operations side by side; loads, carries, table
//! reads and conversions are not in them. An operation's count at the peak rate is its physical limit, and the quotient
//! of that time and the measured one is the share of the limit that it reaches.

use crate::pow::{VECTOR_WINDOW, window_width};
use crate::sliding::sliding_width;

/// IFMA instructions for eight operations modulo numbers of one size.
///
/// ```
/// let cost = hearith_arith::cost::Cost::of(1024);
/// assert_eq!((cost.limbs, cost.mul, cost.sqr, cost.dual_sqr), (20, 1600, 1220, 2820));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Limbs `k` of 52 bits that the numbers take.
    pub limbs: u64,
    /// A Montgomery multiplication: `4 k^2`, half of it for the product, half for the reduction.
    pub mul: u64,
    /// A Montgomery squaring: `k (k + 1)` and `2 k^2`.
    pub sqr: u64,
    /// A multiplication of dual numbers: three products and two reductions, `10 k^2`.
    pub dual_mul: u64,
    /// A squaring of a dual number: a square, a product and two reductions, `k (k + 1) + 6 k^2`.
    pub dual_sqr: u64,
}

impl Cost {
    /// The counts for a modulus of `bits` bits (for dual numbers: the modulus that is squared).
    pub fn of(bits: u32) -> Self {
        let k = u64::from((bits + 8).div_ceil(52).next_multiple_of(10));
        let (square, product) = (k * (k + 1), 2 * k * k);
        Cost {
            limbs: k,
            mul: 2 * product,
            sqr: square + product,
            dual_mul: 5 * product,
            dual_sqr: square + 3 * product,
        }
    }

    /// A power modulo `m` with a secret exponent of so many bits.
    pub fn pow(&self, exponent_bits: u32) -> u64 {
        fixed_window(exponent_bits, self.mul, self.sqr)
    }

    /// A power modulo `m^2`, in dual numbers, with a secret exponent of so many bits.
    pub fn dual_pow(&self, exponent_bits: u32) -> u64 {
        fixed_window(exponent_bits, self.dual_mul, self.dual_sqr)
    }

    /// A power modulo `m^2`, in dual numbers, with a public exponent of so many bits, half of them set.
    pub fn dual_pow_public(&self, exponent_bits: u32) -> u64 {
        let (bits, width) = (u64::from(exponent_bits), sliding_width(exponent_bits));
        let products = (1 << (width - 1)) + bits / u64::from(width + 1);
        bits * self.dual_sqr + products * self.dual_mul
    }

    /// A power of a fixed base modulo `m^2`, in dual numbers, with a secret exponent of so many bits.
    pub fn comb(&self, exponent_bits: u32) -> u64 {
        let (columns, squarings) = crate::fixed_base::shape_of(exponent_bits);
        columns * self.dual_mul + squarings * self.dual_sqr
    }
}

fn fixed_window(bits: u32, mul: u64, sqr: u64) -> u64 {
    let width = window_width(bits, VECTOR_WINDOW);
    let table = (1 << width) - 2;
    let windows = u64::from(bits.div_ceil(width));
    windows.saturating_sub(1) * (u64::from(width) * sqr + mul) + table / 2 * (mul + sqr)
}

/// IFMA instructions that a core carries out in a nanosecond, measured now; `None` where it has none.
pub fn peak_rate() -> Option<f64> {
    #[cfg(target_arch = "x86_64")]
    if crate::Engine::Ifma.is_available() {
        return Some(crate::backend::ifma::peak_rate());
    }
    None
}
