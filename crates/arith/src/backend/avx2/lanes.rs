//! Conversion of four numbers from 64-bit limbs to lanes of 28-bit limbs and back.

use super::{MASK, Quad, RADIX};
use std::arch::x86_64::{
    __m128i, __m256i, _mm_cvtsi64_si128, _mm256_load_si256, _mm256_or_si256, _mm256_setzero_si256, _mm256_sll_epi64,
    _mm256_srl_epi64, _mm256_store_si256,
};

/// Splits row `i`, from bit `start` on, into limbs in lane `i` of `words`; zeros beyond the end of
/// a row and in lanes without a row.
pub(super) fn load(words: &mut [Quad], rows: &[&[u64]], start: usize) {
    for lane in 0..4 {
        let row = rows.get(lane).copied().unwrap_or(&[]);
        // Limbs that end below the row's last 64-bit limb need no bounds check.
        let inside = (64 * row.len().saturating_sub(1)).saturating_sub(start) / RADIX as usize;
        let (whole, rest) = words.split_at_mut(inside.min(words.len()));
        for (index, word) in whole.iter_mut().enumerate() {
            let position = start + index * RADIX as usize;
            let (limb, shift) = (position / 64, position % 64);
            let both = u128::from(row[limb]) | u128::from(row[limb + 1]) << 64;
            word.0[lane] = (both >> shift) as u64 & MASK;
        }
        for (index, word) in rest.iter_mut().enumerate() {
            let position = start + (whole.len() + index) * RADIX as usize;
            let (limb, shift) = (position / 64, position % 64);
            let at = |limb: usize| u128::from(row.get(limb).copied().unwrap_or(0));
            word.0[lane] = ((at(limb) | at(limb + 1) << 64) >> shift) as u64 & MASK;
        }
    }
}

/// Combines lane `i` of `words` into the 64-bit limbs of row `i`.
#[target_feature(enable = "avx2")]
pub(super) fn store(words: &[Quad], rows: &mut [&mut [u64]]) {
    let limbs = rows.iter().map(|row| row.len()).max().unwrap_or(0);
    for index in 0..limbs {
        let mut wide = Quad::default();
        // SAFETY: the reference is to 32 aligned bytes.
        unsafe { _mm256_store_si256((&raw mut wide).cast(), wide_limb(words, index)) };
        for (row, limb) in rows.iter_mut().zip(wide.0) {
            if let Some(place) = row.get_mut(index) {
                *place = limb;
            }
        }
    }
}

/// The 64-bit limb `index` of every lane, which spans up to four 28-bit limbs.
#[target_feature(enable = "avx2")]
#[inline]
fn wide_limb(words: &[Quad], index: usize) -> __m256i {
    let (first, shift) = (64 * index / RADIX as usize, 64 * index % RADIX as usize);
    let word = |at: usize| match words.get(at) {
        // SAFETY: the reference is to 32 aligned bytes.
        Some(word) => unsafe { _mm256_load_si256((&raw const *word).cast()) },
        None => _mm256_setzero_si256(),
    };
    let count = |bits: usize| -> __m128i { _mm_cvtsi64_si128(bits as i64) };
    // Shifts by 64 or more give zero.
    let above = |place: usize| _mm256_sll_epi64(word(first + place), count(RADIX as usize * place - shift));
    let low = _mm256_or_si256(_mm256_srl_epi64(word(first), count(shift)), above(1));
    _mm256_or_si256(low, _mm256_or_si256(above(2), above(3)))
}
