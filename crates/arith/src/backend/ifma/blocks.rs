//! Products, squares and Montgomery reductions of eight numbers at a time, in blocks of ten limbs held in registers.

use super::{MASK, Octet, RADIX};
use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_load_si512, _mm512_madd52hi_epu64, _mm512_madd52lo_epu64,
    _mm512_set1_epi64, _mm512_setzero_si512, _mm512_srli_epi64, _mm512_store_si512, _mm512_sub_epi64, _mm512_xor_si512,
};

/// Limbs of a block: ten multiplicand limbs and the fifteen columns that five multiplier limbs touch fill 26 of the 32
/// registers, and a column is touched twice in a row of twenty products, as often as the latency of four cycles allows.
pub(super) const BLOCK: usize = 10;
/// Multiplier limbs taken in one unrolled step.
const STEP: usize = 5;

#[target_feature(enable = "avx512f")]
#[inline]
fn get(words: &[Octet], index: usize) -> __m512i {
    // SAFETY: the reference is to 64 aligned bytes.
    unsafe { _mm512_load_si512((&raw const words[index]).cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn set(words: &mut [Octet], index: usize, value: __m512i) {
    // SAFETY: the reference is to 64 aligned bytes.
    unsafe { _mm512_store_si512((&raw mut words[index]).cast(), value) }
}

#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn low(sum: __m512i, x: __m512i, y: __m512i) -> __m512i {
    _mm512_madd52lo_epu64(sum, x, y)
}

#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn high(sum: __m512i, x: __m512i, y: __m512i) -> __m512i {
    _mm512_madd52hi_epu64(sum, x, y)
}

/// `t = t + x y` for one block `x` and a multiple of five limbs `y`; `t` has ten columns more than `y` has limbs, of
/// which those from `valid` on hold nothing yet and count as zero.
///
/// The columns slide through registers: five multiplier limbs at a time complete five columns.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn multiply_block(t: &mut [Octet], x: &[Octet], y: &[Octet], valid: usize) {
    let t = &mut t[..y.len() + BLOCK];
    let zero = _mm512_setzero_si512();
    let column = |t: &[Octet], at: usize| if at < valid { get(t, at) } else { zero };
    let x: [__m512i; BLOCK] = std::array::from_fn(|i| get(x, i));
    let mut sums: [__m512i; BLOCK + STEP] = [zero; BLOCK + STEP];
    for (i, sum) in sums[..BLOCK].iter_mut().enumerate() {
        *sum = column(t, i);
    }
    for at in (0..y.len()).step_by(STEP) {
        for (i, sum) in sums[BLOCK..].iter_mut().enumerate() {
            *sum = column(t, at + BLOCK + i);
        }
        for j in 0..STEP {
            let y = get(y, at + j);
            for i in 0..BLOCK {
                sums[i + j] = low(sums[i + j], x[i], y);
            }
            for i in 0..BLOCK {
                sums[i + j + 1] = high(sums[i + j + 1], x[i], y);
            }
        }
        for (i, sum) in sums[..STEP].iter().enumerate() {
            set(t, at + i, *sum);
        }
        sums.copy_within(STEP.., 0);
    }
    for (i, sum) in sums[..BLOCK].iter().enumerate() {
        set(t, y.len() + i, *sum);
    }
}

/// `t = t + a b` in `2 k` columns, of which those from `valid` on hold nothing yet: 0, or `2 k` to add to them all.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn multiply(t: &mut [Octet], a: &[Octet], b: &[Octet], valid: usize) {
    let k = b.len();
    for (block, x) in a.chunks_exact(BLOCK).enumerate() {
        let start = block * BLOCK;
        // The blocks before have filled the columns up to k limbs above this block's first.
        let filled = if block == 0 { valid } else { valid.saturating_sub(start).max(k) };
        multiply_block(&mut t[start..], x, b, filled);
    }
}

/// `t = a^2` in `2 k` columns: products of different limbs once, then doubled, then the squares.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn square(t: &mut [Octet], a: &[Octet]) {
    let k = a.len();
    for (block, x) in a.chunks_exact(BLOCK).enumerate() {
        let start = block * BLOCK;
        let filled = if block == 0 { 0 } else { k - start };
        triangle(&mut t[2 * start..], x, filled);
        if start + BLOCK < k {
            // Above the triangle's twenty columns nothing but the blocks before has written.
            let filled = if block == 0 { BLOCK } else { (k - start - BLOCK).max(BLOCK) };
            multiply_block(&mut t[2 * start + BLOCK..], x, &a[start + BLOCK..], filled);
        }
    }
    for i in 0..k {
        let x = get(a, i);
        let (even, odd) = (get(t, 2 * i), get(t, 2 * i + 1));
        set(t, 2 * i, low(_mm512_add_epi64(even, even), x, x));
        set(t, 2 * i + 1, high(_mm512_add_epi64(odd, odd), x, x));
    }
}

/// Adds the products of different limbs of one block, each once, to twenty columns, of which those from `valid` on hold
/// nothing yet.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn triangle(t: &mut [Octet], x: &[Octet], valid: usize) {
    let t = &mut t[..2 * BLOCK];
    let x: [__m512i; BLOCK] = std::array::from_fn(|i| get(x, i));
    let mut sums: [__m512i; 2 * BLOCK] =
        std::array::from_fn(|i| if i < valid { get(t, i) } else { _mm512_setzero_si512() });
    for j in 1..BLOCK {
        for i in 0..j {
            sums[i + j] = low(sums[i + j], x[i], x[j]);
        }
        for i in 0..j {
            sums[i + j + 1] = high(sums[i + j + 1], x[i], x[j]);
        }
    }
    for (i, sum) in sums.iter().enumerate() {
        set(t, i, *sum);
    }
}

/// Montgomery reduction of the `2 k` columns `t`: the quotient digits go to `q`, the reduced number's columns, not yet
/// normalised, to the upper half of `t`.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn reduce(t: &mut [Octet], q: &mut [Octet], m: &[Octet], neg_inverse: Octet) {
    let k = m.len();
    if k == BLOCK {
        reduce_rows::<BLOCK, { BLOCK + STEP }>(t, &mut q[..k], m, neg_inverse);
    } else if k == 2 * BLOCK {
        reduce_rows::<{ 2 * BLOCK }, { 2 * BLOCK + STEP }>(t, &mut q[..k], m, neg_inverse);
    } else {
        for start in (0..k).step_by(BLOCK) {
            let digits = &mut q[start..start + BLOCK];
            reduce_rows::<{ 2 * BLOCK }, { 2 * BLOCK + STEP }>(&mut t[start..], digits, m, neg_inverse);
            multiply_block(&mut t[start + 2 * BLOCK..], digits, &m[2 * BLOCK..], k);
        }
    }
}

/// The steps of a Montgomery reduction that `q.len()` digits need in the lowest `WIDTH` limbs of `m`; the columns of
/// `t` below `q.len()` become zero in effect and are left as they are.
///
/// A digit follows from its column after the digit before it: a multiplication by `-m^-1` and one by `m`, nine cycles
/// of latency, in which the row's `2 WIDTH` other products run. The column itself, once the digit is known, is a
/// multiple of 2^52 without adding anything up: its carry is its upper bits, and one more unless its lower bits are zero.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn reduce_rows<const WIDTH: usize, const COLUMNS: usize>(
    t: &mut [Octet],
    q: &mut [Octet],
    m: &[Octet],
    neg_inverse: Octet,
) {
    const { assert!(COLUMNS == WIDTH + STEP) };
    let m = &m[..WIDTH];
    let t = &mut t[..WIDTH + q.len()];
    let zero = _mm512_setzero_si512();
    let ones = _mm512_set1_epi64(MASK as i64);
    let neg_inverse = get(&[neg_inverse], 0);
    let mut sums: [__m512i; COLUMNS] = [zero; COLUMNS];
    for (i, sum) in sums[..WIDTH].iter_mut().enumerate() {
        *sum = get(t, i);
    }
    for at in (0..q.len()).step_by(STEP) {
        for (i, sum) in sums[WIDTH..].iter_mut().enumerate() {
            *sum = get(t, at + WIDTH + i);
        }
        for j in 0..STEP {
            let digit = low(zero, sums[j], neg_inverse);
            let carry = _mm512_srli_epi64::<RADIX>(_mm512_add_epi64(sums[j], ones));
            let second = low(_mm512_add_epi64(sums[j + 1], carry), digit, get(m, 1));
            sums[j + 1] = _mm512_add_epi64(second, high(zero, digit, get(m, 0)));
            for i in 2..WIDTH {
                sums[i + j] = low(sums[i + j], digit, get(m, i));
            }
            for i in 1..WIDTH {
                sums[i + j + 1] = high(sums[i + j + 1], digit, get(m, i));
            }
            set(q, at + j, digit);
        }
        sums.copy_within(STEP.., 0);
    }
    for (i, sum) in sums[..WIDTH].iter().enumerate() {
        set(t, q.len() + i, *sum);
    }
}

/// Carries columns up into limbs of 52 bits. What leaves the last limb is dropped: by the bounds, nothing.
#[target_feature(enable = "avx512f")]
pub(super) fn normalise(out: &mut [Octet], columns: &[Octet]) {
    let ones = _mm512_set1_epi64(MASK as i64);
    let mut carry = _mm512_setzero_si512();
    for i in 0..out.len() {
        let sum = _mm512_add_epi64(get(columns, i), carry);
        set(out, i, _mm512_and_si512(sum, ones));
        carry = _mm512_srli_epi64::<RADIX>(sum);
    }
}

/// `a = a + b` in limbs of 52 bits.
#[target_feature(enable = "avx512f")]
pub(super) fn add(a: &mut [Octet], b: &[Octet]) {
    let ones = _mm512_set1_epi64(MASK as i64);
    let mut carry = _mm512_setzero_si512();
    for i in 0..a.len() {
        let sum = _mm512_add_epi64(_mm512_add_epi64(get(a, i), get(b, i)), carry);
        set(a, i, _mm512_and_si512(sum, ones));
        carry = _mm512_srli_epi64::<RADIX>(sum);
    }
}

/// `t = R m - Q`, from which the high part of a dual product starts: `2^52 - 1 - q_i` below and `m - 1` above make
/// `R m - Q - 1`, and `m` is odd.
#[target_feature(enable = "avx512f")]
pub(super) fn start_high(t: &mut [Octet], q: &[Octet], m: &[Octet]) {
    let ones = _mm512_set1_epi64(MASK as i64);
    let one = _mm512_set1_epi64(1);
    for i in 0..m.len() {
        set(t, i, _mm512_xor_si512(get(q, i), ones));
        set(t, m.len() + i, get(m, i));
    }
    let k = m.len();
    set(t, 0, _mm512_add_epi64(get(t, 0), one));
    set(t, k, _mm512_xor_si512(get(t, k), one));
}

/// `t = 2 t + R m - Q`, as [`start_high`].
#[target_feature(enable = "avx512f")]
pub(super) fn double_high(t: &mut [Octet], q: &[Octet], m: &[Octet]) {
    let ones = _mm512_set1_epi64(MASK as i64);
    let one = _mm512_set1_epi64(1);
    let k = m.len();
    let double = |x| _mm512_add_epi64(x, x);
    for i in 0..k {
        set(t, i, _mm512_add_epi64(double(get(t, i)), _mm512_xor_si512(get(q, i), ones)));
        set(t, k + i, _mm512_add_epi64(double(get(t, k + i)), get(m, i)));
    }
    set(t, 0, _mm512_add_epi64(get(t, 0), one));
    set(t, k, _mm512_sub_epi64(get(t, k), one));
}
