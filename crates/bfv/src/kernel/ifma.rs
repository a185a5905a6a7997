//! The vector engine: a vector is an AVX-512 register, and IFMA computes the halves of products of
//! 52-bit factors.

use super::loops::kernel;
use super::{Kernel, LANES, Lanes, Word};
use crate::prime::{Constant, Prime};
use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_load_si512, _mm512_madd52hi_epu64, _mm512_madd52lo_epu64,
    _mm512_min_epu64, _mm512_set1_epi64, _mm512_shuffle_i64x2, _mm512_store_si512, _mm512_sub_epi64,
    _mm512_unpackhi_epi64, _mm512_unpacklo_epi64,
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
    fn and(self, other: Self) -> Self {
        // SAFETY: the instructions are available.
        Register(unsafe { _mm512_and_si512(self.0, other.0) })
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
    fn transposed(rows: [Self; LANES]) -> [Self; LANES] {
        // SAFETY: the instructions are available.
        unsafe { transposed(rows.map(|row| row.0)).map(Register) }
    }
}

/// Transposes by interleaving words of pairs of rows, then quarters in two steps. Each step doubles
/// the number of rows combined in a register.
#[inline(always)]
unsafe fn transposed(rows: [__m512i; LANES]) -> [__m512i; LANES] {
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        let [r0, r1, r2, r3, r4, r5, r6, r7] = rows;
        // Quarter k of these contains words 2 k (`lower`) or 2 k + 1 (`upper`) of two rows.
        let lower = [
            _mm512_unpacklo_epi64(r0, r1),
            _mm512_unpacklo_epi64(r2, r3),
            _mm512_unpacklo_epi64(r4, r5),
            _mm512_unpacklo_epi64(r6, r7),
        ];
        let upper = [
            _mm512_unpackhi_epi64(r0, r1),
            _mm512_unpackhi_epi64(r2, r3),
            _mm512_unpackhi_epi64(r4, r5),
            _mm512_unpackhi_epi64(r6, r7),
        ];
        let [w0, w2, w4, w6] = quarters(lower);
        let [w1, w3, w5, w7] = quarters(upper);
        [w0, w1, w2, w3, w4, w5, w6, w7]
    }
}

/// Transposes quarters: quarter `i` of register `j` was quarter `j` of register `i`.
#[inline(always)]
unsafe fn quarters([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        let (front, back) = (_mm512_shuffle_i64x2::<0x44>(a, b), _mm512_shuffle_i64x2::<0x44>(c, d));
        let (front_upper, back_upper) = (_mm512_shuffle_i64x2::<0xee>(a, b), _mm512_shuffle_i64x2::<0xee>(c, d));
        [
            _mm512_shuffle_i64x2::<0x88>(front, back),
            _mm512_shuffle_i64x2::<0xdd>(front, back),
            _mm512_shuffle_i64x2::<0x88>(front_upper, back_upper),
            _mm512_shuffle_i64x2::<0xdd>(front_upper, back_upper),
        ]
    }
}

kernel!(Ifma, Register, { #[target_feature(enable = "avx512f,avx512dq,avx512ifma")] });
