//! Batches of plaintexts.

use crate::ciphertexts::{check_key, check_range, check_rows};
use crate::{Error, ErrorKind, KeyId, PublicKey};
use hearith_arith::Batch;
use hearith_arith::natural;
use std::fmt;
use std::ops::Range;
use zeroize::Zeroizing;

/// Plaintexts of one key, one per row: residues modulo `n`. Wiped when dropped; `Debug` shows only
/// their number.
///
/// They are produced by [encodings](crate::encoding), by
/// [`PublicKey::plaintexts_from_be`](crate::PublicKey::plaintexts_from_be) and by decryption.
#[derive(Clone, PartialEq, Eq)]
pub struct Plaintexts {
    key: KeyId,
    row_bytes: usize,
    batch: Batch,
}

impl Plaintexts {
    pub(crate) fn new(key: KeyId, row_bytes: usize, batch: Batch) -> Self {
        Plaintexts { key, row_bytes, batch }
    }

    /// ID of the key.
    pub fn key_id(&self) -> KeyId {
        self.key
    }

    /// Number of plaintexts.
    pub fn len(&self) -> usize {
        self.batch.len()
    }

    /// Whether the batch is empty.
    pub fn is_empty(&self) -> bool {
        self.batch.is_empty()
    }

    /// Bytes of one plaintext, the same as of `n`.
    pub fn row_bytes(&self) -> usize {
        self.row_bytes
    }

    /// All plaintexts concatenated, as [`Plaintexts::row_bytes`] big-endian bytes each.
    pub fn to_be_bytes(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(self.batch.to_be_bytes(self.row_bytes))
    }

    /// The plaintexts as numbers.
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    /// The plaintexts of the given rows, in that order.
    ///
    /// # Errors
    /// [`NoSuchRow`](crate::ErrorKind::NoSuchRow) if a row is out of range.
    pub fn select(&self, rows: &[usize]) -> Result<Self, Error> {
        check_rows(rows.iter().copied(), self.len())?;
        Ok(self.with(self.batch.select(rows)))
    }

    /// The plaintexts of a range of rows.
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
    pub fn concat(first: &Plaintexts, rest: &[&Plaintexts]) -> Result<Self, Error> {
        let mut parts = vec![&first.batch];
        for part in rest {
            check_key(first.key, part.key)?;
            parts.push(&part.batch);
        }
        Ok(first.with(Batch::concat(&parts)))
    }

    /// The given numbers as plaintexts of the same key.
    fn with(&self, batch: Batch) -> Self {
        Plaintexts { key: self.key, row_bytes: self.row_bytes, batch }
    }
}

impl PublicKey {
    /// Imports plaintexts from concatenated rows of [`PublicKey::plaintext_bytes`] big-endian
    /// bytes.
    ///
    /// # Errors
    /// [`Width`](crate::ErrorKind::Width), or
    /// [`PlaintextTooLarge`](crate::ErrorKind::PlaintextTooLarge) for the first row that is not
    /// below `n`.
    pub fn plaintexts_from_be(&self, bytes: &[u8]) -> Result<Plaintexts, Error> {
        let width = self.plaintext_bytes();
        if !bytes.len().is_multiple_of(width) {
            return Err(ErrorKind::Width { width, bytes: bytes.len() }.into());
        }
        self.plaintexts_from_batch(Batch::from_be_bytes(bytes, width, self.plaintext_limbs()))
    }

    /// Imports plaintexts as [`PublicKey::plaintexts_from_be`], from numbers with as many limbs as
    /// `n`.
    ///
    /// # Panics
    /// If the numbers have a different number of limbs.
    ///
    /// # Errors
    /// [`PlaintextTooLarge`](crate::ErrorKind::PlaintextTooLarge) for the first row that is not
    /// below `n`.
    pub fn plaintexts_from_batch(&self, numbers: Batch) -> Result<Plaintexts, Error> {
        assert_eq!(numbers.limbs(), self.plaintext_limbs(), "plaintexts must have as many limbs as n");
        let too_large = numbers.rows().position(|row| natural::less(row, self.modulus()) == 0);
        match too_large {
            Some(row) => Err(ErrorKind::PlaintextTooLarge.at_row(row)),
            None => Ok(Plaintexts::new(self.id(), self.plaintext_bytes(), numbers)),
        }
    }
}

impl fmt::Debug for Plaintexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plaintexts({} of key {})", self.len(), self.key)
    }
}
