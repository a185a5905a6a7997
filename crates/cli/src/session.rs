//! State that every command shares: the engine, the cores, and the form of reports.

use std::{env, thread};

use hearith_device::{DeviceProvider, Trust};
use hearith_paillier::{Engine, KeyPolicy, PublicKey};

#[cfg(feature = "election")]
use crate::args::Election;
use crate::args::{Command, Global, MAX_THREADS, Rns};
#[cfg(feature = "dghv")]
use crate::args::{Dghv, DghvCommand};
use crate::device::Devices;
use crate::failure::{CliError, eprint_line};
use crate::passphrase::Source;
use crate::report::Step;

/// The name that selects this CPU's fastest engine, in addition to the names of devices.
const CPU: &str = "cpu";
/// The name that selects the CPU and, if allowed, a device for batches that are large enough.
const AUTO: &str = "auto";
/// Maximum bytes of ciphertexts in a batch that is encrypted or decrypted.
const CIPHERTEXT_BYTES: usize = 64 << 20;
/// Maximum rows sent to a service at a time.
const REMOTE_ROWS: usize = 4096;
/// The variable that sets the number of threads in programs with rayon.
const THREADS: &str = "RAYON_NUM_THREADS";

/// The settings of a run.
#[derive(Debug)]
pub(crate) struct Session {
    /// The selected engine.
    pub(crate) engine: Engine,
    /// The selected device, named by the user or implied by the command.
    pub(crate) device: Option<&'static dyn DeviceProvider>,
    /// A device that nobody named, for commands that it supports.
    automatic: Option<&'static dyn DeviceProvider>,
    /// The available devices.
    pub(crate) devices: Devices,
    /// The number of computing threads.
    pub(crate) threads: usize,
    /// Whether reports are JSON.
    pub(crate) json: bool,
    /// The keys that are accepted.
    pub(crate) policy: KeyPolicy,
    /// The source of passphrases.
    pub(crate) passphrases: Source,
    quiet: bool,
}

impl Session {
    /// Selects the engine and starts the computing threads.
    pub(crate) fn start(options: Global, devices: Devices) -> Result<Self, CliError> {
        let name = options.engine.clone().or_else(|| env::var(Engine::VARIABLE).ok());
        let is_automatic = name.as_deref().is_none_or(|name| matches!(name, AUTO | ""));
        let device = name.as_deref().filter(|_| !is_automatic).map_or(Ok(None), |name| devices.named(name))?;
        let allowed = options.allow_card || hearith_cuda::is_allowed();
        let automatic = devices.automatic().filter(|_| is_automatic && allowed);
        let engine = match (device, &options.engine) {
            (Some(_), _) => Ok(Engine::best()),
            _ if is_automatic => Ok(Engine::best()),
            (None, Some(name)) if name == CPU => Ok(Engine::best()),
            (None, Some(name)) => Engine::named(name),
            (None, None) => Engine::from_env(),
        };
        let engine = engine.map_err(|error| CliError::new(with_devices(&error, devices)))?;
        let threads = threads(&options)?;
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global()
            .map_err(|error| CliError::because("cannot start threads", error))?;
        let policy = if options.insecure_key { KeyPolicy::AllowInsecure } else { KeyPolicy::Secure };
        let passphrases = Source::chosen(options.passphrase_file, options.passphrase_fd);
        Ok(Self {
            engine,
            device,
            automatic,
            devices,
            threads,
            json: options.json,
            policy,
            passphrases,
            quiet: options.quiet,
        })
    }

    /// Rejects a command that the selected device does not support. For commands on columns,
    /// selects the automatic device if no other is selected.
    pub(crate) fn check_device(&mut self, command: &Command) -> Result<(), CliError> {
        if matches!(command, Command::Encrypt(_) | Command::Sum(_) | Command::Decrypt(_)) {
            self.device = self.device.or(self.automatic);
        }
        let Some(device) = self.device else { return Ok(()) };
        let able = match command {
            Command::Engines(_) => true,
            // The key's scheme is not known yet: lattice keys encrypt with a device that converts.
            Command::Encrypt(_) => device.computes().is_some() || device.converts().is_some(),
            Command::Sum(_) => device.computes().is_some(),
            Command::Decrypt(_) | Command::Serve(_) => device.decrypts().is_some(),
            Command::Rns(Rns::Convert(_)) => device.converts().is_some(),
            #[cfg(feature = "dghv")]
            Command::Dghv(Dghv { command: DghvCommand::Encrypt(_), .. }) => device.encrypts_integers().is_some(),
            #[cfg(feature = "election")]
            Command::Election(Election::Vote(vote)) if vote.machine.is_some() => device.makes_ballots().is_some(),
            #[cfg(feature = "election")]
            Command::Election(Election::DecryptShare(share)) if share.machine.is_some() => {
                device.counts_ballots().is_some()
            }
            _ => false,
        };
        if able { Ok(()) } else { Err(only(device)) }
    }

    /// The device that the user named.
    pub(crate) fn named_device(&self) -> Option<&'static dyn DeviceProvider> {
        self.device.filter(|_| self.automatic.is_none())
    }

    /// How far the selected device is trusted. Fails if `unchecked` is set without a device.
    pub(crate) fn trust(&self, unchecked: bool) -> Result<Trust, CliError> {
        match (unchecked, self.device) {
            (false, _) => Ok(Trust::Checked),
            (true, Some(_)) => Ok(Trust::Unchecked),
            (true, None) => {
                let name = self.engine_name();
                Err(CliError::new(format!("--unchecked-device needs a device, and the engine '{name}' is not one")))
            }
        }
    }

    /// The name of the selected engine.
    pub(crate) fn engine_name(&self) -> &'static str {
        match self.device {
            Some(_) if self.automatic.is_some() => AUTO,
            Some(device) => device.system().name,
            None => self.engine.name(),
        }
    }

    /// The number of rows to encrypt or decrypt at a time, each with `ciphertext_bytes` bytes of
    /// ciphertexts.
    ///
    /// Enough rows to fill the lanes of all cores, and few enough for smooth progress and little
    /// memory.
    pub(crate) fn ciphertext_batch_rows(&self, ciphertext_bytes: usize) -> usize {
        (128 * self.threads).min(CIPHERTEXT_BYTES / ciphertext_bytes.max(1)).max(1)
    }

    /// The same for a service: enough rows to make the round trip insignificant.
    pub(crate) fn remote_rows(&self, ciphertext_bytes: usize) -> usize {
        REMOTE_ROWS.min(CIPHERTEXT_BYTES / ciphertext_bytes.max(1)).max(1)
    }

    /// Whether to report only errors and warnings.
    #[cfg(any(feature = "election", feature = "service"))]
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Reports on standard error what a step did and how fast.
    pub(crate) fn report(&self, step: &Step) {
        if !self.quiet {
            step.print(self.engine_name(), self.threads, self.json);
        }
    }

    /// Warns about an insecure key.
    pub(crate) fn warn_insecure_key(&self, file: &str, key: &PublicKey) {
        if let Some(weakness) = key.weakness() {
            eprint_line(&format!("{file}: warning: {weakness} is INSECURE"));
        }
    }
}

/// The failure for a command that the selected device does not support.
pub(crate) fn only(device: &dyn DeviceProvider) -> CliError {
    let system = device.system();
    CliError::new(format!("the engine '{}' only {}", system.name, system.does))
}

/// The number of threads to start: from the options, else from the environment, else one per core.
fn threads(options: &Global) -> Result<usize, CliError> {
    if let Some(threads) = options.threads {
        return Ok(threads.into());
    }
    let most = usize::from(MAX_THREADS);
    match env::var(THREADS).ok().and_then(|text| text.parse().ok()) {
        Some(threads) if threads > most => {
            Err(CliError::new(format!("{THREADS} is {threads}: at most {most} threads")))
        }
        Some(threads) if threads > 0 => Ok(threads),
        _ => Ok(thread::available_parallelism().map_or(1, |cores| cores.get().min(most))),
    }
}

/// Adds the available devices to an error about an engine's name.
fn with_devices(error: &hearith_arith::ArithError, devices: Devices) -> String {
    match error {
        hearith_arith::ArithError::UnknownEngine(_) => format!("{error}{}", devices.choice()),
        other => other.to_string(),
    }
}
