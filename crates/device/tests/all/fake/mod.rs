//! A MESA in software: the register map and packets of `docs/reference/registers.md`, and a
//! decryptor. Like the hardware, it computes only with the constants that it was loaded with, so a
//! wrong constant causes wrong plaintexts.

pub mod faulty;

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use hearith_arith::natural::{add_assign, divide_exact, is_zero, sub_assign};
use hearith_arith::{Batch, Engine, Exponents, Modulus};

/// Bits of the largest key.
pub const BITS: u32 = 128;
/// Bytes of a header, of a ciphertext and of a plaintext on the streams, which are 64 bits wide.
pub const HEADER: usize = 8;
pub const CIPHERTEXT: usize = 2 * BITS as usize / 8;
pub const PLAINTEXT: usize = BITS as usize / 8;
/// Bits that the radix-2 multipliers scan, and bits of R.
const SCANNED: u32 = 2 * BITS + 2;
const R_BITS: u32 = 176;

/// Byte addresses of the register map.
pub mod register {
    pub const IDENTITY: u32 = 0x00;
    pub const VERSION: u32 = 0x04;
    pub const CAPABILITY: u32 = 0x08;
    pub const EPOCH: u32 = 0x0c;
    pub const CONTROL: u32 = 0x10;
    pub const STATUS: u32 = 0x14;
    pub const ERROR: u32 = 0x18;
    pub const INTERRUPT_ENABLE: u32 = 0x1c;
    pub const INTERRUPT: u32 = 0x20;
    pub const IN_FLIGHT: u32 = 0x24;
    pub const KEY_CHECK: u32 = 0x28;
    pub const INDEX: u32 = 0x2c;
    pub const VALUE: u32 = 0x30;
    pub const COUNTERS: u32 = 0x40;
    pub const PARAMETERS: u32 = 0x80;
    pub const REGIONS: u32 = 0x1_0000;
    pub const REGION_BYTES: u32 = 0x800;
    pub const WINDOW: u32 = 0x2_0000;
}

pub const READY: u32 = 1;
pub const FLUSH: u32 = 2;
pub const WIPE: u32 = 4;
pub const PACKET_MAGIC: u64 = 0x4548;

/// Causes in ERROR.
pub mod cause {
    pub const UNKNOWN: u32 = 1;
    pub const UNALIGNED: u32 = 1 << 1;
    pub const READ_ONLY: u32 = 1 << 3;
    pub const WRITE_ONLY: u32 = 1 << 4;
    pub const BEYOND: u32 = 1 << 5;
    pub const INCOMPLETE: u32 = 1 << 7;
    pub const FOREIGN: u32 = 1 << 8;
    pub const BROKEN: u32 = 1 << 9;
}

/// Regions of the key, by their number.
pub mod region {
    pub const P_SQUARE: u32 = 1;
    pub const P_ENTER: u32 = 2;
    pub const P_ONE: u32 = 3;
    pub const P_EXPONENT: u32 = 4;
    pub const P_PRIME: u32 = 5;
    pub const P_MERGED: u32 = 6;
    pub const MODULUS: u32 = 7;
    /// Steps of the two stages, each less 1.
    pub const STEPS: u32 = 15;
    /// Offset from a region of p to that of q.
    pub const Q: u32 = 8;
}

/// A refused access, reported as SLVERR on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

/// The reason why there is no plaintext.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Without {
    /// A constant makes the computation impossible.
    Plaintext,
    /// A power is not 1 modulo its prime: the device returns all ones.
    Ones,
}

/// The number added to a plaintext.
pub type Lie = Arc<dyn Fn(usize, [&[u64]; 2]) -> Vec<u64> + Send + Sync>;

/// The device.
pub struct FakeMesa {
    ready: bool,
    epoch: u16,
    error: u32,
    interrupt: u32,
    enabled: u32,
    crc: u32,
    high: u32,
    regions: Vec<[u32; 512]>,
    /// Words written since the constants were cleared.
    written: HashSet<(u32, u32)>,
    /// Packets accepted without a key: one waits, and the device accepts no more.
    waiting: VecDeque<Vec<u8>>,
    /// Packets ready to be read from the device.
    pub answers: VecDeque<Vec<u8>>,
    /// Counters: busy, accepted, delivered, products, discarded.
    counters: [u64; 5],
    /// The number added to a returned plaintext modulo n, by its index in the packet and by p and
    /// q.
    pub lie: Option<Lie>,
}

impl FakeMesa {
    /// A device after its reset.
    pub fn new() -> Self {
        Self {
            ready: false,
            epoch: 0,
            error: 0,
            interrupt: 0,
            enabled: 0,
            crc: 0,
            high: 0,
            regions: vec![[0; 512]; 32],
            written: HashSet::new(),
            waiting: VecDeque::new(),
            answers: VecDeque::new(),
            counters: [0; 5],
            lie: None,
        }
    }

    /// The values of PARAMETER 0 to 7.
    fn parameters() -> [u32; 8] {
        [BITS, 2, 0x1_0210, 64, R_BITS, SCANNED, 578, 0]
    }

    /// Words of a region; 0 if there is no such region.
    fn words(number: u32) -> u32 {
        let bits = match (number, number % region::Q) {
            (region::STEPS, _) => 32,
            (0..15, 4 | 5) => BITS / 2,
            (0..15, _) => BITS,
            _ => 0,
        };
        bits.div_ceil(32)
    }

    /// Whether every word of every region was written.
    fn is_whole(&self) -> bool {
        self.written.len() as u32 == (0..32).map(Self::words).sum::<u32>()
    }

    /// Records a cause.
    fn refuse<T>(&mut self, cause: u32) -> Result<T, Refused> {
        self.error |= cause;
        self.interrupt |= 1;
        Err(Refused)
    }

    /// Reads a register.
    pub fn read(&mut self, address: u32) -> Result<u32, Refused> {
        use register::*;
        if !address.is_multiple_of(4) {
            return self.refuse(cause::UNALIGNED);
        }
        let status =
            || u32::from(self.ready) | u32::from(!self.waiting.is_empty()) << 1 | u32::from(self.error != 0) << 3;
        Ok(match address {
            IDENTITY => u32::from_be_bytes(*b"MESA"),
            VERSION => 3,
            CAPABILITY => 15 | 2 << 8 | 1 << 17,
            EPOCH => self.epoch.into(),
            STATUS => status(),
            ERROR => self.error,
            INTERRUPT_ENABLE => self.enabled,
            INTERRUPT => self.interrupt,
            IN_FLIGHT => self.waiting.len() as u32,
            KEY_CHECK => self.crc,
            INDEX | VALUE => 0,
            COUNTERS..0x68 if address.is_multiple_of(8) => {
                let counter = self.counters[(address - COUNTERS) as usize / 8];
                self.high = (counter >> 32) as u32;
                counter as u32
            }
            COUNTERS..0x68 => self.high,
            PARAMETERS..0xa0 => Self::parameters()[(address - PARAMETERS) as usize / 4],
            CONTROL | REGIONS..WINDOW => return self.refuse(cause::WRITE_ONLY),
            _ => return self.refuse(cause::UNKNOWN),
        })
    }

    /// Writes a register.
    pub fn write(&mut self, address: u32, value: u32) -> Result<(), Refused> {
        use register::*;
        if !address.is_multiple_of(4) {
            return self.refuse(cause::UNALIGNED);
        }
        match address {
            CONTROL if value & (READY | WIPE) == READY && !self.is_whole() => return self.refuse(cause::INCOMPLETE),
            CONTROL => self.control(value),
            ERROR => self.error &= !value,
            INTERRUPT => self.interrupt &= !value,
            INTERRUPT_ENABLE => self.enabled = value & 7,
            INDEX => {}
            IDENTITY..0x68 | PARAMETERS..0xa0 => return self.refuse(cause::READ_ONLY),
            REGIONS..WINDOW => {
                let (number, word) = ((address - REGIONS) / REGION_BYTES, (address - REGIONS) % REGION_BYTES / 4);
                if word >= Self::words(number) {
                    return self.refuse(cause::BEYOND);
                }
                if self.ready {
                    self.control(WIPE);
                }
                self.written.insert((number, word));
                self.crc = crc(if word == 0 { 0 } else { self.crc }, value);
                self.regions[number as usize][word as usize] = value;
            }
            _ => return self.refuse(cause::UNKNOWN),
        }
        Ok(())
    }

    fn control(&mut self, value: u32) {
        if value & (FLUSH | WIPE) != 0 {
            self.epoch = self.epoch.checked_add(1).unwrap_or(1);
            self.waiting.clear();
            self.answers.clear();
        }
        if value & WIPE != 0 {
            self.regions.fill([0; 512]);
            self.written.clear();
            self.ready = false;
        } else if value & READY != 0 {
            self.ready = true;
            while let Some(packet) = self.waiting.pop_front() {
                self.answer(&packet);
            }
        }
        if value & (READY | WIPE) != 0 {
            self.crc = 0;
        }
    }

    /// Resets the device.
    pub fn reset(&mut self) {
        let lie = self.lie.take();
        *self = Self { lie, ..Self::new() };
    }

    /// Flips a bit of a constant in the device's own memory.
    pub fn flip(&mut self, region: u32, bit: u32) {
        self.regions[region as usize][bit as usize / 32] ^= 1 << (bit % 32);
    }

    /// Whether all constants are zero.
    pub fn is_wiped(&self) -> bool {
        !self.ready && self.regions.iter().flatten().all(|&word| word == 0)
    }

    /// Accepts a packet, whose last byte is in the beat with `tlast`. Without a key the packet
    /// waits, and the device accepts no more: later calls return false.
    pub fn take(&mut self, packet: &[u8]) -> bool {
        if !self.waiting.is_empty() {
            return false;
        }
        let header = packet.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
        let Some(header) =
            header.filter(|&header| header & 0xffff == PACKET_MAGIC && (header >> 16) as u16 == self.epoch)
        else {
            let _ = self.refuse::<()>(cause::FOREIGN);
            self.counters[4] += 1;
            return true;
        };
        if header >> 48 > 0 && !self.ready {
            self.waiting.push_back(packet.to_vec());
        } else {
            self.answer(packet);
        }
        true
    }

    /// Answers a packet that has the mark and the epoch.
    fn answer(&mut self, packet: &[u8]) {
        let count = usize::from(u16::from_le_bytes([packet[6], packet[7]]));
        let mut answer = packet[..HEADER].to_vec();
        let items = &packet[HEADER..];
        let whole = (items.len() / CIPHERTEXT).min(count);
        // A packet that is too long shows this in its last item, which is dropped.
        let good = if items.len() > count * CIPHERTEXT { count - usize::from(count > 0) } else { whole };
        for (number, item) in items.chunks_exact(CIPHERTEXT).take(good).enumerate() {
            let plaintext = self.decrypt(number, item);
            answer.extend_from_slice(&plaintext);
            for counter in [1, 2] {
                self.counters[counter] += 1;
            }
            self.counters[0] += 578;
        }
        if items.len() != count * CIPHERTEXT {
            let _ = self.refuse::<()>(cause::BROKEN);
            // The closing beat.
            answer.extend_from_slice(&[0; 8]);
        }
        self.interrupt |= 2;
        self.answers.push_back(answer);
    }

    /// The datapath's output for a ciphertext.
    fn decrypt(&self, number: usize, ciphertext: &[u8]) -> [u8; PLAINTEXT] {
        let c: Vec<u64> = ciphertext.chunks(8).map(limb_of).collect();
        // The datapath always has some output, even if a wrong constant makes the computation
        // impossible.
        let m = match self.plaintext(&c) {
            Ok(m) => m,
            Err(Without::Plaintext) => vec![7, 0],
            Err(Without::Ones) => return [u8::MAX; PLAINTEXT],
        };
        let m = match &self.lie {
            Some(lie) => {
                let modulus = Modulus::new(Engine::Serial, &self.constant(region::MODULUS)).unwrap();
                let [p, q] = [0, region::Q].map(|branch| self.constant(region::P_PRIME + branch));
                modulus.add(&row(&m), &modulus.reduce(&row(&lie(number, [&p, &q])))).row(0).to_vec()
            }
            None => m,
        };
        let mut bytes = [0; PLAINTEXT];
        for (piece, limb) in bytes.chunks_mut(8).zip(m) {
            piece.copy_from_slice(&limb.to_le_bytes());
        }
        bytes
    }

    fn plaintext(&self, c: &[u64]) -> Result<Vec<u64>, Without> {
        let n = Modulus::new(Engine::Serial, &self.constant(region::MODULUS)).map_err(|_| Without::Plaintext)?;
        let parts = [self.part(c, 0, &n), self.part(c, region::Q, &n)];
        let [p, q] = [parts[0].as_ref(), parts[1].as_ref()];
        match (p, q) {
            (Err(Without::Ones), _) | (_, Err(Without::Ones)) => Err(Without::Ones),
            _ => Ok(n.add(p.map_err(|&why| why)?, q.map_err(|&why| why)?).row(0).to_vec()),
        }
    }

    /// One branch's part of the plaintext modulo n.
    fn part(&self, c: &[u64], branch: u32, n: &Modulus) -> Result<Batch, Without> {
        let constant = |number: u32| self.constant(number + branch);
        let square = Modulus::new(Engine::Serial, &constant(region::P_SQUARE)).map_err(|_| Without::Plaintext)?;
        // Products of the two Montgomery multipliers: the one that scans bits, and that of the
        // ladders.
        let scanned = |m: &Modulus, a: &Batch, b: &Batch| m.mul(&m.mul(a, b), &halved(m, SCANNED));
        let entered = scanned(&square, &row(c), &row(&constant(region::P_ENTER)));
        let out = halved(&square, R_BITS);
        let exponent = [self.exponent(&constant(region::P_EXPONENT))];
        let power = square.pow(&square.mul(&entered, &out), Exponents::Shared(&exponent, BITS / 2));
        let one = square.mul(&square.reduce(&row(&constant(region::P_ONE))), &out);
        let mut x = square.mul(&power, &one).row(0).to_vec();
        sub_assign(&mut x, &[1]);
        let prime = constant(region::P_PRIME);
        if prime[0] % 2 == 0 {
            return Err(Without::Plaintext);
        }
        let rest = Modulus::new(Engine::Serial, &prime).map_err(|_| Without::Plaintext)?.reduce(&row(&x));
        if is_zero(rest.row(0)) == 0 {
            return Err(Without::Ones);
        }
        let l = divide_exact(&x, &prime, 2);
        Ok(scanned(n, &row(&l), &row(&constant(region::P_MERGED))))
    }

    /// The exponent that the two stages read from the constant. The first has a field of 33 bits,
    /// the second one of 31, and each reads its bits from the top.
    fn exponent(&self, constant: &[u64]) -> u64 {
        let steps = self.constant(region::STEPS)[0];
        let (first, second) = ((steps & 0xffff) as u32 + 1, (steps >> 16 & 0xffff) as u32);
        let top = |field: u64, width: u32, bits: u32| field >> (width - bits.min(width));
        let high = top(constant[0] >> 31, 33, first);
        let low = top(constant[0] & 0x7fff_ffff, 31, second);
        high << second.min(31) | low
    }

    /// The words of a region as limbs.
    fn constant(&self, number: u32) -> Vec<u64> {
        let words = &self.regions[number as usize][..Self::words(number) as usize];
        let high = |pair: &[u32]| pair.get(1).copied().map_or(0, u64::from);
        words.chunks(2).map(|pair| u64::from(pair[0]) | high(pair) << 32).collect()
    }
}

/// `2^-bits` modulo an odd number.
fn halved(m: &Modulus, bits: u32) -> Batch {
    let mut half = [m.as_limbs(), &[0]].concat();
    add_assign(&mut half, &[1]);
    let half: Vec<u64> =
        (0..half.len()).map(|limb| hearith_arith::natural::bits_at(&half, 64 * limb + 1, 64)).collect();
    m.pow(&row(&half), Exponents::Public(&[bits.into()]))
}

fn row(number: &[u64]) -> Batch {
    Batch::from_rows(number.len(), [number])
}

fn limb_of(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |limb, &byte| limb << 8 | u64::from(byte))
}

/// Updates a CRC-32 (IEEE 802.3, as in zlib) by a word, its low byte first.
pub fn crc(before: u32, word: u32) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    !(0..32).fold(!before ^ word, |crc, _| step(crc))
}
