//! Chunks: ciphertexts of many rows, with their position and table.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::{Array, BinaryArray, RecordBatch, UInt64Array};
use arrow_schema::DataType;
use hearith_bfv::{Ciphertext, PublicKey};
use sha2::{Digest, Sha256};

use super::column::{Form, LatticeColumn};
use crate::ciphers;
use crate::error::{CompanionFault, Error, ErrorKind};

const MAGIC: &[u8; 4] = b"HBK2";
const MISSING: &str = "is missing: rows or chunks were left out";
const MOVED: &str = "belongs to other rows: chunks or rows were moved, left out or repeated";
const HEADER: usize = 4 + 16 + 8 + 32;

/// The bytes of a chunk.
pub(super) fn write(column: &str, table: [u8; 16], row: u64, ciphertext: &Ciphertext) -> Vec<u8> {
    let ciphertext = ciphertext.to_bytes();
    let mut bytes = Vec::with_capacity(HEADER + ciphertext.len());
    bytes.extend(MAGIC);
    bytes.extend(table);
    bytes.extend(row.to_le_bytes());
    bytes.extend(digest(column, &bytes[4..28], &ciphertext));
    bytes.extend(ciphertext);
    bytes
}

/// Reads the ciphertext of a column's chunk that starts at `row`.
fn read(bytes: &[u8], key: &PublicKey, column: &LatticeColumn, row: u64) -> Result<Ciphertext, ErrorKind> {
    let Form::Chunks { table } = column.form else { return Err(ErrorKind::Chunk("is in a table of totals")) };
    let cut = ErrorKind::Chunk("is cut short");
    let (header, ciphertext) = bytes.split_at_checked(HEADER).ok_or(cut)?;
    if header[..4] != *MAGIC {
        return Err(ErrorKind::Chunk("has an invalid header"));
    }
    if header[4..20] != table {
        return Err(ErrorKind::Chunk("belongs to another table"));
    }
    if header[20..28] != row.to_le_bytes() {
        return Err(ErrorKind::Chunk(MOVED));
    }
    if header[28..] != digest(&column.source.name, &header[4..28], ciphertext) {
        return Err(ErrorKind::Chunk("was altered"));
    }
    let ciphertext = Ciphertext::from_bytes(ciphertext, key).map_err(|error| error.kind().clone())?;
    match ciphertext.is_fresh() && ciphertext.bits() == column.bits {
        true => Ok(ciphertext),
        false => Err(ErrorKind::Chunk("does not match its column's description")),
    }
}

fn digest(column: &str, table_and_row: &[u8], ciphertext: &[u8]) -> [u8; 32] {
    let name = Sha256::digest(column.as_bytes());
    Sha256::new().chain_update(name).chain_update(table_and_row).chain_update(ciphertext).finalize().into()
}

/// Checks that bytes are the chunk at row 0 of this column.
///
/// # Errors
/// [`ErrorKind::Chunk`], and errors of the scheme.
pub fn check_chunk(bytes: &[u8], key: &PublicKey, column: &LatticeColumn) -> Result<(), Error> {
    Ok(read(bytes, key, column, 0).map(drop)?)
}

/// The chunks of a column, read row by row. The rows of a chunk arrive together, in any order.
#[derive(Debug)]
pub(super) struct Chunks {
    /// The row at which the first chunk must start. For a part of a table, unknown until the chunk
    /// arrives.
    first: Option<u64>,
    row: u64,
    open: Option<Open>,
}

/// The chunk whose rows are arriving.
#[derive(Debug)]
struct Open {
    /// The number of its first row.
    first: u64,
    ciphertext: Option<Ciphertext>,
    /// Which of its rows have arrived.
    seen: Vec<bool>,
    count: usize,
}

impl Chunks {
    /// The chunks of an entire table.
    pub(super) fn new() -> Self {
        Chunks { first: Some(0), row: 0, open: None }
    }

    /// The chunks of a part of a table, which starts at its first row's number.
    pub(super) fn of_part() -> Self {
        Chunks { first: None, row: 0, open: None }
    }

    /// The chunks of a part of a table that starts at this row.
    pub(super) fn from_row(row: u64) -> Self {
        Chunks { first: Some(row), row, open: None }
    }

    /// The rows processed so far.
    pub(super) fn rows(&self) -> Range<u64> {
        self.first.unwrap_or(0)..self.row
    }

    /// Processes the rows of a batch. Calls `on_row` with every row in the batch and its position
    /// in the chunk, and `on_chunk` with a chunk after all its rows.
    pub(super) fn pass<T>(
        &mut self,
        (key, column, batch): (&PublicKey, &LatticeColumn, &RecordBatch),
        state: &mut T,
        mut on_row: impl FnMut(&mut T, usize, usize),
        mut on_chunk: impl FnMut(&mut T, &Ciphertext) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (cells, numbers) = (cells(column, batch)?, numbers(column, batch)?);
        for (row, &number) in numbers.values().iter().enumerate() {
            let fault = |kind: ErrorKind| kind.at(row, &column.name);
            let mut open = match self.open.take() {
                Some(open) => open,
                None => self.begin(number, key.set().degree()).map_err(fault)?,
            };
            on_row(state, row, open.arrive(number).map_err(fault)?);
            if cells.is_valid(row) {
                open.set_ciphertext(cells.value(row), key, column).map_err(fault)?;
            }
            match open.complete().map_err(fault)? {
                None => self.open = Some(open),
                Some(ciphertext) => {
                    let end = open.first.checked_add(open.count as u64);
                    self.row = end.ok_or_else(|| fault(ErrorKind::TooManyRows))?;
                    on_chunk(state, ciphertext).map_err(|error| error.in_column(&column.name))?;
                }
            }
        }
        Ok(())
    }

    /// Starts the chunk of this row, which must be the next chunk.
    fn begin(&mut self, number: u64, rows: usize) -> Result<Open, ErrorKind> {
        let first = number - number % rows as u64;
        if self.first.is_none() {
            (self.first, self.row) = (Some(first), first);
        }
        match first == self.row {
            true => Ok(Open { first, ciphertext: None, seen: vec![false; rows], count: 0 }),
            false => Err(ErrorKind::Chunk(MOVED)),
        }
    }

    /// Checks that the last chunk is complete.
    pub(super) fn end(&self, column: &LatticeColumn) -> Result<(), Error> {
        let what = match &self.open {
            None => return Ok(()),
            Some(open) if open.ciphertext.is_none() => MISSING,
            Some(_) => "has fewer rows than numbers: the table ends too early",
        };
        Err(ErrorKind::Chunk(what).in_column(&column.name))
    }
}

impl Open {
    /// Marks the row with this number as arrived. Returns its position in the chunk.
    fn arrive(&mut self, number: u64) -> Result<usize, ErrorKind> {
        let position = number.checked_sub(self.first).and_then(|position| usize::try_from(position).ok());
        let Some(position) = position.filter(|&position| position < self.seen.len()) else {
            let fewer = "has fewer rows than numbers: rows were left out, or those of several chunks were mixed";
            return Err(ErrorKind::Chunk(if self.ciphertext.is_none() { MISSING } else { fewer }));
        };
        if std::mem::replace(&mut self.seen[position], true) {
            return Err(ErrorKind::Chunk("has a duplicate row"));
        }
        self.count += 1;
        Ok(position)
    }

    /// Reads the chunk from the row that holds it.
    fn set_ciphertext(&mut self, bytes: &[u8], key: &PublicKey, column: &LatticeColumn) -> Result<(), ErrorKind> {
        let ciphertext = read(bytes, key, column, self.first)?;
        match self.ciphertext.replace(ciphertext) {
            None => Ok(()),
            Some(_) => Err(ErrorKind::Chunk("begins before the last one ends")),
        }
    }

    /// The ciphertext, once all its rows have arrived.
    fn complete(&self) -> Result<Option<&Ciphertext>, ErrorKind> {
        let Some(ciphertext) = &self.ciphertext else {
            return if self.count == self.seen.len() { Err(ErrorKind::Chunk(MISSING)) } else { Ok(None) };
        };
        let rows = ciphertext.count();
        if self.seen.iter().skip(rows).any(|&seen| seen) {
            return Err(ErrorKind::Chunk("has fewer numbers than rows"));
        }
        Ok((self.count == rows).then_some(ciphertext))
    }
}

/// The numbers of the rows in their table.
fn numbers<'a>(column: &LatticeColumn, batch: &'a RecordBatch) -> Result<&'a UInt64Array, Error> {
    let name = column.index.as_deref().unwrap_or_default();
    ciphers::counts(name, batch)?.ok_or_else(|| {
        let (name, fault) = (name.to_owned(), CompanionFault::Missing);
        ErrorKind::RowNumbers { name, fault }.in_column(&column.name)
    })
}

/// The cells of an encrypted column.
pub(super) fn cells<'a>(column: &LatticeColumn, batch: &'a RecordBatch) -> Result<&'a BinaryArray, Error> {
    let found = batch.column_by_name(&column.name);
    found.and_then(|array| array.as_binary_opt::<i32>()).ok_or_else(|| {
        let here = found.map_or_else(|| "absent".to_owned(), |array| array.data_type().to_string());
        let before = DataType::Binary.to_string();
        ErrorKind::Differs { what: "the type", here, before }.in_column(&column.name)
    })
}
