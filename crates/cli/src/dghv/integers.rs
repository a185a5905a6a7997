//! Files of integers of a fixed width, one per line. Each integer becomes its bits, the lowest
//! first.

use std::io::{BufRead, Write};

use zeroize::Zeroizing;

use super::bits;
use crate::failure::CliError;
use crate::output::Output;

/// The number of bits of an integer, and whether it is signed (two's complement).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    bits: usize,
    signed: bool,
}

impl Width {
    /// Maximum number of bits.
    pub const MOST: u8 = 64;

    /// Creates a width of 1 to [`Width::MOST`] bits.
    pub fn new(bits: u8, signed: bool) -> Self {
        assert!((1..=Self::MOST).contains(&bits), "a width that the options allow");
        Self { bits: bits.into(), signed }
    }

    /// The number of bits.
    pub(super) fn bits(self) -> usize {
        self.bits
    }

    /// The smallest and the largest integer.
    fn range(self) -> (i128, i128) {
        let all = 1_i128 << self.bits;
        if self.signed { (-all / 2, all / 2 - 1) } else { (0, all - 1) }
    }

    fn parse(self, text: &[u8]) -> Option<i128> {
        let (negative, digits) = match text.strip_prefix(b"-") {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        if digits.is_empty() || digits.len() > 20 || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let size = digits.iter().fold(0_i128, |number, digit| 10 * number + i128::from(digit - b'0'));
        let number = if negative { -size } else { size };
        let (least, most) = self.range();
        (least..=most).contains(&number).then_some(number)
    }

    fn of_bits(self, bits: &[bool]) -> i128 {
        let number = bits.iter().rev().fold(0_i128, |number, &bit| 2 * number + i128::from(bit));
        if number > self.range().1 { number - (1 << self.bits) } else { number }
    }
}

/// Reads all integers of an input and returns their bits. Errors call the input `name`.
///
/// # Errors
/// A line is not an integer of the width, there are too many bits, or reading failed. The error for
/// a line names only its number and the range.
pub fn read(name: &str, input: impl BufRead, width: Width) -> Result<Zeroizing<Vec<bool>>, CliError> {
    let (least, most) = width.range();
    bits::lines(name, input, &format!("not an integer from {least} to {most}"), |bits, text| {
        let number = width.parse(text)?;
        (0..width.bits).for_each(|position| bits::push(bits, number >> position & 1 == 1));
        Some(())
    })
}

/// Writes integers, one per line.
///
/// # Errors
/// Writing failed.
pub(super) fn write(output: &mut Output, bits: &[bool], width: Width) -> Result<(), CliError> {
    // 22 bytes per integer: the longest number, a sign and a line feed.
    let mut text = Zeroizing::new(Vec::with_capacity(22 * bits.len().div_ceil(width.bits)));
    for bits in bits.chunks(width.bits) {
        let number = width.of_bits(bits);
        if number < 0 {
            text.push(b'-');
        }
        let first = text.len();
        let mut size = number.unsigned_abs();
        loop {
            text.push(b'0' + (size % 10) as u8);
            size /= 10;
            if size == 0 {
                break;
            }
        }
        text[first..].reverse();
        text.push(b'\n');
    }
    output.write_all(&text).map_err(|error| CliError::writing(output.name(), error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(text: &str, width: Width) -> Result<String, String> {
        let read = read("numbers.txt", text.as_bytes(), width).map_err(|failure| failure.to_string())?;
        Ok(read.iter().map(|&bit| if bit { '1' } else { '0' }).collect())
    }

    #[test]
    fn lines_are_integers_with_the_lowest_bit_first() {
        assert_eq!(bits("6\n 0\r\n15", Width::new(4, false)), Ok("011000001111".into()));
        assert_eq!(bits("-8\n-1\n7\n-0\n", Width::new(4, true)), Ok("0001111111100000".into()));
        assert_eq!(bits("0\n-1\n", Width::new(1, true)), Ok("01".into()));
        assert_eq!(bits("18446744073709551615", Width::new(64, false)), Ok("1".repeat(64)));
        assert_eq!(bits("-9223372036854775808", Width::new(64, true)), Ok(format!("{}1", "0".repeat(63))));
    }

    #[test]
    fn what_does_not_fit_is_named_with_its_line() {
        for (text, width, expected) in [
            ("1\n16\n", Width::new(4, false), "numbers.txt: line 2: not an integer from 0 to 15"),
            ("-1", Width::new(4, false), "numbers.txt: line 1: not an integer from 0 to 15"),
            ("8", Width::new(4, true), "numbers.txt: line 1: not an integer from -8 to 7"),
            ("-9", Width::new(4, true), "numbers.txt: line 1: not an integer from -8 to 7"),
        ] {
            assert_eq!(bits(text, width), Err(expected.into()));
        }
        for text in ["", "-", "+1", "1.0", "0x1", "1 2", "\u{661}", "99999999999999999999", "000000000000000000001"] {
            let read = bits(&format!("{text}\n"), Width::new(64, false));
            assert!(read.unwrap_err().starts_with("numbers.txt: line 1: not an integer from 0 to "), "{text:?}");
        }
    }

    #[test]
    fn bits_are_the_integers_again() {
        for width in [Width::new(1, false), Width::new(5, false), Width::new(5, true), Width::new(64, true)] {
            let (least, most) = width.range();
            for number in [least, least + 1, -1, 0, 1, most - 1, most] {
                if (least..=most).contains(&number) {
                    let bits: Vec<bool> = (0..width.bits).map(|position| number >> position & 1 == 1).collect();
                    assert_eq!(width.of_bits(&bits), number);
                }
            }
        }
    }
}
