//! Numbers in 64-bit limbs, eight of them, brought into lanes of 52-bit limbs.

use super::{MASK, Octet, RADIX};
use seq_macro::seq;
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
    transpose(&mut columns, rows, at);
    transpose(&mut columns[8..], rows, at + 8);
    for (index, word) in words.iter_mut().enumerate() {
        let position = start + index * RADIX as usize;
        let (limb, shift) = (position / 64, position % 64);
        if limb == at + 8 {
            at = limb;
            columns.copy_within(8.., 0);
            transpose(&mut columns[8..], rows, at + 8);
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

/// Eight limbs of a row, from limb `from` on, with zeros beyond its end; zeros if there is no such row.
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn eight_limbs(rows: &[&[u64]], lane: usize, from: usize) -> __m512i {
    let row = if lane < rows.len() { rows[lane] } else { &[] };
    let rest = if from < row.len() { &row[from..] } else { &[] };
    let present = ((1_u32 << rest.len().min(8)) - 1) as u8;
    // SAFETY: only the limbs that are there are read.
    unsafe { _mm512_maskz_loadu_epi64(present, rest.as_ptr().cast()) }
}

/// Limbs `from..from + 8` of eight rows, one vector a limb.
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn transpose(out: &mut [__m512i], rows: &[&[u64]], from: usize) {
    let out = &mut out[..8];
    seq!(L in 0..8 { let row~L = eight_limbs(rows, L, from); });
    // Limbs of neighbouring rows change places: `even` vectors then hold limbs 0, 2, 4, 6 of two rows, `odd` ones 1, 3, 5, 7.
    let (even01, odd01) = (_mm512_unpacklo_epi64(row0, row1), _mm512_unpackhi_epi64(row0, row1));
    let (even23, odd23) = (_mm512_unpacklo_epi64(row2, row3), _mm512_unpackhi_epi64(row2, row3));
    let (even45, odd45) = (_mm512_unpacklo_epi64(row4, row5), _mm512_unpackhi_epi64(row4, row5));
    let (even67, odd67) = (_mm512_unpacklo_epi64(row6, row7), _mm512_unpackhi_epi64(row6, row7));
    (out[0], out[2], out[4], out[6]) = quarters(even01, even23, even45, even67);
    (out[1], out[3], out[5], out[7]) = quarters(odd01, odd23, odd45, odd67);
}

/// Of four vectors the first quarters, the second ones, the third and the fourth.
#[target_feature(enable = "avx512f")]
#[inline]
fn quarters(a: __m512i, b: __m512i, c: __m512i, d: __m512i) -> (__m512i, __m512i, __m512i, __m512i) {
    // First and third quarters of each pair, then second and fourth.
    let (ab02, ab13) = (_mm512_shuffle_i64x2::<0x88>(a, b), _mm512_shuffle_i64x2::<0xDD>(a, b));
    let (cd02, cd13) = (_mm512_shuffle_i64x2::<0x88>(c, d), _mm512_shuffle_i64x2::<0xDD>(c, d));
    (
        _mm512_shuffle_i64x2::<0x88>(ab02, cd02),
        _mm512_shuffle_i64x2::<0x88>(ab13, cd13),
        _mm512_shuffle_i64x2::<0xDD>(ab02, cd02),
        _mm512_shuffle_i64x2::<0xDD>(ab13, cd13),
    )
}
