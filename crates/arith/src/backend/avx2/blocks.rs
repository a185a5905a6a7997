//! Products, squares and Montgomery reductions of four numbers at a time, in blocks of up to six
//! limbs in registers.

// Some iterations of unrolled loops add zero to an index or compare it with itself.
#![allow(clippy::identity_op, clippy::eq_op, clippy::erasing_op)]

use super::{MASK, Quad, RADIX};
use seq_macro::seq;
use std::arch::x86_64::{
    __m256i, _mm256_add_epi64, _mm256_and_si256, _mm256_andnot_si256, _mm256_load_si256, _mm256_mul_epu32,
    _mm256_set1_epi64x, _mm256_setzero_si256, _mm256_srli_epi64, _mm256_store_si256, _mm256_sub_epi64,
};

/// Limbs of a block. Six multiplicand limbs, the seven columns that two multiplier limbs touch, and
/// space for products fill the sixteen registers.
const BLOCK: usize = 6;

/// Maximum number of products of two limbs in a column. It leaves capacity for a carry and for the
/// initial words of a column.
const ROOM: usize = 250;

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

/// `sum + x y` for limbs. Bits above 32 in a lane of `x` and `y` are ignored.
///
/// Proved: `column_fits` in formal/coq/avx2.v.
#[target_feature(enable = "avx2")]
#[inline]
fn add_product(sum: __m256i, x: __m256i, y: __m256i) -> __m256i {
    _mm256_add_epi64(sum, _mm256_mul_epu32(x, y))
}

#[target_feature(enable = "avx2")]
#[inline]
fn ones() -> __m256i {
    _mm256_set1_epi64x(MASK as i64)
}

/// Multiplies digit `$j` of `y` by the block. This completes column `$j` of `sums`, and another
/// column is loaded.
macro_rules! slide {
    ($size:ident, $j:literal, $t:ident, $sums:ident, $limbs:ident, $digits:ident) => {
        let digit = get(&$digits[$j]);
        $sums[$j + $size - 1] = get(&$t[$j + $size - 1]);
        seq!(I in 0..6 {
            if I < $size {
                $sums[$j + I] = add_product($sums[$j + I], $limbs[I], digit);
            }
        });
        set(&mut $t[$j], $sums[$j]);
    };
}

/// Evaluates an expression that is generic over the block size for each block of `$k` limbs, whose
/// first limb is `$at`.
macro_rules! for_blocks {
    ($k:expr, $at:ident, $size:ident => $call:expr) => {
        let mut $at = 0;
        while $at < $k {
            match $k - $at {
                BLOCK.. => {
                    const $size: usize = BLOCK;
                    $call;
                    $at += $size;
                }
                4.. => {
                    const $size: usize = 4;
                    $call;
                    $at += $size;
                }
                _ => {
                    const $size: usize = 2;
                    $call;
                    $at += $size;
                }
            }
        }
    };
}

/// The `2 k` columns of a sum of products of numbers of `k` limbs, and the maximum number of
/// products in any of them.
pub(super) struct Columns<'a> {
    columns: &'a mut [Quad],
    held: usize,
}

impl<'a> Columns<'a> {
    /// Columns that start with the limbs `start`.
    pub(super) fn new(columns: &'a mut [Quad], start: &[Quad]) -> Self {
        columns.copy_from_slice(start);
        Columns::of(columns)
    }

    /// Columns that contain limbs.
    pub(super) fn of(columns: &'a mut [Quad]) -> Self {
        Columns { columns, held: 0 }
    }

    /// Ensures capacity for `more` products in every column from `from` on, by propagating carries
    /// if necessary.
    ///
    /// Proved: `make_room_correct` in formal/coq/avx2.v.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn make_room(&mut self, from: usize, more: usize) {
        if self.held + more > ROOM {
            carry_once(&mut self.columns[from..]);
            self.held = 0;
        }
        self.held += more;
    }

    /// Adds `a b`.
    ///
    /// Proved: `multiply_correct` in formal/coq/avx2_products.v.
    #[target_feature(enable = "avx2")]
    pub(super) fn multiply(&mut self, a: &[Quad], b: &[Quad]) {
        self.add_blocks(a, b, 1);
    }

    /// Adds `a b`, where the limbs of `b` are twice those of a number.
    ///
    /// Proved: `multiply_twice_correct` in formal/coq/avx2_products.v.
    #[target_feature(enable = "avx2")]
    pub(super) fn multiply_twice(&mut self, a: &[Quad], b: &[Quad]) {
        self.add_blocks(a, b, 2);
    }

    /// Adds `a b`, where a product of their limbs is as large as `weight` products of limbs.
    ///
    /// Proved: `product_block_fits` in formal/coq/columns.v.
    /// Proved: `multiply_correct` in formal/coq/avx2_products.v.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn add_blocks(&mut self, a: &[Quad], b: &[Quad], weight: usize) {
        for_blocks!(a.len(), at, SIZE => {
            self.make_room(0, weight * SIZE);
            multiply_block::<SIZE>(&mut self.columns[at..], block(a, at), b);
        });
    }

    /// Adds the part of `a b` in column `from` and above. The columns below become undefined.
    ///
    /// Proved: `multiply_from_correct` in formal/coq/avx2_parts.v.
    #[target_feature(enable = "avx2")]
    pub(super) fn multiply_from(&mut self, a: &[Quad], b: &[Quad], from: usize) {
        for_blocks!(a.len(), at, SIZE => {
            self.make_room(0, SIZE);
            // An even number of limbs whose products with the block are all below column `from`.
            let skipped = from.saturating_sub(at + SIZE - 1) / 2 * 2;
            multiply_block::<SIZE>(&mut self.columns[at + skipped..], block(a, at), &b[skipped..]);
        });
    }

    /// Adds the part of `a b` below column `k`. The columns from there on become undefined.
    ///
    /// Proved: `multiply_below_correct` in formal/coq/avx2_parts.v.
    #[target_feature(enable = "avx2")]
    pub(super) fn multiply_below(&mut self, a: &[Quad], b: &[Quad]) {
        let k = b.len();
        for_blocks!(a.len(), at, SIZE => {
            self.make_room(0, SIZE);
            multiply_block::<SIZE>(&mut self.columns[at..], block(a, at), &b[..k - at]);
        });
    }

    /// Adds `a^2` and stores twice the limbs of `a` in `twice`, without carries. Limb `i` is
    /// multiplied by itself and by twice the limbs above it.
    ///
    /// Proved: `factors_fit` in formal/coq/avx2.v.
    /// Proved: `square_block_fits` in formal/coq/columns.v.
    /// Proved: `square_correct` in formal/coq/avx2_products.v.
    #[target_feature(enable = "avx2")]
    pub(super) fn square(&mut self, a: &[Quad], twice: &mut [Quad]) {
        for (twice, limb) in twice.iter_mut().zip(a) {
            set(twice, _mm256_add_epi64(get(limb), get(limb)));
        }
        for_blocks!(a.len(), at, SIZE => {
            self.make_room(0, 2 * SIZE);
            let columns = &mut self.columns[2 * at..];
            triangle::<SIZE>(columns, block(a, at), block(twice, at));
            multiply_block::<SIZE>(&mut columns[SIZE..], block(a, at), &twice[at + SIZE..]);
        });
    }
}

/// The block that starts at limb `at`.
#[inline]
fn block<const SIZE: usize>(words: &[Quad], at: usize) -> &[Quad; SIZE] {
    words[at..].first_chunk().expect("a whole block")
}

/// Carries every column into the next one, once and simultaneously. The results are below 2^36 +
/// 2^28.
///
/// Proved: `carry_once_fits` in formal/coq/avx2.v.
#[target_feature(enable = "avx2")]
fn carry_once(columns: &mut [Quad]) {
    let mut carry = _mm256_setzero_si256();
    for column in columns {
        let value = get(column);
        set(column, _mm256_add_epi64(_mm256_and_si256(value, ones()), carry));
        carry = _mm256_srli_epi64::<{ RADIX as i32 }>(value);
    }
}

/// `t = t + x y` for one block `x` and an even number of limbs `y`.
///
/// The columns slide through registers: each multiplier limb completes one.
#[target_feature(enable = "avx2")]
#[inline]
fn multiply_block<const SIZE: usize>(t: &mut [Quad], x: &[Quad; SIZE], y: &[Quad]) {
    if y.is_empty() {
        return;
    }
    let t = &mut t[..y.len() + SIZE - 1];
    let zero = _mm256_setzero_si256();
    let (mut limbs, mut sums) = ([zero; BLOCK], [zero; 2 * BLOCK]);
    seq!(I in 0..6 {
        if I < SIZE {
            limbs[I] = get(&x[I]);
        }
        if I + 1 < SIZE {
            sums[I] = get(&t[I]);
        }
    });
    let (whole, rest) = y.as_chunks::<BLOCK>();
    let mut at = 0;
    for digits in whole {
        let t = &mut t[at..at + BLOCK + SIZE - 1];
        seq!(J in 0..6 {
            slide!(SIZE, J, t, sums, limbs, digits);
        });
        seq!(I in 0..5 { if I + 1 < SIZE { sums[I] = sums[I + 6]; } });
        at += BLOCK;
    }
    for digits in rest.as_chunks::<2>().0 {
        let t = &mut t[at..at + 2 + SIZE - 1];
        slide!(SIZE, 0, t, sums, limbs, digits);
        slide!(SIZE, 1, t, sums, limbs, digits);
        seq!(I in 0..5 { if I + 1 < SIZE { sums[I] = sums[I + 2]; } });
        at += 2;
    }
    seq!(I in 0..5 { if I + 1 < SIZE { set(&mut t[at + I], sums[I]); } });
}

/// `t = t + x^2` for one block.
///
/// Proved: `square_correct` in formal/coq/avx2_products.v.
#[target_feature(enable = "avx2")]
#[inline]
fn triangle<const SIZE: usize>(t: &mut [Quad], x: &[Quad; SIZE], twice: &[Quad; SIZE]) {
    let t = &mut t[..2 * SIZE];
    seq!(COLUMN in 0..11 {
        if COLUMN + 1 < 2 * SIZE {
            let mut sum = get(&t[COLUMN]);
            seq!(I in 0..6 {
                if I < SIZE && 2 * I == COLUMN {
                    sum = add_product(sum, get(&x[I]), get(&x[I]));
                } else if 2 * I < COLUMN && COLUMN - I < SIZE {
                    sum = add_product(sum, get(&x[I]), get(&twice[COLUMN - I]));
                }
            });
            set(&mut t[COLUMN], sum);
        }
    });
}

/// The digit of a Montgomery reduction for the next column, which includes its carry. Digits are
/// computed one after another.
#[target_feature(enable = "avx2")]
#[inline]
fn digit_of(column: __m256i, neg_inverse: __m256i) -> __m256i {
    _mm256_and_si256(_mm256_mul_epu32(column, neg_inverse), ones())
}

/// Adds the digit's products with the block of the modulus to the columns from `j` on, and carries
/// column `j` into the next.
#[target_feature(enable = "avx2")]
#[inline]
fn absorb<const SIZE: usize>(sums: &mut [__m256i; 2 * BLOCK], j: usize, digit: __m256i, m: &[Quad; SIZE]) {
    let zero = add_product(sums[j], digit, get(&m[0]));
    sums[j + 1] = _mm256_add_epi64(sums[j + 1], _mm256_srli_epi64::<{ RADIX as i32 }>(zero));
    seq!(I in 1..6 {
        if I < SIZE {
            sums[j + I] = add_product(sums[j + I], digit, get(&m[I]));
        }
    });
}

/// Reduces the lowest block of columns of `t` by the lowest block of `m` and returns the digits.
#[target_feature(enable = "avx2")]
#[inline]
fn reduce_block<const SIZE: usize>(t: &mut [Quad], m: &[Quad; SIZE], neg_inverse: __m256i) -> [Quad; SIZE] {
    let mut sums = [_mm256_setzero_si256(); 2 * BLOCK];
    seq!(I in 0..12 {
        if I < 2 * SIZE {
            sums[I] = get(&t[I]);
        }
    });
    let mut digits = [Quad::default(); SIZE];
    seq!(J in 0..6 {
        if J < SIZE {
            let digit = digit_of(sums[J], neg_inverse);
            absorb(&mut sums, J, digit, m);
            set(&mut digits[J], digit);
        }
    });
    seq!(I in 0..12 {
        if (SIZE..2 * SIZE).contains(&I) {
            set(&mut t[I], sums[I]);
        }
    });
    digits
}

/// Two such reductions in parallel, where the complements of the digits of `t` are added to the
/// columns of `u`. Computing the digits of one hides the latency of the other.
#[target_feature(enable = "avx2")]
#[inline]
fn reduce_block_pair<const SIZE: usize>(
    t: &mut [Quad],
    u: &mut [Quad],
    m: &[Quad; SIZE],
    neg_inverse: __m256i,
) -> [[Quad; SIZE]; 2] {
    let (mut t_sums, mut u_sums) = ([_mm256_setzero_si256(); 2 * BLOCK], [_mm256_setzero_si256(); 2 * BLOCK]);
    seq!(I in 0..12 {
        if I < 2 * SIZE {
            t_sums[I] = get(&t[I]);
            u_sums[I] = get(&u[I]);
        }
    });
    let mut digits = [[Quad::default(); SIZE]; 2];
    seq!(J in 0..6 {
        if J < SIZE {
            let digit = digit_of(t_sums[J], neg_inverse);
            absorb(&mut t_sums, J, digit, m);
            set(&mut digits[0][J], digit);
            u_sums[J] = _mm256_add_epi64(u_sums[J], _mm256_andnot_si256(digit, ones()));
            let digit = digit_of(u_sums[J], neg_inverse);
            absorb(&mut u_sums, J, digit, m);
            set(&mut digits[1][J], digit);
        }
    });
    seq!(I in 0..12 {
        if (SIZE..2 * SIZE).contains(&I) {
            set(&mut t[I], t_sums[I]);
            set(&mut u[I], u_sums[I]);
        }
    });
    digits
}

/// Montgomery reduction. Leaves the columns of the reduced number, not yet normalised, in the upper
/// half.
///
/// Proved: `reduction_block_fits` in formal/coq/columns.v.
/// Proved: `reduction_correct` in formal/coq/avx2_products.v.
#[target_feature(enable = "avx2")]
pub(super) fn reduce(t: &mut Columns<'_>, m: &[Quad], neg_inverse: Quad) {
    let inverse = get(&neg_inverse);
    for_blocks!(m.len(), at, SIZE => {
        t.make_room(at, SIZE);
        let columns = &mut t.columns[at..];
        let digits = reduce_block::<SIZE>(columns, block(m, 0), inverse);
        multiply_block::<SIZE>(&mut columns[SIZE..], &digits, &m[SIZE..]);
    });
}

/// Montgomery reductions of `t`, and of `u + R - 1 - Q` with the quotient `Q` of the first, in
/// parallel. Leaves the columns of the reduced numbers, not yet normalised, in the upper halves.
///
/// Proved: `reduction_block_fits` in formal/coq/columns.v.
/// Proved: `reduction_pair_correct` in formal/coq/avx2_products.v.
#[target_feature(enable = "avx2")]
pub(super) fn reduce_pair(t: &mut Columns<'_>, u: &mut Columns<'_>, m: &[Quad], neg_inverse: Quad) {
    let inverse = get(&neg_inverse);
    for_blocks!(m.len(), at, SIZE => {
        t.make_room(at, SIZE);
        u.make_room(at, SIZE);
        let (t, u) = (&mut t.columns[at..], &mut u.columns[at..]);
        let [first, second] = reduce_block_pair::<SIZE>(t, u, block(m, 0), inverse);
        multiply_block::<SIZE>(&mut t[SIZE..], &first, &m[SIZE..]);
        multiply_block::<SIZE>(&mut u[SIZE..], &second, &m[SIZE..]);
    });
}

/// Propagates carries, which turns columns into limbs. The carry out of the last limb is dropped;
/// by the bounds, it is zero.
///
/// Proved: `normalise_correct` in formal/coq/avx2_products.v.
#[target_feature(enable = "avx2")]
pub(super) fn normalise(out: &mut [Quad], columns: &[Quad]) {
    let mut carry = _mm256_setzero_si256();
    for (out, column) in out.iter_mut().zip(columns) {
        let sum = _mm256_add_epi64(get(column), carry);
        set(out, _mm256_and_si256(sum, ones()));
        carry = _mm256_srli_epi64::<{ RADIX as i32 }>(sum);
    }
}

/// Propagates carries in place, which turns columns into limbs. The carry out of the last limb is
/// dropped.
///
/// Proved: `carry_correct` in formal/coq/avx2_products.v.
#[target_feature(enable = "avx2")]
pub(super) fn carry(columns: &mut [Quad]) {
    let mut carry = _mm256_setzero_si256();
    for column in columns {
        let sum = _mm256_add_epi64(get(column), carry);
        set(column, _mm256_and_si256(sum, ones()));
        carry = _mm256_srli_epi64::<{ RADIX as i32 }>(sum);
    }
}

/// `a = a - b` in limbs. The final borrow is dropped.
///
/// Proved: `subtract_correct` in formal/coq/avx2_limbs.v.
#[target_feature(enable = "avx2")]
pub(super) fn subtract(a: &mut [Quad], b: &[Quad]) {
    let mut borrow = _mm256_setzero_si256();
    for (limb, b) in a.iter_mut().zip(b) {
        let difference = _mm256_sub_epi64(_mm256_sub_epi64(get(limb), get(b)), borrow);
        set(limb, _mm256_and_si256(difference, ones()));
        borrow = _mm256_srli_epi64::<63>(difference);
    }
}

/// `a = a + b` in limbs, where `b` may be shorter.
///
/// Proved: `add_correct` in formal/coq/avx2_limbs.v.
#[target_feature(enable = "avx2")]
pub(super) fn add(a: &mut [Quad], b: &[Quad]) {
    let mut carry = _mm256_setzero_si256();
    for (i, limb) in a.iter_mut().enumerate() {
        let more = if i < b.len() { get(&b[i]) } else { _mm256_setzero_si256() };
        let sum = _mm256_add_epi64(_mm256_add_epi64(get(limb), more), carry);
        set(limb, _mm256_and_si256(sum, ones()));
        carry = _mm256_srli_epi64::<{ RADIX as i32 }>(sum);
    }
}

/// `a = a - m` in the lanes where the difference is not negative. Returns 1 in these lanes and 0 in
/// the others.
///
/// Proved: `reduce_once_correct` in formal/coq/avx2_limbs.v.
#[target_feature(enable = "avx2")]
pub(super) fn reduce_once(a: &mut [Quad], m: &[Quad]) -> Quad {
    let one = _mm256_set1_epi64x(1);
    let mut borrow = _mm256_setzero_si256();
    for (limb, m) in a.iter().zip(m) {
        borrow = _mm256_srli_epi64::<63>(_mm256_sub_epi64(_mm256_sub_epi64(get(limb), get(m)), borrow));
    }
    // All ones where `m` fits, else 0.
    let fits = _mm256_sub_epi64(borrow, one);
    borrow = _mm256_setzero_si256();
    for (limb, m) in a.iter_mut().zip(m) {
        let less = _mm256_and_si256(fits, get(m));
        let difference = _mm256_sub_epi64(_mm256_sub_epi64(get(limb), less), borrow);
        set(limb, _mm256_and_si256(difference, ones()));
        borrow = _mm256_srli_epi64::<63>(difference);
    }
    let mut subtracted = Quad::default();
    set(&mut subtracted, _mm256_and_si256(fits, one));
    subtracted
}

/// Initial values of the `2 k` columns for the high part of a dual product: `R (m - 1) + 1`, which
/// together with `R - 1 - Q` gives `R m - Q`. `m` is odd.
///
/// Proved: `start_high_correct` in formal/coq/avx2_products.v.
pub(super) fn start_high(m: &[Quad]) -> Vec<Quad> {
    let mut start = vec![Quad::default(); m.len()];
    start[0] = Quad([1; 4]);
    start.extend_from_slice(m);
    start[m.len()].0.iter_mut().for_each(|limb| *limb -= 1);
    start
}
