//! Pipelines without streams: modules that accept an item in every cycle with `en_i`, and return
//! its result after a fixed number of such cycles.

use hearith_verilated::Design;
use hearith_verilated::bench::Random;
use rug::Integer;

use crate::golden::{limbs, number};

/// A module with inputs, outputs and a latency.
pub struct Pipe {
    pub design: &'static Design,
    pub inputs: &'static [&'static str],
    pub outputs: &'static [&'static str],
    pub latency: usize,
}

impl Pipe {
    /// The output for each item, read exactly `latency` cycles after its input. In `held` of 256
    /// cycles, `en_i` is low, if it exists, and the inputs are random.
    pub fn pass(&self, items: &[Vec<Integer>], held: u64) -> Vec<Vec<Integer>> {
        let holds = self.design.port("en_i").is_some();
        let (mut model, mut random) = (self.design.model(), Random::new(held + 1));
        if self.design.port("rst_ni").is_some() {
            model.reset();
        }
        let (mut step, mut results) = (0, Vec::with_capacity(items.len()));
        while results.len() < items.len() {
            let enabled = !holds || random.below(256) >= held;
            let item = items.get(step).filter(|_| enabled);
            for (k, name) in self.inputs.iter().enumerate() {
                match item {
                    Some(item) => model.set(name, limbs(&item[k])),
                    None => model.set(name, random.bits(model.width(name) as usize)),
                }
            }
            if holds {
                model.set("en_i", enabled);
            }
            model.clock();
            if enabled {
                step += 1;
                if step >= self.latency {
                    results.push(self.outputs.iter().map(|name| number(&model.get(name))).collect());
                }
            }
        }
        results
    }

    /// Checks every item against its expected result, at full speed and with held cycles.
    pub fn check(&self, items: &[Vec<Integer>], expected: impl Fn(&[Integer]) -> Vec<Integer>) {
        let results = self.pass(items, 0);
        for (item, result) in items.iter().zip(&results) {
            assert_eq!(*result, expected(item), "{item:?} in {}", self.design.name());
        }
        let some = &items[..items.len().min(2000)];
        assert!(self.pass(some, 100) == results[..some.len()], "{} with cycles held", self.design.name());
    }
}
