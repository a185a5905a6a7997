//! Inputs beside the streams, such as moduli and amounts, that a header asks to be stable only
//! while something is inside: at every other time they change in every cycle, and no answer may
//! depend on it.
//!
//! What a module in long use gives is compared with what one gives that has just been reset and
//! whose inputs never change. That the latter is right, other tests show.

use hearith_verilated::Design;
use hearith_verilated::bench::{Bench, Pressure, Random, Sink, Source};
use rug::Integer;

use crate::golden::limbs;

/// A stream into a module: valid, ready, and the fields of an item.
pub type Port = (&'static str, &'static str, &'static [&'static str]);

/// A module with inputs beside its streams.
pub struct Module<'a> {
    pub design: &'static Design,
    pub beside: &'a [&'static str],
    pub sources: &'a [Port],
    pub results: &'a [&'static str],
    /// Whether items are there whenever they are asked for, as the module demands.
    pub prompt: bool,
    /// The result that is 1 in the last transfer of an answer, where an answer is more than one.
    pub last: Option<usize>,
}

/// What a module is asked for: the values of the inputs beside, the items of each stream, and how
/// many answers there are.
pub struct Operation {
    pub beside: Vec<Integer>,
    pub items: Vec<Vec<Vec<Integer>>>,
    pub answers: usize,
}

/// The name of the first stream's ports.
pub fn items(fields: &'static [&'static str]) -> Port {
    ("in_valid_i", "in_ready_o", fields)
}

/// A module that is being used.
struct Device<'a> {
    module: &'a Module<'a>,
    bench: Bench,
    sources: Vec<Source>,
    sink: Sink,
}

impl<'a> Device<'a> {
    fn new(module: &'a Module<'a>, seed: u64) -> Self {
        let mut bench = Bench::new(module.design.model(), seed);
        let sources = module.sources.iter().map(|(valid, ready, fields)| bench.source(valid, ready, fields)).collect();
        let sink = bench.sink("out_valid_o", "out_ready_i", module.results);
        Self { module, bench, sources, sink }
    }

    /// Cycles in which nothing is inside.
    fn idle(&mut self, random: &mut Random, cycles: u64) {
        for _ in 0..cycles {
            for name in self.module.beside {
                let width = self.bench.model.width(name) as usize;
                self.bench.model.set_limbs(name, &random.bits(width));
            }
            self.bench.step();
        }
    }

    /// What is given, from the cycle in which the first item may be taken to the one in which the
    /// last answer is.
    fn answers(&mut self, operation: &Operation, pressure: Pressure) -> Vec<Vec<Vec<u64>>> {
        for (name, value) in self.module.beside.iter().zip(&operation.beside) {
            self.bench.model.set_limbs(name, &limbs(value));
        }
        for (source, items) in self.sources.iter().zip(&operation.items) {
            self.bench.set_source_pressure(*source, if self.module.prompt { Pressure::None } else { pressure });
            for item in items {
                let fields: Vec<Vec<u64>> = item.iter().map(limbs).collect();
                self.bench.push(*source, &fields.iter().map(Vec::as_slice).collect::<Vec<_>>());
            }
        }
        self.bench.set_sink_pressure(self.sink, pressure);
        let (first, limit) = (self.bench.received(self.sink).len(), self.bench.cycle() + 1_000_000);
        let mut ended = 0;
        for at in first.. {
            while self.bench.received(self.sink).len() == at {
                assert!(self.bench.cycle() < limit, "{} gives no answer", self.module.design.name());
                self.bench.step();
            }
            let fields = &self.bench.received(self.sink)[at].fields;
            ended += usize::from(self.module.last.is_none_or(|last| fields[last] == [1]));
            if ended == operation.answers {
                break;
            }
        }
        self.bench.received(self.sink)[first..].iter().map(|transfer| transfer.fields.clone()).collect()
    }
}

impl Module<'_> {
    /// Carries out so many operations, one after the other, with any number of idle cycles between
    /// them, none among them.
    ///
    /// `lasting` says that what goes into the module first belongs to what is beside it until the
    /// next reset, which then comes before every operation.
    pub fn check(&self, rounds: usize, lasting: bool, mut operation: impl FnMut(&mut Random) -> Operation) {
        let mut random = Random::new(11);
        let mut used = Device::new(self, 1);
        for round in 0..rounds {
            if lasting {
                used.bench.reset();
            }
            let operation = operation(&mut random);
            let idle = [0, 1, 2, 3, 40][random.below(5) as usize];
            used.idle(&mut random, idle);
            let pressure = [Pressure::None, Pressure::Random(128)][random.below(2) as usize];
            let given = used.answers(&operation, pressure);
            let expected = Device::new(self, 2).answers(&operation, Pressure::None);
            let name = self.design.name();
            assert!(
                given == expected,
                "{name}, operation {round}, after {idle} idle cycles, with {:?}: {given:?} instead of {expected:?}",
                operation.beside
            );
        }
    }
}
