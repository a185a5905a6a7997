//! Errors in files.

use std::fmt;
use std::io;

use crate::Error;

/// An error in a file, with its row if it has one. No error contains key material or a plaintext.
#[derive(Debug)]
pub struct FormatError {
    row: Option<u64>,
    kind: FormatErrorKind,
}

/// The kinds of errors. Their messages omit the row; see [`FormatError`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FormatErrorKind {
    /// The file does not start with this format's magic bytes.
    #[error("not a file of FHE over the integers")]
    NotOurs,
    /// The file uses an unsupported version of this format.
    #[error("version {found} of the format is not supported: this program reads versions 1 to {known}", known = super::VERSION)]
    Version {
        /// The version stated in the file.
        found: u16,
    },
    /// The file is of another kind than expected.
    #[error("holds {found}, not {wanted}")]
    Kind {
        /// The expected kind.
        wanted: super::FileKind,
        /// The kind found.
        found: super::FileKind,
    },
    /// The file ends before its content is complete.
    #[error("truncated: the file ends in the middle of its content")]
    Truncated,
    /// The checksum does not match the content.
    #[error("damaged or tampered with: the checksum does not match the content")]
    Checksum,
    /// Data follows the content.
    #[error("there is data after the content")]
    Trailing,
    /// A field has an invalid value.
    #[error("{0} has an invalid value")]
    Field(&'static str),
    /// A number has more bits than the parameters allow.
    #[error("a number is longer than the parameters allow")]
    TooLong,
    /// Lengths for which the scheme does not work.
    #[error(transparent)]
    Parameters(Error),
    /// Data that does not form a valid key.
    #[error(transparent)]
    Key(Error),
    /// A public key's parts do not match the ID in the file.
    #[error("the key was tampered with: its parts do not match its ID")]
    OtherId,
    /// The file cannot be read.
    #[error(transparent)]
    Io(io::Error),
}

impl FormatError {
    /// The kind of error.
    pub fn kind(&self) -> &FormatErrorKind {
        &self.kind
    }

    /// The row, counted from 0, if the error belongs to one.
    pub fn row(&self) -> Option<u64> {
        self.row
    }

    /// The underlying I/O error, if that is the kind.
    ///
    /// # Errors
    /// The error itself if it is of another kind.
    pub fn into_io(self) -> Result<io::Error, Self> {
        match self.kind {
            FormatErrorKind::Io(error) => Ok(error),
            kind => Err(Self { row: self.row, kind }),
        }
    }

    /// The same error, assigned to this row.
    pub fn at_row(mut self, row: u64) -> Self {
        self.row = Some(row);
        self
    }
}

impl From<FormatErrorKind> for FormatError {
    fn from(kind: FormatErrorKind) -> Self {
        Self { row: None, kind }
    }
}

impl From<io::Error> for FormatError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => FormatErrorKind::Truncated.into(),
            _ => FormatErrorKind::Io(error).into(),
        }
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.row {
            Some(row) => write!(f, "row {row}: {}", self.kind),
            None => self.kind.fmt(f),
        }
    }
}

impl std::error::Error for FormatError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            FormatErrorKind::Io(error) => Some(error),
            FormatErrorKind::Parameters(error) | FormatErrorKind::Key(error) => Some(error),
            _ => None,
        }
    }
}
