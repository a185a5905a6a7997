//! How a command fails: one line on standard error and an exit status.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use hearith_columns::ErrorKind;
use hearith_columns::parquet::WriteError;

use crate::complaint::{Complaint, Diagnostic, Location};
use crate::printable::Printable;

/// Exit status if the input or the output is invalid.
const BAD: u8 = 2;
/// Exit status if a check failed.
const REFUTED: u8 = 1;
/// Exit status if the reader of our output closed it, as a shell reports it.
const CLOSED_PIPE: u8 = 128 + 13;

/// An error of any type, or a text.
pub type Cause = Box<dyn Error + Send + Sync>;

/// Why a command fails.
#[derive(Debug)]
pub enum CliError {
    /// Something is wrong, possibly in a file.
    Wrong {
        /// The file as the user named it, or the device.
        file: Option<String>,
        /// What is wrong, with row and column if known.
        cause: Cause,
        /// A note: an option that helps, or that there are more faults of the same kind.
        note: Option<String>,
    },
    /// A check of a file failed.
    Refuted {
        /// The file as the user named it.
        file: String,
        /// The claim that is false.
        message: String,
    },
    /// The reader of our output closed it. Nothing is reported.
    ClosedPipe,
    /// The log already reports it, because standard error may be a pipe that nobody reads.
    Logged,
}

impl CliError {
    /// A failure without a file.
    pub fn new(cause: impl Into<Cause>) -> Self {
        Self::Wrong { file: None, cause: cause.into(), note: None }
    }

    /// A failure in a file.
    pub fn at(file: impl fmt::Display, cause: impl Into<Cause>) -> Self {
        Self::Wrong { file: Some(file.to_string()), cause: cause.into(), note: None }
    }

    /// Adds a note to the failure.
    pub fn with_note(mut self, text: impl Into<String>) -> Self {
        if let Self::Wrong { note, .. } = &mut self {
            *note = Some(text.into());
        }
        self
    }

    /// A check that failed.
    pub fn refuted(file: &str, message: String) -> Self {
        Self::Refuted { file: file.to_owned(), message }
    }

    /// A failed action that concerns no file.
    pub fn because(action: &'static str, error: impl Into<Cause>) -> Self {
        Self::new(FailedAction { action, error: error.into() })
    }

    /// The failure to write a file.
    pub fn writing(file: &str, error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            _ => Self::at(file, FailedAction { action: "cannot write", error: error.into() }),
        }
    }

    /// The failure to read a file.
    pub fn reading(file: &str, error: io::Error) -> Self {
        Self::at(file, FailedAction { action: "cannot read", error: error.into() })
    }

    /// The failure to write a table.
    pub fn from_write(file: &str, error: WriteError) -> Self {
        match error {
            WriteError::Io(error) => Self::writing(file, error),
            other => Self::at(file, FailedAction { action: "cannot write", error: other.into() }),
        }
    }

    /// Prints the failure and returns the exit status.
    pub fn report(&self) -> ExitCode {
        match self {
            Self::ClosedPipe => ExitCode::from(CLOSED_PIPE),
            Self::Logged => ExitCode::from(BAD),
            Self::Wrong { .. } => {
                self.print();
                ExitCode::from(BAD)
            }
            Self::Refuted { .. } => {
                self.print();
                ExitCode::from(REFUTED)
            }
        }
    }

    fn print(&self) {
        let message = self.to_string();
        let (file, location) = match self {
            Self::Wrong { file, cause, .. } => (file.as_deref(), Location::of(&**cause, &explained(&**cause))),
            Self::Refuted { file, .. } => (Some(file.as_str()), Location::default()),
            Self::ClosedPipe | Self::Logged => (None, Location::default()),
        };
        Complaint::Error(Diagnostic { message: &message, file, location }).print();
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, cause, note) = match self {
            Self::Wrong { file, cause, note } => (file, cause, note),
            Self::Refuted { file, message } => return write!(f, "{file}: {message}"),
            Self::ClosedPipe => return f.write_str("the output was closed"),
            Self::Logged => return f.write_str("the log says it"),
        };
        if let Some(file) = file {
            write!(f, "{file}: ")?;
        }
        f.write_str(&explained(&**cause))?;
        match note {
            Some(note) => write!(f, " ({note})"),
            None => Ok(()),
        }
    }
}

impl Error for CliError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Wrong { cause, .. } => Some(&**cause),
            Self::Refuted { .. } | Self::ClosedPipe | Self::Logged => None,
        }
    }
}

/// An action that failed, with its error.
#[derive(Debug)]
struct FailedAction {
    action: &'static str,
    error: Cause,
}

impl fmt::Display for FailedAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.action)
    }
}

impl Error for FailedAction {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.error)
    }
}

/// An error and its causes, each stated once, since many an error's text contains its cause's.
fn explained(error: &(dyn Error + 'static)) -> String {
    let mut text = one_line(&described(error));
    let mut cause = error.source();
    while let Some(error) = cause {
        // A lower layer counts the rows of its own batch. Once the fault is reported with its
        // place, the lower layer's version is redundant.
        if !text.contains(&one_line(&fault(error))) {
            text = format!("{text}: {}", one_line(&described(error)));
        }
        cause = error.source();
    }
    without_numbers(&text)
}

/// The fault without its place.
fn fault(error: &(dyn Error + 'static)) -> String {
    if let Some(error) = error.downcast_ref::<hearith_columns::Error>() {
        return error.kind().to_string();
    }
    if let Some(error) = error.downcast_ref::<hearith_paillier::Error>() {
        return error.kind().to_string();
    }
    if let Some(error) = error.downcast_ref::<hearith_threshold::Error>() {
        return error.kind().to_string();
    }
    #[cfg(feature = "dghv")]
    if let Some(error) = error.downcast_ref::<hearith_dghv::Error>() {
        return error.kind().to_string();
    }
    if let Some(error) = error.downcast_ref::<hearith_device::Error>() {
        return error.kind().to_string();
    }
    error.to_string()
}

/// Removes the numbers of operating system errors, ` (os error 2)`.
fn without_numbers(text: &str) -> String {
    const PREFIX: &str = " (os error ";
    let mut parts = text.split(PREFIX);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| match part.split_once(')') {
        Some((number, rest)) if number.bytes().all(|byte| byte.is_ascii_digit()) => text + rest,
        _ => text + PREFIX + part,
    })
}

/// Describes one error in the command line's terms. Rows count from 1, as in spreadsheets.
fn described(error: &(dyn Error + 'static)) -> String {
    if let Some(error) = error.downcast_ref::<hearith_columns::Error>() {
        let cell = error.cell().map_or(String::new(), |cell| format!("{cell} "));
        let kind = format!("{cell}{}{}", error.kind(), options(error.kind(), error.cell().is_some()));
        return located(error.row(), error.column(), &kind);
    }
    if let Some(error) = error.downcast_ref::<hearith_paillier::Error>() {
        return located(error.row().map(|row| row as u64), None, error.kind());
    }
    #[cfg(feature = "dghv")]
    if let Some(error) = error.downcast_ref::<hearith_dghv::Error>() {
        return located(error.row().map(|row| row as u64), None, error.kind());
    }
    #[cfg(feature = "dghv")]
    if let Some(error) = error.downcast_ref::<hearith_dghv::format::FormatError>() {
        return located(error.row(), None, error.kind());
    }
    if let Some(error) = error.downcast_ref::<hearith_device::Error>() {
        return located(error.row().map(|row| row as u64), None, error.kind());
    }
    error.to_string()
}

/// Prefixes a fault with its row, counted from 0, and its column.
fn located(row: Option<u64>, column: Option<&str>, kind: &dyn fmt::Display) -> String {
    // An empty name would be invisible.
    let column = column.map(|name| Printable(if name.is_empty() { "\"\"" } else { name }));
    match (row.map(|row| row.saturating_add(1)), column) {
        (Some(row), Some(column)) => format!("row {row}, column {column}: {kind}"),
        (Some(row), None) => format!("row {row}: {kind}"),
        (None, Some(column)) => format!("column {column}: {kind}"),
        (None, None) => kind.to_string(),
    }
}

/// Names the options that help with a fault of a table, in brackets.
fn options(kind: &ErrorKind, shows_cell: bool) -> String {
    let show = (!shows_cell).then_some("--show-cells shows the cell");
    let (option, show) = match kind {
        ErrorKind::TooManyDigits { .. } => (Some("--scale keeps more, --round rounds"), show),
        ErrorKind::OutOfRange { .. } => (Some("--range"), show),
        ErrorKind::NotANumber => (None, show),
        ErrorKind::NoAdditions => (Some("--additions"), None),
        _ => (None, None),
    };
    let options: Vec<&str> = option.into_iter().chain(show).collect();
    if options.is_empty() { String::new() } else { format!(" ({})", options.join("; ")) }
}

/// Writes `hearith: MESSAGE` to standard error without failing the command. Ignores write errors.
pub fn eprint_line(message: &impl fmt::Display) {
    let message = message.to_string();
    Complaint::Warning(Diagnostic { message: &message, file: None, location: Location::default() }).print();
}

/// The name of a file in messages.
pub fn name(path: &Path) -> String {
    path.display().to_string()
}

/// Joins lines, since messages of libraries may contain several.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_said_once() {
        let refused = || io::Error::from_raw_os_error(13);
        assert_eq!(CliError::reading("a.csv", refused()).to_string(), "a.csv: cannot read: Permission denied");
        let refused = WriteError::Io(refused());
        assert_eq!(CliError::from_write("a.csv", refused).to_string(), "a.csv: cannot write: Permission denied");
        assert_eq!(
            CliError::from_write("a.csv", WriteError::NoText).to_string(),
            "a.csv: cannot write: a value has no text form"
        );
    }

    #[test]
    fn the_cause_is_kept() {
        let failure = CliError::reading("a.csv", io::Error::from_raw_os_error(2));
        let doing = failure.source().unwrap();
        assert_eq!(doing.to_string(), "cannot read");
        let last = doing.source().and_then(|error| error.downcast_ref::<io::Error>()).unwrap();
        assert_eq!(last.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn rows_count_from_one_whatever_the_library() {
        let error = hearith_paillier::ErrorKind::OutOfRange.at_row(0);
        assert_eq!(CliError::at("a.csv", error).to_string(), "a.csv: row 1: the number is out of range");
    }

    #[test]
    fn the_options_that_help_are_named() {
        let said = |kind: ErrorKind| CliError::at("a.csv", kind.in_column("x").at_row(4)).to_string();
        let scale = said(ErrorKind::TooManyDigits { scale: 2 });
        let expected = "a.csv: row 5, column x: has more than 2 fractional digits \
                        (--scale keeps more, --round rounds; --show-cells shows the cell)";
        assert_eq!(scale, expected);
        assert_eq!(
            said(ErrorKind::NotANumber),
            "a.csv: row 5, column x: is not a number (--show-cells shows the cell)"
        );
        assert_eq!(
            said(ErrorKind::Overflow),
            "a.csv: row 5, column x: overflowed its headroom: the total is not reliable"
        );
        let ciphertext = hearith_paillier::ErrorKind::CiphertextZero;
        assert_eq!(said(ciphertext.into()), "a.csv: row 5, column x: the ciphertext is 0");
    }

    #[test]
    fn the_place_is_told_once() {
        let beneath = hearith_paillier::ErrorKind::OutOfRange;
        let error = ErrorKind::Paillier(beneath).in_column("salary").at_row(4);
        let expected = "a.csv: row 5, column salary: the number is out of range";
        assert_eq!(CliError::at("a.csv", error).to_string(), expected);
        let error = ErrorKind::Io(io::Error::from_raw_os_error(13)).at_row(4);
        assert_eq!(CliError::at("a.csv", error).to_string(), "a.csv: row 5: Permission denied");
        assert_eq!(without_numbers("a (os error 2) b (os error x) c"), "a b (os error x) c");
    }

    #[test]
    fn messages_are_one_line() {
        assert_eq!(CliError::at("a\u{1b}", "two\nlines").to_string(), "a\u{1b}: two lines");
    }
}
