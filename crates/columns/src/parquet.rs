//! Parquet files as streams of batches: a file of any length in a bounded amount of memory.

use std::collections::HashSet;
use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::arrow::arrow_writer::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use crate::error::{Error, Reason};
use crate::guard::guarded;
use crate::metadata::EncryptedColumn;

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
    /// A file that is not Parquet, is cut short, or uses a feature that is not supported.
    pub fn open(file: File) -> Result<Self, Error> {
        let load = || ArrowReaderMetadata::load(&file, ArrowReaderOptions::new());
        let metadata = guarded(load).ok_or_else(broken)?.map_err(|error| unreadable(&error))?;
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

    /// The rows, `batch_rows` at a time; only the columns named in `only`, if given.
    ///
    /// # Errors
    /// As [`ParquetSource::open`]; the iterator's items fail when the file is damaged.
    pub fn batches(self, batch_rows: usize, only: Option<&HashSet<String>>) -> Result<ParquetBatches, Error> {
        let (schema, rows) = (self.schema(), self.rows());
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(self.file, self.metadata);
        let wanted = schema
            .fields()
            .iter()
            .enumerate()
            .filter_map(|(index, field)| only.is_none_or(|only| only.contains(field.name())).then_some(index));
        let wanted: Vec<usize> = wanted.collect();
        let mask = ProjectionMask::roots(builder.parquet_schema(), wanted.iter().copied());
        let schema = schema.project(&wanted).map_err(|error| damaged(&error))?;
        let build = || builder.with_batch_size(batch_rows).with_projection(mask).build();
        let reader = guarded(build).ok_or_else(broken)?.map_err(|error| unreadable(&error))?;
        Ok(ParquetBatches { reader: Some(reader), schema: Arc::new(schema), row: 0, rows })
    }
}

/// The batches of a Parquet file; errors carry the row of the file that was reached, and end it.
pub struct ParquetBatches {
    /// Gone after the end and after an error.
    reader: Option<ParquetRecordBatchReader>,
    schema: SchemaRef,
    row: u64,
    rows: u64,
}

impl ParquetBatches {
    /// The columns read.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

impl Iterator for ParquetBatches {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut reader = self.reader.take()?;
        let what = match guarded(|| reader.next()) {
            Some(Some(Ok(batch))) => match batch.with_schema(self.schema.clone()) {
                Ok(batch) => {
                    self.row += batch.num_rows() as u64;
                    self.reader = Some(reader);
                    return Some(Ok(batch));
                }
                Err(error) => one_line(&error.to_string()),
            },
            Some(None) if self.row == self.rows => return None,
            Some(None) => format!("the file ends, but its footer tells of {} rows", self.rows),
            Some(Some(Err(error))) => one_line(&error.to_string()),
            None => "the decoder broke down".to_owned(),
        };
        Some(Err(Error::row_of(self.row, Reason::Format(format!("damaged from here on: {what}")))))
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
    let encrypted = |field: &&Arc<Field>| {
        matches!(field.data_type(), DataType::FixedSizeBinary(_))
            && matches!(EncryptedColumn::from_field(field), Ok(Some(_)))
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

/// Why a stream could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The output refused: a full disk, a closed pipe.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The table cannot be written in this format.
    #[error("{0}")]
    Format(String),
}

impl From<ParquetError> for WriteError {
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::External(source) => match source.downcast::<std::io::Error>() {
                Ok(error) => Self::Io(*error),
                Err(source) => Self::Format(source.to_string()),
            },
            other => Self::Format(one_line(&other.to_string())),
        }
    }
}

fn unreadable(error: &ParquetError) -> Error {
    let text = format!("not a whole Parquet file: {}", one_line(&error.to_string()));
    Error::table(Reason::Format(text))
}

fn broken() -> Error {
    Error::table(Reason::Format("not a whole Parquet file: the decoder broke down".into()))
}

fn damaged(error: &arrow_schema::ArrowError) -> Error {
    Error::table(Reason::Format(format!("damaged: {}", one_line(&error.to_string()))))
}

/// Other people's error texts may run over lines; ours do not.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
