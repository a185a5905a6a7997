//! Converts errors of the Rust crates to the exceptions of `hearith.errors`, with row, column and
//! kind. Their sources become causes.

use std::error::Error as StdError;
use std::fmt::{self, Debug, Write};
use std::io;
use std::path::Path;

use crate::keys::message;
use hearith_bfv::ErrorKind as LatticeKind;
use hearith_columns::ErrorKind as TableErrorKind;
use hearith_dghv::format::FormatError;
use hearith_paillier::{ComputeError, DecryptError, Error, ErrorKind};
use hearith_service::client;
use hearith_service::proto::ErrorReason;
use pyo3::PyTypeInfo;
use pyo3::exceptions::{PyIndexError, PyOSError, PyValueError};
use pyo3::prelude::*;

pyo3::import_exception!(hearith.errors, CiphertextError);
pyo3::import_exception!(hearith.errors, CircuitError);
pyo3::import_exception!(hearith.errors, HearithError);
pyo3::import_exception!(hearith.errors, InvalidKeyError);
pyo3::import_exception!(hearith.errors, KeyMismatchError);
pyo3::import_exception!(hearith.errors, RangeError);
pyo3::import_exception!(hearith.errors, ServiceError);
pyo3::import_exception!(hearith.errors, ShapeError);
pyo3::import_exception!(hearith.errors, ShareError);
pyo3::import_exception!(hearith.errors, TableError);

pub(crate) use HearithError as Anything;

/// The location of an error; rows count from 0.
struct Place {
    row: Option<u64>,
    column: Option<String>,
}

/// A key cannot be generated or accepted.
pub(crate) fn key(error: Error) -> PyErr {
    raise_paillier::<InvalidKeyError>(&error)
}

/// A batch operation failed.
pub(crate) fn operation(error: Error) -> PyErr {
    match error.kind() {
        ErrorKind::WrongKey { .. } => raise_paillier::<KeyMismatchError>(&error),
        kind if kind.is_bad_ciphertext() => raise_paillier::<CiphertextError>(&error),
        ErrorKind::Width { .. } => raise_paillier::<CiphertextError>(&error),
        ErrorKind::WrongDecryption => raise_paillier::<HearithError>(&error),
        ErrorKind::PlaintextTooLarge | ErrorKind::ScalarTooLarge { .. } => raise_paillier::<RangeError>(&error),
        ErrorKind::Lengths { .. } | ErrorKind::Terms { .. } => raise_paillier::<ShapeError>(&error),
        ErrorKind::NoSuchRow { .. } => PyIndexError::new_err(error.to_string()),
        ErrorKind::Randomness(_) => PyOSError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// A number has no plaintext.
pub(crate) fn encoding(error: Error) -> PyErr {
    raise_paillier::<RangeError>(&error)
}

/// The slots of a row exceed their layout.
pub(crate) fn slot_overflow(row: usize) -> PyErr {
    let (text, row) = ("the total overflowed its slots".to_owned(), Some(row as u64));
    PyErr::new::<RangeError, _>((text, row, None::<String>, "overflow"))
}

/// A shared key cannot be generated or accepted.
pub(crate) fn shared_key(error: &hearith_threshold::Error) -> PyErr {
    raise_shared::<InvalidKeyError>(error)
}

/// A signing key cannot be generated or read.
pub(crate) fn signing_key(error: &hearith_columns::SigningKeyError) -> PyErr {
    raise::<InvalidKeyError>(error.to_string(), Place { row: None, column: None }, error, None)
}

/// Decryption shares cannot be computed, or are wrong.
pub(crate) fn share(error: &hearith_threshold::Error) -> PyErr {
    use hearith_threshold::ErrorKind as Kind;
    match error.kind() {
        Kind::OtherKey { .. } => raise_shared::<KeyMismatchError>(error),
        Kind::Lengths { .. } => raise_shared::<ShapeError>(error),
        _ => raise_shared::<ShareError>(error),
    }
}

/// An error of a shared key, whose text names the trustee.
fn raise_shared<T: PyTypeInfo>(error: &hearith_threshold::Error) -> PyErr {
    use hearith_threshold::ErrorKind as Kind;
    let place = Place { row: error.row().map(|row| row as u64), column: None };
    let trustee = error.trustee().map_or(String::new(), |trustee| format!("trustee {trustee}: "));
    let name: &dyn Debug = match error.kind() {
        Kind::Scheme(inner) => inner,
        other => other,
    };
    raise::<T>(format!("{trustee}{}", error.kind()), place, name, StdError::source(error))
}

/// A table cannot be encrypted, summed or decrypted.
pub(crate) fn table(error: hearith_columns::Error) -> PyErr {
    let (kind, source) = (error.kind(), error.source());
    if let TableErrorKind::Service(cause) | TableErrorKind::Device(cause) = kind {
        return outside(&**cause);
    }
    let place = Place { row: error.row(), column: error.column().map(str::to_owned) };
    let text = kind.to_string();
    let name: &dyn Debug = match kind {
        TableErrorKind::Paillier(inner) => inner,
        TableErrorKind::Lattice(inner) => inner,
        TableErrorKind::Share { kind, .. } => kind,
        other => other,
    };
    match kind {
        TableErrorKind::Lattice(inner) => raise_lattice(inner, text, place, source),
        TableErrorKind::Share { .. }
        | TableErrorKind::OtherTable { trustee: Some(_) }
        | TableErrorKind::Unbinding { trustee: Some(_) } => raise::<ShareError>(text, place, name, source),
        TableErrorKind::WrongKey { .. } | TableErrorKind::Scheme { .. } => {
            raise::<KeyMismatchError>(text, place, name, source)
        }
        TableErrorKind::Paillier(inner) if inner.is_bad_ciphertext() => {
            raise::<CiphertextError>(text, place, name, source)
        }
        TableErrorKind::Paillier(ErrorKind::WrongDecryption) => raise::<HearithError>(text, place, name, source),
        TableErrorKind::OutOfRange { .. }
        | TableErrorKind::Headroom { .. }
        | TableErrorKind::NoiseHeadroom { .. }
        | TableErrorKind::Overflow => raise::<RangeError>(text, place, name, source),
        _ => raise::<TableError>(text, place, name, source),
    }
}

/// A key of a lattice scheme cannot be generated or read.
pub(crate) fn lattice_key(error: &hearith_bfv::Error) -> PyErr {
    match error.kind() {
        LatticeKind::Random(_) => PyOSError::new_err(error.to_string()),
        kind => raise::<InvalidKeyError>(kind.to_string(), Place { row: None, column: None }, kind, error.source()),
    }
}

/// An operation on batched vectors or their totals failed. Rows are indices of their numbers.
pub(crate) fn lattice(error: &hearith_bfv::Error) -> PyErr {
    let place = Place { row: error.row().map(|row| row as u64), column: None };
    raise_lattice(error.kind(), error.kind().to_string(), place, error.source())
}

fn raise_lattice(kind: &LatticeKind, text: String, place: Place, source: Option<&(dyn StdError + 'static)>) -> PyErr {
    match kind {
        LatticeKind::Differs("the key" | "the parameter set") => raise::<KeyMismatchError>(text, place, kind, source),
        LatticeKind::Differs(_) | LatticeKind::Rows { .. } => raise::<ShapeError>(text, place, kind, source),
        LatticeKind::OutOfRange { .. } | LatticeKind::Bits { .. } | LatticeKind::Noise | LatticeKind::NoRoom => {
            raise::<RangeError>(text, place, kind, source)
        }
        LatticeKind::Altered | LatticeKind::Malformed(_) | LatticeKind::Count { .. } => {
            raise::<CiphertextError>(text, place, kind, source)
        }
        LatticeKind::Random(_) => PyOSError::new_err(text),
        _ => raise::<HearithError>(text, place, kind, source),
    }
}

/// An operation failed in a local key or in a service.
pub(crate) fn compute(error: ComputeError) -> PyErr {
    match error {
        ComputeError::Batch(error) => operation(error),
        ComputeError::Service(cause) => outside(&*cause),
    }
}

/// A decryption failed in a local key or in a service.
pub(crate) fn decrypt(error: DecryptError) -> PyErr {
    match error {
        DecryptError::Ciphertexts(error) => operation(error),
        DecryptError::Device(cause) => outside(&*cause),
    }
}

/// The error of a service. The Python package knows one kind of service.
fn outside(cause: &(dyn StdError + Send + Sync + 'static)) -> PyErr {
    match cause.downcast_ref() {
        Some(error) => service(error),
        None => HearithError::new_err(cause.to_string()),
    }
}

/// A service rejected a request or is unavailable.
pub(crate) fn service(error: &client::Error) -> PyErr {
    use client::ErrorKind as Kind;
    let place = Place { row: error.row().map(|row| row as u64), column: None };
    let text = format!("{}: {}", error.url(), error.kind());
    let (kind, source) = (error.kind(), StdError::source(error));
    let Kind::Refused { reason, .. } = kind else { return raise::<ServiceError>(text, place, kind, source) };
    match reason {
        ErrorReason::BadNumber => raise::<CiphertextError>(text, place, reason, source),
        ErrorReason::BadKey => raise::<InvalidKeyError>(text, place, reason, source),
        _ => raise::<ServiceError>(text, place, reason, source),
    }
}

/// An operation on encrypted bits failed.
pub(crate) fn bits(error: &hearith_dghv::Error) -> PyErr {
    use hearith_dghv::ErrorKind as Kind;
    let place = Place { row: error.row().map(|row| row as u64), column: None };
    let (text, kind, source) = (error.kind().to_string(), error.kind(), error.source());
    match kind {
        Kind::OtherKey | Kind::KeysDiffer => raise::<KeyMismatchError>(text, place, kind, source),
        Kind::OutOfRange => raise::<CiphertextError>(text, place, kind, source),
        Kind::NoiseExhausted { .. } | Kind::Level { .. } => raise::<RangeError>(text, place, kind, source),
        Kind::UnequalLengths { .. } | Kind::Inputs { .. } => raise::<ShapeError>(text, place, kind, source),
        Kind::UnknownName { .. }
        | Kind::Parameters { .. }
        | Kind::MalformedKey { .. }
        | Kind::Ladder { .. }
        | Kind::NoLadder
        | Kind::LadderTooLarge { .. } => raise::<InvalidKeyError>(text, place, kind, source),
        Kind::Random(_) => PyOSError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

/// A conversion between residue number systems failed.
pub(crate) fn residues(error: &hearith_rns::Error) -> PyErr {
    use hearith_rns::ErrorKind as Kind;
    let column = error.column().map(|column| column.to_string());
    let place = Place { row: error.row().map(|row| row as u64), column };
    let (text, kind) = (error.kind().to_string(), error.kind());
    match kind {
        Kind::TooLong { .. } | Kind::ResidueTooLarge { .. } => {
            raise::<RangeError>(text, place, kind, StdError::source(error))
        }
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// An insecure key that the caller did not explicitly accept.
pub(crate) fn insecure(text: &'static str) -> PyErr {
    PyErr::new::<InvalidKeyError, _>((text, None::<u64>, None::<String>, "insecure_key"))
}

/// A text is not a circuit.
pub(crate) fn circuit(error: hearith_dghv::circuit::CircuitError) -> PyErr {
    raise::<CircuitError>(error.to_string(), Place { row: None, column: None }, error.kind(), None)
}

/// Input values do not have the numbers of bits that a circuit expects.
pub(crate) fn inputs(expected: &[usize], found: &[usize]) -> PyErr {
    let text = format!("the circuit's input values have {expected:?} bits, but {found:?} were given");
    PyErr::new::<ShapeError, _>((text, None::<u64>, None::<String>, "inputs"))
}

/// A file of a key (`T` is `InvalidKeyError`) or of encrypted bits (`CiphertextError`) cannot be
/// read.
pub(crate) fn file<T: PyTypeInfo>(path: &Path, error: FormatError) -> PyErr {
    match error.into_io() {
        Ok(error) => io(path, &error),
        Err(error) => {
            let place = Place { row: error.row(), column: None };
            let text = format!("{}: {}", path.display(), error.kind());
            raise::<T>(text, place, error.kind(), StdError::source(&error))
        }
    }
}

/// The operating system reported an error for a file.
pub(crate) fn io(path: &Path, error: &io::Error) -> PyErr {
    match error.raw_os_error() {
        Some(number) => PyOSError::new_err((number, message(error), path.to_owned())),
        None => PyOSError::new_err(format!("{}: {error}", path.display())),
    }
}

/// Raises an error of the scheme. A slot becomes a column.
fn raise_paillier<T: PyTypeInfo>(error: &Error) -> PyErr {
    let row = error.row().map(|row| row as u64);
    let place = Place { row, column: error.slot().map(|slot| format!("slot {slot}")) };
    raise::<T>(error.kind().to_string(), place, error.kind(), error.source())
}

/// Raises one of the package's exceptions, which accept text, row, column and kind.
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

/// Converts a source, with its own sources as its cause.
fn chain(py: Python<'_>, source: &(dyn StdError + 'static)) -> PyErr {
    let error = HearithError::new_err(source.to_string());
    error.set_cause(py, source.source().map(|deeper| chain(py, deeper)));
    error
}

/// The name of an enum variant in Python's spelling: `TooManyDigits { .. }` is `too_many_digits`.
fn name(kind: &dyn Debug) -> String {
    let mut variant = Variant(String::new());
    // Writing fails after the name, so that fields are never formatted.
    let _ = write!(variant, "{kind:?}");
    variant.0
}

/// Records the first word that is written.
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
