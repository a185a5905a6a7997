//! A wire that transmits bits, possibly with errors.

use hearith_verilated::bench::Random;

/// Cycles of a bit.
const BIT: u64 = 8;

/// A wire that transmits the level of one end, inverted for the duration of a bit at the given
/// rate.
#[derive(Clone, Debug)]
pub struct Wire {
    random: Random,
    /// Wrong bits out of 2^32.
    rate: u64,
    cycle: u64,
    wrong: bool,
    cut: bool,
}

impl Wire {
    /// Creates a wire with this fraction of wrong bits, selected by the seed.
    pub fn new(rate: f64, seed: u64) -> Self {
        let mut wire = Self { random: Random::new(seed), rate: 0, cycle: 0, wrong: false, cut: false };
        wire.set_rate(rate);
        wire
    }

    /// Sets the fraction of wrong bits.
    pub fn set_rate(&mut self, rate: f64) {
        self.rate = (rate * 2_f64.powi(32)) as u64;
    }

    /// Cuts the wire: from now on its level is that of an idle line.
    pub fn cut(&mut self) {
        self.cut = true;
    }

    /// The level at the other end in this cycle.
    pub fn carry(&mut self, level: bool) -> bool {
        if self.rate > 0 && self.cycle.is_multiple_of(BIT) {
            self.wrong = self.random.next() >> 32 < self.rate;
        }
        self.cycle += 1;
        self.cut || (level ^ (self.wrong && self.rate > 0))
    }
}
