//! Natural numbers as text, one a line: decimal, or hexadecimal after `0x`.

use std::fmt;
use std::io::{self, BufRead, Read};

use hearith_arith::Batch;
use hearith_arith::limbs::less;

use crate::failure::Failure;

/// Bytes of the longest line that is read, its line feed included; no number that a basis holds is longer.
const LONGEST: usize = 1 << 16;
/// The largest power of ten in a limb, and its digits.
const TEN: (u64, usize) = (10_000_000_000_000_000_000, 19);

/// What is wrong with a text that should be a natural number. The text itself is not in it: it may be a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// There is none.
    Empty,
    /// It is something else.
    NotAnInteger,
    /// It has a minus sign.
    Negative,
    /// It does not fit.
    TooLarge,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Wrong::Empty => "there is no integer",
            Wrong::NotAnInteger => "not a natural number, decimal or hexadecimal after 0x",
            Wrong::Negative => "a negative number",
            Wrong::TooLarge => "too large",
        })
    }
}

impl std::error::Error for Wrong {}

/// Reads a number of at most `limbs.len()` 64-bit limbs, least significant first.
///
/// # Errors
/// What is wrong; the limbs hold anything then.
///
/// ```
/// # use hearith_cli::rns::integers::{Wrong, parse};
/// let mut limbs = [0; 2];
/// assert_eq!(parse(b"18446744073709551621", &mut limbs), Ok(()));
/// assert_eq!(limbs, [5, 1]);
/// assert_eq!(parse(b"0x1_0", &mut limbs), Err(Wrong::NotAnInteger));
/// ```
pub fn parse(text: &[u8], limbs: &mut [u64]) -> Result<(), Wrong> {
    limbs.fill(0);
    let (digits, radix) = match text {
        [] => return Err(Wrong::Empty),
        [b'0', b'x' | b'X', digits @ ..] => (digits, 16),
        [b'-', digits @ ..] if is_number(digits, 10) => return Err(Wrong::Negative),
        digits => (digits, 10),
    };
    if !is_number(digits, radix) {
        return Err(Wrong::NotAnInteger);
    }
    let (_, most) = if radix == 10 { TEN } else { (0, 15) };
    // The first piece is the short one, so that every other one moves what is there by the same factor.
    let (first, rest) = digits.split_at(digits.len() % most);
    for piece in [first].into_iter().chain(rest.chunks(most)) {
        let value = piece.iter().fold(0, |value, &digit| value * u64::from(radix) + digit_of(digit));
        let factor = u64::from(radix).pow(piece.len() as u32);
        if shift(limbs, factor, value) != 0 {
            return Err(Wrong::TooLarge);
        }
    }
    Ok(())
}

/// The number in decimal, or in hexadecimal after `0x`.
pub fn format(limbs: &[u64], hex: bool) -> String {
    let (base, digits) = if hex { (1 << 60, 15) } else { TEN };
    let mut rest = limbs.to_vec();
    let mut pieces = Vec::new();
    while rest.iter().any(|&limb| limb != 0) {
        let mut remainder = 0;
        for limb in rest.iter_mut().rev() {
            let value = u128::from(remainder) << 64 | u128::from(*limb);
            *limb = (value / u128::from(base)) as u64;
            remainder = (value % u128::from(base)) as u64;
        }
        pieces.push(remainder);
    }
    let first = pieces.pop().unwrap_or(0);
    let (start, later): (String, fn(u64, usize) -> String) = match hex {
        true => (format!("0x{first:x}"), |piece, digits| format!("{piece:0digits$x}")),
        false => (first.to_string(), |piece, digits| format!("{piece:0digits$}")),
    };
    pieces.into_iter().rev().fold(start, |text, piece| text + &later(piece, digits))
}

fn is_number(digits: &[u8], radix: u32) -> bool {
    !digits.is_empty() && digits.iter().all(|&digit| char::from(digit).is_digit(radix))
}

/// The value of a digit that is one.
fn digit_of(digit: u8) -> u64 {
    char::from(digit).to_digit(16).unwrap_or(0).into()
}

/// `limbs * factor + value`; returns what is carried out.
fn shift(limbs: &mut [u64], factor: u64, value: u64) -> u64 {
    limbs.iter_mut().fold(value, |carry, limb| {
        let product = u128::from(*limb) * u128::from(factor) + u128::from(carry);
        *limb = product as u64;
        (product >> 64) as u64
    })
}

/// A file of numbers below a bound, read batch by batch.
pub struct Integers<R> {
    name: String,
    input: R,
    /// The bound; every number takes as many limbs.
    bound: Vec<u64>,
    rows: usize,
    line: u64,
    done: bool,
}

impl<R: BufRead> Integers<R> {
    /// Numbers below `bound` from an input, called `name` in errors, `rows` at a time.
    pub fn new(name: String, input: R, bound: &[u64], rows: usize) -> Self {
        Self { name, input, bound: bound.to_vec(), rows, line: 0, done: false }
    }

    fn batch(&mut self) -> Result<Batch, Failure> {
        let limbs = self.bound.len();
        let mut words = Vec::new();
        let mut row = vec![0; limbs];
        while words.len() < self.rows * limbs && self.row(&mut row)? {
            words.extend_from_slice(&row);
        }
        Ok(Batch::from_rows(limbs, words.chunks_exact(limbs)))
    }

    /// Reads a line; false at the end.
    fn row(&mut self, row: &mut [u64]) -> Result<bool, Failure> {
        let mut text = Vec::new();
        let read = (&mut self.input).take(LONGEST as u64 + 1).read_until(b'\n', &mut text);
        let read = read.map_err(|error| Failure::reading(&self.name, error))?;
        if read == 0 {
            return Ok(false);
        }
        self.line += 1;
        if read > LONGEST {
            let what = format!("line {}: longer than {LONGEST} bytes", self.line);
            return Err(Failure::at(&self.name, what));
        }
        let text = text.trim_ascii();
        let outcome = match parse(text, row) {
            Ok(()) if less(row, &self.bound) == 0 => Err(Wrong::TooLarge),
            outcome => outcome,
        };
        outcome.map(|()| true).map_err(|wrong| {
            let what = match wrong {
                Wrong::TooLarge => {
                    let bits = hearith_arith::limbs::bit_length(&self.bound);
                    format!("not below the product of the moduli, which has {bits} bits")
                }
                other => other.to_string(),
            };
            Failure::at(&self.name, format!("line {}: {what}", self.line))
        })
    }
}

impl<R: BufRead> Iterator for Integers<R> {
    type Item = Result<Batch, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let batch = self.batch();
        self.done = !matches!(&batch, Ok(batch) if batch.len() == self.rows);
        match batch {
            Ok(batch) if batch.is_empty() => None,
            batch => Some(batch),
        }
    }
}

/// Opens a file of numbers; `-` is standard input.
pub(crate) fn open(path: &std::path::Path) -> Result<(String, Box<dyn BufRead + Send>), Failure> {
    if path == std::path::Path::new("-") {
        return Ok(("standard input".to_owned(), Box::new(io::BufReader::new(io::stdin()))));
    }
    let name = crate::failure::name(path);
    let opened = std::fs::File::open(path).and_then(|file| match file.metadata()?.is_dir() {
        true => Err(io::Error::other("is a directory")),
        false => Ok(file),
    });
    match opened {
        Ok(file) => Ok((name, Box::new(io::BufReader::with_capacity(1 << 16, file)))),
        Err(error) => Err(Failure::reading(&name, error)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(text: &str, limbs: usize) -> Result<Vec<u64>, Wrong> {
        let mut number = vec![7; limbs];
        parse(text.as_bytes(), &mut number).map(|()| number)
    }

    fn batches(text: &str, bound: &[u64], rows: usize) -> Result<Vec<Batch>, String> {
        let input = Integers::new("in.txt".to_owned(), text.as_bytes(), bound, rows);
        input.collect::<Result<_, _>>().map_err(|failure| failure.to_string())
    }

    proptest! {
        #[test]
        fn numbers_are_formatted_and_read_back(number in proptest::collection::vec(any::<u64>(), 1..9), hex: bool) {
            let text = format(&number, hex);
            prop_assert_eq!(parsed(&text, number.len()), Ok(number.clone()));
            prop_assert_eq!(parsed(&text, number.len() + 3).map(|more| more[..number.len()].to_vec()), Ok(number));
        }

        #[test]
        fn words_agree_with_the_standard_library(number: u128) {
            let limbs = vec![number as u64, (number >> 64) as u64];
            prop_assert_eq!(parsed(&number.to_string(), 2), Ok(limbs.clone()));
            prop_assert_eq!(parsed(&format!("0x{number:X}"), 2), Ok(limbs.clone()));
            prop_assert_eq!(format(&limbs, false), number.to_string());
            prop_assert_eq!(format(&limbs, true), format!("{number:#x}"));
        }

        #[test]
        fn nothing_panics(text in proptest::collection::vec(any::<u8>(), 0..60), limbs in 1_usize..4) {
            let _ = parse(&text, &mut vec![0; limbs]);
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["1.5", "x", "0x", "1 2", "+1", "1e3", "0xg", "--1", "-", "1_000", "٣"] {
            assert_eq!(parsed(text, 2), Err(Wrong::NotAnInteger), "{text}");
        }
        assert_eq!((parsed("", 1), parsed("-5", 1)), (Err(Wrong::Empty), Err(Wrong::Negative)));
        assert_eq!(parsed("18446744073709551616", 1), Err(Wrong::TooLarge));
        assert_eq!(parsed("18446744073709551615", 1), Ok(vec![u64::MAX]));
        assert_eq!(parsed("0x10000000000000000", 1), Err(Wrong::TooLarge));
        assert_eq!(parsed(&format!("{}7", "0".repeat(500)), 1), Ok(vec![7]));
    }

    #[test]
    fn batches_are_as_large_as_asked() {
        let rows = batches("1\n0x2\r\n  3\t\n4\n5", &[10], 2).unwrap();
        assert_eq!(rows.iter().map(Batch::len).collect::<Vec<_>>(), [2, 2, 1]);
        assert_eq!(rows[1].as_limbs(), [3, 4]);
        assert!(batches("", &[10], 2).unwrap().is_empty());
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let wrong = |text: &str| batches(text, &[10], 2).unwrap_err();
        assert_eq!(wrong("1\n2\n3.5\n"), "in.txt: line 3: not a natural number, decimal or hexadecimal after 0x");
        assert_eq!(wrong("10"), "in.txt: line 1: not below the product of the moduli, which has 4 bits");
        assert_eq!(wrong("9\n-1\n"), "in.txt: line 2: a negative number");
        assert_eq!(wrong("9\n\n9\n"), "in.txt: line 2: there is no integer");
        assert!(wrong(&"1".repeat(60_000)).contains("not below the product"));
    }

    #[test]
    fn a_long_line_is_one_number_or_none() {
        // Cut after 2^16 bytes, each of these would be two numbers below the bound.
        let zeros = "0".repeat(LONGEST - 1);
        let cut = |text: &str| batches(text, &[10], 2);
        assert_eq!(cut(&format!("1\n{zeros}07\n")).unwrap_err(), "in.txt: line 2: longer than 65536 bytes");
        assert_eq!(cut(&format!("{zeros}07")).unwrap_err(), "in.txt: line 1: longer than 65536 bytes");
        assert_eq!(cut(&format!("{}7\n8\n", &zeros[1..])).unwrap()[0].as_limbs(), [7, 8]);
        assert_eq!(cut(&format!("{zeros}7")).unwrap()[0].as_limbs(), [7]);
    }
}
