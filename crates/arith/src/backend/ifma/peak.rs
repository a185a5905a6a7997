//! Measurement of the machine's peak rate.

use seq_macro::seq;
use std::arch::x86_64::{__m512i, _mm512_madd52hi_epu64, _mm512_madd52lo_epu64, _mm512_set1_epi64};

/// Executes `rounds` times 24 IFMA instructions, each of which depends only on the one 24
/// instructions before.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn independent_products(rounds: u64) {
    let x = std::hint::black_box(_mm512_set1_epi64(0x000f_1234_5678_9abc));
    let mut sums = [x; 24];
    for _ in 0..rounds {
        seq!(I in 0..12 { sums[I] = _mm512_madd52lo_epu64(sums[I], x, x); });
        seq!(I in 12..24 { sums[I] = _mm512_madd52hi_epu64(sums[I], x, x); });
    }
    std::hint::black_box(&sums as &[__m512i; 24]);
}
