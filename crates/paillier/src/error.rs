//! Everything that can be wrong with the input. No error carries a plaintext, key material or text that may hold it.

use crate::{KeyId, MAX_BITS, MAX_ITERATIONS, MIN_BITS, MIN_ITERATIONS, Weakness};
use hearith_arith::ArithError;
use thiserror::Error;

/// A key could not be made, read or accepted.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// `p` and `q` have the same length, so `n` has an even number of bits.
    #[error("the key size must be even, not {bits} bits")]
    OddSize {
        /// The size given.
        bits: u32,
    },
    /// The key is shorter or longer than the arithmetic goes.
    #[error("a key of {bits} bits is not supported: {MIN_BITS} to {MAX_BITS} bits are")]
    SizeOutOfRange {
        /// The size given.
        bits: u32,
    },
    /// The key protects nothing.
    #[error("{0} is insecure: {demand} unless insecure keys are allowed explicitly", demand = .0.demand())]
    Insecure(Weakness),
    /// The text is not JSON, or not the JSON of a key.
    #[error("not a JSON Web Key: line {line}, column {column}")]
    Json {
        /// Line of the text, from 1.
        line: usize,
        /// Column of the line, from 1.
        column: usize,
    },
    /// The text is longer than that of any key.
    #[error("{bytes} bytes are more than any key has")]
    TooLong {
        /// Bytes of the text.
        bytes: usize,
    },
    /// The JSON Web Key is encrypted, where one in the clear is wanted.
    #[error("the private key is encrypted: it takes its passphrase")]
    Encrypted,
    /// The passphrase does not open the encrypted key.
    #[error("the passphrase is wrong, or the encrypted key was changed")]
    Passphrase,
    /// A key is not encrypted under an empty passphrase.
    #[error("the passphrase is empty")]
    EmptyPassphrase,
    /// The passphrase opens the encrypted key, which was changed all the same.
    #[error("the encrypted key is damaged")]
    Damaged,
    /// Too few rounds of PBKDF2 to protect a passphrase, or too many to wait for.
    #[error("{iterations} rounds of PBKDF2 are out of range: {MIN_ITERATIONS} to {MAX_ITERATIONS} are taken")]
    Iterations {
        /// Rounds that the encrypted key asks for, at most `u32::MAX`.
        iterations: u32,
    },
    /// A member of the JSON Web Key is missing or has the wrong content.
    #[error("member '{member}' of the JSON Web Key {problem}")]
    Member {
        /// Name of the member.
        member: &'static str,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// `n` cannot be a product of two large primes.
    #[error("the modulus n is divisible by {factor}")]
    SmallFactor {
        /// The factor found.
        factor: u64,
    },
    /// `n` is a square, under which decryption has no single answer.
    #[error("the modulus n is a square")]
    Square,
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
    /// `n` and `(p - 1)(q - 1)` share a factor, so that decryption is impossible.
    #[error("n and (p - 1)(q - 1) share a factor")]
    NotCoprime,
    /// The generator `h` of a DJN key is not `-x^2` for a unit `x`, or the primes do not suit it.
    #[error("the key's generator h is not valid")]
    Generator,
    /// The operating system's random generator failed.
    #[error("the operating system's random generator failed: {0}")]
    Randomness(#[from] getrandom::Error),
    /// The arithmetic refuses the key.
    #[error(transparent)]
    Arithmetic(#[from] ArithError),
}

/// A ciphertext is not one: what is wrong, and in which row.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("row {row}: the ciphertext {fault}")]
pub struct CiphertextError {
    /// Row of the batch, from 0.
    pub row: usize,
    /// What is wrong with it.
    pub fault: CiphertextFault,
}

/// What can be wrong with a ciphertext: it is none of the units modulo `n^2`.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum CiphertextFault {
    /// It is 0.
    #[error("is 0")]
    Zero,
    /// It is `n^2` or more: truncated, damaged or made with another key.
    #[error("is not below n^2")]
    TooLarge,
    /// It shares a factor with `n`.
    #[error("shares a factor with n")]
    SharesFactor,
}

/// An operation on batches could not be carried out.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum OperationError {
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
    #[error("row {row} of a batch of {rows} rows")]
    Row {
        /// The row asked for.
        row: usize,
        /// Rows that there are.
        rows: usize,
    },
    /// A dot product's batch is not a whole number of rows of `terms` terms.
    #[error("{rows} rows are no whole number of sums of {terms} terms")]
    Terms {
        /// Terms of each sum.
        terms: usize,
        /// Rows given.
        rows: usize,
    },
    /// A scalar has more bits than announced.
    #[error("row {row}: the scalar has more than {bits} bits")]
    ScalarTooLarge {
        /// Row of the scalar.
        row: usize,
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
    /// Bytes are no whole number of rows.
    #[error("{bytes} bytes are no whole number of rows of {width} bytes")]
    Width {
        /// Bytes of a row.
        width: usize,
        /// Bytes given.
        bytes: usize,
    },
    /// A plaintext is `n` or more.
    #[error("row {row}: the plaintext is not below n")]
    PlaintextTooLarge {
        /// Row of the plaintext.
        row: usize,
    },
    /// A ciphertext is malformed.
    #[error(transparent)]
    Ciphertext(#[from] CiphertextError),
    /// The operating system's random generator failed.
    #[error("the operating system's random generator failed: {0}")]
    Randomness(#[from] getrandom::Error),
    /// The arithmetic refuses a modulus.
    #[error(transparent)]
    Arithmetic(#[from] ArithError),
}

impl OperationError {
    /// The row at fault, if there is one.
    pub fn row(&self) -> Option<usize> {
        match self {
            OperationError::Row { row, .. }
            | OperationError::ScalarTooLarge { row, .. }
            | OperationError::PlaintextTooLarge { row }
            | OperationError::Ciphertext(CiphertextError { row, .. }) => Some(*row),
            _ => None,
        }
    }
}

/// Numbers cannot be encoded as plaintexts of this key.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodingError {
    /// A value is outside what the key or the layout holds.
    #[error("row {row}, slot {slot}: the value is out of range")]
    OutOfRange {
        /// Row of the value.
        row: usize,
        /// Slot of the row; 0 where rows have one value.
        slot: usize,
    },
    /// So many slots do not fit into a plaintext.
    #[error("{slots} slots of {slot_bits} bits do not fit into a key of {key_bits} bits; {fits} would")]
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
    /// The values are no whole number of rows.
    #[error("{values} values are no whole number of rows of {slots} slots")]
    Rows {
        /// Values given.
        values: usize,
        /// Slots of each row.
        slots: usize,
    },
}

impl EncodingError {
    /// The row at fault, if there is one.
    pub fn row(&self) -> Option<usize> {
        match self {
            EncodingError::OutOfRange { row, .. } => Some(*row),
            _ => None,
        }
    }
}

/// A text is not a number of the kind wanted.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum NumberError {
    /// The text is not a decimal number.
    #[error("not a decimal number")]
    NotANumber,
    /// The number has more decimal places than the scale keeps.
    #[error("more than {scale} decimal places")]
    TooManyPlaces {
        /// Decimal places kept.
        scale: u32,
    },
    /// The scaled number does not fit in 128 bits.
    #[error("too large")]
    OutOfRange,
}

/// Numbers or ciphertexts cannot be exchanged with python-paillier.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum PheError {
    /// Infinities and NaN have no encoding.
    #[error("not a finite number")]
    NotFinite,
    /// The number is larger than the key or a float holds.
    #[error("row {row}: the number is out of range")]
    OutOfRange {
        /// Row of the number; 0 for a single number.
        row: usize,
    },
    /// An exponent can only be lowered without the private key, and only within reason.
    #[error("exponent {from} cannot become {to}")]
    Exponent {
        /// The exponent that there is.
        from: i32,
        /// The exponent asked for.
        to: i32,
    },
    /// The text is not JSON of python-paillier's ciphertexts.
    #[error("not python-paillier's JSON: line {line}, column {column}: {problem}")]
    Json {
        /// Line of the text, from 1.
        line: usize,
        /// Column of the line, from 1.
        column: usize,
        /// What is wrong.
        problem: String,
    },
    /// A member of a ciphertext's JSON is not what it should be.
    #[error("row {row}: '{member}' {problem}")]
    Member {
        /// Row of the ciphertext.
        row: usize,
        /// Name of the member.
        member: &'static str,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The batches do not match, or a ciphertext is malformed.
    #[error(transparent)]
    Operation(#[from] OperationError),
}
