//! The simulated ballot machine (`rtl/election`).
//!
//! The encryptor board has its memory, its noise source, and a terminal at the other end of its
//! serial line. The tally board has its own noise source and terminal, and a source of ballots.

mod board;
mod line;
mod memory;
mod noise;
mod settings;
mod tally;
mod terminal;
mod wire;

pub use board::{EncryptorBoard, ToTally};
pub use noise::{NoiseFault, NoiseSource};
pub use tally::{Feeder, TallyBoard};
pub use terminal::Terminal;
pub use wire::Wire;

use hearith_device::ballot::{
    BALLOT_MACHINE, Counted, CountsBallots, Lengths, Machine, MakesBallots, Setup, Tally, TallySetup,
};
use hearith_device::{DeviceProvider, Error, ErrorKind, State, System};
use hearith_verilated::Design;

use crate::designs::{ENCRYPTOR_BOARDS, TALLY_BOARDS};
use crate::state::state;
use board::PollingStation;
use line::SimulatedLine;
use settings::Settings;
use tally::CountingStation;

pub(crate) static PROVIDER: Machines = Machines;

/// The simulated ballot machines.
#[derive(Debug)]
pub(crate) struct Machines;

impl DeviceProvider for Machines {
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

    fn counts_ballots(&self) -> Option<&dyn CountsBallots> {
        Some(self)
    }
}

impl MakesBallots for Machines {
    fn set_up(&self, setup: &Setup<'_>, settings: &str) -> Result<Machine, Error> {
        let settings: Settings = settings.parse()?;
        let fits = |design: &&&'static Design| EncryptorBoard::size(design).key_bits == setup.key.bits();
        // If none fits, the first one reports the sizes that it accepts.
        let design = ENCRYPTOR_BOARDS.iter().find(fits).copied().unwrap_or(ENCRYPTOR_BOARDS[0]);
        let size = EncryptorBoard::size(design);
        size.check(setup)?;
        let mut board = EncryptorBoard::new(design, 0)?;
        board.set_up(setup)?;
        Machine::new(Box::new(SimulatedLine(PollingStation::new(board, &settings)?)), &size, setup)
    }
}

impl CountsBallots for Machines {
    fn set_up_tally(&self, setup: &TallySetup<'_>, ballots: &[Counted], settings: &str) -> Result<Tally, Error> {
        let settings: Settings = settings.parse()?;
        if settings.flash.is_some() {
            let what = "the simulated tally board has no memory, and no setting 'flash'".to_owned();
            return Err(ErrorKind::Settings { what }.into());
        }
        let fits = |design: &&&'static Design| TallyBoard::size(design).key_bits == setup.key.bits();
        let design = TALLY_BOARDS.iter().find(fits).copied().unwrap_or(TALLY_BOARDS[0]);
        let size = TallyBoard::size(design);
        size.check_marks(setup.key.bits(), setup.marks)?;
        let mut board = TallyBoard::new(design, 0)?;
        board.set_up(setup)?;
        let station = CountingStation::new(board, ballots, &settings)?;
        let lengths = Lengths {
            key_bytes: size.key_bits as usize / 8,
            share_bits: setup.share_bits,
            most_share_bits: TallyBoard::most_share_bits(design),
        };
        Ok(Tally::new(Box::new(SimulatedLine(station)), lengths))
    }
}
