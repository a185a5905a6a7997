//! Files of integers, one per line: decimal, or hexadecimal after `0x`, with an optional minus sign
//! first.

use std::io::{BufRead, Read};

use hearith_arith::natural::{bit_length, difference, is_zero, less, parse, shifted_down};
use hearith_arith::{ArithError, Batch};

use crate::failure::CliError;

/// Maximum bytes of a line, including its line feed. No number that a basis holds is longer.
const MAX_LINE_BYTES: usize = 1 << 16;

/// Reads a file of integers from `-Q/2` to below `Q` in batches. Converts each to the number from 0
/// to below `Q` with the same residues.
pub struct Integers<R> {
    name: String,
    input: R,
    /// `Q`. Every number has as many limbs.
    bound: Vec<u64>,
    rows: usize,
    line: u64,
    done: bool,
}

impl<R: BufRead> Integers<R> {
    /// Creates a reader of integers from `-bound / 2` to below `bound`, in batches of `rows`.
    /// Errors call the input `name`.
    pub fn new(name: String, input: R, bound: &[u64], rows: usize) -> Self {
        Self { name, input, bound: bound.to_vec(), rows, line: 0, done: false }
    }

    fn batch(&mut self) -> Result<Batch, CliError> {
        let limbs = self.bound.len();
        let mut words = Vec::new();
        let mut row = vec![0; limbs];
        while words.len() < self.rows * limbs && self.row(&mut row)? {
            words.extend_from_slice(&row);
        }
        Ok(Batch::from_rows(limbs, words.chunks_exact(limbs)).public())
    }

    /// Reads a line. Returns `false` at the end.
    fn row(&mut self, row: &mut [u64]) -> Result<bool, CliError> {
        let mut text = Vec::new();
        let read = (&mut self.input).take(MAX_LINE_BYTES as u64 + 1).read_until(b'\n', &mut text);
        let read = read.map_err(|error| CliError::reading(&self.name, error))?;
        if read == 0 {
            return Ok(false);
        }
        self.line += 1;
        if read > MAX_LINE_BYTES {
            let what = format!("line {}: longer than {MAX_LINE_BYTES} bytes", self.line);
            return Err(CliError::at(&self.name, what));
        }
        let text = text.trim_ascii();
        let outcome = match text.strip_prefix(b"-") {
            Some(magnitude) => self.negative(magnitude, row),
            None => self.natural(text, row),
        };
        outcome.map(|()| true).map_err(|what| CliError::at(&self.name, format!("line {}: {what}", self.line)))
    }

    fn natural(&self, digits: &[u8], row: &mut [u64]) -> Result<(), String> {
        let beyond = || format!("not below the product of the moduli, which has {} bits", bit_length(&self.bound));
        match parse(digits, row) {
            Ok(()) if less(row, &self.bound) == 1 => Ok(()),
            Ok(()) | Err(ArithError::TooLarge) => Err(beyond()),
            Err(error) => Err(not_an_integer(error)),
        }
    }

    /// Reads `-m` as `Q - m`.
    fn negative(&self, magnitude: &[u8], row: &mut [u64]) -> Result<(), String> {
        let half = shifted_down(&self.bound, 1);
        let beyond = || {
            let bits = bit_length(&self.bound);
            format!("below minus half the product of the moduli, which has {bits} bits")
        };
        match parse(magnitude, row) {
            Ok(()) if is_zero(row) == 1 => Ok(()),
            Ok(()) if less(&half, row) == 0 => {
                row.copy_from_slice(&difference(&self.bound, row));
                Ok(())
            }
            Ok(()) | Err(ArithError::TooLarge) => Err(beyond()),
            Err(ArithError::NoNumber | ArithError::Negative) => Err(not_an_integer(ArithError::NotANumber)),
            Err(error) => Err(not_an_integer(error)),
        }
    }
}

fn not_an_integer(error: ArithError) -> String {
    match error {
        ArithError::NotANumber => "not an integer, decimal or hexadecimal after 0x".to_owned(),
        other => other.to_string(),
    }
}

impl<R: BufRead> Iterator for Integers<R> {
    type Item = Result<Batch, CliError>;

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

#[cfg(test)]
mod tests {
    use super::*;

    fn batches(text: &str, bound: &[u64], rows: usize) -> Result<Vec<Batch>, String> {
        let input = Integers::new("in.txt".to_owned(), text.as_bytes(), bound, rows);
        input.collect::<Result<_, _>>().map_err(|failure| failure.to_string())
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
        assert_eq!(wrong("1\n2\n3.5\n"), "in.txt: line 3: not an integer, decimal or hexadecimal after 0x");
        assert_eq!(wrong("10"), "in.txt: line 1: not below the product of the moduli, which has 4 bits");
        let low = "in.txt: line 2: below minus half the product of the moduli, which has 4 bits";
        assert_eq!(wrong("9\n-6\n"), low);
        assert_eq!(wrong(&format!("9\n-{}\n", "1".repeat(60_000))), low);
        for text in ["-", "--1", "-+1", "+1", "-0x", "- 1", "-1.5", "0x-1"] {
            assert_eq!(wrong(text), "in.txt: line 1: not an integer, decimal or hexadecimal after 0x", "{text}");
        }
        assert_eq!(wrong("9\n\n9\n"), "in.txt: line 2: an integer is missing");
        assert!(wrong(&"1".repeat(60_000)).contains("not below the product"));
    }

    #[test]
    fn negative_integers_are_those_of_their_residue_class() {
        let read = |text: &str, bound: u64| batches(text, &[bound], 9).unwrap()[0].as_limbs().to_vec();
        assert_eq!(read("-0\n-1\n-5\n-0x4\n9", 10), [0, 9, 5, 6, 9]);
        assert_eq!(read("-5\n-0\n10", 11), [6, 0, 10]);
        assert!(batches("-6", &[11], 9).is_err(), "6 - 11 = -5 is closer to 0");
    }

    #[test]
    fn a_long_line_is_one_number_or_none() {
        // Cut after 2^16 bytes, each of these would become two numbers below the bound.
        let zeros = "0".repeat(MAX_LINE_BYTES - 1);
        let cut = |text: &str| batches(text, &[10], 2);
        assert_eq!(cut(&format!("1\n{zeros}07\n")).unwrap_err(), "in.txt: line 2: longer than 65536 bytes");
        assert_eq!(cut(&format!("{zeros}07")).unwrap_err(), "in.txt: line 1: longer than 65536 bytes");
        assert_eq!(cut(&format!("{}7\n8\n", &zeros[1..])).unwrap()[0].as_limbs(), [7, 8]);
        assert_eq!(cut(&format!("{zeros}7")).unwrap()[0].as_limbs(), [7]);
    }
}
