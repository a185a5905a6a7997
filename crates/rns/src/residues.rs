//! Residues of a batch of numbers.

use crate::{Error, ErrorKind};
use std::sync::Arc;
use zeroize::Zeroize;

/// The residues of `len` numbers modulo each of `t` moduli, in one column per modulus.
///
/// Columns follow one another, so each is the residue of the batch (or polynomial) modulo its
/// modulus. Every residue is below its modulus.
#[derive(Clone, Debug)]
pub struct Residues {
    moduli: Arc<[u64]>,
    len: usize,
    /// The index of the first column in `words`.
    start: usize,
    words: Vec<u64>,
}

/// Size in bytes of a cache line and of a vector.
const LINE: usize = 64;

impl Residues {
    /// Wraps existing residues: `words[i * len..(i + 1) * len]` modulo `moduli[i]`.
    ///
    /// # Errors
    /// [`ErrorKind::ResidueTooLarge`] with the first residue that is not below its modulus.
    ///
    /// # Panics
    /// If `words` does not have `moduli.len() * len` entries.
    pub fn new(moduli: &[u64], len: usize, words: Vec<u64>) -> Result<Self, Error> {
        assert_eq!(words.len(), moduli.len() * len, "there must be one residue per number and modulus");
        let residues = Self { moduli: moduli.into(), len, start: 0, words };
        for (index, (&modulus, column)) in moduli.iter().zip(residues.columns()).enumerate() {
            if let Some(row) = column.iter().position(|&residue| residue >= modulus) {
                return Err(ErrorKind::ResidueTooLarge { modulus }.at_row(row).at_column(index));
            }
        }
        Ok(residues)
    }

    /// Zeros. The first column starts at a cache line, and so do the others if the length allows
    /// it.
    pub(crate) fn zeros(moduli: Arc<[u64]>, len: usize) -> Self {
        let spare = LINE / size_of::<u64>() - 1;
        let words = vec![0; moduli.len() * len + spare];
        let start = words.as_ptr().align_offset(LINE).min(spare);
        Self { moduli, len, start, words }
    }

    /// The moduli.
    pub fn moduli(&self) -> &[u64] {
        &self.moduli
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The residues of all numbers modulo modulus `index`.
    pub fn column(&self, index: usize) -> &[u64] {
        &self.words[self.start + index * self.len..][..self.len]
    }

    /// All columns in order.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = &[u64]> + Clone {
        (0..self.moduli.len()).map(|index| self.column(index))
    }

    /// All columns in order, mutably. None if there are no numbers.
    pub(crate) fn columns_mut(&mut self) -> impl Iterator<Item = &mut [u64]> {
        let all = self.moduli.len() * self.len;
        self.words[self.start..][..all].chunks_mut(self.len.max(1))
    }
}

/// Overwrites the residues with zeros. Residues are mostly public, so callers with secret ones must
/// wipe them explicitly.
impl Zeroize for Residues {
    fn zeroize(&mut self) {
        self.words.as_mut_slice().zeroize();
    }
}

impl PartialEq for Residues {
    fn eq(&self, other: &Self) -> bool {
        self.moduli == other.moduli && self.len == other.len && self.columns().eq(other.columns())
    }
}

impl Eq for Residues {}
