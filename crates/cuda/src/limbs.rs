//! Conversion between numbers in 64-bit limbs and numbers in a card's limbs.

use hearith_arith::natural::bits_at;
use zeroize::{Zeroize, Zeroizing};

use crate::Arithmetic;

/// Bytes for a card, wiped when dropped.
pub(crate) type Bytes = Zeroizing<Vec<u8>>;

/// Overwrites bytes word by word: single bytes would take eight times as long.
pub(crate) fn wipe(bytes: &mut [u8]) {
    // SAFETY: bytes may be read as words and words as bytes.
    let (head, words, tail) = unsafe { bytes.align_to_mut::<u128>() };
    head.zeroize();
    words.zeroize();
    tail.zeroize();
}

/// A buffer with capacity for `limbs` limbs. It never grows, since a growing vector leaves a copy
/// behind.
pub(crate) fn bytes_with_capacity(arithmetic: Arithmetic, limbs: usize) -> Bytes {
    Zeroizing::new(Vec::with_capacity(limbs * arithmetic.bytes()))
}

/// Appends a number to `out` as `count` limbs. Higher limbs are dropped.
pub(crate) fn push(out: &mut Bytes, arithmetic: Arithmetic, number: &[u64], count: usize) {
    for position in 0..count {
        let bit = position * arithmetic.bits();
        push_word(out, arithmetic, bits_at(number, bit, arithmetic.bits() as u32));
    }
}

/// Appends one limb to `out`.
pub(crate) fn push_word(out: &mut Bytes, arithmetic: Arithmetic, limb: u64) {
    let bytes = limb.to_le_bytes();
    debug_assert!(bytes[arithmetic.bytes()..].iter().all(|&byte| byte == 0), "a limb fits");
    debug_assert!(out.capacity() - out.len() >= arithmetic.bytes(), "a copy would be left behind");
    out.extend_from_slice(&bytes[..arithmetic.bytes()]);
}

/// The number in a card's limbs, in as many 64-bit limbs as `out` has. Constant time. A limb that
/// is too long, which only a faulty card returns, spills into the next.
pub(crate) fn unpack(out: &mut [u64], arithmetic: Arithmetic, limbs: &[u8]) {
    out.fill(0);
    for (position, bytes) in limbs.chunks_exact(arithmetic.bytes()).enumerate() {
        let limb = bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
        let (word, shift) = (position * arithmetic.bits() / 64, position * arithmetic.bits() % 64);
        if let Some(out) = out.get_mut(word) {
            *out |= limb << shift;
        }
        if shift > 0
            && let Some(out) = out.get_mut(word + 1)
        {
            *out |= limb >> (64 - shift);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn limbs_are_the_number(number in proptest::collection::vec(any::<u64>(), 1..40)) {
            for arithmetic in Arithmetic::ALL {
                let count = (64 * number.len()).div_ceil(arithmetic.bits());
                let mut bytes = bytes_with_capacity(arithmetic, count + 1);
                push(&mut bytes, arithmetic, &number, count + 1);
                prop_assert_eq!(bytes.len(), (count + 1) * arithmetic.bytes());
                let mut back = vec![7; number.len() + 1];
                unpack(&mut back, arithmetic, &bytes);
                prop_assert_eq!(&back[..number.len()], &number[..]);
                prop_assert_eq!(back[number.len()], 0);
            }
        }
    }
}
