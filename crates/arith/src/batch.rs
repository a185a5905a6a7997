//! Batches of numbers, the unit of work.

use std::fmt;
use std::ops::Range;
use zeroize::Zeroize;

/// `len` natural numbers of `limbs` 64-bit limbs each, least significant limb first, one per row.
///
/// A batch may hold secrets, so it is wiped when dropped and `Debug` shows only its shape. Public
/// numbers, such as ciphertexts, need not be wiped; [`Batch::public`] marks them. Copies and parts
/// of a batch are as secret as the batch.
///
/// ```
/// use hearith_arith::Batch;
/// let batch = Batch::from_be_bytes(&[1, 0, 0, 7], 2, 1);
/// assert_eq!((batch.row(0), batch.row(1)), (&[256][..], &[7][..]));
/// ```
#[derive(Clone)]
pub struct Batch {
    limbs: usize,
    words: Vec<u64>,
    /// Whether the batch is wiped when dropped.
    secret: bool,
}

impl Batch {
    fn secret(limbs: usize, words: Vec<u64>) -> Self {
        Batch { limbs, words, secret: true }
    }

    /// Marks the numbers as public: they are not wiped when dropped.
    pub fn public(mut self) -> Self {
        self.secret = false;
        self
    }

    /// Whether the numbers are wiped when dropped: true unless marked by [`Batch::public`].
    pub fn is_secret(&self) -> bool {
        self.secret
    }

    /// `len` zeros of `limbs` limbs.
    ///
    /// # Panics
    /// If `limbs` is zero.
    pub fn zeros(len: usize, limbs: usize) -> Self {
        assert!(limbs > 0, "a number has at least one limb");
        Batch::secret(limbs, vec![0; len * limbs])
    }

    /// The given rows, each extended with zeros to `limbs` limbs.
    ///
    /// # Panics
    /// If a row has more than `limbs` limbs.
    pub fn from_rows<'a>(limbs: usize, rows: impl IntoIterator<Item = &'a [u64]>) -> Self {
        let rows = rows.into_iter();
        // Reserve exactly: a growing vector leaves unwiped copies behind.
        let mut batch = Batch::secret(limbs, Vec::with_capacity(rows.size_hint().0 * limbs));
        for row in rows {
            if batch.words.len() + limbs > batch.words.capacity() {
                batch.grow((2 * batch.words.capacity()).max(4 * limbs));
            }
            batch.words.extend_from_slice(row);
            let padded = batch.words.len() + limbs - row.len();
            batch.words.resize(padded, 0);
        }
        batch
    }

    /// `len` copies of one number.
    pub fn repeat(row: &[u64], len: usize) -> Self {
        Batch::secret(row.len(), row.repeat(len))
    }

    /// Reads numbers of `width` big-endian bytes each.
    ///
    /// # Panics
    /// If the length of `bytes` is not a multiple of `width`, or a number does not fit in `limbs`
    /// limbs.
    pub fn from_be_bytes(bytes: &[u8], width: usize, limbs: usize) -> Self {
        assert!(bytes.len().is_multiple_of(width), "the length is not a multiple of {width} bytes");
        Batch::from_be_rows(bytes.chunks_exact(width), limbs)
    }

    /// Reads big-endian numbers from separate rows.
    ///
    /// # Panics
    /// If a number does not fit in `limbs` limbs.
    pub fn from_be_rows<'a>(numbers: impl ExactSizeIterator<Item = &'a [u8]>, limbs: usize) -> Self {
        let mut batch = Batch::zeros(numbers.len(), limbs);
        for (row, number) in batch.rows_mut().zip(numbers) {
            assert!(number.len() <= 8 * limbs, "{} bytes do not fit in {limbs} limbs", number.len());
            let (rest, whole) = number.as_rchunks();
            for (limb, piece) in row.iter_mut().zip(whole.iter().rev()) {
                *limb = u64::from_be_bytes(*piece);
            }
            if !rest.is_empty() {
                row[whole.len()] = rest.iter().fold(0, |value, &byte| value << 8 | u64::from(byte));
            }
        }
        batch
    }

    /// Writes every number as `width` big-endian bytes. Higher bytes are dropped, so they should be
    /// zero.
    pub fn to_be_bytes(&self, width: usize) -> Vec<u8> {
        let mut bytes = vec![0; self.len() * width];
        for (number, row) in bytes.chunks_exact_mut(width).zip(self.rows()) {
            for (piece, limb) in number.rchunks_mut(8).zip(row) {
                let whole = limb.to_be_bytes();
                piece.copy_from_slice(&whole[8 - piece.len()..]);
            }
        }
        bytes
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.words.len() / self.limbs
    }

    /// Whether the batch is empty.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// 64-bit limbs of each number.
    pub fn limbs(&self) -> usize {
        self.limbs
    }

    /// The limbs of number `index`.
    pub fn row(&self, index: usize) -> &[u64] {
        &self.words[index * self.limbs..][..self.limbs]
    }

    /// The mutable limbs of number `index`.
    pub fn row_mut(&mut self, index: usize) -> &mut [u64] {
        &mut self.words[index * self.limbs..][..self.limbs]
    }

    /// Iterates over the numbers.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[u64]> + DoubleEndedIterator + Clone {
        self.words.chunks_exact(self.limbs)
    }

    /// Iterates over the numbers mutably.
    pub fn rows_mut(&mut self) -> impl ExactSizeIterator<Item = &mut [u64]> {
        self.words.chunks_exact_mut(self.limbs)
    }

    /// The limbs of all numbers, row after row.
    pub fn as_limbs(&self) -> &[u64] {
        &self.words
    }

    /// The mutable limbs of all numbers, row after row.
    pub fn as_limbs_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// The numbers at the given indices, in that order.
    pub fn select(&self, indices: &[usize]) -> Self {
        self.part(Batch::from_rows(self.limbs, indices.iter().map(|&index| self.row(index))))
    }

    /// The numbers in a range of indices.
    pub fn range(&self, range: Range<usize>) -> Self {
        let words = self.words[range.start * self.limbs..range.end * self.limbs].to_vec();
        self.part(Batch::secret(self.limbs, words))
    }

    /// The same numbers with `limbs` limbs each, extended with zeros or truncated, which drops the
    /// upper limbs.
    pub fn resize(&self, limbs: usize) -> Self {
        let kept = limbs.min(self.limbs);
        self.part(Batch::from_rows(limbs, self.rows().map(|row| &row[..kept])))
    }

    /// Concatenates batches with the same number of limbs. The result is public if all batches are.
    pub fn concat(batches: &[&Batch]) -> Self {
        let limbs = batches.first().map_or(1, |batch| batch.limbs);
        assert!(batches.iter().all(|batch| batch.limbs == limbs), "batches of different widths");
        let mut words = Vec::with_capacity(batches.iter().map(|batch| batch.words.len()).sum());
        batches.iter().for_each(|batch| words.extend_from_slice(&batch.words));
        Batch { limbs, words, secret: batches.iter().any(|batch| batch.secret) }
    }

    /// Appends numbers of the same width. The batch becomes secret if they are. For many appends,
    /// call [`Batch::reserve`] first.
    ///
    /// # Panics
    /// If the others have a different number of limbs.
    pub fn append(&mut self, other: &Batch) {
        assert_eq!(self.limbs, other.limbs, "batches of different widths");
        self.secret |= other.secret;
        self.reserve(other.len());
        self.words.extend_from_slice(&other.words);
    }

    /// Reserves capacity for additional rows.
    pub fn reserve(&mut self, rows: usize) {
        let words = self.words.len() + rows * self.limbs;
        if words > self.words.capacity() {
            self.grow(words);
        }
    }

    /// A part taken from this batch, as secret as the batch.
    fn part(&self, taken: Batch) -> Self {
        if self.secret { taken } else { taken.public() }
    }

    /// Reallocates with a capacity of `words` words. Wipes the old allocation if the numbers are
    /// secret.
    fn grow(&mut self, words: usize) {
        let mut larger = Vec::with_capacity(words);
        larger.extend_from_slice(&self.words);
        if self.secret {
            self.words.zeroize();
        }
        self.words = larger;
    }
}

impl Zeroize for Batch {
    fn zeroize(&mut self) {
        self.words.as_mut_slice().zeroize();
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        if self.secret {
            self.zeroize();
        }
    }
}

/// Equal batches have the same numbers with the same width, whether secret or not.
impl PartialEq for Batch {
    fn eq(&self, other: &Self) -> bool {
        self.limbs == other.limbs && self.words == other.words
    }
}

impl Eq for Batch {}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Batch({} numbers of {} limbs)", self.len(), self.limbs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_round_trip_at_every_width() {
        for width in 1..=24 {
            let bytes: Vec<u8> = (0..3 * width as u8).map(|byte| byte.wrapping_mul(89)).collect();
            assert_eq!(Batch::from_be_bytes(&bytes, width, 3).to_be_bytes(width), bytes);
        }
    }

    #[test]
    fn rows_are_extended_selected_and_joined() {
        let rows: [&[u64]; 3] = [&[1], &[2, 3], &[]];
        let batch = Batch::from_rows(2, rows.into_iter().filter(|_| true));
        assert_eq!(batch.as_limbs(), [1, 0, 2, 3, 0, 0]);
        assert_eq!(batch.select(&[1, 1, 0]).as_limbs(), [2, 3, 2, 3, 1, 0]);
        assert_eq!(batch.resize(1).as_limbs(), [1, 2, 0]);
        assert_eq!(Batch::concat(&[&batch.range(1..2), &batch]).len(), 4);
        assert_eq!(format!("{batch:?}"), "Batch(3 numbers of 2 limbs)");
    }

    #[test]
    fn what_is_taken_is_as_secret_as_what_it_is_taken_from() {
        let secret = Batch::from_rows(1, [&[1][..], &[2]]);
        let public = secret.clone().public();
        let taken = |batch: &Batch| {
            let mut twice = batch.clone();
            twice.append(batch);
            assert_eq!(twice, Batch::concat(&[batch, batch]));
            [twice, batch.select(&[1]), batch.range(0..1), batch.resize(3), Batch::concat(&[batch, batch])]
        };
        assert!(taken(&secret).iter().all(Batch::is_secret));
        assert!(!taken(&public).iter().any(Batch::is_secret));
        assert!(Batch::concat(&[&public, &secret]).is_secret());
        assert!(
            [Batch::zeros(1, 1), Batch::repeat(&[1], 1), Batch::from_be_bytes(&[1], 1, 1)].iter().all(Batch::is_secret)
        );
        assert_eq!(public, secret);
    }
}
