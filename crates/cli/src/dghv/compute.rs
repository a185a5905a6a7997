//! `hearith dghv add`, `multiply` and `evaluate`: computing without the private key. Bits that are too noisy are recrypted
//! first, if the key can do that.

use std::io::Read;
use std::path::{Path, PathBuf};

use hearith_dghv::circuit::Circuit;
use hearith_dghv::{Ciphertext, Error, ErrorKind, InsecureHistoricalParameters, PublicKey, PublicKeys};

use super::files::{Bits, BitsSink, public_key, rows_at_a_time};
use crate::args::{DghvCombine, DghvEvaluate};
use crate::failure::{Failure, name};
use crate::input::open;
use crate::progress::{Length, Progress};
use crate::report::Stopwatch;
use crate::session::Session;

/// Bytes of the longest circuit that is read.
const MOST_CIRCUIT_BYTES: u64 = 256 << 20;

/// What is done with two bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// Exclusive or.
    Add,
    /// And.
    Multiply,
}

impl Operation {
    /// The step, and what is being done during it.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Add => ("add", "adding"),
            Self::Multiply => ("multiply", "multiplying"),
        }
    }

    /// Does it row by row.
    fn apply(self, keys: &PublicKeys, a: &[Ciphertext], b: &[Ciphertext]) -> Result<Vec<Ciphertext>, Error> {
        match self {
            Self::Add => keys.add(a, b),
            Self::Multiply => keys.multiply(a, b),
        }
    }
}

/// Combines two files row by row.
pub(super) fn combine(
    session: &Session,
    command: &DghvCombine,
    insecure: InsecureHistoricalParameters,
    operation: Operation,
) -> Result<(), Failure> {
    let keys = public_key(session, &command.key, insecure)?;
    let key = &keys.key;
    let mut left = Bits::of(&command.left, key.parameters(), key.id())?;
    let mut right = Bits::of(&command.right, key.parameters(), key.id())?;
    let rows = left.rows();
    if right.rows() != rows {
        let what = format!("{} rows, and {} has {rows}", right.rows(), left.name);
        return Err(Failure::at(&right.name, what));
    }
    let mut sink = BitsSink::create(&command.out, &[&command.key, &command.left, &command.right], key, rows)?;

    let (step, doing) = operation.words();
    let mut watch = Stopwatch::start();
    let progress = Progress::start(doing, Length::Rows(rows));
    let batch = rows_at_a_time(session, key.parameters());
    let mut done = 0;
    while done < rows {
        let (a, b) = (left.batch(batch)?, right.batch(batch)?);
        let result = watch.compute(|| operation.apply(&keys, &a.rows, &b.rows));
        let result = result.map_err(|error| hinting(left.failed(&error, a.first), &error))?;
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

/// Computes a circuit.
pub(super) fn evaluate(
    session: &Session,
    command: &DghvEvaluate,
    insecure: InsecureHistoricalParameters,
) -> Result<(), Failure> {
    let circuit_name = name(&command.circuit);
    let failed = |error: Error| hinting(Failure::at(&circuit_name, error.clone()), &error);
    let circuit = circuit(&command.circuit)?;
    let keys = public_key(session, &command.key, insecure)?;
    let rows = [inputs(command, &circuit, &keys.key)?];
    let mut read: Vec<&Path> = command.input.iter().map(PathBuf::as_path).collect();
    read.extend([command.key.as_path(), command.circuit.as_path()]);
    let mut sink = BitsSink::create(&command.out, &read, &keys.key, circuit.output_bits() as u64)?;

    let mut watch = Stopwatch::start();
    let progress = Progress::start("evaluating", Length::Steps);
    let advance = |done, all| progress.set_of(done, all);
    let evaluator = keys.evaluator().with_progress(&advance);
    let recryptions = evaluator.recryptions(&circuit, &rows).map_err(failed)?;
    let outputs = watch.compute(|| evaluator.evaluate(&circuit, &rows)).map_err(failed)?.concat();
    sink.write(&outputs)?;
    sink.finish()?;
    drop(progress);
    let note = format!("{} gates, {} of them AND; {recryptions} recryptions", circuit.gates(), circuit.ands());
    session.report(&watch.stop("evaluate", circuit.input_bits() as u64, outputs.len() as u64, Some(note)));
    Ok(())
}

/// The failure that an error is, with what would help.
fn hinting(failure: Failure, error: &Error) -> Failure {
    match error.kind() {
        ErrorKind::NoiseExhausted { .. } => failure.noting("a key with recryption would go on"),
        _ => failure,
    }
}

/// Reads a circuit.
fn circuit(path: &Path) -> Result<Circuit, Failure> {
    let (file, input) = open(path)?;
    let mut text = String::new();
    let read = input.take(MOST_CIRCUIT_BYTES + 1).read_to_string(&mut text);
    read.map_err(|error| Failure::reading(&file, error))?;
    match text.len() as u64 > MOST_CIRCUIT_BYTES {
        true => Err(Failure::at(&file, format!("a circuit of more than {MOST_CIRCUIT_BYTES} bytes"))),
        false => Circuit::parse(&text).map_err(|error| Failure::at(&file, error)),
    }
}

/// The bits of all input values, one value after the other.
fn inputs(command: &DghvEvaluate, circuit: &Circuit, key: &PublicKey) -> Result<Vec<Ciphertext>, Failure> {
    let (files, values) = (command.input.len(), circuit.inputs().len());
    if files != values {
        let what = format!("the circuit's input values and the files given differ: {values} and {files}");
        return Err(Failure::at(name(&command.circuit), what));
    }
    let mut inputs = Vec::new();
    for (place, (path, &bits)) in command.input.iter().zip(circuit.inputs()).enumerate() {
        let file = Bits::of(path, key.parameters(), key.id())?;
        if file.rows() != bits as u64 {
            let what = format!("{} rows, and input value {} of the circuit has {bits} bits", file.rows(), place + 1);
            return Err(Failure::at(&file.name, what));
        }
        inputs.extend(file.all()?);
    }
    Ok(inputs)
}
