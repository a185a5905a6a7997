//! `hearith decrypt`.

use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use hearith_columns::{Decrypted, Decryptor, Error, Means};
use hearith_device::{DecryptingDevice, DeviceProvider, Trust};
use hearith_paillier::{DecryptionBackend, PrivateKey};

use crate::args::{Decrypt, Format};
use crate::device::{failed, failure, note};
use crate::failure::CliError;
use crate::input::{ParquetFile, Piece, fixed_bytes};
use crate::keys::AnyKey;
use crate::lattice;
use crate::output::Output;
use crate::pipeline::{ReadAhead, write_behind};
use crate::progress::{Length, Progress};
use crate::report::Stopwatch;
use crate::session::Session;
use crate::signing::{self, Signers};
use crate::sink::Sink;

/// Decrypts a table. Text output is complete even if totals overflowed: a mark replaces them, and
/// the exit status still reports the overflow.
pub(crate) fn run(session: &Session, command: &Decrypt) -> Result<(), CliError> {
    let key = match AnyKey::read(session, &command.key)? {
        AnyKey::Paillier(key) => key,
        AnyKey::Lattice(key) => return lattice::decrypt(session, command, key),
    };
    let (key, remote) = match command.remote.is_asked_for() {
        true => (None, command.remote.key(key.public())?),
        false if command.any_randomiser => (Some(key.private(&command.key)?.any_randomiser()), None),
        false => (Some(key.private(&command.key)?), None),
    };
    let table = ParquetFile::open(&command.input)?;
    let source = table.source()?;
    let signers = Signers::read(&command.signers)?;
    signers.verify(&table, session.ciphertext_batch_rows(fixed_bytes(&source.schema())))?;
    let trust = session.trust(command.unchecked_device)?;
    let mut device = match (session.device, &key) {
        (Some(provider), Some(key)) => Some(load(provider, key, trust)?),
        _ => None,
    };
    let checking = key.as_ref().map(PrivateKey::with_fault_check);
    let backend: &dyn DecryptionBackend = match (&device, &remote, &key, &checking) {
        (Some((_, device)), ..) => &**device,
        (_, Some(remote), ..) => &**remote,
        (_, _, _, Some(checking)) if command.check => checking,
        (_, _, Some(key), _) => key,
        _ => unreachable!("either a key was read or a service asked"),
    };
    let decryptor = Decryptor::with(backend, &source.schema()).map_err(|error| CliError::at(&table.name, error))?;
    let mut inputs = vec![&*command.input, &*command.key];
    inputs.extend(signing::files(&None, &command.signers));
    let means = MeanColumns::new(command.mean, &table.name, &source.schema(), &decryptor.schema())?;
    let columns = means.columns(&decryptor.schema(), decryptor.wide());
    let (mut sink, format) = sink(command.out.as_deref(), command.format, &inputs, (&columns.0, columns.1))?;

    let mut watch = Stopwatch::start();
    let length = Length::Rows(source.rows());
    let rows_at_a_time = match &device {
        Some((_, device)) => device.batch_size(),
        None if remote.is_some() => session.remote_rows(fixed_bytes(&source.schema())),
        None => session.ciphertext_batch_rows(fixed_bytes(&source.schema())),
    };
    let pieces = ReadAhead::start(signers.pieces(&table, source, rows_at_a_time)?);
    let progress = Progress::start("decrypting", length);
    let (mut rows, mut overflows) = (0, Overflows::default());
    write_behind(
        |batch: RecordBatch| sink.write(&batch),
        |pass| {
            for piece in pieces {
                let piece = piece?;
                let at = |error: Error| failure(session.device, &table.name, error.offset_rows(piece.first_row));
                let decrypted = watch.compute(|| decryptor.decrypt(&piece.batch)).map_err(at)?;
                let numbers = format_batch(&decrypted, format).and_then(|numbers| means.of(&piece.batch, numbers));
                pass(numbers.map_err(at)?)?;
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
    let note = device.as_mut().map(|(provider, device)| note(*provider, &mut **device, "ciphertexts")).transpose()?;
    let note = note.or_else(|| command.remote.note());
    session.report(&watch.stop("decrypt", rows, rows, note));
    Ok(())
}

/// The means next to decrypted sums, if requested.
pub(crate) struct MeanColumns(Option<Means>);

impl MeanColumns {
    /// Prepares the means of an encrypted table with a name and a schema, decrypted into the schema
    /// `numbers`.
    pub(crate) fn new(requested: bool, name: &str, table: &Schema, numbers: &Schema) -> Result<Self, CliError> {
        let means = requested.then(|| Means::of(table, numbers)).transpose();
        means.map(Self).map_err(|error| CliError::at(name, error))
    }

    /// Returns the output columns, and the positions of the columns `wide` among them.
    pub(crate) fn columns(&self, numbers: &SchemaRef, wide: Vec<usize>) -> (SchemaRef, Vec<usize>) {
        match &self.0 {
            None => (numbers.clone(), wide),
            Some(means) => (means.schema(), wide.into_iter().map(|index| means.place(index)).collect()),
        }
    }

    /// Adds the means to a batch of decrypted numbers.
    pub(crate) fn of(&self, batch: &RecordBatch, numbers: RecordBatch) -> Result<RecordBatch, Error> {
        match &self.0 {
            None => Ok(numbers),
            Some(means) => means.beside(batch, &numbers),
        }
    }
}

/// Opens the output for numbers, and returns its format. `wide` lists columns whose type may turn
/// out to be narrower.
pub(crate) fn sink(
    out: Option<&Path>,
    format: Option<Format>,
    inputs: &[&Path],
    (schema, wide): (&SchemaRef, Vec<usize>),
) -> Result<(Sink, Format), CliError> {
    let out = out.unwrap_or(Path::new("-"));
    let output = Output::create(out, inputs)?;
    let format = match format {
        Some(format) => format,
        None => usual_format(out, &output)?,
    };
    let sink = match format {
        Format::Parquet => Sink::narrow_parquet(output, schema.clone(), wide)?,
        Format::Csv => Sink::csv(output, schema)?,
        Format::Tsv => Sink::tsv(output, schema)?,
        Format::Json => Sink::json(output, schema)?,
        Format::Table => Sink::table(output, schema)?,
    };
    Ok((sink, format))
}

/// Converts numbers for an output format.
pub(crate) fn format_batch(decrypted: &Decrypted, format: Format) -> Result<RecordBatch, Error> {
    match format {
        Format::Parquet => decrypted.to_batch(),
        Format::Csv | Format::Tsv | Format::Json | Format::Table => decrypted.to_text(),
    }
}

/// Loads the key into the selected device.
fn load(
    provider: &'static dyn DeviceProvider,
    key: &PrivateKey,
    trust: Trust,
) -> Result<(&'static dyn DeviceProvider, Box<dyn DecryptingDevice>), CliError> {
    let decrypts = provider.decrypts().expect("the session refused a device that does not decrypt");
    Ok((provider, decrypts.load(key, trust).map_err(|error| failed(provider, error))?))
}

/// The default format for the output's extension, or for a terminal.
fn usual_format(path: &Path, output: &Output) -> Result<Format, CliError> {
    let Some(extension) = path.extension() else {
        return Ok(if output.is_terminal() { Format::Table } else { Format::Csv });
    };
    let extension = extension.to_string_lossy();
    match extension.to_ascii_lowercase().as_str() {
        "csv" => Ok(Format::Csv),
        "tsv" => Ok(Format::Tsv),
        "json" => Ok(Format::Json),
        "parquet" => Ok(Format::Parquet),
        "txt" => Ok(Format::Table),
        _ => {
            let what = format!("unknown format .{extension}: --format accepts csv, tsv, json, parquet or table");
            Err(CliError::at(output.name(), what))
        }
    }
}

/// The first total that overflowed, and their number.
#[derive(Default)]
pub(crate) struct Overflows {
    first: Option<Error>,
    count: usize,
}

impl Overflows {
    pub(crate) fn note(&mut self, decrypted: &Decrypted, piece: &Piece) {
        self.count += decrypted.overflows();
        if self.first.is_none() {
            let first = decrypted.overflow();
            self.first = first.map(|error| error.offset_rows(piece.first_row));
        }
    }

    pub(crate) fn result(self, file: &str) -> Result<(), CliError> {
        match (self.first, self.count) {
            (None, _) => Ok(()),
            (Some(error), 1) => Err(CliError::at(file, error)),
            (Some(error), count) => Err(CliError::at(file, error).with_note(format!("and {} more cells", count - 1))),
        }
    }
}
