//! The vector kernel: eight numbers side by side, limbs of 52 bits, and no reduction except the
//! last multiplication.
//!
//! Both directions use one idea, Bernstein's scaled remainder tree \[Bernstein04\]. Instead of
//! `x mod M` they compute the fraction of `x / M`, from which one multiplication gives a residue.
//! With the digits `e_1, e_2, ...` of `w / M` to the base `B = 2^52`,
//!
//! ```text
//! w x / M = sum of x_k B^k (w / M) = sum of x_k (0.e_(k+1) e_(k+2) e_(k+3) ...)     (modulo 1)
//! ```
//!
//! IFMA computes the low or the high half of a product and so keeps exactly the digits that matter:
//! the low half drops integers, the high half parts that are too small. `crates/rns/README.md`
//! counts the instructions.
//!
//! A limb is the lower 52 bits of its word. Products ignore the upper bits, so sums can keep their
//! carries there.

mod back;
mod forward;

use super::{Numbers, ResidueKernel};
use crate::basis::System;
use hearith_arith::ifma::{MASK, Octet, RADIX};
use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_load_si512, _mm512_madd52hi_epu64, _mm512_madd52lo_epu64, _mm512_set1_epi64,
    _mm512_setzero_si512, _mm512_slli_epi64, _mm512_srli_epi64, _mm512_store_si512,
};

/// Moduli below this share a fraction of two limbs with others; larger ones have one each.
const NARROW: u64 = 1 << 50;

/// Both directions for one basis.
pub(super) struct Ifma {
    forward: forward::Forward,
    back: back::Back,
}

// Only `dispatch!` reaches this kernel, and it selects engines that this machine can run, so the
// instructions are available.
impl ResidueKernel for Ifma {
    fn new(system: &System) -> Self {
        Ifma { forward: forward::Forward::new(system), back: back::Back::new(system) }
    }

    fn residues(&self, numbers: &Numbers<'_>, columns: &mut [&mut [u64]]) {
        // SAFETY: the instructions are available.
        unsafe { self.forward.residues(numbers, columns) }
    }

    fn numbers(&self, columns: &[&[u64]], rows: &mut [u64]) {
        // SAFETY: the instructions are available.
        unsafe { self.back.numbers(columns, rows) }
    }

    fn instructions(&self) -> Option<[u64; 2]> {
        Some([self.forward.instructions(), self.back.instructions()])
    }
}

/// The first `count` base-2^52 digits after the point of `w / m`, with `w < m < 2^104`.
///
/// Proved: `digits_correct` in formal/coq/fractions.v.
fn digits(w: u128, m: u128, count: usize) -> Vec<u64> {
    let mut rest = w;
    let mut bit = || {
        rest <<= 1;
        let one = rest >= m;
        rest -= if one { m } else { 0 };
        u64::from(one)
    };
    (0..count).map(|_| (0..RADIX).fold(0, |digit, _| digit << 1 | bit())).collect()
}

/// `x` as two limbs.
fn limbs_of(x: u128) -> [u64; 2] {
    [x as u64 & MASK, (x >> RADIX) as u64]
}

/// The mask of the lanes in use, for a group of `count` numbers.
fn lanes(count: usize) -> u8 {
    if count < 8 { (1 << count) - 1 } else { u8::MAX }
}

/// The fraction of `w x / M` for `G` moduli `M` at once, in two limbs, the higher first.
/// `digits[G k + g]` is digit `k + 1` of `w / M` for modulus `g`. There are two more rows of digits
/// than `x` has limbs.
///
/// # Bounds
/// In units of `B^-2`, with `n` limbs, each product loses less than 1 in the dropped half and less
/// than 1 by the omitted digits. As `2 n` is added in advance, the result exceeds the true fraction
/// `f` by at most `2 n`. So `floor(M result / B^2)` is `w x mod M` if `2 n M <= B^2`. In this case
/// nothing wraps around, as `f <= 1 - 1 / M`. The four sums of each modulus are at most `n B`.
///
/// Proved: `fractions_correct` in formal/coq/fractions.v.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn fractions<const G: usize>(x: &[Octet], digits: &[u64]) -> [[__m512i; 2]; G] {
    let zero = [_mm512_setzero_si512(); G];
    let (mut upper, mut upper_carry, mut lower) = (zero, zero, zero);
    let mut lower_carry = [broadcast(2 * x.len() as u64); G];
    // Reading a digit three times costs less than moving it from register to register.
    for (limb, digits) in x.iter().zip(digits.windows(3 * G).step_by(G)) {
        let limb = load(limb);
        for g in 0..G {
            let [first, second, third] = [g, G + g, 2 * G + g].map(|at| broadcast(digits[at]));
            upper[g] = _mm512_madd52lo_epu64(upper[g], limb, first);
            upper_carry[g] = _mm512_madd52hi_epu64(upper_carry[g], limb, second);
            lower[g] = _mm512_madd52lo_epu64(lower[g], limb, second);
            lower_carry[g] = _mm512_madd52hi_epu64(lower_carry[g], limb, third);
        }
    }
    std::array::from_fn(|g| {
        let lower = _mm512_add_epi64(lower[g], lower_carry[g]);
        let upper = _mm512_add_epi64(upper[g], upper_carry[g]);
        [_mm512_add_epi64(upper, _mm512_srli_epi64::<RADIX>(lower)), lower]
    })
}

/// `floor(q f)` for a fraction `f` of two limbs and `q` below 2^60. The product is rounded up by at
/// most `B^-1` before the floor.
///
/// # Bounds
/// The product without its lowest part, the low half of the product of the two low limbs, is too
/// small by less than `B^-1`, which is added in advance. The sums are below `4 B`.
///
/// Proved: `scaled_correct` in formal/coq/fractions.v.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn scaled([upper, lower]: [__m512i; 2], q: [u64; 2]) -> __m512i {
    let q = q.map(|limb| broadcast(limb));
    let part = _mm512_madd52hi_epu64(broadcast(1), lower, q[0]);
    let part = _mm512_madd52lo_epu64(part, upper, q[0]);
    let part = _mm512_madd52lo_epu64(part, lower, q[1]);
    let whole = _mm512_madd52hi_epu64(_mm512_srli_epi64::<RADIX>(part), upper, q[0]);
    let whole = _mm512_madd52lo_epu64(whole, upper, q[1]);
    let whole = _mm512_madd52hi_epu64(whole, lower, q[1]);
    let above = _mm512_madd52hi_epu64(_mm512_setzero_si512(), upper, q[1]);
    _mm512_add_epi64(whole, _mm512_slli_epi64::<RADIX>(above))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn broadcast(x: u64) -> __m512i {
    _mm512_set1_epi64(x as i64)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(word: &Octet) -> __m512i {
    // SAFETY: the reference covers 64 aligned bytes.
    unsafe { _mm512_load_si512((&raw const *word).cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store(word: &mut Octet, value: __m512i) {
    // SAFETY: the reference covers 64 aligned bytes.
    unsafe { _mm512_store_si512((&raw mut *word).cast(), value) }
}
