//! What can be wrong, and the SQLSTATE that says so.

use hearith_paillier::{Error, ErrorKind, KeyId};
use pgrx::PgLogLevel;
use pgrx::PgSqlErrorCode::{self, *};
use pgrx::pg_sys::panic::ErrorReport;

/// Why a function gives no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// The text of a value cannot be read.
    #[error("invalid input for type ciphertext: {0}")]
    Text(Error),
    /// The bytes of a value cannot be read.
    #[error("invalid bytes for type ciphertext: {0}")]
    Bytes(Error),
    /// Text is not UTF-8.
    #[error("the text is not UTF-8")]
    NotText,
    /// A value is not a ciphertext of the key that it names.
    #[error("a value is not a ciphertext of key {key}: {fault}")]
    Ciphertext { key: KeyId, fault: Error },
    /// Two values are of different keys.
    #[error("values of different keys cannot be added: {0} and {1}")]
    Keys(KeyId, KeyId),
    /// The key is not in hearith.keys.
    #[error("key {0} is not in hearith.keys: SELECT he_load_key('...') with its JSON, or ask a role that may")]
    NoKey(KeyId),
    /// A key cannot be used.
    #[error("key {id} in hearith.keys: {error}{}", hint(.error))]
    StoredKey { id: String, error: Error },
    /// A key given cannot be used.
    #[error("{0}{hint}", hint = hint(.0))]
    Key(Error),
    /// A private key where a public key belongs.
    #[error(
        "this is a private key, of which PostgreSQL must have none, and it stands in a query: logs and \
         statistics may hold it. Take it as exposed: make another, and load its public key"
    )]
    Private,
    /// A factor or addend that is no plain number.
    #[error("{0} cannot be computed with: {1}")]
    Numeric(String, Error),
    /// A least number of rows that is none.
    #[error("min_rows is 1 or more, and the same in all rows")]
    MinRows,
    /// An aggregate's function was called by hand.
    #[error("this function can only be called by an aggregate")]
    NoAggregate,
    /// The state of an aggregate that another process sent is damaged.
    #[error("the state of an aggregate is damaged")]
    State,
    /// Memory for the arithmetic cannot be had.
    #[error("out of memory")]
    Memory,
    /// The scheme refuses.
    #[error(transparent)]
    Operation(#[from] Error),
    /// PostgreSQL refuses a query of ours.
    #[error("hearith.keys cannot be read: {0}")]
    Table(String),
    /// A defect.
    #[error("an internal error, which is a defect of Hearith: {0}")]
    Defect(&'static str),
}

impl Fault {
    /// Raises this as an error of PostgreSQL.
    pub(crate) fn report(self, function: &'static str) -> ! {
        ErrorReport::new(self.state(), self.to_string(), function).report(PgLogLevel::ERROR);
        unreachable!("an error is raised")
    }

    fn state(&self) -> PgSqlErrorCode {
        match self {
            Fault::Text(_) => ERRCODE_INVALID_TEXT_REPRESENTATION,
            Fault::Bytes(_) => ERRCODE_INVALID_BINARY_REPRESENTATION,
            Fault::NotText => ERRCODE_CHARACTER_NOT_IN_REPERTOIRE,
            Fault::Ciphertext { .. } | Fault::State => ERRCODE_DATA_CORRUPTED,
            Fault::Keys(..) | Fault::MinRows => ERRCODE_DATA_EXCEPTION,
            Fault::NoKey(_) => ERRCODE_UNDEFINED_OBJECT,
            Fault::StoredKey { .. } | Fault::Key(_) | Fault::Private => ERRCODE_INVALID_PARAMETER_VALUE,
            Fault::Numeric(..) => ERRCODE_INVALID_PARAMETER_VALUE,
            Fault::NoAggregate => ERRCODE_FEATURE_NOT_SUPPORTED,
            Fault::Memory => ERRCODE_OUT_OF_MEMORY,
            Fault::Table(_) => ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            Fault::Operation(error) => match error.kind() {
                ErrorKind::HeadroomExhausted { .. } | ErrorKind::DoesNotFit { .. } | ErrorKind::Description { .. } => {
                    ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE
                }
                ErrorKind::WrongKey { .. } => ERRCODE_DATA_EXCEPTION,
                _ => ERRCODE_INTERNAL_ERROR,
            },
            Fault::Defect(_) => ERRCODE_INTERNAL_ERROR,
        }
    }
}

fn hint(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::InsecureKey(_) => " (a superuser can SET hearith.allow_insecure_keys = on)",
        _ => "",
    }
}
