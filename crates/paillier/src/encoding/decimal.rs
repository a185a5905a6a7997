//! Decimal numbers as integers in units of `10^-scale`.

use super::integer::with_point;
use crate::{Error, ErrorKind};
use hearith_arith::natural::to_decimal;
use zeroize::Zeroizing;

/// Parses a decimal number exactly, in units of `10^-scale`.
///
/// The text is an optional sign, digits, and optionally a point and more digits. Spaces, exponents
/// and separators are not accepted. Decimal places beyond the scale must be zeros.
///
/// ```
/// use hearith_paillier::ErrorKind;
/// use hearith_paillier::encoding::parse_decimal;
/// assert_eq!(parse_decimal("-12.5", 2), Ok(-1250));
/// assert_eq!(parse_decimal("0.250", 2), Ok(25));
/// assert_eq!(parse_decimal("0.251", 2), Err(ErrorKind::TooManyPlaces { scale: 2 }.into()));
/// assert_eq!(parse_decimal("NA", 2), Err(ErrorKind::NotANumber.into()));
/// ```
///
/// # Errors
/// [`NotANumber`](ErrorKind::NotANumber) for any other text,
/// [`TooManyPlaces`](ErrorKind::TooManyPlaces) for too many decimal places, or
/// [`OutOfRange`](ErrorKind::OutOfRange) beyond 128 bits.
pub fn parse_decimal(text: &str, scale: u32) -> Result<i128, Error> {
    let (negative, unsigned) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let (whole, places) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + places.len() == 0 || !all_digits(whole) || !all_digits(places) {
        return Err(ErrorKind::NotANumber.into());
    }
    let places = places.trim_end_matches('0');
    let missing = (scale as usize).checked_sub(places.len()).ok_or(ErrorKind::TooManyPlaces { scale })?;
    let digits = whole.bytes().chain(places.bytes()).map(|byte| i128::from(byte - b'0'));
    let mut value = digits.chain(std::iter::repeat_n(0, missing)).try_fold(0i128, |value, digit| {
        // Accumulating negative values also reaches the minimum.
        value.checked_mul(10)?.checked_sub(digit)
    });
    if !negative {
        value = value.and_then(i128::checked_neg);
    }
    value.ok_or_else(|| ErrorKind::OutOfRange.into())
}

/// Formats a number in units of `10^-scale` as a decimal with exactly `scale` places. The caller
/// must wipe the text.
///
/// ```
/// use hearith_paillier::encoding::format_decimal;
/// assert_eq!(format_decimal(-1250, 2), "-12.50");
/// ```
pub fn format_decimal(value: i128, scale: u32) -> String {
    let magnitude = value.unsigned_abs();
    with_point(value < 0, &Zeroizing::new(to_decimal(&[magnitude as u64, (magnitude >> 64) as u64])), scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn formatting_and_parsing_undo_each_other(value: i128, scale in 0u32..45) {
            prop_assert_eq!(parse_decimal(&format_decimal(value, scale), scale), Ok(value));
        }

        #[test]
        fn no_text_makes_it_panic(text in "[-+0-9.e ]{0,12}|\\PC{0,8}", scale in 0u32..6) {
            if let Ok(value) = parse_decimal(&text, scale) {
                let float: f64 = text.parse().unwrap();
                prop_assert!((value as f64 / 10f64.powi(scale as i32) - float).abs() <= float.abs() * 1e-12);
            }
        }
    }

    #[test]
    fn forms_are_judged() {
        let read = |text| parse_decimal(text, 3);
        for (text, value) in [("7", 7000), ("+7.", 7000), (".5", 500), ("-.5", -500), ("007.0010", 7001), ("-0", 0)] {
            assert_eq!(read(text), Ok(value), "{text}");
        }
        for text in ["", "-", "+", ".", "-.", "1e3", " 1", "1 ", "1_0", "1,0", "--1", "1.2.3", "0x1", "NaN", "inf", "٣"]
        {
            assert_eq!(read(text), Err(ErrorKind::NotANumber.into()), "{text}");
        }
        assert_eq!(read("0.0001"), Err(ErrorKind::TooManyPlaces { scale: 3 }.into()));
        assert_eq!(parse_decimal("1.000", 0), Ok(1));
    }

    #[test]
    fn the_limits_are_those_of_128_bits() {
        assert_eq!(parse_decimal("170141183460469231731687303715884105727", 0), Ok(i128::MAX));
        assert_eq!(parse_decimal("-17014118346046923173168730371588410572.8", 1), Ok(i128::MIN));
        assert_eq!(parse_decimal("170141183460469231731687303715884105728", 0), Err(ErrorKind::OutOfRange.into()));
        assert_eq!(parse_decimal("1", 39), Err(ErrorKind::OutOfRange.into()));
        // A loop with millions of rounds takes minutes in Miri.
        assert_eq!(parse_decimal("0", if cfg!(miri) { 4000 } else { 4_000_000 }), Ok(0));
        assert_eq!(format_decimal(0, 3), "0.000");
        assert_eq!(format_decimal(i128::MIN, 40), "-0.0170141183460469231731687303715884105728");
    }
}
