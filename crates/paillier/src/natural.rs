//! Natural numbers as little-endian slices of 64-bit limbs, and the way to and from bytes and crypto-bigint.

use crypto_bigint::BoxedUint;
use hearith_arith::limbs;
use zeroize::Zeroizing;

/// A secret number, wiped when dropped.
pub(crate) type Secret = Zeroizing<Vec<u64>>;

/// Limbs that a number of `bits` bits takes.
pub(crate) fn limbs_of(bits: u32) -> usize {
    bits.div_ceil(64) as usize
}

/// The number in big-endian bytes, in `limbs` limbs; `None` if it does not fit.
pub(crate) fn from_be(bytes: &[u8], limbs: usize) -> Option<Secret> {
    let (excess, kept) = bytes.split_at(bytes.len().saturating_sub(8 * limbs));
    if excess.iter().any(|&byte| byte != 0) {
        return None;
    }
    let mut number = Zeroizing::new(vec![0; limbs]);
    for (limb, piece) in number.iter_mut().zip(kept.rchunks(8)) {
        *limb = piece.iter().fold(0, |value, &byte| value << 8 | u64::from(byte));
    }
    Some(number)
}

/// The lowest `width` bytes of a number, big-endian.
pub(crate) fn to_be(number: &[u64], width: usize) -> Zeroizing<Vec<u8>> {
    let mut bytes = Zeroizing::new(vec![0; width]);
    for (piece, limb) in bytes.rchunks_mut(8).zip(number) {
        let whole = limb.to_be_bytes();
        piece.copy_from_slice(&whole[8 - piece.len()..]);
    }
    bytes
}

/// The number with `limbs` limbs, extended with zeros or cut.
pub(crate) fn resized(number: &[u64], limbs: usize) -> Secret {
    let mut copy = Zeroizing::new(vec![0; limbs]);
    let kept = limbs.min(number.len());
    copy[..kept].copy_from_slice(&number[..kept]);
    copy
}

/// `a b` in `limbs` limbs, which must hold it.
pub(crate) fn product(a: &[u64], b: &[u64], limbs: usize) -> Secret {
    resized(&Zeroizing::new(limbs::product(a, b)), limbs)
}

/// The number divided by `2^bits`, rounded down, in as many limbs.
pub(crate) fn shifted_down(number: &[u64], bits: u32) -> Secret {
    let mut shifted = Zeroizing::new(vec![0; number.len()]);
    for (index, limb) in shifted.iter_mut().enumerate() {
        *limb = limbs::bits_at(number, 64 * index + bits as usize, 64);
    }
    shifted
}

/// `a - b` for `a >= b`, in the limbs of `a`.
pub(crate) fn difference(a: &[u64], b: &[u64]) -> Secret {
    let mut rest = resized(a, a.len());
    limbs::sub_assign(&mut rest, b);
    rest
}

/// 1 if the number is 1, else 0.
pub(crate) fn is_one(number: &[u64]) -> u64 {
    let (low, high) = number.split_at(1);
    limbs::is_zero(&[low[0] ^ 1]) & limbs::is_zero(high)
}

/// `width` bits of a number from bit `position` on, at most 63; no bits are 0.
pub(crate) fn bits_at(number: &[u64], position: usize, width: u32) -> u64 {
    if width == 0 { 0 } else { limbs::bits_at(number, position, width) }
}

/// Clears the bits from `bits` on.
pub(crate) fn clear_bits_from(number: &mut [u64], bits: u32) {
    number.iter_mut().enumerate().for_each(|(index, limb)| *limb &= bits_below(index, bits));
}

/// Whether any bit from `bits` on is set; constant time but for the answer.
pub(crate) fn has_bits_from(number: &[u64], bits: u32) -> bool {
    number.iter().enumerate().fold(0, |any, (index, limb)| any | (limb & !bits_below(index, bits))) != 0
}

/// The bits of limb `index` that are below bit `bits` of a number.
fn bits_below(index: usize, bits: u32) -> u64 {
    let kept = bits.saturating_sub(64 * index as u32).min(64);
    u64::MAX.checked_shr(64 - kept).unwrap_or(0)
}

/// For crypto-bigint. Copies of secrets must be wiped by the caller.
pub(crate) fn boxed(number: &[u64]) -> BoxedUint {
    BoxedUint::from_words(number.iter().copied())
}

/// The decimal digits of a public number.
pub(crate) fn to_decimal(number: &[u64]) -> String {
    boxed(number).to_string_radix_vartime(10)
}

/// The decimal digits of a secret number. Its time depends on the value: for numbers that are to be shown.
pub(crate) fn secret_to_decimal(number: &[u64]) -> Zeroizing<String> {
    /// Decimal digits of a group, the most whose power of ten is below `2^32`.
    const GROUP: usize = 9;
    let mut rest: Zeroizing<Vec<u32>> = Zeroizing::new(Vec::with_capacity(2 * number.len()));
    rest.extend(number.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]));
    // A limb of 32 bits is less than ten digits.
    let mut digits = Zeroizing::new(Vec::with_capacity(10 * rest.len() + GROUP));
    let mut length = rest.len();
    loop {
        while length > 0 && rest[length - 1] == 0 {
            length -= 1;
        }
        let mut group = rest[..length].iter_mut().rev().fold(0, |above, limb| {
            let value = u64::from(above) << 32 | u64::from(*limb);
            *limb = (value / 1_000_000_000) as u32;
            (value % 1_000_000_000) as u32
        });
        for _ in 0..GROUP {
            digits.push(b'0' + (group % 10) as u8);
            group /= 10;
        }
        if rest[..length].iter().all(|&limb| limb == 0) {
            break;
        }
    }
    let leading = digits.iter().rev().take_while(|&&digit| digit == b'0').count();
    let kept = (digits.len() - leading).max(1);
    digits.truncate(kept);
    digits.reverse();
    // Digits are UTF-8: the buffer itself becomes the text.
    Zeroizing::new(String::from_utf8(std::mem::take(&mut *digits)).unwrap_or_default())
}

/// The number with these decimal digits, in `limbs` limbs; `None` if there is anything but digits, or too many.
pub(crate) fn from_decimal(digits: &str, limbs: usize) -> Option<Vec<u64>> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number = BoxedUint::from_str_radix_with_precision_vartime(digits, 10, 64 * limbs as u32).ok()?;
    Some(resized(number.as_words(), limbs).to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_round_trip() {
        let number = from_be(&[0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 2).unwrap();
        assert_eq!(number[..], [0x0203_0405_0607_0809, 1]);
        assert_eq!(to_be(&number, 9)[..], [1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(from_be(&[0, 0, 0, 0, 0, 0, 0, 0, 7], 1).unwrap()[..], [7]);
        assert_eq!(from_be(&[1, 0, 0, 0, 0, 0, 0, 0, 7], 1), None);
    }

    #[test]
    fn decimals_round_trip() {
        let digits = "340282366920938463463374607431768211457";
        assert_eq!(from_decimal(digits, 3), Some(vec![1, 0, 1]));
        assert_eq!(to_decimal(&[1, 0, 1]), digits);
        for number in [&[1, 0, 1][..], &[0], &[0, 0], &[7], &[1_000_000_000], &[u64::MAX; 3], &[0, 1, 0]] {
            assert_eq!(*secret_to_decimal(number), to_decimal(number));
        }
        assert_eq!(from_decimal(digits, 2), None);
        assert_eq!(from_decimal("", 2), None);
        assert_eq!(from_decimal("1_000", 2), None);
        assert_eq!(from_decimal("+1", 2), None);
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
}
