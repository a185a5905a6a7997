//! What can be wrong with a file.

use std::fmt;
use std::io;

use crate::Error;

/// What is wrong with a file, and in which row where one is at fault. No error carries key material
/// or a plaintext.
#[derive(Debug)]
pub struct FormatError {
    row: Option<u64>,
    kind: FormatErrorKind,
}

/// What is wrong. The text says nothing of the place; see [`FormatError`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FormatErrorKind {
    /// It does not begin as these files do.
    #[error("not a file of FHE over the integers")]
    NotOurs,
    /// It was written by another version of this format.
    #[error("version {found} of the format, and this program reads versions 1 to {known}", known = super::VERSION)]
    Version {
        /// The version that the file claims.
        found: u16,
    },
    /// It holds something else than is wanted.
    #[error("holds {found}, not {wanted}")]
    Kind {
        /// What is wanted.
        wanted: super::FileKind,
        /// What it holds.
        found: super::FileKind,
    },
    /// It ends before its content does.
    #[error("truncated: the file ends in the middle of its content")]
    Truncated,
    /// Its content is not what was written.
    #[error("damaged or tampered with: the checksum is not that of the content")]
    Checksum,
    /// Something comes after its content.
    #[error("there is data after the content")]
    Trailing,
    /// A field has a value that none may have.
    #[error("{0} has an invalid value")]
    Field(&'static str),
    /// A number has more bits than the parameters allow.
    #[error("a number is longer than the parameters allow")]
    TooLong,
    /// Lengths with which the scheme would not work.
    #[error(transparent)]
    Parameters(Error),
    /// What should be a key is none.
    #[error(transparent)]
    Key(Error),
    /// A public key's parts do not have the id that the file says.
    #[error("the key's parts do not belong to its id: tampered with")]
    OtherId,
    /// It cannot be read.
    #[error(transparent)]
    Io(io::Error),
}

impl FormatError {
    /// What is wrong.
    pub fn kind(&self) -> &FormatErrorKind {
        &self.kind
    }

    /// The row at fault, from 0, if there is one.
    pub fn row(&self) -> Option<u64> {
        self.row
    }

    /// The failure to read beneath, if that is what is wrong.
    ///
    /// # Errors
    /// The error itself, of another kind.
    pub fn into_io(self) -> Result<io::Error, Self> {
        match self.kind {
            FormatErrorKind::Io(error) => Ok(error),
            kind => Err(Self { row: self.row, kind }),
        }
    }

    /// The same error in this row.
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
