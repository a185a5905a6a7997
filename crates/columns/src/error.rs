//! One error type: what is wrong, and in which row and column of the batch.

use std::fmt;

use crate::metadata::MetadataError;

/// What is wrong with a batch, and where.
///
/// Rows are counted from 0 within the batch; [`Error::offset_rows`] turns them into rows of a
/// stream. The text counts rows from 1, as people and spreadsheets do (a CSV header is not a row).
/// Which file the batch came from is the caller's to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Located>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Located {
    row: Option<u64>,
    column: Option<String>,
    reason: Reason,
}

impl Error {
    /// An error that concerns the whole table.
    pub fn table(reason: Reason) -> Self {
        Self(Box::new(Located { row: None, column: None, reason }))
    }

    /// An error that concerns a column.
    pub fn column(column: &str, reason: Reason) -> Self {
        Self(Box::new(Located { row: None, column: Some(column.to_owned()), reason }))
    }

    /// An error in one cell; `row` counts from 0 within the batch.
    pub fn cell(row: usize, column: &str, reason: Reason) -> Self {
        let row = Some(row as u64);
        Self(Box::new(Located { row, column: Some(column.to_owned()), reason }))
    }

    /// An error that concerns a row, whatever the column; `row` counts from 0 within the batch.
    pub fn row_of(row: u64, reason: Reason) -> Self {
        Self(Box::new(Located { row: Some(row), column: None, reason }))
    }

    /// The same error with `rows` added to its row number, for a batch that starts there.
    pub fn offset_rows(mut self, rows: u64) -> Self {
        self.0.row = self.0.row.map(|row| row.saturating_add(rows));
        self
    }

    /// The row, counted from 0, if the error concerns one.
    pub fn row(&self) -> Option<u64> {
        self.0.row
    }

    /// The column, if the error concerns one.
    pub fn column_name(&self) -> Option<&str> {
        self.0.column.as_deref()
    }

    /// What is wrong.
    pub fn reason(&self) -> &Reason {
        &self.0.reason
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Located { row, column, reason } = &*self.0;
        match (row.map(|row| row.saturating_add(1)), column) {
            (Some(row), Some(column)) => write!(f, "row {row}, column {column}: {reason}"),
            (Some(row), None) => write!(f, "row {row}: {reason}"),
            (None, Some(column)) => write!(f, "column {column}: {reason}"),
            (None, None) => reason.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// A column was asked for that the table does not have.
    #[error("there is no such column (there are: {})", list(.available))]
    NoSuchColumn {
        /// The columns that there are.
        available: Vec<String>,
    },
    /// Two columns of one name, in the input or among those to be written.
    #[error("there would be two columns of this name")]
    DuplicateColumn,
    /// No column was named.
    #[error("no column named")]
    NoColumns,
    /// The column is encrypted already.
    #[error("is already encrypted")]
    AlreadyEncrypted,
    /// The column's type holds no numbers.
    #[error("holds {found}, not numbers")]
    NotNumeric {
        /// The Arrow type found.
        found: String,
    },
    /// A cell is not a number.
    #[error("{} is not a number", shown(.text))]
    NotANumber {
        /// The cell.
        text: String,
    },
    /// A cell has more fractional digits than the scale keeps.
    #[error(
        "{} has more than {scale} fractional digits: raise the scale (--scale) or round (--round)",
        shown(.text)
    )]
    TooManyDigits {
        /// The cell.
        text: String,
        /// Fractional digits kept.
        scale: u32,
    },
    /// A value exceeds the declared range.
    #[error("{} is out of range: at most {range} either side of 0 (--range)", shown(.text))]
    OutOfRange {
        /// The value.
        text: String,
        /// The largest magnitude admitted.
        range: String,
    },
    /// The declared range is not a positive number that the encoding can hold.
    #[error("{} is no range: it must be a positive number below 2^127 at this scale", shown(.text))]
    BadRange {
        /// What was declared.
        text: String,
    },
    /// The scale is beyond what the encoding can hold.
    #[error("a scale of {scale} is too large: at most 38")]
    BadScale {
        /// What was declared.
        scale: u32,
    },
    /// The values do not fit the key with the headroom asked for.
    #[error("{0}")]
    DoesNotFit(String),
    /// A ciphertext is malformed: 0, not below n^2, or sharing a factor with n.
    #[error("{0}")]
    BadCiphertext(String),
    /// The accelerator that decrypts failed.
    #[error("{0}")]
    Accelerator(String),
    /// A column is encrypted under another key.
    #[error("encrypted under key {found}, but the key given is {given}")]
    WrongKey {
        /// The id of the key that the column names.
        found: String,
        /// The id of the key given.
        given: String,
    },
    /// The description of an encrypted column does not hold together.
    #[error("damaged description of an encrypted column: {0}")]
    Metadata(#[from] MetadataError),
    /// A companion column is missing, of another type, or holds a null.
    #[error("{0}")]
    BadCompanion(String),
    /// More numbers were added than the ciphertext has headroom for.
    #[error("{additions} additions exceed the {max_additions} that there is headroom for")]
    Headroom {
        /// Additions that the ciphertext would hold.
        additions: u64,
        /// Additions that it may hold.
        max_additions: u64,
    },
    /// A decrypted total is not one that the declared range and additions admit.
    #[error("overflowed its headroom: the total cannot be relied on")]
    Overflow,
    /// A table holds no encrypted column.
    #[error("holds no encrypted column")]
    NothingEncrypted,
    /// A table's encrypted columns are not those of the tables before it.
    #[error("{what} is {here} here but {before} before: these do not add up")]
    Differs {
        /// The property.
        what: &'static str,
        /// Its value in this table.
        here: String,
        /// Its value in the tables before.
        before: String,
    },
    /// A column to group by is encrypted.
    #[error("is encrypted: groups need plain values")]
    GroupEncrypted,
    /// A column of this name would collide with one that totals have.
    #[error("the name is taken by a column of the totals")]
    ReservedName,
    /// The row count of a group exceeds 64 bits.
    #[error("the number of rows exceeds 64 bits")]
    TooManyRows,
    /// A table is not of the shape announced.
    #[error("{0}")]
    Shape(String),
    /// Reading or writing the table failed.
    #[error("{0}")]
    Format(String),
}

fn list(names: &[String]) -> String {
    const SHOWN: usize = 20;
    let mut text = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text += ", ...";
    }
    text
}

/// A cell as an error line shows it: quoted, on one line, not too long.
fn shown(text: &str) -> String {
    const SHOWN: usize = 40;
    let cut: String = text.chars().take(SHOWN).collect();
    let dots = if cut.len() < text.len() { "..." } else { "" };
    format!("\"{}{dots}\"", cut.escape_debug())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_row_and_column_counting_from_one() {
        let error = Error::cell(4, "salary", Reason::NotANumber { text: "n/a\n".into() });
        assert_eq!(error.to_string(), r#"row 5, column salary: "n/a\n" is not a number"#);
        let later = error.offset_rows(1000);
        assert_eq!(later.row(), Some(1004));
        assert!(later.to_string().starts_with("row 1005, "));
    }

    #[test]
    fn long_cells_are_cut() {
        let text = Reason::NotANumber { text: "é".repeat(1000) }.to_string();
        assert!(text.chars().count() < 70, "{text}");
        assert!(text.contains("..."));
    }
}
