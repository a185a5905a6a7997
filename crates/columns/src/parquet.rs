//! Parquet files as streams of batches: a file of any length in a bounded amount of memory ([`limits`](crate::limits)).

mod footer;
mod pages;
mod thrift;

use std::collections::HashSet;
use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::arrow::arrow_writer::ArrowWriter;
use parquet::basic::{Compression, Type, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use crate::error::{Error, ErrorKind, ParquetFault, one_line};
use crate::guard::guarded;
use crate::lattice::LatticeColumn;
use crate::limits::{BATCH_BYTES, MAX_BATCH_BYTES, MAX_CELL_BYTES, MAX_DELTA_PAGE_BYTES};
use crate::metadata::EncryptedColumn;
use pages::Pages;

/// Bytes of a row group: what a writer holds in memory.
const ROW_GROUP_BYTES: usize = 32 << 20;

/// A Parquet file, opened.
#[derive(Debug)]
pub struct ParquetSource {
    file: File,
    metadata: ArrowReaderMetadata,
}

impl ParquetSource {
    /// Reads the file's footer.
    ///
    /// # Errors
    /// A file that is not Parquet, is cut short, uses a feature that is not supported, or asks for more than
    /// [`limits`](crate::limits) admit.
    pub fn open(file: File) -> Result<Self, Error> {
        let metadata = footer::read(&file)?;
        Ok(Self { file, metadata })
    }

    /// The columns, with the metadata of their fields.
    pub fn schema(&self) -> SchemaRef {
        self.metadata.schema().clone()
    }

    /// How many rows the file has.
    pub fn rows(&self) -> u64 {
        self.metadata.metadata().file_metadata().num_rows().max(0).unsigned_abs()
    }

    /// How many row groups the file has.
    pub fn row_groups(&self) -> usize {
        self.metadata.metadata().num_row_groups()
    }

    /// The rows, `batch_rows` at a time or fewer where they get long; only the columns named in `only`, if given.
    ///
    /// # Errors
    /// As [`ParquetSource::open`]; the iterator's items fail when the file is damaged.
    pub fn batches(self, batch_rows: usize, only: Option<&HashSet<String>>) -> Result<ParquetBatches, Error> {
        let groups = 0..self.row_groups();
        self.batches_of(groups, batch_rows, only)
    }

    /// The rows of some row groups alone. Errors name rows of the file.
    ///
    /// # Errors
    /// As [`ParquetSource::batches`].
    ///
    /// # Panics
    /// If there are no such row groups.
    pub fn batches_of(
        self,
        groups: Range<usize>,
        batch_rows: usize,
        only: Option<&HashSet<String>>,
    ) -> Result<ParquetBatches, Error> {
        let rows_of = |groups: &[RowGroupMetaData]| -> u64 {
            groups.iter().fold(0, |rows, group| rows.saturating_add(group.num_rows().max(0).unsigned_abs()))
        };
        let found = self.metadata.metadata().row_groups();
        let row = rows_of(&found[..groups.start]);
        let end_row = if groups.end == found.len() { self.rows() } else { row + rows_of(&found[groups.clone()]) };
        let schema = self.schema();
        let fields = schema.fields().iter().enumerate();
        let wanted = fields.filter(|(_, field)| only.is_none_or(|only| only.contains(field.name())));
        let wanted: Vec<usize> = wanted.map(|(index, _)| index).collect();
        let columns = self.metadata.parquet_schema();
        let mask = ProjectionMask::roots(columns, wanted.iter().copied());
        let leaves = (0..columns.num_columns()).filter(|&leaf| mask.leaf_included(leaf)).collect();
        let schema = schema.project(&wanted).map_err(|error| ErrorKind::NotParquet(error.into()))?;
        let batch_rows = batch_rows.max(1);
        let Range { start: next, end } = groups;
        let groups = Group { source: self, mask, leaves, schema: Arc::new(schema), next, end, end_row };
        Ok(ParquetBatches { groups, open: None, pending: None, failed: None, batch_rows, row, ended: false })
    }
}

/// The row groups of a file, opened one after another.
struct Group {
    source: ParquetSource,
    mask: ProjectionMask,
    /// The columns to be read, as they are numbered in row groups.
    leaves: Vec<usize>,
    schema: SchemaRef,
    next: usize,
    /// Where to stop: the row group, and its row as the file counts them.
    end: usize,
    end_row: u64,
}

/// A row group being read.
struct Open {
    reader: ParquetRecordBatchReader,
    pages: Pages,
}

impl Group {
    /// Opens the next row group, if there is one.
    fn open(&mut self, batch_rows: usize) -> Result<Option<Open>, ErrorKind> {
        let metadata = self.source.metadata.metadata().clone();
        let Some(group) = metadata.row_groups()[..self.end].get(self.next) else { return Ok(None) };
        let open =
            guarded(|| self.reader(group, batch_rows)).ok_or(ErrorKind::NotParquet(ParquetFault::Panicked))??;
        self.next += 1;
        Ok(Some(open))
    }

    fn reader(&self, group: &RowGroupMetaData, batch_rows: usize) -> Result<Open, ErrorKind> {
        let pages = Pages::new(&self.source.file, group, &self.leaves)?;
        let row = self.row_bytes(group, &pages)?;
        if row > MAX_BATCH_BYTES as u64 {
            return Err(ErrorKind::TooLarge { what: "bytes in a row", limit: MAX_BATCH_BYTES as u64 });
        }
        let rows = usize::try_from(BATCH_BYTES as u64 / row.max(1)).unwrap_or(usize::MAX).clamp(1, batch_rows);
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(pages.clone(), self.source.metadata.clone())
            .with_row_groups(vec![self.next])
            .with_batch_size(rows)
            .with_projection(self.mask.clone())
            .build()
            .map_err(|error| pages.refused().unwrap_or_else(|| ErrorKind::NotParquet(error.into())))?;
        Ok(Open { reader, pages })
    }

    /// Bytes that a row may take, where columns stand for more than they hold, or on average.
    fn row_bytes(&self, group: &RowGroupMetaData, pages: &Pages) -> Result<u64, ErrorKind> {
        let mut bytes: u64 =
            self.schema.fields().iter().map(|field| padded_width(field.data_type())).fold(0, u64::saturating_add);
        let rows = group.num_rows().max(1).unsigned_abs();
        for &leaf in &self.leaves {
            let column = group.column(leaf);
            let average = column.uncompressed_size().max(0).unsigned_abs() / rows;
            let value = match column.column_type() {
                Type::BYTE_ARRAY if pages::has_deltas(column) => MAX_DELTA_PAGE_BYTES,
                Type::BYTE_ARRAY => pages.longest(column)?,
                _ => pages::width(column),
            };
            bytes = bytes.saturating_add(average.max(value));
        }
        Ok(bytes)
    }
}

/// Bytes that a null takes where cells have one length, by the type alone.
fn padded_width(kind: &DataType) -> u64 {
    match kind {
        DataType::FixedSizeBinary(width) => u64::try_from(*width).unwrap_or(0),
        DataType::FixedSizeList(field, length) => {
            padded_width(field.data_type()).max(1).saturating_mul(u64::try_from(*length).unwrap_or(0))
        }
        DataType::Struct(fields) => {
            fields.iter().map(|field| padded_width(field.data_type())).fold(0, u64::saturating_add)
        }
        other => other.primitive_width().unwrap_or(0) as u64,
    }
}

/// The batches of a Parquet file; errors carry the row of the file that was reached, and end it.
pub struct ParquetBatches {
    groups: Group,
    /// The row group being read.
    open: Option<Open>,
    /// Rows that were read but did not go into the batch before.
    pending: Option<RecordBatch>,
    /// What comes after the rows that could still be read.
    failed: Option<Error>,
    batch_rows: usize,
    row: u64,
    ended: bool,
}

impl ParquetBatches {
    /// The columns read.
    pub fn schema(&self) -> SchemaRef {
        self.groups.schema.clone()
    }

    /// As many rows as were asked for, or fewer where they get long or the file ends.
    fn gather(&mut self) -> Result<Option<RecordBatch>, Error> {
        let (mut parts, mut rows, mut bytes) = (Vec::new(), 0, 0);
        while rows < self.batch_rows && bytes < BATCH_BYTES {
            let part = match self.pending.take() {
                Some(part) => Some(part),
                None => match self.part(self.row + rows as u64) {
                    Ok(part) => part,
                    Err(error) if parts.is_empty() => return Err(error),
                    Err(error) => {
                        self.failed = Some(error);
                        break;
                    }
                },
            };
            let Some(part) = part else { break };
            rows += part.num_rows();
            bytes += part.columns().iter().map(|column| weight(column).0).sum::<usize>();
            parts.push(part);
        }
        let batch = match &parts[..] {
            [] => return Ok(None),
            [one] => one.clone(),
            several => concat_batches(&self.groups.schema, several)?,
        };
        if rows > self.batch_rows {
            self.pending = Some(batch.slice(self.batch_rows, rows - self.batch_rows));
            return Ok(Some(batch.slice(0, self.batch_rows)));
        }
        Ok(Some(batch))
    }

    /// The next rows that the decoder gives.
    fn part(&mut self, row: u64) -> Result<Option<RecordBatch>, Error> {
        loop {
            let Some(mut open) = self.open.take() else {
                self.open = self.groups.open(self.batch_rows).map_err(|kind| damaged(kind, row))?;
                if self.open.is_some() {
                    continue;
                }
                let rows = self.groups.end_row;
                let missing = || ErrorKind::Damaged(ParquetFault::RowsMissing { rows }).at_row(row);
                return if row == rows { Ok(None) } else { Err(missing()) };
            };
            open.pages.begin_batch();
            let decoded = guarded(|| open.reader.next());
            let batch = match decoded {
                Some(None) => continue,
                Some(Some(Ok(batch))) => batch.with_schema(self.groups.schema.clone()),
                Some(Some(Err(error))) => Err(error),
                None => return Err(ErrorKind::Damaged(ParquetFault::Panicked).at_row(row)),
            };
            let fault = |error: ArrowError| open.pages.refused().unwrap_or(ErrorKind::Damaged(error.into()));
            let batch = batch.map_err(|error| damaged(fault(error), row))?;
            check_cells(&batch).map_err(|error| error.offset_rows(row))?;
            self.open = Some(open);
            return Ok(Some(batch));
        }
    }
}

impl Iterator for ParquetBatches {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let batch = self.failed.take().map_or_else(|| self.gather(), Err);
        match &batch {
            Ok(Some(batch)) => self.row += batch.num_rows() as u64,
            _ => {
                self.ended = true;
                (self.open, self.pending) = (None, None);
            }
        }
        batch.transpose()
    }
}

/// Damage found while rows are read stands at the row that was reached.
fn damaged(kind: ErrorKind, row: u64) -> Error {
    match kind {
        ErrorKind::NotParquet(fault) => ErrorKind::Damaged(fault).at_row(row),
        other => other.at_row(row),
    }
}

/// Checks that no cell, nor all cells together, are longer than is taken.
fn check_cells(batch: &RecordBatch) -> Result<(), Error> {
    let mut bytes = 0;
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        let (whole, long) = weight(column);
        if let Some(row) = long {
            let (what, limit) = ("bytes in a cell", MAX_CELL_BYTES as u64);
            return Err(ErrorKind::TooLarge { what, limit }.at(row, field.name()));
        }
        bytes += whole;
    }
    match bytes > MAX_BATCH_BYTES {
        true => Err(ErrorKind::TooLarge { what: "bytes in a few rows", limit: MAX_BATCH_BYTES as u64 }.at_row(0)),
        false => Ok(()),
    }
}

/// Bytes of all cells of a column, and the first that is longer than a cell may be.
fn weight(column: &ArrayRef) -> (usize, Option<usize>) {
    let of = |length: &dyn Fn(usize) -> usize| {
        let lengths = (0..column.len()).map(|row| if column.is_null(row) { 0 } else { length(row) });
        let mut long = None;
        let whole = lengths.enumerate().map(|(row, length)| {
            if length > MAX_CELL_BYTES && long.is_none() {
                long = Some(row);
            }
            length
        });
        let whole = whole.sum();
        (whole, long)
    };
    match column.data_type() {
        DataType::Utf8 => of(&|row| column.as_string::<i32>().value_length(row) as usize),
        DataType::LargeUtf8 => of(&|row| column.as_string::<i64>().value_length(row) as usize),
        DataType::Utf8View => of(&|row| column.as_string_view().value(row).len()),
        DataType::Binary => of(&|row| column.as_binary::<i32>().value_length(row) as usize),
        DataType::LargeBinary => of(&|row| column.as_binary::<i64>().value_length(row) as usize),
        DataType::BinaryView => of(&|row| column.as_binary_view().value(row).len()),
        _ => (column.to_data().get_slice_memory_size().unwrap_or(0), None),
    }
}

/// A Parquet file being written, forward only.
pub struct ParquetSink<W: Write + Send> {
    writer: ArrowWriter<W>,
}

impl<W: Write + Send> ParquetSink<W> {
    /// Starts a file with these columns. Ciphertexts, being random, are neither compressed nor
    /// indexed; other columns are.
    ///
    /// # Errors
    /// A type that Parquet does not have, or a failure to write.
    pub fn new(output: W, schema: SchemaRef) -> Result<Self, WriteError> {
        let properties = properties(&schema);
        let writer = ArrowWriter::try_new(output, schema, Some(properties))?;
        Ok(Self { writer })
    }

    /// Writes a batch.
    ///
    /// # Errors
    /// A failure to write.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), WriteError> {
        self.writer.write(batch)?;
        if self.writer.in_progress_size() >= ROW_GROUP_BYTES {
            self.writer.flush()?;
        }
        Ok(())
    }

    /// Writes the footer and gives the output back.
    ///
    /// # Errors
    /// A failure to write.
    pub fn finish(self) -> Result<W, WriteError> {
        Ok(self.writer.into_inner()?)
    }
}

fn properties(schema: &Schema) -> WriterProperties {
    let plain = WriterProperties::builder()
        .set_created_by(concat!("hearith ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_statistics_enabled(EnabledStatistics::Chunk);
    let encrypted = |field: &&Arc<Field>| match field.data_type() {
        DataType::FixedSizeBinary(_) => matches!(EncryptedColumn::from_field(field), Ok(Some(_))),
        DataType::Binary => matches!(LatticeColumn::from_field(field), Ok(Some(_))),
        _ => false,
    };
    let properties = schema.fields().iter().filter(encrypted).fold(plain, |properties, field| {
        let path = ColumnPath::new(vec![field.name().clone()]);
        properties
            .set_column_compression(path.clone(), Compression::UNCOMPRESSED)
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_statistics_enabled(path, EnabledStatistics::None)
    });
    properties.build()
}

/// Why a stream could not be written. No text holds a cell, which is why [`WriteError::NoText`] has no source.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The output refused: a full disk, a closed pipe.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The table cannot be written as Parquet.
    #[error("{}", one_line(.0))]
    Parquet(#[source] ParquetError),
    /// The table cannot be written as CSV.
    #[error("the rows cannot be written as CSV")]
    Csv(#[source] csv::Error),
    /// A column, or a value, has no text.
    #[error("a value has no text")]
    NoText,
}

impl WriteError {
    pub(crate) fn from_csv(error: csv::Error) -> Self {
        match error.is_io_error() {
            false => Self::Csv(error),
            true => match error.into_kind() {
                csv::ErrorKind::Io(error) => Self::Io(error),
                _ => Self::Io(std::io::ErrorKind::Other.into()),
            },
        }
    }
}

impl From<ParquetError> for WriteError {
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::External(source) => match source.downcast::<std::io::Error>() {
                Ok(error) => Self::Io(*error),
                Err(source) => Self::Parquet(ParquetError::External(source)),
            },
            other => Self::Parquet(other),
        }
    }
}
