//! A test bench for valid/ready streams.
//!
//! A [`Source`] offers queued items to the model, a [`Sink`] takes what the model offers; each under a
//! [`Pressure`], always or at random. Every transfer is kept with the cycle in which it happened. The bench checks
//! the stream contract of the model's outputs: once valid, an item stays, unchanged, until it is taken. Several streams may
//! share a port: `valid_i[2]`, `data_i[23:16]`.

use std::collections::VecDeque;

use crate::model::Model;

/// How eagerly a side of a stream takes part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pressure {
    /// In every cycle.
    None,
    /// In so many of 256 cycles, at random.
    Random(u8),
    /// In no cycle.
    Stalled,
}

/// A transfer: the cycle, counted from 0 at the start of the bench, and the value of each field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The cycle at whose end valid and ready were both high.
    pub cycle: u64,
    /// The fields, limbs least significant first.
    pub fields: Vec<Vec<u64>>,
}

/// A stream into the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source(usize);

/// A stream out of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sink(usize);

/// A model with its streams.
#[derive(Debug)]
pub struct Bench {
    /// The model, for ports that are no streams.
    pub model: Model,
    random: Random,
    cycle: u64,
    sources: Vec<SourceState>,
    sinks: Vec<SinkState>,
}

#[derive(Debug)]
struct SourceState {
    valid: String,
    ready: String,
    fields: Vec<String>,
    pressure: Pressure,
    queue: VecDeque<Vec<Vec<u64>>>,
    offering: bool,
    /// The cycles in which items were taken.
    taken: Vec<u64>,
}

#[derive(Debug)]
struct SinkState {
    valid: String,
    ready: String,
    fields: Vec<String>,
    pressure: Pressure,
    /// What the model offered in the last cycle and was not taken.
    waiting: Option<Vec<Vec<u64>>>,
    received: Vec<Transfer>,
}

impl Bench {
    /// A bench for a model, which is reset. The seed decides all random choices.
    pub fn new(mut model: Model, seed: u64) -> Self {
        model.reset();
        Self { model, random: Random::new(seed), cycle: 0, sources: Vec::new(), sinks: Vec::new() }
    }

    /// Adds a stream into the model: its valid input, its ready output, its data inputs.
    pub fn source(&mut self, valid: &str, ready: &str, fields: &[&str]) -> Source {
        self.sources.push(SourceState {
            valid: valid.into(),
            ready: ready.into(),
            fields: fields.iter().map(|&field| field.into()).collect(),
            pressure: Pressure::None,
            queue: VecDeque::new(),
            offering: false,
            taken: Vec::new(),
        });
        Source(self.sources.len() - 1)
    }

    /// Adds a stream out of the model: its valid output, its ready input, its data outputs.
    pub fn sink(&mut self, valid: &str, ready: &str, fields: &[&str]) -> Sink {
        self.sinks.push(SinkState {
            valid: valid.into(),
            ready: ready.into(),
            fields: fields.iter().map(|&field| field.into()).collect(),
            pressure: Pressure::None,
            waiting: None,
            received: Vec::new(),
        });
        Sink(self.sinks.len() - 1)
    }

    /// Sets how eagerly items are offered.
    pub fn set_source_pressure(&mut self, source: Source, pressure: Pressure) {
        self.sources[source.0].pressure = pressure;
    }

    /// Sets how eagerly items are taken.
    pub fn set_sink_pressure(&mut self, sink: Sink, pressure: Pressure) {
        self.sinks[sink.0].pressure = pressure;
    }

    /// Queues an item: a value for each field.
    pub fn push(&mut self, source: Source, fields: &[&[u64]]) {
        let state = &mut self.sources[source.0];
        assert_eq!(fields.len(), state.fields.len(), "a value for each field");
        state.queue.push_back(fields.iter().map(|field| field.to_vec()).collect());
    }

    /// The cycles in which the model took items.
    pub fn taken(&self, source: Source) -> &[u64] {
        &self.sources[source.0].taken
    }

    /// How many items wait to be taken by the model.
    pub fn queued(&self, source: Source) -> usize {
        self.sources[source.0].queue.len()
    }

    /// What the model has given.
    pub fn received(&self, sink: Sink) -> &[Transfer] {
        &self.sinks[sink.0].received
    }

    /// The number of the cycle that comes next.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// The bench's source of random numbers.
    pub fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    /// One clock cycle.
    pub fn step(&mut self) {
        self.step_watching(|_| ());
    }

    /// One clock cycle, with a look at the settled model before the edge.
    pub fn step_watching(&mut self, mut watch: impl FnMut(&Model)) {
        for source in &mut self.sources {
            source.offer(&mut self.model, &mut self.random);
        }
        for sink in &mut self.sinks {
            let ready = sink.pressure.acts(&mut self.random);
            self.model.set(&sink.ready, ready);
        }
        self.model.settle();
        watch(&self.model);
        for source in &mut self.sources {
            source.note(&self.model, self.cycle);
        }
        for sink in &mut self.sinks {
            sink.note(&self.model, self.cycle);
        }
        self.model.edge();
        self.cycle += 1;
    }

    /// Steps until the sink has received so many items in all, and gives them.
    ///
    /// # Panics
    /// If that takes more than `limit` cycles.
    pub fn run(&mut self, sink: Sink, items: usize, limit: u64) -> &[Transfer] {
        let end = self.cycle + limit;
        while self.received(sink).len() < items {
            let received = self.received(sink).len();
            assert!(self.cycle < end, "{received} of {items} items within {limit} cycles");
            self.step();
        }
        self.received(sink)
    }

    /// Steps so many cycles.
    pub fn idle(&mut self, cycles: u64) {
        (0..cycles).for_each(|_| self.step());
    }

    /// Resets the model for two cycles and forgets what is queued and what was received.
    pub fn reset(&mut self) {
        for source in &mut self.sources {
            source.queue.clear();
            source.taken.clear();
            source.offering = false;
            self.model.set(&source.valid, false);
        }
        for sink in &mut self.sinks {
            (sink.waiting, sink.received) = (None, Vec::new());
        }
        self.model.reset();
    }
}

impl SourceState {
    fn offer(&mut self, model: &mut Model, random: &mut Random) {
        if !self.offering && !self.queue.is_empty() {
            self.offering = self.pressure.acts(random);
        }
        model.set(&self.valid, self.offering);
        if self.offering {
            let item = self.queue.front().expect("an item is offered");
            self.fields.iter().zip(item).for_each(|(field, value)| model.set_limbs(field, value));
        } else {
            // What is not valid must not matter.
            for field in &self.fields {
                let width = model.width(field);
                model.set_limbs(field, &random.bits(width as usize));
            }
        }
    }

    fn note(&mut self, model: &Model, cycle: u64) {
        if self.offering && model.bit(&self.ready) {
            self.queue.pop_front();
            self.taken.push(cycle);
            self.offering = false;
        }
    }
}

impl SinkState {
    fn note(&mut self, model: &Model, cycle: u64) {
        let valid = model.bit(&self.valid);
        assert!(valid || self.waiting.is_none(), "{} was withdrawn in cycle {cycle}", self.valid);
        if !valid {
            return;
        }
        let fields: Vec<Vec<u64>> = self.fields.iter().map(|field| model.get(field)).collect();
        if let Some(waiting) = &self.waiting {
            assert_eq!(waiting, &fields, "the item at {} changed in cycle {cycle}", self.valid);
        }
        match model.bit(&self.ready) {
            true => {
                self.waiting = None;
                self.received.push(Transfer { cycle, fields });
            }
            false => self.waiting = Some(fields),
        }
    }
}

impl Pressure {
    fn acts(self, random: &mut Random) -> bool {
        match self {
            Self::None => true,
            Self::Random(share) => random.next() % 256 < share.into(),
            Self::Stalled => false,
        }
    }
}

/// Reproducible random numbers for tests (SplitMix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator from a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    #[allow(clippy::should_implement_trait, reason = "an endless generator, not an iterator")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// A number of so many random bits, in limbs.
    pub fn bits(&mut self, width: usize) -> Vec<u64> {
        let mut limbs: Vec<u64> = (0..width.div_ceil(64)).map(|_| self.next()).collect();
        if !width.is_multiple_of(64) {
            let top = limbs.len() - 1;
            limbs[top] &= (1 << (width % 64)) - 1;
        }
        limbs
    }
}
