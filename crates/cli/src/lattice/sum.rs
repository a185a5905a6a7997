//! `hearith sum` with a key of the lattice scheme.

use hearith_columns::lattice::LatticeAggregator;
use hearith_columns::{Contents, Error};

use super::{Key, check_options};
use crate::args::Sum;
use crate::failure::CliError;
use crate::input::ParquetFile;
use crate::output::Output;
use crate::pipeline::ReadAhead;
use crate::progress::{Length, Progress};
use crate::report::{Stopwatch, Withheld};
use crate::selection::Selection;
use crate::session::Session;
use crate::signing::{self, Signers};
use crate::sink::Sink;
use crate::sum::{File, FilePiece, input_paths, partitions, warn_of_copies};

/// Sums the encrypted columns of tables.
pub(crate) fn sum(session: &Session, command: &Sum, key: &Key) -> Result<(), CliError> {
    check_options(session, &command.remote, command.unchecked_device)?;
    let (files, mut totals, rows) = open(key, command)?;
    let sign = signing::key(session, command.sign.as_deref())?;
    let output = Output::create(&command.out, &input_paths(command))?;
    Sink::check_parquet(&output)?;

    let mut watch = Stopwatch::start();
    let progress = Progress::start("adding", Length::Rows(rows));
    let mut done = 0;
    for file in files {
        let at = |error: Error| CliError::at(&file.table.name, error);
        totals.begin(&file.schema).map_err(at)?;
        let name = file.table.name.clone();
        for piece in ReadAhead::start(file.pieces()) {
            let FilePiece { piece, mask, .. } = piece?;
            let added = watch.compute(|| totals.update(&piece.batch, mask.as_ref()));
            added.map_err(|error| CliError::at(&name, error.offset_rows(piece.first_row)))?;
            done += piece.batch.num_rows() as u64;
            progress.set(done, done);
        }
        totals.end().map_err(|error| CliError::at(&name, error))?;
    }
    drop(progress);
    let progress = Progress::start("hiding", Length::Unknown);
    let aggregates = watch.compute(|| totals.finish_with(command.min_rows.unwrap_or(0))).map_err(CliError::new)?;
    drop(progress);
    let mut sink = Sink::signed_parquet(output, aggregates.batch.schema(), sign)?;
    sink.write(&aggregates.batch)?;
    sink.finish()?;
    let step = watch.stop("sum", done, aggregates.batch.num_rows() as u64, None);
    let withheld = aggregates.withheld;
    session.report(&match command.min_rows {
        None => step,
        Some(_) => {
            let (groups, rows, totals) = (withheld.groups, withheld.rows, withheld.totals);
            step.withholding(Withheld { groups, rows, totals })
        }
    });
    Ok(())
}

/// Opens all files before reading any, so incompatible tables are reported at once.
fn open(key: &Key, command: &Sum) -> Result<(Vec<File>, LatticeAggregator, u64), CliError> {
    let (mut started, mut selection): (Option<LatticeAggregator>, Option<Selection>) = (None, None);
    let mut contents = Contents::default();
    let (mut files, mut rows) = (Vec::new(), 0_u64);
    let signers = Signers::read(&command.signers)?;
    for path in &command.input {
        let table = ParquetFile::open(path)?;
        let source = table.source()?;
        let partitions = partitions(path, &source.schema(), &signers);
        let plain = partitions.schema(&source.schema());
        rows = rows.saturating_add(source.rows());
        let at = |error: Error| CliError::at(&table.name, error);
        let selection = match &mut selection {
            Some(selection) => selection,
            none => none.insert(Selection::of(command, &plain).map_err(at)?),
        };
        let added = selection.bind(&plain).map_err(at)?;
        let schema = added.schema(&plain);
        let totals = match started.take() {
            None => LatticeAggregator::new(key.public(), &schema, &selection.groups(), selection.weight()),
            Some(totals) => Ok(totals),
        };
        let begun = totals.and_then(|mut totals| {
            let found = Contents::of(&schema)?;
            match command.allow_repeated {
                true => totals.allow_repeated(),
                false => contents.add(&found)?,
            }
            if command.allow_rare_weights {
                totals.allow_rare_weights();
            }
            totals.begin(&schema).map(|()| totals)
        });
        let totals = begun.map_err(|error| CliError::at(&table.name, error))?;
        warn_of_copies(&table.name, &schema)?;
        let needed = totals.needed(&schema);
        started = Some(totals);
        let file = File::new(table, (&plain, &schema), needed, &command.conditions, (partitions, added))?;
        files.push(file.signed_by(&signers));
    }
    match started {
        Some(totals) => Ok((files, totals, rows)),
        None => Err(CliError::new("no table to sum")),
    }
}
