//! Errors of the Rust crates as the exceptions of `hearith.errors`.

use hearith_columns::ErrorKind as TableErrorKind;
use hearith_paillier::{Error, ErrorKind};
use pyo3::PyErr;

pyo3::import_exception!(hearith.errors, CiphertextError);
pyo3::import_exception!(hearith.errors, InvalidKeyError);
pyo3::import_exception!(hearith.errors, KeyMismatchError);
pyo3::import_exception!(hearith.errors, RangeError);
pyo3::import_exception!(hearith.errors, TableError);

/// A key that cannot be made or accepted.
pub(crate) fn key(error: Error) -> PyErr {
    InvalidKeyError::new_err(error.to_string())
}

/// An operation on batches that failed.
pub(crate) fn operation(error: Error) -> PyErr {
    let text = error.to_string();
    match error.kind() {
        ErrorKind::WrongKey { .. } => KeyMismatchError::new_err(text),
        kind if kind.is_bad_ciphertext() => CiphertextError::new_err(text),
        ErrorKind::PlaintextTooLarge | ErrorKind::ScalarTooLarge { .. } => RangeError::new_err(text),
        ErrorKind::NoSuchRow { .. } => pyo3::exceptions::PyIndexError::new_err(text),
        ErrorKind::Randomness(_) => pyo3::exceptions::PyOSError::new_err(text),
        _ => pyo3::exceptions::PyValueError::new_err(text),
    }
}

/// Numbers that have no plaintext.
pub(crate) fn encoding(error: Error) -> PyErr {
    RangeError::new_err(error.to_string())
}

/// A table that cannot be encrypted, added up or decrypted.
pub(crate) fn table(error: hearith_columns::Error) -> PyErr {
    let text = error.to_string();
    match error.kind() {
        TableErrorKind::WrongKey { .. } => KeyMismatchError::new_err(text),
        TableErrorKind::Paillier(error) if error.kind().is_bad_ciphertext() => CiphertextError::new_err(text),
        TableErrorKind::OutOfRange { .. } | TableErrorKind::Headroom { .. } | TableErrorKind::Overflow => {
            RangeError::new_err(text)
        }
        _ => TableError::new_err(text),
    }
}
