//! `hearith decrypt-share`.

use arrow_array::RecordBatch;
use hearith_columns::{Error, Sharer};

use crate::args::DecryptShare;
use crate::failure::Failure;
use crate::input::{ParquetFile, fixed_bytes};
use crate::keys::KeyFile;
use crate::output::Output;
use crate::pipeline::{ReadAhead, write_behind};
use crate::progress::{Length, Progress};
use crate::report::Stopwatch;
use crate::session::Session;
use crate::sink::Sink;

/// Writes a trustee's shares of the decryption of a table.
pub(crate) fn run(session: &Session, command: &DecryptShare) -> Result<(), Failure> {
    let share = KeyFile::open(&command.share)?.share(session)?;
    let table = ParquetFile::open(&command.input)?;
    let source = table.source()?;
    let sharer = Sharer::new(&share, &source.schema()).map_err(|error| Failure::at(&table.name, error))?;
    let output = Output::create(&command.out, &[&command.input, &command.share])?;
    let mut sink = Sink::parquet(output, sharer.schema())?;

    let mut watch = Stopwatch::start();
    let length = Length::Rows(source.rows());
    let rows_at_a_time = session.slow_rows(fixed_bytes(&source.schema()));
    let pieces = ReadAhead::start(table.pieces(source, rows_at_a_time, None)?);
    let progress = Progress::start("decrypting", length);
    let mut rows = 0;
    write_behind(
        |batch: RecordBatch| sink.write(&batch),
        |pass| {
            for piece in pieces {
                let piece = piece?;
                let at = |error: Error| Failure::at(&table.name, error.offset_rows(piece.first_row));
                pass(watch.compute(|| sharer.share(&piece.batch)).map_err(at)?)?;
                rows = piece.end_row();
                progress.set(piece.position, rows);
            }
            Ok(())
        },
    )?;
    sink.finish()?;
    drop(progress);
    session.report(&watch.stop("decrypt-share", rows, rows, None));
    Ok(())
}
