//! `hearith decrypt` with a key of the lattice scheme.

use arrow_array::RecordBatch;
use hearith_columns::Error;
use hearith_columns::lattice::LatticeDecryptor;

use super::{Key, check_options};
use crate::args::{Decrypt, Format};
use crate::decrypt::{MeanColumns, sink};
use crate::failure::{CliError, name};
use crate::input::ParquetFile;
use crate::keys::PUBLIC;
use crate::pipeline::{ReadAhead, write_behind};
use crate::progress::{Length, Progress};
use crate::report::Stopwatch;
use crate::session::Session;
use crate::signing::{self, Signers};

/// Decrypts a table of chunks or of totals.
pub(crate) fn decrypt(session: &Session, command: &Decrypt, key: Key) -> Result<(), CliError> {
    check_options(session, &command.remote, command.unchecked_device)?;
    if command.check {
        return Err(CliError::new("--check works with Paillier keys only"));
    }
    let Key::Private(key) = key else { return Err(CliError::at(name(&command.key), PUBLIC)) };
    let table = ParquetFile::open(&command.input)?;
    let source = table.source()?;
    let signers = Signers::read(&command.signers)?;
    signers.verify(&table, key.public().set().degree())?;
    let schema = source.schema();
    let prepare =
        |text: bool| LatticeDecryptor::new(&key, &schema, text).map_err(|error| CliError::at(&table.name, error));
    let mut inputs = vec![&*command.input, &*command.key];
    inputs.extend(signing::files(&None, &command.signers));
    let numbers = prepare(false)?.schema();
    let means = MeanColumns::new(command.mean, &table.name, &schema, &numbers)?;
    let columns = means.columns(&numbers, Vec::new());
    let (mut sink, format) = sink(command.out.as_deref(), command.format, &inputs, (&columns.0, columns.1))?;
    let mut decryptor = prepare(format != Format::Parquet)?;

    let mut watch = Stopwatch::start();
    let length = Length::Rows(source.rows());
    let pieces = ReadAhead::start(signers.pieces(&table, source, key.public().set().degree())?);
    let progress = Progress::start("decrypting", length);
    let mut rows = 0;
    write_behind(
        |batch: RecordBatch| sink.write(&batch),
        |pass| {
            for piece in pieces {
                let piece = piece?;
                let at = |error: Error| CliError::at(&table.name, error.offset_rows(piece.first_row));
                if let Some(decrypted) = watch.compute(|| decryptor.decrypt(&piece.batch)).map_err(at)? {
                    pass(means.of(&piece.batch, decrypted).map_err(at)?)?;
                }
                rows = piece.end_row();
                progress.set(piece.position, rows);
            }
            decryptor.end().map_err(|error| CliError::at(&table.name, error))
        },
    )?;
    sink.finish()?;
    drop(progress);
    session.report(&watch.stop("decrypt", rows, rows, None));
    Ok(())
}
