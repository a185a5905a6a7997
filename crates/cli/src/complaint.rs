//! Errors and warnings on standard error: a line of text, or with `--json` a line with a JSON
//! object.

use std::borrow::Cow;
use std::error::Error;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use hearith_columns::{CsvFault, ErrorKind};
use serde::Serialize;

use crate::printable::{Printable, PrintableJson};

/// Maximum number of characters of a message. A longer one contains long names, whose middles
/// matter least.
const MAX_MESSAGE_CHARS: usize = 1000;
/// Maximum number of characters of a word in a message.
const MAX_WORD_CHARS: usize = 300;

/// Whether the process was started with `--json`.
static JSON: AtomicBool = AtomicBool::new(false);

/// Switches to JSON objects from now on, or back to text.
pub(crate) fn set_json_output(json: bool) {
    JSON.store(json, Ordering::Relaxed);
}

/// An error or a warning.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Complaint<'a> {
    /// The command failed.
    Error(Diagnostic<'a>),
    /// The command continues.
    Warning(Diagnostic<'a>),
}

/// A message and its location.
#[derive(Serialize)]
pub(crate) struct Diagnostic<'a> {
    /// The complete message, as printed.
    pub(crate) message: &'a str,
    /// The file, device or address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<&'a str>,
    #[serde(flatten)]
    pub(crate) location: Location,
}

/// A location in a file, counted from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Location {
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<String>,
    /// The cell within its row, where columns have no names that may be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    cell: Option<u64>,
}

impl Location {
    /// Returns the location from an error, or from the start of its text: `line 3: `, `row 3: ` or
    /// `row 3, column x: `.
    pub(crate) fn of(error: &(dyn Error + 'static), text: &str) -> Self {
        let mut cause = Some(error);
        while let Some(error) = cause {
            if let Some(error) = error.downcast_ref::<hearith_columns::Error>() {
                let cell = match error.kind() {
                    ErrorKind::Csv(CsvFault::Cell { cell, .. } | CsvFault::Header { cell, .. }) => {
                        Some(*cell as u64 + 1)
                    }
                    _ => None,
                };
                let row = error.row().map(|row| row.saturating_add(1));
                return Self { line: None, row, column: error.column().map(str::to_owned), cell };
            }
            cause = error.source();
        }
        Self::parse(text)
    }

    fn parse(text: &str) -> Self {
        let mut location = Self::default();
        let Some((prefix, _)) = text.split_once(": ") else { return location };
        let (first, column) = match prefix.split_once(", column ") {
            Some((first, column)) => (first, Some(column.to_owned())),
            None => (prefix, None),
        };
        let number = |unit: &str| first.strip_prefix(unit).and_then(|number| number.parse().ok());
        (location.line, location.row) = (number("line "), number("row "));
        location.column = column.filter(|_| location.row.is_some());
        location
    }
}

impl Complaint<'_> {
    /// Writes the line. Ignores write errors.
    pub(crate) fn print(&self) {
        let (Self::Error(diagnostic) | Self::Warning(diagnostic)) = self;
        let message = shortened(diagnostic.message);
        let line = match JSON.load(Ordering::Relaxed) {
            false => format!("hearith: {}\n", Printable(&message)),
            true => {
                let location = diagnostic.location.clone();
                let diagnostic = Diagnostic { message: &message, file: diagnostic.file, location };
                let complaint = match self {
                    Self::Error(_) => Complaint::Error(diagnostic),
                    Self::Warning(_) => Complaint::Warning(diagnostic),
                };
                let json = serde_json::to_string(&complaint).unwrap_or_default();
                format!("{}\n", PrintableJson(&json))
            }
        };
        let _ = io::stderr().write_all(line.as_bytes());
    }
}

/// Shortens long words and a long message in the middle.
fn shortened(text: &str) -> Cow<'_, str> {
    if text.chars().count() <= MAX_WORD_CHARS {
        return text.into();
    }
    let words: Vec<Cow<'_, str>> = text.split(' ').map(|word| without_middle(word, MAX_WORD_CHARS)).collect();
    without_middle(&words.join(" "), MAX_MESSAGE_CHARS).into_owned().into()
}

/// Shortens a text to `most` characters and three dots: two thirds from the beginning, the rest
/// from the end.
fn without_middle(text: &str, most: usize) -> Cow<'_, str> {
    let count = text.chars().count();
    if count <= most {
        return text.into();
    }
    let start: String = text.chars().take(most * 2 / 3).collect();
    let end: String = text.chars().skip(count - most / 3).collect();
    format!("{start}...{end}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_lose_their_middle() {
        assert_eq!(shortened("a.csv: row 1"), "a.csv: row 1");
        let name = "x".repeat(5000);
        let short = shortened(&format!("a.csv: column {name}: is not there")).into_owned();
        assert!(short.starts_with("a.csv: column xxx") && short.ends_with("x: is not there"), "{short}");
        assert_eq!(short.chars().count(), "a.csv: column  is not there".len() + MAX_WORD_CHARS + 3);
        let many = vec!["\u{e9}"; 3000].join(" ");
        assert!(shortened(&many).chars().count() <= MAX_MESSAGE_CHARS + 3);
    }

    #[test]
    fn places_are_read_from_messages_of_all_kinds() {
        let parsed = |text| Location::parse(text);
        assert_eq!(parsed("line 7: not an integer"), Location { line: Some(7), ..Location::default() });
        let column = Some("r0".to_owned());
        assert_eq!(parsed("row 2, column r0: not a residue"), Location { row: Some(2), column, ..Location::default() });
        assert_eq!(parsed("row 2: damaged"), Location { row: Some(2), ..Location::default() });
        for text in ["rows: 2", "row x: 2", "no place", "column x: y", "line up: now"] {
            assert_eq!(parsed(text), Location::default(), "{text}");
        }
        let error = ErrorKind::NotANumber.in_column("a: b").at_row(4);
        let location = Location { row: Some(5), column: Some("a: b".to_owned()), ..Location::default() };
        assert_eq!(Location::of(&error, "anything"), location);
    }
}
