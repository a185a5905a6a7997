//! SecretFlow's HEU, in a separate Python process that times itself on request (`heu_worker.py`).

use crate::Result;
use crate::contestant::{Contestant, Operation, Way};
use crate::phe::Worker;
use crate::workload::ROWS;
use rug::Integer;
use serde_json::{Value, json};

/// The variable that names the interpreter with HEU (`bench/peers.txt`).
const PYTHON: &str = "HEARITH_PEERS_PYTHON";

/// One of HEU's schemes with its own key.
pub struct Heu {
    worker: Worker,
    name: String,
}

impl Heu {
    /// Starts a process with a key of `bits` bits. `schema` is HEU's name for the scheme.
    pub fn new(schema: &str, bits: u32) -> Result<Self> {
        let mut worker = Worker::start(PYTHON, "target/peers/bin/python", "heu_worker.py")?;
        let _: Value = worker.ask(&json!({ "load": { "schema": schema, "bits": bits, "rows": ROWS } }))?;
        Ok(Heu { worker, name: format!("HEU {schema}") })
    }

    /// The version of HEU.
    pub fn versions(&self) -> &str {
        &self.worker.versions
    }
}

impl Contestant for Heu {
    fn name(&self) -> &str {
        &self.name
    }

    fn ways(&self) -> &[Way] {
        &[Way::EncryptDjn, Way::DecryptCrt, Way::Add]
    }

    fn comparable(&self, way: Way) -> Option<Way> {
        self.ways().iter().copied().find(|only| only.operation() == way.operation())
    }

    fn run(&mut self, way: Way, rows: usize, repeats: usize) -> Result<f64> {
        self.worker.measure(way.operation(), rows, repeats)
    }

    /// HEU uses its own keys, so its process checks its own results.
    fn output(&mut self, way: Way, _rows: usize) -> Result<Vec<Integer>> {
        Err(format!("{}: {}: no other library can check it", self.name, way.title()).into())
    }
}

/// The name of an operation in requests.
pub(crate) fn request(operation: Operation) -> &'static str {
    match operation {
        Operation::Encrypt => "encrypt",
        Operation::Decrypt => "decrypt",
        Operation::Add => "add",
        Operation::Scale => "scale",
    }
}
