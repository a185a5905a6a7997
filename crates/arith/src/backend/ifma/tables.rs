//! Table reads whose addresses do not depend on the index.

use super::Octet;
use crate::kernel::SHARED_ENTRIES;
use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_cmpeq_epi64_mask, _mm512_load_si512, _mm512_loadu_si512, _mm512_mask_mov_epi64,
    _mm512_mask_storeu_epi64, _mm512_maskz_loadu_epi64, _mm512_permutex2var_epi64, _mm512_set1_epi64,
    _mm512_setzero_si512, _mm512_store_si512, _mm512_test_epi64_mask,
};

/// Selects each lane's entry from a table whose entries have `out.len()` words, a multiple of ten.
#[target_feature(enable = "avx512f")]
pub(super) fn select(out: &mut [Octet], table: &[Octet], index: &Octet) {
    let width = out.len();
    let twenties = width / 20 * 20;
    for first in (0..twenties).step_by(20) {
        select_words::<20>(&mut out[first..], &table[first..], width, index);
    }
    if twenties < width {
        select_words::<10>(&mut out[twenties..], &table[twenties..], width, index);
    }
}

/// Selects the first `WORDS` words of each lane's entry. They stay in registers during a pass over
/// all entries, which are `width` words apart.
#[target_feature(enable = "avx512f")]
#[inline]
fn select_words<const WORDS: usize>(out: &mut [Octet], table: &[Octet], width: usize, index: &Octet) {
    let (index, one) = (get(index), _mm512_set1_epi64(1));
    let mut entry = _mm512_setzero_si512();
    let mut found = [_mm512_setzero_si512(); WORDS];
    for words in table.chunks(width) {
        let take = _mm512_cmpeq_epi64_mask(index, entry);
        entry = _mm512_add_epi64(entry, one);
        for (found, word) in found.iter_mut().zip(&words[..WORDS]) {
            *found = _mm512_mask_mov_epi64(*found, take, get(word));
        }
    }
    for (word, found) in out[..WORDS].iter_mut().zip(found) {
        set(word, found);
    }
}

/// Selects each lane's entry from a table that all lanes share, in which word `j` of entry `e` is
/// at `SHARED_ENTRIES j + e`. A permutation of two registers selects among sixteen entries for all
/// lanes at once. Masks then select among the four results.
#[target_feature(enable = "avx512f")]
pub(super) fn select_shared(out: &mut [Octet], table: &[u64], index: &Octet) {
    const { assert!(SHARED_ENTRIES == 64) };
    let index = get(index);
    let odd = _mm512_test_epi64_mask(index, _mm512_set1_epi64(16));
    let upper = _mm512_test_epi64_mask(index, _mm512_set1_epi64(32));
    for (word, row) in out.iter_mut().zip(table.chunks_exact(SHARED_ENTRIES)) {
        let first = among_sixteen(&row[..16], index);
        let second = among_sixteen(&row[16..32], index);
        let third = among_sixteen(&row[32..48], index);
        let fourth = among_sixteen(&row[48..], index);
        let low = _mm512_mask_mov_epi64(first, odd, second);
        let high = _mm512_mask_mov_epi64(third, odd, fourth);
        set(word, _mm512_mask_mov_epi64(low, upper, high));
    }
}

/// For each lane, the limb of sixteen that the lowest four bits of the index select.
#[target_feature(enable = "avx512f")]
#[inline]
fn among_sixteen(row: &[u64], index: __m512i) -> __m512i {
    _mm512_permutex2var_epi64(load(&row[..8]), index, load(&row[8..16]))
}

/// Selects the entry of a table whose entries have `out.len()` words, for one number.
#[target_feature(enable = "avx512f")]
pub(super) fn select_across(out: &mut [u64], table: &[u64], index: u64) {
    let width = out.len();
    for (strip, out) in out.chunks_mut(40).enumerate() {
        let table = &table[40 * strip..];
        match out.len().div_ceil(8) {
            5 => select_registers::<5>(out, table, width, index),
            4 => select_registers::<4>(out, table, width, index),
            3 => select_registers::<3>(out, table, width, index),
            2 => select_registers::<2>(out, table, width, index),
            _ => select_registers::<1>(out, table, width, index),
        }
    }
}

/// Selects words of one entry. They stay in registers during a pass over all entries, which are
/// `width` words apart.
#[target_feature(enable = "avx512f")]
#[inline]
fn select_registers<const REGISTERS: usize>(out: &mut [u64], table: &[u64], width: usize, index: u64) {
    let (index, one) = (_mm512_set1_epi64(index as i64), _mm512_set1_epi64(1));
    let mut entry = _mm512_setzero_si512();
    let mut found = [_mm512_setzero_si512(); REGISTERS];
    for words in table.chunks(width) {
        let words = &words[..out.len()];
        let take = _mm512_cmpeq_epi64_mask(index, entry);
        entry = _mm512_add_epi64(entry, one);
        for v in 0..REGISTERS {
            found[v] = _mm512_mask_mov_epi64(found[v], take, load_some(&words[8 * v..]));
        }
    }
    for v in 0..REGISTERS {
        store_some(&mut out[8 * v..], found[v]);
    }
}

/// Selects the entry of a table of [`SHARED_ENTRIES`] entries for one number, limb by limb. Each
/// limb is selected in all lanes, and one lane is kept.
#[target_feature(enable = "avx512f")]
pub(super) fn select_shared_across(out: &mut [u64], table: &[u64], index: u64) {
    let mut one = [Octet::default()];
    let index = Octet([index; 8]);
    for (word, row) in out.iter_mut().zip(table.chunks_exact(SHARED_ENTRIES)) {
        select_shared(&mut one, row, &index);
        *word = one[0].0[0];
    }
}

/// The first eight words, with zeros beyond the end.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn load_some(words: &[u64]) -> __m512i {
    let there = ((1_u32 << words.len().min(8)) - 1) as u8;
    // SAFETY: only existing words are read.
    unsafe { _mm512_maskz_loadu_epi64(there, words.as_ptr().cast()) }
}

/// Stores up to eight words, as many as `words` has.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn store_some(words: &mut [u64], eight: __m512i) {
    let there = ((1_u32 << words.len().min(8)) - 1) as u8;
    // SAFETY: only existing words are written.
    unsafe { _mm512_mask_storeu_epi64(words.as_mut_ptr().cast(), there, eight) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn get(word: &Octet) -> __m512i {
    // SAFETY: the reference is to 64 aligned bytes.
    unsafe { _mm512_load_si512((&raw const *word).cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn set(word: &mut Octet, value: __m512i) {
    // SAFETY: the reference is to 64 aligned bytes.
    unsafe { _mm512_store_si512((&raw mut *word).cast(), value) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(eight: &[u64]) -> __m512i {
    debug_assert_eq!(eight.len(), 8);
    // SAFETY: the slice has eight limbs.
    unsafe { _mm512_loadu_si512(eight.as_ptr().cast()) }
}
