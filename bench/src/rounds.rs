//! Measuring in rounds: each round measures every entry once, forwards and backwards in turn, so
//! that whatever slows the machine down slows neighbours down alike.

use crate::Result;
use crate::contestant::{Contestant, Way};
use crate::workload::ROWS;

/// How long and how often to measure.
pub struct Plan {
    /// Seconds that a sample takes, about.
    pub seconds: f64,
    /// Rounds.
    pub rounds: usize,
}

/// A way of a library, how much of it makes a sample, and the seconds a row took in each round.
pub struct Entry {
    /// Which library.
    pub contestant: usize,
    /// The way.
    pub way: Way,
    /// Rows of a sample.
    pub rows: usize,
    /// How often a sample goes over them.
    pub repeats: usize,
    /// Seconds a row, round by round.
    pub seconds: Vec<f64>,
}

/// Finds how many rows and repeats make a sample of the planned length.
pub fn calibrate(contestant: &mut dyn Contestant, index: usize, way: Way, plan: &Plan) -> Result<Entry> {
    let fewest = contestant.fewest_rows();
    let (mut rows, mut repeats) = (fewest, 1);
    loop {
        let seconds = contestant.run(way, rows, repeats)?;
        // Randomisers are used once: repeats of the online part would cost more to prepare than to
        // measure.
        if seconds > 0.7 * plan.seconds || way == Way::EncryptOnline && rows == ROWS {
            return Ok(Entry { contestant: index, way, rows, repeats, seconds: Vec::new() });
        }
        let growth = (plan.seconds / seconds.max(1e-9)).clamp(1.1, 16.0);
        let wanted = ((rows * repeats) as f64 * growth).ceil() as usize;
        rows = wanted.next_multiple_of(fewest).min(ROWS);
        repeats = if way == Way::EncryptOnline { 1 } else { wanted.div_ceil(rows) };
    }
}

/// One sample of every entry, in one order in even rounds and in the other in odd ones.
pub fn measure_round(contestants: &mut [Box<dyn Contestant + '_>], entries: &mut [Entry], round: usize) -> Result<()> {
    let mut sample = |entry: &mut Entry| -> Result<()> {
        let seconds = contestants[entry.contestant].run(entry.way, entry.rows, entry.repeats)?;
        entry.seconds.push(seconds / (entry.rows * entry.repeats) as f64);
        Ok(())
    };
    if round.is_multiple_of(2) {
        entries.iter_mut().try_for_each(&mut sample)
    } else {
        entries.iter_mut().rev().try_for_each(sample)
    }
}
