//! The vector engine: a vector is an AVX-512 register, and IFMA computes the halves of products of
//! 52-bit factors.

use super::loops::kernel;
use super::{Kernel, Target, Word};
use crate::memory::Prefetch;
use crate::plan::Digits;
use crate::primes::{Constant, LANES, Lanes};
use std::arch::x86_64::{
    __m512i, _mm_cvtsi64_si128, _mm512_add_epi64, _mm512_alignr_epi64, _mm512_and_si512, _mm512_load_si512,
    _mm512_loadu_si512, _mm512_madd52hi_epu64, _mm512_madd52lo_epu64, _mm512_min_epu64, _mm512_or_si512,
    _mm512_permutex2var_epi64, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_sllv_epi64, _mm512_srl_epi64,
    _mm512_srlv_epi64, _mm512_store_si512, _mm512_storeu_si512, _mm512_sub_epi64,
};

/// The vector engine.
pub(crate) struct Ifma;

/// An AVX-512 register.
#[derive(Clone, Copy)]
pub(crate) struct Register(__m512i);

// Registers are only created and used in the loops of this kernel. Only `dispatch!` reaches the
// kernel, and it selects engines that this machine can run, so the instructions are available. The
// functions are small and always inlined into such a loop.
impl Word for Register {
    #[inline(always)]
    fn splat(x: u64) -> Self {
        // SAFETY: the instructions are available.
        Register(unsafe { _mm512_set1_epi64(x as i64) })
    }

    #[inline(always)]
    fn load(from: &Lanes) -> Self {
        // SAFETY: the instructions are available; the reference covers 64 aligned bytes.
        Register(unsafe { _mm512_load_si512((&raw const *from).cast()) })
    }

    #[inline(always)]
    fn store(self, to: &mut Lanes) {
        // SAFETY: the instructions are available; the reference covers 64 aligned bytes.
        unsafe { _mm512_store_si512((&raw mut *to).cast(), self.0) }
    }

    #[inline(always)]
    fn load_words(from: &[u64; LANES]) -> Self {
        // SAFETY: the instructions are available; the reference covers 64 bytes.
        Register(unsafe { _mm512_loadu_si512(from.as_ptr().cast()) })
    }

    #[inline(always)]
    fn store_words(self, to: &mut [u64; LANES]) {
        // SAFETY: the instructions are available; the reference covers 64 bytes.
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), self.0) }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: the instructions are available.
        Register(unsafe { _mm512_add_epi64(self.0, other.0) })
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: the instructions are available.
        Register(unsafe { _mm512_sub_epi64(self.0, other.0) })
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: the instructions are available.
        Register(unsafe { _mm512_min_epu64(self.0, other.0) })
    }

    #[inline(always)]
    fn add_low(self, a: Self, b: Self) -> Self {
        // SAFETY: the instructions are available.
        Register(unsafe { _mm512_madd52lo_epu64(self.0, a.0, b.0) })
    }

    #[inline(always)]
    fn add_high(self, a: Self, b: Self) -> Self {
        // SAFETY: the instructions are available.
        Register(unsafe { _mm512_madd52hi_epu64(self.0, a.0, b.0) })
    }

    #[inline(always)]
    fn shift_right(self, bits: u32) -> Self {
        // SAFETY: the instructions are available.
        Register(unsafe { _mm512_srl_epi64(self.0, _mm_cvtsi64_si128(i64::from(bits))) })
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: the instructions are available.
        Register(unsafe { _mm512_and_si512(self.0, other.0) })
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: the instructions are available.
        Register(unsafe { _mm512_or_si512(self.0, other.0) })
    }

    #[inline(always)]
    fn shift_right_each(self, bits: Self) -> Self {
        // SAFETY: the instructions are available.
        Register(unsafe { _mm512_srlv_epi64(self.0, bits.0) })
    }

    #[inline(always)]
    fn shift_left_each(self, bits: Self) -> Self {
        // SAFETY: the instructions are available.
        Register(unsafe { _mm512_sllv_epi64(self.0, bits.0) })
    }

    #[inline(always)]
    fn lane_up(self) -> Self {
        // SAFETY: the instructions are available.
        Register(unsafe { _mm512_alignr_epi64::<7>(self.0, _mm512_setzero_si512()) })
    }

    #[inline(always)]
    fn last_lane(self) -> Self {
        // SAFETY: the instructions are available.
        Register(unsafe { _mm512_alignr_epi64::<7>(_mm512_setzero_si512(), self.0) })
    }

    #[inline(always)]
    fn upper_half(self) -> Self {
        // SAFETY: the instructions are available.
        Register(unsafe { _mm512_alignr_epi64::<4>(_mm512_setzero_si512(), self.0) })
    }

    #[inline(always)]
    fn lane_sum(self) -> Self {
        // SAFETY: the instructions are available.
        unsafe {
            let x = _mm512_add_epi64(self.0, _mm512_alignr_epi64::<4>(self.0, self.0));
            let x = _mm512_add_epi64(x, _mm512_alignr_epi64::<2>(x, x));
            Register(_mm512_add_epi64(x, _mm512_alignr_epi64::<1>(x, x)))
        }
    }

    #[inline(always)]
    fn pick(self, other: Self, index: Self) -> Self {
        // SAFETY: the instructions are available.
        Register(unsafe { _mm512_permutex2var_epi64(self.0, index.0, other.0) })
    }
}

kernel!(Ifma, Register, { #[target_feature(enable = "avx512f,avx512dq,avx512ifma")] });
