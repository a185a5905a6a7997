//! How a command fails: one line on standard error and an exit status.

use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use hearith_columns::parquet::WriteError;

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
