//! Inputs other than streams, such as moduli and amounts, that a module's header requires to be
//! stable only while something is inside. At all other times they change in every cycle, and no
//! answer may depend on that.
//!
//! The answers of a module in long use are compared with those of one that was just reset and whose
//! inputs never change. Other tests show that the latter are right.

mod list;

use hearith_verilated::bench::{Bench, Pressure, Random, Sink, Source};
use hearith_verilated::{Design, Model};
use rug::Integer;

use crate::golden::limbs;

/// Gives inputs random values.
pub fn change(model: &mut Model, ports: &[&str], random: &mut Random) {
    for port in ports {
        let width = model.width(port) as usize;
        model.set_limbs(port, &random.bits(width));
    }
}

/// A stream into a module: valid, ready, and the fields of an item.
pub type Port = (&'static str, &'static str, &'static [&'static str]);

/// A module with such inputs.
pub struct Module<'a> {
    pub design: &'static Design,
    pub beside: &'a [&'static str],
    pub sources: &'a [Port],
    pub results: &'a [&'static str],
    /// Whether items must be available whenever the module requests them.
    pub prompt: bool,
    /// The result that is 1 in the last transfer of an answer, if an answer has several.
    pub last: Option<usize>,
}

/// An operation of a module: the values of its other inputs, the items of each stream, and the
/// number of answers.
pub struct Operation {
    pub beside: Vec<Integer>,
    pub items: Vec<Vec<Vec<Integer>>>,
    pub answers: usize,
}

/// A port with the usual names of the first stream.
pub fn items(fields: &'static [&'static str]) -> Port {
    ("in_valid_i", "in_ready_o", fields)
}

/// A module in use.
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

    /// Lets cycles pass with nothing inside.
    fn idle(&mut self, random: &mut Random, cycles: u64) {
        for _ in 0..cycles {
            change(&mut self.bench.model, self.module.beside, random);
            self.bench.step();
        }
    }

    /// The answers, from the cycle in which the first item may be accepted to that of the last
    /// answer.
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
    /// Carries out operations in sequence, with any number of idle cycles between them, including
    /// none.
    ///
    /// With `lasting`, the module's first input belongs to the values of the other inputs until the
    /// next reset, so every operation is preceded by a reset.
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
