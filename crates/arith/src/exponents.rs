//! The exponents of a batch of powers.

use crate::Batch;
use crate::natural::bit_length;

/// The exponents of a batch of powers. Lengths are always public; values are public only for
/// [`Exponents::Public`].
#[derive(Clone, Copy, Debug)]
pub enum Exponents<'a> {
    /// One public exponent for all rows, such as a public key. The sequence of operations depends
    /// on it.
    Public(&'a [u64]),
    /// One secret exponent below `2^bits` for all rows.
    Shared(&'a [u64], u32),
    /// A secret exponent below `2^bits` for each row.
    Each(&'a Batch, u32),
}

impl<'a> Exponents<'a> {
    /// Number of bits that are scanned.
    pub(crate) fn bits(&self) -> u32 {
        match self {
            Exponents::Public(exponent) => bit_length(exponent),
            Exponents::Shared(_, bits) | Exponents::Each(_, bits) => *bits,
        }
    }

    /// The exponent of one row.
    pub(crate) fn row(&self, row: usize) -> &'a [u64] {
        match self {
            Exponents::Public(exponent) | Exponents::Shared(exponent, _) => exponent,
            Exponents::Each(batch, _) => batch.row(row),
        }
    }

    /// Panics unless there is an exponent for each of `rows` rows.
    pub(crate) fn check(&self, rows: usize) {
        if let Exponents::Each(batch, _) = self {
            assert_eq!(batch.len(), rows, "there must be one exponent per row");
        }
    }
}
