//! The command line of Hearith: encrypts columns of numbers, sums them without the private key, and
//! decrypts the totals.
//!
//! A command reads, computes and writes at the same time ([`pipeline`]). It writes its output under
//! a temporary name until it is complete ([`output`]). It ends with one line on standard error: how
//! fast it was, or with status 2 what is wrong and where ([`failure`]).

mod accelerator;
pub mod args;
mod bench;
mod combine;
mod complaint;
mod compressed;
mod decrypt;
mod describe;
mod device;
#[cfg(feature = "dghv")]
pub mod dghv;
#[cfg(feature = "distributed")]
mod distributed;
#[cfg(feature = "election")]
mod election;
mod encrypt;
mod engines;
mod explain;
pub mod failure;
mod folders;
#[cfg(feature = "election")]
mod heap;
mod input;
mod inspect;
mod interrupt;
mod json_sink;
mod json_values;
mod key;
mod key_files;
mod keygen;
mod keys;
mod lattice;
#[cfg(any(feature = "election", feature = "service"))]
mod log;
mod manual;
#[cfg(feature = "dghv")]
mod memory;
mod openings;
pub mod output;
#[cfg(not(all(feature = "dghv", feature = "election", feature = "service")))]
mod parts;
mod passphrase;
mod phe;
pub mod pipeline;
mod plan;
pub mod printable;
mod progress;
mod remote;
mod report;
pub mod rns;
mod selection;
#[cfg(feature = "service")]
mod serve;
#[cfg(any(feature = "election", feature = "service"))]
mod serving;
mod session;
mod shared_key;
mod shares;
mod signing;
mod sink;
mod stdout_guard;
mod sum;
mod table;
mod temporary;
mod values;

use std::process::ExitCode;

use hearith_device::DeviceProvider;

use args::{Arguments, Command, Prove, Verify};
use device::Devices;
use failure::CliError;
use session::Session;

/// Runs the process's command, on this CPU or a graphics card.
pub fn main() -> ExitCode {
    main_with(&[])
}

/// Like [`main`], with additional devices among the engines.
pub fn main_with(devices: &'static [&'static dyn DeviceProvider]) -> ExitCode {
    // Before any secret is read. A system without this feature is no reason to stop.
    let _ = hearith_paillier::disable_core_dumps();
    complaint::set_json_output(args::ask_for_json());
    let arguments = match args::read() {
        Ok(arguments) => arguments,
        Err(failure) => return failure.report(),
    };
    #[cfg(feature = "election")]
    if election::verifies(&arguments.command) {
        // If the C library does not support this, verification only needs more memory.
        let _ = heap::limit_malloc_arenas();
    }
    interrupt::install();
    // Every program supports the machine's graphics cards.
    let devices =
        [&hearith_cuda::CARDS as &dyn DeviceProvider].into_iter().chain(devices.iter().copied()).collect::<Vec<_>>();
    match run(arguments, Devices(devices.leak())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run(arguments: Arguments, devices: Devices) -> Result<(), CliError> {
    let mut session = Session::start(arguments.global, devices)?;
    session.check_device(&arguments.command)?;
    match arguments.command {
        Command::Keygen(command) => keygen::run(&session, &command),
        Command::Key(command) => key::run(&session, &command),
        Command::Encrypt(command) => encrypt::run(&session, &command),
        Command::Sum(command) => sum::run(&session, &command),
        Command::Decrypt(command) => decrypt::run(&session, &command),
        Command::DecryptShare(command) => shares::run(&session, &command),
        Command::Combine(command) => combine::run(&session, &command),
        Command::Prove(Prove::Decryption(command)) => openings::prove(&session, &command),
        Command::Verify(Verify::Decryption(command)) => openings::verify(&session, &command),
        #[cfg(feature = "service")]
        Command::Serve(command) => serve::run(&session, &command),
        #[cfg(not(feature = "service"))]
        Command::Serve(_) => Err(parts::absent("hearith serve", "service")),
        Command::Inspect(command) => inspect::run(&session, &command),
        Command::Describe(command) => describe::run(&session, &command),
        Command::Engines(command) if command.explain => explain::run(&session),
        Command::Engines(_) => engines::run(&session),
        Command::Bench(command) => bench::run(&session, &command),
        Command::Export(command) => phe::export(&session, &command),
        Command::Import(command) => phe::import(&session, &command),
        Command::Completions(command) => manual::completions(&command),
        Command::Man(command) => manual::pages(&command),
        Command::Rns(command) => rns::run(&session, &command),
        #[cfg(feature = "election")]
        Command::Election(command) => election::run(&session, &command),
        #[cfg(not(feature = "election"))]
        Command::Election(_) => Err(parts::absent("hearith election", "election")),
        #[cfg(feature = "dghv")]
        Command::Dghv(command) => dghv::run(&session, &command),
        #[cfg(not(feature = "dghv"))]
        Command::Dghv(_) => Err(parts::absent("hearith dghv", "dghv")),
    }
}
