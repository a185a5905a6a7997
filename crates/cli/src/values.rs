//! `hearith export --values` and `hearith import --values`: exchange tables with databases, where
//! each cell is a self-describing ciphertext.

use hearith_columns::encrypted_columns;
use hearith_columns::values::{ValueReader, ValueWriter};

use crate::args::{Export, Import};
use crate::failure::CliError;
use crate::input::{ParquetFile, Table};
use crate::keys::Key;
use crate::output::Output;
use crate::phe::check_origin;
use crate::pipeline::{ReadAhead, write_each};
use crate::progress::{Length, Progress};
use crate::report::Stopwatch;
use crate::session::Session;
use crate::sink::Sink;

/// Rows per batch.
const ROWS: usize = 1024;

/// Writes a table as CSV.
pub(crate) fn export(session: &Session, command: &Export) -> Result<(), CliError> {
    let key = Key::read_public(session, &command.key)?;
    let table = ParquetFile::open(&command.input)?;
    let at = |error: hearith_columns::Error| CliError::at(&table.name, error);
    let source = table.source()?;
    let schema = source.schema();
    if encrypted_columns(&schema).map_err(at)?.is_empty() {
        return Err(CliError::at(&table.name, "no encrypted column"));
    }
    let writer = ValueWriter::new(&key, &schema).map_err(at)?;
    let output = Output::create(&command.out, &[&command.input, &command.key])?;
    let mut sink = Sink::csv(output, &writer.schema())?;

    let mut watch = Stopwatch::start();
    let progress = Progress::start("exporting", Length::Rows(source.rows()));
    let rows = write_each(ReadAhead::start(table.pieces(source, ROWS, None)?), &mut sink, &progress, |piece| {
        let made = watch.compute(|| writer.write(&piece.batch));
        made.map_err(|error| at(error.offset_rows(piece.first_row)))
    })?;
    sink.finish()?;
    drop(progress);
    session.report(&watch.stop("export", rows, rows, None));
    Ok(())
}

/// Reads a table from CSV twice: first for what the values of each column have in common, then for
/// the values.
pub(crate) fn import(session: &Session, command: &Import) -> Result<(), CliError> {
    let key = Key::read_public(session, &command.key)?;
    check_origin(&key, command)?;
    if command.input.as_os_str() == "-" {
        return Err(CliError::new("standard input cannot be read twice: name a file"));
    }
    let open = || Table::open(&command.input, ROWS);
    let mut reader = ValueReader::new(&key, &command.column);
    let mut watch = Stopwatch::start();
    let table = open()?;
    if !table.is_csv {
        return Err(CliError::at(&table.name, "not a CSV file"));
    }
    let (name, schema) = (table.name, table.schema);
    let at = |error: hearith_columns::Error| CliError::at(&name, error);
    for piece in ReadAhead::start(table.pieces) {
        let piece = piece?;
        watch.compute(|| reader.survey(&piece.batch)).map_err(at)?;
    }
    let values = reader.finish(&schema).map_err(at)?;
    let output = Output::table(&command.out, &[&command.input, &command.key])?;
    let mut sink = Sink::parquet(output, values.schema())?;
    let table = open()?;
    let progress = Progress::start("importing", table.length);
    let rows = write_each(ReadAhead::start(table.pieces), &mut sink, &progress, |piece| {
        let made = watch.compute(|| values.read(&piece.batch));
        made.map_err(|error| at(error.offset_rows(piece.first_row)))
    })?;
    sink.finish()?;
    drop(progress);
    session.report(&watch.stop("import", rows, rows, None));
    Ok(())
}
