//! A wire that carries bits, or turns them over.

use hearith_verilated::bench::Random;

/// Cycles of a bit.
const BIT: u64 = 8;

/// A wire, whose level is what one end puts there, turned over for the time of a bit as often as
/// the rate says.
#[derive(Clone, Debug)]
pub struct Wire {
    random: Random,
    /// Bits that are wrong, of 2^32.
    rate: u64,
    cycle: u64,
    wrong: bool,
    cut: bool,
}

impl Wire {
    /// A wire of which this part of all bits is wrong: which ones, the seed decides.
    pub fn new(rate: f64, seed: u64) -> Self {
        let mut wire = Self { random: Random::new(seed), rate: 0, cycle: 0, wrong: false, cut: false };
        wire.set_rate(rate);
        wire
    }

    /// Sets the part of all bits that is wrong.
    pub fn set_rate(&mut self, rate: f64) {
        self.rate = (rate * 2_f64.powi(32)) as u64;
    }

    /// Cuts it: from now on its level is that of a line at rest.
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
