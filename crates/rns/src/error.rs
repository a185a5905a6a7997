//! The error type for residue number systems and their input, with the place of the error.

use hearith_arith::ArithError;
use std::fmt;

/// An error, with its place in a batch. Rows and columns are counted from 0. A column is the
/// position of a modulus in its basis.
///
/// ```
/// use hearith_arith::{Batch, Engine};
/// use hearith_rns::{Basis, ErrorKind};
/// let basis = Basis::new(Engine::best(), &[7, 11])?;
/// let error = basis.residues(&Batch::from_rows(1, [&[76][..], &[128]])).unwrap_err();
/// assert_eq!((error.kind(), error.row()), (&ErrorKind::TooLong { bits: 7 }, Some(1)));
/// assert_eq!(error.offset_rows(1000).to_string(), "row 1001: has more than 7 bits");
/// # Ok::<(), hearith_rns::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    row: Option<usize>,
    column: Option<usize>,
}

impl Error {
    /// The kind of error.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// The row of the batch, counted from 0, if the error belongs to one.
    pub fn row(&self) -> Option<usize> {
        self.row
    }

    /// The position in the basis, counted from 0, of the modulus whose residue is wrong, if there
    /// is one.
    pub fn column(&self) -> Option<usize> {
        self.column
    }

    /// The same error, assigned to this row.
    pub fn at_row(self, row: usize) -> Self {
        Self { row: Some(row), ..self }
    }

    /// The same error, assigned to this column.
    pub fn at_column(self, column: usize) -> Self {
        Self { column: Some(column), ..self }
    }

    /// The same error with `rows` added to its row, for a batch that starts at that row.
    pub fn offset_rows(self, rows: usize) -> Self {
        Self { row: self.row.map(|row| row.saturating_add(rows)), ..self }
    }
}

impl<K: Into<ErrorKind>> From<K> for Error {
    fn from(kind: K) -> Self {
        Error { kind: kind.into(), row: None, column: None }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.row, self.column) {
            (Some(row), Some(column)) => write!(f, "row {row}, column {column}: {}", self.kind),
            (Some(row), None) => write!(f, "row {row}: {}", self.kind),
            (None, _) => self.kind.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    /// The error of the arithmetic layer, if that is the cause.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.kind.source()
    }
}

/// The kinds of errors. Their messages omit the place; see [`Error`]. All values in them are
/// parameters, never residues.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A parameter lies outside its range.
    #[error("{name} is {value}; {allowed}")]
    Parameter {
        /// The name of the parameter.
        name: &'static str,
        /// The value given.
        value: u64,
        /// The values allowed, in words.
        allowed: &'static str,
    },
    /// The number given is not a special prime.
    #[error("{modulus} is not a prime below 2^{word_bits}")]
    NotSpecial {
        /// The number given.
        modulus: u64,
        /// The word length given.
        word_bits: u32,
    },
    /// A search found too few primes.
    #[error("the {found} special primes are too few for integers of {bits} bits")]
    TooFewPrimes {
        /// Primes found.
        found: usize,
        /// Bits of the integers.
        bits: u32,
    },
    /// Two moduli of a basis have a common factor.
    #[error("the moduli {first} and {second} are not coprime")]
    NotCoprime {
        /// One of them.
        first: u64,
        /// The other.
        second: u64,
    },
    /// A number is longer than the basis can hold.
    #[error("has more than {bits} bits")]
    TooLong {
        /// Largest number of bits.
        bits: u32,
    },
    /// A residue is not below its modulus.
    #[error("is not below the modulus {modulus}")]
    ResidueTooLarge {
        /// The modulus.
        modulus: u64,
    },
    /// The residues belong to other moduli than those of the basis.
    #[error("the residues have other moduli than the basis")]
    OtherBasis,
    /// The arithmetic layer reported an error.
    #[error("{0}")]
    Arithmetic(#[from] ArithError),
}

impl ErrorKind {
    /// This error, assigned to a row of a batch.
    pub fn at_row(self, row: usize) -> Error {
        Error::from(self).at_row(row)
    }
}

impl Error {
    pub(crate) fn parameter(name: &'static str, value: impl Into<u64>, allowed: &'static str) -> Self {
        ErrorKind::Parameter { name, value: value.into(), allowed }.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

    #[test]
    fn the_place_comes_first_and_counts_from_zero() {
        let error = ErrorKind::ResidueTooLarge { modulus: 7 }.at_row(2);
        assert_eq!(error.to_string(), "row 2: is not below the modulus 7");
        let error = error.at_column(1).offset_rows(10);
        assert_eq!((error.row(), error.column()), (Some(12), Some(1)));
        assert_eq!(error.to_string(), "row 12, column 1: is not below the modulus 7");
        assert_eq!(error.kind().to_string(), "is not below the modulus 7");
    }

    #[test]
    fn the_cause_is_kept() {
        let cause = ArithError::EvenModulus;
        let error = Error::from(cause.clone());
        assert_eq!(error.source().and_then(|source| source.downcast_ref()), Some(&cause));
        assert!(Error::from(ErrorKind::OtherBasis).source().is_none());
    }
}
