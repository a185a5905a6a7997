//! Files of natural numbers, one a line: decimal, or hexadecimal after `0x`.

use std::fmt;
use std::io::{self, BufRead, Read};

use hearith_arith::natural::{bit_length, less, parse};
use hearith_arith::{ArithError, Batch};

use crate::failure::Failure;

/// Longest line that is looked at; no number that a basis holds is longer.
const LONGEST: u64 = 1 << 16;

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
        Ok(Batch::from_rows(limbs, words.chunks_exact(limbs)).public())
    }

    /// Reads a line; false at the end.
    fn row(&mut self, row: &mut [u64]) -> Result<bool, Failure> {
        let mut text = Vec::new();
        let read = (&mut self.input).take(LONGEST).read_until(b'\n', &mut text);
        if read.map_err(|error| Failure::reading(&self.name, &error))? == 0 {
            return Ok(false);
        }
        self.line += 1;
        let text = text.trim_ascii();
        let outcome = match parse(text, row) {
            Ok(()) if less(row, &self.bound) == 0 => Err(ArithError::TooLarge),
            outcome => outcome,
        };
        outcome.map(|()| true).map_err(|wrong| {
            let what = Explained { wrong, text, bits: bit_length(&self.bound) };
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

/// A mistake with the text in which it is.
struct Explained<'a> {
    wrong: ArithError,
    text: &'a [u8],
    bits: u32,
}

impl fmt::Display for Explained<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// As much of a text as a message shows.
        const SHOWN: usize = 32;
        let more = if self.text.len() > SHOWN { "..." } else { "" };
        let text = String::from_utf8_lossy(&self.text[..self.text.len().min(SHOWN)]);
        let text = format!("\"{}{more}\"", text.escape_debug());
        match self.wrong {
            ArithError::NoNumber => f.write_str("there is no integer"),
            ArithError::Negative => write!(f, "{text} is negative"),
            ArithError::TooLarge => {
                write!(f, "{text} is not below the product of the moduli, which has {} bits", self.bits)
            }
            _ => write!(f, "{text} is not an integer"),
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
        Err(error) => Err(Failure::reading(&name, &error)),
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
        assert_eq!(wrong("1\n2\n3.5\n"), "in.txt: line 3: \"3.5\" is not an integer");
        assert_eq!(wrong("10"), "in.txt: line 1: \"10\" is not below the product of the moduli, which has 4 bits");
        assert_eq!(wrong("9\n-1\n"), "in.txt: line 2: \"-1\" is negative");
        assert_eq!(wrong("9\n\n9\n"), "in.txt: line 2: there is no integer");
        assert_eq!(wrong(&"a".repeat(100)), format!("in.txt: line 1: \"{}...\" is not an integer", "a".repeat(32)));
        assert!(wrong(&"1".repeat(1 << 20)).contains("is not below the product"));
    }
}
