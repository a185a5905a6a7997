//! Generates a key with other trustees through files, for machines without a network.
//!
//! Each call reads the others' files of the current exchange as they appear in a folder. Once all
//! are there, it writes this trustee's files of the next exchange. Between calls the run is stored
//! in a [state](State). Every call recomputes the run from it from the start.

mod exchange_folder;
mod report;
mod state;

use std::path::Path;

use hearith_paillier::SecretText;
use hearith_threshold::distributed::offline::{Correspondent, Next, WrongFile, file_name};
use hearith_threshold::distributed::{Failure as RunFailure, Finished};

use super::party::Party;
use crate::failure::CliError;
use crate::progress::{Length, Progress};
use crate::session::Session;
use exchange_folder::ExchangeFolder;
use report::Report;
use state::State;

/// A trustee's side of a run by files.
pub(crate) struct OfflineRun {
    party: Party,
    others: Vec<u32>,
    folder: ExchangeFolder,
    state: State,
    /// Trustees whose files of the current exchange will not arrive.
    absent: Vec<u32>,
    /// The state of the run after a call.
    report: Option<Report>,
}

/// Whether a trustee's run was interrupted while it wrote its key's files to `out`.
pub(super) fn is_ending(out: &Path, trustee: u32) -> bool {
    State::at(out, trustee).is_ending()
}

impl OfflineRun {
    /// Opens the folder of exchanged files and the state of a run whose key is written to `out`.
    /// Shows the keys of all trustees until they are bound to the run.
    pub(super) fn new(
        session: &Session,
        mut party: Party,
        folder: &Path,
        absent: &[u32],
        out: &Path,
    ) -> Result<Self, CliError> {
        party.parameters = party.parameters.for_one_batch();
        let me = party.me;
        let others: Vec<u32> = (1..=party.parameters.trustees()).filter(|&number| number != me).collect();
        if absent.iter().any(|number| !others.contains(number)) {
            return Err(CliError::new("--absent needs the number of another trustee"));
        }
        let (folder, state) = (ExchangeFolder::at(folder)?, State::at(out, me));
        if !state.is_there() {
            folder.check_unused(me, &others)?;
        }
        let run = Self { party, others, folder, state, absent: absent.to_vec(), report: None };
        if !run.has_all(1) {
            run.party.show_keys(session);
        }
        Ok(run)
    }

    /// Asks for the passphrase of the state, or for a new one in a new run.
    pub(super) fn passphrase(&self, session: &Session) -> Result<SecretText, CliError> {
        self.state.passphrase(session)
    }

    /// Performs all exchanges whose files are present. If files are missing, prints whose and
    /// returns `None`.
    pub(super) fn run(&mut self, session: &Session, passphrase: &SecretText) -> Result<Option<Finished>, CliError> {
        let (finished, report) = {
            let _progress = Progress::start("computing", Length::Unknown);
            self.take_all(passphrase)?
        };
        match finished {
            None => report.print(session)?,
            Some(_) => self.report = Some(report),
        }
        Ok(finished)
    }

    /// Removes the state once the key's files are written.
    pub(super) fn end(&self, session: &Session) -> Result<(), CliError> {
        self.state.remove()?;
        self.report.as_ref().map_or(Ok(()), |report| report.print(session))
    }

    fn take_all(&self, passphrase: &SecretText) -> Result<(Option<Finished>, Report), CliError> {
        let mut trustee = self.begin(passphrase)?;
        loop {
            let exchange = trustee.exchange();
            // A trustee that has sent files of an exchange no longer needs those of the previous
            // one.
            if !self.has_all(exchange + 1) {
                self.write(exchange, &trustee.files())?;
            }
            let missing = self.collect(&trustee)?;
            let report = Report::new(self.party.me, &self.others, &self.folder, &trustee, &missing);
            if !self.is_complete(exchange, &missing)? {
                return Ok((None, report));
            }
            match self.take(&mut trustee)? {
                Next::Files => {}
                Next::Finished(finished) => {
                    self.state.finish()?;
                    return Ok((Some(*finished), report.finished()));
                }
                Next::Failed { failure, files } => return Err(self.fail(trustee.exchange(), &failure, &files)?),
            }
        }
    }

    /// Creates the trustee at the first exchange, from the stored run or a new one.
    fn begin(&self, passphrase: &SecretText) -> Result<Correspondent, CliError> {
        let Party { parameters, me, identity, keys, .. } = &self.party;
        let settings = Correspondent::settings(parameters, keys);
        let saved = match self.state.is_there() {
            true => self.state.open(settings, passphrase)?,
            false => self.state.begin(settings, passphrase)?,
        };
        Correspondent::new(parameters.clone(), *me, identity.clone(), keys, &saved).map_err(CliError::new)
    }

    /// The name of another trustee's file for this one.
    fn incoming(&self, exchange: u32, sender: u32) -> String {
        file_name(exchange, sender, self.party.me)
    }

    /// Whether all files of an exchange were received.
    fn has_all(&self, exchange: u32) -> bool {
        self.others.iter().all(|&sender| self.state.has(&self.incoming(exchange, sender)))
    }

    /// Writes files for the others, one for each trustee, in order.
    fn write(&self, exchange: u32, files: &[Vec<u8>]) -> Result<(), CliError> {
        let mut files = (1..).zip(files).filter(|(_, file)| !file.is_empty());
        files.try_for_each(|(to, file)| self.folder.write(&file_name(exchange, self.party.me, to), file))
    }

    /// Stores new files of the current exchange. Returns the trustees whose files are missing.
    fn collect(&self, trustee: &Correspondent) -> Result<Vec<u32>, CliError> {
        let mut missing = Vec::new();
        for &sender in &self.others {
            let file = self.incoming(trustee.exchange(), sender);
            if self.state.has(&file) {
                continue;
            }
            let Some(content) = self.folder.read(&file, trustee.longest_file())? else {
                missing.push(sender);
                continue;
            };
            let wrong = |wrong| CliError::at(self.folder.name_of(&file), wrong);
            trustee.check(sender, &content).map_err(wrong)?;
            self.state.store(&file, &content)?;
        }
        Ok(missing)
    }

    /// Whether an exchange is complete: the only missing files are those that will not arrive.
    /// Records these in the state.
    fn is_complete(&self, exchange: u32, missing: &[u32]) -> Result<bool, CliError> {
        if missing.iter().any(|number| !self.absent.contains(number)) {
            return Ok(false);
        }
        if exchange == 1 && !missing.is_empty() {
            return Err(CliError::new("--absent ends a run, but in exchange 1 no run has begun yet"));
        }
        missing.iter().try_for_each(|&sender| self.state.mark_absent(&self.incoming(exchange, sender)))?;
        Ok(true)
    }

    /// Advances to the next exchange.
    fn take(&self, trustee: &mut Correspondent) -> Result<Next, CliError> {
        let exchange = trustee.exchange();
        let received = |sender: u32| match sender == self.party.me {
            true => Ok(None),
            false => self.state.received(&self.incoming(exchange, sender)),
        };
        let files = (1..=self.party.parameters.trustees()).map(received).collect::<Result<_, _>>()?;
        let wrong = |wrong: WrongFile| CliError::at(self.state.name_of(&self.incoming(exchange, wrong.trustee)), wrong);
        trustee.take(files).map_err(wrong)
    }

    /// Ends a failed run and returns its failure. Writes the last files for the others first, then
    /// removes the state.
    fn fail(&self, exchange: u32, failure: &RunFailure, files: &[Vec<u8>]) -> Result<CliError, CliError> {
        self.write(exchange, files)?;
        self.state.remove()?;
        let what = CliError::new(format!("no key was generated: {failure}"));
        let pattern = self.folder.name_of(&format!("exchange-{exchange:02}-from-{}-to-N.hearith", self.party.me));
        Ok(if files.is_empty() { what } else { what.with_note(format!("give the others {pattern}")) })
    }
}
