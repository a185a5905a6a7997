//! Errors in a query's input.

use std::sync::Arc;

use hearith_paillier::{Error, ErrorKind, KeyId};

/// Why a function cannot give its result.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// No public key is loaded.
    #[error("no key is loaded: SELECT he_load_key('public.json') first")]
    NoKey,
    /// Several are, and none is named.
    #[error("{} keys are loaded: name one as the last argument: {}", .0.len(), list(.0))]
    SeveralKeys(Vec<KeyId>),
    /// The key named is not loaded.
    #[error("no key with the id \"{}\" is loaded{}", .name.escape_debug(), also(.loaded))]
    UnknownKey { name: String, loaded: Vec<KeyId> },
    /// The key is named by an argument that is null.
    #[error("the key's id is NULL")]
    NullKey,
    /// Different rows name different keys.
    #[error("the key's id must be the same in all rows")]
    DifferentKeys,
    /// The parts of a sum were made with different keys.
    #[error("the key changed while the query ran: from {0} to {1}")]
    KeyChanged(KeyId, KeyId),
    /// A value has not the length of a ciphertext.
    #[error("a value of {bytes} bytes is not a ciphertext of key {key}, which have {expected} bytes; {FIND}")]
    Width { bytes: usize, key: KeyId, expected: usize },
    /// A value is not a ciphertext.
    #[error("a value is not a ciphertext of key {key}: {fault}; {FIND}")]
    Ciphertext { key: KeyId, fault: ErrorKind },
    /// A total is not a ciphertext.
    #[error("a summed value is not a ciphertext of key {0}: it shares a factor with n; {FIND}")]
    NotCoprime(KeyId),
    /// A number decrypted is longer than SQL's longest integers.
    #[error(
        "a number decrypted has more than 127 bits: a packed or phe column, or a total that is wrong; decrypt the \
         table with its description instead, with PrivateKey.decrypt_columns of the Python package or with the \
         command line"
    )]
    TooLong,
    /// The scheme refuses.
    #[error(transparent)]
    Operation(#[from] Error),
    /// A card, or its driver, fails.
    #[error("{0}")]
    Card(#[source] Arc<dyn std::error::Error + Send + Sync>),
    /// A key file cannot be read.
    #[error("cannot read the key file {path}: {reason}")]
    File { path: String, reason: String },
    /// A key file holds no key that may be used.
    #[error("{path}: {error}{}", hint(.error))]
    Key {
        path: String,
        #[source]
        error: Error,
    },
    /// A private key's file where a public key belongs.
    #[error(
        "{path}: this is a private key, of which {function} takes none; it has been read into this process, and wiped. \
         Whoever can run queries here can SET hearith_private_key to the same file and decrypt with it, if it is not \
         encrypted: keep it where this process cannot read it, and load the public key"
    )]
    PrivateFile { function: &'static str, path: String },
    /// A private key's text in a query.
    #[error(
        "this is a private key, of which he_load_key takes none, and it stands in the query: logs, histories and \
         profiles of this session may hold it. Take it as exposed: make another, and load its public key"
    )]
    PrivateText,
    /// A factor of a type that DuckDB converts to DOUBLE, which may lose digits.
    #[error(
        "a ciphertext is multiplied by whole numbers of at most 128 bits with their sign (HUGEINT) or BOOLEAN, not by \
         a DECIMAL, FLOAT or DOUBLE, nor by a UHUGEINT or BIGNUM: CAST(k AS HUGEINT) keeps whole numbers and rounds \
         others; CAST(k * 100 AS HUGEINT) keeps two digits, and decrypted totals are then to be divided by 100"
    )]
    Fraction,
    /// The same of a key of BFV.
    #[error("{path}: {error}")]
    LatticeKey {
        path: String,
        #[source]
        error: hearith_bfv::Error,
    },
    /// BFV refuses.
    #[error(transparent)]
    Lattice(#[from] hearith_bfv::Error),
    /// A file cannot be added up.
    #[error("{path}: {reason}")]
    Table { path: String, reason: String },
    /// An argument is missing or null.
    #[error("{0} is missing")]
    NoArgument(&'static str),
    /// A key is encrypted, and nobody said under which passphrase.
    #[error("{path}: the private key is encrypted: SET hearith_passphrase_file to the file of its passphrase first")]
    NoPassphrase { path: String },
    /// Decryption without a key.
    #[error("SET hearith_private_key = 'private.json' first: the file of the private key")]
    NoPrivateKey,
    /// DuckDB refuses something.
    #[error("DuckDB rejects {0}")]
    Host(&'static str),
    /// A defect.
    #[error("an internal error, which is a defect of Hearith: {0}")]
    Panic(String),
}

impl Fault {
    pub(crate) fn card(error: hearith_device::Error) -> Self {
        Fault::Card(Arc::new(error))
    }
}

/// How to find values that are no ciphertexts. Errors show none of them: what is no ciphertext may
/// be a plaintext.
const FIND: &str = "rows with he_key_id(...) IS NULL hold no ciphertext";

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
