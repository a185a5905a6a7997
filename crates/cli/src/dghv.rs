//! `hearith dghv`: FHE over the integers, with parameters that offer no security.

pub mod bits;
mod compute;
mod crypt;
mod describe;
mod engines;
mod files;
pub mod integers;
mod keygen;
mod parameters;

use hearith_dghv::{Error, InsecureHistoricalParameters};

pub(crate) use describe::inspect;

use crate::args::{Dghv, DghvCommand};
use crate::failure::CliError;
use crate::session::Session;

use compute::Operation;

/// The option that every command requires.
const OPTION: &str = "--insecure-historical-parameters";

/// Runs the command.
pub(crate) fn run(session: &Session, command: &Dghv) -> Result<(), CliError> {
    let insecure = || match command.insecure_historical_parameters {
        true => Ok(InsecureHistoricalParameters),
        false => Err(CliError::new("these schemes are broken: their keys protect nothing").with_note(OPTION)),
    };
    match &command.command {
        DghvCommand::Keygen(command) => keygen::run(session, command, insecure()?),
        DghvCommand::Encrypt(command) => crypt::encrypt(session, command, insecure()?),
        DghvCommand::Switch(command) => compute::switch(session, command, insecure()?),
        DghvCommand::Decrypt(command) => crypt::decrypt(session, command, insecure()?),
        DghvCommand::Add(command) => compute::combine(session, command, insecure()?, Operation::Add),
        DghvCommand::Multiply(command) => compute::combine(session, command, insecure()?, Operation::Multiply),
        DghvCommand::Evaluate(command) => compute::evaluate(session, command, insecure()?),
        DghvCommand::Inspect(command) => inspect(session, &command.file),
    }
}

/// Adds the first row of a batch to the row of an error.
fn offset(error: &Error, first: u64) -> Error {
    match error.row() {
        Some(row) => error.clone().at_row(row.saturating_add(first as usize)),
        None => error.clone(),
    }
}
