//! One trustee's side of a run that exchanges files.

use super::super::candidate::message_bytes;
use super::super::message::Identity;
use super::super::plan::Plan;
use super::super::stream::{Hash, Seed, derive, derive_seed};
use super::super::trustee::{Finished, Progress, Step, Trustee};
use super::super::{Failure, Parameters, session_id};
use super::file::{Agreement, Envelope, OVERHEAD, key_file, open, read_key, seal};
use super::{BATCH_EXCHANGES, EXCHANGES, Saved};
use crate::error::{Error, ErrorKind};
use ed25519_dalek::VerifyingKey;
use std::fmt;
use zeroize::{Zeroize, Zeroizing};

/// A trustee who exchanges files with the others. `Debug` shows only its number and the exchange.
/// All secrets are wiped when it is dropped.
pub struct Correspondent {
    parameters: Parameters,
    me: u32,
    identity: Identity,
    peers: Vec<VerifyingKey>,
    settings: Hash,
    master: Seed,
    agreement: Agreement,
    longest: usize,
    exchange: u32,
    /// The number of exchanges, as far as is known.
    exchanges: u32,
    /// The run, from the second exchange on.
    run: Option<Run>,
}

/// The state once all keys are known.
struct Run {
    session: Hash,
    /// The keys of all trustees.
    keys: Vec<[u8; 32]>,
    trustee: Trustee,
    /// The messages of the current exchange.
    messages: Vec<Zeroizing<Vec<u8>>>,
}

/// The result of processing the files of an exchange.
#[derive(Debug)]
pub enum Next {
    /// [`Correspondent::files`] has the files of the next exchange.
    Files,
    /// The key is complete: all trustees have confirmed it.
    Finished(Box<Finished>),
    /// The run failed. The files, if any, are those of the next exchange and inform the others.
    Failed {
        /// The failure.
        failure: Failure,
        /// One file for each trustee in order, with this trustee's own empty, or no files.
        files: Vec<Vec<u8>>,
    },
}

/// A file that is not the expected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongFile {
    /// The trustee whose file was expected, from 1.
    pub trustee: u32,
    /// The fault of the file.
    pub wrong: Wrong,
}

/// The fault of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wrong {
    /// The file is missing.
    Missing,
    /// The file is not a file of an exchange, or is truncated or too long.
    Form,
    /// The file has another exchange, sender or receiver.
    Elsewhere {
        /// Exchange in the file, from 1.
        exchange: u32,
        /// Sender in the file, from 1.
        sender: u32,
        /// Receiver in the file, from 1.
        receiver: u32,
    },
    /// The sender generates a different key, or with different trustees.
    Settings,
    /// The file belongs to another run.
    Run,
    /// The file was changed, or was not sealed by this sender for this receiver.
    Sealed,
    /// The file is not signed with the sender's key.
    Signature,
    /// The key in the file is weak and protects nothing.
    WeakKey,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::Missing => f.write_str("the file is missing"),
            Wrong::Form => f.write_str("not a file of an exchange, or truncated"),
            Wrong::Elsewhere { exchange, sender, receiver } => {
                write!(f, "this is the file of exchange {exchange} from trustee {sender} to trustee {receiver}")
            }
            Wrong::Settings => f.write_str("the sender is generating another key, or has other trustees"),
            Wrong::Run => f.write_str("the file belongs to another run"),
            Wrong::Sealed => f.write_str("the file was changed, or was not sealed by this trustee for this receiver"),
            Wrong::Signature => f.write_str("the file is not signed with this trustee's key"),
            Wrong::WeakKey => f.write_str("the file's key protects nothing"),
        }
    }
}

impl fmt::Display for WrongFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "trustee {}: {}", self.trustee, self.wrong)
    }
}

impl std::error::Error for WrongFile {}

/// The name of the file of an exchange from one trustee to another.
pub fn file_name(exchange: u32, sender: u32, receiver: u32) -> String {
    format!("exchange-{exchange:02}-from-{sender}-to-{receiver}.hearith")
}

impl Correspondent {
    /// Starts trustee `me`, from 1, at the first exchange. `keys` are the public keys with which
    /// the trustees sign.
    ///
    /// # Errors
    /// The errors of [`Trustee::new`], or [`BadSharing`](ErrorKind::BadSharing) if `saved` belongs
    /// to a run with other settings.
    pub fn new(
        parameters: Parameters,
        me: u32,
        identity: Identity,
        keys: &[[u8; 32]],
        saved: &Saved,
    ) -> Result<Self, Error> {
        let settings = Self::settings(&parameters, keys);
        let derived = |label: &str| derive_seed(label, &[&saved.seed[..]]);
        let (master, agreement) = (derived("offline master"), Agreement::from_seed(derived("offline secret")));
        // Nothing is sent in this session: this call only validates the options.
        Trustee::with_seed(parameters.clone(), me, identity.clone(), keys, settings, &master)?;
        let peers: Option<Vec<_>> = keys.iter().map(|key| VerifyingKey::from_bytes(key).ok()).collect();
        let peers = peers.filter(|_| settings == saved.settings).ok_or(ErrorKind::BadSharing)?;
        let longest = longest_message(&Plan::new(parameters.clone())?);
        Ok(Correspondent {
            parameters,
            me,
            identity,
            peers,
            settings,
            master,
            agreement,
            longest,
            exchange: 1,
            exchanges: EXCHANGES,
            run: None,
        })
    }

    /// A hash of the settings that all trustees of a run must have in common.
    pub fn settings(parameters: &Parameters, keys: &[[u8; 32]]) -> [u8; 32] {
        derive("offline settings", &[&parameters.to_bytes(), &keys.concat()])
    }

    /// The current exchange, from 1.
    pub fn exchange(&self) -> u32 {
        self.exchange
    }

    /// The number of exchanges that the run needs, as far as is known. It exceeds [`EXCHANGES`] if
    /// a batch had no successful candidate. A failure ends the run earlier or later.
    pub fn exchanges(&self) -> u32 {
        self.exchanges
    }

    /// The name of the run, the same for all trustees. `None` before the second exchange.
    pub fn session(&self) -> Option<[u8; 32]> {
        self.run.as_ref().map(|run| run.session)
    }

    /// The progress of the run. `None` before the second exchange.
    pub fn progress(&self) -> Option<Progress> {
        self.run.as_ref().map(|run| run.trustee.progress())
    }

    /// Maximum length of a file in bytes.
    pub fn longest_file(&self) -> usize {
        self.longest + OVERHEAD
    }

    /// The files of the current exchange, one for each trustee in order. This trustee's own file is
    /// empty. Repeated calls return the same files.
    pub fn files(&self) -> Vec<Vec<u8>> {
        match &self.run {
            None => {
                let key = self.agreement.public();
                let file = |to: u32| key_file(self.envelope(self.me, to), &self.identity, &key);
                self.everybody().map(|to| if to == self.me { Vec::new() } else { file(to) }).collect()
            }
            Some(run) => self.sealed(run, &run.messages),
        }
    }

    /// Checks that a trustee's file belongs to the current exchange, without advancing.
    ///
    /// # Errors
    /// The fault of the file.
    pub fn check(&self, sender: u32, file: &[u8]) -> Result<(), WrongFile> {
        let checked = match &self.run {
            None => self.read_key(sender, file).map(|_| ()),
            Some(run) => self.open(run, sender, file.to_vec()).map(|_| ()),
        };
        checked.map_err(|wrong| WrongFile { trustee: sender, wrong })
    }

    /// Processes the files of the current exchange, one from each trustee in order (this trustee's
    /// own is ignored), and advances to the next exchange. From the second exchange on, `None`
    /// means that a trustee's file will not arrive, which ends the run.
    ///
    /// # Errors
    /// An invalid file. In this case nothing changes.
    pub fn take(&mut self, files: Vec<Option<Vec<u8>>>) -> Result<Next, WrongFile> {
        let mut files: Vec<_> = self.everybody().zip(files.into_iter().chain(std::iter::repeat(None))).collect();
        let wrong = |trustee: u32| move |wrong: Wrong| WrongFile { trustee, wrong };
        let Some(run) = &self.run else {
            let mut keys = Vec::new();
            for (sender, file) in files {
                keys.push(match file {
                    _ if sender == self.me => self.agreement.public(),
                    None => return Err(wrong(sender)(Wrong::Missing)),
                    Some(file) => self.read_key(sender, &file).map_err(wrong(sender))?,
                });
            }
            return Ok(self.begin(keys));
        };
        let mut received = Vec::new();
        for (sender, file) in &mut files {
            let file = file.take().filter(|_| *sender != self.me);
            received.push(file.map(|file| self.open(run, *sender, file)).transpose().map_err(wrong(*sender))?);
        }
        Ok(self.step(received))
    }

    fn everybody(&self) -> std::ops::RangeInclusive<u32> {
        1..=self.parameters.trustees
    }

    fn envelope(&self, sender: u32, receiver: u32) -> Envelope {
        let run = self.run.as_ref().map_or(self.settings, |run| run.session);
        Envelope { run, exchange: self.exchange, sender, receiver }
    }

    fn read_key(&self, sender: u32, file: &[u8]) -> Result<[u8; 32], Wrong> {
        let signer = &self.peers[sender as usize - 1];
        let key = read_key(self.envelope(sender, self.me), signer, file)?;
        self.agreement.shared(&key).map(|_| key).ok_or(Wrong::WeakKey)
    }

    fn open(&self, run: &Run, sender: u32, file: Vec<u8>) -> Result<Zeroizing<Vec<u8>>, Wrong> {
        if file.len() > self.longest_file() {
            return Err(Wrong::Form);
        }
        open(self.envelope(sender, self.me), &self.agreement, &run.keys[sender as usize - 1], file)
    }

    fn sealed(&self, run: &Run, messages: &[Zeroizing<Vec<u8>>]) -> Vec<Vec<u8>> {
        let file = |(to, message): (u32, &Zeroizing<Vec<u8>>)| match to == self.me {
            true => Vec::new(),
            // Messages are far below the length limit of AES-GCM.
            false => seal(self.envelope(self.me, to), &self.agreement, &run.keys[to as usize - 1], message)
                .unwrap_or_default(),
        };
        (1..).zip(messages).map(file).collect()
    }

    /// Starts the second exchange. All keys are fresh, so the session is too.
    fn begin(&mut self, keys: Vec<[u8; 32]>) -> Next {
        let signers: Vec<[u8; 32]> = self.peers.iter().map(VerifyingKey::to_bytes).collect();
        let session = session_id(&self.parameters, &signers, &keys);
        let trustee = Trustee::with_seed(
            self.parameters.clone(),
            self.me,
            self.identity.clone(),
            &signers,
            session,
            &self.master,
        );
        // The same call succeeded at the start.
        let Ok(mut trustee) = trustee else { unreachable!("the options were checked") };
        let messages = trustee.start().into_iter().map(Zeroizing::new).collect();
        self.run = Some(Run { session, keys, trustee, messages });
        self.exchange = 2;
        Next::Files
    }

    fn step(&mut self, received: Vec<Option<Zeroizing<Vec<u8>>>>) -> Next {
        let Some(run) = &mut self.run else { unreachable!("there are messages from the second exchange on") };
        let mut received: Vec<Option<Vec<u8>>> =
            received.into_iter().map(|one| one.map(|mut message| std::mem::take(&mut *message))).collect();
        let step = run.trustee.step(&received);
        received.iter_mut().flatten().for_each(Zeroize::zeroize);
        self.exchange += 1;
        match step {
            Step::Send(messages) => {
                run.messages = messages.into_iter().map(Zeroizing::new).collect();
                // Candidates of the batches before the current one.
                let tried = run.trustee.progress().tried;
                let batches = u32::try_from(tried / self.parameters.candidates() as u64).unwrap_or(u32::MAX);
                self.exchanges = batches.saturating_mul(BATCH_EXCHANGES).saturating_add(EXCHANGES);
                Next::Files
            }
            Step::Finished(finished) => Next::Finished(finished),
            Step::Failed { failure, farewell } => {
                let farewell: Vec<_> = farewell.into_iter().map(Zeroizing::new).collect();
                run.messages.clear();
                let files = self.run.as_ref().map(|run| self.sealed(run, &farewell)).unwrap_or_default();
                Next::Failed { failure, files }
            }
        }
    }
}

/// Maximum length of a message in bytes. A message about a failed run may contain two messages of
/// others. The longest of those has a number for each candidate.
fn longest_message(plan: &Plan) -> usize {
    let of_candidate = message_bytes(plan) + plan.field.bytes() + plan.modulus_bytes();
    4 * plan.candidates() * of_candidate + (1 << 20)
}

impl fmt::Debug for Correspondent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Correspondent({} of {}, exchange {})", self.me, self.parameters.trustees, self.exchange)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::message::signed;
    use super::super::super::{Failure, Reason};
    use super::super::FAILURE_EXCHANGES;
    use super::*;
    use hearith_paillier::{Engine, KeyPolicy, Variant};

    /// The exchange in which trustees send their shares.
    const SHARES: u32 = 5;
    const SIGNATURE: usize = 64;

    fn identity(number: usize) -> Identity {
        Identity::from_seed(&[number as u8 + 1; 32])
    }

    fn trustees() -> Vec<Correspondent> {
        let (variant, policy) = (Variant::Standard, KeyPolicy::AllowInsecure);
        let parameters = Parameters::new(128, 2, 3, variant, policy, Engine::best()).unwrap().with_candidates(8);
        let keys = [0, 1, 2].map(|number| identity(number).public());
        let trustee = |number: usize| {
            let saved = Saved::with_seed(Correspondent::settings(&parameters, &keys), &[number as u8; 32]);
            Correspondent::new(parameters.clone(), number as u32 + 1, identity(number), &keys, &saved).unwrap()
        };
        (0..3).map(trustee).collect()
    }

    /// The failures that trustees 1 and 2 report if trustee 3 sends trustee 1 a wrong share, signed
    /// and sealed, and the exchange in which they report it.
    fn failures() -> Vec<(u32, Failure)> {
        let (mut trustees, mut failures) = (trustees(), Vec::new());
        while failures.len() < 2 {
            let cheat = &mut trustees[2];
            if let Some(run) = &mut cheat.run
                && cheat.exchange == SHARES
            {
                let mut message = std::mem::take(&mut run.messages[0]);
                let end = message.len() - SIGNATURE;
                message[end - 1] ^= 1;
                message.truncate(end);
                run.messages[0] = Zeroizing::new(signed(&identity(2), message));
            }
            let files: Vec<Vec<Vec<u8>>> = trustees.iter().map(Correspondent::files).collect();
            for (to, trustee) in trustees.iter_mut().enumerate() {
                let received = files.iter().map(|from| from.get(to).filter(|file| !file.is_empty()).cloned()).collect();
                if let Next::Failed { failure, files } = trustee.take(received).unwrap() {
                    assert!(files.iter().filter(|file| !file.is_empty()).count() == 2);
                    if to < 2 {
                        failures.push((trustee.exchange - 1, failure));
                    }
                }
            }
        }
        failures
    }

    #[test]
    fn a_deviation_is_found_by_files_too() {
        // The products reveal that the share is wrong, and the trustees open the candidates.
        for (exchange, failure) in failures() {
            assert_eq!((&failure.trustees[..], &failure.reason), (&[3][..], &Reason::Deviated { round: 3 }));
            assert!(exchange > SHARES && exchange <= SHARES + 8 + FAILURE_EXCHANGES, "{exchange}");
        }
    }
}
