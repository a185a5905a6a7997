//! `hearith dghv add`, `multiply`, `evaluate` and `switch`: computing without the private key.
//!
//! Bits that are too noisy are recrypted first, if the key supports it. With a ladder, circuits
//! descend it. Two files are combined at the lower one's level.

use std::io::Read;
use std::path::{Path, PathBuf};

use hearith_dghv::circuit::{Circuit, Work};
use hearith_dghv::{Ciphertext, Error, ErrorKind, InsecureHistoricalParameters, PublicKeys};

use super::files::{Bits, BitsSink, public_key, rows_at_a_time};
use crate::args::{DghvCombine, DghvEvaluate, DghvSwitch};
use crate::failure::{CliError, name};
use crate::input::open;
use crate::memory;
use crate::progress::{Length, Progress};
use crate::report::Stopwatch;
use crate::session::Session;

/// Maximum size of a circuit in bytes.
const MAX_CIRCUIT_BYTES: u64 = 256 << 20;

/// An operation on two bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// Addition modulo 2 (exclusive or).
    Add,
    /// Multiplication (and).
    Multiply,
}

impl Operation {
    /// The name of the step, and its description during the work.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Add => ("add", "adding"),
            Self::Multiply => ("multiply", "multiplying"),
        }
    }

    /// Applies the operation row by row at a level.
    fn apply(
        self,
        keys: &PublicKeys,
        level: usize,
        a: &[Ciphertext],
        b: &[Ciphertext],
    ) -> Result<Vec<Ciphertext>, Error> {
        match self {
            Self::Add => keys.add_at(level, a, b),
            Self::Multiply => keys.multiply_at(level, a, b),
        }
    }
}

/// Combines two files row by row.
pub(super) fn combine(
    session: &Session,
    command: &DghvCombine,
    insecure: InsecureHistoricalParameters,
    operation: Operation,
) -> Result<(), CliError> {
    let keys = public_key(session, &command.key, insecure)?;
    let (mut left, level_of_left) = Bits::of(&command.left, &keys)?;
    let (mut right, level_of_right) = Bits::of(&command.right, &keys)?;
    let level = level_of_left.max(level_of_right);
    let key = keys.at_level(level).unwrap_or(&keys.key);
    let rows = left.rows();
    if right.rows() != rows {
        let what = format!("has {} rows, but {} has {rows}", right.rows(), left.name);
        return Err(CliError::at(&right.name, what));
    }
    let mut sink = BitsSink::create(&command.out, &[&command.key, &command.left, &command.right], key, rows)?;

    let (step, doing) = operation.words();
    let mut watch = Stopwatch::start();
    let progress = Progress::start(doing, Length::Rows(rows));
    let batch = rows_at_a_time(session, key.parameters());
    let mut done = 0;
    while done < rows {
        let (a, b) = (left.batch(batch)?, right.batch(batch)?);
        let result = watch.compute(|| operation.apply(&keys, level, &a.rows, &b.rows));
        let result = result.map_err(|error| with_hint(&keys, left.failed(&error, a.first), &error))?;
        sink.write(&result)?;
        done += result.len() as u64;
        progress.set(done, done);
    }
    left.finish()?;
    right.finish()?;
    sink.finish()?;
    drop(progress);
    session.report(&watch.stop(step, rows, rows, None));
    Ok(())
}

/// Evaluates a circuit.
pub(super) fn evaluate(
    session: &Session,
    command: &DghvEvaluate,
    insecure: InsecureHistoricalParameters,
) -> Result<(), CliError> {
    let circuit_name = name(&command.circuit);
    let circuit = circuit(&command.circuit)?;
    let keys = public_key(session, &command.key, insecure)?;
    let failed = |error: Error| match (&keys.recryption, error.kind()) {
        (None, ErrorKind::NoiseExhausted { .. }) => {
            CliError::at(&circuit_name, error.clone()).with_note("a key with recryption could continue")
        }
        _ => CliError::at(&circuit_name, error.clone()),
    };
    let progress = Progress::start("evaluating", Length::Steps);
    let advance = |done, all| progress.set_of(done, all);
    let evaluator = keys.evaluator().with_progress(&advance);
    check_memory(command, &circuit_name, evaluator.memory(&circuit, 1))?;
    let rows = vec![inputs(command, &circuit, &keys)?];
    let mut read: Vec<&Path> = command.input.iter().map(PathBuf::as_path).collect();
    read.extend([command.key.as_path(), command.circuit.as_path()]);
    let mut watch = Stopwatch::start();
    let Work { recryptions, switches, level } = evaluator.work(&circuit, &rows).map_err(failed)?;
    let key = keys.at_level(level).unwrap_or(&keys.key);
    let outputs = circuit.output_bits() as u64;
    let mut sink = BitsSink::create(&command.out, &read, key, outputs)?;
    let mut on_output = |_, bits: Vec<Ciphertext>| match bits.iter().all(|bit| bit.key_id() == key.id()) {
        true => sink.write(&bits).map_err(StopReason::Written),
        false => Err(StopReason::Tampered),
    };
    watch.compute(|| evaluator.evaluate_into(&circuit, rows, &mut on_output)).map_err(|reason| match reason {
        StopReason::Computing(error) => failed(error),
        StopReason::Written(failure) => failure,
        StopReason::Tampered => {
            CliError::at(&circuit_name, "an input's noise differs from what its file says: the file was tampered with")
        }
    })?;
    sink.finish()?;
    drop(progress);
    let mut note = format!("{} gates, {} of them AND; {recryptions} recryptions", circuit.gates(), circuit.ands());
    if keys.ladder.is_some() {
        note += &format!(", {switches} switches down to level {level}");
    }
    session.report(&watch.stop("evaluate", circuit.input_bits() as u64, outputs, Some(note)));
    Ok(())
}

/// Why an evaluation ended early.
enum StopReason {
    Computing(Error),
    Written(CliError),
    Tampered,
}

impl From<Error> for StopReason {
    fn from(error: Error) -> Self {
        StopReason::Computing(error)
    }
}

/// Rejects a circuit that needs more memory than is available.
fn check_memory(command: &DghvEvaluate, circuit: &str, needed: u64) -> Result<(), CliError> {
    let (available, note) = match command.memory {
        Some(mebibytes) => (Some(mebibytes << 20), "--memory allows more"),
        None => (memory::available(), "--memory sets another limit"),
    };
    match available {
        Some(available) if needed > available => {
            let what = format!(
                "evaluating it needs {} of memory, but only {} may be used",
                mebibytes(needed),
                mebibytes(available)
            );
            Err(CliError::at(circuit, what).with_note(note))
        }
        _ => Ok(()),
    }
}

/// A number of bytes in MiB, rounded up.
fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}

/// Switches a file down the key's ladder.
pub(super) fn switch(
    session: &Session,
    command: &DghvSwitch,
    insecure: InsecureHistoricalParameters,
) -> Result<(), CliError> {
    let keys = public_key(session, &command.key, insecure)?;
    let (mut input, from) = Bits::of(&command.input, &keys)?;
    let (to, levels) =
        (command.level.unwrap_or(from + 1), keys.ladder.iter().flat_map(|ladder| ladder.rungs()).count());
    let Some(key) = keys.at_level(to).filter(|_| from <= to) else {
        let hint = if levels == 0 {
            "hearith dghv keygen --ladder makes a key with more levels"
        } else {
            "bits can only move down"
        };
        return Err(CliError::at(&input.name, Error::from(ErrorKind::Level { from, to, levels })).with_note(hint));
    };
    let rows = input.rows();
    let mut sink = BitsSink::create(&command.out, &[&command.key, &command.input], key, rows)?;
    let mut watch = Stopwatch::start();
    let progress = Progress::start("switching", Length::Rows(rows));
    let mut done = 0;
    while done < rows {
        let batch = input.batch(rows_at_a_time(session, key.parameters()))?;
        let result = watch.compute(|| keys.switch(&batch.rows, to));
        sink.write(&result.map_err(|error| input.failed(&error, batch.first))?)?;
        done += batch.rows.len() as u64;
        progress.set(done, done);
    }
    input.finish()?;
    sink.finish()?;
    drop(progress);
    session.report(&watch.stop("switch", rows, rows, Some(format!("level {from} to level {to}"))));
    Ok(())
}

/// Adds a hint to the failure for an error.
fn with_hint(keys: &PublicKeys, failure: CliError, error: &Error) -> CliError {
    match (error.kind(), &keys.ladder) {
        (ErrorKind::NoiseExhausted { .. }, Some(_)) => {
            failure.with_note("reduce the noise first with hearith dghv switch")
        }
        (ErrorKind::NoiseExhausted { .. }, None) => failure.with_note("a key with recryption could continue"),
        _ => failure,
    }
}

/// Reads a circuit.
fn circuit(path: &Path) -> Result<Circuit, CliError> {
    let (file, input) = open(path)?;
    let mut text = String::new();
    let read = input.take(MAX_CIRCUIT_BYTES + 1).read_to_string(&mut text);
    read.map_err(|error| CliError::reading(&file, error))?;
    match text.len() as u64 > MAX_CIRCUIT_BYTES {
        true => Err(CliError::at(&file, format!("the circuit is larger than {MAX_CIRCUIT_BYTES} bytes"))),
        false => Circuit::parse(&text).map_err(|error| CliError::at(&file, error)),
    }
}

/// Reads the bits of all input values, in order.
fn inputs(command: &DghvEvaluate, circuit: &Circuit, keys: &PublicKeys) -> Result<Vec<Ciphertext>, CliError> {
    let (files, values) = (command.input.len(), circuit.inputs().len());
    if files != values {
        let what = format!("the circuit has {values} input values, but {files} files are given");
        return Err(CliError::at(name(&command.circuit), what));
    }
    let mut inputs = Vec::new();
    for (place, (path, &bits)) in command.input.iter().zip(circuit.inputs()).enumerate() {
        let (file, _) = Bits::of(path, keys)?;
        if file.rows() != bits as u64 {
            let what =
                format!("has {} rows, but input value {} of the circuit has {bits} bits", file.rows(), place + 1);
            return Err(CliError::at(&file.name, what));
        }
        inputs.extend(file.all()?);
    }
    Ok(inputs)
}
