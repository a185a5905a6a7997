//! The replay of a run: recomputes all trustees from their revealed seeds.

use super::core::{Core, Stage};
use super::message::{Envelope, Kind, unsigned};
use super::plan::Plan;
use super::stream::{Hash, Seed, derive};
use std::sync::Arc;
use zeroize::Zeroizing;

/// The start of a replay.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    pub(crate) round: u32,
    pub(crate) stage: Stage,
    /// The number of the batch, from 0.
    pub(crate) number: u32,
    pub(crate) view: Hash,
}

/// All trustees' messages from a round on, computed on demand.
pub(crate) struct Replay {
    session: Hash,
    start: Start,
    cores: Vec<Core>,
    view: Hash,
    /// For each round and sender, the messages to all trustees, without signatures.
    rounds: Vec<Vec<Vec<Zeroizing<Vec<u8>>>>>,
    is_over: bool,
    /// Whether the run ended because the trustees' own numbers had a rare property.
    has_failed: bool,
}

impl Replay {
    pub(crate) fn new(plan: &Arc<Plan>, session: Hash, start: Start, masters: Vec<Seed>) -> Self {
        let core = |(trustee, master)| Core::at(Arc::clone(plan), trustee, master, start.stage, start.number);
        let cores = (1..).zip(masters).map(core).collect();
        Replay { session, start, cores, view: start.view, rounds: Vec::new(), is_over: false, has_failed: false }
    }

    /// The message that a trustee should have sent to another one, without signature. `None` for
    /// rounds that the run would not have reached.
    pub(crate) fn message(&mut self, round: u32, sender: u32, receiver: u32) -> Option<&[u8]> {
        let index = round.checked_sub(self.start.round)? as usize;
        while self.rounds.len() <= index && !self.is_over {
            self.advance();
        }
        let sent = self.rounds.get(index)?.get(sender as usize - 1)?;
        Some(&sent.get(receiver as usize - 1)?[..])
    }

    /// Whether the run fails although all follow the protocol, so that messages of this round
    /// report it.
    pub(crate) fn fails_before(&mut self, round: u32) -> bool {
        while self.start.round + self.rounds.len() as u32 <= round && !self.is_over {
            self.advance();
        }
        self.has_failed && self.start.round + self.rounds.len() as u32 <= round
    }

    fn advance(&mut self) {
        let round = self.start.round + self.rounds.len() as u32;
        let stage = self.cores[0].stage();
        let Ok(mut bodies) = self.cores.iter_mut().map(Core::send).collect::<Result<Vec<_>, _>>() else {
            (self.is_over, self.has_failed) = (true, true);
            return;
        };
        let messages = |(sender, body): (u32, &super::core::Body)| {
            let message = |(receiver, private): (u32, &Zeroizing<Vec<u8>>)| {
                let envelope = Envelope { session: self.session, round, sender, receiver };
                unsigned(envelope, Kind::Protocol, stage as u8, &self.view, &body.broadcast, private)
            };
            (1..).zip(&body.private).map(message).collect()
        };
        self.rounds.push((1..).zip(&bodies).map(messages).collect());
        let broadcasts: Vec<Vec<u8>> = bodies.iter_mut().map(|body| std::mem::take(&mut body.broadcast)).collect();
        self.view = next_view(&self.view, &broadcasts);
        for (to, core) in self.cores.iter_mut().enumerate() {
            let private: Vec<_> = bodies.iter().map(|body| body.private[to].clone()).collect();
            self.has_failed |= core.receive(&broadcasts, &private).is_err();
        }
        self.is_over |= self.has_failed || stage == Stage::Done;
    }
}

/// The hash of all broadcasts, extended by one round.
pub(crate) fn next_view(view: &Hash, broadcasts: &[Vec<u8>]) -> Hash {
    let parts: Vec<&[u8]> = std::iter::once(&view[..]).chain(broadcasts.iter().map(|one| &one[..])).collect();
    derive("view", &parts)
}
