//! Everything that can be wrong with the input: one error, which says what is wrong and in which
//! row. No error carries a plaintext, key material or text that may hold it.

use crate::{KeyId, MAX_BITS, MAX_ITERATIONS, MIN_BITS, MIN_ITERATIONS, MIN_SUBGROUP_BITS, Weakness};
use hearith_arith::ArithError;
use std::fmt;

/// What is wrong, and where in a batch.
///
/// Rows and slots are counted from 0. The text names the place first: `row 4: the ciphertext is 0`.
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
    /// What is wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The row of the batch at fault, from 0, if there is one.
    pub fn row(&self) -> Option<usize> {
        self.0.row
    }

    /// The slot of the row at fault, from 0, where rows have several numbers.
    pub fn slot(&self) -> Option<usize> {
        self.0.slot
    }

    /// The same error in this row.
    pub fn at_row(mut self, row: usize) -> Self {
        self.0.row = Some(row);
        self
    }

    /// The same error in this slot of its row.
    pub fn at_slot(mut self, slot: usize) -> Self {
        self.0.slot = Some(slot);
        self
    }

    /// The same error with `rows` added to its row, for a batch that starts there.
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
    /// What lies beneath the kind: the failure of the random generator, or of the arithmetic.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.kind.source()
    }
}

/// What is wrong. The text says nothing of the place; see [`Error`].
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// `p` and `q` have the same length, so `n` has an even number of bits.
    #[error("the key size must be even, not {bits} bits")]
    OddKeySize {
        /// The size given.
        bits: u32,
    },
    /// The key is shorter or longer than the arithmetic goes.
    #[error("a key of {bits} bits is not supported: {MIN_BITS} to {MAX_BITS} bits are")]
    KeySizeOutOfRange {
        /// The size given.
        bits: u32,
    },
    /// The key protects nothing.
    #[error("{0} is insecure: {demand} unless insecure keys are allowed explicitly", demand = .0.demand())]
    InsecureKey(Weakness),
    /// The text is not JSON, or not the JSON of a key.
    #[error("not a JSON Web Key: line {line}, column {column}")]
    KeyJson {
        /// Line of the text, from 1.
        line: usize,
        /// Column of the line, from 1.
        column: usize,
    },
    /// The text is longer than that of any key.
    #[error("{bytes} bytes are too long for a key")]
    KeyTooLong {
        /// Bytes of the text.
        bytes: usize,
    },
    /// A part of an encrypted number's description is out of its range.
    #[error("{part} of the encrypted number is out of range")]
    Description {
        /// The part.
        part: &'static str,
    },
    /// An encrypted number is longer or shorter than its description says.
    #[error("{bytes} bytes are not an encrypted number: it was truncated or altered")]
    DescriptionBytes {
        /// The bytes given.
        bytes: usize,
    },
    /// A text is not that of an encrypted number.
    #[error("not an encrypted number: its text is he1:KEY:BITS:SCALE:RANGE:HEADROOM:ADDITIONS:CIPHERTEXT")]
    DescriptionText,
    /// A result is the sum of more numbers than there is headroom for.
    #[error("the result counts as more additions than the headroom of {headroom}")]
    HeadroomExhausted {
        /// Additions that there is room for.
        headroom: u64,
    },
    /// The JSON Web Key is encrypted, where one in the clear is wanted.
    #[error("the private key is encrypted: its passphrase is needed")]
    EncryptedKey,
    /// The text is a trustee's share of a private key.
    #[error("a share of a private key: it decrypts together with others only")]
    ShareOfKey,
    /// The passphrase does not open the encrypted key.
    #[error("the passphrase is wrong, or the encrypted key was changed")]
    WrongPassphrase,
    /// A key is not encrypted under an empty passphrase.
    #[error("the passphrase is empty")]
    EmptyPassphrase,
    /// The passphrase opens the encrypted key, which was changed all the same.
    #[error("the encrypted key is damaged")]
    DamagedKey,
    /// Too few rounds of PBKDF2 to protect a passphrase, or too many to wait for.
    #[error("{iterations} rounds of PBKDF2 are out of range: {MIN_ITERATIONS} to {MAX_ITERATIONS} are taken")]
    Iterations {
        /// Rounds that the encrypted key asks for, at most `u32::MAX`.
        iterations: u32,
    },
    /// The text is not JSON of python-paillier's ciphertexts.
    #[error("not python-paillier's JSON: line {line}, column {column}: {problem}")]
    PheJson {
        /// Line of the text, from 1.
        line: usize,
        /// Column of the line, from 1.
        column: usize,
        /// What is wrong.
        problem: &'static str,
    },
    /// A member of a JSON object, a key's or a ciphertext's, is missing or has the wrong content.
    #[error("member '{member}' {problem}")]
    Member {
        /// Name of the member.
        member: &'static str,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The name is none of those that there are.
    #[error("no such {what} (there are: {known})")]
    UnknownName {
        /// What it should name.
        what: &'static str,
        /// The names that there are.
        known: &'static str,
    },
    /// The text is not the id of a key.
    #[error("the id of a key is 32 lower-case hexadecimal digits")]
    NotAKeyId,
    /// `n` cannot be a product of two large primes.
    #[error("the modulus n is divisible by {factor}")]
    SmallFactor {
        /// The factor found.
        factor: u64,
    },
    /// `n` is a square, under which decryption has no single answer.
    #[error("the modulus n is a square")]
    SquareModulus,
    /// A factor of the private key is not prime.
    #[error("the factor {factor} of the private key is not prime")]
    NotPrime {
        /// `"p"` or `"q"`.
        factor: &'static str,
    },
    /// `p` and `q` are equal or not of the same length.
    #[error("the primes of the private key must be different and of equal length")]
    UnequalPrimes,
    /// The primes do not make up the public modulus.
    #[error("the primes of the private key do not belong to its public modulus")]
    WrongPrimes,
    /// The generator `h` of a DJN key is not `-x^2` for a unit `x`, or the primes do not suit it.
    #[error("the key's generator h is not valid")]
    InvalidGenerator,
    /// A subgroup key is shorter than this variant goes.
    #[error("a subgroup key of {bits} bits is not supported: {MIN_SUBGROUP_BITS} bits and more are")]
    SubgroupKeySize {
        /// The size given.
        bits: u32,
    },
    /// The randomisers' exponents of a subgroup key are too short to hide anything, or longer than
    /// those of a DJN key.
    #[error("exponents of {bits} bits are not valid for a subgroup key of this size: {least} to {most} bits are")]
    ExponentLength {
        /// Bits given.
        bits: u32,
        /// Bits at least.
        least: u32,
        /// Bits at most.
        most: u32,
    },
    /// The private part of a subgroup key is not what it must be.
    #[error("the private subgroup key is not valid: {problem}")]
    InvalidSubgroup {
        /// What is wrong.
        problem: &'static str,
    },
    /// A ciphertext has a randomiser that is not one of the subgroup key's, or shares a factor with
    /// `n`.
    #[error(
        "the ciphertext was not made with this subgroup key's randomisers (rows of other origin need the slow decryption of \
         any randomiser)"
    )]
    ForeignRandomiser,
    /// Shares of a key, and elections, need a key of another variant.
    #[error("a subgroup key cannot be used for {what}: choose the variant {instead}")]
    NotForSubgroup {
        /// What it cannot be used for.
        what: &'static str,
        /// The variant that can be.
        instead: &'static str,
    },
    /// The ciphertext is 0.
    #[error("the ciphertext is 0")]
    CiphertextZero,
    /// The ciphertext is `n^2` or more: truncated, damaged or made with another key.
    #[error("the ciphertext is not below n^2")]
    CiphertextTooLarge,
    /// The ciphertext shares a factor with `n`.
    #[error("the ciphertext shares a factor with n")]
    CiphertextSharesFactor,
    /// A batch of plaintexts is not what its ciphertexts hold: whatever decrypted it computes
    /// wrongly. Which rows are wrong is not known.
    #[error("the decryption is wrong: the processor or device that computed it is faulty, and the batch was discarded")]
    WrongDecryption,
    /// A ciphertext is not that of a plaintext and an opening.
    #[error("the ciphertext does not encrypt this plaintext with this opening")]
    WrongOpening,
    /// Only DJN keys have short openings.
    #[error("the key is not of the DJN variant, which short openings are for")]
    NoGenerator,
    /// A short opening may have so many bits and no more.
    #[error("a short opening of {bits} bits: this key takes {most}")]
    OpeningTooLong {
        /// Bits asked for.
        bits: u32,
        /// Bits that the key takes.
        most: u32,
    },
    /// A batch belongs to another key.
    #[error("made with key {found}, not with {expected}")]
    WrongKey {
        /// Id of the key that was used.
        expected: KeyId,
        /// Id of the key that the batch belongs to.
        found: KeyId,
    },
    /// Two batches that are taken row by row have different lengths.
    #[error("{left} rows do not match {right}")]
    Lengths {
        /// Rows of the first.
        left: usize,
        /// Rows of the second.
        right: usize,
    },
    /// There is no such row.
    #[error("there is no such row among {rows}")]
    NoSuchRow {
        /// Rows that there are.
        rows: usize,
    },
    /// A dot product's batch is not a whole number of rows of `terms` terms.
    #[error("{rows} rows are not a whole number of sums of {terms} terms")]
    Terms {
        /// Terms of each sum.
        terms: usize,
        /// Rows given.
        rows: usize,
    },
    /// A scalar has more bits than announced.
    #[error("the scalar has more than {bits} bits")]
    ScalarTooLarge {
        /// Bits announced.
        bits: u32,
    },
    /// The pool holds fewer randomisers than rows are to be encrypted.
    #[error("{needed} randomisers needed, {left} left in the pool")]
    PoolExhausted {
        /// Randomisers needed.
        needed: usize,
        /// Randomisers left.
        left: usize,
    },
    /// Bytes are not a whole number of rows.
    #[error("{bytes} bytes are not a whole number of rows of {width} bytes")]
    Width {
        /// Bytes of a row.
        width: usize,
        /// Bytes given.
        bytes: usize,
    },
    /// A plaintext is `n` or more.
    #[error("the plaintext is not below n")]
    PlaintextTooLarge,
    /// A number is outside what the key, the layout, a float or 128 bits hold.
    #[error("the number is out of range")]
    OutOfRange,
    /// So many slots do not fit into a plaintext.
    #[error("{slots} slots of {slot_bits} bits do not fit into a key of {key_bits} bits; {} would", fitting(*.fits))]
    DoesNotFit {
        /// Slots asked for.
        slots: usize,
        /// Bits that each takes.
        slot_bits: u32,
        /// Bits of the key.
        key_bits: u32,
        /// Slots of this size that would fit.
        fits: usize,
    },
    /// A layout needs at least one slot, and room for one addition at least.
    #[error("a layout needs at least one slot and one addition")]
    EmptyLayout,
    /// The values are not a whole number of rows.
    #[error("{values} values are not a whole number of rows of {slots} slots")]
    PartialRow {
        /// Values given.
        values: usize,
        /// Slots of each row.
        slots: usize,
    },
    /// The text is not a decimal number.
    #[error("not a decimal number")]
    NotANumber,
    /// The number has more decimal places than the scale keeps.
    #[error("more than {scale} decimal places")]
    TooManyPlaces {
        /// Decimal places kept.
        scale: u32,
    },
    /// Infinities and NaN have no encoding.
    #[error("not a finite number")]
    NotFinite,
    /// An exponent can only be lowered without the private key, and only within reason.
    #[error("exponent {from} cannot become {to}")]
    Exponent {
        /// The exponent that there is.
        from: i32,
        /// The exponent asked for.
        to: i32,
    },
    /// The operating system's random generator failed.
    #[error("the operating system's random generator failed: {0}")]
    Randomness(#[from] getrandom::Error),
    /// The arithmetic refuses a modulus or an engine.
    #[error(transparent)]
    Arithmetic(#[from] ArithError),
}

impl ErrorKind {
    /// The error in this row, from 0.
    pub fn at_row(self, row: usize) -> Error {
        Error::from(self).at_row(row)
    }

    /// Whether a ciphertext is malformed: 0, not below `n^2`, sharing a factor with `n`, or foreign
    /// to a subgroup key.
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

/// How many slots fit.
fn fitting(slots: usize) -> String {
    if slots == 0 { "not even one".to_owned() } else { slots.to_string() }
}
