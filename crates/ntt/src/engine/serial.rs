//! The portable engine: a vector is eight words, processed one after another.

use super::loops::kernel;
use super::{Kernel, Target, Word};
use crate::memory::Prefetch;
use crate::plan::Digits;
use crate::primes::{Constant, LANES, Lanes, MASK, RADIX};

/// The portable engine.
pub(crate) struct Serial;

/// Eight words.
#[derive(Clone, Copy)]
pub(crate) struct Words([u64; LANES]);

impl Words {
    #[inline(always)]
    fn each(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Words(std::array::from_fn(|i| f(self.0[i], other.0[i])))
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
    fn load_words(from: &[u64; LANES]) -> Self {
        Words(*from)
    }

    #[inline(always)]
    fn store_words(self, to: &mut [u64; LANES]) {
        *to = self.0;
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
    fn add_low(self, a: Self, b: Self) -> Self {
        Words(std::array::from_fn(|i| self.0[i].wrapping_add(a.0[i].wrapping_mul(b.0[i]) & MASK)))
    }

    #[inline(always)]
    fn add_high(self, a: Self, b: Self) -> Self {
        Words(std::array::from_fn(|i| self.0[i].wrapping_add((product(a.0[i], b.0[i]) >> RADIX) as u64)))
    }

    #[inline(always)]
    fn shift_right(self, bits: u32) -> Self {
        Words(self.0.map(|x| x >> bits))
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self.each(other, |a, b| a & b)
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self.each(other, |a, b| a | b)
    }

    #[inline(always)]
    fn shift_right_each(self, bits: Self) -> Self {
        self.each(bits, |a, bits| a.checked_shr(bits as u32).unwrap_or(0))
    }

    #[inline(always)]
    fn shift_left_each(self, bits: Self) -> Self {
        self.each(bits, |a, bits| a.checked_shl(bits as u32).unwrap_or(0))
    }

    #[inline(always)]
    fn lane_up(self) -> Self {
        Words(std::array::from_fn(|i| if i == 0 { 0 } else { self.0[i - 1] }))
    }

    #[inline(always)]
    fn last_lane(self) -> Self {
        Words(std::array::from_fn(|i| if i == 0 { self.0[LANES - 1] } else { 0 }))
    }

    #[inline(always)]
    fn upper_half(self) -> Self {
        Words(std::array::from_fn(|i| if i < LANES / 2 { self.0[i + LANES / 2] } else { 0 }))
    }

    #[inline(always)]
    fn lane_sum(self) -> Self {
        Self::splat(self.0.iter().fold(0, |sum, &lane| sum.wrapping_add(lane)))
    }

    #[inline(always)]
    fn pick(self, other: Self, index: Self) -> Self {
        Words(index.0.map(|i| if i < LANES as u64 { self.0[i as usize] } else { other.0[i as usize - LANES] }))
    }
}

kernel!(Serial, Words, {});
