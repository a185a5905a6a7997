//! Valid/ready streams: the bench's end of each, and its counts.

use std::collections::VecDeque;

use super::Random;
use crate::model::Model;

/// How eagerly the bench transfers items on a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pressure {
    /// In every cycle.
    None,
    /// In this many of 256 cycles, at random.
    Random(u8),
    /// Only after the other side.
    ///
    /// A sink accepts an item in the cycle after it first saw it, so a model that waits for ready
    /// before it asserts valid hangs. A source offers in every cycle, since it must not wait for
    /// ready.
    AfterValid,
    /// In no cycle.
    Stalled,
}

/// A transfer: the cycle, counted from 0 at the start of the bench, and the value of each field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The cycle that ended with valid and ready both high.
    pub cycle: u64,
    /// The fields, limbs least significant first.
    pub fields: Vec<Vec<u64>>,
}

/// A stream into the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source(pub(super) usize);

/// A stream out of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sink(pub(super) usize);

/// Counts of a stream, in cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Valid and ready: an item was transferred.
    pub transfers: u64,
    /// Valid without ready: an item had to wait.
    pub waiting: u64,
    /// Ready without valid: there was no item.
    pub starved: u64,
    /// A transfer in the cycle after a transfer.
    pub back_to_back: u64,
}

/// Counts cycles of a stream.
#[derive(Debug, Default)]
pub(super) struct Counter {
    pub counts: Counts,
    passed: bool,
}

impl Counter {
    fn note(&mut self, valid: bool, ready: bool) {
        let passes = valid && ready;
        self.counts.transfers += u64::from(passes);
        self.counts.waiting += u64::from(valid && !ready);
        self.counts.starved += u64::from(ready && !valid);
        self.counts.back_to_back += u64::from(passes && self.passed);
        self.passed = passes;
    }
}

/// A stream into the model.
#[derive(Debug)]
pub(super) struct SourceState {
    pub valid: String,
    ready: String,
    fields: Vec<(String, u32)>,
    pub pressure: Pressure,
    pub queue: VecDeque<Vec<Vec<u64>>>,
    offering: bool,
    /// The cycles in which items were accepted.
    pub taken: Vec<u64>,
    pub counter: Counter,
}

/// A stream out of the model.
#[derive(Debug)]
pub(super) struct SinkState {
    pub valid: String,
    ready: String,
    fields: Vec<String>,
    pub pressure: Pressure,
    /// Whether a bus model can accept items. If not, none is accepted, whatever the pressure.
    pub open: bool,
    /// The item that the model offered in the last cycle and that was not accepted.
    pub waiting: Option<Vec<Vec<u64>>>,
    /// Whether the model offered an item in the last cycle.
    pub offered: bool,
    pub received: Vec<Transfer>,
    pub counter: Counter,
}

impl SourceState {
    pub fn new(model: &Model, valid: &str, ready: &str, fields: &[&str]) -> Self {
        Self {
            valid: valid.into(),
            ready: ready.into(),
            fields: fields.iter().map(|&field| (field.into(), model.width(field))).collect(),
            pressure: Pressure::None,
            queue: VecDeque::new(),
            offering: false,
            taken: Vec::new(),
            counter: Counter::default(),
        }
    }

    /// The number of fields of an item.
    pub fn fields(&self) -> usize {
        self.fields.len()
    }

    pub fn push(&mut self, fields: &[&[u64]]) {
        assert_eq!(fields.len(), self.fields.len(), "a value for each field");
        self.queue.push_back(fields.iter().map(|field| field.to_vec()).collect());
    }

    pub fn reset(&mut self, model: &mut Model) {
        self.queue.clear();
        self.taken.clear();
        self.offering = false;
        model.set(&self.valid, false);
    }

    pub fn offer(&mut self, model: &mut Model, random: &mut Random) {
        if !self.offering && !self.queue.is_empty() {
            self.offering = self.pressure.offers(random);
        }
        model.set(&self.valid, self.offering);
        if self.offering {
            let item = self.queue.front().expect("an item is offered");
            self.fields.iter().zip(item).for_each(|((field, _), value)| model.set_limbs(field, value));
        } else {
            // Data that is not valid must not matter.
            for (field, width) in &self.fields {
                model.set_limbs(field, &random.bits(*width as usize));
            }
        }
    }

    pub fn note(&mut self, model: &Model, cycle: u64) {
        let ready = model.bit(&self.ready);
        self.counter.note(self.offering, ready);
        if self.offering && ready {
            self.queue.pop_front();
            self.taken.push(cycle);
            self.offering = false;
        }
    }
}

impl SinkState {
    pub fn new(valid: &str, ready: &str, fields: &[&str]) -> Self {
        Self {
            valid: valid.into(),
            ready: ready.into(),
            fields: fields.iter().map(|&field| field.into()).collect(),
            pressure: Pressure::None,
            open: true,
            waiting: None,
            offered: false,
            received: Vec::new(),
            counter: Counter::default(),
        }
    }

    pub fn reset(&mut self) {
        (self.waiting, self.offered, self.received, self.open) = (None, false, Vec::new(), true);
    }

    pub fn accept(&mut self, model: &mut Model, random: &mut Random) {
        let ready = self.pressure.takes(random, self.waiting.is_some()) && self.open;
        model.set(&self.ready, ready);
    }

    pub fn note(&mut self, model: &Model, cycle: u64) {
        let (valid, ready) = (model.bit(&self.valid), model.bit(&self.ready));
        assert!(valid || self.waiting.is_none(), "{} was withdrawn in cycle {cycle}", self.valid);
        self.counter.note(valid, ready);
        self.offered = valid;
        if !valid {
            return;
        }
        let fields: Vec<Vec<u64>> = self.fields.iter().map(|field| model.get(field)).collect();
        if let Some(waiting) = &self.waiting {
            assert_eq!(waiting, &fields, "the item at {} changed in cycle {cycle}", self.valid);
        }
        match ready {
            true => {
                self.waiting = None;
                self.received.push(Transfer { cycle, fields });
            }
            false => self.waiting = Some(fields),
        }
    }
}

impl Pressure {
    fn offers(self, random: &mut Random) -> bool {
        match self {
            Self::None | Self::AfterValid => true,
            Self::Random(share) => random.next() % 256 < share.into(),
            Self::Stalled => false,
        }
    }

    fn takes(self, random: &mut Random, seen: bool) -> bool {
        match self {
            Self::AfterValid => seen,
            other => other.offers(random),
        }
    }
}
