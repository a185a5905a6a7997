//! Table reads whose addresses do not depend on the index.

use super::Quad;
use crate::kernel::SHARED_ENTRIES;
use std::arch::x86_64::{
    __m256i, _mm256_add_epi64, _mm256_and_si256, _mm256_blendv_pd, _mm256_castpd_si256, _mm256_castps_si256,
    _mm256_castsi256_pd, _mm256_castsi256_ps, _mm256_cmpeq_epi64, _mm256_load_si256, _mm256_loadu_si256,
    _mm256_or_si256, _mm256_permutevar8x32_epi32, _mm256_set1_epi64x, _mm256_setzero_si256, _mm256_shuffle_ps,
    _mm256_slli_epi64, _mm256_srli_epi64, _mm256_store_si256,
};

/// Number of words that stay in registers during a pass over a table.
const WORDS: usize = 10;

/// Selects each lane's entry from a table whose entries have `out.len()` words.
#[target_feature(enable = "avx2")]
pub(super) fn select(out: &mut [Quad], table: &[Quad], index: &Quad) {
    let width = out.len();
    let whole = width / WORDS * WORDS;
    for first in (0..whole).step_by(WORDS) {
        select_words::<WORDS>(&mut out[first..], &table[first..], width, index);
    }
    for first in whole..width {
        select_words::<1>(&mut out[first..], &table[first..], width, index);
    }
}

/// Selects the first `COUNT` words of each lane's entry. They stay in registers during a pass over
/// all entries, which are `width` words apart.
#[target_feature(enable = "avx2")]
#[inline]
fn select_words<const COUNT: usize>(out: &mut [Quad], table: &[Quad], width: usize, index: &Quad) {
    let (index, one) = (get(index), _mm256_set1_epi64x(1));
    let mut entry = _mm256_setzero_si256();
    let mut found = [_mm256_setzero_si256(); COUNT];
    for words in table.chunks(width) {
        let take = _mm256_cmpeq_epi64(index, entry);
        entry = _mm256_add_epi64(entry, one);
        for (found, word) in found.iter_mut().zip(&words[..COUNT]) {
            *found = _mm256_or_si256(*found, _mm256_and_si256(take, get(word)));
        }
    }
    for (word, found) in out[..COUNT].iter_mut().zip(found) {
        set(word, found);
    }
}

/// Selects each lane's entry from a table that all lanes share, in which word `j` of entry `e` is
/// at `SHARED_ENTRIES j + e`. A permutation of one register selects among eight entries for all
/// lanes at once. Masks then select among the eight results.
#[target_feature(enable = "avx2")]
pub(super) fn select_shared(out: &mut [Quad], table: &[u64], index: &Quad) {
    const { assert!(SHARED_ENTRIES == 64) };
    let index = get(index);
    // A register holds the entries in the order 0 1 4 5 2 3 6 7: the middle two bits of their
    // positions are exchanged.
    let bits = |bit: i64| _mm256_and_si256(index, _mm256_set1_epi64x(bit));
    let (second, third) = (_mm256_slli_epi64::<1>(bits(2)), _mm256_srli_epi64::<1>(bits(4)));
    let place = _mm256_or_si256(bits(1), _mm256_or_si256(second, third));
    // The highest bit of a lane selects.
    let choices = [_mm256_slli_epi64::<60>(index), _mm256_slli_epi64::<59>(index), _mm256_slli_epi64::<58>(index)];
    let low = _mm256_set1_epi64x(0xffff_ffff);
    for (word, row) in out.iter_mut().zip(table.chunks_exact(SHARED_ENTRIES)) {
        let eight = |at: usize| among_eight(&row[8 * at..8 * at + 8], place);
        let pair = |at: usize| choose(choices[0], eight(at), eight(at + 1));
        let four = |at: usize| choose(choices[1], pair(at), pair(at + 2));
        set(word, _mm256_and_si256(choose(choices[2], four(0), four(4)), low));
    }
}

/// Selects `b` in the lanes where the highest bit of `which` is set, else `a`.
#[target_feature(enable = "avx2")]
#[inline]
fn choose(which: __m256i, a: __m256i, b: __m256i) -> __m256i {
    let (a, b) = (_mm256_castsi256_pd(a), _mm256_castsi256_pd(b));
    _mm256_castpd_si256(_mm256_blendv_pd(a, b, _mm256_castsi256_pd(which)))
}

/// For each lane, the limb of eight at position `place`, in the lower half of the lane.
#[target_feature(enable = "avx2")]
#[inline]
fn among_eight(row: &[u64], place: __m256i) -> __m256i {
    let (first, last) = (_mm256_castsi256_ps(load(&row[..4])), _mm256_castsi256_ps(load(&row[4..8])));
    let lower_halves = _mm256_castps_si256(_mm256_shuffle_ps::<0x88>(first, last));
    _mm256_permutevar8x32_epi32(lower_halves, place)
}

#[target_feature(enable = "avx2")]
#[inline]
fn get(word: &Quad) -> __m256i {
    // SAFETY: the reference is to 32 aligned bytes.
    unsafe { _mm256_load_si256((&raw const *word).cast()) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn set(word: &mut Quad, value: __m256i) {
    // SAFETY: the reference is to 32 aligned bytes.
    unsafe { _mm256_store_si256((&raw mut *word).cast(), value) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(four: &[u64]) -> __m256i {
    debug_assert_eq!(four.len(), 4);
    // SAFETY: the slice has four limbs.
    unsafe { _mm256_loadu_si256(four.as_ptr().cast()) }
}
