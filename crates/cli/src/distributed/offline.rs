//! Trustees who generate a key by files, for machines without a network.
//!
//! Each call takes the others' files of the present exchange as they appear in a folder, and writes
//! this trustee's files of the next one when all are there. Between calls the run is kept in a
//! [state](State), from which every call computes it again from the beginning.

mod carried;
mod report;
mod state;

use std::path::Path;

use hearith_paillier::SecretText;
use hearith_threshold::distributed::offline::{Correspondent, Next, WrongFile, file_name};
use hearith_threshold::distributed::{Failure as Ended, Finished};

use super::party::Party;
use crate::failure::Failure;
use crate::progress::{Length, Progress};
use crate::session::Session;
use carried::Carried;
use report::Report;
use state::State;

/// A trustee's side of a run by files.
pub(crate) struct Correspondence {
    party: Party,
    others: Vec<u32>,
    carried: Carried,
    state: State,
    /// Trustees whose files of the present exchange will not come.
    absent: Vec<u32>,
    /// Where the run is after a call.
    report: Option<Report>,
}

/// Whether a trustee's run was interrupted while its key's files were written to `out`.
pub(super) fn is_ending(out: &Path, trustee: u32) -> bool {
    State::at(out, trustee).is_ending()
}

impl Correspondence {
    /// Looks at the folder that is carried and at what there is of a run whose key goes to `out`.
    /// Shows the keys of all until they are bound to the run.
    pub(super) fn new(
        session: &Session,
        mut party: Party,
        folder: &Path,
        absent: &[u32],
        out: &Path,
    ) -> Result<Self, Failure> {
        party.parameters = party.parameters.for_one_batch();
        let me = party.me;
        let others: Vec<u32> = (1..=party.parameters.trustees()).filter(|&number| number != me).collect();
        if absent.iter().any(|number| !others.contains(number)) {
            return Err(Failure::new("--absent takes the number of another trustee"));
        }
        let (carried, state) = (Carried::at(folder)?, State::at(out, me));
        if !state.is_there() {
            carried.check_unused(me, &others)?;
        }
        let correspondence = Correspondence { party, others, carried, state, absent: absent.to_vec(), report: None };
        if !correspondence.has_all(1) {
            correspondence.party.show_keys(session);
        }
        Ok(correspondence)
    }

    /// The passphrase of the state, a new one for a new run.
    pub(super) fn passphrase(&self, session: &Session) -> Result<SecretText, Failure> {
        self.state.passphrase(session)
    }

    /// Takes all exchanges whose files are there. None if files are awaited: whose is printed.
    pub(super) fn run(&mut self, session: &Session, passphrase: &SecretText) -> Result<Option<Finished>, Failure> {
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
    pub(super) fn end(&self, session: &Session) -> Result<(), Failure> {
        self.state.remove()?;
        self.report.as_ref().map_or(Ok(()), |report| report.print(session))
    }

    fn take_all(&self, passphrase: &SecretText) -> Result<(Option<Finished>, Report), Failure> {
        let mut trustee = self.begin(passphrase)?;
        loop {
            let exchange = trustee.exchange();
            // Whoever has sent files of an exchange needs those of the one before no more.
            if !self.has_all(exchange + 1) {
                self.write(exchange, &trustee.files())?;
            }
            let missing = self.collect(&trustee)?;
            let report = Report::new(self.party.me, &self.others, &self.carried, &trustee, &missing);
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

    /// The trustee at the first exchange, of the run that has begun or of a new one.
    fn begin(&self, passphrase: &SecretText) -> Result<Correspondent, Failure> {
        let Party { parameters, me, identity, keys, .. } = &self.party;
        let settings = Correspondent::settings(parameters, keys);
        let saved = match self.state.is_there() {
            true => self.state.open(settings, passphrase)?,
            false => self.state.begin(settings, passphrase)?,
        };
        Correspondent::new(parameters.clone(), *me, identity.clone(), keys, &saved).map_err(Failure::new)
    }

    /// The name of another trustee's file to this one.
    fn incoming(&self, exchange: u32, sender: u32) -> String {
        file_name(exchange, sender, self.party.me)
    }

    /// Whether all files of an exchange were taken.
    fn has_all(&self, exchange: u32) -> bool {
        self.others.iter().all(|&sender| self.state.has(&self.incoming(exchange, sender)))
    }

    /// Writes files for the others, one for each trustee in their order.
    fn write(&self, exchange: u32, files: &[Vec<u8>]) -> Result<(), Failure> {
        let mut files = (1..).zip(files).filter(|(_, file)| !file.is_empty());
        files.try_for_each(|(to, file)| self.carried.write(&file_name(exchange, self.party.me, to), file))
    }

    /// Takes the files of the present exchange that are there and were not taken yet. Gives the
    /// trustees whose files are missing.
    fn collect(&self, trustee: &Correspondent) -> Result<Vec<u32>, Failure> {
        let mut missing = Vec::new();
        for &sender in &self.others {
            let file = self.incoming(trustee.exchange(), sender);
            if self.state.has(&file) {
                continue;
            }
            let Some(content) = self.carried.read(&file, trustee.longest_file())? else {
                missing.push(sender);
                continue;
            };
            let wrong = |wrong| Failure::at(self.carried.name_of(&file), wrong);
            trustee.check(sender, &content).map_err(wrong)?;
            self.state.keep(&file, &content)?;
        }
        Ok(missing)
    }

    /// Whether an exchange is complete: no files are missing but those that will not come, of which
    /// the state takes note.
    fn is_complete(&self, exchange: u32, missing: &[u32]) -> Result<bool, Failure> {
        if missing.iter().any(|number| !self.absent.contains(number)) {
            return Ok(false);
        }
        if exchange == 1 && !missing.is_empty() {
            return Err(Failure::new("--absent ends a run, and in exchange 1 none has begun"));
        }
        missing.iter().try_for_each(|&sender| self.state.go_without(&self.incoming(exchange, sender)))?;
        Ok(true)
    }

    /// Goes on to the next exchange.
    fn take(&self, trustee: &mut Correspondent) -> Result<Next, Failure> {
        let exchange = trustee.exchange();
        let taken = |sender: u32| match sender == self.party.me {
            true => Ok(None),
            false => self.state.taken(&self.incoming(exchange, sender)),
        };
        let files = (1..=self.party.parameters.trustees()).map(taken).collect::<Result<_, _>>()?;
        let wrong = |wrong: WrongFile| Failure::at(self.state.name_of(&self.incoming(exchange, wrong.trustee)), wrong);
        trustee.take(files).map_err(wrong)
    }

    /// What is said of a run that has failed. The others' last files are written first; then
    /// nothing of the run is kept.
    fn fail(&self, exchange: u32, failure: &Ended, files: &[Vec<u8>]) -> Result<Failure, Failure> {
        self.write(exchange, files)?;
        self.state.remove()?;
        let what = Failure::new(format!("no key was generated: {failure}"));
        let pattern = self.carried.name_of(&format!("exchange-{exchange:02}-from-{}-to-N.hearith", self.party.me));
        Ok(if files.is_empty() { what } else { what.with_note(format!("give the others {pattern}")) })
    }
}
