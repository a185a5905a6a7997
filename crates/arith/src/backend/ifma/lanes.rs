//! Conversion of eight numbers from 64-bit limbs to lanes of 52-bit limbs and back.

use super::{MASK, Octet, RADIX};
use std::arch::x86_64::{
    __m512i, _MM_HINT_T0, _mm_prefetch, _mm512_and_si512, _mm512_load_si512, _mm512_mask_storeu_epi64,
    _mm512_maskz_loadu_epi64, _mm512_or_si512, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_shuffle_i64x2,
    _mm512_sllv_epi64, _mm512_srlv_epi64, _mm512_store_si512, _mm512_unpackhi_epi64, _mm512_unpacklo_epi64,
};

/// Splits row `i`, from bit `start` on, into limbs in lane `i` of `words`; zeros beyond the end of
/// a row and in lanes without a row.
///
/// Reads eight limbs of each row at a time and transposes them. Two neighbouring vectors of 64-bit
/// limbs then give up to two vectors of 52-bit limbs.
///
/// # Safety
/// The CPU must support AVX-512 F and DQ, as wherever [`Engine::Ifma`](crate::Engine::Ifma) is
/// available.
#[target_feature(enable = "avx512f,avx512dq")]
pub fn load(words: &mut [Octet], rows: &[&[u64]], start: usize) {
    let mask = _mm512_set1_epi64(MASK as i64);
    // Sixteen columns from limb `at` on: every limb below `at + 8` has its neighbour among them.
    let mut at = start / 64;
    let mut columns = [_mm512_setzero_si512(); 16];
    read(&mut columns, rows, at);
    read(&mut columns[8..], rows, at + 8);
    for (index, word) in words.iter_mut().enumerate() {
        let position = start + index * RADIX as usize;
        let (limb, shift) = (position / 64, position % 64);
        if limb == at + 8 {
            at = limb;
            columns.copy_within(8.., 0);
            read(&mut columns[8..], rows, at + 8);
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

/// Eight limbs of a row from limb `from` on, with zeros beyond its end; all zeros if the row does
/// not exist.
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn eight_limbs(rows: &[&[u64]], lane: usize, from: usize) -> __m512i {
    let row = if lane < rows.len() { rows[lane] } else { &[] };
    let rest = if from < row.len() { &row[from..] } else { &[] };
    let present = ((1_u32 << rest.len().min(8)) - 1) as u8;
    // SAFETY: only existing limbs are read.
    unsafe { _mm512_maskz_loadu_epi64(present, rest.as_ptr().cast()) }
}

/// Limbs `from..from + 8` of eight rows, one vector per limb.
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn read(out: &mut [__m512i], rows: &[&[u64]], from: usize) {
    out[..8].copy_from_slice(&transpose(std::array::from_fn(|lane| eight_limbs(rows, lane, from))));
}

/// Prefetches rows into the cache.
pub fn prefetch(rows: &[&[u64]]) {
    // A row may begin inside a cache line and then extends into one more.
    for limb in rows.iter().flat_map(|row| row.iter().step_by(8).chain(row.last())) {
        // SAFETY: every x86-64 CPU supports the instruction, and it has no visible effect.
        unsafe { _mm_prefetch::<_MM_HINT_T0>((&raw const *limb).cast()) }
    }
}

/// Combines lane `i` of `words`, limbs below 2^52, into the 64-bit limbs of row `i`.
///
/// # Safety
/// The CPU must support AVX-512 F and DQ, as wherever [`Engine::Ifma`](crate::Engine::Ifma) is
/// available.
#[target_feature(enable = "avx512f,avx512dq")]
pub fn store(words: &[Octet], rows: &mut [&mut [u64]]) {
    let limbs = rows.iter().map(|row| row.len()).max().unwrap_or(0);
    for from in (0..limbs).step_by(8) {
        let columns = std::array::from_fn(|limb| wide_limb(words, from + limb));
        let vectors = transpose(columns);
        for (row, vector) in rows.iter_mut().zip(vectors) {
            let rest = if from < row.len() { &mut row[from..] } else { &mut [] };
            let there = ((1_u32 << rest.len().min(8)) - 1) as u8;
            // SAFETY: only existing limbs are written.
            unsafe { _mm512_mask_storeu_epi64(rest.as_mut_ptr().cast(), there, vector) }
        }
    }
}

/// The 64-bit limb `index` of every lane, which spans up to three 52-bit limbs.
#[target_feature(enable = "avx512f")]
#[inline]
fn wide_limb(words: &[Octet], index: usize) -> __m512i {
    let (first, shift) = (64 * index / RADIX as usize, 64 * index % RADIX as usize);
    let word = |at: usize| match words.get(at) {
        // SAFETY: the reference is to 64 aligned bytes.
        Some(word) => unsafe { _mm512_load_si512((&raw const *word).cast()) },
        None => _mm512_setzero_si512(),
    };
    let low = _mm512_srlv_epi64(word(first), _mm512_set1_epi64(shift as i64));
    let middle = _mm512_sllv_epi64(word(first + 1), _mm512_set1_epi64(52 - shift as i64));
    // A shift by 64 or more gives zero.
    let high = _mm512_sllv_epi64(word(first + 2), _mm512_set1_epi64(104 - shift as i64));
    _mm512_or_si512(_mm512_or_si512(low, middle), high)
}

/// Element `j` of vector `i` becomes element `i` of vector `j`.
#[target_feature(enable = "avx512f")]
#[inline]
fn transpose(v: [__m512i; 8]) -> [__m512i; 8] {
    // Interleaves neighbouring vectors: `even` vectors then hold elements 0, 2, 4, 6 of both, `odd`
    // ones elements 1, 3, 5, 7.
    let (even01, odd01) = (_mm512_unpacklo_epi64(v[0], v[1]), _mm512_unpackhi_epi64(v[0], v[1]));
    let (even23, odd23) = (_mm512_unpacklo_epi64(v[2], v[3]), _mm512_unpackhi_epi64(v[2], v[3]));
    let (even45, odd45) = (_mm512_unpacklo_epi64(v[4], v[5]), _mm512_unpackhi_epi64(v[4], v[5]));
    let (even67, odd67) = (_mm512_unpacklo_epi64(v[6], v[7]), _mm512_unpackhi_epi64(v[6], v[7]));
    let (v0, v2, v4, v6) = quarters(even01, even23, even45, even67);
    let (v1, v3, v5, v7) = quarters(odd01, odd23, odd45, odd67);
    [v0, v1, v2, v3, v4, v5, v6, v7]
}

/// The first, second, third and fourth quarters of four vectors.
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
