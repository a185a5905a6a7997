//! The forms in which a table is written.

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use hearith_columns::csv::CsvSink;
use hearith_columns::parquet::{ParquetSink, WriteError};

use crate::failure::Failure;
use crate::json_sink::JsonSink;
use crate::output::Output;
use crate::table::TableSink;

/// A table being written.
pub(crate) struct Sink {
    name: String,
    form: Form,
}

enum Form {
    Parquet(ParquetSink<Output>),
    Csv(CsvSink<Output>),
    Json(JsonSink<Output>),
    Table(TableSink<Output>),
}

impl Sink {
    /// Begins a Parquet file.
    pub(crate) fn parquet(output: Output, schema: SchemaRef) -> Result<Self, Failure> {
        Self::check_parquet(&output)?;
        Self::new(output, |output| Ok(Form::Parquet(ParquetSink::new(output, schema)?)))
    }

    /// Refuses an output that cannot take a Parquet file.
    pub(crate) fn check_parquet(output: &Output) -> Result<(), Failure> {
        if output.is_terminal() {
            let what = "a terminal cannot show Parquet: name a file with --out";
            return Err(Failure::at(output.name(), what));
        }
        Ok(())
    }

    /// Begins comma-separated text.
    pub(crate) fn csv(output: Output, schema: &Schema) -> Result<Self, Failure> {
        Self::new(output, |output| Ok(Form::Csv(CsvSink::new(output, schema)?)))
    }

    /// Begins text separated by tabs.
    pub(crate) fn tsv(output: Output, schema: &Schema) -> Result<Self, Failure> {
        Self::new(output, |output| Ok(Form::Csv(CsvSink::delimited(output, schema, b'\t')?)))
    }

    /// Begins an array of objects.
    pub(crate) fn json(output: Output, schema: &Schema) -> Result<Self, Failure> {
        Self::new(output, |output| Ok(Form::Json(JsonSink::new(output, schema)?)))
    }

    /// Begins aligned text.
    pub(crate) fn table(output: Output, schema: &Schema) -> Result<Self, Failure> {
        Self::new(output, |output| Ok(Form::Table(TableSink::new(output, schema))))
    }

    fn new(output: Output, form: impl FnOnce(Output) -> Result<Form, WriteError>) -> Result<Self, Failure> {
        let name = output.name().to_owned();
        match form(output) {
            Ok(form) => Ok(Self { name, form }),
            Err(error) => Err(Failure::from_write(&name, error)),
        }
    }

    /// Writes a batch.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), Failure> {
        let written = match &mut self.form {
            Form::Parquet(sink) => sink.write(batch),
            Form::Csv(sink) => sink.write(batch),
            Form::Json(sink) => sink.write(batch),
            Form::Table(sink) => sink.write(batch),
        };
        written.map_err(|error| Failure::from_write(&self.name, error))
    }

    /// Writes what comes last and completes the output.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let finished = match self.form {
            Form::Parquet(sink) => sink.finish(),
            Form::Csv(sink) => sink.finish(),
            Form::Json(sink) => sink.finish(),
            Form::Table(sink) => sink.finish(),
        };
        finished.map_err(|error| Failure::from_write(&self.name, error))?.commit()
    }
}
