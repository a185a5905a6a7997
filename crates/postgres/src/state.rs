//! The state of a sum: ciphertexts that wait for multiplication, in the aggregate's memory.
//!
//! Rows are collected and multiplied in batches, which suits the vector engines. Rows that leave a
//! window frame are collected separately. A sum is then the quotient of two products, which needs
//! one modular inverse per result instead of one per row.

use hearith_paillier::PublicKey;
use hearith_paillier::described::Description;
use pgrx::pg_sys;

use crate::fault::Fault;
use crate::kernel::{ciphertexts, computed};
use crate::keys;
use crate::scalar::raised;
use crate::value::Number;

/// Largest number of waiting ciphertexts, with which the vector engines are close to their best
/// rate.
const MOST_ROWS: usize = 64;
/// Initial capacity of a state in ciphertexts. It is small because there may be many groups of few
/// rows.
const FIRST_ROWS: usize = 2;
/// PostgreSQL's allocator aligns to 8 bytes, but a description needs more.
const ALIGNMENT: usize = align_of::<State>();

/// A running sum. It owns nothing that must be dropped: its memory is freed with the aggregate's.
pub(crate) struct State {
    memory: pg_sys::MemoryContext,
    /// Values added and not removed.
    pub(crate) rows: u64,
    /// Minimum number of values for a result.
    pub(crate) min_rows: Option<i32>,
    /// The description of the sum so far; `None` without values.
    description: Option<Description>,
    added: Rows,
    removed: Rows,
}

/// Consecutive ciphertexts.
struct Rows {
    data: *mut u8,
    room: usize,
    count: usize,
    width: usize,
}

impl State {
    /// An empty state in an aggregate's memory.
    pub(crate) fn allocate(memory: pg_sys::MemoryContext) -> *mut State {
        // SAFETY: the allocation can hold a state from its first aligned address.
        unsafe {
            let place = pg_sys::MemoryContextAlloc(memory, size_of::<State>() + ALIGNMENT).cast::<u8>();
            let state = place.add(place.align_offset(ALIGNMENT)).cast::<State>();
            let (added, removed) = (Rows::new(), Rows::new());
            state.write(State { memory, rows: 0, min_rows: None, description: None, added, removed });
            state
        }
    }

    /// Adds a value.
    pub(crate) fn add(&mut self, number: &Number<'_>) -> Result<(), Fault> {
        self.push(number, 1)
    }

    /// Adds a value that is the sum of `rows` rows.
    fn push(&mut self, number: &Number<'_>, rows: u64) -> Result<(), Fault> {
        let after = match self.description {
            None => number.description,
            Some(before) if before.key() != number.description.key() => {
                return Err(Fault::Keys(before.key(), number.description.key()));
            }
            Some(before) => before.plus(&number.description)?,
        };
        if let Some(before) = self.description.filter(|before| before.scale() < after.scale()) {
            self.rescale(&before, after.scale())?;
        }
        Self::put(&mut self.added, self.memory, number, after.scale())?;
        self.description = Some(after);
        self.rows += rows;
        Ok(())
    }

    /// Removes a value that was added before.
    pub(crate) fn remove(&mut self, number: &Number<'_>) -> Result<(), Fault> {
        let before = self.description.ok_or(Fault::Defect("a frame loses what it has not"))?;
        self.rows -= 1;
        if self.rows == 0 {
            (self.description, self.added.count, self.removed.count) = (None, 0, 0);
            return Ok(());
        }
        Self::put(&mut self.removed, self.memory, number, before.scale())?;
        self.description = Some(before.with_additions(before.additions() - number.description.additions())?);
        Ok(())
    }

    /// Adds the sum of another state.
    pub(crate) fn merge(&mut self, other: &mut State) -> Result<(), Fault> {
        if self.min_rows.zip(other.min_rows).is_some_and(|(here, there)| here != there) {
            return Err(Fault::MinRows);
        }
        self.min_rows = self.min_rows.or(other.min_rows);
        let rows = other.rows;
        match other.total()? {
            None => Ok(()),
            Some(total) => self.push(&total, rows),
        }
    }

    /// Appends a ciphertext to `rows`, converted to their scale.
    fn put(rows: &mut Rows, memory: pg_sys::MemoryContext, number: &Number<'_>, scale: u32) -> Result<(), Fault> {
        if rows.count == MOST_ROWS {
            rows.multiply(&keys::find(number.description.key())?)?;
        }
        if number.description.scale() == scale {
            rows.push(memory, number.ciphertext);
            return Ok(());
        }
        let key = keys::find(number.description.key())?;
        let bytes = raised(&key, number, scale)?.to_be_bytes();
        rows.push(memory, &bytes);
        Ok(())
    }

    /// Raises the collected ciphertexts to a larger scale.
    fn rescale(&mut self, before: &Description, scale: u32) -> Result<(), Fault> {
        let key = keys::find(before.key())?;
        for rows in [&mut self.added, &mut self.removed] {
            rows.multiply(&key)?;
            if rows.count > 0 {
                let bytes =
                    raised(&key, &Number { description: *before, ciphertext: rows.row(0) }, scale)?.to_be_bytes();
                rows.set(&bytes);
            }
        }
        Ok(())
    }

    /// The sum, `None` without values. The state remains valid.
    pub(crate) fn total(&mut self) -> Result<Option<Number<'_>>, Fault> {
        let Some(description) = self.description else { return Ok(None) };
        let key = keys::find(description.key())?;
        self.added.multiply(&key)?;
        self.removed.multiply(&key)?;
        if self.removed.count > 0 {
            let (added, removed) =
                (ciphertexts(&key, &[self.added.row(0)])?, ciphertexts(&key, &[self.removed.row(0)])?);
            let bytes = computed(&key, || key.subtract(&added, &removed))?;
            self.added.set(&bytes);
            self.removed.count = 0;
        }
        Ok(Some(Number { description, ciphertext: self.added.row(0) }))
    }

    /// The sum as a result. It is checked to be coprime to `n`, which covers every value in it.
    pub(crate) fn result(&mut self) -> Result<Option<Number<'_>>, Fault> {
        let enough = self.min_rows.is_none_or(|least| self.rows >= least.unsigned_abs().into());
        let Some(total) = self.total()?.filter(|_| enough) else { return Ok(None) };
        let key = keys::find(total.description.key())?;
        let sum = ciphertexts(&key, &[total.ciphertext])?;
        let checked = crate::kernel::inline(|| key.check_coprime(&sum));
        checked.map_err(|fault| Fault::Ciphertext { key: key.id(), fault })?;
        Ok(Some(total))
    }

    /// Serialises the state for another process: the row count, the minimum number of rows, and the
    /// sum if there is one.
    pub(crate) fn to_parts(&mut self) -> Result<([u8; HEAD], Option<Number<'_>>), Fault> {
        let mut head = [0; HEAD];
        head[..8].copy_from_slice(&self.rows.to_be_bytes());
        head[8..].copy_from_slice(&self.min_rows.unwrap_or(0).to_be_bytes());
        Ok((head, self.total()?))
    }

    /// Reads the output of [`State::to_parts`].
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let (head, sum) = bytes.split_first_chunk::<HEAD>().ok_or(Fault::State)?;
        let (rows, min_rows) = head.split_first_chunk::<8>().ok_or(Fault::State)?;
        let min_rows = i32::from_be_bytes(min_rows.try_into().map_err(|_| Fault::State)?);
        self.min_rows = Some(min_rows).filter(|&least| least > 0);
        if sum.is_empty() { Ok(()) } else { self.push(&Number::read(sum)?, u64::from_be_bytes(*rows)) }
    }
}

/// Bytes of a serialised state before its sum.
pub(crate) const HEAD: usize = 12;

impl Rows {
    const fn new() -> Self {
        Rows { data: std::ptr::null_mut(), room: 0, count: 0, width: 0 }
    }

    /// Appends a ciphertext. All have the same length, because they have the same key.
    fn push(&mut self, memory: pg_sys::MemoryContext, ciphertext: &[u8]) {
        if self.width != ciphertext.len() {
            // The state was emptied and now has another key.
            (self.width, self.room, self.data) = (ciphertext.len(), 0, std::ptr::null_mut());
        }
        if self.count == self.room {
            let room = (4 * self.room).clamp(FIRST_ROWS, MOST_ROWS);
            // SAFETY: the data are from PostgreSQL's allocator, which raises an error if there is
            // no memory.
            self.data = unsafe {
                match self.data.is_null() {
                    true => pg_sys::MemoryContextAlloc(memory, room * self.width).cast(),
                    false => pg_sys::repalloc(self.data.cast(), room * self.width).cast(),
                }
            };
            self.room = room;
        }
        // SAFETY: there is capacity for another row.
        unsafe { self.data.add(self.count * self.width).copy_from_nonoverlapping(ciphertext.as_ptr(), self.width) };
        self.count += 1;
    }

    fn row(&self, index: usize) -> &[u8] {
        debug_assert!(index < self.count);
        // SAFETY: the row has been written.
        unsafe { std::slice::from_raw_parts(self.data.add(index * self.width), self.width) }
    }

    /// Replaces all ciphertexts by one.
    fn set(&mut self, ciphertext: &[u8]) {
        // SAFETY: there is at least one row of this length.
        unsafe { self.data.copy_from_nonoverlapping(ciphertext.as_ptr(), self.width) };
        self.count = 1;
    }

    /// Replaces all ciphertexts by their product.
    fn multiply(&mut self, key: &PublicKey) -> Result<(), Fault> {
        if self.count > 1 {
            let rows: Vec<&[u8]> = (0..self.count).map(|index| self.row(index)).collect();
            let factors = ciphertexts(key, &rows)?;
            let product = computed(key, || key.sum(&factors))?;
            self.set(&product);
        }
        Ok(())
    }
}
