//! Natural numbers as slices of 64-bit limbs, least significant first: the operations for set-up
//! and post-processing, and conversions from and to bytes and text.
//!
//! The running time depends only on lengths, except for functions on public numbers:
//! [`bit_length`], [`divide_word`], text, and [`word`].

mod bytes;
mod text;
pub mod word;

pub use bytes::{from_be, to_be};
pub use text::{from_decimal, parse, to_decimal, to_hexadecimal};

use zeroize::Zeroizing;

/// A secret number, wiped when dropped.
pub type Secret = Zeroizing<Vec<u64>>;

/// Number of limbs for `bits` bits.
pub fn limbs_of(bits: u32) -> usize {
    bits.div_ceil(64) as usize
}

/// The number with `limbs` limbs, extended with zeros or truncated.
pub fn resized(number: &[u64], limbs: usize) -> Secret {
    let mut copy = Zeroizing::new(vec![0; limbs]);
    let kept = limbs.min(number.len());
    copy[..kept].copy_from_slice(&number[..kept]);
    copy
}

/// Parses hexadecimal words, as in the files with the results of the proofs.
#[cfg(test)]
pub(crate) fn words(text: &str) -> Vec<u64> {
    text.split_whitespace().map(|word| u64::from_str_radix(word, 16).unwrap()).collect()
}

/// `a + b + carry` as (sum, carry).
///
/// Proved: `adc_correct` in formal/coq/natural.v.
#[inline(always)]
pub(crate) fn adc(a: u64, b: u64, carry: u64) -> (u64, u64) {
    let sum = u128::from(a) + u128::from(b) + u128::from(carry);
    (sum as u64, (sum >> 64) as u64)
}

/// `a - b - borrow` as (difference, borrow), with a borrow of 0 or 1.
///
/// Proved: `sbb_correct` in formal/coq/natural.v.
#[inline(always)]
pub(crate) fn sbb(a: u64, b: u64, borrow: u64) -> (u64, u64) {
    let difference = u128::from(a).wrapping_sub(u128::from(b)).wrapping_sub(u128::from(borrow));
    (difference as u64, (difference >> 127) as u64)
}

/// `a + b c + carry` as (low, high), which cannot overflow.
///
/// Proved: `mac_correct` in formal/coq/natural.v.
#[inline(always)]
pub(crate) fn mac(a: u64, b: u64, c: u64, carry: u64) -> (u64, u64) {
    let sum = u128::from(a) + u128::from(b) * u128::from(c) + u128::from(carry);
    (sum as u64, (sum >> 64) as u64)
}

/// All ones if `bit` is 1, zero if it is 0. The bit is hidden from the optimiser so that it does
/// not turn the mask into a branch.
///
/// Proved: `mask_correct` in formal/coq/natural.v.
#[inline(always)]
pub(crate) fn mask(bit: u64) -> u64 {
    std::hint::black_box(bit).wrapping_neg()
}

/// Adds `b` (at most as long) to `a` and returns the carry.
///
/// Proved: `add_assign_correct` in formal/coq/natural.v.
#[inline]
pub fn add_assign(a: &mut [u64], b: &[u64]) -> u64 {
    let (low, high) = a.split_at_mut(b.len());
    let mut carry = 0;
    for (x, &y) in low.iter_mut().zip(b) {
        (*x, carry) = adc(*x, y, carry);
    }
    for x in high {
        (*x, carry) = adc(*x, 0, carry);
    }
    carry
}

/// Subtracts `b` (at most as long) from `a` and returns the borrow.
///
/// Proved: `sub_assign_correct` in formal/coq/natural.v.
#[inline]
pub fn sub_assign(a: &mut [u64], b: &[u64]) -> u64 {
    let (low, high) = a.split_at_mut(b.len());
    let mut borrow = 0;
    for (x, &y) in low.iter_mut().zip(b) {
        (*x, borrow) = sbb(*x, y, borrow);
    }
    for x in high {
        (*x, borrow) = sbb(*x, 0, borrow);
    }
    borrow
}

/// 1 if `a < b`, else 0. Both have the same length.
///
/// Proved: `less_correct` in formal/coq/natural.v.
#[inline]
pub fn less(a: &[u64], b: &[u64]) -> u64 {
    debug_assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0, |borrow, (&x, &y)| sbb(x, y, borrow).1)
}

/// Subtracts `m` from `a` (of the same length, with `top` as an additional limb) if that leaves no
/// borrow. Returns 1 if it did, else 0. For a value below 2 `m`, this is the reduction modulo `m`.
///
/// Proved: `reduce_once_correct` in formal/coq/natural.v.
#[inline]
pub fn reduce_once(a: &mut [u64], top: u64, m: &[u64]) -> u64 {
    let below = less(a, m);
    let subtract = 1 - sbb(top, 0, below).1;
    let keep = mask(subtract);
    let mut borrow = 0;
    for (x, &y) in a.iter_mut().zip(m) {
        (*x, borrow) = sbb(*x, y & keep, borrow);
    }
    subtract
}

/// Replaces `a` by `b` if `bit` is 1; leaves it unchanged if `bit` is 0.
#[inline]
pub fn assign_if(a: &mut [u64], b: &[u64], bit: u64) {
    let take = mask(bit);
    for (x, &y) in a.iter_mut().zip(b) {
        *x ^= (*x ^ y) & take;
    }
}

/// 1 if all limbs are zero, else 0.
#[inline]
pub fn is_zero(a: &[u64]) -> u64 {
    let any = a.iter().fold(0, |any, &limb| any | limb);
    1 ^ ((any | any.wrapping_neg()) >> 63)
}

/// 1 if the number is 1, else 0.
pub fn is_one(a: &[u64]) -> u64 {
    let (low, high) = a.split_at(1);
    is_zero(&[low[0] ^ 1]) & is_zero(high)
}

/// The number divided by `2^bits`, rounded down, with as many limbs.
pub fn shifted_down(a: &[u64], bits: u32) -> Secret {
    let mut shifted = Zeroizing::new(vec![0; a.len()]);
    for (index, limb) in shifted.iter_mut().enumerate() {
        *limb = bits_at(a, 64 * index + bits as usize, 64);
    }
    shifted
}

/// `a - b` for `a >= b`, with as many limbs as `a`.
pub fn difference(a: &[u64], b: &[u64]) -> Secret {
    let mut rest = resized(a, a.len());
    sub_assign(&mut rest, b);
    rest
}

/// `a b` in `a.len() + b.len()` limbs, by the schoolbook method.
pub fn product(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut out = vec![0; a.len() + b.len()];
    for (i, &y) in b.iter().enumerate() {
        out[i + a.len()] = mac_row(&mut out[i..][..a.len()], a, y);
    }
    out
}

/// `a b` in `limbs` limbs, which must be enough.
pub fn product_in(a: &[u64], b: &[u64], limbs: usize) -> Secret {
    resized(&Zeroizing::new(product(a, b)), limbs)
}

/// Adds `a y` to `acc` (of the same length) and returns the limb carried out.
///
/// Proved: `mac_row_correct` in formal/coq/natural.v.
#[inline(always)]
pub fn mac_row(acc: &mut [u64], a: &[u64], y: u64) -> u64 {
    let mut carry = 0;
    for (t, &x) in acc.iter_mut().zip(a) {
        (*t, carry) = mac(*t, x, y, carry);
    }
    carry
}

/// Adds `a y` to `acc`, which is longer than `a`, and returns the carry.
pub fn add_multiple(acc: &mut [u64], a: &[u64], y: u64) -> u64 {
    let (low, high) = acc.split_at_mut(a.len());
    let grown = mac_row(low, a, y);
    add_assign(high, &[grown])
}

/// Subtracts `a y` (truncated to the length of `acc`) from `acc` and returns the limb borrowed.
pub fn sub_row(acc: &mut [u64], a: &[u64], y: u64) -> u64 {
    let mut borrow = 0;
    for (t, &x) in acc.iter_mut().zip(a) {
        let (low, high) = mac(borrow, x, y, 0);
        let under;
        (*t, under) = sbb(*t, low, 0);
        // No overflow: a checked addition would be a branch.
        borrow = high.wrapping_add(under);
    }
    borrow
}

/// Quotient and remainder of a public number and a nonzero public word.
pub fn divide_word(a: &[u64], divisor: u64) -> (Vec<u64>, u64) {
    let mut quotient = vec![0; a.len()];
    let mut remainder = 0;
    for (digit, &limb) in quotient.iter_mut().zip(a).rev() {
        let value = u128::from(remainder) << 64 | u128::from(limb);
        *digit = (value / u128::from(divisor)) as u64;
        remainder = (value % u128::from(divisor)) as u64;
    }
    (quotient, remainder)
}

/// Number of bits without leading zeros. The running time depends on the leading zero limbs: for
/// public numbers only.
pub fn bit_length(a: &[u64]) -> u32 {
    let top = a.iter().rposition(|&limb| limb != 0);
    top.map_or(0, |top| 64 * top as u32 + 64 - a[top].leading_zeros())
}

/// `width` bits (at most 64) of `a`, from bit `position` on; bits beyond the end are zero.
///
/// Proved: `bits_at_correct` in formal/coq/bits.v.
#[inline(always)]
pub fn bits_at(a: &[u64], position: usize, width: u32) -> u64 {
    let limb = |index: usize| a.get(index).copied().unwrap_or(0);
    let (index, shift) = (position / 64, position % 64);
    let low = limb(index) >> shift;
    let high = if shift == 0 { 0 } else { limb(index + 1) << (64 - shift) };
    (low | high) & low_bits(width)
}

/// Bit `position` of `a`; 0 beyond the end.
#[inline(always)]
pub(crate) fn bit_at(a: &[u64], position: usize) -> u64 {
    a.get(position / 64).map_or(0, |limb| limb >> (position % 64) & 1)
}

/// A word with the lowest `bits` bits (at most 64) set.
///
/// Proved: `low_bits_correct` in formal/coq/bits.v.
#[inline(always)]
pub(crate) const fn low_bits(bits: u32) -> u64 {
    if bits == 0 { 0 } else { u64::MAX >> (64 - bits) }
}

/// Clears all bits from bit `bits` on.
pub fn clear_bits_from(a: &mut [u64], bits: u32) {
    a.iter_mut().enumerate().for_each(|(index, limb)| *limb &= bits_below(index, bits));
}

/// Whether any bit from bit `bits` on is set. Constant time apart from the result.
pub fn has_bits_from(a: &[u64], bits: u32) -> bool {
    a.iter().enumerate().fold(0, |any, (index, limb)| any | (limb & !bits_below(index, bits))) != 0
}

/// A mask for the bits of limb `index` that are below bit `bits` of a number.
fn bits_below(index: usize, bits: u32) -> u64 {
    low_bits(bits.saturating_sub(64 * index as u32).min(64))
}

/// `x^-1 mod 2^64` of an odd `x`, by Newton's iteration. Each step doubles the number of correct
/// bits (Dumas, On Newton-Raphson iteration for multiplicative inverses modulo prime powers, 2012).
/// `3x ^ 2` is correct to 5 bits.
pub fn inverse_word(x: u64) -> u64 {
    let mut inverse = x.wrapping_mul(3) ^ 2;
    for _ in 0..4 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(x.wrapping_mul(inverse)));
    }
    inverse
}

/// The exact quotient `a / d` in `limbs` limbs, for an odd `d` that divides `a`. Division starts at
/// the low end and takes one multiplication by `d^-1 mod 2^64` per limb and no comparison
/// \[Jebelean93\]. If `d` does not divide `a`, the result is `a d^-1 mod 2^(64 limbs)`.
pub fn divide_exact(a: &[u64], d: &[u64], limbs: usize) -> Zeroizing<Vec<u64>> {
    let mut rest = Zeroizing::new(vec![0; limbs]);
    let copied = limbs.min(a.len());
    rest[..copied].copy_from_slice(&a[..copied]);
    let inverse = inverse_word(d[0]);
    for i in 0..limbs {
        let digit = rest[i].wrapping_mul(inverse);
        let covered = d.len().min(limbs - i);
        let (low, high) = rest[i..].split_at_mut(covered);
        let borrow = sub_row(low, d, digit);
        if !high.is_empty() {
            sub_assign(high, &[borrow]);
        }
        rest[i] = digit;
    }
    rest
}

/// Computes `a = 2 a + bit mod m` for `a < m` and returns 1 if `m` was subtracted.
///
/// Proved: `double_correct` in formal/coq/bits.v.
pub(crate) fn double(a: &mut [u64], bit: u64, m: &[u64]) -> u64 {
    let carry = shift_in(a, bit);
    reduce_once(a, carry, m)
}

/// Computes `a = 2 a + bit` and returns the bit that is shifted out.
///
/// Proved: `shift_in_correct` in formal/coq/bits.v.
#[inline]
pub(crate) fn shift_in(a: &mut [u64], bit: u64) -> u64 {
    let mut carry = bit;
    for x in a.iter_mut() {
        let shifted = *x << 1 | carry;
        carry = *x >> 63;
        *x = shifted;
    }
    carry
}

// GMP is a C library, which Miri cannot run.
#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rug::{Integer, integer::Order};

    fn integer(limbs: &[u64]) -> Integer {
        Integer::from_digits(limbs, Order::Lsf)
    }

    fn numbers(most: usize) -> impl Strategy<Value = Vec<u64>> {
        let limb = prop_oneof![Just(0), Just(u64::MAX), any::<u64>()];
        proptest::collection::vec(limb, 1..=most)
    }

    proptest! {
        #[test]
        fn product_agrees_with_gmp(a in numbers(9), b in numbers(9)) {
            prop_assert_eq!(integer(&product(&a, &b)), integer(&a) * integer(&b));
        }

        #[test]
        fn exact_division_undoes_the_product(a in numbers(6), mut d in numbers(5)) {
            d[0] |= 1;
            prop_assert_eq!(&divide_exact(&product(&a, &d), &d, a.len())[..], &a[..]);
        }

        #[test]
        fn addition_and_subtraction_undo_each_other(a in numbers(5), b in numbers(5)) {
            prop_assume!(b.len() <= a.len());
            let mut sum = a.clone();
            let carry = add_assign(&mut sum, &b);
            prop_assert_eq!(integer(&sum) + (Integer::from(carry) << (64 * a.len() as u32)), integer(&a) + integer(&b));
            prop_assert_eq!(sub_assign(&mut sum, &b), carry);
            prop_assert_eq!(sum, a);
        }

        #[test]
        fn bits_are_those_of_the_number(a in numbers(4), position in 0usize..300, width in 0u32..=64) {
            let expected = (integer(&a) >> position as u32) & ((Integer::from(1) << width) - 1u32);
            prop_assert_eq!(Integer::from(bits_at(&a, position, width)), expected);
        }

        #[test]
        fn words_divide(a in numbers(5), divisor in 1_u64..) {
            let (quotient, remainder) = divide_word(&a, divisor);
            prop_assert!(remainder < divisor);
            prop_assert_eq!(integer(&quotient) * divisor + remainder, integer(&a));
        }

        #[test]
        fn words_are_inverted(x: u64) {
            prop_assert_eq!((x | 1).wrapping_mul(inverse_word(x | 1)), 1);
        }
    }

    #[test]
    fn bits_are_cut() {
        for (bits, kept) in [(0, [0, 0]), (1, [1, 0]), (64, [u64::MAX, 0]), (67, [u64::MAX, 7]), (200, [u64::MAX; 2])] {
            let mut number = [u64::MAX; 2];
            clear_bits_from(&mut number, bits);
            assert_eq!(number, kept);
            assert!(!has_bits_from(&number, bits));
            assert_eq!(has_bits_from(&[u64::MAX; 2], bits), bits < 128);
        }
    }

    #[test]
    fn numbers_are_shifted_down() {
        assert_eq!(shifted_down(&[6, 5], 1)[..], [3 | 1 << 63, 2]);
        assert_eq!(shifted_down(&[6, 5], 66)[..], [1, 0]);
        assert_eq!(shifted_down(&[6, 5], 0)[..], [6, 5]);
    }

    #[test]
    fn one_is_told_apart() {
        assert_eq!([is_one(&[1, 0]), is_one(&[1, 1]), is_one(&[0, 0]), is_one(&[3, 0]), is_one(&[1])], [1, 0, 0, 0, 1]);
    }

    #[test]
    fn comparisons() {
        assert_eq!((less(&[5, 1], &[4, 2]), less(&[4, 2], &[4, 2]), less(&[4, 2], &[5, 1])), (1, 0, 0));
        assert_eq!((is_zero(&[0, 0]), is_zero(&[0, 1 << 63]), is_zero(&[1, 0])), (1, 0, 0));
        assert_eq!((bit_length(&[0, 0]), bit_length(&[0, 1]), bit_length(&[7])), (0, 65, 3));
    }
}
