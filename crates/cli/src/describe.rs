//! `hearith describe`.

use hearith_columns::{Describer, Error};

use crate::args::Describe;
use crate::failure::CliError;
use crate::input::{ParquetFile, rows_of};
use crate::output::Output;
use crate::pipeline::{ReadAhead, write_each};
use crate::progress::{Length, Progress};
use crate::report::Stopwatch;
use crate::session::Session;
use crate::signing;
use crate::sink::Sink;

/// Approximate number of bytes per batch.
const BATCH_BYTES: usize = 8 << 20;

/// Copies the descriptions of another table to a table.
pub(crate) fn run(session: &Session, command: &Describe) -> Result<(), CliError> {
    let (table, like) = (ParquetFile::open(&command.input)?, ParquetFile::open(&command.like)?);
    let source = table.source()?;
    let original = like.source()?.schema();
    let describer = Describer::new(&source.schema(), &original).map_err(|error| CliError::at(&table.name, error))?;
    let sign = signing::key(session, command.sign.as_deref())?;
    let mut inputs = vec![&*command.input, &*command.like];
    inputs.extend(command.sign.as_deref());
    let output = Output::table(&command.out, &inputs)?;
    let mut sink = Sink::signed_parquet(output, describer.schema(), sign)?;

    let mut watch = Stopwatch::start();
    let progress = Progress::start("describing", Length::Rows(source.rows()));
    let rows = rows_of(&source.schema(), BATCH_BYTES);
    let pieces = ReadAhead::start(table.pieces(source, rows, None)?);
    let rows = write_each(pieces, &mut sink, &progress, |piece| {
        let at = |error: Error| CliError::at(&table.name, error.offset_rows(piece.first_row));
        watch.compute(|| describer.describe(&piece.batch)).map_err(at)
    })?;
    sink.finish()?;
    drop(progress);
    session.report(&watch.stop("describe", rows, rows, None));
    Ok(())
}
