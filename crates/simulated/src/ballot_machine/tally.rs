//! The tally board with its noise source, a terminal, and the line that ballots arrive on.

use std::sync::Arc;

use hearith_device::ballot::{Constants, Counted, Size, TallySetup};
use hearith_device::{Error, ErrorKind};
use hearith_verilated::Design;
use hearith_verilated::bench::{Bench, Source};

use super::board::{ToTally, limbs};
use super::line::{Station, spoil};
use super::noise::NoiseSource;
use super::settings::Settings;
use super::terminal::Terminal;
use super::wire::Wire;
use crate::designs::BALLOT_FEEDER;

/// Base tags of the board, of its terminal and of the source of ballots. Resets add to them.
const TAG: u64 = 0x8000;
const TERMINAL: u16 = 0x2000;
const FEEDER: u64 = 0xc000;

/// A tally board, its noise source, and its serial line with a terminal at the other end. The board
/// starts from reset. The caller that steps it also handles the line for ballots.
#[derive(Debug)]
pub struct TallyBoard {
    /// The board itself.
    pub bench: Bench,
    /// The source of its randomness.
    pub noise: NoiseSource,
    /// The terminal that sends orders.
    pub terminal: Terminal,
    /// The wires: from the terminal, to it, from the source of ballots, and to that source.
    pub wires: [Wire; 4],
    tag: u64,
}

impl TallyBoard {
    /// Creates a board with faultless wires.
    ///
    /// # Errors
    /// [`ErrorKind::Transport`] if the program was built without Verilator.
    pub fn new(design: &'static Design, seed: u64) -> Result<Self, Error> {
        let instantiate =
            |design: &'static Design| design.instantiate().map_err(|error| ErrorKind::Transport(Arc::new(error)));
        instantiate(Terminal::DESIGN)?;
        let mut bench = Bench::new(instantiate(design)?, seed);
        bench.model.set("tag_i", TAG + 1);
        let wires = [10, 11, 12, 13].map(|wire| Wire::new(0.0, wire * 100 + seed));
        let terminal = Terminal::new(TERMINAL + seed as u16);
        Ok(Self { bench, noise: NoiseSource::new(), terminal, wires, tag: 1 })
    }

    /// The sizes that the board was built for, with ballots as `voters`.
    pub fn size(design: &Design) -> Size {
        Size {
            key_bits: design.parameter("N") / 2,
            contests: design.parameter("Contests") as usize,
            marks: design.parameter("Candidates") as usize,
            voters: design.parameter("Slots"),
        }
    }

    /// Bits of the longest share that the board accepts.
    pub fn most_share_bits(design: &Design) -> u32 {
        design.parameter("ShareBits")
    }

    /// Sets the board up with an election's key and id for a trustee. The board has no private key,
    /// so it does not decrypt totals of an undivided key.
    ///
    /// # Errors
    /// Those of [`Size::check`] and [`Constants::new`], or [`ErrorKind::ShareTooLong`].
    pub fn set_up(&mut self, setup: &TallySetup<'_>) -> Result<(), Error> {
        let model = &mut self.bench.model;
        Self::size(model.design()).check_marks(setup.key.bits(), setup.marks)?;
        let (bits, most) = (setup.share_bits, Self::most_share_bits(model.design()));
        if bits > most {
            return Err(ErrorKind::ShareTooLong { bits, most }.into());
        }
        let key = Constants::new(setup.key, model.design().parameter("Digit"))?;
        let numbers = [
            ("generator_i", limbs(&setup.generator)),
            ("verifier_i", limbs(&setup.verifier)),
            ("needed_i", vec![setup.needed.into()]),
            ("trustees_i", vec![setup.trustees.into()]),
            ("trustee_i", vec![setup.trustee.into()]),
            ("share_bits_i", vec![setup.share_bits.into()]),
            ("modulus_i", key.modulus),
            ("inverse_i", key.inverse),
            ("enter_i", key.enter),
            ("cube_i", key.cube),
            ("unit_i", key.zero),
            ("n_i", key.n),
            ("election_i", limbs(&setup.election)),
        ];
        numbers.iter().for_each(|(port, number)| model.set_limbs(port, number));
        Ok(())
    }

    /// The level of the board's wire to the source of ballots.
    pub fn cipo(&mut self) -> bool {
        let level = self.bench.model.bit("cipo_o");
        self.wires[3].carry(level)
    }

    /// Steps the board and its terminal by a cycle, with the levels from the source of ballots.
    pub fn step(&mut self, ballots: ToTally) {
        let said = self.bench.model.bit("tx_o");
        let [to_board, from_board, copi, _] = &mut self.wires;
        let noise = self.noise.bit();
        let inputs = [
            ("rx_i", to_board.carry(self.terminal.level())),
            ("copi_i", copi.carry(ballots.copi)),
            ("sck_i", ballots.sck),
            ("cs_ni", ballots.cs_n),
            ("noise_i", noise.unwrap_or_default()),
            ("noise_valid_i", noise.is_some()),
        ];
        inputs.into_iter().for_each(|(port, level)| self.bench.model.set(port, level));
        self.bench.step();
        self.terminal.step(from_board.carry(said));
    }

    /// Resets the board, which then forgets everything.
    pub fn reset(&mut self) {
        self.tag += 1;
        self.bench.reset();
        self.bench.model.set("tag_i", TAG + self.tag);
    }
}

/// A source of ballots where there is no encryptor board: the other end of the line, with all
/// ballots.
#[derive(Debug)]
pub struct Feeder {
    bench: Bench,
    source: Source,
}

impl Feeder {
    /// Creates a source without messages.
    ///
    /// # Errors
    /// Those of [`TallyBoard::new`].
    pub fn new() -> Result<Self, Error> {
        let model = BALLOT_FEEDER.instantiate().map_err(|error| ErrorKind::Transport(Arc::new(error)))?;
        let mut bench = Bench::new(model, 0);
        let source = bench.source("in_valid_i", "in_ready_o", &["in_data_i", "in_last_i"]);
        bench.model.set("tag_i", FEEDER);
        Ok(Self { bench, source })
    }

    /// Queues a message for the board.
    pub fn send(&mut self, words: &[u32]) {
        for (at, &word) in words.iter().enumerate() {
            self.bench.push(self.source, &[&[word.into()], &[u64::from(at + 1 == words.len())]]);
        }
    }

    /// The levels of its wires to the board.
    pub fn to_tally(&self) -> ToTally {
        let bit = |port: &str| self.bench.model.bit(port);
        ToTally { cs_n: bit("cs_no"), sck: bit("sck_o"), copi: bit("copi_o") }
    }

    /// Steps by a cycle. `cipo` is the level of the wire from the board.
    pub fn step(&mut self, cipo: bool) {
        self.bench.model.set("cipo_i", cipo);
        self.bench.step();
    }
}

/// A tally board with a source of ballots instead of an encryptor board.
#[derive(Debug)]
pub(super) struct CountingStation {
    board: TallyBoard,
    feeder: Feeder,
}

impl CountingStation {
    /// A board with these ballots in its queue, over wires that follow the settings.
    pub(super) fn new(mut board: TallyBoard, ballots: &[Counted], settings: &Settings) -> Result<Self, Error> {
        let size = TallyBoard::size(board.bench.model.design());
        let most = size.voters as usize;
        if ballots.len() > most {
            return Err(ErrorKind::TooManyBallots { ballots: ballots.len(), most }.into());
        }
        board.noise.fault = settings.noise;
        let (line, peripheral) = board.wires.split_at_mut(2);
        spoil(line, settings.wire, settings.cut);
        spoil(peripheral, settings.wire, false);
        let mut feeder = Feeder::new()?;
        let words = ballots.iter().map(|ballot| ballot.words(size.key_bits as usize / 8, size.marks));
        words.for_each(|words| feeder.send(&words));
        Ok(Self { board, feeder })
    }
}

impl Station for CountingStation {
    fn design(&self) -> &'static Design {
        self.board.bench.model.design()
    }

    fn terminal(&mut self) -> &mut Terminal {
        &mut self.board.terminal
    }

    fn step(&mut self) {
        let (ballots, cipo) = (self.feeder.to_tally(), self.board.cipo());
        self.feeder.step(cipo);
        self.board.step(ballots);
    }

    fn answered(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn reset(&mut self) {
        self.board.reset();
    }
}
