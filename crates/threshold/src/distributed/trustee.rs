//! A trustee: the protocol's rounds, signed, confirmed, and accounted for if they fail.

use super::core::{Body, Core, Stage};
use super::failure::{Failure, Reason};
use super::message::{Identity, Kind, Message, Place, parse, round, signed, signed_part, unsigned};
use super::plan::Plan;
use super::replay::{Replay, Start, next_view};
use super::stream::{HASH_BYTES, Hash, Seed, derive, random_seed};
use super::{Parameters, is_threshold};
use crate::error::{Error, ErrorKind};
use crate::key::{KeyShare, Verification};
use ed25519_dalek::VerifyingKey;
use std::fmt;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Rounds that trustees have to open their seeds and to say what they found.
const BLAME_ROUNDS: u32 = 4;

/// What follows from a round.
pub enum Step {
    /// Messages for the next round, one for each trustee in their order; this one's own is empty.
    Send(Vec<Vec<u8>>),
    /// The key is there: all trustees have confirmed it.
    Finished(Box<Finished>),
    /// There is no key. The messages, which may be empty, tell the others.
    Failed {
        /// Who is to blame.
        failure: Failure,
        /// The last messages.
        farewell: Vec<Vec<u8>>,
    },
}

/// What a trustee has at the end.
pub struct Finished {
    /// What shares are verified by, the same for all.
    pub verification: Verification,
    /// This trustee's share of the key.
    pub share: KeyShare,
    /// The hash of all that was sent to everybody, the same for all.
    pub transcript: [u8; 32],
    /// How many candidates were tried.
    pub candidates: u64,
    /// How many rounds it took.
    pub rounds: u32,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Candidates that were tried in earlier batches.
    pub tried: u64,
    /// Candidates that are expected to be tried, all together.
    pub expected: u64,
    /// Whether a candidate has been found, and the key is being made from it.
    pub has_found: bool,
    /// The round, from 0.
    pub round: u32,
}

/// One trustee's side of a run. `Debug` shows its number and nothing else; all secrets are wiped
/// when it is dropped.
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
    start: Start,
    /// Where the present batch began.
    next_start: Start,
    /// Messages received since the start, by round and sender.
    log: Vec<Vec<Zeroizing<Vec<u8>>>>,
    hellos: Vec<Vec<u8>>,
    blame: Option<Blame>,
}

/// An accused trustee, and the message that it signed and should not have.
type Evidence = (u32, Vec<u8>);

/// What is known after a run has failed.
#[derive(Default)]
struct Blame {
    masters: Vec<Option<Seed>>,
    /// Of each trustee, once it has replayed the run, whom it accuses, if anybody.
    verdicts: Vec<Option<Option<Evidence>>>,
    replay: Option<Replay>,
    equivocator: Option<u32>,
    steps: u32,
}

impl Trustee {
    /// A trustee, from 1, who knows the public keys of all, with a random seed.
    ///
    /// # Errors
    /// [`NoSuchTrustee`](ErrorKind::NoSuchTrustee), [`BadSharing`](ErrorKind::BadSharing) if there
    /// are not as many keys as trustees or a key is none, a length that is out of range, or if the
    /// random generator fails.
    pub fn new(
        parameters: Parameters,
        me: u32,
        identity: Identity,
        keys: &[[u8; 32]],
        session: [u8; 32],
    ) -> Result<Self, Error> {
        Self::with_seed(parameters, me, identity, keys, session, &*random_seed()?)
    }

    /// The same with a seed, from which all that the trustee does follows: for test vectors. Who
    /// knows `w` trustees' seeds knows the key.
    ///
    /// # Errors
    /// As [`Trustee::new`].
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
            start,
            next_start: start,
            log: Vec::new(),
            hellos: Vec::new(),
            blame: None,
        })
    }

    /// This trustee's number, from 1.
    pub fn trustee(&self) -> u32 {
        self.me
    }

    /// How far the run is.
    pub fn progress(&self) -> Progress {
        Progress {
            tried: u64::from(self.core.number()) * self.plan.candidates() as u64,
            expected: self.plan.parameters.expected_candidates(),
            has_found: self.core.stage() >= Stage::TestCommitments,
            round: self.round,
        }
    }

    /// The first round's messages, one for each trustee in their order; this one's own is empty.
    pub fn start(&mut self) -> Vec<Vec<u8>> {
        match self.next_messages() {
            Step::Send(messages) => messages,
            // The first round's message is a hash.
            _ => Vec::new(),
        }
    }

    /// Takes the messages of a round, of each trustee in their order (this one's own is not looked
    /// at), `None` where none came in time.
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

    fn place(&self, sender: u32, receiver: u32) -> Place {
        Place { session: self.session, round: self.round, sender, receiver }
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
            match parse(bytes, self.place(trustee, self.me), self.key(trustee)) {
                None => return self.stop(trustee, Reason::Foreign),
                Some(Message { kind: Kind::Farewell, broadcast, .. }) => {
                    let about = broadcast.first().copied().map_or(trustee, u32::from);
                    let failure = Failure { trustees: vec![about], reason: Reason::Reported { by: trustee } };
                    return Step::Failed { failure, farewell: Vec::new() };
                }
                Some(message) => messages.push((trustee, bytes, message)),
            }
        }
        if let Some((trustee, ..)) = messages.iter().find(|(_, _, message)| message.kind == Kind::Blame) {
            // Others may have the key by now: nothing that would give it away is opened.
            return match self.core.stage() {
                Stage::Done => self.stop(*trustee, Reason::Withdrew),
                _ => self.begin_blame(received),
            };
        }
        // Its own messages do not come by the network.
        let mut own = self.own.take();
        let mut broadcasts: Vec<Vec<u8>> = vec![Vec::new(); self.peers.len()];
        let mut private: Vec<Zeroizing<Vec<u8>>> = vec![Zeroizing::default(); self.peers.len()];
        if let Some(own) = &mut own {
            broadcasts[self.me as usize - 1] = std::mem::take(&mut own.broadcast);
            private[self.me as usize - 1] = std::mem::take(&mut own.private[self.me as usize - 1]);
        }
        let mut is_agreed = true;
        let mut log = vec![Zeroizing::default(); self.peers.len()];
        for (trustee, bytes, message) in messages {
            is_agreed &= message.view == self.view && super::message::stage(bytes) == self.core.stage() as u8;
            broadcasts[trustee as usize - 1] = message.broadcast.to_vec();
            private[trustee as usize - 1] = Zeroizing::new(message.private.to_vec());
            log[trustee as usize - 1] = Zeroizing::new(bytes.clone());
        }
        let stage = self.core.stage();
        if stage == Stage::Hello {
            self.hellos = log.iter().map(|message| message.to_vec()).collect();
        }
        self.log.push(log);
        if !is_agreed || self.core.receive(&broadcasts, &private).is_err() {
            return match stage {
                // Nobody has said by what it can be held to account.
                Stage::Hello => {
                    let wrong = |&trustee: &u32| broadcasts[trustee as usize - 1].len() != HASH_BYTES;
                    let trustee = self.others().find(wrong).unwrap_or(self.me);
                    self.stop(trustee, Reason::Foreign)
                }
                Stage::Done => {
                    let trustee = self.others().next().unwrap_or(self.me);
                    self.stop(trustee, Reason::Withdrew)
                }
                _ => self.begin_blame(&[]),
            };
        }
        self.view = next_view(&self.view, &broadcasts);
        if stage == Stage::Done {
            return self.finish();
        }
        self.round += 1;
        match (stage, self.core.stage()) {
            (Stage::OpeningAgreement, Stage::Seeds) => {
                let (stage, number) = (Stage::Seeds, self.core.number());
                self.next_start = Start { round: self.round, stage, number, view: self.view };
            }
            // Everybody has agreed by now to all that was before.
            (Stage::Seeds, _) if self.core.number() > 0 => {
                self.start = self.next_start;
                self.log.drain(..self.log.len() - 1);
            }
            _ => {}
        }
        self.next_messages()
    }

    fn next_messages(&mut self) -> Step {
        let Ok(body) = self.core.send() else { return self.begin_blame(&[]) };
        let message = |receiver: u32| {
            if receiver == self.me {
                return Vec::new();
            }
            let private = &body.private[receiver as usize - 1];
            let (place, stage) = (self.place(self.me, receiver), self.core.stage() as u8);
            signed(&self.identity, unsigned(place, Kind::Protocol, stage, &self.view, &body.broadcast, private))
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
            Some((verification, share)) => {
                Step::Finished(Box::new(Finished { verification, share, transcript, candidates, rounds }))
            }
            None => {
                Step::Failed { failure: Failure { trustees: Vec::new(), reason: Reason::Chance }, farewell: Vec::new() }
            }
        }
    }

    /// Ends the run for what cannot be shown to others.
    fn stop(&mut self, trustee: u32, reason: Reason) -> Step {
        self.round += 1;
        let farewell = self.broadcast(Kind::Farewell, &[trustee as u8]);
        Step::Failed { failure: Failure { trustees: vec![trustee], reason }, farewell }
    }

    fn broadcast(&self, kind: Kind, content: &[u8]) -> Vec<Vec<u8>> {
        let message = |receiver: u32| match receiver == self.me {
            true => Vec::new(),
            false => signed(&self.identity, unsigned(self.place(self.me, receiver), kind, 0, &self.view, content, &[])),
        };
        (1..=self.plan.trustees()).map(message).collect()
    }

    // Blame.

    /// Opens this trustee's seed and waits for the others'.
    fn begin_blame(&mut self, received: &[Option<Vec<u8>>]) -> Step {
        let count = self.peers.len();
        let mut blame = Blame { masters: vec![None; count], verdicts: vec![None; count], ..Blame::default() };
        blame.masters[self.me as usize - 1] = Some(self.core.master().clone());
        self.blame = Some(blame);
        match received.is_empty() {
            true => {
                // A failure found in this round, or while the next one's messages were made.
                self.round = self.start.round + self.log.len() as u32;
                Step::Send(self.blame_messages())
            }
            false => self.step_of_blame(received),
        }
    }

    /// The seed; the first messages of all others; and the verdict, once there is one.
    fn blame_messages(&self) -> Vec<Vec<u8>> {
        let Some(blame) = &self.blame else { return Vec::new() };
        let mut content = self.core.master().to_vec();
        for hello in &self.hellos {
            content.extend_from_slice(&(hello.len() as u32).to_be_bytes());
            content.extend_from_slice(hello);
        }
        match &blame.verdicts[self.me as usize - 1] {
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
        for trustee in self.others() {
            let bytes = received.get(trustee as usize - 1).and_then(Option::as_ref);
            let message = bytes.and_then(|bytes| parse(bytes, self.place(trustee, self.me), self.key(trustee)));
            if let Some(Message { kind: Kind::Blame, broadcast, .. }) = message {
                self.take_blame(&mut blame, trustee, broadcast);
            }
        }
        blame.steps += 1;
        self.round += 1;
        let mine = self.me as usize - 1;
        if blame.verdicts[mine].is_none() && blame.masters.iter().all(Option::is_some) {
            blame.verdicts[mine] = Some(self.own_verdict(&mut blame));
        } else if blame.steps >= BLAME_ROUNDS || blame.verdicts.iter().all(Option::is_some) {
            let failure = self.judge(&mut blame);
            return Step::Failed { failure, farewell: Vec::new() };
        }
        self.blame = Some(blame);
        Step::Send(self.blame_messages())
    }

    fn take_blame(&self, blame: &mut Blame, trustee: u32, content: &[u8]) {
        let Some((master, mut rest)) = content.split_first_chunk::<HASH_BYTES>() else { return };
        let mut hellos = Vec::new();
        for _ in 0..self.peers.len() {
            let Some((length, more)) = rest.split_first_chunk::<4>() else { return };
            let Some((hello, more)) = more.split_at_checked(u32::from_be_bytes(*length) as usize) else { return };
            hellos.push(hello);
            rest = more;
        }
        // Did somebody tell this trustee another seed's hash than the sender?
        for about in self.others().filter(|&about| about != trustee) {
            let place = Place { session: self.session, round: 0, sender: about, receiver: trustee };
            let theirs = parse(hellos[about as usize - 1], place, self.key(about));
            if theirs.is_some_and(|theirs| Some(theirs.broadcast) != self.hello(about)) {
                blame.equivocator = Some(about);
            }
        }
        if Some(&derive("master", &[master])[..]) == self.hello(trustee) {
            blame.masters[trustee as usize - 1] = Some(Zeroizing::new(*master));
        }
        blame.verdicts[trustee as usize - 1] = match rest {
            [1] => Some(None),
            [2, accused, evidence @ ..] => Some(Some((u32::from(*accused), evidence.to_vec()))),
            _ => return,
        };
    }

    /// The hash of a trustee's seed.
    fn hello(&self, trustee: u32) -> Option<&[u8]> {
        let place = Place { session: self.session, round: 0, sender: trustee, receiver: self.me };
        Some(parse(self.hellos.get(trustee as usize - 1)?, place, self.key(trustee))?.broadcast)
    }

    /// The first message received that should not have been.
    fn own_verdict(&self, blame: &mut Blame) -> Option<Evidence> {
        let masters = blame.masters.iter().flatten().cloned().collect();
        let mut replay = Replay::new(&self.plan, self.session, self.start, masters);
        let mut found = None;
        'rounds: for (round, messages) in (self.start.round..).zip(&self.log) {
            for trustee in self.others() {
                let message = &messages[trustee as usize - 1];
                if replay.message(round, trustee, self.me) != Some(signed_part(message)) {
                    found = Some((trustee, message.to_vec()));
                    break 'rounds;
                }
            }
        }
        blame.replay = Some(replay);
        found
    }

    /// Who is to blame: whoever sent the first message that should not have been, of all that were
    /// shown.
    fn judge(&self, blame: &mut Blame) -> Failure {
        let named = |trustees: Vec<u32>, reason| Failure { trustees, reason };
        if let Some(trustee) = blame.equivocator {
            return named(vec![trustee], Reason::Equivocated);
        }
        let missing = |trustee: &u32| blame.masters[*trustee as usize - 1].is_none();
        let silent: Vec<u32> = self.others().filter(missing).collect();
        let Some(replay) = blame.replay.as_mut().filter(|_| silent.is_empty()) else {
            return named(silent, Reason::Refused);
        };
        let (mut wrong, mut slanderers) = (Vec::new(), Vec::new());
        for (by, verdict) in (1..).zip(&blame.verdicts) {
            let Some(Some((accused, evidence))) = verdict else { continue };
            let is_wrong = round(evidence).filter(|_| (1..=self.plan.trustees()).contains(accused)).and_then(|round| {
                let place = Place { session: self.session, round, sender: *accused, receiver: by };
                parse(evidence, place, self.key(*accused)).filter(|message| message.kind == Kind::Protocol)?;
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
        match slanderers.is_empty() {
            true => named(Vec::new(), Reason::Chance),
            false => named(slanderers, Reason::Slandered),
        }
    }
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
