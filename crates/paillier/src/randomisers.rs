//! Precomputed randomisers `r^n mod n^2`.

use crate::ciphertexts::check_key;
use crate::{Error, ErrorKind, KeyId};
use hearith_arith::{Batch, Pairs};
use std::fmt;
use std::ops::Range;
use zeroize::Zeroize;

/// A pool of randomisers of one key, with which encryption takes one multiplication modulo `n` per
/// plaintext.
///
/// Computing randomisers is almost all the work of encryption and needs no plaintext. Each is used
/// once: taking a randomiser removes it from the pool, the type is not `Clone`, and all are wiped
/// when dropped. Anyone who knows a ciphertext's randomiser can read the ciphertext.
///
/// ```
/// # use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant, encoding::encode_signed};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let private = PrivateKey::generate(512, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best())?;
/// # let public = private.public();
/// let mut pool = public.randomisers(10)?; // at night
/// let readings = encode_signed(public, &[17, -4])?;
/// let encrypted = public.encrypt_with(&readings, &mut pool)?; // at once
/// assert_eq!((encrypted.len(), pool.len()), (2, 8));
/// # Ok(())
/// # }
/// ```
pub struct Randomisers {
    key: KeyId,
    pairs: Pairs,
    /// Number of unused rows, which come first. The rows after them are wiped.
    left: usize,
}

impl Randomisers {
    pub(crate) fn new(key: KeyId, pairs: Pairs) -> Self {
        Randomisers { key, left: pairs.low.len(), pairs }
    }

    /// ID of the key.
    pub fn key_id(&self) -> KeyId {
        self.key
    }

    /// Number of remaining randomisers.
    pub fn len(&self) -> usize {
        self.left
    }

    /// Whether no randomisers remain.
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// Moves the last `len` randomisers into a new pool.
    ///
    /// # Errors
    /// [`PoolExhausted`](crate::ErrorKind::PoolExhausted) if fewer remain.
    pub fn take(&mut self, len: usize) -> Result<Randomisers, Error> {
        let Some(kept) = self.left.checked_sub(len) else {
            return Err(ErrorKind::PoolExhausted { needed: len, left: self.left }.into());
        };
        let rows = std::mem::replace(&mut self.left, kept);
        Ok(Randomisers::new(self.key, move_rows(&mut self.pairs, kept..rows)))
    }

    /// Adds all randomisers of another pool.
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey) if they belong to another key.
    pub fn append(&mut self, other: Randomisers) -> Result<(), Error> {
        check_key(self.key, other.key)?;
        let (mine, theirs) = (move_rows(&mut self.pairs, 0..self.left), other.into_pairs());
        let join = |first, second| Batch::concat(&[first, second]);
        let pairs = Pairs { low: join(&mine.low, &theirs.low), high: join(&mine.high, &theirs.high) };
        *self = Randomisers::new(self.key, pairs);
        Ok(())
    }

    /// The randomisers as numbers, for a single use.
    pub(crate) fn into_pairs(mut self) -> Pairs {
        move_rows(&mut self.pairs, 0..self.left)
    }
}

/// Copies a range of rows and wipes the originals.
fn move_rows(pairs: &mut Pairs, rows: Range<usize>) -> Pairs {
    let moved = Pairs { low: pairs.low.range(rows.clone()), high: pairs.high.range(rows.clone()) };
    for row in rows {
        pairs.low.row_mut(row).zeroize();
        pairs.high.row_mut(row).zeroize();
    }
    moved
}

impl fmt::Debug for Randomisers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Randomisers({} of key {})", self.len(), self.key)
    }
}
