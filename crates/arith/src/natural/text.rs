//! Conversion from and to text: decimal digits, or hexadecimal digits after `0x`. The running time
//! depends on the number, so use it only for numbers that will be shown.

use super::mac;
use crate::ArithError;
use zeroize::Zeroizing;

/// The largest power of ten in a limb, and its number of zeros. Its highest bit is set, as
/// [`divide_by_ten`] requires.
const TEN: u64 = 10_000_000_000_000_000_000;
const TEN_DIGITS: usize = 19;
/// `floor((2^128 - 1) / TEN) - 2^64`.
const TEN_RECIPROCAL: u64 = (u128::MAX / TEN as u128 - (1 << 64)) as u64;
/// Hexadecimal digits per limb.
const HEX_DIGITS: usize = 16;

/// Reads a number in decimal, or in hexadecimal after `0x`, into limbs.
///
/// # Errors
/// [`ArithError::NoNumber`], [`ArithError::NotANumber`], [`ArithError::Negative`] or
/// [`ArithError::TooLarge`]. The contents of the limbs are then unspecified.
///
/// ```
/// # use hearith_arith::{ArithError, natural::parse};
/// let mut limbs = [0; 2];
/// assert_eq!(parse(b"18446744073709551621", &mut limbs), Ok(()));
/// assert_eq!(limbs, [5, 1]);
/// assert_eq!(parse(b"0x1_0", &mut limbs), Err(ArithError::NotANumber));
/// ```
pub fn parse(text: &[u8], limbs: &mut [u64]) -> Result<(), ArithError> {
    match text {
        [b'0', b'x' | b'X', digits @ ..] => from_hexadecimal(digits, limbs),
        _ => from_decimal(text, limbs),
    }
}

/// Reads a decimal number into limbs.
///
/// # Errors
/// As [`parse`].
pub fn from_decimal(digits: &[u8], limbs: &mut [u64]) -> Result<(), ArithError> {
    match digits {
        [] => return Err(ArithError::NoNumber),
        [b'-', digits @ ..] if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => {
            return Err(ArithError::Negative);
        }
        digits if !digits.iter().all(u8::is_ascii_digit) => return Err(ArithError::NotANumber),
        _ => limbs.fill(0),
    }
    // The first piece is the short one, so every later piece shifts the number by the same factor.
    let (first, rest) = digits.split_at(digits.len() % TEN_DIGITS);
    let mut used = 0;
    for piece in [first].into_iter().chain(rest.chunks(TEN_DIGITS)) {
        let value = piece.iter().fold(0, |value, &digit| 10 * value + u64::from(digit - b'0'));
        let mut carry = value;
        for limb in &mut limbs[..used] {
            (*limb, carry) = mac(0, *limb, TEN, carry);
        }
        if carry != 0 {
            *limbs.get_mut(used).ok_or(ArithError::TooLarge)? = carry;
            used += 1;
        }
    }
    Ok(())
}

fn from_hexadecimal(digits: &[u8], limbs: &mut [u64]) -> Result<(), ArithError> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_hexdigit) {
        return Err(ArithError::NotANumber);
    }
    let value = |digit: u8| u64::from(char::from(digit).to_digit(16).unwrap_or(0));
    limbs.fill(0);
    for (index, piece) in digits.rchunks(HEX_DIGITS).enumerate() {
        let piece = piece.iter().fold(0, |sum, &digit| sum << 4 | value(digit));
        match limbs.get_mut(index) {
            Some(limb) => *limb = piece,
            None if piece == 0 => {}
            None => return Err(ArithError::TooLarge),
        }
    }
    Ok(())
}

/// Formats the number in decimal. Leaves no copy except the text, which the caller must wipe if it
/// is secret.
pub fn to_decimal(number: &[u64]) -> String {
    let mut rest = Zeroizing::new(number.to_vec());
    let mut used = rest.len();
    // A limb has less than 20 digits.
    let mut pieces = Zeroizing::new(Vec::with_capacity(20 * number.len() / TEN_DIGITS + 1));
    loop {
        used = rest[..used].iter().rposition(|&limb| limb != 0).map_or(0, |top| top + 1);
        if used == 0 {
            break;
        }
        let mut remainder = 0;
        for limb in rest[..used].iter_mut().rev() {
            (*limb, remainder) = divide_by_ten(remainder, *limb);
        }
        pieces.push(remainder);
    }
    let (first, later) = pieces.split_last().map_or((0, &[][..]), |(&first, later)| (first, later));
    let leading = first.checked_ilog10().unwrap_or(0) as usize + 1;
    let mut text = vec![b'0'; leading + TEN_DIGITS * later.len()];
    let (head, tail) = text.split_at_mut(leading);
    write_digits(head, first);
    for (digits, &piece) in tail.chunks_exact_mut(TEN_DIGITS).zip(later.iter().rev()) {
        write_digits(digits, piece);
    }
    // Digits are UTF-8.
    String::from_utf8(text).unwrap_or_default()
}

/// Writes the lowest decimal digits of a piece.
fn write_digits(digits: &mut [u8], mut piece: u64) {
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (piece % 10) as u8;
        piece /= 10;
    }
}

/// Formats the number in hexadecimal after `0x`.
pub fn to_hexadecimal(number: &[u64]) -> String {
    let used = number.iter().rposition(|&limb| limb != 0).unwrap_or(0);
    let (first, later) =
        number.get(..=used).and_then(<[u64]>::split_last).map_or((0, &[][..]), |(&top, low)| (top, low));
    later.iter().rev().fold(format!("{first:#x}"), |text, limb| text + &format!("{limb:0HEX_DIGITS$x}"))
}

/// Quotient and remainder of `high 2^64 + low` divided by [`TEN`], for `high < TEN`, with two
/// multiplications (Möller and Granlund, Improved division by invariant integers, 2011, algorithm
/// 4).
fn divide_by_ten(high: u64, low: u64) -> (u64, u64) {
    let estimate = u128::from(TEN_RECIPROCAL) * u128::from(high) + (u128::from(high) << 64 | u128::from(low));
    let (mut quotient, fraction) = (((estimate >> 64) as u64).wrapping_add(1), estimate as u64);
    let mut remainder = low.wrapping_sub(quotient.wrapping_mul(TEN));
    if remainder > fraction {
        quotient = quotient.wrapping_sub(1);
        remainder = remainder.wrapping_add(TEN);
    }
    if remainder >= TEN {
        quotient += 1;
        remainder -= TEN;
    }
    (quotient, remainder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str, limbs: usize) -> Result<Vec<u64>, ArithError> {
        let mut number = vec![7; limbs];
        parse(text.as_bytes(), &mut number).map(|()| number)
    }

    proptest! {
        #[test]
        fn numbers_are_written_and_read_back(number in proptest::collection::vec(any::<u64>(), 1..9), hex: bool) {
            let text = if hex { to_hexadecimal(&number) } else { to_decimal(&number) };
            prop_assert_eq!(parsed(&text, number.len()), Ok(number.clone()));
            prop_assert_eq!(parsed(&text, number.len() + 3).map(|more| more[..number.len()].to_vec()), Ok(number));
        }

        #[test]
        fn words_agree_with_the_standard_library(number in any::<u128>(), shift in 0..128) {
            let number: u128 = number >> shift;
            let limbs = vec![number as u64, (number >> 64) as u64];
            prop_assert_eq!(parsed(&number.to_string(), 2), Ok(limbs.clone()));
            prop_assert_eq!(parsed(&format!("0x{number:X}"), 2), Ok(limbs.clone()));
            prop_assert_eq!(to_decimal(&limbs), number.to_string());
            prop_assert_eq!(to_hexadecimal(&limbs), format!("{number:#x}"));
        }

        #[test]
        fn tens_divide(high in 0..TEN, low: u64) {
            let value = u128::from(high) << 64 | u128::from(low);
            let (quotient, remainder) = divide_by_ten(high, low);
            prop_assert_eq!(u128::from(quotient) * u128::from(TEN) + u128::from(remainder), value);
            prop_assert!(remainder < TEN);
        }

        #[test]
        fn nothing_panics(text in proptest::collection::vec(any::<u8>(), 0..60), limbs in 0_usize..4) {
            let _ = parse(&text, &mut vec![0; limbs]);
        }
    }

    #[test]
    fn tens_divide_at_the_bounds() {
        for high in [0, 1, TEN / 2, TEN - 1] {
            for low in [0, 1, TEN - 1, TEN, TEN + 1, u64::MAX] {
                let value = u128::from(high) << 64 | u128::from(low);
                let expected = ((value / u128::from(TEN)) as u64, (value % u128::from(TEN)) as u64);
                assert_eq!(divide_by_ten(high, low), expected);
            }
        }
    }

    #[test]
    fn zero_has_one_digit() {
        for zero in [&[][..], &[0], &[0, 0, 0]] {
            assert_eq!((to_decimal(zero), to_hexadecimal(zero)), ("0".to_owned(), "0x0".to_owned()));
        }
        assert_eq!(to_decimal(&[0, 0, 1]), "340282366920938463463374607431768211456");
        assert_eq!(to_hexadecimal(&[0, 1]), "0x10000000000000000");
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["1.5", "x", "0x", "1 2", "+1", "1e3", "0xg", "--1", "-", "1_000", "٣"] {
            assert_eq!(parsed(text, 2), Err(ArithError::NotANumber), "{text}");
        }
        assert_eq!((parsed("", 1), parsed("-5", 1)), (Err(ArithError::NoNumber), Err(ArithError::Negative)));
        assert_eq!(from_decimal(b"0x5", &mut [0]), Err(ArithError::NotANumber));
        assert_eq!(parsed("18446744073709551616", 1), Err(ArithError::TooLarge));
        assert_eq!(parsed("18446744073709551615", 1), Ok(vec![u64::MAX]));
        assert_eq!(parsed("0x10000000000000000", 1), Err(ArithError::TooLarge));
        assert_eq!(parsed(&format!("{}7", "0".repeat(500)), 1), Ok(vec![7]));
        assert_eq!(parsed(&format!("0x{}7", "0".repeat(500)), 1), Ok(vec![7]));
    }
}
