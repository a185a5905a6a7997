//! `hearith prove decryption` and `hearith verify decryption`, for totals with all their labels.

use arrow_array::RecordBatch;
use hearith_columns::{Checker, Digest, Error, ErrorKind, Opener, TableDigest};

use crate::args::{ProveDecryption, VerifyDecryption};
use crate::decrypt::{MeanColumns, Overflows, format_batch, sink};
use crate::failure::CliError;
use crate::input::{ParquetFile, Rows, fixed_bytes};
use crate::keys::Key;
use crate::output::Output;
use crate::pipeline::{ReadAhead, write_behind, write_each};
use crate::progress::{Length, Progress};
use crate::report::Stopwatch;
use crate::session::Session;
use crate::signing::{self, Signers};
use crate::sink::Sink;

/// Writes the plaintext and the proof of every ciphertext.
pub(crate) fn prove(session: &Session, command: &ProveDecryption) -> Result<(), CliError> {
    let key = Key::read_private(session, &command.key)?;
    let table = ParquetFile::open(&command.input)?;
    let source = table.source()?;
    let signers = Signers::read(&command.signers)?;
    let digest = digest(&table, session.ciphertext_batch_rows(fixed_bytes(&source.schema())), &signers)?;
    let opener = Opener::new(&key, &source.schema(), digest).map_err(|error| CliError::at(&table.name, error))?;
    let mut inputs = vec![&*command.input, &*command.key];
    inputs.extend(signing::files(&None, &command.signers));
    let output = Output::table(&command.out, &inputs)?;
    let mut sink = Sink::parquet(output, opener.schema())?;

    let mut watch = Stopwatch::start();
    let length = Length::Rows(source.rows());
    let rows_at_a_time = session.ciphertext_batch_rows(fixed_bytes(&source.schema()));
    let pieces = ReadAhead::start(signers.pieces(&table, source, rows_at_a_time)?);
    let progress = Progress::start("proving", length);
    let rows = write_each(pieces, &mut sink, &progress, |piece| {
        let made = watch.compute(|| opener.open(&piece.batch));
        made.map_err(|error| CliError::at(&table.name, error.offset_rows(piece.first_row)))
    })?;
    sink.finish()?;
    drop(progress);
    session.report(&watch.stop("prove", rows, rows, None));
    Ok(())
}

/// Checks the plaintext and the proof of every ciphertext, and writes the numbers.
pub(crate) fn verify(session: &Session, command: &VerifyDecryption) -> Result<(), CliError> {
    let key = Key::read_public(session, &command.key)?;
    let (table, proof) = (ParquetFile::open(&command.input)?, ParquetFile::open(&command.proof)?);
    let (source, proofs) = (table.source()?, proof.source()?);
    let (schema, shape) = (source.schema(), proofs.schema());
    let signers = Signers::read(&command.signers)?;
    let digest = digest(&table, session.ciphertext_batch_rows(fixed_bytes(&schema)), &signers)?;
    let checker = Checker::new(&key, &schema, &shape, digest).map_err(|error| {
        let of_proof =
            matches!(error.kind(), ErrorKind::NotProofs | ErrorKind::OtherTable { .. } | ErrorKind::Unbinding { .. });
        CliError::at(if of_proof { &proof.name } else { &table.name }, error)
    })?;
    if source.rows() != proofs.rows() {
        let what = format!("has {} rows, but {} has {}", proofs.rows(), table.name, source.rows());
        return Err(CliError::at(&proof.name, what));
    }
    let mut inputs = vec![&*command.input, &*command.proof, &*command.key];
    inputs.extend(signing::files(&None, &command.signers));
    let means = MeanColumns::new(command.mean, &table.name, &schema, &checker.schema())?;
    let columns = means.columns(&checker.schema(), checker.wide());
    let (mut sink, format) = sink(command.out.as_deref(), command.format, &inputs, (&columns.0, columns.1))?;

    let mut watch = Stopwatch::start();
    let length = Length::Rows(source.rows());
    let rows_at_a_time = session.ciphertext_batch_rows(fixed_bytes(&schema));
    let pieces = ReadAhead::start(table.pieces(source, rows_at_a_time, None)?);
    let mut proofs = Rows::new(proof.pieces(proofs, rows_at_a_time, None)?, shape);
    let changed = |error: Error| CliError::at(&table.name, error);
    let mut again = TableDigest::new(&schema).map_err(changed)?;
    let progress = Progress::start("verifying", length);
    let (mut rows, mut overflows) = (0, Overflows::default());
    write_behind(
        |batch: RecordBatch| sink.write(&batch),
        |pass| {
            for piece in pieces {
                let piece = piece?;
                let at = |error: Error| CliError::at(&table.name, error.offset_rows(piece.first_row));
                let proofs = proofs.take(piece.batch.num_rows())?;
                let checked = watch.compute(|| checker.check(&piece.batch, &proofs)).map_err(at)?;
                again.update(&piece.batch).map_err(at)?;
                let numbers = format_batch(&checked, format).and_then(|numbers| means.of(&piece.batch, numbers));
                pass(numbers.map_err(at)?)?;
                overflows.note(&checked, &piece);
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
    session.report(&watch.stop("verify", rows, rows, None));
    Ok(())
}

/// Reads a table to compute its digest. One of the signers must have signed the table, if there are
/// any.
pub(crate) fn digest(table: &ParquetFile, rows_at_a_time: usize, signers: &Signers) -> Result<Digest, CliError> {
    let source = table.source()?;
    let failed = |error: Error| CliError::at(&table.name, error);
    let mut digest = TableDigest::new(&source.schema()).map_err(failed)?;
    for piece in ReadAhead::start(table.pieces(source, rows_at_a_time, None)?) {
        digest.update(&piece?.batch).map_err(failed)?;
    }
    let digest = digest.finish();
    signers.verify_digest(table, &digest)?;
    Ok(digest)
}
