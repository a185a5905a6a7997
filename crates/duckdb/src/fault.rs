//! Errors in a query's input.

use std::sync::Arc;

use hearith_paillier::{Error, ErrorKind, KeyId};

/// Why a function has no result.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// No public key is loaded.
    #[error("no key is loaded: SELECT he_load_key('public.json') first")]
    NoKey,
    /// Several keys are loaded and none is named.
    #[error("{} keys are loaded: name one as the last argument: {}", .0.len(), list(.0))]
    SeveralKeys(Vec<KeyId>),
    /// The named key is not loaded.
    #[error("no key with the id \"{}\" is loaded{}", .name.escape_debug(), also(.loaded))]
    UnknownKey { name: String, loaded: Vec<KeyId> },
    /// The argument that names the key is null.
    #[error("the key's id is NULL")]
    NullKey,
    /// Different rows name different keys.
    #[error("the key's id must be the same in all rows")]
    DifferentKeys,
    /// The partial sums have different keys.
    #[error("the key changed while the query ran: from {0} to {1}")]
    KeyChanged(KeyId, KeyId),
    /// A value does not have the length of a ciphertext.
    #[error(
        "a value of {bytes} bytes is not a ciphertext of key {key}, whose ciphertexts have {expected} bytes; {FIND}"
    )]
    Width { bytes: usize, key: KeyId, expected: usize },
    /// A value is not a ciphertext.
    #[error("a value is not a ciphertext of key {key}: {fault}; {FIND}")]
    Ciphertext { key: KeyId, fault: ErrorKind },
    /// A total is not a ciphertext.
    #[error("a summed value is not a ciphertext of key {0}: it shares a factor with n; {FIND}")]
    NotCoprime(KeyId),
    /// A decrypted number exceeds SQL's longest integers.
    #[error(
        "a decrypted number has more than 127 bits: the column is packed or from phe, or the total is wrong; decrypt \
         the table with its description instead, with PrivateKey.decrypt_columns in Python or on the command line"
    )]
    TooLong,
    /// The scheme reports an error.
    #[error(transparent)]
    Operation(#[from] Error),
    /// A GPU or its driver fails.
    #[error("{0}")]
    Card(#[source] Arc<dyn std::error::Error + Send + Sync>),
    /// A key file cannot be read.
    #[error("cannot read the key file {path}: {reason}")]
    File { path: String, reason: String },
    /// A key file holds no usable key.
    #[error("{path}: {error}{}", hint(.error))]
    Key {
        path: String,
        #[source]
        error: Error,
    },
    /// A private key's file was given instead of a public key's.
    #[error(
        "{path}: this is a private key, which {function} does not accept; it was read into this process and wiped. \
         If it is not encrypted, anyone who can run queries here can SET hearith_private_key to this file and decrypt \
         with it: keep it where this process cannot read it, and load the public key"
    )]
    PrivateFile { function: &'static str, path: String },
    /// A private key's text is in a query.
    #[error(
        "this is a private key, which he_load_key does not accept, and it is part of the query: logs, histories and \
         profiles of this session may contain it. Consider it exposed: generate a new key pair and load its public \
         key"
    )]
    PrivateText,
    /// A factor has a type that DuckDB converts to DOUBLE, which may lose digits.
    #[error(
        "a ciphertext can be multiplied by integers of at most 128 bits with sign (HUGEINT) or by BOOLEAN, not by a \
         DECIMAL, FLOAT or DOUBLE, nor by a UHUGEINT or BIGNUM: CAST(k AS HUGEINT) keeps integers and rounds others; \
         CAST(k * 100 AS HUGEINT) keeps two digits, and decrypted totals must then be divided by 100"
    )]
    Fraction,
    /// A BFV key file holds no usable key.
    #[error("{path}: {error}")]
    LatticeKey {
        path: String,
        #[source]
        error: hearith_bfv::Error,
    },
    /// BFV reports an error.
    #[error(transparent)]
    Lattice(#[from] hearith_bfv::Error),
    /// A file cannot be summed.
    #[error("{path}: {reason}")]
    Table { path: String, reason: String },
    /// An argument is missing or null.
    #[error("{0} is missing")]
    NoArgument(&'static str),
    /// A key is encrypted, and no passphrase is set.
    #[error("{path}: the private key is encrypted: SET hearith_passphrase_file to its passphrase file first")]
    NoPassphrase { path: String },
    /// Decryption without a private key.
    #[error("SET hearith_private_key = 'private.json' (the private key file) first")]
    NoPrivateKey,
    /// DuckDB rejects an operation.
    #[error("DuckDB rejects {0}")]
    Host(&'static str),
    /// A defect of Hearith.
    #[error("internal error, a bug in Hearith: {0}")]
    Panic(String),
}

impl Fault {
    pub(crate) fn card(error: hearith_device::Error) -> Self {
        Fault::Card(Arc::new(error))
    }
}

/// How to find values that are not ciphertexts. Errors do not show such values, because they may be
/// plaintexts.
const FIND: &str = "rows where he_key_id(...) IS NULL contain no ciphertext";

fn list(keys: &[KeyId]) -> String {
    keys.iter().map(KeyId::to_string).collect::<Vec<_>>().join(", ")
}

fn also(loaded: &[KeyId]) -> String {
    if loaded.is_empty() { String::new() } else { format!("; loaded: {}", list(loaded)) }
}

fn hint(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::InsecureKey(_) => " (SET hearith_allow_insecure_keys = true allows them)",
        _ => "",
    }
}
