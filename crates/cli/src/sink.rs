//! The output formats of a table.

use std::mem;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use hearith_columns::csv::CsvWriter;
use hearith_columns::parquet::{ParquetWriter, WriteError};
use hearith_columns::{SigningKey, narrowed};

use crate::failure::CliError;
use crate::json_sink::JsonSink;
use crate::output::Output;
use crate::table::TableSink;

/// Maximum bytes of batches that are buffered until all numbers are known. Beyond it, each column
/// keeps the type that its range requires.
const MAX_BUFFERED_BYTES: usize = 1 << 30;

/// A Parquet file whose types depend on its numbers.
struct Buffered {
    output: Output,
    schema: SchemaRef,
    /// The columns whose type may turn out to be narrower.
    wide: Vec<usize>,
    batches: Vec<RecordBatch>,
    bytes: usize,
}

/// A table being written.
pub(crate) struct Sink {
    name: String,
    form: Form,
}

enum Form {
    Parquet(ParquetWriter<Output>),
    Buffered(Buffered),
    Csv(CsvWriter<Output>),
    Json(JsonSink<Output>),
    Table(TableSink<Output>),
    /// After a failure.
    Ended,
}

impl Sink {
    /// Begins a Parquet file.
    pub(crate) fn parquet(output: Output, schema: SchemaRef) -> Result<Self, CliError> {
        Self::check_parquet(&output)?;
        Self::new(output, |output| Ok(Form::Parquet(ParquetWriter::new(output, schema)?)))
    }

    /// Begins a Parquet file, signed with the key if there is one.
    pub(crate) fn signed_parquet(
        output: Output,
        schema: SchemaRef,
        key: Option<Arc<SigningKey>>,
    ) -> Result<Self, CliError> {
        let Some(key) = key else { return Self::parquet(output, schema) };
        Self::check_parquet(&output)?;
        Self::new(output, |output| Ok(Form::Parquet(ParquetWriter::signed(output, schema, key)?)))
    }

    /// Begins a Parquet file. Its `Decimal256` columns `wide` become `Decimal128` if all their
    /// numbers fit.
    pub(crate) fn narrow_parquet(output: Output, schema: SchemaRef, wide: Vec<usize>) -> Result<Self, CliError> {
        if wide.is_empty() {
            return Self::parquet(output, schema);
        }
        Self::check_parquet(&output)?;
        Self::new(output, |output| Ok(Form::Buffered(Buffered { output, schema, wide, batches: Vec::new(), bytes: 0 })))
    }

    /// Rejects an output that cannot hold Parquet.
    pub(crate) fn check_parquet(output: &Output) -> Result<(), CliError> {
        if output.is_terminal() {
            let what = "a terminal cannot show Parquet: name a file with --out";
            return Err(CliError::at(output.name(), what));
        }
        Ok(())
    }

    /// Begins comma-separated text.
    pub(crate) fn csv(output: Output, schema: &Schema) -> Result<Self, CliError> {
        Self::new(output, |output| Ok(Form::Csv(CsvWriter::new(output, schema)?)))
    }

    /// Begins tab-separated text.
    pub(crate) fn tsv(output: Output, schema: &Schema) -> Result<Self, CliError> {
        Self::new(output, |output| Ok(Form::Csv(CsvWriter::delimited(output, schema, b'\t')?)))
    }

    /// Begins a JSON array of objects.
    pub(crate) fn json(output: Output, schema: &Schema) -> Result<Self, CliError> {
        Self::new(output, |output| Ok(Form::Json(JsonSink::new(output, schema)?)))
    }

    /// Begins aligned text.
    pub(crate) fn table(output: Output, schema: &Schema) -> Result<Self, CliError> {
        Self::new(output, |output| Ok(Form::Table(TableSink::new(output, schema))))
    }

    fn new(output: Output, form: impl FnOnce(Output) -> Result<Form, WriteError>) -> Result<Self, CliError> {
        let name = output.name().to_owned();
        match form(output) {
            Ok(form) => Ok(Self { name, form }),
            Err(error) => Err(CliError::from_write(&name, error)),
        }
    }

    /// Writes a batch.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), CliError> {
        if let Form::Buffered(buffered) = &mut self.form {
            if buffered.push(batch) {
                return Ok(());
            }
            if let Form::Buffered(buffered) = mem::replace(&mut self.form, Form::Ended) {
                self.form = Form::Parquet(buffered.into_writer(&self.name, false)?);
            }
        }
        let written = match &mut self.form {
            Form::Buffered(_) | Form::Ended => return Ok(()),
            Form::Parquet(sink) => sink.write(batch),
            Form::Csv(sink) => sink.write(batch),
            Form::Json(sink) => sink.write(batch),
            Form::Table(sink) => sink.write(batch),
        };
        written.map_err(|error| CliError::from_write(&self.name, error))
    }

    /// Writes the end and completes the output.
    pub(crate) fn finish(self) -> Result<(), CliError> {
        let finished = match self.form {
            Form::Buffered(buffered) => buffered.into_writer(&self.name, true)?.finish(),
            Form::Ended => return Ok(()),
            Form::Parquet(sink) => sink.finish(),
            Form::Csv(sink) => sink.finish(),
            Form::Json(sink) => sink.finish(),
            Form::Table(sink) => sink.finish(),
        };
        finished.map_err(|error| CliError::from_write(&self.name, error))?.commit()
    }
}

impl Buffered {
    /// Buffers a batch, if it fits. Returns whether it did.
    fn push(&mut self, batch: &RecordBatch) -> bool {
        let bytes = self.bytes + batch.get_array_memory_size();
        let fits = bytes <= MAX_BUFFERED_BYTES;
        if fits {
            self.bytes = bytes;
            self.batches.push(batch.clone());
        }
        fits
    }

    /// Begins the file with the buffered batches, in narrower types if they are `all` numbers.
    fn into_writer(self, name: &str, all: bool) -> Result<ParquetWriter<Output>, CliError> {
        let wide: &[usize] = if all { &self.wide } else { &[] };
        let narrow = narrowed(&self.schema, wide, &self.batches);
        let (schema, batches) = narrow.map_err(|error| CliError::at(name, error))?;
        let write = || {
            let mut sink = ParquetWriter::new(self.output, schema)?;
            batches.iter().try_for_each(|batch| sink.write(batch))?;
            Ok(sink)
        };
        write().map_err(|error| CliError::from_write(name, error))
    }
}
