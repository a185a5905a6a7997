//! What every command shares: the engine, the cores, and how to report.

use hearith_paillier::{Engine, MIN_SECURE_BITS, PublicKey};

use crate::args::Global;
use crate::failure::{Failure, eprint_line};
use crate::report::Step;

/// The settings of one run.
#[derive(Debug)]
pub(crate) struct Session {
    /// The engine chosen.
    pub(crate) engine: Engine,
    /// The cores that compute.
    pub(crate) threads: usize,
    /// Whether to report in JSON.
    pub(crate) json: bool,
    quiet: bool,
}

impl Session {
    /// Chooses the engine and starts the threads that compute.
    pub(crate) fn start(options: Global) -> Result<Self, Failure> {
        let engine = match &options.engine {
            Some(name) => Engine::named(name),
            None => Engine::from_env(),
        };
        let engine = engine.map_err(Failure::new)?;
        let threads = usize::from(options.threads.unwrap_or(0));
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global()
            .map_err(|error| Failure::new(format!("cannot start threads: {error}")))?;
        let threads = rayon::current_num_threads();
        Ok(Self { engine, threads, json: options.json, quiet: options.quiet })
    }

    /// Rows to encrypt or decrypt at a time: enough to fill every core's lanes, few enough for
    /// progress to move and memory to stay small.
    pub(crate) fn slow_rows(&self) -> usize {
        128 * self.threads
    }

    /// Says on standard error what a step did and how fast.
    pub(crate) fn report(&self, step: &Step) {
        if !self.quiet {
            step.print(self);
        }
    }

    /// Warns of a key that protects nothing.
    pub(crate) fn warn_of(&self, file: &str, key: &PublicKey) {
        if key.bits() < MIN_SECURE_BITS {
            let bits = key.bits();
            eprint_line(&format!("{file}: warning: a key of {bits} bits is INSECURE"));
        }
    }
}
