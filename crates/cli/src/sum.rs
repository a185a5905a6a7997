//! `hearith sum`.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::BooleanArray;
use arrow_schema::{Schema, SchemaRef};
use hearith_columns::metadata::encrypted_columns;
use hearith_columns::{
    Aggregator, Alignment, BoundPredicate, Contents, EncryptionKey, Error, FinishOptions, Partitions, Predicate,
};
use hearith_paillier::PublicKeyBackend;

use crate::accelerator::LoadedAccelerator;
use crate::args::Sum;
use crate::device::failure;
use crate::failure::{CliError, eprint_line, name};
use crate::folders::expanded;
use crate::input::{ParquetFile, Piece, Pieces, rows_of};
use crate::keys::AnyKey;
use crate::lattice;
use crate::output::{Output, identity};
use crate::pipeline::ReadAhead;
use crate::progress::{Length, Progress};
use crate::report::{Stopwatch, Withheld};
use crate::selection::{ComputedColumns, Selection};
use crate::session::Session;
use crate::signing::{self, Signers};
use crate::sink::Sink;

/// Approximate bytes per batch: enough for several rows per group.
const BATCH_BYTES: usize = 8 << 20;

/// Sums the encrypted columns of tables.
pub(crate) fn run(session: &Session, command: &Sum) -> Result<(), CliError> {
    let command = &Sum { input: expanded(&command.input)?, ..command.clone() };
    let key = AnyKey::read(session, &command.key)?;
    if !command.allow_repeated {
        check_different(&command.input)?;
    }
    let key = match key {
        AnyKey::Paillier(key) => key,
        AnyKey::Lattice(key) => return lattice::sum(session, command, &key),
    };
    if command.weight.is_some() {
        return Err(CliError::at(name(&command.key), "a Paillier key: --weight needs a BFV key"));
    }
    let remote = command.remote.key(key.public())?;
    let device = LoadedAccelerator::load(session, key.public(), command.unchecked_device, remote.is_some())?;
    let backend: Arc<dyn PublicKeyBackend> = match (&remote, &device) {
        (Some(remote), _) => remote.clone(),
        (None, Some(device)) => device.key(),
        (None, None) => Arc::new(key.public().clone()),
    };
    let Inputs { files, mut alignment, mut totals, rows } = Inputs::open(&backend, command)?;
    let sign = signing::key(session, command.sign.as_deref())?;
    let output = Output::table(&command.out, &input_paths(command))?;
    let mut sink = Sink::signed_parquet(output, totals.schema(), sign)?;

    let mut watch = Stopwatch::start();
    let progress = Progress::start("adding", Length::Rows(rows));
    let mut done = 0;
    for piece in ReadAhead::start(files.into_iter().flat_map(File::pieces)) {
        let FilePiece { file, piece, mask } = piece?;
        let update = || {
            let batch = alignment.align(&*backend, &piece.batch)?;
            match &mask {
                None => totals.update(&batch),
                Some(mask) => totals.update_where(&batch, mask),
            }
        };
        watch.compute(update).map_err(|error| failure(session.device, &file, error.offset_rows(piece.first_row)))?;
        done += piece.batch.num_rows() as u64;
        progress.set(done, done);
    }
    drop(progress);
    let is_external = remote.is_some() || device.is_some();
    let encryption = if is_external { EncryptionKey::Service(&*backend) } else { key.encryption() };
    let rerandomise = command.rerandomise.then_some(encryption);
    let options = FinishOptions { min_rows: command.min_rows.unwrap_or(0), rerandomise };
    let progress = command.rerandomise.then(|| Progress::start("randomising", Length::Unknown));
    let aggregates = watch.compute(|| totals.finish_with(&options)).map_err(CliError::new)?;
    sink.write(&aggregates.batch)?;
    sink.finish()?;
    drop(progress);
    let withheld = command.min_rows.map(|_| aggregates.withheld);
    let rows_out = aggregates.batch.num_rows() as u64;
    drop((aggregates, backend));
    let note = device.map(LoadedAccelerator::note).transpose()?.flatten();
    let step = watch.stop("sum", done, rows_out, note.or_else(|| command.remote.note()));
    session.report(&match withheld {
        None => step,
        Some(it) => step.withholding(Withheld { groups: it.groups, rows: it.rows, totals: it.totals }),
    });
    Ok(())
}

/// The input files, which no output may replace.
pub(crate) fn input_paths(command: &Sum) -> Vec<&Path> {
    let read = command.input.iter().chain([&command.key]).map(PathBuf::as_path);
    read.chain(signing::files(&command.sign, &command.signers)).collect()
}

/// Warns if copies of a table cannot be distinguished from other tables.
pub(crate) fn warn_of_copies(table: &str, schema: &Schema) -> Result<(), CliError> {
    if Contents::of(schema).map_err(|error| CliError::at(table, error))?.is_unknown() {
        let what = "does not say which tables it contains (format 1, or lost metadata): copies count twice";
        eprint_line(&format!("{table}: warning: {what}"));
    }
    Ok(())
}

/// Rejects an input that is given twice, even under different names, because its rows would count
/// twice.
fn check_different(inputs: &[PathBuf]) -> Result<(), CliError> {
    let mut seen: HashMap<(u64, u64), &Path> = HashMap::new();
    for input in inputs {
        let before = identity(input).and_then(|identity| seen.insert(identity, input));
        match before {
            None => {}
            Some(before) if before == input => {
                return Err(CliError::at(name(input), "given twice: its rows would be counted twice"));
            }
            Some(before) => {
                let what = format!("the same file as {}: its rows would be counted twice", name(before));
                return Err(CliError::at(name(input), what));
            }
        }
    }
    Ok(())
}

/// The tables to sum, checked for compatibility.
struct Inputs {
    files: Vec<File>,
    alignment: Alignment,
    totals: Aggregator,
    rows: u64,
}

/// A table to sum, with the columns and rows to use.
pub(crate) struct File {
    pub(crate) table: ParquetFile,
    /// Its schema with the computed columns.
    pub(crate) schema: SchemaRef,
    /// Its schema without them.
    plain: Schema,
    needed: HashSet<String>,
    conditions: Option<BoundPredicate>,
    partitions: Partitions,
    added: ComputedColumns,
    signers: Signers,
}

impl Inputs {
    /// Opens all files before reading any, so incompatible tables are reported at once.
    fn open(key: &Arc<dyn PublicKeyBackend>, command: &Sum) -> Result<Self, CliError> {
        let (mut tables, mut rows) = (Vec::new(), 0_u64);
        let signers = Signers::read(&command.signers)?;
        for path in &command.input {
            let table = ParquetFile::open(path)?;
            let source = table.source()?;
            rows = rows.saturating_add(source.rows());
            encrypted_columns(&source.schema()).map_err(|error| CliError::at(&table.name, error))?;
            let partitions = partitions(path, &source.schema(), &signers);
            tables.push((table, partitions.schema(&source.schema()), partitions));
        }
        let Some((first, schema, _)) = tables.first() else { return Err(CliError::new("no table to sum")) };
        let selection = Selection::of(command, schema).map_err(|error| CliError::at(&first.name, error))?;
        let by = selection.groups();
        let (mut added, mut schemas) = (Vec::new(), Vec::new());
        for (table, schema, _) in &tables {
            let computed = selection.bind(schema).map_err(|error| CliError::at(&table.name, error))?;
            schemas.push(computed.schema(schema));
            added.push(computed);
        }
        let alignment = Alignment::of(&schemas, &by).map_err(CliError::new)?;
        let mut started: Option<Aggregator> = None;
        let mut files = Vec::new();
        for (((table, schema, partitions), added), extended) in tables.into_iter().zip(added).zip(&schemas) {
            let at = |error| CliError::at(&table.name, error);
            let aligned = alignment.schema(extended).map_err(at)?;
            let totals = match started.take() {
                None => Aggregator::with(key.clone(), &aligned, &by),
                Some(totals) => Ok(totals),
            };
            let begun = totals.and_then(|mut totals| {
                if command.allow_repeated {
                    totals.allow_repeated();
                }
                totals.begin(&aligned).map(|()| totals)
            });
            let totals = begun.map_err(at)?;
            warn_of_copies(&table.name, &schema)?;
            let needed = totals.needed(&schema);
            started = Some(totals);
            let file = File::new(table, (&schema, extended), needed, &command.conditions, (partitions, added))?;
            files.push(file.signed_by(&signers));
        }
        match started {
            Some(totals) => Ok(Self { files, alignment, totals, rows }),
            None => Err(CliError::new("no table to sum")),
        }
    }
}

/// The columns in the names of a file's folders. None if tables must be signed, since signatures do
/// not cover folder names.
pub(crate) fn partitions(path: &Path, schema: &Schema, signers: &Signers) -> Partitions {
    match signers.are_required() {
        true => Partitions::default(),
        false => Partitions::of(path, schema),
    }
}

/// Reduces pieces to these columns.
fn only(pieces: Pieces, names: HashSet<String>) -> Pieces {
    Box::new(pieces.map(move |piece| {
        let piece = piece?;
        let schema = piece.batch.schema();
        let named = |index: &usize| names.contains(schema.field(*index).name());
        let wanted: Vec<usize> = (0..schema.fields().len()).filter(named).collect();
        let batch = piece.batch.project(&wanted).map_err(|error| CliError::new(error.to_string()))?;
        Ok(Piece { batch, ..piece })
    }))
}

/// A piece of a file, and which of its rows meet the conditions, if there are any.
pub(crate) struct FilePiece {
    pub(crate) file: Arc<str>,
    pub(crate) piece: Piece,
    pub(crate) mask: Option<BooleanArray>,
}

impl File {
    /// Creates a table to sum. It needs the columns `needed` and those that conditions and computed
    /// columns use.
    pub(crate) fn new(
        table: ParquetFile,
        (plain, schema): (&Schema, &SchemaRef),
        mut needed: HashSet<String>,
        conditions: &[Predicate],
        (partitions, added): (Partitions, ComputedColumns),
    ) -> Result<Self, CliError> {
        needed.extend(added.sources().iter().cloned());
        let all = conditions.iter().cloned().reduce(Predicate::and);
        needed.extend(all.iter().flat_map(Predicate::columns).map(str::to_owned));
        let bound = all.map(|all| all.bind(plain)).transpose();
        let conditions = bound.map_err(|error| CliError::at(&table.name, error))?;
        let (schema, signers) = (schema.clone(), Signers::default());
        Ok(Self { table, schema, plain: plain.clone(), needed, conditions, partitions, added, signers })
    }

    /// Requires that one of these keys has signed the table.
    pub(crate) fn signed_by(self, signers: &Signers) -> Self {
        Self { signers: signers.clone(), ..self }
    }

    /// The pieces of the file.
    pub(crate) fn pieces(self) -> Box<dyn Iterator<Item = Result<FilePiece, CliError>> + Send> {
        let file: Arc<str> = self.table.name.as_str().into();
        let pieces = self.table.source().and_then(|source| {
            let rows = rows_of(&source.schema(), BATCH_BYTES);
            match self.signers.are_required() {
                // The signed table must be the one that the sum was prepared for.
                true if source.schema().fields() != self.plain.fields() => {
                    Err(CliError::at(&self.table.name, "changed while it was being read"))
                }
                true => Ok(only(self.signers.pieces(&self.table, source, rows)?, self.needed)),
                false => self.table.pieces(source, rows, Some(&self.needed)),
            }
        });
        let (conditions, mut partitions, mut added) = (self.conditions, self.partitions, self.added);
        let mut piece = move |mut piece: Piece| {
            let at = |error: Error| CliError::at(&*file, error.offset_rows(piece.first_row));
            piece.batch = partitions.batch(&piece.batch).map_err(|error| CliError::at(&*file, error))?;
            let mask =
                conditions.as_ref().map(|conditions| conditions.evaluate(&piece.batch)).transpose().map_err(at)?;
            piece.batch = added.append_to(&piece.batch, mask.as_ref()).map_err(at)?;
            Ok(FilePiece { file: file.clone(), piece, mask })
        };
        match pieces {
            Ok(pieces) => Box::new(pieces.map(move |found| piece(found?))),
            Err(failure) => Box::new(std::iter::once(Err(failure))),
        }
    }
}
