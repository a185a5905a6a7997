//! `hearith encrypt`.

use std::path::Path;

use hearith_columns::{ColumnSpec, EncryptOptions, EncryptionKey, Encryptor, Partitions, Rounding};

use crate::accelerator::LoadedAccelerator;
use crate::args::{Encrypt, Setting, all};
use crate::device::failure;
use crate::failure::CliError;
use crate::input::{Piece, Table};
use crate::keys::AnyKey;
use crate::lattice;
use crate::output::Output;
use crate::pipeline::{ReadAhead, write_each};
use crate::plan::Planned;
use crate::progress::Progress;
use crate::report::Stopwatch;
use crate::session::Session;
use crate::signing;
use crate::sink::Sink;

/// Encrypts columns of a table.
pub(crate) fn run(session: &Session, command: &Encrypt) -> Result<(), CliError> {
    let key = match AnyKey::read(session, &command.key)? {
        AnyKey::Paillier(key) => key,
        AnyKey::Lattice(key) => return lattice::encrypt(session, command, key),
    };
    let mut planned = Planned::begin(command, &key.public().id())?;
    let command = &planned.command.clone();
    let ciphertexts = command.columns().len() * key.public().ciphertext_bytes();
    let remote = command.remote.key(key.public())?;
    let device = LoadedAccelerator::encrypting(session, &key, command.unchecked_device, remote.is_some())?;
    let backend = device.as_ref().map(LoadedAccelerator::key);
    let (encryption, rows) = match (&remote, &backend, &device) {
        (Some(remote), ..) => (EncryptionKey::Service(&**remote), session.remote_rows(ciphertexts)),
        (_, Some(backend), Some(device)) => (EncryptionKey::Service(&**backend), device.rows()),
        _ => (key.encryption(), session.ciphertext_batch_rows(ciphertexts)),
    };
    let table = open(&mut planned, rows)?;
    let encryptor =
        Encryptor::new(encryption, &table.schema, &options(command)?).map_err(|error| table.failure(error))?;
    let sign = signing::key(session, command.sign.as_deref())?;
    let output = Output::table(&command.out, &inputs(command))?;
    let mut sink = Sink::signed_parquet(output, encryptor.schema(), sign)?;

    let mut watch = Stopwatch::start();
    let progress = Progress::start("encrypting", table.length);
    let rows = write_each(ReadAhead::start(table.pieces), &mut sink, &progress, |piece| {
        let made = watch.compute(|| encryptor.encrypt(&piece.batch));
        made.map_err(|error| failure(session.device, &table.name, error.offset_rows(piece.first_row)))
    })?;
    planned.finish(&encryptor.schema())?;
    sink.finish()?;
    drop(progress);
    drop(backend);
    let note = device.map(LoadedAccelerator::note).transpose()?.flatten();
    session.report(&watch.stop("encrypt", rows, rows, note.or_else(|| command.remote.note())));
    Ok(())
}

/// The input files, which no output may replace.
pub(crate) fn inputs(command: &Encrypt) -> Vec<&Path> {
    let files = [&*command.input, &*command.key];
    files.into_iter().chain(command.plan.as_deref()).chain(command.sign.as_deref()).collect()
}

/// Opens the table to encrypt.
pub(crate) fn open(planned: &mut Planned, rows: usize) -> Result<Table, CliError> {
    let dialect = planned.csv().dialect().map_err(CliError::new)?;
    let command = &planned.command;
    let table = Table::read(&command.input, rows, &dialect, &planned.numbers())?;
    match table.is_csv || command.csv.is_default() {
        true => {
            let table = partitioned(table, &command.input);
            planned.table(table)
        }
        false => Err(CliError::at(&table.name, "a Parquet file, but options describe a CSV file")),
    }
}

/// Adds the columns from the names of the table's folders.
fn partitioned(table: Table, path: &Path) -> Table {
    let mut partitions = Partitions::of(path, &table.schema);
    let (schema, file) = (partitions.schema(&table.schema), table.name.clone());
    let pieces = table.pieces.map(move |piece| {
        let piece = piece?;
        let batch = partitions.batch(&piece.batch).map_err(|error| CliError::at(&file, error))?;
        Ok(Piece { batch, ..piece })
    });
    Table { schema, pieces: Box::new(pieces), ..table }
}

pub(crate) fn options(command: &Encrypt) -> Result<EncryptOptions, CliError> {
    let columns = command.columns();
    let (scale, range) = (all(&command.scale), all(&command.range));
    let scale = Settings::new("--scale", &scale, &columns)?;
    let range = Settings::new("--range", &range, &columns)?;
    let spec = |name: &String| ColumnSpec { name: name.clone(), scale: scale.of(name), range: range.of(name) };
    Ok(EncryptOptions {
        columns: columns.iter().map(spec).collect(),
        pack: command.pack,
        rounding: if command.round { Rounding::HalfEven } else { Rounding::Exact },
        max_additions: command.max_additions,
        show_cells: command.show_cells,
    })
}

/// The values of an option for each column.
struct Settings<'a, T>(&'a [Setting<T>]);

impl<'a, T: Clone> Settings<'a, T> {
    fn new(option: &str, settings: &'a [Setting<T>], columns: &[String]) -> Result<Self, CliError> {
        for (index, setting) in settings.iter().enumerate() {
            if settings[..index].iter().any(|other| other.column == setting.column) {
                let of = setting.column.as_deref().unwrap_or("all columns");
                return Err(CliError::new(format!("{option} is given twice for {of}")));
            }
            match &setting.column {
                Some(column) if !columns.contains(column) => {
                    let what = format!("{option} is given for {column}, which is not encrypted");
                    return Err(CliError::new(what));
                }
                _ => {}
            }
        }
        Ok(Self(settings))
    }

    fn of(&self, column: &str) -> Option<T> {
        let own = self.0.iter().find(|setting| setting.column.as_deref() == Some(column));
        let found = own.or_else(|| self.0.iter().find(|setting| setting.column.is_none()));
        found.map(|setting| setting.value.clone())
    }
}
