//! Batches of ciphertexts.

use crate::boxed::to_boxed_uint;
use crate::{Error, ErrorKind, KeyId, PublicKey};
use crypto_bigint::{BoxedUint, Gcd};
use hearith_arith::Batch;
use std::fmt;
use std::ops::Range;

/// Ciphertexts of one key, one per row: numbers in `[1, n^2)`.
///
/// They are produced by encryption, by
/// [`PublicKey::ciphertexts_from_be`](crate::PublicKey::ciphertexts_from_be) and by operations on
/// other ciphertexts.
#[derive(Clone, PartialEq, Eq)]
pub struct Ciphertexts {
    key: KeyId,
    row_bytes: usize,
    batch: Batch,
}

impl Ciphertexts {
    pub(crate) fn new(key: KeyId, row_bytes: usize, batch: Batch) -> Self {
        Ciphertexts { key, row_bytes, batch }
    }

    /// Marks the ciphertexts as public: imported or freshly randomised. Other ciphertexts are wiped
    /// when dropped, because a ciphertext and its multiple reveal the factor.
    pub(crate) fn public(self) -> Self {
        Ciphertexts { batch: self.batch.public(), ..self }
    }

    /// Whether the ciphertexts are not marked as public: see `public`.
    pub(crate) fn is_secret(&self) -> bool {
        self.batch.is_secret()
    }

    /// ID of the key.
    pub fn key_id(&self) -> KeyId {
        self.key
    }

    /// Number of ciphertexts.
    pub fn len(&self) -> usize {
        self.batch.len()
    }

    /// Whether the batch is empty.
    pub fn is_empty(&self) -> bool {
        self.batch.is_empty()
    }

    /// Bytes of one ciphertext, twice those of `n`.
    pub fn row_bytes(&self) -> usize {
        self.row_bytes
    }

    /// All ciphertexts concatenated, as [`Ciphertexts::row_bytes`] big-endian bytes each.
    pub fn to_be_bytes(&self) -> Vec<u8> {
        self.batch.to_be_bytes(self.row_bytes)
    }

    /// The ciphertexts as numbers.
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    /// The ciphertexts of the given rows, in that order.
    ///
    /// # Errors
    /// [`NoSuchRow`](crate::ErrorKind::NoSuchRow) if a row is out of range.
    pub fn select(&self, rows: &[usize]) -> Result<Self, Error> {
        check_rows(rows.iter().copied(), self.len())?;
        Ok(self.with(self.batch.select(rows)))
    }

    /// The ciphertexts of a range of rows.
    ///
    /// # Errors
    /// [`NoSuchRow`](crate::ErrorKind::NoSuchRow) if the range is not within the batch.
    pub fn range(&self, rows: Range<usize>) -> Result<Self, Error> {
        check_range(&rows, self.len())?;
        Ok(self.with(self.batch.range(rows)))
    }

    /// Concatenates `first` and all batches of `rest`.
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey) if they belong to different keys.
    pub fn concat(first: &Ciphertexts, rest: &[&Ciphertexts]) -> Result<Self, Error> {
        let mut parts = vec![&first.batch];
        for part in rest {
            check_key(first.key, part.key)?;
            parts.push(&part.batch);
        }
        Ok(first.with(Batch::concat(&parts)))
    }

    /// Appends other ciphertexts. For many appends, [`Ciphertexts::reserve`] avoids copies.
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey) if they belong to another key, and nothing is
    /// appended.
    pub fn append(&mut self, others: &Ciphertexts) -> Result<(), Error> {
        check_key(self.key, others.key)?;
        self.batch.append(&others.batch);
        Ok(())
    }

    /// Reserves capacity for additional rows.
    pub fn reserve(&mut self, rows: usize) {
        self.batch.reserve(rows);
    }

    /// The given numbers as ciphertexts of the same key.
    fn with(&self, batch: Batch) -> Self {
        Ciphertexts { key: self.key, row_bytes: self.row_bytes, batch }
    }
}

impl PublicKey {
    /// Imports ciphertexts from concatenated rows of [`PublicKey::ciphertext_bytes`] big-endian
    /// bytes. Checks that they are in `[1, n^2)`; [`PublicKey::check_coprime`] checks the rest.
    ///
    /// # Errors
    /// [`Width`](crate::ErrorKind::Width), or [`CiphertextZero`](crate::ErrorKind::CiphertextZero)
    /// or [`CiphertextTooLarge`](crate::ErrorKind::CiphertextTooLarge) for the first row that is 0
    /// or not below `n^2`.
    pub fn ciphertexts_from_be(&self, bytes: &[u8]) -> Result<Ciphertexts, Error> {
        let width = self.ciphertext_bytes();
        if !bytes.len().is_multiple_of(width) {
            return Err(ErrorKind::Width { width, bytes: bytes.len() }.into());
        }
        self.ciphertexts_from_be_rows(&bytes.chunks_exact(width).collect::<Vec<_>>())
    }

    /// Imports ciphertexts as [`PublicKey::ciphertexts_from_be`], from separate rows.
    ///
    /// # Errors
    /// [`Width`](crate::ErrorKind::Width) for a row of any other length, and as
    /// [`PublicKey::ciphertexts_from_be`].
    pub fn ciphertexts_from_be_rows(&self, rows: &[&[u8]]) -> Result<Ciphertexts, Error> {
        let width = self.ciphertext_bytes();
        if let Some(other) = rows.iter().find(|row| row.len() != width) {
            return Err(ErrorKind::Width { width, bytes: other.len() }.into());
        }
        self.ciphertexts_from_batch(Batch::from_be_rows(rows.iter().copied(), self.ciphertext_limbs()))
    }

    /// Imports ciphertexts as [`PublicKey::ciphertexts_from_be`], from numbers with as many limbs
    /// as `n^2`.
    ///
    /// # Panics
    /// If the numbers have a different number of limbs.
    ///
    /// # Errors
    /// As [`PublicKey::ciphertexts_from_be`].
    pub fn ciphertexts_from_batch(&self, numbers: Batch) -> Result<Ciphertexts, Error> {
        assert_eq!(numbers.limbs(), self.ciphertext_limbs(), "ciphertexts must have as many limbs as n^2");
        let ciphertexts = self.ciphertexts(numbers).public();
        self.check_range(&ciphertexts)?;
        Ok(ciphertexts)
    }

    /// Fails for the first row that is 0 or not below `n^2`.
    pub(crate) fn check_range(&self, ciphertexts: &Ciphertexts) -> Result<(), Error> {
        for (row, number) in ciphertexts.batch.rows().enumerate() {
            if number.iter().all(|&limb| limb == 0) {
                return Err(ErrorKind::CiphertextZero.at_row(row));
            }
            // Variable time is fine: ciphertexts are public, and their first limb nearly always
            // decides.
            if number.iter().rev().ge(self.squared().as_limbs().iter().rev()) {
                return Err(ErrorKind::CiphertextTooLarge.at_row(row));
            }
        }
        Ok(())
    }

    /// Checks that no ciphertext shares a factor with `n`, with one product of all rows modulo `n`
    /// and one greatest common divisor. If that fails, bisection finds the first such row.
    ///
    /// Without the factors of `n`, such a ciphertext arises only by chance. It indicates damage or
    /// another key.
    ///
    /// # Errors
    /// [`Error`](crate::Error) with the first row that shares a factor.
    pub fn check_coprime(&self, ciphertexts: &Ciphertexts) -> Result<(), Error> {
        let residues = self.root().reduce(ciphertexts.batch());
        if self.all_coprime(&residues, 0..residues.len()) { Ok(()) } else { Err(self.sharing_factor(&residues)) }
    }

    /// Finds the first row that shares a factor with `n` by bisection; the last row if there is
    /// none.
    pub(crate) fn sharing_factor(&self, numbers: &Batch) -> Error {
        let residues = self.root().reduce(numbers);
        let (mut first, mut end) = (0, residues.len());
        while end - first > 1 {
            let middle = first + (end - first) / 2;
            if self.all_coprime(&residues, first..middle) { first = middle } else { end = middle }
        }
        ErrorKind::CiphertextSharesFactor.at_row(first)
    }

    /// Whether all residues of a range of rows are coprime to `n`. The residues are public.
    fn all_coprime(&self, residues: &Batch, rows: Range<usize>) -> bool {
        let rows: Vec<u32> = rows.map(|row| row as u32).collect();
        let product = self.root().products(residues, &[rows]);
        to_boxed_uint(product.row(0)).gcd_vartime(&to_boxed_uint(self.modulus())) == BoxedUint::one()
    }
}

impl fmt::Debug for Ciphertexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ciphertexts({} of key {})", self.len(), self.key)
    }
}

/// Fails unless a batch belongs to the key.
pub(crate) fn check_key(expected: KeyId, found: KeyId) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(ErrorKind::WrongKey { expected, found }.into()) }
}

/// Fails unless two batches have the same length.
pub(crate) fn check_lengths(left: usize, right: usize) -> Result<(), Error> {
    if left == right { Ok(()) } else { Err(ErrorKind::Lengths { left, right }.into()) }
}

/// Fails if a row number is beyond the end of a batch.
pub(crate) fn check_rows(mut indices: impl Iterator<Item = usize>, rows: usize) -> Result<(), Error> {
    match indices.find(|&row| row >= rows) {
        Some(row) => Err(ErrorKind::NoSuchRow { rows }.at_row(row)),
        None => Ok(()),
    }
}

/// Fails unless a range lies within a batch.
pub(crate) fn check_range(range: &Range<usize>, rows: usize) -> Result<(), Error> {
    if range.start > range.end {
        return Err(ErrorKind::NoSuchRow { rows }.at_row(range.start));
    }
    if range.end > rows { Err(ErrorKind::NoSuchRow { rows }.at_row(range.end - 1)) } else { Ok(()) }
}
