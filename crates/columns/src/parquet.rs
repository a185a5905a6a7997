//! Parquet files as streams of batches. Files of any length are processed in bounded memory
//! ([`limits`](crate::limits)).

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
use arrow_schema::{ArrowError, DataType, Field, Metadata, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::arrow::arrow_writer::{ArrowWriter, ArrowWriterOptions};
use parquet::arrow::{ARROW_SCHEMA_META_KEY, ArrowSchemaConverter, ProjectionMask, encode_arrow_schema};
use parquet::basic::{Compression, Encoding, Type, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, RowGroupMetaData};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use crate::error::{Error, ErrorKind, ParquetFault, one_line};
use crate::extension;
use crate::guard::catch_panic;
use crate::lattice::{Form, LatticeColumn};
use crate::limits::{
    BATCH_BYTES, MAX_BATCH_BYTES, MAX_CELL_BYTES, MAX_DELTA_PAGE_BYTES, MAX_FOOTER_BYTES, MAX_OPEN_PAGES_BYTES,
};
use crate::metadata::{self, EncryptedColumn};
use crate::signature::{SigningKey, TableSignature, TableSigner};
use pages::Pages;

/// Bounds on the bytes of a row group, which the writer holds in memory. Within the bounds, it has
/// `COLUMN_BYTES` per column.
const ROW_GROUP_BYTES: std::ops::RangeInclusive<usize> = 32 << 20..=256 << 20;
const COLUMN_BYTES: usize = 64 << 10;
/// Bounds on the bytes of a page or dictionary. Narrow tables use the largest size.
const PAGE_BYTES: std::ops::RangeInclusive<usize> = 4 << 10..=1 << 20;
/// Largest number of columns for which the footer holds their smallest and largest values.
const MAX_INDEXED_COLUMNS: usize = 256;
/// Values that the writer adds to a page before it checks its size.
const MAX_WRITE_BATCH: usize = 1024;

/// An opened Parquet file.
#[derive(Debug)]
pub struct ParquetReader {
    file: File,
    metadata: ArrowReaderMetadata,
}

impl ParquetReader {
    /// Reads the file's footer.
    ///
    /// # Errors
    /// When the file is not Parquet, is truncated, uses an unsupported feature, or exceeds
    /// [`limits`](crate::limits).
    pub fn open(file: File) -> Result<Self, Error> {
        let metadata = footer::read(&file)?;
        Ok(Self { file, metadata })
    }

    /// The columns, with the metadata of their fields.
    pub fn schema(&self) -> SchemaRef {
        self.metadata.schema().clone()
    }

    /// The file's signature, not verified; see [`SignatureCheck`](crate::SignatureCheck).
    ///
    /// # Errors
    /// As [`TableSignature::of_entries`].
    pub fn signature(&self) -> Result<Option<TableSignature>, Error> {
        let entries = self.metadata.metadata().file_metadata().key_value_metadata();
        let entries = entries.into_iter().flatten();
        TableSignature::of_entries(entries.map(|it| (it.key.as_str(), it.value.as_deref().unwrap_or_default())))
    }

    /// The number of rows in the file.
    pub fn rows(&self) -> u64 {
        self.metadata.metadata().file_metadata().num_rows().max(0).unsigned_abs()
    }

    /// The number of row groups in the file.
    pub fn row_groups(&self) -> usize {
        self.metadata.metadata().num_row_groups()
    }

    /// Reads the rows in batches of `batch_rows`, or fewer if the rows are long. `only` restricts
    /// the columns.
    ///
    /// # Errors
    /// As [`ParquetReader::open`]; the iterator's items fail when the file is damaged.
    pub fn batches(self, batch_rows: usize, only: Option<&HashSet<String>>) -> Result<ParquetBatches, Error> {
        let groups = 0..self.row_groups();
        self.batches_of(groups, batch_rows, only)
    }

    /// Reads the rows of these row groups only. Errors name rows of the file.
    ///
    /// # Errors
    /// As [`ParquetReader::batches`].
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
    source: ParquetReader,
    mask: ProjectionMask,
    /// The columns to read, by their numbers in row groups.
    leaves: Vec<usize>,
    schema: SchemaRef,
    next: usize,
    /// The end: the row group, and its row in the file.
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
            catch_panic(|| self.reader(group, batch_rows)).ok_or(ErrorKind::NotParquet(ParquetFault::Panicked))??;
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
            .map_err(|error| pages.rejected().unwrap_or_else(|| ErrorKind::NotParquet(error.into())))?;
        Ok(Open { reader, pages })
    }

    /// The size of a row in bytes. Each column counts with its average size or, if larger, with the
    /// longest value that it may expand to.
    fn row_bytes(&self, group: &RowGroupMetaData, pages: &Pages) -> Result<u64, ErrorKind> {
        let mut bytes: u64 =
            self.schema.fields().iter().map(|field| padded_width(field.data_type())).fold(0, u64::saturating_add);
        let rows = group.num_rows().max(1).unsigned_abs();
        for &leaf in &self.leaves {
            let column = group.column(leaf);
            let average = column.uncompressed_size().max(0).unsigned_abs() / rows;
            let value = match column.column_type() {
                Type::BYTE_ARRAY if pages::has_deltas(column) => MAX_DELTA_PAGE_BYTES,
                Type::BYTE_ARRAY => pages.max_value_len(column)?,
                _ => pages::width(column),
            };
            bytes = bytes.saturating_add(average.max(value));
        }
        Ok(bytes)
    }
}

/// Bytes of a null in types with cells of a fixed length.
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

/// The batches of a Parquet file. Errors name the current row of the file and end the iteration.
pub struct ParquetBatches {
    groups: Group,
    /// The row group being read.
    open: Option<Open>,
    /// Rows that were read but did not fit into the previous batch.
    pending: Option<RecordBatch>,
    /// The error to return after the rows read before it.
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

    /// Returns the requested number of rows, or fewer if the rows are long or the file ends.
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, Error> {
        let (mut parts, mut rows, mut bytes) = (Vec::new(), 0, 0);
        while rows < self.batch_rows && bytes < BATCH_BYTES {
            let decoded = match self.pending.take() {
                Some(pending) => Some(pending),
                None => match self.next_decoded(self.row + rows as u64) {
                    Ok(decoded) => decoded,
                    Err(error) if parts.is_empty() => return Err(error),
                    Err(error) => {
                        self.failed = Some(error);
                        break;
                    }
                },
            };
            let Some(decoded) = decoded else { break };
            rows += decoded.num_rows();
            bytes += decoded.columns().iter().map(|column| byte_size(column).0).sum::<usize>();
            parts.push(decoded);
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

    /// The next rows from the decoder.
    fn next_decoded(&mut self, row: u64) -> Result<Option<RecordBatch>, Error> {
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
            let decoded = catch_panic(|| open.reader.next());
            let batch = match decoded {
                Some(None) => continue,
                Some(Some(Ok(batch))) => batch.with_schema(self.groups.schema.clone()),
                Some(Some(Err(error))) => Err(error),
                None => return Err(ErrorKind::Damaged(ParquetFault::Panicked).at_row(row)),
            };
            let fault = |error: ArrowError| open.pages.rejected().unwrap_or(ErrorKind::Damaged(error.into()));
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
        let batch = self.failed.take().map_or_else(|| self.next_batch(), Err);
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

/// Locates damage found during reading at the current row.
fn damaged(kind: ErrorKind, row: u64) -> Error {
    match kind {
        ErrorKind::NotParquet(fault) => ErrorKind::Damaged(fault).at_row(row),
        other => other.at_row(row),
    }
}

/// Checks that no cell, and no batch in total, exceeds its limit.
fn check_cells(batch: &RecordBatch) -> Result<(), Error> {
    let mut bytes = 0;
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        let (whole, long) = byte_size(column);
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

/// Bytes of all cells of a column, and the first cell that exceeds the limit.
fn byte_size(column: &ArrayRef) -> (usize, Option<usize>) {
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

/// A forward-only Parquet writer. It fails before completing a file that the reader would reject.
pub struct ParquetWriter<W: Write + Send> {
    writer: ArrowWriter<Counted<W>>,
    row_group_bytes: usize,
    signing: Option<Signing>,
}

/// The state of a file that is being signed.
struct Signing {
    signer: TableSigner,
    schema: SchemaRef,
}

impl Signing {
    /// The entries of the footer: the signature, and the Arrow schema with it, where pyarrow reads
    /// it.
    fn entries(self) -> Vec<(&'static str, String)> {
        let signature = self.signer.finish().entries();
        let metadata = signature.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
        let schema = Schema::clone(&self.schema).with_metadata(metadata.collect::<Metadata>());
        let mut entries = vec![(ARROW_SCHEMA_META_KEY, encode_arrow_schema(&schema))];
        entries.extend(signature);
        entries
    }
}

/// An output that counts its bytes.
struct Counted<W> {
    output: W,
    bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.output.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.output.flush()
    }
}

impl<W: Write + Send> ParquetWriter<W> {
    /// Starts a file with these columns. Ciphertexts are random, so they are neither compressed nor
    /// indexed. Other columns are.
    ///
    /// # Errors
    /// When Parquet does not support a type, the file would have more columns than the reader
    /// accepts, or writing fails.
    pub fn new(output: W, schema: SchemaRef) -> Result<Self, WriteError> {
        Self::begin(output, schema, None)
    }

    /// Starts a file that is signed on completion.
    ///
    /// # Errors
    /// As [`ParquetWriter::new`] and [`TableSigner::new`].
    pub fn signed(output: W, schema: SchemaRef, key: Arc<SigningKey>) -> Result<Self, WriteError> {
        let signer = TableSigner::new(key, &schema).map_err(unsignable)?;
        let signing = Signing { signer, schema: extension::extended(&schema) };
        Self::begin(output, schema, Some(signing))
    }

    fn begin(output: W, schema: SchemaRef, signing: Option<Signing>) -> Result<Self, WriteError> {
        // Other programs check here whether files can be joined.
        let schema = extension::extended(&schema);
        let leaves = ArrowSchemaConverter::new().convert(&schema)?.num_columns();
        let properties = properties(&schema, leaves);
        // A file without rows shows how the reader sees the columns.
        let empty = ArrowWriter::try_new(Vec::new(), schema.clone(), Some(properties.clone()))?.into_inner()?;
        footer::check_limits(footer::of_bytes(&empty)).map_err(unreadable)?;
        let row_group_bytes = (leaves * COLUMN_BYTES).clamp(*ROW_GROUP_BYTES.start(), *ROW_GROUP_BYTES.end());
        // The Arrow schema of a signed file comes last, with the signature.
        let options = ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(signing.is_some());
        let writer = ArrowWriter::try_new_with_options(Counted { output, bytes: 0 }, schema, options)?;
        Ok(Self { writer, row_group_bytes, signing })
    }

    /// Writes a batch.
    ///
    /// # Errors
    /// When a row is longer than the reader accepts, or writing fails.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), WriteError> {
        check_rows(batch).map_err(unreadable)?;
        if let Some(Signing { signer, .. }) = &mut self.signing {
            signer.update(batch).map_err(unsignable)?;
        }
        self.writer.write(batch)?;
        if self.writer.in_progress_size() >= self.row_group_bytes {
            self.writer.flush()?;
        }
        Ok(())
    }

    /// Writes the footer and returns the output.
    ///
    /// # Errors
    /// When the footer is longer than the reader accepts, or writing fails.
    pub fn finish(mut self) -> Result<W, WriteError> {
        self.writer.flush()?;
        for (key, value) in self.signing.take().map(Signing::entries).unwrap_or_default() {
            self.writer.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
        }
        let before = self.writer.bytes_written() as u64;
        let Counted { output, bytes } = self.writer.into_inner()?;
        check_footer(bytes - before, MAX_FOOTER_BYTES)?;
        Ok(output)
    }
}

/// Rejects a table that the reader would reject.
fn unreadable(error: Error) -> WriteError {
    WriteError::Unreadable(Box::new(error))
}

fn unsignable(error: Error) -> WriteError {
    WriteError::Unsignable(Box::new(error))
}

fn check_footer(bytes: u64, limit: u64) -> Result<(), WriteError> {
    match bytes > limit {
        true => Err(unreadable(ErrorKind::TooLarge { what: "bytes in the footer", limit }.into())),
        false => Ok(()),
    }
}

/// Checks that the reader accepts every row, together with the rows that it reads in the same
/// batch.
fn check_rows(batch: &RecordBatch) -> Result<(), Error> {
    let mut lengths = vec![0_usize; batch.num_rows()];
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        if let (_, Some(row)) = byte_size(column) {
            let (what, limit) = ("bytes in a cell", MAX_CELL_BYTES as u64);
            return Err(ErrorKind::TooLarge { what, limit }.at(row, field.name()));
        }
        let fixed = usize::try_from(padded_width(column.data_type())).unwrap_or(usize::MAX);
        for (row, length) in lengths.iter_mut().enumerate() {
            *length = length.saturating_add(cell_bytes(column, row).unwrap_or(fixed));
        }
    }
    match lengths.iter().position(|&length| length > MAX_BATCH_BYTES - BATCH_BYTES) {
        None => Ok(()),
        Some(row) => {
            let (what, limit) = ("bytes in a row", (MAX_BATCH_BYTES - BATCH_BYTES) as u64);
            Err(ErrorKind::TooLarge { what, limit }.at_row(row as u64))
        }
    }
}

/// Bytes of a cell in types with cells of variable length.
fn cell_bytes(column: &ArrayRef, row: usize) -> Option<usize> {
    Some(match column.data_type() {
        kind if column.is_null(row) && (kind.is_string() || kind.is_binary()) => 0,
        DataType::Utf8 => column.as_string::<i32>().value_length(row) as usize,
        DataType::LargeUtf8 => column.as_string::<i64>().value_length(row) as usize,
        DataType::Utf8View => column.as_string_view().value(row).len(),
        DataType::Binary => column.as_binary::<i32>().value_length(row) as usize,
        DataType::LargeBinary => column.as_binary::<i64>().value_length(row) as usize,
        DataType::BinaryView => column.as_binary_view().value(row).len(),
        _ => return None,
    })
}

/// Writer properties for a table with this many columns, counting nested ones individually. They
/// keep the pages that a reader has open, one and a dictionary per column, far below its limit.
fn properties(schema: &Schema, leaves: usize) -> WriterProperties {
    let page = MAX_OPEN_PAGES_BYTES as usize / (4 * leaves.max(1));
    let page = page.clamp(*PAGE_BYTES.start(), *PAGE_BYTES.end());
    let longest = schema.fields().iter().map(|field| match LatticeColumn::from_field(field) {
        // A total fills one page or several.
        Ok(Some(column)) if column.form == Form::Totals => page,
        _ => padded_width(field.data_type()) as usize,
    });
    let values = page / longest.max().unwrap_or(1).max(1);
    let statistics = if leaves > MAX_INDEXED_COLUMNS { EnabledStatistics::None } else { EnabledStatistics::Chunk };
    let defaults = WriterProperties::builder()
        .set_data_page_size_limit(page)
        .set_dictionary_page_size_limit(page)
        .set_write_batch_size(values.clamp(1, MAX_WRITE_BATCH))
        .set_created_by(concat!("hearith ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_statistics_enabled(statistics);
    let encrypted = |field: &&Arc<Field>| match field.data_type() {
        DataType::FixedSizeBinary(_) => matches!(EncryptedColumn::from_field(field), Ok(Some(_))),
        DataType::Binary => matches!(LatticeColumn::from_field(field), Ok(Some(_))),
        _ => false,
    };
    let properties = schema.fields().iter().filter(encrypted).fold(defaults, |properties, field| {
        let path = ColumnPath::new(vec![field.name().clone()]);
        properties
            .set_column_compression(path.clone(), Compression::UNCOMPRESSED)
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_statistics_enabled(path, EnabledStatistics::None)
    });
    let indices = schema.fields().iter().filter(|field| metadata::numbers_rows(field));
    let properties = indices.fold(properties, |properties, field| {
        let path = ColumnPath::new(vec![field.name().clone()]);
        properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED)
    });
    properties.build()
}

/// Why a stream could not be written. No error text contains a cell, so [`WriteError::NoText`] has
/// no source.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The output failed, for example because of a full disk or a closed pipe.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The table cannot be written as Parquet.
    #[error("{}", one_line(.0))]
    Parquet(#[source] ParquetError),
    /// The table cannot be written as CSV.
    #[error("the rows cannot be written as CSV")]
    Csv(#[source] csv::Error),
    /// The table cannot be signed.
    #[error("cannot be signed: {0}")]
    Unsignable(#[source] Box<Error>),
    /// The reader would reject the file.
    #[error("this version could not read the file back: {0}")]
    Unreadable(#[source] Box<Error>),
    /// A column or value has no text form.
    #[error("a value has no text form")]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_wide_tables_can_be_open_all_at_a_time() {
        for columns in [1, 100, 1000, 4096, 16_384] {
            let fields: Vec<Field> = (0..columns)
                .map(|column| Field::new(column.to_string(), DataType::FixedSizeBinary(768), true))
                .collect();
            let properties = properties(&Schema::new(fields), columns);
            let page = ColumnPath::new(vec!["0".to_owned()]);
            let dictionary = properties.column_dictionary_page_size_limit(&page);
            let data = properties.column_data_page_size_limit(&page);
            // A page exceeds its limit by up to one round of values.
            let values = properties.write_batch_size() * 768;
            assert!(columns as u64 * (dictionary + data + values) as u64 <= MAX_OPEN_PAGES_BYTES, "{columns}");
        }
    }

    #[test]
    fn a_footer_that_is_too_long_is_an_error() {
        check_footer(100, 100).unwrap();
        let error = check_footer(101, 100).unwrap_err();
        assert_eq!(error.to_string(), "this version could not read the file back: more than 100 bytes in the footer");
    }
}
