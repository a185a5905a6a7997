//! The crate's error type, which states what is wrong with the input and in which row. No error
//! carries a plaintext, key material or text that may contain them.

use crate::{KeyId, MAX_BITS, MAX_ITERATIONS, MIN_BITS, MIN_ITERATIONS, MIN_SUBGROUP_BITS, Weakness};
use hearith_arith::ArithError;
use std::fmt;

/// An invalid input or a failed operation, with its position in the batch.
///
/// Rows and slots are counted from 0. The text states the position first:
/// `row 4: the ciphertext is 0`.
///
/// ```
/// use hearith_paillier::{Error, ErrorKind};
/// let error = ErrorKind::OutOfRange.at_row(4);
/// assert_eq!((error.kind(), error.row(), error.slot()), (&ErrorKind::OutOfRange, Some(4), None));
/// assert_eq!(error.offset_rows(1000).to_string(), "row 1004: the number is out of range");
/// assert_eq!(Error::from(ErrorKind::OutOfRange).to_string(), "the number is out of range");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Located>);

#[derive(Clone, PartialEq, Eq)]
struct Located {
    row: Option<usize>,
    slot: Option<usize>,
    kind: ErrorKind,
}

impl Error {
    /// The kind of error.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The row of the batch that caused the error, counted from 0, if there is one.
    pub fn row(&self) -> Option<usize> {
        self.0.row
    }

    /// The slot of that row, counted from 0, if rows hold several numbers.
    pub fn slot(&self) -> Option<usize> {
        self.0.slot
    }

    /// Sets the row.
    pub fn at_row(mut self, row: usize) -> Self {
        self.0.row = Some(row);
        self
    }

    /// Sets the slot within the row.
    pub fn at_slot(mut self, slot: usize) -> Self {
        self.0.slot = Some(slot);
        self
    }

    /// Adds `rows` to the row, for a batch that starts at that row of a larger one.
    pub fn offset_rows(mut self, rows: usize) -> Self {
        self.0.row = self.0.row.map(|row| row.saturating_add(rows));
        self
    }
}

impl<K: Into<ErrorKind>> From<K> for Error {
    fn from(kind: K) -> Self {
        Error(Box::new(Located { row: None, slot: None, kind: kind.into() }))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Located { row, slot, kind } = &*self.0;
        match (row, slot) {
            (Some(row), Some(slot)) => write!(f, "row {row}, slot {slot}: {kind}"),
            (Some(row), None) => write!(f, "row {row}: {kind}"),
            (None, _) => kind.fmt(f),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Located { row, slot, kind } = &*self.0;
        f.debug_struct("Error").field("row", row).field("slot", slot).field("kind", kind).finish()
    }
}

impl std::error::Error for Error {
    /// The underlying failure of the random generator or of the arithmetic.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.kind.source()
    }
}

/// The kind of an error. The text does not state the position; see [`Error`].
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The key size is odd. `p` and `q` have the same length, so `n` has an even number of bits.
    #[error("the key size must be even, not {bits} bits")]
    OddKeySize {
        /// The requested size in bits.
        bits: u32,
    },
    /// The key size is outside the range that the arithmetic supports.
    #[error("a key of {bits} bits is not supported: keys must have {MIN_BITS} to {MAX_BITS} bits")]
    KeySizeOutOfRange {
        /// The requested size in bits.
        bits: u32,
    },
    /// The key offers no security.
    #[error("{0} is insecure: {needed} unless insecure keys are allowed explicitly", needed = .0.requirement())]
    InsecureKey(Weakness),
    /// The text is not JSON, or not the JSON of a key.
    #[error("not a JSON Web Key: line {line}, column {column}")]
    KeyJson {
        /// Line of the text, counted from 1.
        line: usize,
        /// Column of the line, counted from 1.
        column: usize,
    },
    /// The text is longer than any key.
    #[error("{bytes} bytes are too long for a key")]
    KeyTooLong {
        /// Length of the text in bytes.
        bytes: usize,
    },
    /// A part of an encrypted number's description is out of range.
    #[error("{part} of the encrypted number is out of range")]
    Description {
        /// The name of the part.
        part: &'static str,
    },
    /// An encrypted number has a different length than its description states.
    #[error("{bytes} bytes are not an encrypted number: it was truncated or altered")]
    DescriptionBytes {
        /// Length of the input in bytes.
        bytes: usize,
    },
    /// The text is not that of an encrypted number.
    #[error("not an encrypted number: expected he1:KEY:BITS:SCALE:RANGE:HEADROOM:ADDITIONS:CIPHERTEXT")]
    DescriptionText,
    /// A result counts as more additions than its headroom allows.
    #[error("the result exceeds the headroom of {headroom} additions")]
    HeadroomExhausted {
        /// Number of additions that the headroom allows.
        headroom: u64,
    },
    /// The JSON Web Key is encrypted where an unencrypted one is required.
    #[error("the private key is encrypted: its passphrase is needed")]
    EncryptedKey,
    /// The text is a trustee's share of a private key.
    #[error("this is a share of a private key, which decrypts only together with other shares")]
    ShareOfKey,
    /// The passphrase does not decrypt the encrypted key.
    #[error("the passphrase is wrong, or the encrypted key was changed")]
    WrongPassphrase,
    /// The passphrase is empty, so the key is not encrypted.
    #[error("the passphrase is empty")]
    EmptyPassphrase,
    /// The passphrase decrypts the encrypted key, but the key was changed.
    #[error("the encrypted key is damaged")]
    DamagedKey,
    /// The number of PBKDF2 rounds is too small to protect a passphrase or too large to wait for.
    #[error("{iterations} rounds of PBKDF2 are out of range: {MIN_ITERATIONS} to {MAX_ITERATIONS} are accepted")]
    Iterations {
        /// Rounds that the encrypted key asks for, capped at `u32::MAX`.
        iterations: u32,
    },
    /// The text is not python-paillier's JSON of ciphertexts.
    #[error("not python-paillier's JSON: line {line}, column {column}: {problem}")]
    PheJson {
        /// Line of the text, counted from 1.
        line: usize,
        /// Column of the line, counted from 1.
        column: usize,
        /// The problem.
        problem: &'static str,
    },
    /// A member of a key's or a ciphertext's JSON object is missing or has invalid content.
    #[error("member '{member}' {problem}")]
    Member {
        /// Name of the member.
        member: &'static str,
        /// The problem with its content.
        problem: &'static str,
    },
    /// The name is unknown.
    #[error("unknown {what}: choose one of {known}")]
    UnknownName {
        /// The kind of thing that it should name.
        what: &'static str,
        /// The known names.
        known: &'static str,
    },
    /// The text is not a key ID.
    #[error("not a key ID: expected 32 lower-case hexadecimal digits")]
    NotAKeyId,
    /// `n` cannot be a product of two large primes.
    #[error("the modulus n is divisible by {factor}")]
    SmallFactor {
        /// The factor that was found.
        factor: u64,
    },
    /// `n` is a square, so decryption is ambiguous.
    #[error("the modulus n is a square")]
    SquareModulus,
    /// A factor of the private key is not prime.
    #[error("the factor {factor} of the private key is not prime")]
    NotPrime {
        /// `"p"` or `"q"`.
        factor: &'static str,
    },
    /// `p` and `q` are equal or differ in length.
    #[error("the primes of the private key must be different and of equal length")]
    UnequalPrimes,
    /// The product of the primes is not the public modulus.
    #[error("the primes of the private key do not belong to its public modulus")]
    WrongPrimes,
    /// The generator `h` of a DJN key is not `-x^2` for a unit `x`, or the primes are not 3
    /// modulo 4. The generator of a subgroup key does not have the order `2 p q`.
    #[error("the key's generator h is not valid")]
    InvalidGenerator,
    /// The key is shorter than the subgroup variant supports.
    #[error(
        "a subgroup key of {bits} bits is not supported: subgroup keys must have at least {MIN_SUBGROUP_BITS} bits"
    )]
    SubgroupKeySize {
        /// The requested size in bits.
        bits: u32,
    },
    /// The randomisers' exponents of a subgroup key are too short to hide anything, or longer than
    /// those of a DJN key.
    #[error(
        "exponents of {bits} bits are not valid for a subgroup key of this size: they must have {least} to {most} bits"
    )]
    ExponentLength {
        /// The stated length in bits.
        bits: u32,
        /// Minimum length in bits.
        least: u32,
        /// Maximum length in bits.
        most: u32,
    },
    /// The private part of a subgroup key is invalid.
    #[error("the private subgroup key is not valid: {problem}")]
    InvalidSubgroup {
        /// The problem.
        problem: &'static str,
    },
    /// The ciphertext's randomiser is not one of the subgroup key's, or the ciphertext shares a
    /// factor with `n`.
    #[error(
        "the ciphertext was not made with this subgroup key's randomisers (for rows from other sources, choose the slower \
         decryption that accepts any randomiser)"
    )]
    ForeignRandomiser,
    /// The operation needs a key of another variant: shares of a key and elections do not support
    /// subgroup keys.
    #[error("a subgroup key cannot be used for {what}: choose the variant {instead}")]
    NotForSubgroup {
        /// The operation that does not support subgroup keys.
        what: &'static str,
        /// The variant that supports it.
        instead: &'static str,
    },
    /// The ciphertext is 0.
    #[error("the ciphertext is 0")]
    CiphertextZero,
    /// The ciphertext is `n^2` or more: truncated, damaged or encrypted under another key.
    #[error("the ciphertext is not below n^2")]
    CiphertextTooLarge,
    /// The ciphertext shares a factor with `n`.
    #[error("the ciphertext shares a factor with n")]
    CiphertextSharesFactor,
    /// Plaintexts of a batch do not match its ciphertexts: the decrypting processor or device is
    /// faulty. The affected rows are unknown.
    #[error("the decryption is wrong: the processor or device that computed it is faulty, and the batch was discarded")]
    WrongDecryption,
    /// A ciphertext does not encrypt the given plaintext with the given opening.
    #[error("the ciphertext does not encrypt this plaintext with this opening")]
    WrongOpening,
    /// The key has no generator, which short openings need.
    #[error("the key has no generator, which short openings need: use a DJN or subgroup key")]
    NoGenerator,
    /// A short opening has more bits than the key allows.
    #[error("a short opening of {bits} bits is too long: this key allows at most {most} bits")]
    OpeningTooLong {
        /// The requested length in bits.
        bits: u32,
        /// Maximum length in bits under this key.
        most: u32,
    },
    /// A batch belongs to another key.
    #[error("the data belongs to key {found}, not to key {expected}")]
    WrongKey {
        /// ID of the key in use.
        expected: KeyId,
        /// ID of the key that the batch belongs to.
        found: KeyId,
    },
    /// Two batches that are combined row by row have different lengths.
    #[error("the batches must have the same number of rows, not {left} and {right}")]
    Lengths {
        /// Rows of the first batch.
        left: usize,
        /// Rows of the second batch.
        right: usize,
    },
    /// The row is out of range.
    #[error("the row number is out of range: the batch has {rows} rows")]
    NoSuchRow {
        /// Number of rows in the batch.
        rows: usize,
    },
    /// The batch of a dot product is not a multiple of `terms` rows.
    #[error("the number of rows ({rows}) is not a multiple of the number of terms per sum ({terms})")]
    Terms {
        /// Terms of each sum.
        terms: usize,
        /// Number of rows in the batch.
        rows: usize,
    },
    /// A scalar exceeds its declared length.
    #[error("the scalar has more than {bits} bits")]
    ScalarTooLarge {
        /// The declared length in bits.
        bits: u32,
    },
    /// The pool holds fewer randomisers than the operation needs.
    #[error("{needed} randomisers are needed, but the pool has only {left} left")]
    PoolExhausted {
        /// Randomisers needed.
        needed: usize,
        /// Randomisers left.
        left: usize,
    },
    /// The byte length is not a multiple of the row width.
    #[error("expected whole rows of {width} bytes, not {bytes} bytes")]
    Width {
        /// Bytes of a row.
        width: usize,
        /// Length of the input in bytes.
        bytes: usize,
    },
    /// A plaintext is `n` or more.
    #[error("the plaintext is not below n")]
    PlaintextTooLarge,
    /// A number is out of range for the key, the layout, a float or 128 bits.
    #[error("the number is out of range")]
    OutOfRange,
    /// The slots do not fit into a plaintext.
    #[error("{slots} slots of {slot_bits} bits do not fit into a key of {key_bits} bits; {} would", fitting(*.fits))]
    DoesNotFit {
        /// Requested number of slots.
        slots: usize,
        /// Bits of each slot.
        slot_bits: u32,
        /// Bits of the key.
        key_bits: u32,
        /// Number of slots of this size that would fit.
        fits: usize,
    },
    /// A layout needs at least one slot and capacity for at least one addition.
    #[error("a layout needs at least one slot and one addition")]
    EmptyLayout,
    /// The number of values is not a multiple of the slots per row.
    #[error("the number of values ({values}) is not a multiple of the number of slots per row ({slots})")]
    PartialRow {
        /// Number of values.
        values: usize,
        /// Slots of each row.
        slots: usize,
    },
    /// The text is not a decimal number.
    #[error("not a decimal number")]
    NotANumber,
    /// The number has more decimal places than the scale.
    #[error("more than {scale} decimal places")]
    TooManyPlaces {
        /// Decimal places of the scale.
        scale: u32,
    },
    /// The number is infinite or NaN, which have no encoding.
    #[error("not a finite number")]
    NotFinite,
    /// Without the private key, an exponent can only be lowered, and only within limits.
    #[error("exponent {from} cannot be changed to {to}")]
    Exponent {
        /// The current exponent.
        from: i32,
        /// The requested exponent.
        to: i32,
    },
    /// The operating system's random generator failed.
    #[error("the operating system's random generator failed: {0}")]
    Randomness(#[from] getrandom::Error),
    /// The arithmetic rejects a modulus or an engine.
    #[error(transparent)]
    Arithmetic(#[from] ArithError),
}

impl ErrorKind {
    /// The error at this row, counted from 0.
    pub fn at_row(self, row: usize) -> Error {
        Error::from(self).at_row(row)
    }

    /// Whether the error is a malformed ciphertext: 0, not below `n^2`, sharing a factor with `n`,
    /// or foreign to a subgroup key.
    pub fn is_bad_ciphertext(&self) -> bool {
        use ErrorKind::{CiphertextSharesFactor, CiphertextTooLarge, CiphertextZero, ForeignRandomiser};
        matches!(self, CiphertextZero | CiphertextTooLarge | CiphertextSharesFactor | ForeignRandomiser)
    }

    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ErrorKind::Randomness(error) => Some(error),
            ErrorKind::Arithmetic(error) => Some(error),
            _ => None,
        }
    }
}

/// The number of slots that fit, in words if it is 0.
fn fitting(slots: usize) -> String {
    if slots == 0 { "not even one".to_owned() } else { slots.to_string() }
}
