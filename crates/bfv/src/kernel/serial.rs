//! The portable engine: a vector is eight words, processed one after another.

use super::loops::kernel;
use super::{Kernel, LANES, Lanes, MASK, RADIX, Word};
use crate::prime::{Constant, Prime};
use std::array::from_fn;

/// The portable engine.
pub(crate) struct Serial;

/// Eight words.
#[derive(Clone, Copy)]
pub(crate) struct Words([u64; LANES]);

impl Words {
    #[inline(always)]
    fn each(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Words(from_fn(|i| f(self.0[i], other.0[i])))
    }
}

#[inline(always)]
fn product(a: u64, b: u64) -> u128 {
    u128::from(a & MASK) * u128::from(b & MASK)
}

impl Word for Words {
    #[inline(always)]
    fn splat(x: u64) -> Self {
        Words([x; LANES])
    }

    #[inline(always)]
    fn load(from: &Lanes) -> Self {
        Words(from.0)
    }

    #[inline(always)]
    fn store(self, to: &mut Lanes) {
        to.0 = self.0;
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.each(other, u64::wrapping_add)
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.each(other, u64::wrapping_sub)
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.each(other, u64::min)
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self.each(other, |a, b| a & b)
    }

    #[inline(always)]
    fn add_low(self, a: Self, b: Self) -> Self {
        self.add(a.each(b, |a, b| product(a, b) as u64 & MASK))
    }

    #[inline(always)]
    fn add_high(self, a: Self, b: Self) -> Self {
        self.add(a.each(b, |a, b| (product(a, b) >> RADIX) as u64))
    }

    #[inline(always)]
    fn transposed(rows: [Self; LANES]) -> [Self; LANES] {
        from_fn(|i| Words(from_fn(|j| rows[j].0[i])))
    }
}

kernel!(Serial, Words, {});
