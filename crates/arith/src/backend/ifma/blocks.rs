//! Products, squares and Montgomery reductions of eight numbers at a time, in blocks of ten limbs
//! held in registers.

// Unrolled loops add zero to an index, or compare it with itself, now and then.
#![allow(clippy::identity_op, clippy::eq_op, clippy::erasing_op)]

use super::{MASK, Octet, RADIX};
use seq_macro::seq;
use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_andnot_si512, _mm512_load_si512, _mm512_madd52hi_epu64,
    _mm512_madd52lo_epu64, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_srai_epi64, _mm512_srli_epi64,
    _mm512_store_si512, _mm512_sub_epi64,
};

/// Limbs of a block: ten multiplicand limbs and the fifteen columns that five multiplier limbs
/// touch fill 26 of the 32 registers, and a column is touched twice in a row of twenty products, as
/// often as the latency of four cycles allows.
pub(super) const BLOCK: usize = 10;
/// Multiplier limbs taken in one unrolled step.
const STEP: usize = 5;
/// Limbs of the modulus that a reduction's digits meet at once: 30 products hide the nine cycles
/// between two digits.
const WIDE: usize = BLOCK + STEP;

/// The limbs of one block.
type Limbs = [Octet; BLOCK];

/// The block of limbs from limb `at` on.
#[inline]
fn block(words: &[Octet], at: usize) -> &Limbs {
    words[at..].first_chunk().expect("a whole block")
}

/// The block of limbs from limb `at` on.
#[inline]
fn block_mut(words: &mut [Octet], at: usize) -> &mut Limbs {
    words[at..].first_chunk_mut().expect("a whole block")
}

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

/// Keeps the compiler from moving products past this point: without it, it brings all products of
/// one column together, and each then waits four cycles for the one before. The empty instruction
/// sequence only says that it needs the sums.
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

/// `t = t + x y` for one block `x` and a multiple of five limbs `y`; `t` has ten columns more than
/// `y` has limbs, of which those from `valid` on, a multiple of five, hold nothing yet: they start
/// as `start` says.
///
/// The block's last limb meets `nearest` instead of the first limb of `y`: see [`square`].
///
/// The columns slide through registers: five multiplier limbs at a time complete five columns.
///
/// Proved: `column_fits` in formal/coq/ifma.v.
/// Proved: `rows_correct` in formal/coq/ifma_rows.v.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn multiply_block(t: &mut [Octet], x: &[Octet], y: &[Octet], nearest: &Octet, valid: usize, start: &[Octet]) {
    let t = &mut t[..y.len() + BLOCK];
    let x = &x[..BLOCK];
    let mut sums = [_mm512_setzero_si512(); BLOCK + STEP];
    seq!(I in 0..10 { let x~I = get(x, I); });
    let from = if valid >= BLOCK { &*t } else { start };
    let from = &from[..BLOCK];
    seq!(I in 0..10 { sums[I] = get(from, I); });
    for at in (0..y.len()).step_by(STEP) {
        let y = &y[at..at + STEP];
        let nearest = if at == 0 { nearest } else { &y[0] };
        let from = if at + BLOCK + STEP <= valid { &*t } else { start };
        let from = &from[at + BLOCK..at + BLOCK + STEP];
        seq!(J in 0..5 { sums[10 + J] = get(from, J); });
        let t = &mut t[at..at + STEP];
        seq!(J in 0..5 {
            let digit = get(y, J);
            let last = if J == 0 { get(std::slice::from_ref(nearest), 0) } else { digit };
            seq!(I in 0..9 { sums[I + J] = low(sums[I + J], x~I, digit); });
            sums[J + 9] = low(sums[J + 9], x9, last);
            seq!(I in 0..9 { sums[I + J + 1] = high(sums[I + J + 1], x~I, digit); });
            sums[J + 10] = high(sums[J + 10], x9, last);
            row_ends!(sums, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14);
            set(t, J, sums[J]);
        });
        seq!(I in 0..10 { sums[I] = sums[I + 5]; });
    }
    seq!(I in 0..10 { set(t, y.len() + I, sums[I]); });
}

/// `t = start + a b` in `2 k` columns.
///
/// Proved: `ifma_products_fit` in formal/coq/columns.v.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn multiply(t: &mut [Octet], a: &[Octet], b: &[Octet], start: &[Octet]) {
    let k = b.len();
    for (block, x) in a.chunks_exact(BLOCK).enumerate() {
        let first = block * BLOCK;
        // The blocks before have filled the columns up to k limbs above this block's first.
        let filled = if block == 0 { 0 } else { k };
        multiply_block(&mut t[first..], x, b, &b[0], filled, &start[first..]);
    }
}

/// `t = t + a b` in `2 k` columns.
///
/// Proved: `ifma_products_fit` in formal/coq/columns.v.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn multiply_add(t: &mut [Octet], a: &[Octet], b: &[Octet]) {
    let columns = t.len();
    for (block, x) in a.chunks_exact(BLOCK).enumerate() {
        multiply_block(&mut t[block * BLOCK..], x, b, &b[0], columns, &[]);
    }
}

/// `t = t + a b` in `2 k` columns, complete from column `from` on: products of limbs that lie
/// wholly below are left out, block by block.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn multiply_from(t: &mut [Octet], a: &[Octet], b: &[Octet], from: usize) {
    let columns = t.len();
    for (block, x) in a.chunks_exact(BLOCK).enumerate() {
        let first = block * BLOCK;
        let y = &b[from.saturating_sub(first + BLOCK - 1) / STEP * STEP..];
        multiply_block(&mut t[first + b.len() - y.len()..], x, y, &y[0], columns, &[]);
    }
}

/// `t = t + a b` in `2 k` columns, complete below column `k`.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn multiply_below(t: &mut [Octet], a: &[Octet], b: &[Octet]) {
    let columns = t.len();
    for (block, x) in a.chunks_exact(BLOCK).enumerate() {
        let first = block * BLOCK;
        multiply_block(&mut t[first..], x, &b[..b.len() - first], &b[0], columns, &[]);
    }
}

/// `t = start + a^2` in `2 k` columns, and the limbs of `2 a` in `twice`.
///
/// Limb `i` meets itself and twice what lies above it: the limbs of `2 a`, except that the nearest,
/// `i + 1`, must not have the carry out of limb `i`. So nothing is left to be doubled in the
/// columns.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn square(t: &mut [Octet], twice: &mut [Octet], a: &[Octet], start: &[Octet]) {
    let (k, columns) = (a.len(), t.len());
    let mut above = k;
    while above > 0 {
        let first = above - BLOCK;
        let below = if first > 0 { a[first - 1] } else { Octet::default() };
        let (x, t) = (block(a, first), &mut t[2 * first..]);
        triangle(t, block_mut(twice, first), x, below, &start[2 * first..]);
        if above < k {
            let mut nearest = [a[above]];
            set(&mut nearest, 0, _mm512_add_epi64(get(a, above), get(a, above)));
            multiply_block(&mut t[BLOCK..], x, &twice[above..k], &nearest[0], columns, &[]);
        }
        above = first;
    }
}

/// `t = start + x^2` for one block in twenty columns, and the limbs of `2 x` in `twice`, with the
/// bit that the limb `below` carries: the upper half of its product with two.
///
/// Proved: `triangle_correct` in formal/coq/ifma_squares.v.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn triangle(t: &mut [Octet], twice: &mut Limbs, x: &Limbs, below: Octet, start: &[Octet]) {
    let two = _mm512_set1_epi64(2);
    let (t, start) = (&mut t[..2 * BLOCK], &start[..2 * BLOCK]);
    let mut sums = [_mm512_setzero_si512(); 2 * BLOCK];
    // What is below the block, then its limbs.
    let mut limbs = [get(&[below], 0); BLOCK + 1];
    seq!(J in 0..10 {
        limbs[J + 1] = get(x, J);
        let near = _mm512_add_epi64(limbs[J + 1], limbs[J + 1]);
        let far = high(near, limbs[J], two);
        set(twice, J, far);
        sums[2 * J] = get(start, 2 * J);
        sums[2 * J + 1] = get(start, 2 * J + 1);
        seq!(I in 0..9 { if I + 1 < J { sums[I + J] = low(sums[I + J], limbs[I + 1], far); } });
        seq!(I in 0..9 { if I + 1 == J { sums[I + J] = low(sums[I + J], limbs[I + 1], near); } });
        sums[2 * J] = low(sums[2 * J], limbs[J + 1], limbs[J + 1]);
        seq!(I in 0..9 { if I + 1 < J { sums[I + J + 1] = high(sums[I + J + 1], limbs[I + 1], far); } });
        seq!(I in 0..9 { if I + 1 == J { sums[I + J + 1] = high(sums[I + J + 1], limbs[I + 1], near); } });
        sums[2 * J + 1] = high(sums[2 * J + 1], limbs[J + 1], limbs[J + 1]);
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

/// The digit of a column that holds [`MASK`] too much.
///
/// Proved: `reduction_correct` in formal/coq/lazy.v.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn first_digit(column: __m512i, inverse: __m512i) -> __m512i {
    low(inverse, column, inverse)
}

/// One step of a Montgomery reduction in the lowest `$width` limbs of a modulus at `$m`: adds
/// `$digit m` to the columns from `$sums[$j]` on and leaves the next digit in `$digit`.
///
/// The column, once its digit is known, is a multiple of 2^52 without adding anything up: its carry
/// is its upper bits, and one more unless its lower bits are zero. Columns that are to be reduced
/// hold [`MASK`] too much from the start: then the carry is their upper bits, and the digit,
/// `(column + 1) * inverse`, starts from the inverse. Only the lower 52 bits of a digit count. The
/// next digit follows from the next column after two multiplications side by side, the carry, and
/// its own multiplication, eleven cycles or more later. The instructions are in the order in which
/// they should start: first what the next digit waits for. Left to itself the compiler keeps the
/// modulus in registers, where the sums belong, and brings all products of a column together, each
/// of which then waits for the one before.
macro_rules! reduce_row {
    ($width:literal, $j:literal, $sums:ident, $digit:ident, $m:ident, $constants:ident) => {
        let digit = $digit;
        seq!(I in 2..$width {
            // SAFETY: reads the limbs of the modulus and the constants only.
            unsafe {
                std::arch::asm!(
                    "vpsrlq {column}, {column}, 52",
                    "vmovdqa64 {limb}, [{m} + 64]",
                    "vpmadd52huq {column}, {digit}, [{m}]",
                    "vpmadd52luq {next}, {digit}, {limb}",
                    "vmovdqa64 {next_digit}, [{constants} + 64]",
                    "vpaddq {next}, {next}, {column}",
                    "vpmadd52luq {next_digit}, {next}, [{constants} + 64]",
                    #(
                        concat!("vpmadd52huq {sum", I, "}, {digit}, {limb}"),
                        concat!("vmovdqa64 {limb}, [{m} + 64 * ", I, "]"),
                        concat!("vpmadd52luq {sum", I, "}, {digit}, {limb}"),
                    )*
                    "vpmadd52huq {last}, {digit}, {limb}",
                    m = in(reg) $m,
                    constants = in(reg) $constants,
                    limb = out(zmm_reg) _,
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

/// Defines as many such steps as `q` has room for digits; the columns of `t` below become zero in
/// effect and are left as they are.
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
            let mut digit = first_digit(sums[0], unsafe { (*constants).inverse });
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

/// The products of two digits, `t_digit` and `u_digit`, with a limb of the modulus: their upper
/// halves belong to the column above the one of their lower halves. Each limb is loaded once for
/// all four: 512-bit loads, too, have two ports.
macro_rules! limb_products {
    ($i:literal, $above:literal) => {
        concat!(
            "vmovdqa64 {limb}, [{m} + 64 * ",
            $i,
            "]\n",
            "vpmadd52luq {t",
            $i,
            "}, {t_digit}, {limb}\n",
            "vpmadd52luq {u",
            $i,
            "}, {u_digit}, {limb}\n",
            "vpmadd52huq {t",
            $above,
            "}, {t_digit}, {limb}\n",
            "vpmadd52huq {u",
            $above,
            "}, {u_digit}, {limb}",
        )
    };
}

/// One step of two Montgomery reductions by the same modulus in its lowest ten limbs:
/// [`reduce_row`] for the columns of `t` and of `u` from `$j` on. From each column of `u` the digit
/// of `t` in that column is subtracted before the digit of `u` follows from it: so the digits of
/// `u` come some eight cycles after those of `t`, and the products of both fill the waiting. Digits
/// of `t` are cut to 52 bits, since they are subtracted.
macro_rules! reduce_row_pair {
    ($j:literal, $t:ident, $u:ident, $digits:ident, $m:ident, $constants:ident) => {
        let digits = $digits;
        seq!(I in 2..10 {
            // SAFETY: reads the limbs of the modulus and the constants only.
            unsafe {
                std::arch::asm!(
                    "vpsrlq {t_column}, {t_column}, 52",
                    "vmovdqa64 {limb}, [{m} + 64]",
                    "vpmadd52luq {t_next}, {t_digit}, {limb}",
                    "vpmadd52huq {t_column}, {t_digit}, [{m}]",
                    "vpsrlq {u_column}, {u_column}, 52",
                    "vpmadd52huq {t2}, {t_digit}, {limb}",
                    "vpmadd52luq {u_next}, {u_digit}, {limb}",
                    "vpmadd52huq {u_column}, {u_digit}, [{m}]",
                    "vpmadd52huq {u2}, {u_digit}, {limb}",
                    limb_products!(2, 3),
                    "vmovdqa64 {t_next_digit}, [{constants} + 64]",
                    "vpaddq {t_next}, {t_next}, {t_column}",
                    limb_products!(3, 4),
                    "vpmadd52luq {t_next_digit}, {t_next}, [{constants} + 64]",
                    limb_products!(4, 5),
                    "vpaddq {u_next}, {u_next}, {u_column}",
                    limb_products!(5, 6),
                    "vpandq {t_next_digit}, {t_next_digit}, [{constants}]",
                    "vmovdqa64 {u_next_digit}, [{constants} + 64]",
                    limb_products!(6, 7),
                    "vpsubq {u_next}, {u_next}, {t_next_digit}",
                    limb_products!(7, 8),
                    "vpmadd52luq {u_next_digit}, {u_next}, [{constants} + 64]",
                    limb_products!(8, 9),
                    limb_products!(9, 10),
                    m = in(reg) $m,
                    constants = in(reg) $constants,
                    limb = out(zmm_reg) _,
                    t_digit = in(zmm_reg) digits.0,
                    u_digit = in(zmm_reg) digits.1,
                    t_next_digit = out(zmm_reg) $digits.0,
                    u_next_digit = out(zmm_reg) $digits.1,
                    t_column = inout(zmm_reg) $t[$j] => _,
                    u_column = inout(zmm_reg) $u[$j] => _,
                    t_next = inout(zmm_reg) $t[$j + 1],
                    u_next = inout(zmm_reg) $u[$j + 1],
                    #(
                        t~I = inout(zmm_reg) $t[$j + I],
                        u~I = inout(zmm_reg) $u[$j + I],
                    )*
                    t10 = inout(zmm_reg) $t[$j + 10],
                    u10 = inout(zmm_reg) $u[$j + 10],
                    options(pure, readonly, nostack, preserves_flags)
                );
            }
        });
    };
}

/// Reduces the lowest ten columns of `t`, and of `u` minus the digits of `t`, in the lowest ten
/// limbs of `m`, and leaves the digits of both, one after the other, in `q`.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn reduce_block_pair(t: &mut [Octet], u: &mut [Octet], q: &mut [Octet], m: &[Octet], constants: &DigitConstants) {
    let (t, u, (q_t, q_u)) = (&mut t[..2 * BLOCK], &mut u[..2 * BLOCK], q.split_at_mut(BLOCK));
    let (m, at) = (m[..BLOCK].as_ptr(), &raw const *constants);
    let zero = _mm512_setzero_si512();
    let (mut t_sums, mut u_sums) = ([zero; 2 * BLOCK], [zero; 2 * BLOCK]);
    seq!(I in 0..10 {
        t_sums[I] = get(t, I);
        u_sums[I] = get(u, I);
    });
    let first = _mm512_and_si512(first_digit(t_sums[0], constants.inverse), constants.ones);
    u_sums[0] = _mm512_sub_epi64(u_sums[0], first);
    let mut digits = (first, first_digit(u_sums[0], constants.inverse));
    seq!(J in 0..10 {
        t_sums[10 + J] = get(t, 10 + J);
        u_sums[10 + J] = get(u, 10 + J);
        set(q_t, J, digits.0);
        set(q_u, J, digits.1);
        reduce_row_pair!(J, t_sums, u_sums, digits, m, at);
    });
    // No digits follow in this block: the columns above are not complete yet, and the last
    // subtraction is taken back.
    u_sums[10] = _mm512_add_epi64(u_sums[10], digits.0);
    seq!(I in 10..20 {
        set(t, I, t_sums[I]);
        set(u, I, u_sums[I]);
    });
}

/// Montgomery reduction of the `2 k` columns `t`: leaves the reduced number's columns, not yet
/// normalised, in the upper half. `q` is room for ten digits.
///
/// Proved: `reduction_correct` in formal/coq/lazy.v.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn reduce(t: &mut [Octet], q: &mut [Octet], m: &[Octet], neg_inverse: Octet) {
    let (k, q) = (m.len(), &mut q[..BLOCK]);
    let constants = DigitConstants::new(neg_inverse);
    if k == BLOCK {
        return reduce_rows_10(t, q, m, &constants);
    }
    for start in (0..k).step_by(BLOCK) {
        reduce_rows_15(&mut t[start..], q, m, &constants);
        multiply_block(&mut t[start + WIDE..], q, &m[WIDE..], &m[WIDE], k, &[]);
    }
}

/// Montgomery reductions of the `2 k` columns `t` and of the `2 k` columns `u` minus the quotient
/// digits of the first, side by side: leaves the reduced numbers' columns, not yet normalised, in
/// the upper halves. `q` is room for twenty digits.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn reduce_pair(t: &mut [Octet], u: &mut [Octet], q: &mut [Octet], m: &[Octet], neg_inverse: Octet) {
    let (k, q) = (m.len(), &mut q[..2 * BLOCK]);
    let constants = DigitConstants::new(neg_inverse);
    for start in (0..k).step_by(BLOCK) {
        reduce_block_pair(&mut t[start..], &mut u[start..], q, m, &constants);
        if k > BLOCK {
            multiply_block(&mut t[start + BLOCK..], &q[..BLOCK], &m[BLOCK..], &m[BLOCK], k, &[]);
            multiply_block(&mut u[start + BLOCK..], &q[BLOCK..], &m[BLOCK..], &m[BLOCK], k, &[]);
        }
    }
}

/// Carries columns up into limbs. What leaves the last limb is dropped: by the bounds, nothing. The
/// bits above the 52 of a limb stay: products ignore them.
#[target_feature(enable = "avx512f")]
pub(super) fn normalise(out: &mut [Octet], columns: &[Octet]) {
    let mut carry = _mm512_setzero_si512();
    for i in 0..out.len() {
        let sum = _mm512_add_epi64(get(columns, i), carry);
        set(out, i, sum);
        carry = _mm512_srli_epi64::<RADIX>(sum);
    }
}

/// Carries columns up where they stand into limbs below 2^52. What leaves the last limb is dropped.
#[target_feature(enable = "avx512f")]
pub(super) fn carry(columns: &mut [Octet]) {
    let ones = _mm512_set1_epi64(MASK as i64);
    let mut carry = _mm512_setzero_si512();
    for i in 0..columns.len() {
        let sum = _mm512_add_epi64(get(columns, i), carry);
        set(columns, i, _mm512_and_si512(sum, ones));
        carry = _mm512_srli_epi64::<RADIX>(sum);
    }
}

/// `a = a - b` in limbs below 2^52; what is borrowed at the end is forgotten.
#[target_feature(enable = "avx512f")]
pub(super) fn subtract(a: &mut [Octet], b: &[Octet]) {
    let ones = _mm512_set1_epi64(MASK as i64);
    let mut borrow = _mm512_setzero_si512();
    for i in 0..a.len() {
        let difference = _mm512_add_epi64(_mm512_sub_epi64(get(a, i), get(b, i)), borrow);
        set(a, i, _mm512_and_si512(difference, ones));
        borrow = _mm512_srai_epi64::<RADIX>(difference);
    }
}

/// `a = a + b`: of each limb the lower 52 bits count.
#[target_feature(enable = "avx512f")]
pub(super) fn add(a: &mut [Octet], b: &[Octet]) {
    let ones = _mm512_set1_epi64(MASK as i64);
    let mut carry = _mm512_setzero_si512();
    for i in 0..a.len() {
        let (limb, more) = (_mm512_and_si512(get(a, i), ones), _mm512_and_si512(get(b, i), ones));
        let sum = _mm512_add_epi64(_mm512_add_epi64(limb, more), carry);
        set(a, i, sum);
        carry = _mm512_srli_epi64::<RADIX>(sum);
    }
}

/// Carries two numbers' columns up at the same time, as [`normalise`].
#[target_feature(enable = "avx512f")]
pub(super) fn normalise_pair(out: &mut [Octet], t: &[Octet], u: &[Octet]) {
    let (out_t, out_u) = out.split_at_mut(t.len());
    let mut carries = (_mm512_setzero_si512(), _mm512_setzero_si512());
    for i in 0..out_u.len() {
        let sums = (_mm512_add_epi64(get(t, i), carries.0), _mm512_add_epi64(get(u, i), carries.1));
        set(out_t, i, sums.0);
        set(out_u, i, sums.1);
        carries = (_mm512_srli_epi64::<RADIX>(sums.0), _mm512_srli_epi64::<RADIX>(sums.1));
    }
}

/// Adds `more` to each lane of `a` and brings the limbs below 2^52.
#[target_feature(enable = "avx512f")]
pub(super) fn settle(a: &mut [Octet], more: Octet) {
    let ones = _mm512_set1_epi64(MASK as i64);
    let mut carry = get(&[more], 0);
    for i in 0..a.len() {
        let sum = _mm512_add_epi64(_mm512_and_si512(get(a, i), ones), carry);
        set(a, i, _mm512_and_si512(sum, ones));
        carry = _mm512_srli_epi64::<RADIX>(sum);
    }
}

/// `a = a - m` in the lanes where that is not negative; gives 1 for these lanes, 0 for the others.
/// Limbs are below 2^52.
#[target_feature(enable = "avx512f")]
pub(super) fn reduce_once(a: &mut [Octet], m: &[Octet]) -> Octet {
    let ones = _mm512_set1_epi64(MASK as i64);
    let mut borrow = _mm512_setzero_si512();
    for i in 0..a.len() {
        let difference = _mm512_add_epi64(_mm512_sub_epi64(get(a, i), get(m, i)), borrow);
        borrow = _mm512_srai_epi64::<RADIX>(difference);
    }
    // -1 where `m` is the greater, else 0.
    let kept = borrow;
    borrow = _mm512_setzero_si512();
    for i in 0..a.len() {
        let less = _mm512_andnot_si512(kept, get(m, i));
        let difference = _mm512_add_epi64(_mm512_sub_epi64(get(a, i), less), borrow);
        set(a, i, _mm512_and_si512(difference, ones));
        borrow = _mm512_srai_epi64::<RADIX>(difference);
    }
    let mut subtracted = [Octet::default()];
    set(&mut subtracted, 0, _mm512_add_epi64(kept, _mm512_set1_epi64(1)));
    subtracted[0]
}

/// What the `2 k` columns of a product start from: in the `k` that will be reduced, the [`MASK`]
/// that the reduction expects.
pub(super) fn start_low(k: usize) -> Vec<Octet> {
    let mut start = vec![Octet([MASK; 8]); k];
    start.resize(2 * k, Octet::default());
    start
}

/// What the `2 k` columns of the high part of a dual product start from: besides that [`MASK`],
/// `R m`, so written that quotient digits can be subtracted from each column: `R (m - 1) + 1`, and
/// 2^52 - 1 in each of the lower columns. `m` is odd.
///
/// Proved: `start_high_correct` in formal/coq/lazy.v.
pub(super) fn start_high(m: &[Octet]) -> Vec<Octet> {
    let mut start = vec![Octet([2 * MASK; 8]); m.len()];
    start[0] = Octet([2 * MASK + 1; 8]);
    start.extend_from_slice(m);
    start[m.len()].0.iter_mut().for_each(|limb| *limb -= 1);
    start
}
