//! A terminal's end of a board's line.

use hearith_verilated::Design;
use hearith_verilated::bench::{Bench, Pressure, Sink, Source};
use zeroize::Zeroizing;

use crate::designs::TERMINAL;

/// The fault code of a link whose partner does not answer (`rtl/links/link_pkg.sv`).
const SILENT: u64 = 7;

/// A terminal's end of a board's serial line, between its program and the wire. It sends and
/// receives messages.
#[derive(Debug)]
pub struct Terminal {
    bench: Bench,
    source: Source,
    sink: Sink,
    taken: usize,
    tag: u64,
}

impl Terminal {
    /// The design.
    pub const DESIGN: &'static Design = &TERMINAL;

    /// Creates a terminal in reset, with its own tag.
    ///
    /// # Panics
    /// If the program was built without Verilator.
    pub fn new(tag: u16) -> Self {
        let mut bench = Bench::new(TERMINAL.model(), tag.into());
        let source = bench.source("in_valid_i", "in_ready_o", &["in_data_i", "in_last_i"]);
        let sink = bench.sink("out_valid_o", "out_ready_i", &["out_data_o", "out_last_o"]);
        bench.model.set("tag_i", u64::from(tag));
        bench.model.set("rx_i", true);
        Self { bench, source, sink, taken: 0, tag: tag.into() }
    }

    /// Queues a message for the board.
    pub fn send(&mut self, words: &[u32]) {
        for (at, &word) in words.iter().enumerate() {
            self.bench.push(self.source, &[&[word.into()], &[u64::from(at + 1 == words.len())]]);
        }
    }

    /// Sets how eagerly the terminal accepts data of the board.
    pub fn set_pressure(&mut self, pressure: Pressure) {
        self.bench.set_sink_pressure(self.sink, pressure);
    }

    /// The next message, once it is complete.
    pub fn receive(&mut self) -> Option<Zeroizing<Vec<u32>>> {
        let items = &self.bench.received(self.sink)[self.taken..];
        let end = items.iter().position(|item| item.fields[1] == [1])?;
        let mut words = Zeroizing::new(Vec::with_capacity(end + 1));
        words.extend(items[..=end].iter().map(|item| item.fields[0][0] as u32));
        self.taken += end + 1;
        Some(words)
    }

    /// The level of its wire to the board.
    pub fn level(&self) -> bool {
        self.bench.model.bit("tx_o")
    }

    /// Steps by a cycle. `level` is that of the wire from the board.
    pub fn step(&mut self, level: bool) {
        self.bench.model.set("rx_i", level);
        self.bench.step();
    }

    /// Whether the terminal reports now that the board answered none of its attempts.
    pub(super) fn misses_the_board(&self) -> bool {
        self.bench.model.bit("fault_o") && self.bench.model.get_u64("fault_code_o") == SILENT
    }

    /// Resets the terminal, which then forgets all messages.
    pub fn reset(&mut self) {
        self.tag += 1;
        self.bench.reset();
        self.bench.model.set("tag_i", self.tag);
        self.taken = 0;
    }
}
