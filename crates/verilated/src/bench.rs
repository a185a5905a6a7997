//! A test bench: models of the streams and buses around a design.
//!
//! A [`Source`] offers queued items to the model, and a [`Sink`] accepts the model's items. Each
//! does so under a [`Pressure`]: always, or at random. The bench records every transfer with its
//! cycle. It checks the stream contract of the model's outputs: once valid, an item stays unchanged
//! until it is accepted. Several streams may share a port: `valid_i[2]`, `data_i[23:16]`. Built on
//! these streams are
//!
//! - [`PacketSource`] and [`PacketSink`]: AXI4-Stream, bytes in packets;
//! - [`AxiLite`]: an AXI4-Lite manager;
//! - [`AxiMemory`]: a memory for a design that is an AXI4 manager.
//!
//! In addition, [`SerialFlash`] is a chip whose levels are computed cycle by cycle.
//!
//! A design that breaks a rule fails the test: the panic names the rule, the place and the cycle.
//! Every stream counts its cycles ([`Counts`]). Models that count coverage store these counts next
//! to it.

mod axi_lite;
mod axi_memory;
mod packet;
mod random;
mod response;
mod serial_flash;
mod stream;

use std::env;
use std::fs;
use std::path::Path;

pub use axi_lite::{AxiLite, ReadAnswer};
pub use axi_memory::{AxiMemory, Lie, MemoryCounts, MemorySettings, Rows};
pub use packet::{Packet, PacketSink, PacketSource};
pub use random::Random;
pub use response::{BusError, Response};
pub use serial_flash::SerialFlash;
pub use stream::{Counts, Pressure, Sink, Source, Transfer};

use crate::model::Model;
use axi_lite::Manager;
use axi_memory::Memory;
use packet::PacketState;
use stream::{Counter, SinkState, SourceState};

/// A model with its streams.
#[derive(Debug)]
pub struct Bench {
    /// The model, for ports that are not streams.
    pub model: Model,
    random: Random,
    cycle: u64,
    streams: Streams,
    managers: Vec<Manager>,
    memories: Vec<Memory>,
    packets: Vec<PacketState>,
}

/// All streams of a bench.
#[derive(Debug, Default)]
struct Streams {
    sources: Vec<SourceState>,
    sinks: Vec<SinkState>,
}

impl Streams {
    fn source(&mut self, source: Source) -> &mut SourceState {
        &mut self.sources[source.0]
    }

    fn sink(&mut self, sink: Sink) -> &mut SinkState {
        &mut self.sinks[sink.0]
    }
}

impl Bench {
    /// Creates a bench for a model, which is reset. The seed determines all random choices.
    pub fn new(mut model: Model, seed: u64) -> Self {
        model.reset();
        Self {
            model,
            random: Random::new(seed),
            cycle: 0,
            streams: Streams::default(),
            managers: Vec::new(),
            memories: Vec::new(),
            packets: Vec::new(),
        }
    }

    /// Adds a stream into the model: its valid input, its ready output, its data inputs.
    pub fn source(&mut self, valid: &str, ready: &str, fields: &[&str]) -> Source {
        self.streams.sources.push(SourceState::new(&self.model, valid, ready, fields));
        Source(self.streams.sources.len() - 1)
    }

    /// Adds a stream out of the model: its valid output, its ready input, its data outputs.
    pub fn sink(&mut self, valid: &str, ready: &str, fields: &[&str]) -> Sink {
        self.streams.sinks.push(SinkState::new(valid, ready, fields));
        Sink(self.streams.sinks.len() - 1)
    }

    /// Sets how eagerly items are offered.
    pub fn set_source_pressure(&mut self, source: Source, pressure: Pressure) {
        self.streams.source(source).pressure = pressure;
    }

    /// Sets how eagerly items are accepted.
    pub fn set_sink_pressure(&mut self, sink: Sink, pressure: Pressure) {
        self.streams.sink(sink).pressure = pressure;
    }

    /// Queues an item: a value for each field.
    pub fn push(&mut self, source: Source, fields: &[&[u64]]) {
        self.streams.source(source).push(fields);
    }

    /// Drops all queued items including the one on offer, like a client that is reset together with
    /// a part of the model.
    pub fn forget(&mut self, source: Source) {
        self.streams.source(source).reset(&mut self.model);
    }

    /// Lets the model withdraw its offer of the last cycle, after a reset of a part of it.
    pub fn excuse(&mut self, sink: Sink) {
        self.streams.sink(sink).waiting = None;
    }

    /// The cycles in which the model accepted items.
    pub fn taken(&self, source: Source) -> &[u64] {
        &self.streams.sources[source.0].taken
    }

    /// The number of items that the model has not accepted yet.
    pub fn queued(&self, source: Source) -> usize {
        self.streams.sources[source.0].queue.len()
    }

    /// The items received from the model.
    pub fn received(&self, sink: Sink) -> &[Transfer] {
        &self.streams.sinks[sink.0].received
    }

    /// The counts of a stream into the model.
    pub fn source_counts(&self, source: Source) -> Counts {
        self.streams.sources[source.0].counter.counts
    }

    /// The counts of a stream out of the model.
    pub fn sink_counts(&self, sink: Sink) -> Counts {
        self.streams.sinks[sink.0].counter.counts
    }

    /// The number of the next cycle.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// The bench's source of random numbers.
    pub fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    /// Steps by one clock cycle.
    pub fn step(&mut self) {
        self.step_watching(|_| ());
    }

    /// Steps by one clock cycle, and shows the settled model to `watch` before the edge.
    pub fn step_watching(&mut self, mut watch: impl FnMut(&Model)) {
        self.settle();
        watch(&self.model);
        self.edge();
    }

    /// The first half of a cycle: offers all items and lets the model settle.
    pub fn settle(&mut self) {
        for source in &mut self.streams.sources {
            source.offer(&mut self.model, &mut self.random);
        }
        for sink in &mut self.streams.sinks {
            sink.accept(&mut self.model, &mut self.random);
        }
        self.model.settle();
    }

    /// The second half of a cycle: records transfers and ticks the clock.
    pub fn edge(&mut self) {
        for source in &mut self.streams.sources {
            source.note(&self.model, self.cycle);
        }
        for sink in &mut self.streams.sinks {
            sink.note(&self.model, self.cycle);
        }
        for manager in &mut self.managers {
            manager.act(&mut self.streams, self.cycle);
        }
        for memory in &mut self.memories {
            memory.act(&mut self.streams, &mut self.random, self.cycle);
        }
        for packets in &mut self.packets {
            packets.act(&mut self.streams);
        }
        self.model.edge();
        self.cycle += 1;
    }

    /// Steps until the sink has received `items` items in total, and returns them.
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

    /// Steps until the condition holds.
    ///
    /// # Panics
    /// If that takes more than `limit` cycles.
    pub fn run_until(&mut self, limit: u64, condition: impl Fn(&Self) -> bool) {
        let end = self.cycle + limit;
        while !condition(self) {
            assert!(self.cycle < end, "not within {limit} cycles");
            self.step();
        }
    }

    /// Steps by this many cycles.
    pub fn idle(&mut self, cycles: u64) {
        (0..cycles).for_each(|_| self.step());
    }

    /// Resets the model for two cycles, and drops queued and received items. Memories keep their
    /// content.
    pub fn reset(&mut self) {
        for source in &mut self.streams.sources {
            source.reset(&mut self.model);
        }
        self.streams.sinks.iter_mut().for_each(SinkState::reset);
        self.managers.iter_mut().for_each(Manager::reset);
        self.memories.iter_mut().for_each(Memory::reset);
        self.packets.iter_mut().for_each(PacketState::reset);
        self.model.reset();
    }

    /// The counts of every stream, one per line: the top module, the stream's valid port, and the
    /// counts.
    fn counts(&self) -> String {
        let sources = self.streams.sources.iter().map(|source| (&source.valid, &source.counter));
        let sinks = self.streams.sinks.iter().map(|sink| (&sink.valid, &sink.counter));
        let line = |(valid, Counter { counts, .. }): (&String, &Counter)| {
            let Counts { transfers, waiting, starved, back_to_back } = counts;
            format!("{} {valid} {transfers} {waiting} {starved} {back_to_back}\n", self.model.design().top())
        };
        sources.chain(sinks).map(line).collect()
    }
}

impl Drop for Bench {
    /// Stores the counts next to the model's coverage (`HEARITH_RTL_COVERAGE` names the directory).
    fn drop(&mut self) {
        let Some(directory) = env::var_os("HEARITH_RTL_COVERAGE") else { return };
        let path = Path::new(&directory).join(self.model.file_name("streams"));
        if let Err(error) = fs::write(&path, self.counts()) {
            eprintln!("{}: {error}", path.display());
        }
    }
}
