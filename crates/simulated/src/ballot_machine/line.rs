//! A simulated board behind the driver's line.

use hearith_device::ballot::Line;
use hearith_device::{Error, ErrorKind};
use hearith_verilated::Design;
use zeroize::Zeroizing;

use super::terminal::Terminal;
use super::wire::Wire;

/// Cycles without a message until the board counts as silent: more than a full log takes to be
/// read, and any part of a ballot, or a share, to be made.
const PATIENCE: u64 = 4_000_000;
/// How often the terminal's end of the line may say that the board did not answer, however often it
/// was asked.
const SILENCES: u32 = 2;

/// A board with everything around it.
pub(super) trait Station {
    /// What is simulated.
    fn design(&self) -> &'static Design;

    /// The end of its line.
    fn terminal(&mut self) -> &mut Terminal;

    /// A cycle of all of it.
    fn step(&mut self);

    /// What has to be done before a message of the board is heard.
    fn answered(&mut self) -> Result<(), Error>;

    /// The board is reset.
    fn reset(&mut self);
}

/// The serial line of a board that is simulated as long as somebody listens.
#[derive(Debug)]
pub(super) struct SimulatedLine<S: Station>(pub(super) S);

impl<S: Station> Line for SimulatedLine<S> {
    fn describe(&self) -> String {
        format!("simulated {}", self.0.design().name())
    }

    fn send(&mut self, words: &[u32]) -> Result<(), Error> {
        self.0.terminal().say(words);
        Ok(())
    }

    fn receive(&mut self) -> Result<Zeroizing<Vec<u32>>, Error> {
        let mut silences = 0;
        for _ in 0..PATIENCE {
            self.0.step();
            if let Some(words) = self.0.terminal().hear() {
                self.0.answered()?;
                return Ok(words);
            }
            silences += u32::from(self.0.terminal().misses_the_board());
            if silences == SILENCES {
                break;
            }
        }
        Err(ErrorKind::MachineSilent.into())
    }
}

impl<S: Station> Drop for SimulatedLine<S> {
    /// Registers and queues are cleared: what could open a ballot that was neither cast nor opened
    /// is among them, or a trustee's share of the key.
    fn drop(&mut self) {
        self.0.reset();
        self.0.terminal().reset();
    }
}

/// Wires as the settings say: the part of their bits that is wrong, or cut.
pub(super) fn spoil(wires: &mut [Wire], rate: Option<f64>, cut: bool) {
    for wire in wires {
        wire.set_rate(rate.unwrap_or(0.0));
        if cut {
            wire.cut();
        }
    }
}
