//! A serial NOR flash memory behind four wires.

use super::Random;

const PAGE: usize = 256;
const SECTOR: usize = 4096;

/// An operation in progress inside the chip.
#[derive(Clone, Debug)]
enum Work {
    /// Clears the bits that are 0 in the data.
    Program { base: usize, data: Vec<(usize, u8)> },
    /// Sets all bits of a sector.
    Erase { base: usize },
}

/// A serial NOR flash memory: the behaviour of a chip on its four wires (mode 0; reading, status,
/// page program, sector erase), and its content after a power failure.
#[derive(Debug)]
pub struct SerialFlash {
    /// Its bytes: all ones where erased.
    pub content: Vec<u8>,
    /// Decides which bits change when the power fails.
    pub random: Random,
    enabled: bool,
    work: Option<(Work, u64)>,
    /// Cycles of a program and of an erasure.
    pub times: [u64; 2],
    /// The chip never reports that it is ready.
    pub stuck: bool,
    /// In these pages, the bits of this mask cannot become 0 in any byte.
    pub worn: Option<(std::ops::Range<usize>, u8)>,
    /// The next programs, as many as this, have no effect, as if they had not been enabled.
    pub ineffective: u64,
    selected: bool,
    clock: bool,
    bits: usize,
    shift: u8,
    received: Vec<u8>,
    answer: u8,
    line: bool,
    /// Number of programs started.
    pub programs: u64,
}

impl SerialFlash {
    /// Creates an erased memory of whole sectors of 4096 bytes.
    pub fn new(bytes: usize, seed: u64) -> Self {
        Self {
            content: vec![0xff; bytes],
            random: Random::new(seed),
            enabled: false,
            work: None,
            times: [300, 900],
            stuck: false,
            worn: None,
            ineffective: 0,
            selected: false,
            clock: false,
            bits: 0,
            shift: 0,
            received: Vec::new(),
            answer: 0,
            line: false,
            programs: 0,
        }
    }

    /// Steps by a cycle with the given levels of the wires, and returns the level of the chip's
    /// output.
    ///
    /// # Panics
    /// If the command is invalid or not allowed now: the design is wrong.
    pub fn step(&mut self, cs_n: bool, sck: bool, copi: bool) -> bool {
        if let Some((work, left)) = &mut self.work {
            *left -= 1;
            if *left == 0 {
                let work = work.clone();
                self.work = None;
                self.finish(&work, 256);
            }
        }
        if cs_n && self.selected {
            self.execute();
        }
        if !cs_n && !self.selected {
            (self.bits, self.received) = (0, Vec::new());
        }
        self.selected = !cs_n;
        if self.selected && sck && !self.clock {
            self.shift = self.shift << 1 | u8::from(copi);
            self.bits += 1;
            if self.bits.is_multiple_of(8) {
                self.received.push(self.shift);
                self.answer = self.next_answer();
            }
        }
        // The output changes on the falling edge of the clock.
        if self.clock && !sck {
            self.line = self.answer >> (7 - self.bits % 8) & 1 == 1;
        }
        self.clock = sck;
        self.line
    }

    /// The byte sent while the next one is received.
    fn next_answer(&mut self) -> u8 {
        let busy = self.work.is_some() || self.stuck;
        match self.received[..] {
            [0x05, ..] => u8::from(busy) | u8::from(self.enabled) << 1,
            [0x03, a, b, c, ref after @ ..] => {
                assert!(!busy, "it is read while it is busy");
                let address = usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c);
                self.content[(address + after.len()) % self.content.len()]
            }
            _ => 0,
        }
    }

    /// Carries out the received command at its end.
    fn execute(&mut self) {
        let received = std::mem::take(&mut self.received);
        if !self.bits.is_multiple_of(8) {
            return;
        }
        match received[..] {
            [0x06] => self.enabled = true,
            [0x02, a, b, c, ref data @ ..] if !data.is_empty() => {
                assert!(self.enabled && self.work.is_none(), "a program that is not allowed");
                let address = usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c);
                let base = address / PAGE * PAGE;
                let data = data.iter().enumerate().map(|(at, &byte)| ((address + at) % PAGE, byte));
                let data = if self.ineffective == 0 { data.collect() } else { Vec::new() };
                self.ineffective = self.ineffective.saturating_sub(1);
                self.begin(Work::Program { base, data }, self.times[0]);
                self.programs += 1;
            }
            [0x20, a, b, c] => {
                assert!(self.enabled && self.work.is_none(), "an erasure that is not allowed");
                let address = usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c);
                self.begin(Work::Erase { base: address / SECTOR * SECTOR }, self.times[1]);
            }
            [0x03 | 0x05, ..] | [] => (),
            // The sender was reset in the middle of the command.
            [0x02, ref rest @ ..] if rest.len() < 4 => (),
            [0x20, ref rest @ ..] if rest.len() < 3 => (),
            ref other => panic!("the chip knows no command {other:x?}"),
        }
    }

    fn begin(&mut self, work: Work, time: u64) {
        self.enabled = false;
        self.work = Some((work, time));
    }

    /// Carries out an operation. Of the bits to change, `share` out of 256 do, at random.
    fn finish(&mut self, work: &Work, share: u64) {
        let random = &mut self.random;
        let mut some =
            |bits: u8| (0..8).filter(|_| random.next() % 256 < share).fold(0, |kept, bit| kept | bits & 1 << bit);
        match work {
            Work::Program { base, data } => {
                for &(place, byte) in data {
                    let worn =
                        self.worn.as_ref().filter(|(pages, _)| pages.contains(&(base / PAGE))).map_or(0, |worn| worn.1);
                    self.content[base + place] &= !some(!byte & !worn);
                }
            }
            Work::Erase { base } => {
                self.content[*base..base + SECTOR].iter_mut().for_each(|byte| *byte |= some(!*byte))
            }
        }
    }

    /// The power fails: the operation in progress is only partly done, from no bits to nearly all.
    pub fn fail(&mut self) {
        if let Some((work, _)) = self.work.take() {
            let share = [0, 2, 128, 250, 255][self.random.below(5) as usize];
            self.finish(&work, share);
        }
        (self.enabled, self.selected, self.clock) = (false, false, false);
        self.received.clear();
    }
}
