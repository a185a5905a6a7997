//! A simulated board as a line of the driver.

use hearith_device::ballot::Line;
use hearith_device::{Error, ErrorKind};
use hearith_verilated::Design;
use zeroize::Zeroizing;

use super::terminal::Terminal;
use super::wire::Wire;

/// Cycles without a message until the board counts as silent: more than reading a full log takes,
/// or making any part of a ballot or a share.
const TIMEOUT_CYCLES: u64 = 4_000_000;
/// How often the terminal's end of the line may report that the board did not answer any of its
/// attempts.
const MAX_SILENCES: u32 = 2;

/// A board with everything it is wired to.
pub(super) trait Station {
    /// The simulated design.
    fn design(&self) -> &'static Design;

    /// The terminal at the end of its line.
    fn terminal(&mut self) -> &mut Terminal;

    /// Steps everything by a cycle.
    fn step(&mut self);

    /// Called before a message of the board is heard.
    fn answered(&mut self) -> Result<(), Error>;

    /// Resets the board.
    fn reset(&mut self);
}

/// The serial line of a simulated board. The simulation runs only while the line is listened to.
#[derive(Debug)]
pub(super) struct SimulatedLine<S: Station>(pub(super) S);

impl<S: Station> Line for SimulatedLine<S> {
    fn describe(&self) -> String {
        format!("simulated {}", self.0.design().name())
    }

    fn send(&mut self, words: &[u32]) -> Result<(), Error> {
        self.0.terminal().send(words);
        Ok(())
    }

    fn receive(&mut self) -> Result<Zeroizing<Vec<u32>>, Error> {
        let mut silences = 0;
        for _ in 0..TIMEOUT_CYCLES {
            self.0.step();
            if let Some(words) = self.0.terminal().receive() {
                self.0.answered()?;
                return Ok(words);
            }
            silences += u32::from(self.0.terminal().misses_the_board());
            if silences == MAX_SILENCES {
                break;
            }
        }
        Err(ErrorKind::MachineSilent.into())
    }
}

impl<S: Station> Drop for SimulatedLine<S> {
    /// Clears registers and queues. They may hold a trustee's share of the key, or data that could
    /// open a ballot that was neither cast nor challenged.
    fn drop(&mut self) {
        self.0.reset();
        self.0.terminal().reset();
    }
}

/// Sets the wires' rate of wrong bits, or cuts them.
pub(super) fn spoil(wires: &mut [Wire], rate: Option<f64>, cut: bool) {
    for wire in wires {
        wire.set_rate(rate.unwrap_or(0.0));
        if cut {
            wire.cut();
        }
    }
}
