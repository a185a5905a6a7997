//! `hearith keygen --distributed`: a shared key that its trustees generate together, over the
//! network in one go, or by files in one call for each exchange.

mod network;
mod offline;
mod party;

use std::path::Path;

use hearith_paillier::SecretText;
use hearith_threshold::distributed::Finished;

use crate::args::Meet;
use crate::failure::Failure;
use crate::session::Session;
use network::Meeting;
use offline::Correspondence;
pub(crate) use party::{Party, missing, number};

/// How a trustee generates a key with the others.
pub(crate) enum Generation {
    /// All are there at the same time.
    Network(Box<Meeting>),
    /// Files are carried.
    Offline(Box<Correspondence>),
}

/// Whether files of the key that are there are this run's own, written by a call that was
/// interrupted.
pub(crate) fn is_ending(at: &Meet, trustee: u32, out: &Path) -> bool {
    at.offline.is_some() && offline::is_ending(out, trustee)
}

impl Generation {
    /// What the options ask for; `out` is the folder for the key's files. Nothing is written yet,
    /// and the keys of all are shown.
    pub(crate) fn prepare(session: &Session, party: Party, at: &Meet, out: &Path) -> Result<Self, Failure> {
        Ok(match &at.offline {
            None => Self::Network(Box::new(Meeting::new(session, party, at)?)),
            Some(folder) => Self::Offline(Box::new(Correspondence::new(session, party, folder, &at.absent, out)?)),
        })
    }

    /// The passphrase for this trustee's share, in the file named: what `chosen` gives, or that of
    /// the state of a run by files, which always has one.
    pub(crate) fn passphrase(
        &self,
        session: &Session,
        chosen: impl FnOnce() -> Result<Option<SecretText>, Failure>,
    ) -> Result<Option<SecretText>, Failure> {
        match self {
            Self::Network(_) => chosen(),
            Self::Offline(correspondence) => correspondence.passphrase(session).map(Some),
        }
    }

    /// Generates the key, or takes the exchanges whose files are there. None if files are awaited.
    pub(crate) fn run(
        &mut self,
        session: &Session,
        passphrase: Option<&SecretText>,
    ) -> Result<Option<Finished>, Failure> {
        match (self, passphrase) {
            (Self::Network(meeting), _) => meeting.run().map(Some),
            (Self::Offline(correspondence), Some(passphrase)) => correspondence.run(session, passphrase),
            (Self::Offline(_), None) => Err(Failure::new("the state of a run by files has a passphrase")),
        }
    }

    /// Removes what was kept of the run, once the key's files are written.
    pub(crate) fn end(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::Network(_) => Ok(()),
            Self::Offline(correspondence) => correspondence.end(session),
        }
    }
}
