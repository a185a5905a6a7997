//! `hearith election`: ballots, their board and their tally, with the organiser's folder or a
//! server.

mod audit;
mod ceremony;
mod deliver;
mod elected;
mod end;
mod letters;
mod machine;
mod mail;
mod organiser_dir;
mod outcome;
mod pdf;
mod published;
mod register;
mod server;
mod setup;
mod tally_board;
mod verify;
mod vote;

use hearith_election::KeyRole;

use crate::args::{Command, Election};
use crate::failure::CliError;
use crate::session::Session;

/// Whether a command verifies an election's record, which may be long.
pub(crate) fn verifies(command: &Command) -> bool {
    matches!(
        command,
        Command::Election(Election::Verify(_) | Election::Result(_) | Election::DecryptShare(_) | Election::Restore(_))
    )
}

/// Runs the command.
pub(crate) fn run(session: &Session, command: &Election) -> Result<(), CliError> {
    match command {
        Election::Init(command) => setup::init(session, command),
        Election::TrusteeKey(command) => setup::signing_key(session, command, KeyRole::Trustee),
        Election::RegistrarKey(command) => setup::signing_key(session, command, KeyRole::Registrar),
        Election::Ceremony(command) => ceremony::run(session, command),
        Election::Register(command) => register::register(session, command),
        Election::Deliver(command) => deliver::run(session, command),
        Election::Vote(command) => vote::vote(session, command),
        Election::Challenge(command) => vote::challenge(session, command),
        Election::Tally(command) => end::tally(session, command),
        Election::DecryptShare(command) => end::decrypt_share(session, command),
        Election::Finish(command) => end::finish(session, command),
        Election::Verify(command) => verify::run(session, command),
        Election::Result(command) => published::run(session, command),
        Election::Audit(command) => audit::run(session, command),
        Election::Serve(command) => server::serve(session, command),
        Election::Backup(command) => server::backup(session, command),
        Election::Restore(command) => server::restore(session, command),
        Election::RepairHeads(command) => server::repair_heads(session, command),
    }
}
