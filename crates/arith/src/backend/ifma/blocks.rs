//! Products, squares and Montgomery reductions of eight numbers at a time, in blocks of ten limbs
//! in registers.

// Some iterations of unrolled loops add zero to an index or compare it with itself.
#![allow(clippy::identity_op, clippy::eq_op, clippy::erasing_op)]

use super::{MASK, Octet, RADIX};
use seq_macro::seq;
use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_andnot_si512, _mm512_load_si512, _mm512_madd52hi_epu64,
    _mm512_madd52lo_epu64, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_srai_epi64, _mm512_srli_epi64,
    _mm512_store_si512, _mm512_sub_epi64,
};

/// Limbs of a block. Ten multiplicand limbs and the fifteen columns that five multiplier limbs
/// touch fill 26 of the 32 registers. A column is touched twice in a row of twenty products, as
/// often as the latency of four cycles allows.
pub(super) const BLOCK: usize = 10;
/// Multiplier limbs per unrolled step.
const STEP: usize = 5;
/// Limbs of the modulus that are multiplied at once by the digits of a reduction: 30 products hide
/// the nine cycles between two digits.
const WIDE: usize = BLOCK + STEP;

/// The limbs of one block.
type Limbs = [Octet; BLOCK];

/// The block that starts at limb `at`.
#[inline]
fn block(words: &[Octet], at: usize) -> &Limbs {
    words[at..].first_chunk().expect("a whole block")
}

/// The mutable block that starts at limb `at`.
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

/// Prevents the compiler from moving products past this point. Otherwise it groups all products of
/// one column, and each then waits four cycles for the previous one. The empty instruction sequence
/// only declares that it uses the sums.
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

/// `t = t + x y` for one block `x` and a multiple of five limbs `y`. `t` has ten columns more than
/// `y` has limbs. Its columns from `valid` (a multiple of five) on are uninitialised and start from
/// `start`.
///
/// The block's last limb is multiplied by `nearest` instead of the first limb of `y`: see
/// [`square`].
///
/// The columns slide through registers: five multiplier limbs at a time complete five columns.
///
/// Proved: `column_fits` in formal/coq/ifma.v.
/// Proved: `row_correct` in formal/coq/ifma_rows.v.
/// Proved: `block_correct` in formal/coq/ifma_products.v.
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
/// Proved: `multiply_correct` in formal/coq/ifma_products.v.
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
/// Proved: `multiply_add_correct` in formal/coq/ifma_products.v.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn multiply_add(t: &mut [Octet], a: &[Octet], b: &[Octet]) {
    let columns = t.len();
    for (block, x) in a.chunks_exact(BLOCK).enumerate() {
        multiply_block(&mut t[block * BLOCK..], x, b, &b[0], columns, &[]);
    }
}

/// `t = t + a b` in `2 k` columns, complete from column `from` on. Products of limbs entirely below
/// it are omitted, block by block.
///
/// Proved: `multiply_from_correct` in formal/coq/ifma_products.v.
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
///
/// Proved: `multiply_below_correct` in formal/coq/ifma_products.v.
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
/// Limb `i` is multiplied by itself and by twice the limbs above it. These are the limbs of `2 a`,
/// except that the nearest one, `i + 1`, must not include the carry out of limb `i`. The columns
/// then need no doubling.
///
/// Proved: `square_correct` in formal/coq/ifma_products.v.
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

/// `t = start + x^2` for one block in twenty columns, and the limbs of `2 x` in `twice`, including
/// the bit carried from the limb `below`: the upper half of its product with two.
///
/// Proved: `triangle_correct` in formal/coq/ifma_squares.v.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn triangle(t: &mut [Octet], twice: &mut Limbs, x: &Limbs, below: Octet, start: &[Octet]) {
    let two = _mm512_set1_epi64(2);
    let (t, start) = (&mut t[..2 * BLOCK], &start[..2 * BLOCK]);
    let mut sums = [_mm512_setzero_si512(); 2 * BLOCK];
    // The limb below the block, then its limbs.
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

/// Constants for the digits of a Montgomery reduction, which the steps read from memory.
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

/// The digit of a column that is too large by [`MASK`].
///
/// Proved: `reduction_correct` in formal/coq/lazy.v.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn first_digit(column: __m512i, inverse: __m512i) -> __m512i {
    low(inverse, column, inverse)
}

/// One step of a Montgomery reduction by the lowest `$width` limbs of a modulus at `$m`. Adds
/// `$digit m` to the columns from `$sums[$j]` on and leaves the next digit in `$digit`.
///
/// Once its digit is known, the column would become a multiple of 2^52, so the addition can be
/// skipped. Its carry is its upper bits, plus one unless its lower bits are zero. Columns to be
/// reduced start too large by [`MASK`]: then the carry is just their upper bits, and the digit,
/// `(column + 1) * inverse`, starts from the inverse. Only the lower 52 bits of a digit matter.
///
/// The next digit follows from the next column after two parallel multiplications, the carry, and
/// its own multiplication, at least eleven cycles later. The instructions are in the order in which
/// they should start: first those on which the next digit depends. The compiler alone would keep
/// the modulus in registers, which the sums need. It would also group all products of a column,
/// each of which then waits for the previous one.
macro_rules! reduce_row {
    ($width:literal, $j:literal, $sums:ident, $digit:ident, $m:ident, $constants:ident) => {
        let digit = $digit;
        seq!(I in 2..$width {
            // SAFETY: only reads the limbs of the modulus and the constants.
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

/// Defines as many such steps as there are digits in `q`. The lower columns of `t` become zero in
/// effect but are left unchanged.
macro_rules! reduce_rows {
    ($name:ident, $width:literal, $columns:literal) => {
        #[target_feature(enable = "avx512f,avx512ifma")]
        #[inline]
        fn $name(t: &mut [Octet], q: &mut [Octet], m: &[Octet], constants: &DigitConstants) {
            let (m, t, constants) = (m[..$width].as_ptr(), &mut t[..$width + q.len()], &raw const *constants);
            let zero = _mm512_setzero_si512();
            let mut sums = [zero; $columns];
            seq!(I in 0..$width { sums[I] = get(t, I); });
            // SAFETY: the pointer comes from a live reference.
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

/// The products of two digits, `t_digit` and `u_digit`, with a limb of the modulus. Their upper
/// halves belong to the column above that of their lower halves. Each limb is loaded once for all
/// four products, because 512-bit loads also have only two ports.
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

/// One step of two Montgomery reductions by the lowest ten limbs of the same modulus:
/// [`reduce_row`] for the columns of `t` and of `u` from `$j` on.
///
/// The digit of `t` is subtracted from each column of `u` before the digit of `u` is computed. The
/// digits of `u` thus follow those of `t` by about eight cycles, and the products of both hide the
/// latency. Digits of `t` are reduced to 52 bits because they are subtracted.
macro_rules! reduce_row_pair {
    ($j:literal, $t:ident, $u:ident, $digits:ident, $m:ident, $constants:ident) => {
        let digits = $digits;
        seq!(I in 2..10 {
            // SAFETY: only reads the limbs of the modulus and the constants.
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

/// Reduces the lowest ten columns of `t`, and of `u` minus the digits of `t`, by the lowest ten
/// limbs of `m`. Stores the digits of `t` and then those of `u` in `q`.
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
    // No more digits follow in this block. The columns above are still incomplete, so the last
    // subtraction is undone.
    u_sums[10] = _mm512_add_epi64(u_sums[10], digits.0);
    seq!(I in 10..20 {
        set(t, I, t_sums[I]);
        set(u, I, u_sums[I]);
    });
}

/// Montgomery reduction of the `2 k` columns `t`. Leaves the columns of the reduced number, not yet
/// normalised, in the upper half. `q` has space for ten digits.
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

/// Montgomery reductions of the `2 k` columns `t`, and of the `2 k` columns `u` minus the quotient
/// digits of the first, in parallel. Leaves the columns of the reduced numbers, not yet normalised,
/// in the upper halves. `q` has space for twenty digits.
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

/// Propagates carries, which turns columns into limbs. The carry out of the last limb is dropped;
/// by the bounds, it is zero. The bits above the 52 of a limb remain, because products ignore them.
#[target_feature(enable = "avx512f")]
pub(super) fn normalise(out: &mut [Octet], columns: &[Octet]) {
    let mut carry = _mm512_setzero_si512();
    for i in 0..out.len() {
        let sum = _mm512_add_epi64(get(columns, i), carry);
        set(out, i, sum);
        carry = _mm512_srli_epi64::<RADIX>(sum);
    }
}

/// Propagates carries in place, which turns columns into limbs below 2^52. The carry out of the
/// last limb is dropped.
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

/// `a = a - b` in limbs below 2^52. The final borrow is dropped.
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

/// `a = a + b`, using the lower 52 bits of each limb.
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

/// Propagates the carries of two numbers in parallel, like [`normalise`].
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

/// Adds `more` to each lane of `a` and reduces the limbs to below 2^52.
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

/// `a = a - m` in the lanes where the difference is not negative. Returns 1 in these lanes and 0 in
/// the others. Limbs are below 2^52.
#[target_feature(enable = "avx512f")]
pub(super) fn reduce_once(a: &mut [Octet], m: &[Octet]) -> Octet {
    let ones = _mm512_set1_epi64(MASK as i64);
    let mut borrow = _mm512_setzero_si512();
    for i in 0..a.len() {
        let difference = _mm512_add_epi64(_mm512_sub_epi64(get(a, i), get(m, i)), borrow);
        borrow = _mm512_srai_epi64::<RADIX>(difference);
    }
    // -1 where `m` is greater, else 0.
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

/// Initial values of the `2 k` columns of a product: [`MASK`], which the reduction expects, in the
/// `k` columns that it will reduce.
pub(super) fn start_low(k: usize) -> Vec<Octet> {
    let mut start = vec![Octet([MASK; 8]); k];
    start.resize(2 * k, Octet::default());
    start
}

/// Initial values of the `2 k` columns for the high part of a dual product. In addition to that
/// [`MASK`], they contain `R m` in a form from which quotient digits can be subtracted in each
/// column: `R (m - 1) + 1`, and 2^52 - 1 in each of the lower columns. `m` is odd.
///
/// Proved: `start_high_correct` in formal/coq/lazy.v.
pub(super) fn start_high(m: &[Octet]) -> Vec<Octet> {
    let mut start = vec![Octet([2 * MASK; 8]); m.len()];
    start[0] = Octet([2 * MASK + 1; 8]);
    start.extend_from_slice(m);
    start[m.len()].0.iter_mut().for_each(|limb| *limb -= 1);
    start
}
