//! `hearith keygen --distributed`: trustees generate a shared key together, either over the network
//! in one run, or through files with one call per exchange.

mod network;
mod offline;
mod party;

use std::path::Path;

use hearith_paillier::SecretText;
use hearith_threshold::distributed::Finished;

use crate::args::Meet;
use crate::failure::CliError;
use crate::session::Session;
use network::NetworkRun;
use offline::OfflineRun;
pub(crate) use party::{Party, missing, number};

/// How a trustee generates a key with the others.
pub(crate) enum Generation {
    /// All trustees are online at the same time.
    Network(Box<NetworkRun>),
    /// The trustees exchange files.
    Offline(Box<OfflineRun>),
}

/// Whether existing files of the key come from an interrupted call of this same run.
pub(crate) fn is_ending(at: &Meet, trustee: u32, out: &Path) -> bool {
    at.offline.is_some() && offline::is_ending(out, trustee)
}

impl Generation {
    /// Prepares what the options select. `out` is the folder for the key's files. Shows the keys of
    /// all trustees and writes nothing yet.
    pub(crate) fn prepare(session: &Session, party: Party, at: &Meet, out: &Path) -> Result<Self, CliError> {
        Ok(match &at.offline {
            None => Self::Network(Box::new(NetworkRun::new(session, party, at)?)),
            Some(folder) => Self::Offline(Box::new(OfflineRun::new(session, party, folder, &at.absent, out)?)),
        })
    }

    /// Returns the passphrase for this trustee's share: from `chosen`, or in a run by files from
    /// its state, which always has one.
    pub(crate) fn passphrase(
        &self,
        session: &Session,
        chosen: impl FnOnce() -> Result<Option<SecretText>, CliError>,
    ) -> Result<Option<SecretText>, CliError> {
        match self {
            Self::Network(_) => chosen(),
            Self::Offline(run) => run.passphrase(session).map(Some),
        }
    }

    /// Generates the key, or performs the exchanges whose files are present. Returns `None` if
    /// files are still missing.
    pub(crate) fn run(
        &mut self,
        session: &Session,
        passphrase: Option<&SecretText>,
    ) -> Result<Option<Finished>, CliError> {
        match (self, passphrase) {
            (Self::Network(run), _) => run.run().map(Some),
            (Self::Offline(run), Some(passphrase)) => run.run(session, passphrase),
            (Self::Offline(_), None) => Err(CliError::new("the state of a run by files has a passphrase")),
        }
    }

    /// Removes the state of the run once the key's files are written.
    pub(crate) fn end(self, session: &Session) -> Result<(), CliError> {
        match self {
            Self::Network(_) => Ok(()),
            Self::Offline(run) => run.end(session),
        }
    }
}
