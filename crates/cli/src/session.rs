//! What every command shares: the engine, the cores, and how to report.

use std::env;

use hearith_device::DeviceEngine;
use hearith_paillier::{Engine, KeyPolicy, PublicKey};

use crate::args::{Command, Global, Rns};
use crate::failure::{Failure, eprint_line};
use crate::passphrase::Source;
use crate::report::Step;

/// The name for the fastest engine of this CPU, beside the names of devices.
const CPU: &str = "cpu";

/// The settings of one run.
#[derive(Debug)]
pub(crate) struct Session {
    /// The engine chosen.
    pub(crate) engine: Engine,
    /// The device chosen to decrypt instead.
    pub(crate) device: Option<DeviceEngine>,
    /// The cores that compute.
    pub(crate) threads: usize,
    /// Whether to report in JSON.
    pub(crate) json: bool,
    /// The keys that are taken.
    pub(crate) policy: KeyPolicy,
    /// Where passphrases come from.
    pub(crate) passphrases: Source,
    quiet: bool,
}

impl Session {
    /// Chooses the engine and starts the threads that compute.
    pub(crate) fn start(options: Global) -> Result<Self, Failure> {
        let name = options.engine.clone().or_else(|| env::var(Engine::VARIABLE).ok());
        let device = name.as_deref().and_then(DeviceEngine::named);
        let engine = match (device, &options.engine) {
            (Some(_), _) => Ok(Engine::best()),
            (None, Some(name)) if name == CPU => Ok(Engine::best()),
            (None, Some(name)) => Engine::named(name),
            (None, None) => Engine::from_env(),
        };
        let engine = engine.map_err(|error| Failure::new(with_devices(&error)))?;
        let threads = usize::from(options.threads.unwrap_or(0));
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global()
            .map_err(|error| Failure::new(format!("cannot start threads: {error}")))?;
        let threads = rayon::current_num_threads();
        let policy = if options.insecure_key { KeyPolicy::AllowInsecure } else { KeyPolicy::Secure };
        let passphrases = Source::chosen(options.passphrase_file, options.passphrase_fd);
        Ok(Self { engine, device, threads, json: options.json, policy, passphrases, quiet: options.quiet })
    }

    /// Refuses a command that the device chosen cannot carry out.
    pub(crate) fn check_device(&self, command: &Command) -> Result<(), Failure> {
        match (self.device, command) {
            (None, _) | (_, Command::Engines(_)) => Ok(()),
            (Some(device), Command::Decrypt(_)) if device.decrypts() => Ok(()),
            (Some(device), Command::Rns(Rns::Convert(_))) if !device.decrypts() => Ok(()),
            (Some(device), _) => {
                let does = if device.decrypts() { "decrypts" } else { "converts integers to residues" };
                Err(Failure::new(format!("the engine '{}' only {does}", device.name())))
            }
        }
    }

    /// The name of the engine chosen.
    pub(crate) fn engine_name(&self) -> &'static str {
        self.device.map_or(self.engine.name(), DeviceEngine::name)
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
        if let Some(weakness) = key.weakness() {
            eprint_line(&format!("{file}: warning: {weakness} is INSECURE"));
        }
    }
}

/// An error about an engine's name, with the devices there are.
fn with_devices(error: &hearith_arith::ArithError) -> String {
    let named = |decrypts| {
        let devices = DeviceEngine::ALL.iter().filter(|device| device.decrypts() == decrypts);
        devices.map(|device| device.name()).collect::<Vec<_>>().join(", ")
    };
    match error {
        hearith_arith::ArithError::UnknownEngine(_) => {
            format!("{error}; to decrypt also {}, to convert to residues also {}", named(true), named(false))
        }
        other => other.to_string(),
    }
}
