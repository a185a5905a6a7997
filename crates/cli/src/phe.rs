//! `hearith export` and `hearith import`: columns exchanged with python-paillier.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, Write};
use std::path::Path;

use hearith_columns::phe::{self, ImportOptions, Importer};
use hearith_columns::{Encoding, ErrorKind, encrypted_columns};
use hearith_paillier::{PublicKey, Variant};
use serde::Deserialize;

use crate::args::{Export, Import};
use crate::failure::{CliError, name};
use crate::input::ParquetFile;
use crate::json_values::{Cell, Values};
use crate::keys::Key;
use crate::output::Output;
use crate::pipeline::ReadAhead;
use crate::progress::{Length, Progress};
use crate::report::Stopwatch;
use crate::session::Session;
use crate::sink::Sink;
use crate::values;

/// Ciphertexts per batch.
const ROWS: usize = 1024;

/// Writes an encrypted column as JSON, one object per line.
pub(crate) fn export(session: &Session, command: &Export) -> Result<(), CliError> {
    let Some(name) = command.column.as_deref().filter(|_| !command.values) else {
        return values::export(session, command);
    };
    let key = Key::read_public(session, &command.key)?;
    let table = ParquetFile::open(&command.input)?;
    let at = |error: hearith_columns::Error| CliError::at(&table.name, error);
    let source = table.source()?;
    let columns = encrypted_columns(&source.schema()).map_err(at)?;
    let available = columns.iter().map(|column| column.name.clone()).collect();
    let column = columns.into_iter().find(|column| column.name == name);
    let column = column.ok_or_else(|| at(ErrorKind::NoSuchColumn { available }.in_column(name)))?;
    column.check_key(&key).map_err(at)?;
    let mut output = Output::create(&command.out, &[&command.input, &command.key])?;

    let mut watch = Stopwatch::start();
    let progress = Progress::start("exporting", Length::Rows(source.rows()));
    let only = [column.name.clone()].into();
    let mut rows = 0;
    for piece in ReadAhead::start(table.pieces(source, ROWS, Some(&only))?) {
        let piece = piece?;
        let cells = watch
            .compute(|| phe::export(&key, &column, &piece.batch))
            .map_err(|error| at(error.offset_rows(piece.first_row)))?;
        for cell in cells {
            writeln!(output, "{}", cell.as_deref().unwrap_or("null"))
                .map_err(|error| CliError::writing(output.name(), error))?;
        }
        rows = piece.end_row();
        progress.set(piece.position, rows);
    }
    output.commit()?;
    drop(progress);
    let note = match (column.encoding, column.sources[0].scale) {
        (Encoding::Fixed, scale) => Some(format!("numbers are times 10^{scale}")),
        _ => None,
    };
    session.report(&watch.stop("export", rows, rows, note));
    Ok(())
}

/// Reads ciphertexts from JSON into an encrypted column.
pub(crate) fn import(session: &Session, command: &Import) -> Result<(), CliError> {
    if command.values {
        return values::import(session, command);
    }
    let [column] = &command.column[..] else {
        return Err(CliError::new("python-paillier's JSON has one column: give --column once"));
    };
    let key = Key::read_public(session, &command.key)?;
    check_origin(&key, command)?;
    let input = Reread::open(&command.input)?;
    let options = ImportOptions {
        column: column.clone(),
        exponent: lowest_exponent(&input)?,
        scale: command.scale,
        range: command.range.clone(),
        max_additions: command.max_additions,
        additions: command.additions,
    };
    let at = |error: hearith_columns::Error| CliError::at(&input.name, error);
    let importer = Importer::new(&key, &options).map_err(at)?;
    let output = Output::table(&command.out, &[&command.input, &command.key])?;
    let mut sink = Sink::parquet(output, importer.schema())?;

    let mut watch = Stopwatch::start();
    let progress = Progress::start("importing", Length::Unknown);
    let mut values = input.values()?;
    let mut rows = 0;
    loop {
        let cells: Vec<Cell> = values.by_ref().take(ROWS).collect::<Result<_, _>>()?;
        if cells.is_empty() {
            break;
        }
        let texts: Vec<Option<&str>> = cells.iter().map(|cell| cell.as_ref().map(|it| it.get())).collect();
        let batch = watch.compute(|| importer.import(&texts)).map_err(|error| at(error.offset_rows(rows)))?;
        sink.write(&batch)?;
        rows += cells.len() as u64;
        progress.set(rows, rows);
    }
    sink.finish()?;
    drop(progress);
    session.report(&watch.stop("import", rows, rows, None));
    Ok(())
}

/// Rejects ciphertexts that the key may be unable to decrypt.
pub(crate) fn check_origin(key: &PublicKey, command: &Import) -> Result<(), CliError> {
    if key.variant() == Variant::Subgroup && !command.any_randomiser {
        let text = "a subgroup key decrypts foreign numbers, and sums that contain one, only with \
                    `decrypt --any-randomiser`: pass --any-randomiser here too";
        return Err(CliError::at(name(&command.key), text));
    }
    Ok(())
}

/// The lowest exponent of the ciphertexts, where they have one, and at most 0.
fn lowest_exponent(input: &Reread) -> Result<i32, CliError> {
    #[derive(Deserialize)]
    struct Exponent {
        e: i32,
    }
    let mut lowest = 0;
    for cell in input.values()? {
        let exponent = cell?.and_then(|cell| serde_json::from_str::<Exponent>(cell.get()).ok());
        lowest = lowest.min(exponent.map_or(0, |exponent| exponent.e));
    }
    Ok(lowest)
}

/// An input that is read twice: first for its exponents, then for its numbers.
struct Reread {
    name: String,
    file: File,
}

impl Reread {
    fn open(path: &Path) -> Result<Self, CliError> {
        let standard = path == Path::new("-");
        let name = if standard { "standard input".to_owned() } else { name(path) };
        let opened = match standard {
            true => stored(io::stdin()),
            false => File::open(path).and_then(|file| match file.metadata()? {
                metadata if metadata.is_file() => Ok(file),
                metadata if metadata.is_dir() => Err(io::Error::other("is a directory")),
                _ => stored(file),
            }),
        };
        match opened {
            Ok(file) => Ok(Self { name, file }),
            Err(error) => Err(CliError::reading(&name, error)),
        }
    }

    fn values(&self) -> Result<Values, CliError> {
        let again = self.file.try_clone().and_then(|mut file| file.rewind().map(|()| file));
        let file = again.map_err(|error| CliError::reading(&self.name, error))?;
        Ok(Values::new(&self.name, BufReader::new(file)))
    }
}

/// Copies a stream to an unnamed temporary file.
fn stored(mut stream: impl Read) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(&mut stream, &mut file)?;
    Ok(file)
}
