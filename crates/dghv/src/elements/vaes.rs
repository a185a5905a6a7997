//! The stream of an element with vectorised AES instructions: one row holds four counter blocks.

use super::{Row, SEED_BYTES};
use std::arch::x86_64::{
    __m128i, __m512i, _mm_aeskeygenassist_si128, _mm_loadu_si128, _mm_shuffle_epi32, _mm_slli_si128, _mm_xor_si128,
    _mm512_add_epi64, _mm512_aesenc_epi128, _mm512_aesenclast_epi128, _mm512_broadcast_i32x4, _mm512_loadu_si512,
    _mm512_set_epi64, _mm512_shuffle_epi8, _mm512_store_si512, _mm512_xor_si512,
};
use std::array::from_fn;

/// Number of rows encrypted together, enough to hide the latency of an AES round.
const ROWS_TOGETHER: usize = 8;

/// Whether this CPU has the instructions. Engines do not require them: without them the crate `aes`
/// generates the stream with the best method available.
pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("vaes") && is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("aes")
}

/// Writes rows `from..` of the stream of element `index`.
///
/// # Safety
/// [`is_available`] must return true.
#[target_feature(enable = "avx512f,avx512bw,vaes,aes")]
pub(super) fn stream(seed: &[u8; SEED_BYTES], index: u64, from: u64, out: &mut [Row]) {
    let keys = round_keys(seed).map(|key| _mm512_broadcast_i32x4(key));
    let [i, c] = [index as i64, 4 * from as i64];
    let mut counter = _mm512_set_epi64(c + 3, i, c + 2, i, c + 1, i, c, i);
    let step = _mm512_set_epi64(4, 0, 4, 0, 4, 0, 4, 0);
    let reversed: [u8; 64] = from_fn(|byte| (byte ^ 7) as u8 & 15);
    // SAFETY: the reference covers 64 bytes.
    let big_endian = unsafe { _mm512_loadu_si512(reversed.as_ptr().cast()) };
    let mut next = || {
        let block = _mm512_shuffle_epi8(counter, big_endian);
        counter = _mm512_add_epi64(counter, step);
        block
    };
    let (whole, rest) = out.as_chunks_mut::<ROWS_TOGETHER>();
    for rows in whole {
        put(rows, encrypted(from_fn(|_| next()), &keys));
    }
    for row in rest {
        put(std::array::from_mut(row), encrypted([next()], &keys));
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn put<const N: usize>(rows: &mut [Row; N], blocks: [__m512i; N]) {
    for (row, block) in rows.iter_mut().zip(blocks) {
        // SAFETY: the reference covers 64 aligned bytes.
        unsafe { _mm512_store_si512((&raw mut *row).cast(), block) }
    }
}

#[target_feature(enable = "avx512f,vaes")]
#[inline]
fn encrypted<const N: usize>(mut blocks: [__m512i; N], keys: &[__m512i; 11]) -> [__m512i; N] {
    blocks.iter_mut().for_each(|block| *block = _mm512_xor_si512(*block, keys[0]));
    for &key in &keys[1..10] {
        blocks.iter_mut().for_each(|block| *block = _mm512_aesenc_epi128(*block, key));
    }
    blocks.map(|block| _mm512_aesenclast_epi128(block, keys[10]))
}

/// AES-128's key schedule \[FIPS197\].
#[target_feature(enable = "aes")]
fn round_keys(seed: &[u8; SEED_BYTES]) -> [__m128i; 11] {
    // SAFETY: the reference covers 16 bytes.
    let mut key = unsafe { _mm_loadu_si128(seed.as_ptr().cast()) };
    let mut keys = [key; 11];
    macro_rules! rounds {
        ($($round:literal: $constant:literal),*) => {
            $(
                key = next_key(key, _mm_shuffle_epi32::<0xff>(_mm_aeskeygenassist_si128::<$constant>(key)));
                keys[$round] = key;
            )*
        };
    }
    rounds!(1: 1, 2: 2, 3: 4, 4: 8, 5: 16, 6: 32, 7: 64, 8: 128, 9: 27, 10: 54);
    keys
}

/// The next round key: each word is the XOR of the current words up to it and the substituted word.
#[target_feature(enable = "aes")]
#[inline]
fn next_key(key: __m128i, substituted: __m128i) -> __m128i {
    let pairs = _mm_xor_si128(key, _mm_slli_si128::<4>(key));
    _mm_xor_si128(_mm_xor_si128(pairs, _mm_slli_si128::<8>(pairs)), substituted)
}
