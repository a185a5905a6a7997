//! `hearith combine`.

use arrow_array::RecordBatch;
use hearith_columns::{Combiner, Error, ErrorKind, TableDigest};

use crate::args::Combine;
use crate::decrypt::{MeanColumns, Overflows, format_batch, sink};
use crate::failure::{CliError, eprint_line};
use crate::input::{ParquetFile, Rows, fixed_bytes};
use crate::keys::KeyFile;
use crate::openings::digest;
use crate::pipeline::{ReadAhead, write_behind};
use crate::progress::{Length, Progress};
use crate::report::Stopwatch;
use crate::session::Session;
use crate::signing::{self, Signers};

/// Decrypts a table with the shares of enough trustees. Warns about invalid shares and ignores
/// them.
pub(crate) fn run(session: &Session, command: &Combine) -> Result<(), CliError> {
    let verification = KeyFile::open(&command.key)?.verification(session)?;
    let table = ParquetFile::open(&command.input)?;
    let source = table.source()?;
    let rows_at_a_time = session.ciphertext_batch_rows(fixed_bytes(&source.schema()));
    let schema = source.schema();
    let digest = digest(&table, rows_at_a_time, &Signers::read(&command.signers)?)?;
    let mut combiner =
        Combiner::new(&verification, &schema, digest).map_err(|error| CliError::at(&table.name, error))?;
    let mut shares = Vec::with_capacity(command.shares.len());
    for path in &command.shares {
        shares.push(opened(path, &table, source.rows(), rows_at_a_time, &mut combiner)?);
    }
    combiner.check_enough().map_err(|error| CliError::at(&table.name, error))?;
    let mut inputs = vec![&*command.input, &*command.key];
    inputs.extend(command.shares.iter().map(|path| &**path));
    inputs.extend(signing::files(&None, &command.signers));
    let means = MeanColumns::new(command.mean, &table.name, &schema, &combiner.schema())?;
    let columns = means.columns(&combiner.schema(), combiner.wide());
    let (mut sink, format) = sink(command.out.as_deref(), command.format, &inputs, (&columns.0, columns.1))?;

    let mut watch = Stopwatch::start();
    let length = Length::Rows(source.rows());
    let pieces = ReadAhead::start(table.pieces(source, rows_at_a_time, None)?);
    let progress = Progress::start("combining", length);
    let changed = |error: Error| CliError::at(&table.name, error);
    let mut again = TableDigest::new(&schema).map_err(changed)?;
    let (mut rows, mut overflows) = (0, Overflows::default());
    write_behind(
        |batch: RecordBatch| sink.write(&batch),
        |pass| {
            for piece in pieces {
                let piece = piece?;
                let at = |error: Error| CliError::at(&table.name, error.offset_rows(piece.first_row));
                let of_piece = shares
                    .iter_mut()
                    .map(|shares| shares.take(piece.batch.num_rows()))
                    .collect::<Result<Vec<_>, _>>()?;
                again.update(&piece.batch).map_err(at)?;
                let combined = watch.compute(|| combiner.combine(&piece.batch, &of_piece)).map_err(at)?;
                for error in combined.wrong {
                    eprint_line(&format!("{}: ignored", at(error)));
                }
                let numbers = format_batch(&combined.decrypted, format);
                pass(numbers.and_then(|numbers| means.of(&piece.batch, numbers)).map_err(at)?)?;
                overflows.note(&combined.decrypted, &piece);
                rows = piece.end_row();
                progress.set(piece.position, rows);
            }
            Ok(())
        },
    )?;
    if again.finish() != digest {
        return Err(changed(ErrorKind::OtherTable { trustee: None }.into()));
    }
    sink.finish()?;
    drop(progress);
    overflows.result(&table.name)?;
    session.report(&watch.stop("combine", rows, rows, None));
    Ok(())
}

/// Adds a trustee's shares to the combiner and returns their rows.
fn opened(
    path: &std::path::Path,
    table: &ParquetFile,
    rows: u64,
    rows_at_a_time: usize,
    combiner: &mut Combiner<'_>,
) -> Result<Rows, CliError> {
    let file = ParquetFile::open(path)?;
    let source = file.source()?;
    combiner.add(&source.schema()).map_err(|error| CliError::at(&file.name, error))?;
    if source.rows() != rows {
        let what = format!("has {} rows, but {} has {rows}", source.rows(), table.name);
        return Err(CliError::at(&file.name, what));
    }
    let schema = source.schema();
    Ok(Rows::new(file.pieces(source, rows_at_a_time, None)?, schema))
}
