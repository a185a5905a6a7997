//! Measurements in rounds. Each round measures every entry once, in alternating order, so that
//! slowdowns of the machine affect neighbours alike.

use crate::Result;
use crate::contestant::{Contestant, Way};
use crate::workload::ROWS;

/// The duration and number of measurements.
pub struct Plan {
    /// Approximate seconds of a sample.
    pub seconds: f64,
    /// Rounds.
    pub rounds: usize,
}

/// A way of a library, the size of its sample, and the seconds per row in each round.
pub struct Entry {
    /// Index of the library.
    pub contestant: usize,
    /// The way.
    pub way: Way,
    /// Rows of a sample.
    pub rows: usize,
    /// Repetitions of these rows in a sample.
    pub repeats: usize,
    /// Seconds per row, by round.
    pub seconds: Vec<f64>,
}

/// Finds how many rows and repeats make a sample of the planned length.
pub fn calibrate(contestant: &mut dyn Contestant, index: usize, way: Way, plan: &Plan) -> Result<Entry> {
    let fewest = contestant.fewest_rows();
    let (mut rows, mut repeats) = (fewest, 1);
    loop {
        let seconds = contestant.run(way, rows, repeats)?;
        // Randomisers are used once: for repeats of the online part, preparation would take longer
        // than the measurement.
        if seconds > 0.7 * plan.seconds || way == Way::EncryptOnline && rows == ROWS {
            return Ok(Entry { contestant: index, way, rows, repeats, seconds: Vec::new() });
        }
        let growth = (plan.seconds / seconds.max(1e-9)).clamp(1.1, 16.0);
        let wanted = ((rows * repeats) as f64 * growth).ceil() as usize;
        rows = wanted.next_multiple_of(fewest).min(ROWS);
        repeats = if way == Way::EncryptOnline { 1 } else { wanted.div_ceil(rows) };
    }
}

/// One sample of every entry, forwards in even rounds and backwards in odd ones.
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
