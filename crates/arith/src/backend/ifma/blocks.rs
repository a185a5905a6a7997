//! Products, squares and Montgomery reductions of eight numbers at a time, in blocks of ten limbs held in registers.

// Unrolled loops add zero to an index, or compare it with itself, now and then.
#![allow(clippy::identity_op, clippy::eq_op)]

use super::{MASK, Octet, RADIX};
use seq_macro::seq;
use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_load_si512, _mm512_madd52hi_epu64, _mm512_madd52lo_epu64,
    _mm512_set1_epi64, _mm512_setzero_si512, _mm512_srli_epi64, _mm512_store_si512, _mm512_sub_epi64, _mm512_xor_si512,
};

/// Limbs of a block: ten multiplicand limbs and the fifteen columns that five multiplier limbs touch fill 26 of the 32
/// registers, and a column is touched twice in a row of twenty products, as often as the latency of four cycles allows.
pub(super) const BLOCK: usize = 10;
/// Multiplier limbs taken in one unrolled step.
const STEP: usize = 5;
/// Limbs of the modulus that a reduction's digits meet at once: 30 products hide the nine cycles between two digits.
const WIDE: usize = BLOCK + STEP;

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

/// Keeps the compiler from moving products past this point: without it, it brings all products of one column together,
/// and each then waits four cycles for the one before. The empty instruction sequence only says that it needs the sums.
macro_rules! row_ends {
    ($sums:ident, $($index:literal)*) => {
        // SAFETY: nothing is executed.
        unsafe {
            std::arch::asm!(
                $(concat!("/* column ", $index, " in {} */")),*,
                $(inout(zmm_reg) $sums[$index]),*,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
    };
}

/// `t = t + x y` for one block `x` and a multiple of five limbs `y`; `t` has ten columns more than `y` has limbs, of
/// which those from `valid` on, a multiple of five, hold nothing yet and count as zero.
///
/// The columns slide through registers: five multiplier limbs at a time complete five columns.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn multiply_block(t: &mut [Octet], x: &[Octet], y: &[Octet], valid: usize) {
    let t = &mut t[..y.len() + BLOCK];
    let x = &x[..BLOCK];
    let zero = _mm512_setzero_si512();
    let mut sums = [zero; BLOCK + STEP];
    seq!(I in 0..10 { let x~I = get(x, I); });
    if valid >= BLOCK {
        seq!(I in 0..10 { sums[I] = get(t, I); });
    }
    for at in (0..y.len()).step_by(STEP) {
        let y = &y[at..at + STEP];
        let t = &mut t[at..at + BLOCK + STEP];
        if at + BLOCK + STEP <= valid {
            seq!(I in 10..15 { sums[I] = get(t, I); });
        } else {
            seq!(I in 10..15 { sums[I] = zero; });
        }
        seq!(J in 0..5 {
            let digit = get(y, J);
            seq!(I in 0..10 { sums[I + J] = low(sums[I + J], x~I, digit); });
            seq!(I in 0..10 { sums[I + J + 1] = high(sums[I + J + 1], x~I, digit); });
            row_ends!(sums, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14);
            set(t, J, sums[J]);
        });
        seq!(I in 0..10 { sums[I] = sums[I + 5]; });
    }
    seq!(I in 0..10 { set(t, y.len() + I, sums[I]); });
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
    let x = &x[..BLOCK];
    let zero = _mm512_setzero_si512();
    let mut sums = [zero; 2 * BLOCK];
    if valid >= BLOCK {
        seq!(I in 0..10 { sums[I] = get(t, I); });
    }
    if valid >= 2 * BLOCK {
        seq!(I in 10..20 { sums[I] = get(t, I); });
    }
    seq!(I in 0..10 { let x~I = get(x, I); });
    seq!(J in 1..10 {
        seq!(I in 0..9 { if I < J { sums[I + J] = low(sums[I + J], x~I, x~J); } });
        seq!(I in 0..9 { if I < J { sums[I + J + 1] = high(sums[I + J + 1], x~I, x~J); } });
    });
    seq!(I in 0..20 { set(t, I, sums[I]); });
}

/// What the digits of a Montgomery reduction need, read from memory by the steps.
#[repr(C, align(64))]
struct DigitConstants {
    /// `2^52 - 1`.
    ones: __m512i,
    /// `-m^-1 mod 2^52`.
    inverse: __m512i,
}

impl DigitConstants {
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn new(neg_inverse: Octet) -> Self {
        DigitConstants { ones: _mm512_set1_epi64(MASK as i64), inverse: get(&[neg_inverse], 0) }
    }
}

/// One step of a Montgomery reduction in the lowest `$width` limbs of a modulus at `$m`: adds `$digit m` to the columns
/// from `$sums[$j]` on and leaves the next digit in `$digit`.
///
/// The column, once its digit is known, is a multiple of 2^52 without adding anything up: its carry is its upper bits,
/// and one more unless its lower bits are zero. The next digit follows from the next column after two multiplications,
/// and the carry, twelve cycles or more later. The instructions are in the order in which they should start: first what
/// the next digit waits for. Left to itself the compiler keeps the modulus in registers, where the sums belong, and
/// brings all products of a column together, each of which then waits for the one before.
macro_rules! reduce_row {
    ($width:literal, $j:literal, $sums:ident, $digit:ident, $m:ident, $constants:ident) => {
        let digit = $digit;
        seq!(I in 2..$width {
            // SAFETY: reads the limbs of the modulus and the constants only.
            unsafe {
                std::arch::asm!(
                    "vpaddq {column}, {column}, [{constants}]",
                    "vpsrlq {column}, {column}, 52",
                    "vpaddq {next}, {next}, {column}",
                    "vpmadd52luq {next}, {digit}, [{m} + 64]",
                    "vpmadd52huq {next}, {digit}, [{m}]",
                    "vpxorq {next_digit}, {next_digit}, {next_digit}",
                    "vpmadd52luq {next_digit}, {next}, [{constants} + 64]",
                    #(
                        concat!("vpmadd52luq {sum", I, "}, {digit}, [{m} + 64 * ", I, "]"),
                        concat!("vpmadd52huq {sum", I, "}, {digit}, [{m} + 64 * ", I, " - 64]"),
                    )*
                    concat!("vpmadd52huq {last}, {digit}, [{m} + 64 * ", $width, " - 64]"),
                    m = in(reg) $m,
                    constants = in(reg) $constants,
                    digit = in(zmm_reg) digit,
                    next_digit = out(zmm_reg) $digit,
                    column = inout(zmm_reg) $sums[$j] => _,
                    next = inout(zmm_reg) $sums[$j + 1],
                    #(sum~I = inout(zmm_reg) $sums[$j + I],)*
                    last = inout(zmm_reg) $sums[$j + $width],
                    options(pure, readonly, nostack, preserves_flags)
                );
            }
        });
    };
}

/// Defines as many such steps as `q` has room for digits; the columns of `t` below become zero in effect and are left as
/// they are.
macro_rules! reduce_rows {
    ($name:ident, $width:literal, $columns:literal) => {
        #[target_feature(enable = "avx512f,avx512ifma")]
        #[inline]
        fn $name(t: &mut [Octet], q: &mut [Octet], m: &[Octet], constants: &DigitConstants) {
            let (m, t, constants) = (m[..$width].as_ptr(), &mut t[..$width + q.len()], &raw const *constants);
            let zero = _mm512_setzero_si512();
            let mut sums = [zero; $columns];
            seq!(I in 0..$width { sums[I] = get(t, I); });
            // SAFETY: a reference has just become this pointer.
            let mut digit = low(zero, sums[0], unsafe { (*constants).inverse });
            for at in (0..q.len()).step_by(STEP) {
                let incoming = &t[at + $width..at + $width + STEP];
                seq!(I in 0..5 { sums[$width + I] = get(incoming, I); });
                let q = &mut q[at..at + STEP];
                seq!(J in 0..5 {
                    set(q, J, digit);
                    reduce_row!($width, J, sums, digit, m, constants);
                });
                seq!(I in 0..$width { sums[I] = sums[I + 5]; });
            }
            seq!(I in 0..$width { set(t, q.len() + I, sums[I]); });
        }
    };
}

reduce_rows!(reduce_rows_10, 10, 15);
reduce_rows!(reduce_rows_15, 15, 20);

/// The products of two digits, `t_digit` and `u_digit`, with limb `$i` and the upper halves with the limb below, for the
/// column that both belong to.
macro_rules! column_products {
    ($i:literal) => {
        concat!(
            "vpmadd52luq {t",
            $i,
            "}, {t_digit}, [{m} + 64 * ",
            $i,
            "]\n",
            "vpmadd52luq {u",
            $i,
            "}, {u_digit}, [{m} + 64 * ",
            $i,
            "]\n",
            "vpmadd52huq {t",
            $i,
            "}, {t_digit}, [{m} + 64 * ",
            $i,
            " - 64]\n",
            "vpmadd52huq {u",
            $i,
            "}, {u_digit}, [{m} + 64 * ",
            $i,
            " - 64]"
        )
    };
}

/// One step of two Montgomery reductions by the same modulus in its lowest ten limbs: [`reduce_row`] for the columns of
/// `t` from `$j` on and for those of `u` from `$i = $j - 1` on, from the next of which the digit of `t` is subtracted.
///
/// Of `u` a digit follows from the column after `t` has given up the digit of the same column, so `u` is one row behind:
/// then neither waits for the other in a row, and the products of both fill the latency between the digits.
macro_rules! reduce_row_pair {
    ($j:literal, $i:literal, $t:ident, $u:ident, $digits:ident, $m:ident, $constants:ident) => {
        let digits = $digits;
        seq!(I in 2..10 {
            // SAFETY: reads the limbs of the modulus and the constants only.
            unsafe {
                std::arch::asm!(
                    "vpaddq {t_column}, {t_column}, [{constants}]",
                    "vpaddq {u_column}, {u_column}, [{constants}]",
                    "vpxorq {u_next_digit}, {t_digit}, [{constants}]",
                    "vpsrlq {t_column}, {t_column}, 52",
                    "vpaddq {u_next}, {u_next}, {u_next_digit}",
                    "vpsrlq {u_column}, {u_column}, 52",
                    "vpaddq {t_next}, {t_next}, {t_column}",
                    "vpaddq {u_next}, {u_next}, {u_column}",
                    column_products!(2),
                    "vpmadd52luq {t_next}, {t_digit}, [{m} + 64]",
                    "vpmadd52luq {u_next}, {u_digit}, [{m} + 64]",
                    column_products!(3),
                    column_products!(4),
                    "vpmadd52huq {t_next}, {t_digit}, [{m}]",
                    "vpmadd52huq {u_next}, {u_digit}, [{m}]",
                    column_products!(5),
                    column_products!(6),
                    "vpxorq {t_next_digit}, {t_next_digit}, {t_next_digit}",
                    "vpxorq {u_next_digit}, {u_next_digit}, {u_next_digit}",
                    "vpmadd52luq {t_next_digit}, {t_next}, [{constants} + 64]",
                    "vpmadd52luq {u_next_digit}, {u_next}, [{constants} + 64]",
                    column_products!(7),
                    column_products!(8),
                    column_products!(9),
                    "vpmadd52huq {t_last}, {t_digit}, [{m} + 64 * 9]",
                    "vpmadd52huq {u_last}, {u_digit}, [{m} + 64 * 9]",
                    m = in(reg) $m,
                    constants = in(reg) $constants,
                    t_digit = in(zmm_reg) digits.0,
                    u_digit = in(zmm_reg) digits.1,
                    t_next_digit = out(zmm_reg) $digits.0,
                    u_next_digit = out(zmm_reg) $digits.1,
                    t_column = inout(zmm_reg) $t[$j] => _,
                    u_column = inout(zmm_reg) $u[$i] => _,
                    t_next = inout(zmm_reg) $t[$j + 1],
                    u_next = inout(zmm_reg) $u[$i + 1],
                    #(
                        t~I = inout(zmm_reg) $t[$j + I],
                        u~I = inout(zmm_reg) $u[$i + I],
                    )*
                    t_last = inout(zmm_reg) $t[$j + 10],
                    u_last = inout(zmm_reg) $u[$i + 10],
                    options(pure, readonly, nostack, preserves_flags)
                );
            }
        });
    };
}

/// Reduces the lowest ten columns of `t`, and of `u` minus the digits of `t`, in the lowest ten limbs of `m`, and leaves
/// the digits of both, one after the other, in `q`.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn reduce_block_pair(t: &mut [Octet], u: &mut [Octet], q: &mut [Octet], m: &[Octet], constants: &DigitConstants) {
    let (t, u, (q_t, q_u)) = (&mut t[..2 * BLOCK], &mut u[..2 * BLOCK], q.split_at_mut(BLOCK));
    let (m, at) = (m[..BLOCK].as_ptr(), &raw const *constants);
    let zero = _mm512_setzero_si512();
    let (mut t_sums, mut u_sums) = ([zero; 2 * BLOCK], [zero; 2 * BLOCK]);
    seq!(I in 0..11 { t_sums[I] = get(t, I); });
    seq!(I in 0..10 { u_sums[I] = get(u, I); });
    let first = low(zero, t_sums[0], constants.inverse);
    u_sums[0] = _mm512_add_epi64(u_sums[0], _mm512_xor_si512(first, constants.ones));
    let mut t_digit = first;
    set(q_t, 0, t_digit);
    reduce_row!(10, 0, t_sums, t_digit, m, at);
    let mut digits = (t_digit, low(zero, u_sums[0], constants.inverse));
    macro_rules! row {
        ($j:literal, $i:literal) => {
            t_sums[$j + 10] = get(t, $j + 10);
            u_sums[$i + 10] = get(u, $i + 10);
            set(q_t, $j, digits.0);
            set(q_u, $i, digits.1);
            reduce_row_pair!($j, $i, t_sums, u_sums, digits, m, at);
        };
    }
    row!(1, 0);
    row!(2, 1);
    row!(3, 2);
    row!(4, 3);
    row!(5, 4);
    row!(6, 5);
    row!(7, 6);
    row!(8, 7);
    row!(9, 8);
    let mut u_digit = digits.1;
    u_sums[19] = get(u, 19);
    set(q_u, 9, u_digit);
    reduce_row!(10, 9, u_sums, u_digit, m, at);
    // No digit follows in this block: the columns above are not complete yet.
    _ = u_digit;
    seq!(I in 10..20 {
        set(t, I, t_sums[I]);
        set(u, I, u_sums[I]);
    });
}

/// Montgomery reduction of the `2 k` columns `t`: leaves the reduced number's columns, not yet normalised, in the upper
/// half. `q` is room for ten digits.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn reduce(t: &mut [Octet], q: &mut [Octet], m: &[Octet], neg_inverse: Octet) {
    let (k, q) = (m.len(), &mut q[..BLOCK]);
    let constants = DigitConstants::new(neg_inverse);
    if k == BLOCK {
        return reduce_rows_10(t, q, m, &constants);
    }
    for start in (0..k).step_by(BLOCK) {
        reduce_rows_15(&mut t[start..], q, m, &constants);
        multiply_block(&mut t[start + WIDE..], q, &m[WIDE..], k);
    }
}

/// Montgomery reductions of the `2 k` columns `t` and of the `2 k` columns `u` minus the quotient digits of the first,
/// side by side: leaves the reduced numbers' columns, not yet normalised, in the upper halves. `q` is room for twenty
/// digits.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn reduce_pair(t: &mut [Octet], u: &mut [Octet], q: &mut [Octet], m: &[Octet], neg_inverse: Octet) {
    let (k, q) = (m.len(), &mut q[..2 * BLOCK]);
    let constants = DigitConstants::new(neg_inverse);
    for start in (0..k).step_by(BLOCK) {
        reduce_block_pair(&mut t[start..], &mut u[start..], q, m, &constants);
        if k > BLOCK {
            multiply_block(&mut t[start + BLOCK..], &q[..BLOCK], &m[BLOCK..], k);
            multiply_block(&mut u[start + BLOCK..], &q[BLOCK..], &m[BLOCK..], k);
        }
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

/// Carries two numbers' columns up at the same time, as [`normalise`].
#[target_feature(enable = "avx512f")]
pub(super) fn normalise_pair(out: &mut [Octet], t: &[Octet], u: &[Octet]) {
    let ones = _mm512_set1_epi64(MASK as i64);
    let (out_t, out_u) = out.split_at_mut(t.len());
    let mut carries = (_mm512_setzero_si512(), _mm512_setzero_si512());
    for i in 0..out_u.len() {
        let sums = (_mm512_add_epi64(get(t, i), carries.0), _mm512_add_epi64(get(u, i), carries.1));
        set(out_t, i, _mm512_and_si512(sums.0, ones));
        set(out_u, i, _mm512_and_si512(sums.1, ones));
        carries = (_mm512_srli_epi64::<RADIX>(sums.0), _mm512_srli_epi64::<RADIX>(sums.1));
    }
}

/// `t = R (m - 1) + 1`: what the high part of a dual product starts from. Subtracting the digits `q` by adding
/// `2^52 - 1 - q` to each column makes it `R m - Q`. `m` is odd.
#[target_feature(enable = "avx512f")]
pub(super) fn start_high(t: &mut [Octet], m: &[Octet]) {
    let one = _mm512_set1_epi64(1);
    let k = m.len();
    t[..k].fill(Octet::default());
    t[k..].copy_from_slice(m);
    set(t, 0, one);
    set(t, k, _mm512_xor_si512(get(m, 0), one));
}

/// `t = 2 t + R (m - 1) + 1`, as [`start_high`].
#[target_feature(enable = "avx512f")]
pub(super) fn double_high(t: &mut [Octet], m: &[Octet]) {
    let one = _mm512_set1_epi64(1);
    let k = m.len();
    for i in 0..k {
        let (low, high) = (get(t, i), get(t, k + i));
        set(t, i, _mm512_add_epi64(low, low));
        set(t, k + i, _mm512_add_epi64(_mm512_add_epi64(high, high), get(m, i)));
    }
    set(t, 0, _mm512_add_epi64(get(t, 0), one));
    set(t, k, _mm512_sub_epi64(get(t, k), one));
}
