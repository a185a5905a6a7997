//! JSON values in sequence (lines, or separated by any white space), or the elements of one list.
//! Only one value at a time is in memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader};

use serde_json::value::RawValue;

use crate::failure::CliError;

/// Maximum bytes per value, many times the size of a ciphertext.
const MAX_VALUE_BYTES: usize = 1 << 16;

/// A value's JSON text, or `None` for null.
pub(crate) type Cell = Option<Box<RawValue>>;

/// The values of a file.
pub(crate) struct Values<R = BufReader<File>> {
    name: String,
    input: R,
    position: Position,
    /// Number of values read.
    row: u64,
}

/// The reader's position between values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    /// At the start, where a list may begin.
    Start,
    /// After values that simply follow each other.
    Sequence,
    /// In a list, after its bracket.
    FirstOfList,
    /// In a list, after a value.
    List,
    /// Past the last value, or past an error.
    End,
}

/// Why reading a value failed.
enum ReadError {
    Unreadable(io::Error),
    Text(String),
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error)
    }
}

impl From<serde_json::Error> for ReadError {
    fn from(error: serde_json::Error) -> Self {
        Self::Text(format!("not JSON: {error}"))
    }
}

impl From<&str> for ReadError {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl<R: BufRead> Values<R> {
    /// Creates a reader.
    pub(crate) fn new(name: &str, input: R) -> Self {
        Self { name: name.to_owned(), input, position: Position::Start, row: 0 }
    }

    /// The text of the next value.
    fn next_text(&mut self) -> Result<Option<Vec<u8>>, ReadError> {
        let mut next = self.skip_space()?;
        if self.position == Position::Start {
            self.position = if next == Some(b'[') { Position::FirstOfList } else { Position::Sequence };
            if next == Some(b'[') {
                self.input.consume(1);
                next = self.skip_space()?;
            }
        }
        let end = match self.position {
            Position::FirstOfList | Position::List if next == Some(b']') => {
                self.input.consume(1);
                match self.skip_space()? {
                    None => true,
                    Some(_) => return Err("not JSON: text follows the list".into()),
                }
            }
            Position::List if next == Some(b',') => {
                self.input.consume(1);
                self.skip_space()?;
                false
            }
            Position::List => return Err("not JSON: no comma or bracket after a value of the list".into()),
            Position::FirstOfList => false,
            _ => next.is_none(),
        };
        if end {
            return Ok(None);
        }
        if self.position == Position::FirstOfList {
            self.position = Position::List;
        }
        self.value().map(Some)
    }

    /// Returns the next byte that is not white space, without consuming it.
    fn skip_space(&mut self) -> io::Result<Option<u8>> {
        loop {
            let bytes = self.input.fill_buf()?;
            let spaces = bytes.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let next = bytes.get(spaces).copied();
            let ended = bytes.is_empty();
            self.input.consume(spaces);
            if next.is_some() || ended {
                return Ok(next);
            }
        }
    }

    /// Reads the bytes of one value up to its only possible end. Does not check that they are JSON.
    fn value(&mut self) -> Result<Vec<u8>, ReadError> {
        let mut splitter = JsonSplitter::default();
        let mut text = Vec::new();
        loop {
            let bytes = self.input.fill_buf()?;
            if bytes.is_empty() {
                return Ok(text);
            }
            let consumed = bytes.iter().take_while(|&&byte| splitter.accept(byte)).count();
            let more = consumed == bytes.len();
            text.extend_from_slice(&bytes[..consumed]);
            self.input.consume(consumed);
            if text.len() > MAX_VALUE_BYTES {
                return Err(ReadError::Text(format!("a value of more than {MAX_VALUE_BYTES} bytes")));
            }
            if !more {
                return Ok(text);
            }
        }
    }
}

/// Finds the end of a value.
#[derive(Default)]
struct JsonSplitter {
    /// Number of open brackets and braces.
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// Whether the value has ended.
    complete: bool,
}

impl JsonSplitter {
    /// Whether a byte still belongs to the value.
    fn accept(&mut self, byte: u8) -> bool {
        if self.complete {
            return false;
        }
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => (self.in_string, self.complete) = (false, self.depth == 0),
                _ => {}
            }
            return true;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' | b',' if self.depth == 0 => return false,
            b'}' | b']' => {
                self.depth -= 1;
                self.complete = self.depth == 0;
            }
            _ if self.depth == 0 && byte.is_ascii_whitespace() => return false,
            _ => {}
        }
        true
    }
}

impl<R: BufRead> Iterator for Values<R> {
    type Item = Result<Cell, CliError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.position == Position::End {
            return None;
        }
        let value = self.next_text().and_then(|text| match text {
            None => Ok(None),
            Some(text) => Ok(Some(serde_json::from_slice::<Cell>(&text)?)),
        });
        self.row += 1;
        match value {
            Ok(Some(cell)) => Some(Ok(cell)),
            Ok(None) => {
                self.position = Position::End;
                None
            }
            Err(error) => {
                self.position = Position::End;
                Some(Err(match error {
                    ReadError::Unreadable(error) => CliError::reading(&self.name, error),
                    ReadError::Text(what) => CliError::at(&self.name, format!("row {}: {what}", self.row)),
                }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads the values of a text a few bytes at a time.
    fn values(text: &[u8], at_once: usize) -> Result<Vec<Option<String>>, String> {
        let input = BufReader::with_capacity(at_once, text);
        let values = Values::new("in.json", input).map(|cell| cell.map(|cell| cell.map(|cell| cell.get().to_owned())));
        values.collect::<Result<_, _>>().map_err(|failure| failure.to_string())
    }

    #[test]
    fn sequences_and_lists_hold_the_same() {
        let cells = [r#"{"v": "1]},", "e": [1, {"a\"": 2}]}"#, "null", r#""a \" b, ] \\""#, "-1.5e3", "[[], {}]"];
        let expected: Vec<_> = cells.iter().map(|cell| (*cell != "null").then(|| (*cell).to_owned())).collect();
        for at_once in [1, 2, 7, 8192] {
            let texts = [cells.join("\n"), format!(" {} \n", cells.join(" \t")), format!(" [{}]\n", cells.join(" , "))];
            for text in texts {
                // A sequence that begins with a bracket would be a list.
                assert_eq!(values(text.as_bytes(), at_once).as_ref(), Ok(&expected), "{text}");
            }
            assert_eq!(values(br#"{"a":1}{"b":2}"#, at_once).unwrap().len(), 2);
            for empty in ["", " \n", "[]", " [ ] "] {
                assert_eq!(values(empty.as_bytes(), at_once), Ok(vec![]), "{empty:?}");
            }
        }
    }

    #[test]
    fn what_is_no_json_is_named_by_its_row() {
        let wrong = |text: &str| values(text.as_bytes(), 16).unwrap_err();
        assert!(wrong("{\"a\": 1}\n{\"a\": }").starts_with("in.json: row 2: not JSON: expected value"));
        assert!(wrong("1\n{\"a\"").starts_with("in.json: row 2: not JSON: EOF"));
        for text in ["[1 2]", "[1,]", "[,1]", "[1] 2", "[1", "1, 2", "]", "[1}", "nul", "\"a", "\u{feff}1", "[1]]"] {
            assert!(wrong(text).contains(": not JSON: "), "{text}: {}", wrong(text));
        }
        assert!(wrong(&"[".repeat(5000)).contains(": not JSON: "), "deep nesting");
    }

    #[test]
    fn long_values_are_refused_before_they_are_in_memory() {
        let endless = io::Read::take(io::repeat(b'1'), 1 << 40);
        let mut values = Values::new("in.json", BufReader::new(endless));
        let error = values.next().unwrap().unwrap_err().to_string();
        assert_eq!(error, "in.json: row 1: a value of more than 65536 bytes");
        assert!(values.next().is_none());
        let endless = io::Read::chain(&b"[{\"v\": \""[..], io::Read::take(io::repeat(b'1'), 1 << 40));
        assert!(Values::new("in.json", BufReader::new(endless)).next().unwrap().is_err());
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "[\\[\\]{}:,\"a1 \\\\]{0,40}", at_once in 1_usize..9) {
            let _ = values(text.as_bytes(), at_once);
        }

        #[test]
        fn lists_are_those_of_serde(cells in proptest::collection::vec("[ -~é]{0,12}", 0..6), at_once in 1_usize..9) {
            let text = serde_json::to_string(&cells).unwrap();
            let expected: Vec<_> = cells.iter().map(|cell| Some(serde_json::to_string(cell).unwrap())).collect();
            prop_assert_eq!(values(text.as_bytes(), at_once), Ok(expected));
        }
    }
}
