//! `hearith decrypt-share`.

use hearith_columns::Sharer;

use crate::args::DecryptShare;
use crate::failure::CliError;
use crate::input::{ParquetFile, fixed_bytes};
use crate::keys::KeyFile;
use crate::openings::digest;
use crate::output::Output;
use crate::pipeline::{ReadAhead, write_each};
use crate::progress::{Length, Progress};
use crate::report::Stopwatch;
use crate::session::Session;
use crate::signing::{self, Signers};
use crate::sink::Sink;

/// Writes a trustee's decryption shares of a table.
pub(crate) fn run(session: &Session, command: &DecryptShare) -> Result<(), CliError> {
    let share = KeyFile::open(&command.share)?.share(session)?;
    let table = ParquetFile::open(&command.input)?;
    let source = table.source()?;
    let signers = Signers::read(&command.signers)?;
    let digest = digest(&table, session.ciphertext_batch_rows(fixed_bytes(&source.schema())), &signers)?;
    let sharer = Sharer::new(&share, &source.schema(), digest).map_err(|error| CliError::at(&table.name, error))?;
    let mut inputs = vec![&*command.input, &*command.share];
    inputs.extend(signing::files(&None, &command.signers));
    let output = Output::table(&command.out, &inputs)?;
    let mut sink = Sink::parquet(output, sharer.schema())?;

    let mut watch = Stopwatch::start();
    let length = Length::Rows(source.rows());
    let rows_at_a_time = session.ciphertext_batch_rows(fixed_bytes(&source.schema()));
    let pieces = ReadAhead::start(signers.pieces(&table, source, rows_at_a_time)?);
    let progress = Progress::start("decrypting", length);
    let rows = write_each(pieces, &mut sink, &progress, |piece| {
        let made = watch.compute(|| sharer.share(&piece.batch));
        made.map_err(|error| CliError::at(&table.name, error.offset_rows(piece.first_row)))
    })?;
    sink.finish()?;
    drop(progress);
    session.report(&watch.stop("decrypt-share", rows, rows, None));
    Ok(())
}
