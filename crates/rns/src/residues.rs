//! Residues of a batch of numbers.

use crate::{Error, ErrorKind};
use std::sync::Arc;
use zeroize::Zeroize;

/// The residues of `len` numbers modulo each of `t` moduli: one column a modulus, column after
/// column, so that each is the batch's (or the polynomial's) residue modulo its modulus. Every
/// residue is below its modulus.
#[derive(Clone, Debug)]
pub struct Residues {
    moduli: Arc<[u64]>,
    len: usize,
    /// Where the columns begin.
    start: usize,
    words: Vec<u64>,
}

/// Bytes of a line of cache, and of a vector.
const LINE: usize = 64;

impl Residues {
    /// Residues that come from elsewhere: `words[i * len..(i + 1) * len]` modulo `moduli[i]`.
    ///
    /// # Errors
    /// [`ErrorKind::ResidueTooLarge`] names the first residue that is not below its modulus.
    ///
    /// # Panics
    /// If there are not `moduli.len() * len` words.
    pub fn new(moduli: &[u64], len: usize, words: Vec<u64>) -> Result<Self, Error> {
        assert_eq!(words.len(), moduli.len() * len, "a residue for every number and modulus");
        let residues = Self { moduli: moduli.into(), len, start: 0, words };
        for (index, (&modulus, column)) in moduli.iter().zip(residues.columns()).enumerate() {
            if let Some(row) = column.iter().position(|&residue| residue >= modulus) {
                return Err(ErrorKind::ResidueTooLarge { modulus }.at_row(row).at_column(index));
            }
        }
        Ok(residues)
    }

    /// Zeros; the columns begin with a line of cache, as far as their length allows.
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

    /// All columns in turn.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = &[u64]> + Clone {
        (0..self.moduli.len()).map(|index| self.column(index))
    }

    /// Columns to be written, as many as there are moduli unless there are no numbers.
    pub(crate) fn columns_mut(&mut self) -> impl Iterator<Item = &mut [u64]> {
        let all = self.moduli.len() * self.len;
        self.words[self.start..][..all].chunks_mut(self.len.max(1))
    }
}

/// Residues are public, mostly; those that are not are wiped by whoever knows it. They are zeros
/// then.
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
