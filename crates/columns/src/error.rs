//! The error type, which names the fault and its row and column in the batch.
//!
//! No error contains a plaintext. The text of a cell is included only if the caller asks for it
//! ([`EncryptOptions::show_cells`](crate::EncryptOptions::show_cells)).

use std::fmt;
use std::io;

use arrow_schema::ArrowError;
use parquet::errors::ParquetError;

use crate::csv::CsvFault;
use crate::expression::PredicateError;
use crate::metadata::MetadataError;

/// An error of a foreign type.
pub type Source = Box<dyn std::error::Error + Send + Sync>;

/// What is wrong with a batch, and where.
///
/// Rows are counted from 0 within the batch. [`Error::offset_rows`] converts them to rows of a
/// stream (a CSV header is not a row). The caller adds the name of the file.
///
/// ```
/// use hearith_columns::ErrorKind;
/// let error = ErrorKind::NotANumber.in_column("salary").at_row(4);
/// assert_eq!((error.row(), error.column()), (Some(4), Some("salary")));
/// assert_eq!(error.to_string(), "row 4, column salary: is not a number");
/// assert_eq!(error.offset_rows(1000).row(), Some(1004));
/// ```
#[derive(Debug)]
pub struct Error(Box<Located>);

#[derive(Debug)]
struct Located {
    row: Option<u64>,
    column: Option<String>,
    cell: Option<String>,
    kind: ErrorKind,
}

impl Error {
    /// What is wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The row, counted from 0, if the error concerns one.
    pub fn row(&self) -> Option<u64> {
        self.0.row
    }

    /// The column, if the error concerns one.
    pub fn column(&self) -> Option<&str> {
        self.0.column.as_deref()
    }

    /// The cell in display form (quoted, on one line, truncated), if the caller asked for it.
    pub fn cell(&self) -> Option<&str> {
        self.0.cell.as_deref()
    }

    /// The same error at this row, counted from 0.
    pub fn at_row(mut self, row: u64) -> Self {
        self.0.row = Some(row);
        self
    }

    /// The same error without a row.
    pub(crate) fn at_no_row(mut self) -> Self {
        self.0.row = None;
        self
    }

    /// The same error in this column.
    pub fn in_column(mut self, column: &str) -> Self {
        self.0.column = Some(column.to_owned());
        self
    }

    /// The same error with `rows` added to its row, for a batch that starts there.
    pub fn offset_rows(mut self, rows: u64) -> Self {
        self.0.row = self.0.row.map(|row| row.saturating_add(rows));
        self
    }

    /// The same error with the text of its cell.
    pub(crate) fn showing(mut self, text: &str) -> Self {
        self.0.cell = Some(excerpt(text));
        self
    }
}

impl<K: Into<ErrorKind>> From<K> for Error {
    fn from(kind: K) -> Self {
        Self(Box::new(Located { row: None, column: None, cell: None, kind: kind.into() }))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Located { row, column, cell, kind } = &*self.0;
        match (row, column) {
            (Some(row), Some(column)) => write!(f, "row {row}, column {}: ", display_name(column))?,
            (Some(row), None) => write!(f, "row {row}: ")?,
            (None, Some(column)) => write!(f, "column {}: ", display_name(column))?,
            (None, None) => {}
        }
        match cell {
            Some(cell) => write!(f, "{cell} {kind}"),
            None => kind.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&self.0.kind)
    }
}

/// The kinds of faults. Their texts do not name the location; see [`Error`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The table does not have the requested column.
    #[error("there is no such column (there are: {})", list(.available))]
    NoSuchColumn {
        /// The existing columns.
        available: Vec<String>,
    },
    /// Two columns share a name, in the input or in the output.
    #[error("two columns would have this name")]
    DuplicateColumn,
    /// No column was named.
    #[error("no column named")]
    NoColumns,
    /// The column is encrypted already.
    #[error("is already encrypted")]
    AlreadyEncrypted,
    /// The column to encrypt counts the additions of an encrypted column, which could not be
    /// decrypted without it.
    #[error("counts the additions of the encrypted column {of}, which must stay unencrypted")]
    IsCompanion {
        /// The encrypted column.
        of: String,
    },
    /// The column's type holds no numbers.
    #[error("holds {found}, not numbers")]
    NotNumeric {
        /// The Arrow type found.
        found: String,
    },
    /// A cell is not a number.
    #[error("is not a number")]
    NotANumber,
    /// A cell has more fractional digits than the scale keeps.
    #[error("has more than {scale} fractional digits")]
    TooManyDigits {
        /// Fractional digits kept.
        scale: u32,
    },
    /// A value exceeds the declared range.
    #[error("is out of range: at most {range} in magnitude")]
    OutOfRange {
        /// The largest accepted magnitude.
        range: String,
    },
    /// The declared range is not a positive number, or is too large for the encoding.
    #[error("{} is not a range: it must be a positive number below 2^127 at this scale", excerpt(.text))]
    BadRange {
        /// The declared text.
        text: String,
    },
    /// The scale is too large for the encoding.
    #[error("a scale of {scale} is too large: at most 38")]
    BadScale {
        /// The declared scale.
        scale: u32,
    },
    /// Imported ciphertexts to which no number was added.
    #[error("every ciphertext must hold at least one number")]
    NoAdditions,
    /// A Paillier operation on plaintexts or ciphertexts failed.
    #[error("{0}")]
    Paillier(#[from] hearith_paillier::ErrorKind),
    /// An operation of the lattice scheme failed.
    #[error("{0}")]
    Lattice(#[from] hearith_bfv::ErrorKind),
    /// A chunk of a batched column is not the one expected here.
    #[error("the chunk {0}")]
    Chunk(&'static str),
    /// Rows of a table would be counted twice.
    #[error("has rows of table {table}, which was added already: they would be counted twice")]
    Repeated {
        /// Id of the table.
        table: String,
    },
    /// Batched columns cannot be packed.
    #[error("columns of a BFV key cannot be packed")]
    Packed,
    /// The decryption device failed.
    #[error("{0}")]
    Device(#[source] Source),
    /// The service or device that computes failed.
    #[error("{0}")]
    Service(#[source] Source),
    /// A column's scheme differs from that of the key or of the operation.
    #[error("encrypted by {found}, but the key given is of {given}")]
    Scheme {
        /// The column's scheme.
        found: &'static str,
        /// The key's scheme.
        given: &'static str,
    },
    /// A column is encrypted under another key.
    #[error("encrypted under key {found}, but the key given is {given}")]
    WrongKey {
        /// The id of the column's key.
        found: String,
        /// The id of the key given.
        given: String,
    },
    /// The description of an encrypted column is inconsistent.
    #[error("{}", .0.introduced())]
    Metadata(#[from] MetadataError),
    /// A companion column is missing or unsuitable.
    #[error("its companion column {companion} {fault}")]
    Companion {
        /// Name of the companion column.
        companion: String,
        /// What is wrong with it.
        fault: CompanionFault,
    },
    /// The column that numbers the rows of a table is missing or unsuitable.
    #[error("the column {name}, which numbers the rows, {fault}")]
    RowNumbers {
        /// Name of the column.
        name: String,
        /// What is wrong with it.
        fault: CompanionFault,
    },
    /// A count is null.
    #[error("must not be null")]
    NullCount,
    /// A null ciphertext claims additions.
    #[error("null, yet its companion counts additions")]
    CountedNull,
    /// A number claims no additions: it was copied or filled in without its companion.
    #[error(
        "holds a number, but its companion {companion} counts no additions: \
         copy or fill both columns together, or fill before encryption"
    )]
    UncountedNumber {
        /// Name of the companion column.
        companion: String,
    },
    /// More numbers were added than the ciphertext has headroom for.
    #[error("{} additions exceed the {max_additions} that there is headroom for", counted(*.additions))]
    Headroom {
        /// Additions that the ciphertext would hold; `u64::MAX` means that many or more.
        additions: u64,
        /// Additions that it may hold.
        max_additions: u64,
    },
    /// The noise of the sum of all numbers in a batched column exceeds the headroom.
    #[error(
        "the noise budget of {set} allows {most} additions of numbers in this range, not {wanted}: \
         choose a smaller range, fewer additions (to sum parts of the table) or a larger parameter set"
    )]
    NoiseHeadroom {
        /// The parameters.
        set: hearith_bfv::Set,
        /// The number of encrypted values.
        wanted: u64,
        /// Additions that the noise headroom allows.
        most: u64,
    },
    /// Sums within the declared range and additions do not fit the key's plaintexts.
    #[error("the range and the additions need {needed} bits, and plaintexts under a key of {bits} bits have {}", .bits - 1)]
    TooFewBits {
        /// Bits that sums need, including the sign.
        needed: u32,
        /// Bits of n.
        bits: u32,
    },
    /// The table holds no totals that count their values.
    #[error("holds no totals with value counts, so means cannot be computed")]
    NoMeans,
    /// A total is weighted, and its weights are not recorded.
    #[error("has weights other than 1, so its mean is not known")]
    Weighted,
    /// A column cannot be converted to the described type.
    #[error("is {found}, which cannot be converted to {expected}")]
    Undescribed {
        /// The type found.
        found: String,
        /// The type described.
        expected: String,
    },
    /// A decrypted total exceeds what the declared range and additions allow.
    #[error("overflowed its headroom: the total is not reliable")]
    Overflow,
    /// A table does not hold the proofs of another table's decryption, or lacks a proof for a
    /// ciphertext.
    #[error("not proofs of the decryption of this table")]
    NotProofs,
    /// Proofs or shares of a version that did not bind names, plaintext values and order to the
    /// numbers.
    #[error(
        "{}from an earlier version, which did not bind names and counts to the numbers: regenerate it",
        of_trustee(.trustee)
    )]
    Unbinding {
        /// The trustee, from 1, of shares.
        trustee: Option<u32>,
    },
    /// Proofs or shares of a table that has the same columns but differs otherwise.
    #[error(
        "{}made for a table that differs in a name, plaintext value, count, ciphertext, description or order",
        of_trustee(.trustee)
    )]
    OtherTable {
        /// The trustee, from 1, of shares.
        trustee: Option<u32>,
    },
    /// A column has a type that no digest covers.
    #[error("is {found}, a type that proofs, shares and signatures cannot cover")]
    Unbound {
        /// The Arrow type.
        found: String,
    },
    /// A table that must be signed is unsigned.
    #[error("is not signed")]
    Unsigned,
    /// A table is signed by a key that is not among those given.
    #[error("signed by key {found}, which is not one of the given keys")]
    OtherSigner {
        /// Id of the key.
        found: String,
    },
    /// A table's signature entry is malformed.
    #[error("{0} is malformed")]
    BadSignature(&'static str),
    /// A signature does not match its table.
    #[error("was changed after key {signer} signed it")]
    Altered {
        /// Id of the key.
        signer: String,
    },
    /// A proof of decryption is wrong.
    #[error(transparent)]
    Proof(hearith_proofs::ErrorKind),
    /// A table does not hold the shares of another table's decryption, or lacks a share for a
    /// ciphertext.
    #[error("not shares of the decryption of this table")]
    NotShares,
    /// A trustee's decryption share, or the combination of all shares, is wrong.
    #[error("{}{kind}", of_trustee(.trustee))]
    Share {
        /// The trustee, from 1, if the fault is in one share.
        trustee: Option<u32>,
        /// What is wrong.
        kind: hearith_threshold::ErrorKind,
    },
    /// A file under Parquet's own encryption (Parquet Modular Encryption). This hides the file from
    /// the party that stores it and is unrelated to encrypted columns.
    #[error("encrypted as a Parquet file (Parquet Modular Encryption), which is not supported: decrypt it first")]
    EncryptedParquet,
    /// Tables with different scales, ranges or numbers of additions cannot be aligned under this
    /// key.
    #[error("the scales and ranges of these tables together are too large for the additions in a key of {bits} bits")]
    NoHeadroom {
        /// Bits of n.
        bits: u32,
    },
    /// A table holds no encrypted column.
    #[error("holds no encrypted column")]
    NothingEncrypted,
    /// A table differs from those before it, or a batch from its table.
    #[error("{what} is {here}, not {before} as before")]
    Differs {
        /// The property.
        what: &'static str,
        /// Its value in this table or batch.
        here: String,
        /// Its value before.
        before: String,
    },
    /// A column to group by is encrypted.
    #[error("is encrypted: group by an unencrypted column")]
    GroupEncrypted,
    /// A column of weights is encrypted.
    #[error("is encrypted: weights must be plaintext")]
    WeightEncrypted,
    /// The type of a column of weights is not an integer type.
    #[error("holds {found}: weights must be 64-bit integers (cast it to bigint)")]
    WeightType {
        /// The Arrow type found.
        found: String,
    },
    /// A weight is null.
    #[error("is null: every row needs a weight (a condition `... is not null` leaves rows out)")]
    NullWeight,
    /// A weight is not a 64-bit integer.
    #[error("is not a 64-bit integer, as weights must be")]
    NotAWeight,
    /// The name collides with a column of the totals.
    #[error("the totals already have a column with this name")]
    ReservedName,
    /// A condition is invalid, or does not suit its column.
    #[error("{0}")]
    Predicate(#[from] PredicateError),
    /// The row count of a group exceeds 64 bits.
    #[error("the number of rows exceeds 64 bits")]
    TooManyRows,
    /// Packed slots have no counterpart in python-paillier.
    #[error("python-paillier does not support packed slots")]
    SlotsInPhe,
    /// The column's encoding cannot be written as single values.
    #[error("packed columns and python-paillier's fractions cannot be written as single values")]
    NotSingle,
    /// A column of single values holds no value that describes it.
    #[error("has no values, so its description is unknown")]
    NoValues,
    /// A decimal scale was given for ciphertexts that have fractional exponents.
    #[error("a scale applies to integers only, but some numbers are fractions (e is below 0)")]
    ScaleOfFractions,
    /// A power of 16 is lower than that of any double.
    #[error("the exponent {exponent} is too low: at least {lowest}")]
    ExponentTooLow {
        /// The exponent found.
        exponent: i32,
        /// The lowest accepted exponent.
        lowest: i32,
    },
    /// A power of 16 is lower than announced, or too high for the key.
    #[error("the exponent {exponent} is outside the column's range")]
    ExponentBeyond {
        /// The exponent found.
        exponent: i32,
    },
    /// The input exceeds a limit for tables; see [`limits`](crate::limits).
    #[error("more than {limit} {what}")]
    TooLarge {
        /// What is counted.
        what: &'static str,
        /// The largest accepted count.
        limit: u64,
    },
    /// The text is not valid CSV.
    #[error(transparent)]
    Csv(#[from] CsvFault),
    /// The file is not Parquet, is truncated, or uses an unsupported feature.
    #[error("not a complete Parquet file: {0}")]
    NotParquet(#[source] ParquetFault),
    /// The Parquet file cannot be decoded from this row on.
    #[error("damaged from this row on: {0}")]
    Damaged(#[source] ParquetFault),
    /// The input could not be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Arrow rejected an operation.
    #[error("Arrow rejected the operation")]
    Arrow(#[from] ArrowError),
}

impl ErrorKind {
    /// The error in this column.
    pub fn in_column(self, column: &str) -> Error {
        Error::from(self).in_column(column)
    }

    /// The error in this row, counted from 0.
    pub fn at_row(self, row: u64) -> Error {
        Error::from(self).at_row(row)
    }

    /// The error in a cell; `row` counts from 0 within the batch.
    pub(crate) fn at(self, row: usize, column: &str) -> Error {
        Error::from(self).in_column(column).at_row(row as u64)
    }
}

/// What is wrong with a companion column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompanionFault {
    /// The table does not have it.
    #[error("is missing")]
    Missing,
    /// It is of another type.
    #[error("is not UInt64")]
    Type,
    /// Another encrypted column uses it as well.
    #[error("is used twice")]
    Shared,
}

/// Why a Parquet file cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParquetFault {
    /// The file does not begin and end as Parquet does.
    #[error("PAR1 is missing at its start or end")]
    Ends,
    /// The description of the file or of a page is not valid Thrift, or is inconsistent.
    #[error("{0} is inconsistent")]
    Structure(&'static str),
    /// The decoder rejects the file.
    #[error("{}", one_line(.0))]
    Decoder(#[from] ParquetError),
    /// The decoded data do not form arrays.
    #[error("{}", one_line(.0))]
    Arrow(#[from] ArrowError),
    /// The decoder panicked.
    #[error("the decoder crashed")]
    Panicked,
    /// The file has fewer rows than the footer states.
    #[error("the file ends early: its footer states {rows} rows")]
    RowsMissing {
        /// Rows that the footer states.
        rows: u64,
    },
}

/// Joins the lines of a foreign error text into one.
pub(crate) fn one_line(text: &impl fmt::Display) -> String {
    text.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The number of additions as text; `u64::MAX` means that many or more.
fn counted(additions: u64) -> String {
    match additions {
        u64::MAX => "2^64 - 1 or more".to_owned(),
        known => known.to_string(),
    }
}

/// Names the trustee whose share is wrong.
fn of_trustee(trustee: &Option<u32>) -> String {
    trustee.map_or(String::new(), |trustee| format!("trustee {trustee}: "))
}

pub(crate) fn list(names: &[String]) -> String {
    const MAX_CHARS: usize = 20;
    let mut text = names.iter().take(MAX_CHARS).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > MAX_CHARS {
        text += ", ...";
    }
    text
}

/// A column's name as an error shows it: an empty name appears as quotes.
fn display_name(column: &str) -> &str {
    if column.is_empty() { "\"\"" } else { column }
}

/// A cell as an error shows it: quoted, on one line, truncated.
fn excerpt(text: &str) -> String {
    const MAX_CHARS: usize = 40;
    let cut: String = text.chars().take(MAX_CHARS).collect();
    let dots = if cut.len() < text.len() { "..." } else { "" };
    format!("\"{}{dots}\"", cut.escape_debug())
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn names_row_and_column_counting_from_zero() {
        let error = ErrorKind::NotANumber.at(4, "salary");
        assert_eq!(error.to_string(), "row 4, column salary: is not a number");
        let later = error.offset_rows(1000);
        assert_eq!(later.row(), Some(1004));
        assert!(later.to_string().starts_with("row 1004, "));
        assert_eq!(later.kind().to_string(), "is not a number", "the kind says nothing of the place");
    }

    #[test]
    fn empty_names_are_seen() {
        assert_eq!(ErrorKind::NotANumber.in_column("").to_string(), "column \"\": is not a number");
        assert_eq!(ErrorKind::NotANumber.at(4, "").to_string(), "row 4, column \"\": is not a number");
    }

    #[test]
    fn cells_are_shown_cut_and_on_one_line() {
        let error = ErrorKind::NotANumber.at(4, "salary");
        assert_eq!(error.cell(), None);
        assert_eq!(error.showing("n/a\n").to_string(), r#"row 4, column salary: "n/a\n" is not a number"#);
        let text = Error::from(ErrorKind::NotANumber).showing(&"é".repeat(1000)).to_string();
        assert!(text.chars().count() < 70, "{text}");
        assert!(text.contains("..."));
    }

    #[test]
    fn counts_beyond_64_bits_are_no_number() {
        let said = |additions, max_additions| ErrorKind::Headroom { additions, max_additions }.to_string();
        assert_eq!(said(11, 10), "11 additions exceed the 10 that there is headroom for");
        let most = "2^64 - 1 or more additions exceed the 18446744073709551615 that there is headroom for";
        assert_eq!(said(u64::MAX, u64::MAX), most);
    }

    #[test]
    fn sources_are_kept() {
        let error = Error::from(io::Error::from(io::ErrorKind::BrokenPipe));
        let source = error.source().unwrap().downcast_ref::<io::Error>().unwrap();
        assert_eq!(source.kind(), io::ErrorKind::BrokenPipe);
        let fault = ParquetFault::from(ParquetError::General("one\ntwo".into()));
        assert_eq!(fault.to_string(), "Parquet error: one two");
        let error = ErrorKind::NotParquet(fault).at_row(1);
        assert!(error.source().unwrap().source().unwrap().is::<ParquetError>());
    }
}
