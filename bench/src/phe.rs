//! python-paillier, in a separate Python process that times itself on request (`phe_worker.py`).

use crate::Result;
use crate::contestant::{Contestant, Operation, Way};
use crate::heu::request;
use crate::workload::Workload;
use rug::Integer;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Starts a program of `bench/` in the interpreter that `HEARITH_PHE_PYTHON` names, or in that of
/// `.venv`, with pipes for input and output.
pub fn python(program: &str) -> Result<Child> {
    interpreter("HEARITH_PHE_PYTHON", ".venv/bin/python", program)
}

/// Starts a program in the interpreter that `variable` names, or else in the one at `usual` in the
/// project's directory.
fn interpreter(variable: &str, usual: &str, program: &str) -> Result<Child> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = std::env::var_os(variable)
        .filter(|value| !value.is_empty())
        .unwrap_or_else(|| folder.join("..").join(usual).into());
    let mut command = Command::new(&python);
    command.arg(folder.join(program)).stdin(Stdio::piped()).stdout(Stdio::piped());
    Ok(command.spawn().map_err(|error| format!("{}: {error}; `make setup` installs it", python.display()))?)
}

/// A running Python process.
pub struct Worker {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// Versions of Python, phe, gmpy2 and the GMP that it uses.
    pub versions: String,
}

#[derive(Deserialize)]
struct Ready {
    versions: String,
}

#[derive(Deserialize)]
struct Answer {
    seconds: f64,
    output: Vec<String>,
}

impl Worker {
    /// Starts python-paillier in the interpreter that `HEARITH_PHE_PYTHON` names, or in that of
    /// `.venv`.
    pub fn python_paillier() -> Result<Self> {
        Worker::of(python("phe_worker.py")?)
    }

    /// Starts a program of `bench/` in the interpreter that `variable` names, or in the one at
    /// `usual` in the project's directory.
    pub fn start(variable: &str, usual: &str, program: &str) -> Result<Self> {
        Worker::of(interpreter(variable, usual, program)?)
    }

    fn of(mut process: Child) -> Result<Self> {
        let requests = process.stdin.take().ok_or("no pipe to Python")?;
        let answers = BufReader::new(process.stdout.take().ok_or("no pipe from Python")?);
        let mut worker = Worker { process, requests, answers, versions: String::new() };
        worker.versions = worker.read::<Ready>()?.versions;
        Ok(worker)
    }

    /// Seconds of an operation on the first `rows` rows, `repeats` times.
    pub fn measure(&mut self, operation: Operation, rows: usize, repeats: usize) -> Result<f64> {
        Ok(self.run(operation, rows, repeats)?.seconds)
    }

    fn run(&mut self, operation: Operation, rows: usize, repeats: usize) -> Result<Answer> {
        self.ask(&json!({ "run": request(operation), "rows": rows, "repeats": repeats }))
    }

    /// Sends a request and returns the answer.
    pub fn ask<T: for<'de> Deserialize<'de>>(&mut self, request: &Value) -> Result<T> {
        writeln!(self.requests, "{request}")?;
        self.requests.flush()?;
        self.read()
    }

    fn read<T: for<'de> Deserialize<'de>>(&mut self) -> Result<T> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        serde_json::from_str(&line).map_err(|_| "the Python worker stopped".into())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// python-paillier with a workload loaded.
pub struct Phe<'a>(&'a mut Worker);

impl<'a> Phe<'a> {
    /// Sends the workload to the Python process.
    pub fn new(worker: &'a mut Worker, workload: &Workload) -> Result<Self> {
        let texts = |numbers: &[Integer]| numbers.iter().map(|number| number.to_string_radix(16)).collect::<Vec<_>>();
        let _: Value = worker.ask(&json!({
            "load": {
                "p": workload.p.to_string_radix(16),
                "q": workload.q.to_string_radix(16),
                "plaintexts": texts(&workload.plaintexts),
                "left": texts(&workload.left),
                "right": texts(&workload.right),
                "scalars": workload.scalars,
            }
        }))?;
        Ok(Phe(worker))
    }
}

impl Contestant for Phe<'_> {
    fn name(&self) -> &str {
        "phe"
    }

    fn ways(&self) -> &[Way] {
        &[Way::EncryptPublic, Way::DecryptCrt, Way::Add, Way::Scale]
    }

    fn comparable(&self, way: Way) -> Option<Way> {
        self.ways().iter().copied().find(|only| only.operation() == way.operation())
    }

    fn run(&mut self, way: Way, rows: usize, repeats: usize) -> Result<f64> {
        self.0.measure(way.operation(), rows, repeats)
    }

    fn output(&mut self, way: Way, rows: usize) -> Result<Vec<Integer>> {
        let answer = self.0.run(way.operation(), rows, 1)?;
        answer.output.iter().map(|text| Ok(Integer::from_str_radix(text, 16)?)).collect()
    }
}
