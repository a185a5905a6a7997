//! The error type, which names the fault, and its row and column in the batch.
//!
//! No error holds a plaintext: it names the place and the kind of fault. The text of a cell is in
//! it only where the caller asked for that
//! ([`EncryptOptions::show_cells`](crate::EncryptOptions::show_cells)).

use std::fmt;
use std::io;

use arrow_schema::ArrowError;
use parquet::errors::ParquetError;

use crate::csv::CsvFault;
use crate::expression::PredicateError;
use crate::metadata::MetadataError;

/// An error of somebody else's type.
pub type Source = Box<dyn std::error::Error + Send + Sync>;

/// What is wrong with a batch, and where.
///
/// Rows are counted from 0 within the batch; [`Error::offset_rows`] turns them into rows of a
/// stream (a CSV header is not a row). Which file the batch came from is the caller's to add.
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

    /// The cell as an error line shows it (quoted, on one line, cut), if that was asked for.
    pub fn cell(&self) -> Option<&str> {
        self.0.cell.as_deref()
    }

    /// The same error in this row, counted from 0.
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
        self.0.cell = Some(shown(text));
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
            (Some(row), Some(column)) => write!(f, "row {row}, column {}: ", called(column))?,
            (Some(row), None) => write!(f, "row {row}: ")?,
            (None, Some(column)) => write!(f, "column {}: ", called(column))?,
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

/// What is wrong. The text says nothing of the place; see [`Error`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
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
    /// The column to encrypt counts the additions of an encrypted one, which could not be decrypted
    /// without it.
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
    #[error("is out of range: at most {range} either side of 0")]
    OutOfRange {
        /// The largest magnitude admitted.
        range: String,
    },
    /// The declared range is not a positive number that the encoding can hold.
    #[error("{} is not a range: it must be a positive number below 2^127 at this scale", shown(.text))]
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
    /// Ciphertexts to import into which nothing was added.
    #[error("every ciphertext must hold one number at least")]
    NoAdditions,
    /// The operation on plaintexts or ciphertexts failed.
    #[error("{0}")]
    Paillier(#[from] hearith_paillier::ErrorKind),
    /// The operation of the lattice scheme failed.
    #[error("{0}")]
    Lattice(#[from] hearith_bfv::ErrorKind),
    /// A chunk of a column that is encrypted whole is not the one that should stand here.
    #[error("the chunk here {0}")]
    Chunk(&'static str),
    /// Rows of a table would count twice.
    #[error("has rows of table {table}, which was added already: they would be counted twice")]
    Repeated {
        /// Id of the table.
        table: String,
    },
    /// Columns that are encrypted whole cannot be packed.
    #[error("columns of a BFV key cannot be packed")]
    Packed,
    /// What decrypts is a device, and it failed.
    #[error("{0}")]
    Device(#[source] Source),
    /// What computes is a service, or a device, and it failed.
    #[error("{0}")]
    Service(#[source] Source),
    /// A column is encrypted by another scheme than that of the key, or what is done to it.
    #[error("encrypted by {found}, but the key given is of {given}")]
    Scheme {
        /// The scheme that the column names.
        found: &'static str,
        /// The scheme of the key given.
        given: &'static str,
    },
    /// A column is encrypted under another key.
    #[error("encrypted under key {found}, but the key given is {given}")]
    WrongKey {
        /// The id of the key that the column names.
        found: String,
        /// The id of the key given.
        given: String,
    },
    /// The description of an encrypted column does not hold together.
    #[error("{}", .0.introduced())]
    Metadata(#[from] MetadataError),
    /// A companion column is not what it must be.
    #[error("its companion column {companion} {fault}")]
    Companion {
        /// Name of the companion column.
        companion: String,
        /// What is wrong with it.
        fault: CompanionFault,
    },
    /// The column that numbers the rows of a table is not what it must be.
    #[error("the column {name}, which numbers the rows, {fault}")]
    RowNumbers {
        /// Name of the column.
        name: String,
        /// What is wrong with it.
        fault: CompanionFault,
    },
    /// A cell that counts is null.
    #[error("must not be null")]
    NullCount,
    /// A null ciphertext claims additions.
    #[error("null, yet its companion counts additions")]
    CountedNull,
    /// A number claims no additions: it was copied or filled in without its companion.
    #[error(
        "holds a number of which its companion {companion} counts no addition: \
         copy or fill both columns together, or fill before encryption"
    )]
    UncountedNumber {
        /// Name of the companion column.
        companion: String,
    },
    /// More numbers were added than the ciphertext has headroom for.
    #[error("{} additions exceed the {max_additions} that there is headroom for", counted(*.additions))]
    Headroom {
        /// Additions that the ciphertext would hold; `u64::MAX` where they are as many or more.
        additions: u64,
        /// Additions that it may hold.
        max_additions: u64,
    },
    /// The noise of the sum of so many numbers of a column that is encrypted whole has no room.
    #[error(
        "{set} has room for the noise of {most} additions of numbers in this range, not of {wanted}: \
         choose a smaller range, fewer additions for sums of parts of the table, or a larger parameter set"
    )]
    NoiseHeadroom {
        /// The parameters.
        set: hearith_bfv::Set,
        /// The numbers that were encrypted.
        wanted: u64,
        /// Additions that there is room for.
        most: u64,
    },
    /// Sums of the declared range and additions are longer than a key's plaintexts.
    #[error("the range and the additions need {needed} bits, and plaintexts under a key of {bits} bits have {}", .bits - 1)]
    TooFewBits {
        /// Bits that sums need, with their sign.
        needed: u32,
        /// Bits of n.
        bits: u32,
    },
    /// A table is none of totals that count their values.
    #[error("no totals that count their values, so there are no means")]
    NoMeans,
    /// A total has weights, which it does not say.
    #[error("has weights other than 1, so its mean is not known")]
    Weighted,
    /// A column does not hold what is described.
    #[error("is {found}, of which no {expected} can be made")]
    Undescribed {
        /// The type found.
        found: String,
        /// The type described.
        expected: String,
    },
    /// A decrypted total is not one that the declared range and additions admit.
    #[error("overflowed its headroom: the total cannot be relied on")]
    Overflow,
    /// A table is not that of the proofs of another's decryption, or has none where a ciphertext
    /// is.
    #[error("not proofs of the decryption of this table")]
    NotProofs,
    /// Proofs or shares of a version that did not bind names, plain values and order to the
    /// numbers.
    #[error("{}of an earlier version, which did not bind names and counts to the numbers: make it again", of_trustee(.trustee))]
    Unbinding {
        /// The trustee, from 1, of shares.
        trustee: Option<u32>,
    },
    /// Proofs or shares of a table with the same columns, of which something else differs.
    #[error("{}made for a table that differs in a name, plain value, count, ciphertext, description or order", of_trustee(.trustee))]
    OtherTable {
        /// The trustee, from 1, of shares.
        trustee: Option<u32>,
    },
    /// A column of a type that no digest covers.
    #[error("is {found}, which proofs, shares and signatures cannot be bound to")]
    Unbound {
        /// The Arrow type.
        found: String,
    },
    /// A table that is to be signed is not.
    #[error("is not signed")]
    Unsigned,
    /// A table is signed by a key that nobody named.
    #[error("signed by key {found}, which is none of those given")]
    OtherSigner {
        /// Id of the key.
        found: String,
    },
    /// What a table says of its signature is none.
    #[error("{0} is malformed")]
    BadSignature(&'static str),
    /// A signature is not that of the table it is with.
    #[error("was changed after key {signer} signed it")]
    Altered {
        /// Id of the key.
        signer: String,
    },
    /// A proof of a decryption.
    #[error(transparent)]
    Proof(hearith_proofs::ErrorKind),
    /// A table is not that of shares of the decryption of another, or has none where a ciphertext
    /// is.
    #[error("not shares of the decryption of this table")]
    NotShares,
    /// A trustee's share of a decryption, or all of them together.
    #[error("{}{kind}", of_trustee(.trustee))]
    Share {
        /// The trustee, from 1, if it is one's.
        trustee: Option<u32>,
        /// What is wrong.
        kind: hearith_threshold::ErrorKind,
    },
    /// A file under Parquet's own encryption (Parquet Modular Encryption), which hides it from
    /// whoever stores it; that is another thing than encrypted columns.
    #[error("encrypted as a Parquet file (Parquet Modular Encryption), which is not read: decrypt it first")]
    EncryptedParquet,
    /// Tables of other scales, ranges or numbers of additions cannot be made alike under this key.
    #[error("the scales and ranges of these tables together are too large for the additions in a key of {bits} bits")]
    NoHeadroom {
        /// Bits of n.
        bits: u32,
    },
    /// A table holds no encrypted column.
    #[error("holds no encrypted column")]
    NothingEncrypted,
    /// A table is not like those before it, or a batch not like the table that it is said to be of.
    #[error("{what} is {here} here but {before} before")]
    Differs {
        /// The property.
        what: &'static str,
        /// Its value in this table or batch.
        here: String,
        /// Its value before.
        before: String,
    },
    /// A column to group by is encrypted.
    #[error("is encrypted: groups need plain values")]
    GroupEncrypted,
    /// A column of weights is encrypted.
    #[error("is encrypted: weights need plain values")]
    WeightEncrypted,
    /// The type of a column of weights is none of integers.
    #[error("holds {found}: weights are integers of 64 bits (cast it to bigint)")]
    WeightType {
        /// The Arrow type found.
        found: String,
    },
    /// A weight is null.
    #[error("is null: every row needs a weight (a condition `... is not null` leaves rows out)")]
    NullWeight,
    /// A weight is no integer of 64 bits.
    #[error("is not an integer of 64 bits, as weights are")]
    NotAWeight,
    /// A column of this name would collide with one that totals have.
    #[error("the name is taken by a column of the totals")]
    ReservedName,
    /// A condition is none, or not one for its column.
    #[error("{0}")]
    Predicate(#[from] PredicateError),
    /// The row count of a group exceeds 64 bits.
    #[error("the number of rows exceeds 64 bits")]
    TooManyRows,
    /// Packed slots have no counterpart in python-paillier.
    #[error("packed slots have no counterpart in python-paillier")]
    SlotsInPhe,
    /// A column whose encoding has no form as described values.
    #[error("packed columns and python-paillier's fractions have no form as single values")]
    NotSingle,
    /// A column of values has none that says what they are.
    #[error("no cell has a value that describes the column")]
    NoValues,
    /// A decimal scale was given for ciphertexts with fractions of their own.
    #[error("a scale is for integers, but there are fractions (e below 0)")]
    ScaleOfFractions,
    /// A power of 16 is lower than any double's.
    #[error("the exponent {exponent} is too low: at least {lowest}")]
    ExponentTooLow {
        /// The exponent found.
        exponent: i32,
        /// The lowest taken.
        lowest: i32,
    },
    /// A power of 16 is lower than announced, or so high that the key cannot hold the number.
    #[error("the exponent {exponent} is beyond the column's")]
    ExponentBeyond {
        /// The exponent found.
        exponent: i32,
    },
    /// The input asks for more than a table may; see [`limits`](crate::limits).
    #[error("more than {limit} {what}")]
    TooLarge {
        /// What is counted.
        what: &'static str,
        /// How many are taken.
        limit: u64,
    },
    /// The text is not CSV.
    #[error(transparent)]
    Csv(#[from] CsvFault),
    /// The file is not Parquet, is cut short or uses a feature that is not supported.
    #[error("not a whole Parquet file: {0}")]
    NotParquet(#[source] ParquetFault),
    /// The Parquet file cannot be decoded from this row on.
    #[error("damaged from here on: {0}")]
    Damaged(#[source] ParquetFault),
    /// The input could not be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Arrow's arrays refused an operation.
    #[error("Arrow cannot do this")]
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
    /// It is another encrypted column's as well.
    #[error("is used twice")]
    Shared,
}

/// Why a Parquet file cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParquetFault {
    /// The file does not begin and end as Parquet does.
    #[error("it does not begin and end as one")]
    Ends,
    /// The description of the file or of a page is no Thrift, or contradicts itself.
    #[error("{0} is inconsistent")]
    Structure(&'static str),
    /// The decoder refuses it.
    #[error("{}", one_line(.0))]
    Decoder(#[from] ParquetError),
    /// What was decoded makes no arrays.
    #[error("{}", one_line(.0))]
    Arrow(#[from] ArrowError),
    /// The decoder panicked.
    #[error("the decoder broke down")]
    Panicked,
    /// There are fewer rows than the footer says.
    #[error("the file ends early: its footer states {rows} rows")]
    RowsMissing {
        /// What the footer says.
        rows: u64,
    },
}

/// Other people's error texts may run over lines; ours do not.
pub(crate) fn one_line(text: &impl fmt::Display) -> String {
    text.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// How many additions there are, of which no more than 64 bits are known.
fn counted(additions: u64) -> String {
    match additions {
        u64::MAX => "2^64 - 1 or more".to_owned(),
        known => known.to_string(),
    }
}

/// Whose share is wrong.
fn of_trustee(trustee: &Option<u32>) -> String {
    trustee.map_or(String::new(), |trustee| format!("trustee {trustee}: "))
}

pub(crate) fn list(names: &[String]) -> String {
    const SHOWN: usize = 20;
    let mut text = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text += ", ...";
    }
    text
}

/// A column's name as an error line shows it: an empty one would not be seen.
fn called(column: &str) -> &str {
    if column.is_empty() { "\"\"" } else { column }
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
