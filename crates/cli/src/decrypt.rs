//! `hearith decrypt`.

use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use hearith_columns::{Decrypted, Decryptor, Error};

use crate::args::{Decrypt, Format};
use crate::device::DeviceDecryptor;
use crate::failure::{Failure, table_line};
use crate::input::{ParquetFile, Piece};
use crate::keys::Key;
use crate::output::Output;
use crate::pipeline::{ReadAhead, write_behind};
use crate::progress::{Length, Progress};
use crate::report::Stopwatch;
use crate::session::Session;
use crate::sink::Sink;

/// Decrypts a table. As text it is complete even when totals overflowed, with a mark in their
/// place; the exit status tells of it all the same.
pub(crate) fn run(session: &Session, command: &Decrypt) -> Result<(), Failure> {
    let key = Key::read_private(session, &command.key)?;
    let table = ParquetFile::open(&command.input)?;
    let source = table.source()?;
    let device = session.device.map(|engine| DeviceDecryptor::open(engine, &key)).transpose()?;
    let decrypt =
        device.as_ref().map_or(&key as &dyn hearith_columns::Decrypt, |device| device as &dyn hearith_columns::Decrypt);
    let decryptor = Decryptor::with(decrypt, &source.schema()).map_err(|error| Failure::in_table(&table.name, &error))?;
    let out = command.out.clone().unwrap_or_else(|| PathBuf::from("-"));
    let output = Output::create(&out, &[&command.input, &command.key])?;
    let format = command.format.unwrap_or_else(|| usual_format(&out, &output));
    let schema = decryptor.schema();
    let mut sink = match format {
        Format::Parquet => Sink::parquet(output, schema)?,
        Format::Csv => Sink::csv(output, &schema)?,
        Format::Table => Sink::table(output, &schema)?,
    };

    let mut watch = Stopwatch::start();
    let length = Length::Rows(source.rows());
    let rows_at_a_time = device.as_ref().map_or(session.slow_rows(), DeviceDecryptor::batch_size);
    let pieces = ReadAhead::start(table.pieces(source, rows_at_a_time, None)?);
    let progress = Progress::start("decrypting", length);
    let (mut rows, mut overflows) = (0, Overflows::default());
    write_behind(
        |batch: RecordBatch| sink.write(&batch),
        |pass| {
            for piece in pieces {
                let piece = piece?;
                let at = |error: Error| Failure::in_table(&table.name, &error.offset_rows(piece.first_row));
                let decrypted = watch.compute(|| decryptor.decrypt(&piece.batch)).map_err(at)?;
                let batch = match format {
                    Format::Parquet => decrypted.to_batch(),
                    Format::Csv | Format::Table => decrypted.to_text(),
                };
                pass(batch.map_err(at)?)?;
                overflows.note(&decrypted, &piece);
                rows = piece.end_row();
                progress.set(piece.position, rows);
            }
            Ok(())
        },
    )?;
    sink.finish()?;
    drop(progress);
    overflows.result(&table.name)?;
    let note = device.map(|device| device.note()).transpose()?;
    session.report(&watch.stop("decrypt", rows, rows, note));
    Ok(())
}

/// The format that the output's name, or its being a terminal, asks for.
fn usual_format(path: &Path, output: &Output) -> Format {
    match path.extension() {
        Some(extension) if extension.eq_ignore_ascii_case("parquet") => Format::Parquet,
        _ if output.is_terminal() => Format::Table,
        _ => Format::Csv,
    }
}

/// Totals that overflowed: the first, and how many.
#[derive(Default)]
struct Overflows {
    first: Option<Error>,
    count: usize,
}

impl Overflows {
    fn note(&mut self, decrypted: &Decrypted, piece: &Piece) {
        self.count += decrypted.overflows();
        if self.first.is_none() {
            let first = decrypted.overflow();
            self.first = first.map(|error| error.offset_rows(piece.first_row));
        }
    }

    fn result(self, file: &str) -> Result<(), Failure> {
        match (self.first, self.count) {
            (None, _) => Ok(()),
            (Some(error), 1) => Err(Failure::in_table(file, &error)),
            (Some(error), count) => Err(Failure::at(file, format!("{} (and {} more cells)", table_line(&error), count - 1))),
        }
    }
}
