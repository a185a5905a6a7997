//! `hearith rns convert`.

use std::io::Write;

use hearith_arith::natural::{Secret, difference, less, resized, shifted_down, to_decimal, to_hexadecimal};
use hearith_rns::Residues;

use super::integers::Integers;
use super::{engines, tables};
use crate::args::Convert;
use crate::failure::CliError;
use crate::input::{Table, is_called_parquet, open};
use crate::output::Output;
use crate::pipeline::{ReadAhead, write_behind};
use crate::progress::{Length, Progress};
use crate::report::Stopwatch;
use crate::session::Session;
use crate::sink::Sink;

/// Rows of residues per batch.
const ROWS: usize = 8192;

/// Converts integers to residues.
pub(super) fn to_residues(session: &Session, command: &Convert) -> Result<(), CliError> {
    let moduli = command.moduli()?;
    let basis = command.basis(session, &moduli)?;
    let trust = session.trust(command.unchecked_device)?;
    let mut converter = engines::open(session, &basis, trust)?;
    let (name, input) = open(&command.input)?;
    let schema = tables::schema(&moduli);
    let output = Output::create(&command.out, &[&command.input])?;
    let mut sink = match is_called_parquet(&command.out) {
        true => Sink::parquet(output, schema.clone())?,
        false => Sink::csv(output, &schema)?,
    };

    let mut watch = Stopwatch::start();
    let progress = Progress::start("converting", Length::Unknown);
    let batches = ReadAhead::start(Integers::new(name, input, basis.product(), converter.rows()));
    let mut rows = 0;
    write_behind(
        |residues: Residues| sink.write(&tables::batch(schema.clone(), &residues)?),
        |pass| {
            for numbers in batches {
                let numbers = numbers?;
                pass(watch.compute(|| converter.residues(&numbers))?)?;
                rows += numbers.len() as u64;
                progress.set(rows, rows);
            }
            Ok(())
        },
    )?;
    sink.finish()?;
    drop(progress);
    let note = converter.note()?;
    session.report(&watch.stop("convert", rows, rows, note));
    Ok(())
}

/// Converts residues to integers.
pub(super) fn from_residues(session: &Session, command: &Convert) -> Result<(), CliError> {
    if let Some(device) = session.device {
        return Err(CliError::new(format!("the engine '{}' does not convert residues back", device.system().name)));
    }
    let table = Table::open(&command.input, ROWS)?;
    let moduli = moduli_of(command, &table)?;
    tables::check(&table.name, &table.schema, &moduli)?;
    let basis = command.basis(session, &moduli)?;
    let mut output = Output::create(&command.out, &[&command.input])?;

    let mut watch = Stopwatch::start();
    let progress = Progress::start("converting", table.length);
    let mut rows = 0;
    for piece in ReadAhead::start(table.pieces) {
        let piece = piece?;
        let residues = tables::residues(&table.name, &piece.batch, &moduli, piece.first_row)?;
        let numbers = watch.compute(|| basis.numbers(&residues)).map_err(CliError::new)?;
        for number in numbers.rows() {
            let (sign, magnitude) = command.signed(number, basis.product());
            let text = if command.hex { to_hexadecimal(&magnitude) } else { to_decimal(&magnitude) };
            let written = writeln!(output, "{sign}{text}");
            written.map_err(|error| CliError::writing(output.name(), error))?;
        }
        rows = piece.end_row();
        progress.set(piece.position, rows);
    }
    output.commit()?;
    drop(progress);
    session.report(&watch.stop("convert", rows, rows, None));
    Ok(())
}

impl Convert {
    /// The sign and magnitude of the integer that represents a residue class: the natural one, or
    /// with `--centred` the one from `-Q/2` to below `Q/2`.
    fn signed(&self, number: &[u64], product: &[u64]) -> (&'static str, Secret) {
        let half = shifted_down(product, 1);
        match self.centred && less(number, &difference(product, &half)) == 0 {
            true => ("-", difference(product, number)),
            false => ("", resized(number, number.len())),
        }
    }
}

/// The moduli that the table names, which `--primes` must not contradict, or else those of the
/// options.
fn moduli_of(command: &Convert, table: &Table) -> Result<Vec<u64>, CliError> {
    match tables::moduli(&table.name, &table.schema)? {
        Some(named) if command.primes.is_empty() || command.primes == named => Ok(named),
        Some(_) => Err(CliError::at(&table.name, "its residues have other moduli than --primes names")),
        None => command.moduli_of_columns(table.schema.fields().len()),
    }
}
