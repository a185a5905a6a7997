//! A simulated machine behind the driver's line.

use hearith_device::ballot::Line;
use hearith_device::{Error, ErrorKind};
use zeroize::Zeroizing;

use super::board::EncryptorBoard;
use super::memory::Memory;
use super::settings::Settings;

/// Cycles without a message until the board counts as silent: more than a full log takes to be read, and any part of a ballot to be made.
const PATIENCE: u64 = 4_000_000;
/// How often the terminal's end of the line may say that the board did not answer, however often it was asked.
const SILENCES: u32 = 2;

/// The serial line of a board that is simulated as long as somebody listens.
#[derive(Debug)]
pub(super) struct SimulatedLine {
    board: EncryptorBoard,
    memory: Option<Memory>,
}

impl SimulatedLine {
    /// The line of a board with a memory as the settings say, over wires as they say.
    pub(super) fn new(mut board: EncryptorBoard, settings: &Settings) -> Result<Self, Error> {
        let open = |path: &std::path::PathBuf| Memory::open(path, &mut board.flash.content);
        let memory = settings.flash.as_ref().map(open).transpose()?;
        board.noise.fault = settings.noise;
        for wire in &mut board.wires {
            wire.set_rate(settings.wire.unwrap_or(0.0));
            if settings.cut {
                wire.cut();
            }
        }
        Ok(Self { board, memory })
    }
}

impl Line for SimulatedLine {
    fn describe(&self) -> String {
        format!("simulated {}", self.board.bench.model.design().name())
    }

    fn say(&mut self, words: &[u32]) -> Result<(), Error> {
        self.board.terminal.say(words);
        Ok(())
    }

    fn hear(&mut self) -> Result<Zeroizing<Vec<u32>>, Error> {
        let mut silences = 0;
        for _ in 0..PATIENCE {
            // There is no tally board.
            self.board.step(false);
            if let Some(words) = self.board.terminal.hear() {
                // What the board says of its memory is so when it is heard.
                if let Some(memory) = &mut self.memory {
                    memory.keep(&self.board.flash.content)?;
                }
                return Ok(words);
            }
            silences += u32::from(self.board.terminal.misses_the_board());
            if silences == SILENCES {
                break;
            }
        }
        Err(ErrorKind::MachineSilent.into())
    }
}

impl Drop for SimulatedLine {
    /// Registers and queues are cleared: what could open a ballot that was neither cast nor opened is among them.
    fn drop(&mut self) {
        self.board.reset(false);
        self.board.terminal.reset();
    }
}
