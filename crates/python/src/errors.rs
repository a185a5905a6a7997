//! Errors of the Rust crates as the exceptions of `hearith.errors`: with row, column and kind, their sources as causes.

use std::error::Error as StdError;
use std::fmt::{self, Debug, Write};

use hearith_columns::{Error, Reason};
use hearith_paillier::{EncodingError, KeyError, OperationError};
use pyo3::PyTypeInfo;
use pyo3::exceptions::{PyIndexError, PyOSError, PyValueError};
use pyo3::prelude::*;

pyo3::import_exception!(hearith.errors, CiphertextError);
pyo3::import_exception!(hearith.errors, HearithError);
pyo3::import_exception!(hearith.errors, InvalidKeyError);
pyo3::import_exception!(hearith.errors, KeyMismatchError);
pyo3::import_exception!(hearith.errors, RangeError);
pyo3::import_exception!(hearith.errors, ShapeError);
pyo3::import_exception!(hearith.errors, TableError);

/// Where something is wrong; rows count from 0.
#[derive(Default)]
struct Place {
    row: Option<u64>,
    column: Option<String>,
}

/// A key that cannot be made or accepted.
pub(crate) fn key(error: KeyError) -> PyErr {
    raise::<InvalidKeyError>(error.to_string(), Place::default(), &error, error.source())
}

/// An operation on batches that failed.
pub(crate) fn operation(error: OperationError) -> PyErr {
    let place = Place { row: error.row().map(|row| row as u64), column: None };
    let text = match &error {
        OperationError::ScalarTooLarge { bits, .. } => format!("the factor has more than {bits} bits"),
        OperationError::PlaintextTooLarge { .. } => "the plaintext is not below n".to_owned(),
        OperationError::Ciphertext(error) => format!("the ciphertext {}", error.fault),
        other => other.to_string(),
    };
    match &error {
        OperationError::WrongKey { .. } => raise::<KeyMismatchError>(text, place, &error, error.source()),
        OperationError::Ciphertext(bad) => raise::<CiphertextError>(text, place, &bad.fault, None),
        OperationError::Width { .. } => raise::<CiphertextError>(text, place, &error, None),
        OperationError::PlaintextTooLarge { .. } | OperationError::ScalarTooLarge { .. } => {
            raise::<RangeError>(text, place, &error, None)
        }
        OperationError::Lengths { .. } | OperationError::Terms { .. } => raise::<ShapeError>(text, place, &error, None),
        OperationError::Row { .. } => PyIndexError::new_err(text),
        OperationError::Randomness(_) => PyOSError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

/// Numbers that have no plaintext.
pub(crate) fn encoding(error: EncodingError) -> PyErr {
    let place = Place { row: error.row().map(|row| row as u64), column: None };
    let text = match &error {
        EncodingError::OutOfRange { slot: 0, .. } => "the number is out of range".to_owned(),
        EncodingError::OutOfRange { slot, .. } => format!("the number in slot {slot} is out of range"),
        other => other.to_string(),
    };
    raise::<RangeError>(text, place, &error, error.source())
}

/// A row whose slots hold more than their layout allows.
pub(crate) fn slot_overflow(row: usize) -> PyErr {
    let (text, row) = ("the total overflowed its slots".to_owned(), Some(row as u64));
    PyErr::new::<RangeError, _>((text, row, None::<String>, "overflow"))
}

/// A table that cannot be encrypted, added up or decrypted.
pub(crate) fn table(error: Error) -> PyErr {
    let (reason, source) = (error.reason(), error.source());
    let place = Place { row: error.row(), column: error.column_name().map(str::to_owned) };
    let text = reason.to_string();
    match reason {
        Reason::WrongKey { .. } => raise::<KeyMismatchError>(text, place, reason, source),
        Reason::BadCiphertext(_) => raise::<CiphertextError>(text, place, reason, source),
        Reason::OutOfRange { .. } | Reason::Headroom { .. } | Reason::Overflow => {
            raise::<RangeError>(text, place, reason, source)
        }
        _ => raise::<TableError>(text, place, reason, source),
    }
}

/// An exception of the package, which takes text, row, column and kind.
fn raise<T: PyTypeInfo>(
    text: String,
    place: Place,
    kind: &dyn Debug,
    source: Option<&(dyn StdError + 'static)>,
) -> PyErr {
    let error = PyErr::new::<T, _>((text, place.row, place.column, name(kind)));
    if let Some(cause) = source {
        Python::attach(|py| error.set_cause(py, Some(chain(py, cause))));
    }
    error
}

/// A source, and its own sources as its cause.
fn chain(py: Python<'_>, source: &(dyn StdError + 'static)) -> PyErr {
    let error = HearithError::new_err(source.to_string());
    error.set_cause(py, source.source().map(|deeper| chain(py, deeper)));
    error
}

/// The name of an enum's variant in Python's spelling: `TooManyDigits { .. }` is `too_many_digits`.
fn name(kind: &dyn Debug) -> String {
    let mut variant = Variant(String::new());
    // It ends with an error where the name does, so that no field is ever written.
    let _ = write!(variant, "{kind:?}");
    variant.0
}

/// Takes down the first word that is written to it.
struct Variant(String);

impl Write for Variant {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            if !character.is_ascii_alphanumeric() {
                return Err(fmt::Error);
            }
            if character.is_ascii_uppercase() && !self.0.is_empty() {
                self.0.push('_');
            }
            self.0.push(character.to_ascii_lowercase());
        }
        Ok(())
    }
}
