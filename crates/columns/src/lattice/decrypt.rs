//! Decrypts batched columns and their totals.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Decimal128Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use hearith_bfv::{Ciphertext, PrivateKey, Total};
use hearith_paillier::encoding::format_decimal;
use zeroize::Zeroizing;

use super::chunk::{self, Chunks};
use super::column::{self, Form, LatticeColumn};
use super::totals::{additions, fault};
use crate::encrypt::batch_of;
use crate::error::{Error, ErrorKind};
use crate::metadata;

/// Digits of the decimal type of decrypted numbers.
const DIGITS: u8 = 38;

/// A column, and its chunk whose rows are arriving.
#[derive(Debug)]
struct Column {
    column: LatticeColumn,
    chunks: Chunks,
    /// The positions of these rows in the chunk, in order of arrival.
    positions: Vec<usize>,
}

/// Positions of rows, and the decrypted numbers.
type ChunkState<'a> = (&'a mut Vec<usize>, &'a mut Zeroizing<Vec<i128>>);

/// Decrypts one table, from its first row to its last. Rows are returned when their chunks end, so
/// a batch may yield more rows than it has, or fewer.
#[derive(Debug)]
pub struct LatticeDecryptor<'a> {
    key: &'a PrivateKey,
    columns: Vec<Column>,
    schema: SchemaRef,
    text: bool,
    /// Rows received and returned so far.
    rows_read: u64,
    rows_returned: u64,
    /// Rows whose chunks have not ended.
    pending: Vec<RecordBatch>,
}

impl<'a> LatticeDecryptor<'a> {
    /// Prepares to decrypt tables with this schema, into text or `Decimal128(38, scale)`.
    ///
    /// # Errors
    /// When there is no encrypted column, or one is under another key or has a damaged description.
    pub fn new(key: &'a PrivateKey, schema: &Schema, text: bool) -> Result<Self, Error> {
        let columns = column::under(key.public(), schema)?;
        let companion = |field: &Field| columns.iter().any(|column| column.counts_in(field));
        let mut fields = Vec::new();
        for field in schema.fields().iter().filter(|field| !companion(field)) {
            let kind = |column: &LatticeColumn| match text {
                true => DataType::Utf8,
                false => DataType::Decimal128(DIGITS, column.source.scale as i8),
            };
            match columns.iter().find(|column| column.name == *field.name()) {
                Some(column) => fields.push(Field::new(&column.source.name, kind(column), true)),
                None => fields.push(metadata::stored_field(field)?),
            }
        }
        let columns =
            columns.into_iter().map(|column| Column { column, chunks: Chunks::new(), positions: Vec::new() }).collect();
        Ok(Self {
            key,
            columns,
            schema: Arc::new(Schema::new(fields)),
            text,
            rows_read: 0,
            rows_returned: 0,
            pending: Vec::new(),
        })
    }

    /// The schema of the decrypted table, without companions.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Reads the next rows, and returns the rows that can now be decrypted.
    ///
    /// # Errors
    /// When a chunk or total was altered or is not the expected one. When a total exceeds what its
    /// additions and range allow.
    pub fn decrypt(&mut self, batch: &RecordBatch) -> Result<Option<RecordBatch>, Error> {
        let mut numbers = Vec::new();
        for Column { column, chunks, positions } in &mut self.columns {
            let mut decrypted = Zeroizing::new(Vec::new());
            match column.form {
                Form::Totals => totals(self.key, column, batch, &mut decrypted)?,
                Form::Chunks { .. } => {
                    let mut state = (positions, &mut decrypted);
                    let on_row = |state: &mut ChunkState<'_>, _, position| state.0.push(position);
                    let on_chunk = |(positions, out): &mut ChunkState<'_>, ciphertext: &Ciphertext| {
                        let numbers = self.key.decrypt(ciphertext).map_err(|error| fault(column, &error))?;
                        out.extend(positions.drain(..).map(|position| numbers[position]));
                        Ok(())
                    };
                    chunks.pass((self.key.public(), column, batch), &mut state, on_row, on_chunk)?;
                }
            }
            numbers.push(decrypted);
        }
        self.pending.push(batch.clone());
        let ready = numbers.first().map_or(0, |numbers| numbers.len());
        if numbers.iter().any(|numbers| numbers.len() != ready) {
            return Err(ErrorKind::Chunk("ends at a different row than another column's").into());
        }
        if ready == 0 && batch.num_rows() > 0 {
            self.rows_read += batch.num_rows() as u64;
            return Ok(None);
        }
        let pending = arrow_select::concat::concat_batches(batch.schema_ref(), &self.pending)?;
        self.pending = vec![pending.slice(ready, pending.num_rows() - ready)];
        let decrypted_rows = self.decrypted_rows(&pending.slice(0, ready), &numbers);
        // Rows that are returned now may be from earlier batches. They have no row number in this
        // batch.
        let before = self.rows_read - self.rows_returned;
        let decrypted_rows = decrypted_rows.map_err(|error| match error.row().map(|row| row.checked_sub(before)) {
            Some(Some(row)) => error.at_row(row),
            Some(None) => error.at_no_row(),
            None => error,
        });
        (self.rows_read, self.rows_returned) =
            (self.rows_read + batch.num_rows() as u64, self.rows_returned + ready as u64);
        decrypted_rows.map(Some)
    }

    /// Checks that the table was complete.
    ///
    /// # Errors
    /// [`ErrorKind::Chunk`].
    pub fn end(&self) -> Result<(), Error> {
        self.columns.iter().try_for_each(|Column { column, chunks, .. }| chunks.end(column))
    }

    /// The rows with their decrypted numbers.
    fn decrypted_rows(&self, rows: &RecordBatch, numbers: &[Zeroizing<Vec<i128>>]) -> Result<RecordBatch, Error> {
        let mut arrays: Vec<ArrayRef> = Vec::new();
        for (field, array) in rows.schema_ref().fields().iter().zip(rows.columns()) {
            if self.columns.iter().any(|one| one.column.counts_in(field)) {
                continue;
            }
            let index = self.columns.iter().position(|one| one.column.name == *field.name());
            arrays.push(match index {
                None => array.clone(),
                Some(index) => self.numbers(&self.columns[index].column, rows, &numbers[index])?,
            });
        }
        batch_of(&self.schema, arrays)
    }

    fn numbers(&self, column: &LatticeColumn, rows: &RecordBatch, numbers: &[i128]) -> Result<ArrayRef, Error> {
        let additions = additions(column, rows)?;
        // A total whose weights are all 0 has no additions, and its value is 0.
        let totals = (column.form == Form::Totals).then(|| chunk::cells(column, rows)).transpose()?;
        let present = |row: usize, added: u64| totals.map_or(added > 0, |cells| cells.is_valid(row));
        let mut cells = Vec::with_capacity(numbers.len());
        for (row, (&number, &added)) in numbers.iter().zip(additions.values()).enumerate() {
            if added > column.max_additions {
                let max_additions = column.max_additions;
                return Err(ErrorKind::Headroom { additions: added, max_additions }.at(row, &column.name));
            }
            if number.unsigned_abs() > column.source.range.saturating_mul(u128::from(added)) {
                return Err(ErrorKind::Overflow.at(row, &column.name));
            }
            cells.push(present(row, added).then_some(number));
        }
        let scale = column.source.scale;
        Ok(match self.text {
            true => Arc::new(StringArray::from_iter(
                cells.iter().map(|cell| cell.map(|number| format_decimal(number, scale))),
            )),
            false => Arc::new(Decimal128Array::from_iter(cells).with_precision_and_scale(DIGITS, scale as i8)?),
        })
    }
}

/// The numbers of a table of totals, 0 for nulls.
fn totals(key: &PrivateKey, column: &LatticeColumn, batch: &RecordBatch, out: &mut Vec<i128>) -> Result<(), Error> {
    let (cells, additions) = (chunk::cells(column, batch)?, additions(column, batch)?);
    for row in 0..batch.num_rows() {
        let at = |error: hearith_bfv::Error| fault(column, &error).at_row(row as u64);
        if cells.is_null(row) {
            if additions.value(row) > 0 {
                return Err(ErrorKind::CountedNull.at(row, &column.name));
            }
            out.push(0);
            continue;
        }
        let total = Total::from_bytes(cells.value(row), key.public()).map_err(at)?;
        if total.bits() != column.bits {
            return Err(ErrorKind::Chunk("does not match its column's description").at(row, &column.name));
        }
        out.push(key.decrypt_total(&total).map_err(at)?);
    }
    Ok(())
}
