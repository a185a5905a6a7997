//! Chunks: where a ciphertext of many rows stands, and what it belongs to.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::{Array, BinaryArray, RecordBatch};
use arrow_schema::DataType;
use hearith_bfv::{Ciphertext, PublicKey};
use sha2::{Digest, Sha256};

use super::column::{Form, LatticeColumn};
use crate::error::{Error, ErrorKind};

const MAGIC: &[u8; 4] = b"HBK1";
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

/// The row at which a chunk says that it begins; [`read`] says whether it is right.
fn first_row(bytes: &[u8]) -> Result<u64, ErrorKind> {
    let row = bytes.get(20..28).and_then(|row| row.try_into().ok());
    row.map(u64::from_le_bytes).ok_or(ErrorKind::Chunk("is cut short"))
}

/// The ciphertext of the chunk of a column that begins at `row`.
fn read(bytes: &[u8], key: &PublicKey, column: &LatticeColumn, row: u64) -> Result<Ciphertext, ErrorKind> {
    let Form::Chunks { table } = column.form else { return Err(ErrorKind::Chunk("is in a table of totals")) };
    let cut = ErrorKind::Chunk("is cut short");
    let (header, ciphertext) = bytes.split_at_checked(HEADER).ok_or(cut)?;
    if header[..4] != *MAGIC {
        return Err(ErrorKind::Chunk("is none"));
    }
    if header[4..20] != table {
        return Err(ErrorKind::Chunk("is of another table"));
    }
    if header[20..28] != row.to_le_bytes() {
        return Err(ErrorKind::Chunk("is of other rows: chunks or rows were moved, left out or repeated"));
    }
    if header[28..] != digest(&column.name, &header[4..28], ciphertext) {
        return Err(ErrorKind::Chunk("was altered"));
    }
    let ciphertext = Ciphertext::from_bytes(ciphertext, key).map_err(|error| error.kind().clone())?;
    match ciphertext.is_fresh() && ciphertext.bits() == column.bits {
        true => Ok(ciphertext),
        false => Err(ErrorKind::Chunk("is not what its column's description says")),
    }
}

fn digest(column: &str, place: &[u8], ciphertext: &[u8]) -> [u8; 32] {
    let name = Sha256::digest(column.as_bytes());
    Sha256::new().chain_update(name).chain_update(place).chain_update(ciphertext).finalize().into()
}

/// Reads bytes as the chunk at row 0 of this column.
///
/// # Errors
/// [`ErrorKind::Chunk`] and what the scheme finds.
pub fn check_chunk(bytes: &[u8], key: &PublicKey, column: &LatticeColumn) -> Result<(), Error> {
    Ok(read(bytes, key, column, 0).map(drop)?)
}

/// The chunks of a column as its rows come by.
#[derive(Debug)]
pub(super) struct Chunks {
    /// Where the first chunk must begin; unknown until it comes where a part of the table is read.
    first: Option<u64>,
    row: u64,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    ciphertext: Ciphertext,
    rows: usize,
}

impl Chunks {
    /// Those of a whole table.
    pub(super) fn new() -> Self {
        Chunks { first: Some(0), row: 0, open: None }
    }

    /// Those of a part, which begins where its first chunk says.
    pub(super) fn of_part() -> Self {
        Chunks { first: None, row: 0, open: None }
    }

    /// Those of a part that begins in this row.
    pub(super) fn from_row(row: u64) -> Self {
        Chunks { first: Some(row), row, open: None }
    }

    /// The rows that went by.
    pub(super) fn rows(&self) -> Range<u64> {
        self.first.unwrap_or(0)..self.row
    }

    /// Passes over the rows of a batch. `row` hears of each; `whole` of a chunk once all its rows went by.
    pub(super) fn pass<T>(
        &mut self,
        (key, column, batch): (&PublicKey, &LatticeColumn, &RecordBatch),
        state: &mut T,
        mut each: impl FnMut(&mut T, usize),
        mut whole: impl FnMut(&mut T, &Ciphertext) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let cells = cells(column, batch)?;
        for row in 0..batch.num_rows() {
            let fault = |kind: ErrorKind| kind.at(row, &column.name);
            let mut open = match (self.open.take(), cells.is_valid(row)) {
                (None, true) => {
                    let bytes = cells.value(row);
                    if self.first.is_none() {
                        self.row = first_row(bytes).map_err(fault)?;
                        self.first = Some(self.row);
                    }
                    let ciphertext = read(bytes, key, column, self.row).map_err(fault)?;
                    Open { ciphertext, rows: 0 }
                }
                (Some(open), false) => open,
                (None, false) => return Err(fault(ErrorKind::Chunk("is missing: rows or chunks were left out"))),
                (Some(_), true) => return Err(fault(ErrorKind::Chunk("begins before the last one ends"))),
            };
            each(state, row);
            self.row = self.row.checked_add(1).ok_or_else(|| fault(ErrorKind::TooManyRows))?;
            open.rows += 1;
            match open.rows == open.ciphertext.count() {
                true => whole(state, &open.ciphertext).map_err(|error| error.in_column(&column.name))?,
                false => self.open = Some(open),
            }
        }
        Ok(())
    }

    /// Checks that the last chunk went by in full.
    pub(super) fn end(&self, column: &LatticeColumn) -> Result<(), Error> {
        match self.open {
            None => Ok(()),
            Some(_) => {
                Err(ErrorKind::Chunk("has fewer rows than numbers: the table ends too early").in_column(&column.name))
            }
        }
    }
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
