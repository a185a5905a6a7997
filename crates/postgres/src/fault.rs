//! Errors and their SQLSTATE codes.

use hearith_paillier::{Error, ErrorKind, KeyId};
use pgrx::PgLogLevel;
use pgrx::PgSqlErrorCode::{self, *};
use pgrx::pg_sys::panic::ErrorReport;

/// Why a function has no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// The text of a value is invalid.
    #[error("invalid input for type ciphertext: {0}")]
    Text(Error),
    /// The bytes of a value are invalid.
    #[error("invalid bytes for type ciphertext: {0}")]
    Bytes(Error),
    /// Text is not UTF-8.
    #[error("the text is not UTF-8")]
    NotText,
    /// A value is not a ciphertext of the key that it names.
    #[error("a value is not a ciphertext of key {key}: {fault}")]
    Ciphertext { key: KeyId, fault: Error },
    /// Two values have different keys.
    #[error("values of different keys cannot be added: {0} and {1}")]
    Keys(KeyId, KeyId),
    /// The key is not in hearith.keys.
    #[error("key {0} is not in hearith.keys: SELECT he_load_key('...') with its JSON, or ask a role that can")]
    NoKey(KeyId),
    /// A key cannot be used.
    #[error("key {id} in hearith.keys: {error}{}", hint(.error))]
    StoredKey { id: String, error: Error },
    /// A given key cannot be used.
    #[error("{0}{hint}", hint = hint(.0))]
    Key(Error),
    /// A private key was given instead of a public key.
    #[error(
        "this is a private key, which PostgreSQL must never have, and it is part of a query: logs and \
         statistics may contain it. Consider it exposed: generate a new key pair and load its public key"
    )]
    Private,
    /// A factor or addend is not a supported number.
    #[error("cannot compute with {0}: {1}")]
    Numeric(String, Error),
    /// An invalid minimum number of rows.
    #[error("min_rows must be at least 1 and the same in all rows")]
    MinRows,
    /// An aggregate's function was called directly.
    #[error("this function can only be called by an aggregate")]
    NoAggregate,
    /// A trigger's function was called directly.
    #[error("this function can only be called by a trigger")]
    NoTrigger,
    /// The aggregate state from another process is damaged.
    #[error("the state of an aggregate is damaged")]
    State,
    /// Memory for the arithmetic is not available.
    #[error("out of memory")]
    Memory,
    /// The scheme reports an error.
    #[error(transparent)]
    Operation(#[from] Error),
    /// PostgreSQL rejects one of the extension's queries.
    #[error("hearith.keys cannot be read: {0}")]
    Table(String),
    /// A defect of Hearith.
    #[error("internal error, a bug in Hearith: {0}")]
    Defect(&'static str),
}

impl Fault {
    /// Raises the fault as a PostgreSQL error.
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
            Fault::NoAggregate | Fault::NoTrigger => ERRCODE_FEATURE_NOT_SUPPORTED,
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
