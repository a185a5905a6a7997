//! How a command fails: one line on standard error and an exit status.

use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use hearith_columns::parquet::WriteError;
use hearith_columns::{Error, ErrorKind};

/// Exit status for everything that is wrong with the input or the output.
const BAD: u8 = 2;
/// Exit status when whoever read our output went away, as a shell reports it.
const CLOSED_PIPE: u8 = 128 + 13;

/// Why a command ends early.
#[derive(Debug)]
pub enum Failure {
    /// Something is wrong, in the file named if one is.
    Wrong {
        /// The file, as the user named it.
        file: Option<String>,
        /// What is wrong, with row and column where they are known.
        what: String,
    },
    /// The reader of our output closed it: nothing to complain about.
    ClosedPipe,
}

impl Failure {
    /// Something wrong that concerns no file.
    pub fn new(what: impl fmt::Display) -> Self {
        Self::Wrong { file: None, what: what.to_string() }
    }

    /// Something wrong with a file.
    pub fn at(file: impl fmt::Display, what: impl fmt::Display) -> Self {
        Self::Wrong { file: Some(file.to_string()), what: what.to_string() }
    }

    /// Something wrong with a table, with rows counted from 1 and the options that help.
    pub fn in_table(file: impl fmt::Display, error: &Error) -> Self {
        Self::at(file, table_line(error))
    }

    /// A file could not be written.
    pub fn writing(file: &str, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            _ => Self::at(file, format!("cannot write: {}", plain(error))),
        }
    }

    /// A file could not be read.
    pub fn reading(file: &str, error: &io::Error) -> Self {
        Self::at(file, format!("cannot read: {}", plain(error)))
    }

    /// A table could not be written.
    pub fn from_write(file: &str, error: &WriteError) -> Self {
        match error {
            WriteError::Io(error) => Self::writing(file, error),
            other => Self::at(file, format!("cannot write: {other}")),
        }
    }

    /// Says what is wrong and gives the exit status.
    pub fn report(&self) -> ExitCode {
        match self {
            Self::ClosedPipe => ExitCode::from(CLOSED_PIPE),
            Self::Wrong { .. } => {
                eprint_line(self);
                ExitCode::from(BAD)
            }
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wrong { file: Some(file), what } => write!(f, "{file}: {}", one_line(what)),
            Self::Wrong { file: None, what } => f.write_str(&one_line(what)),
            Self::ClosedPipe => f.write_str("the output was closed"),
        }
    }
}

/// What the library says of a table, said to people: spreadsheets count rows from 1, and options have names.
pub fn table_line(error: &Error) -> String {
    let row = error.row().map(|row| format!("row {}", row.saturating_add(1)));
    let column = error.column().map(|column| format!("column {column}"));
    let place: Vec<String> = row.into_iter().chain(column).collect();
    let place = if place.is_empty() { String::new() } else { place.join(", ") + ": " };
    let cell = error.cell().map(|cell| format!("{cell} ")).unwrap_or_default();
    format!("{place}{cell}{}{}", error.kind(), hints(error))
}

/// The options that help against an error, in brackets.
fn hints(error: &Error) -> String {
    let option = match error.kind() {
        ErrorKind::TooManyDigits { .. } => "--scale keeps more, --round rounds",
        ErrorKind::OutOfRange { .. } => "--range",
        ErrorKind::NoAdditions => "--additions",
        ErrorKind::NotANumber => "",
        _ => return String::new(),
    };
    let has_cell = !matches!(error.kind(), ErrorKind::NoAdditions) && error.cell().is_none();
    let show = has_cell.then_some("--show-cells shows the cell");
    let hints: Vec<&str> = [option].into_iter().filter(|option| !option.is_empty()).chain(show).collect();
    if hints.is_empty() { String::new() } else { format!(" ({})", hints.join("; ")) }
}

/// Writes `hearith: MESSAGE` to standard error, whether or not anybody reads it.
pub fn eprint_line(message: &impl fmt::Display) {
    let _ = io::Write::write_all(&mut io::stderr(), format!("hearith: {message}\n").as_bytes());
}

/// The name of a file in messages.
pub fn name(path: &Path) -> String {
    path.display().to_string()
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

/// An operating system's error without its number.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}
