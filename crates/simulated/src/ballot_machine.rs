//! The simulated ballot machine: the encryptor board (`rtl/election`) with its memory, its noise source, and a terminal at the other end of its serial line.

mod board;
mod line;
mod memory;
mod noise;
mod settings;
mod terminal;
mod wire;

pub use board::{EncryptorBoard, ToTally};
pub use noise::{NoiseFault, NoiseSource};
pub use terminal::Terminal;
pub use wire::Wire;

use hearith_device::ballot::{BALLOT_MACHINE, Machine, MakesBallots, Setup};
use hearith_device::{Error, Kind, State, System};
use hearith_verilated::Design;

use crate::designs::ENCRYPTOR_BOARDS;
use crate::state::state;
use line::SimulatedLine;
use settings::Settings;

pub(crate) static KIND: Machines = Machines;

/// The simulated ballot machines.
#[derive(Debug)]
pub(crate) struct Machines;

impl Kind for Machines {
    fn system(&self) -> &'static System {
        &BALLOT_MACHINE
    }

    fn state(&self) -> State {
        state(&BALLOT_MACHINE, &ENCRYPTOR_BOARDS, |design| {
            let size = EncryptorBoard::size(design);
            format!("n of {} bits, {} contests of {} marks", size.key_bits, size.contests, size.marks)
        })
    }

    fn makes_ballots(&self) -> Option<&dyn MakesBallots> {
        Some(self)
    }
}

impl MakesBallots for Machines {
    fn set_up(&self, setup: &Setup<'_>, settings: &str) -> Result<Machine, Error> {
        let settings: Settings = settings.parse()?;
        let fits = |design: &&&'static Design| EncryptorBoard::size(design).key_bits == setup.key.bits();
        // Where none fits, any says what it takes.
        let design = ENCRYPTOR_BOARDS.iter().find(fits).copied().unwrap_or(ENCRYPTOR_BOARDS[0]);
        let size = EncryptorBoard::size(design);
        size.check(setup)?;
        let mut board = EncryptorBoard::new(design, 0)?;
        board.set_up(setup)?;
        Machine::new(Box::new(SimulatedLine::new(board, &settings)?), &size, setup)
    }
}
