//! A trustee: runs the protocol with signed messages, and finds the trustee at fault if a run
//! fails.

use super::core::{Body, Core, Key, Stage};
use super::failure::{Failure, Reason};
use super::message::{Envelope, Identity, Kind, Message, parse, round, sender, signed, signed_part, unsigned};
use super::plan::Plan;
use super::proofs::KeyProofs;
use super::replay::{Replay, Start, next_view};
use super::stream::{HASH_BYTES, Hash, Seed, derive, random_seed};
use super::{Parameters, is_threshold};
use crate::error::{Error, ErrorKind};
use crate::key::{KeyShare, VerificationKeys};
use ed25519_dalek::VerifyingKey;
use std::fmt;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Rounds in which trustees reveal their seeds after a failure: one after the first report, one
/// until all others have reported it too, and one in case a trustee learned of it a round earlier
/// than others.
const OPENING_ROUNDS: u32 = 3;
/// Rounds until the trustee at fault is determined: two more, for seeds that only some trustees
/// received and for the verdicts that these allow.
pub(crate) const BLAME_ROUNDS: u32 = OPENING_ROUNDS + 2;

/// The result of a round.
pub enum Step {
    /// The messages of the next round, one for each trustee in order. This trustee's own message is
    /// empty.
    Send(Vec<Vec<u8>>),
    /// The key is complete: all trustees have confirmed it.
    Finished(Box<Finished>),
    /// The run failed. The messages, which may be empty, inform the others.
    Failed {
        /// The failure.
        failure: Failure,
        /// The last messages.
        farewell: Vec<Vec<u8>>,
    },
}

/// The result of a trustee.
pub struct Finished {
    /// The keys that verify shares, the same for all trustees.
    pub verification: VerificationKeys,
    /// This trustee's share of the key.
    pub share: KeyShare,
    /// The proofs about a DJN key, the same for all trustees.
    pub proofs: Option<KeyProofs>,
    /// The hash of all broadcasts, the same for all trustees.
    pub transcript: [u8; 32],
    /// The number of candidates tried.
    pub candidates: u64,
    /// The number of rounds.
    pub rounds: u32,
}

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The number of candidates tried in earlier batches.
    pub tried: u64,
    /// The expected total number of candidates.
    pub expected: u64,
    /// Whether a candidate was found from which the key is being made.
    pub has_found: bool,
    /// Whether the run has failed and the trustees are determining who is at fault.
    pub has_failed: bool,
    /// The current round, from 0.
    pub round: u32,
}

/// One trustee's side of a run. `Debug` shows only its number and the number of trustees. All
/// secrets are wiped when it is dropped.
pub struct Trustee {
    me: u32,
    session: Hash,
    identity: Identity,
    peers: Vec<VerifyingKey>,
    plan: Arc<Plan>,
    core: Core,
    round: u32,
    view: Hash,
    own: Option<Body>,
    /// The starts of the previous and the current batch. Another trustee may not have reached the
    /// current batch yet.
    starts: Vec<Start>,
    /// Messages received since the first of the starts, by round and sender.
    log: Vec<Vec<Zeroizing<Vec<u8>>>>,
    hellos: Vec<Vec<u8>>,
    blame: Option<Blame>,
}

/// An accused trustee, and the invalid message that it signed.
type Evidence = (u32, Vec<u8>);

/// The findings after a run has failed.
struct Blame {
    masters: Vec<Option<Seed>>,
    /// Which trustees have revealed their seed to this trustee in time.
    has_opened: Vec<bool>,
    /// For each trustee that has replayed the run, the trustee it accuses, if any.
    verdicts: Vec<Option<Option<Evidence>>>,
    /// For each trustee, the first known round in which it reported the failure.
    alarms: Vec<Option<u32>>,
    /// The message that reported the failure to this trustee. Empty if it found the failure itself.
    cause: Vec<u8>,
    /// For each trustee, the trustee with which it reports to have lost contact.
    reports: Vec<Option<u32>>,
    /// One replay for each of the starts, once all seeds are known.
    replays: Vec<Replay>,
    equivocator: Option<u32>,
    steps: u32,
}

impl Trustee {
    /// Creates trustee `me`, from 1, with a random seed. `keys` are the public keys of all
    /// trustees.
    ///
    /// # Errors
    /// [`NoSuchTrustee`](ErrorKind::NoSuchTrustee), [`BadSharing`](ErrorKind::BadSharing) for a
    /// wrong number of keys or an invalid key, a length out of range, or a failure of the random
    /// generator.
    pub fn new(
        parameters: Parameters,
        me: u32,
        identity: Identity,
        keys: &[[u8; 32]],
        session: [u8; 32],
    ) -> Result<Self, Error> {
        Self::with_seed(parameters, me, identity, keys, session, &*random_seed()?)
    }

    /// As [`Trustee::new`] with a given seed, which determines everything the trustee does, for
    /// test vectors. The seeds of `w` trustees reveal the key.
    ///
    /// # Errors
    /// The errors of [`Trustee::new`].
    pub fn with_seed(
        parameters: Parameters,
        me: u32,
        identity: Identity,
        keys: &[[u8; 32]],
        session: [u8; 32],
        seed: &[u8; 32],
    ) -> Result<Self, Error> {
        let trustees = parameters.trustees;
        let peers: Option<Vec<_>> = keys.iter().map(|key| VerifyingKey::from_bytes(key).ok()).collect();
        let peers = peers.filter(|peers| peers.len() == trustees as usize).ok_or(ErrorKind::BadSharing)?;
        if !(1..=trustees).contains(&me) {
            return Err(ErrorKind::NoSuchTrustee { trustees }.of(me));
        }
        if !is_threshold(parameters.needed, trustees) || peers[me as usize - 1].to_bytes() != identity.public() {
            return Err(ErrorKind::BadSharing.into());
        }
        let plan = Arc::new(Plan::new(parameters)?);
        let start = Start { round: 0, stage: Stage::Hello, number: 0, view: session };
        Ok(Trustee {
            me,
            session,
            identity,
            peers,
            core: Core::new(Arc::clone(&plan), me, Zeroizing::new(*seed)),
            plan,
            round: 0,
            view: session,
            own: None,
            starts: vec![start],
            log: Vec::new(),
            hellos: Vec::new(),
            blame: None,
        })
    }

    /// This trustee's number, from 1.
    pub fn trustee(&self) -> u32 {
        self.me
    }

    /// The progress of the run.
    pub fn progress(&self) -> Progress {
        Progress {
            tried: u64::from(self.core.number()) * self.plan.candidates() as u64,
            expected: self.plan.parameters.expected_candidates(),
            has_found: self.core.stage() >= Stage::TestCommitments,
            has_failed: self.blame.is_some(),
            round: self.round,
        }
    }

    /// The messages of the first round, one for each trustee in order. This trustee's own message
    /// is empty.
    pub fn start(&mut self) -> Vec<Vec<u8>> {
        match self.next_messages() {
            Step::Send(messages) => messages,
            // The message of the first round is a hash, which cannot fail.
            _ => Vec::new(),
        }
    }

    /// Processes the messages of a round, one from each trustee in order (this trustee's own is
    /// ignored). `None` stands for a message that did not arrive in time.
    pub fn step(&mut self, received: &[Option<Vec<u8>>]) -> Step {
        match self.blame {
            Some(_) => self.step_of_blame(received),
            None => self.step_of_protocol(received),
        }
    }

    fn others(&self) -> impl Iterator<Item = u32> + use<> {
        let me = self.me;
        (1..=self.plan.trustees()).filter(move |&trustee| trustee != me)
    }

    fn envelope(&self, sender: u32, receiver: u32) -> Envelope {
        Envelope { session: self.session, round: self.round, sender, receiver }
    }

    fn key(&self, trustee: u32) -> &VerifyingKey {
        &self.peers[trustee as usize - 1]
    }

    fn step_of_protocol(&mut self, received: &[Option<Vec<u8>>]) -> Step {
        let mut messages = Vec::new();
        for trustee in self.others() {
            let Some(bytes) = received.get(trustee as usize - 1).and_then(Option::as_ref) else {
                return self.stop(trustee, Reason::Silent);
            };
            match parse(bytes, self.envelope(trustee, self.me), self.key(trustee)) {
                None => return self.stop(trustee, Reason::Foreign),
                Some(Message { kind: Kind::Farewell, broadcast, .. }) => {
                    return match self.reported(trustee, broadcast) {
                        Some(failure) => Step::Failed { failure, farewell: Vec::new() },
                        None => self.stop(trustee, Reason::Foreign),
                    };
                }
                Some(message) => messages.push((trustee, bytes, message)),
            }
        }
        if let Some((trustee, bytes, _)) = messages.iter().find(|(_, _, message)| message.kind == Kind::Blame) {
            match self.core.stage() {
                // Nothing can have failed yet.
                Stage::Hello => return self.stop(*trustee, Reason::Foreign),
                // Others may have the key by now, so nothing may be revealed that would leak it.
                Stage::Done => return self.stop(*trustee, Reason::Withdrew),
                _ => {}
            }
            self.blame = Some(self.new_blame(bytes.to_vec()));
            return self.step_of_blame(received);
        }
        // Its own messages do not arrive over the network.
        let mut own = self.own.take();
        let mut broadcasts: Vec<Vec<u8>> = vec![Vec::new(); self.peers.len()];
        let mut private: Vec<Zeroizing<Vec<u8>>> = vec![Zeroizing::default(); self.peers.len()];
        if let Some(own) = &mut own {
            broadcasts[self.me as usize - 1] = std::mem::take(&mut own.broadcast);
            private[self.me as usize - 1] = std::mem::take(&mut own.private[self.me as usize - 1]);
        }
        let stage = self.core.stage();
        let mut strange = None;
        let mut log = vec![Zeroizing::default(); self.peers.len()];
        for (trustee, bytes, message) in messages {
            let lengths = (message.broadcast.len(), message.private.len());
            let fits = lengths == self.core.lengths() && super::message::stage(bytes) == stage as u8;
            if !fits || message.view != self.view {
                strange.get_or_insert(trustee);
            }
            broadcasts[trustee as usize - 1] = message.broadcast.to_vec();
            private[trustee as usize - 1] = Zeroizing::new(message.private.to_vec());
            log[trustee as usize - 1] = Zeroizing::new(bytes.clone());
        }
        if stage == Stage::Hello {
            self.hellos = log.iter().map(|message| message.to_vec()).collect();
        }
        self.log.push(log);
        match (stage, strange) {
            // No trustee has sent a commitment yet that it could be held to.
            (Stage::Hello, Some(trustee)) => return self.stop(trustee, Reason::Foreign),
            (Stage::Done, Some(trustee)) => return self.stop(trustee, Reason::Withdrew),
            (_, Some(_)) => return self.begin_blame(self.round + 1),
            (_, None) => {}
        }
        if self.core.receive(&broadcasts, &private).is_err() {
            return self.begin_blame(self.round + 1);
        }
        self.view = next_view(&self.view, &broadcasts);
        if stage == Stage::Done {
            return self.finish();
        }
        self.round += 1;
        if (stage, self.core.stage()) == (Stage::OpeningAgreement, Stage::Seeds) {
            self.begin_batch();
        }
        self.next_messages()
    }

    /// Starts a batch. All trustees have agreed to the earlier batches by now, so their messages
    /// are dropped. Those of the previous batch are kept, since others may not have agreed to it
    /// yet.
    fn begin_batch(&mut self) {
        let start = Start { round: self.round, stage: Stage::Seeds, number: self.core.number(), view: self.view };
        if let [old, kept] = self.starts[..] {
            self.starts.remove(0);
            self.log.drain(..(kept.round - old.round) as usize);
        }
        self.starts.push(start);
    }

    /// The failure that a farewell reports.
    fn reported(&self, by: u32, content: &[u8]) -> Option<Failure> {
        let [about] = content else { return None };
        let about = u32::from(*about);
        ((1..=self.plan.trustees()).contains(&about) && about != by)
            .then(|| Failure { trustees: vec![about], reason: Reason::Reported { by } })
    }

    fn next_messages(&mut self) -> Step {
        let Ok(body) = self.core.send() else { return self.begin_blame(self.round) };
        let message = |receiver: u32| {
            if receiver == self.me {
                return Vec::new();
            }
            let private = &body.private[receiver as usize - 1];
            let (envelope, stage) = (self.envelope(self.me, receiver), self.core.stage() as u8);
            signed(&self.identity, unsigned(envelope, Kind::Protocol, stage, &self.view, &body.broadcast, private))
        };
        let messages = (1..=self.plan.trustees()).map(message).collect();
        self.own = Some(body);
        Step::Send(messages)
    }

    fn finish(&mut self) -> Step {
        let candidates = (u64::from(self.core.number()) + 1) * self.plan.candidates() as u64;
        let (transcript, rounds) = (self.view, self.round + 1);
        let spent = Core::new(Arc::clone(&self.plan), self.me, Seed::default());
        match std::mem::replace(&mut self.core, spent).into_key() {
            Some(Key { verification, share, proofs }) => {
                Step::Finished(Box::new(Finished { verification, share, proofs, transcript, candidates, rounds }))
            }
            None => {
                Step::Failed { failure: Failure { trustees: Vec::new(), reason: Reason::Chance }, farewell: Vec::new() }
            }
        }
    }

    /// Ends the run for a reason that cannot be proved to others.
    fn stop(&mut self, trustee: u32, reason: Reason) -> Step {
        self.round += 1;
        let farewell = self.broadcast(Kind::Farewell, &[trustee as u8]);
        Step::Failed { failure: Failure { trustees: vec![trustee], reason }, farewell }
    }

    fn broadcast(&self, kind: Kind, content: &[u8]) -> Vec<Vec<u8>> {
        let message = |receiver: u32| match receiver == self.me {
            true => Vec::new(),
            false => {
                signed(&self.identity, unsigned(self.envelope(self.me, receiver), kind, 0, &self.view, content, &[]))
            }
        };
        (1..=self.plan.trustees()).map(message).collect()
    }

    // Blame.

    fn new_blame(&self, cause: Vec<u8>) -> Blame {
        let count = self.peers.len();
        let mut masters = vec![None; count];
        masters[self.me as usize - 1] = Some(self.core.master().clone());
        Blame {
            masters,
            has_opened: vec![false; count],
            verdicts: vec![None; count],
            alarms: vec![None; count],
            cause,
            reports: vec![None; count],
            replays: Vec::new(),
            equivocator: None,
            steps: 0,
        }
    }

    /// Reveals this trustee's seed, from a round on, and waits for those of the others.
    fn begin_blame(&mut self, round: u32) -> Step {
        self.round = round;
        let mut blame = self.new_blame(Vec::new());
        let messages = self.blame_messages(&mut blame);
        self.blame = Some(blame);
        Step::Send(messages)
    }

    /// Messages with all known seeds, the first messages of all others, the message that reported
    /// the failure to this trustee, and the verdict once there is one.
    fn blame_messages(&self, blame: &mut Blame) -> Vec<Vec<u8>> {
        let mine = self.me as usize - 1;
        blame.alarms[mine].get_or_insert(self.round);
        let mut content = Vec::new();
        for master in &blame.masters {
            content.push(u8::from(master.is_some()));
            master.iter().for_each(|master| content.extend_from_slice(&master[..]));
        }
        for message in self.hellos.iter().chain([&blame.cause]) {
            content.extend_from_slice(&(message.len() as u32).to_be_bytes());
            content.extend_from_slice(message);
        }
        match &blame.verdicts[mine] {
            None => content.push(0),
            Some(None) => content.push(1),
            Some(Some((accused, evidence))) => {
                content.extend_from_slice(&[2, *accused as u8]);
                content.extend_from_slice(evidence);
            }
        }
        self.broadcast(Kind::Blame, &content)
    }

    fn step_of_blame(&mut self, received: &[Option<Vec<u8>>]) -> Step {
        let Some(mut blame) = self.blame.take() else { return Step::Send(Vec::new()) };
        blame.steps += 1;
        for trustee in self.others() {
            let bytes = received.get(trustee as usize - 1).and_then(Option::as_ref);
            match bytes.and_then(|bytes| parse(bytes, self.envelope(trustee, self.me), self.key(trustee))) {
                Some(Message { kind: Kind::Blame, broadcast, .. }) => {
                    blame.alarms[trustee as usize - 1].get_or_insert(self.round);
                    self.take_blame(&mut blame, trustee, broadcast);
                }
                Some(Message { kind: Kind::Farewell, broadcast, .. }) => {
                    let about = self.reported(trustee, broadcast).and_then(|failure| failure.trustees.first().copied());
                    blame.reports[trustee as usize - 1] = about;
                }
                _ => {}
            }
        }
        self.round += 1;
        let mine = self.me as usize - 1;
        if blame.verdicts[mine].is_none() && blame.masters.iter().all(Option::is_some) {
            blame.verdicts[mine] = Some(self.own_verdict(&mut blame));
        }
        // Others may need this trustee's information, even about trustees that have decided.
        let messages = self.blame_messages(&mut blame);
        if blame.steps >= BLAME_ROUNDS || blame.verdicts.iter().all(Option::is_some) {
            return Step::Failed { failure: self.judge(&mut blame), farewell: messages };
        }
        self.blame = Some(blame);
        Step::Send(messages)
    }

    fn take_blame(&self, blame: &mut Blame, trustee: u32, content: &[u8]) {
        let mut rest = content;
        for number in 1..=self.plan.trustees() {
            let Some((&is_known, more)) = rest.split_first() else { return };
            rest = more;
            if is_known == 0 {
                continue;
            }
            let Some((master, more)) = rest.split_first_chunk::<HASH_BYTES>() else { return };
            rest = more;
            let at = number as usize - 1;
            if number != self.me && Some(&derive("master", &[master])[..]) == self.hello(number) {
                blame.masters[at] = Some(Zeroizing::new(*master));
                blame.has_opened[at] |= number == trustee && blame.steps <= OPENING_ROUNDS;
            }
        }
        let mut shown = Vec::new();
        for _ in 0..=self.peers.len() {
            let Some((length, more)) = rest.split_first_chunk::<4>() else { return };
            let Some((message, more)) = more.split_at_checked(u32::from_be_bytes(*length) as usize) else { return };
            shown.push(message);
            rest = more;
        }
        // Did somebody send this trustee a different seed hash than the sender?
        for about in self.others().filter(|&about| about != trustee) {
            let envelope = Envelope { session: self.session, round: 0, sender: about, receiver: trustee };
            let theirs = parse(shown[about as usize - 1], envelope, self.key(about));
            if theirs.is_some_and(|theirs| Some(theirs.broadcast) != self.hello(about)) {
                blame.equivocator = Some(about);
            }
        }
        self.take_cause(blame, trustee, shown[self.peers.len()]);
        blame.verdicts[trustee as usize - 1] = match rest {
            [1] => Some(None),
            [2, accused, evidence @ ..] => Some(Some((u32::from(*accused), evidence.to_vec()))),
            _ => return,
        };
    }

    /// Notes the message that reported the failure to another trustee.
    fn take_cause(&self, blame: &mut Blame, receiver: u32, cause: &[u8]) {
        let (Some(round), Some(sender)) = (round(cause), sender(cause)) else { return };
        if !(1..=self.plan.trustees()).contains(&sender) || sender == receiver {
            return;
        }
        let envelope = Envelope { session: self.session, round, sender, receiver };
        if parse(cause, envelope, self.key(sender)).is_some_and(|message| message.kind == Kind::Blame) {
            let alarm = &mut blame.alarms[sender as usize - 1];
            *alarm = Some(alarm.map_or(round, |known| known.min(round)));
        }
    }

    /// The hash of a trustee's seed.
    fn hello(&self, trustee: u32) -> Option<&[u8]> {
        let envelope = Envelope { session: self.session, round: 0, sender: trustee, receiver: self.me };
        Some(parse(self.hellos.get(trustee as usize - 1)?, envelope, self.key(trustee))?.broadcast)
    }

    /// The first invalid message received in the current batch, to which nobody has agreed yet.
    fn own_verdict(&self, blame: &mut Blame) -> Option<Evidence> {
        let masters: Vec<Seed> = blame.masters.iter().flatten().cloned().collect();
        let replay = |&start: &Start| Replay::new(&self.plan, self.session, start, masters.clone());
        blame.replays = self.starts.iter().map(replay).collect();
        let (present, replay) = (self.starts.last()?, blame.replays.last_mut()?);
        let earlier = (present.round - self.starts[0].round) as usize;
        for (round, messages) in (present.round..).zip(&self.log[earlier..]) {
            for trustee in self.others() {
                let message = &messages[trustee as usize - 1];
                if replay.message(round, trustee, self.me) != Some(signed_part(message)) {
                    return Some((trustee, message.to_vec()));
                }
            }
        }
        None
    }

    /// Determines the trustee at fault: the sender of the first invalid message among all that were
    /// shown.
    fn judge(&self, blame: &mut Blame) -> Failure {
        let named = |trustees: Vec<u32>, reason| Failure { trustees, reason };
        if let Some(trustee) = blame.equivocator {
            return named(vec![trustee], Reason::Equivocated);
        }
        let silent: Vec<u32> = self.others().filter(|&trustee| !blame.has_opened[trustee as usize - 1]).collect();
        let report = |&trustee: &u32| blame.reports[trustee as usize - 1];
        let refused: Vec<u32> = silent.iter().copied().filter(|trustee| report(trustee).is_none()).collect();
        if !refused.is_empty() {
            return named(refused, Reason::Refused);
        }
        if let Some((&by, about)) = silent.first().and_then(|by| Some((by, report(by)?))) {
            return named(vec![about], Reason::Reported { by });
        }
        let (mut wrong, mut slanderers) = (Vec::new(), Vec::new());
        for (by, verdict) in (1..).zip(&blame.verdicts) {
            let Some(Some((accused, evidence))) = verdict else { continue };
            let is_wrong = round(evidence).filter(|_| (1..=self.plan.trustees()).contains(accused)).and_then(|round| {
                let envelope = Envelope { session: self.session, round, sender: *accused, receiver: by };
                parse(evidence, envelope, self.key(*accused)).filter(|message| message.kind == Kind::Protocol)?;
                let replay = replay_of(&mut blame.replays, &self.starts, round)?;
                (replay.message(round, *accused, by)? != signed_part(evidence)).then_some((round, *accused))
            });
            match is_wrong {
                Some(found) => wrong.push(found),
                None => slanderers.push(by),
            }
        }
        if let Some(&(round, _)) = wrong.iter().min() {
            let mut trustees: Vec<u32> = wrong.iter().filter(|found| found.0 == round).map(|found| found.1).collect();
            trustees.sort_unstable();
            trustees.dedup();
            return named(trustees, Reason::Deviated { round });
        }
        if !slanderers.is_empty() {
            return named(slanderers, Reason::Slandered);
        }
        // A trustee that was told shows the message, which is from a round earlier. So the first to
        // report claim to have found a contradiction themselves, which all trustees would have to
        // find.
        let first = blame.alarms.iter().flatten().min().copied().unwrap_or_default();
        let replay = replay_of(&mut blame.replays, &self.starts, first.saturating_sub(1));
        if replay.is_none_or(|replay| replay.fails_before(first)) {
            return named(Vec::new(), Reason::Chance);
        }
        let is_first = |trustee: &u32| blame.alarms[*trustee as usize - 1] == Some(first);
        named(self.others().filter(is_first).collect(), Reason::Alarmed)
    }
}

/// The replay that covers a round.
fn replay_of<'a>(replays: &'a mut [Replay], starts: &[Start], round: u32) -> Option<&'a mut Replay> {
    let at = starts.iter().rposition(|start| start.round <= round)?;
    replays.get_mut(at)
}

impl fmt::Debug for Trustee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Trustee({} of {})", self.me, self.plan.trustees())
    }
}

impl fmt::Debug for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Finished({:?}, {:?})", self.verification, self.share)
    }
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Send(messages) => write!(f, "Send({} messages)", messages.len()),
            Step::Finished(finished) => finished.fmt(f),
            Step::Failed { failure, .. } => write!(f, "Failed({failure:?})"),
        }
    }
}
