//! The encryptor board with its memory, its noise source, and a terminal.

use std::sync::Arc;

use hearith_device::ballot::{Constants, Setup, Size};
use hearith_device::{Error, ErrorKind};
use hearith_verilated::Design;
use hearith_verilated::bench::{Bench, SerialFlash};

use super::line::{Station, spoil};
use super::memory::Memory;
use super::noise::NoiseSource;
use super::settings::Settings;
use super::terminal::Terminal;
use super::wire::Wire;

/// Bytes of a page of the memory, the least that a ballot occupies.
const PAGE: u32 = 256;

/// Bytes of the memory for a ballot: key, voter, contest, ciphertexts and checksum, rounded up to a
/// power of two.
fn slot(design: &Design) -> usize {
    let words = 4 + design.parameter("Candidates") * design.parameter("N") / 32;
    (4 * words).next_power_of_two().max(PAGE) as usize
}

/// An encryptor board, its memory, its noise source, and its serial line with a terminal at the
/// other end.
///
/// The board starts from reset. The caller that steps it also handles the line to the tally board.
#[derive(Debug)]
pub struct EncryptorBoard {
    /// The board itself.
    pub bench: Bench,
    /// The memory of its log.
    pub flash: SerialFlash,
    /// The source of its randomness.
    pub noise: NoiseSource,
    /// The terminal that sends votes.
    pub terminal: Terminal,
    /// The wires from and to the terminal.
    pub wires: [Wire; 2],
    tag: u64,
}

/// The levels of the board's wires to the tally board.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct ToTally {
    pub cs_n: bool,
    pub sck: bool,
    pub copi: bool,
}

impl EncryptorBoard {
    /// Creates a board with an empty memory and faultless wires. The seed decides what a failing
    /// memory keeps.
    ///
    /// # Errors
    /// [`ErrorKind::Transport`] if the program was built without Verilator.
    pub fn new(design: &'static Design, seed: u64) -> Result<Self, Error> {
        let instantiate =
            |design: &'static Design| design.instantiate().map_err(|error| ErrorKind::Transport(Arc::new(error)));
        instantiate(Terminal::DESIGN)?;
        let mut bench = Bench::new(instantiate(design)?, seed);
        bench.model.set("tag_i", 1_u64);
        let wires = [1, 2].map(|wire| Wire::new(0.0, seed + wire));
        let flash = SerialFlash::new(slot(design) * design.parameter("Slots") as usize, seed);
        let terminal = Terminal::new(0x4000 + seed as u16);
        Ok(Self { bench, flash, noise: NoiseSource::new(), terminal, wires, tag: 1 })
    }

    /// The sizes that the board was built for.
    pub fn size(design: &Design) -> Size {
        Size {
            key_bits: design.parameter("N") / 2,
            contests: design.parameter("Contests") as usize,
            marks: design.parameter("Candidates") as usize,
            voters: design.parameter("Voters"),
        }
    }

    /// Sets the board up with an election's key, id and contests.
    ///
    /// # Errors
    /// Those of [`Size::check`] and [`Constants::new`].
    pub fn set_up(&mut self, setup: &Setup<'_>) -> Result<(), Error> {
        let model = &mut self.bench.model;
        Self::size(model.design()).check(setup)?;
        let key = Constants::new(setup.key, model.design().parameter("Digit"))?;
        let numbers = [
            ("modulus_i", key.modulus),
            ("inverse_i", key.inverse),
            ("enter_i", key.enter),
            ("zero_i", key.zero),
            ("one_i", key.one),
            ("plus_i", key.plus),
            ("minus_i", key.minus),
            ("base_i", key.base),
            ("n_i", key.n),
            ("h_i", key.h),
            ("election_i", limbs(&setup.election)),
        ];
        numbers.iter().for_each(|(port, number)| model.set_limbs(port, number));
        // A contest that does not exist has no candidates.
        for (contest, rules) in setup.contests.iter().enumerate() {
            let limits = [("candidates_i", rules.marks), ("most_i", rules.most), ("least_i", rules.least)];
            for (port, limit) in limits {
                model.set(&format!("{port}[{}:{}]", 8 * contest + 7, 8 * contest), limit as u64);
            }
        }
        Ok(())
    }

    /// The levels of the board's wires to the tally board.
    pub fn to_tally(&self) -> ToTally {
        let bit = |port: &str| self.bench.model.bit(port);
        ToTally { cs_n: bit("cs_no"), sck: bit("sck_o"), copi: bit("copi_o") }
    }

    /// Steps the board and its terminal by a cycle. `cipo` is the level of the wire from the tally
    /// board, low if there is none.
    pub fn step(&mut self, cipo: bool) {
        let bit = |port: &str| self.bench.model.bit(port);
        let (said, flash) = (bit("tx_o"), ["flash_cs_no", "flash_sck_o", "flash_copi_o"].map(bit));
        let from_terminal = self.wires[0].carry(self.terminal.level());
        let from_board = self.wires[1].carry(said);
        let flash = self.flash.step(flash[0], flash[1], flash[2]);
        let noise = self.noise.bit();
        let inputs = [
            ("rx_i", from_terminal),
            ("cipo_i", cipo),
            ("flash_cipo_i", flash),
            ("noise_i", noise.unwrap_or_default()),
            ("noise_valid_i", noise.is_some()),
        ];
        inputs.into_iter().for_each(|(port, level)| self.bench.model.set(port, level));
        self.bench.step();
        self.terminal.step(from_board);
    }

    /// Resets the board. With `power`, its power and that of its memory fail.
    pub fn reset(&mut self, power: bool) {
        if power {
            self.flash.fail();
        }
        self.tag += 1;
        self.bench.reset();
        self.bench.model.set("tag_i", self.tag);
    }
}

/// The board at which voters vote, without a tally board. The content of its memory can be saved.
#[derive(Debug)]
pub(super) struct PollingStation {
    board: EncryptorBoard,
    memory: Option<Memory>,
}

impl PollingStation {
    /// A board whose memory and wires follow the settings.
    pub(super) fn new(mut board: EncryptorBoard, settings: &Settings) -> Result<Self, Error> {
        let open = |path: &std::path::PathBuf| Memory::open(path, &mut board.flash.content);
        let memory = settings.flash.as_ref().map(open).transpose()?;
        board.noise.fault = settings.noise;
        spoil(&mut board.wires, settings.wire, settings.cut);
        Ok(Self { board, memory })
    }
}

impl Station for PollingStation {
    fn design(&self) -> &'static Design {
        self.board.bench.model.design()
    }

    fn terminal(&mut self) -> &mut Terminal {
        &mut self.board.terminal
    }

    fn step(&mut self) {
        // There is no tally board.
        self.board.step(false);
    }

    /// Saves the memory before a message is heard, so that the board's statements about it are
    /// true.
    fn answered(&mut self) -> Result<(), Error> {
        self.memory.as_mut().map_or(Ok(()), |memory| memory.keep(&self.board.flash.content))
    }

    fn reset(&mut self) {
        self.board.reset(false);
    }
}

/// Limbs of a big-endian number.
pub(super) fn limbs(bytes: &[u8]) -> Vec<u64> {
    bytes.rchunks(8).map(|limb| limb.iter().fold(0, |number, &byte| number << 8 | u64::from(byte))).collect()
}
