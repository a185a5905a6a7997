//! Numbers in 64-bit limbs, eight of them, brought into lanes of 52-bit limbs.

use super::{MASK, Octet, RADIX};
use std::arch::x86_64::{
    __m512i, _mm512_and_si512, _mm512_maskz_loadu_epi64, _mm512_or_si512, _mm512_set1_epi64, _mm512_setzero_si512,
    _mm512_shuffle_i64x2, _mm512_sllv_epi64, _mm512_srlv_epi64, _mm512_store_si512, _mm512_unpackhi_epi64,
    _mm512_unpacklo_epi64,
};

/// Cuts row `i` into limbs, from bit `start` on, into lane `i` of `words`; zeros beyond a row's end, and in lanes
/// without a row.
///
/// Eight limbs of each row are read at a time and transposed; two neighbouring vectors of 64-bit limbs then give up to
/// two vectors of 52-bit limbs.
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn load(words: &mut [Octet], rows: &[&[u64]], start: usize) {
    let mask = _mm512_set1_epi64(MASK as i64);
    // Sixteen columns from limb `at` on: a limb below `at + 8` has its neighbour among them.
    let mut at = start / 64;
    let mut columns = [_mm512_setzero_si512(); 16];
    columns[..8].copy_from_slice(&transposed(rows, at));
    columns[8..].copy_from_slice(&transposed(rows, at + 8));
    for (index, word) in words.iter_mut().enumerate() {
        let position = start + index * RADIX as usize;
        let (limb, shift) = (position / 64, position % 64);
        if limb == at + 8 {
            at = limb;
            columns.copy_within(8.., 0);
            columns[8..].copy_from_slice(&transposed(rows, at + 8));
        }
        let (below, above) = (columns[limb - at], columns[limb - at + 1]);
        let low = _mm512_srlv_epi64(below, _mm512_set1_epi64(shift as i64));
        // A shift by 64 gives zero.
        let high = _mm512_sllv_epi64(above, _mm512_set1_epi64(64 - shift as i64));
        let value = _mm512_and_si512(_mm512_or_si512(low, high), mask);
        // SAFETY: the reference is to 64 aligned bytes.
        unsafe { _mm512_store_si512((&raw mut *word).cast(), value) };
    }
}

/// Limbs `from..from + 8` of eight rows, one vector a limb.
#[target_feature(enable = "avx512f,avx512dq")]
fn transposed(rows: &[&[u64]], from: usize) -> [__m512i; 8] {
    let r: [__m512i; 8] = std::array::from_fn(|lane| {
        let rest = rows.get(lane).and_then(|row| row.get(from..)).unwrap_or(&[]);
        let present = ((1u32 << rest.len().min(8)) - 1) as u8;
        // SAFETY: only the limbs that are there are read.
        unsafe { _mm512_maskz_loadu_epi64(present, rest.as_ptr().cast()) }
    });
    // Pairs, then quadruples, then halves of rows change places.
    let pairs: [__m512i; 8] = std::array::from_fn(|i| {
        let (x, y) = (r[i & !1], r[i | 1]);
        if i % 2 == 0 { _mm512_unpacklo_epi64(x, y) } else { _mm512_unpackhi_epi64(x, y) }
    });
    // pairs[2 g + h] holds, for limbs h, h + 2, h + 4, h + 6, the rows 2 g and 2 g + 1.
    let mut out = [_mm512_setzero_si512(); 8];
    for h in 0..2 {
        let low = _mm512_shuffle_i64x2::<0x88>(pairs[h], pairs[2 + h]);
        let high = _mm512_shuffle_i64x2::<0xDD>(pairs[h], pairs[2 + h]);
        let low_more = _mm512_shuffle_i64x2::<0x88>(pairs[4 + h], pairs[6 + h]);
        let high_more = _mm512_shuffle_i64x2::<0xDD>(pairs[4 + h], pairs[6 + h]);
        out[h] = _mm512_shuffle_i64x2::<0x88>(low, low_more);
        out[4 + h] = _mm512_shuffle_i64x2::<0xDD>(low, low_more);
        out[2 + h] = _mm512_shuffle_i64x2::<0x88>(high, high_more);
        out[6 + h] = _mm512_shuffle_i64x2::<0xDD>(high, high_more);
    }
    out
}
