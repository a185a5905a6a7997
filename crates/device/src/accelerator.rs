//! The layer that all accelerators share: the registers and packets of
//! `docs/reference/registers.md`.

use std::fmt;

use hearith_arith::Batch;
use zeroize::Zeroizing;

use crate::registers::{self, Region};
use crate::{Error, ErrorKind, Exchange, Marks, Transport};

/// The lowest 16 bits of every packet's header.
const PACKET_MAGIC: u64 = 0x4548;
/// The most items of a packet: COUNT has 16 bits.
const LARGEST_PACKET: usize = u16::MAX as usize;
/// Index of the parameter that holds the bits of a beat, in every system.
const STREAM_BITS: usize = 3;
/// Most cycles without progress until the marks return. The device computes nothing for them.
const RESYNC_TIMEOUT_CYCLES: u64 = 100_000;
const ALL_BITS: u32 = u32::MAX;
/// The value that a bus reads where no device answers.
const BUS_GONE: u32 = u32::MAX;

/// Counts since the device's reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Clock cycles with anything in flight.
    pub busy_cycles: u64,
    /// Ciphertexts accepted.
    pub accepted: u64,
    /// Plaintexts delivered.
    pub delivered: u64,
    /// Products started, in the device's unit.
    pub products: u64,
    /// Whole packets discarded.
    pub discarded: u64,
}

/// A device behind the common register map.
pub(crate) struct Accelerator {
    transport: Box<dyn Transport>,
    parameters: [u32; 8],
    /// Bytes of a packet header.
    header: usize,
    /// The device's epoch, if driver and device are known to agree on where packets begin.
    epoch: Option<u16>,
    sequence: u16,
}

/// The shape of a batch on the streams.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Bits of a beat.
    pub(crate) stream_bits: u32,
    /// Bits of an input item.
    pub(crate) input_bits: u32,
    /// Bits of an output item.
    pub(crate) output_bits: u32,
    /// The most cycles without progress.
    pub(crate) quiet_cycles: u64,
}

impl Accelerator {
    /// Opens the device at the other end and drops everything in flight. Fails unless the device
    /// has this identity.
    pub(crate) fn open(
        mut transport: Box<dyn Transport>,
        name: &'static str,
        identity: [u8; 4],
    ) -> Result<Self, Error> {
        let found = transport.read(registers::IDENTITY)?;
        if found == BUS_GONE {
            return Err(ErrorKind::Vanished.into());
        }
        if found != u32::from_be_bytes(identity) {
            return Err(ErrorKind::WrongDevice { expected: name, found }.into());
        }
        let unknown = ErrorKind::UnknownParameters { name };
        if transport.read(registers::VERSION)? != registers::KNOWN_VERSION {
            return Err(unknown.into());
        }
        let mut parameters = [0; 8];
        for (address, parameter) in (registers::PARAMETERS..).step_by(4).zip(&mut parameters) {
            *parameter = transport.read(address)?;
        }
        let stream_bits = parameters[STREAM_BITS];
        if !(32..=1 << 16).contains(&stream_bits) || !stream_bits.is_multiple_of(32) {
            return Err(unknown.into());
        }
        let header = (64_u32.div_ceil(stream_bits) * stream_bits / 8) as usize;
        let mut device = Self { transport, parameters, header, epoch: None, sequence: 0 };
        device.synchronise()?;
        Ok(device)
    }

    pub(crate) fn describe(&self) -> String {
        self.transport.describe()
    }

    /// Reads a register. A single register may hold all ones; if IDENTITY does too, the device has
    /// vanished.
    fn read(&mut self, address: u32) -> Result<u32, Error> {
        let value = self.transport.read(address)?;
        if value == BUS_GONE && self.transport.read(registers::IDENTITY)? == BUS_GONE {
            return Err(ErrorKind::Vanished.into());
        }
        Ok(value)
    }

    pub(crate) fn parameters(&self) -> [u32; 8] {
        self.parameters
    }

    /// Writes the constants of a key and declares the key complete.
    ///
    /// Each constant comes with the number of its region and its width in bits, and is verified by
    /// the device's checksum. On failure the device is wiped.
    pub(crate) fn load_key<'a>(
        &mut self,
        constants: impl IntoIterator<Item = (u32, &'a [u64], u32)>,
    ) -> Result<(), Error> {
        let loaded = self.write_key(constants);
        if loaded.is_err() {
            let _ = self.wipe();
        }
        loaded
    }

    fn write_key<'a>(&mut self, constants: impl IntoIterator<Item = (u32, &'a [u64], u32)>) -> Result<(), Error> {
        // On a device in use, the first constant would begin another epoch.
        if self.read(registers::STATUS)? & registers::status::READY != 0 {
            self.wipe()?;
        }
        self.ready()?;
        for (region, limbs, bits) in constants {
            let words = limbs.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]).chain(std::iter::repeat(0));
            let addresses = (Region::address(region)..).step_by(4);
            let mut sum = Checksum::new();
            for (address, word) in addresses.zip(words).take(bits.div_ceil(32) as usize) {
                self.transport.write(address, word)?;
                sum.add(word);
            }
            if self.read(registers::KEY_CHECK)? != sum.finish() {
                return Err(ErrorKind::KeyNotLoaded { region }.into());
            }
        }
        self.start()
    }

    /// Selects an entry of the device's table and reads it.
    pub(crate) fn entry(&mut self, index: u32) -> Result<u32, Error> {
        self.transport.write(registers::INDEX, index)?;
        self.read(registers::VALUE)
    }

    /// Declares the constants complete: the device accepts items from now on.
    pub(crate) fn start(&mut self) -> Result<(), Error> {
        self.transport.write(registers::CONTROL, registers::control::READY)?;
        self.check()
    }

    /// Drops everything in flight and makes a device without a key accept items again, whatever its
    /// state.
    pub(crate) fn restart(&mut self) -> Result<(), Error> {
        self.synchronise()?;
        self.start()
    }

    /// Drops everything in flight; the constants stay.
    pub(crate) fn flush(&mut self) -> Result<(), Error> {
        self.synchronise().map(drop)
    }

    /// Clears the constants and drops everything in flight.
    pub(crate) fn wipe(&mut self) -> Result<(), Error> {
        self.epoch = None;
        self.transport.write(registers::CONTROL, registers::control::WIPE)?;
        match self.read(registers::STATUS)? & registers::status::READY {
            0 => Ok(()),
            _ => Err(ErrorKind::Refused { address: registers::CONTROL }.into()),
        }
    }

    pub(crate) fn counters(&mut self) -> Result<Counters, Error> {
        let addresses =
            [registers::BUSY, registers::ACCEPTED, registers::DELIVERED, registers::PRODUCTS, registers::DISCARDED];
        let mut values = [0; 5];
        for (address, value) in addresses.into_iter().zip(&mut values) {
            let low = self.read(address)?;
            *value = u64::from(low) | u64::from(self.read(address + 4)?) << 32;
        }
        let [busy_cycles, accepted, delivered, products, discarded] = values;
        Ok(Counters { busy_cycles, accepted, delivered, products, discarded })
    }

    /// Sends every row of a batch and returns the answers as rows of `limbs` limbs. On failure the
    /// device is flushed.
    pub(crate) fn process(&mut self, batch: &Batch, limbs: usize, shape: Shape) -> Result<Batch, Error> {
        let epoch = self.ready()?;
        let mut answers = Batch::zeros(batch.len(), limbs);
        for start in (0..batch.len()).step_by(LARGEST_PACKET) {
            let end = batch.len().min(start + LARGEST_PACKET);
            let answered = self.packet(&batch.range(start..end), epoch, shape);
            let output = answered.map_err(|error| self.recover(error))?;
            let packets = output[self.header..].chunks_exact(shape.bytes(shape.output_bits));
            for (row, packet) in answers.rows_mut().skip(start).zip(packets) {
                let (kept, beyond) = packet.split_at(packet.len().min(8 * row.len()));
                for (limb, piece) in row.iter_mut().zip(kept.chunks(8)) {
                    *limb = piece.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
                }
                // The device may be built for larger keys: the excess bytes must be 0, or the
                // number is no plaintext.
                if beyond.iter().any(|&byte| byte != 0) {
                    row.fill(u64::MAX);
                }
            }
        }
        Ok(answers)
    }

    /// Sends all rows in one packet and returns the answering packet, with its header verified.
    fn packet(&mut self, rows: &Batch, epoch: u16, shape: Shape) -> Result<Zeroizing<Vec<u8>>, Error> {
        let (input_item, output_item) = (shape.bytes(shape.input_bits), shape.bytes(shape.output_bits));
        let header = self.next_header(epoch, rows.len());
        let mut input = Zeroizing::new(vec![0; self.header + rows.len() * input_item]);
        input[..self.header].copy_from_slice(&header);
        for (packet, row) in input[self.header..].chunks_exact_mut(input_item).zip(rows.rows()) {
            let bytes = row.iter().flat_map(|limb| limb.to_le_bytes());
            packet.iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte);
        }
        let mut output = Zeroizing::new(vec![0; self.header + rows.len() * output_item]);
        self.transport.exchange(Exchange {
            input: &input,
            output: &mut output,
            header: self.header,
            input_item,
            output_item,
            quiet_cycles: shape.quiet_cycles,
        })?;
        if output[..self.header] != header {
            return Err(ErrorKind::WrongAnswer.into());
        }
        self.check()?;
        Ok(output)
    }

    /// The header of the next packet, in whole beats.
    fn next_header(&mut self, epoch: u16, count: usize) -> Vec<u8> {
        self.sequence = self.sequence.wrapping_add(1);
        let header = PACKET_MAGIC | u64::from(epoch) << 16 | u64::from(self.sequence) << 32 | (count as u64) << 48;
        let mut bytes = header.to_le_bytes().to_vec();
        bytes.resize(self.header, 0);
        bytes
    }

    /// Returns the device's epoch. Synchronises first unless both sides are known to agree.
    fn ready(&mut self) -> Result<u16, Error> {
        match self.epoch {
            Some(epoch) => Ok(epoch),
            None => self.synchronise(),
        }
    }

    /// Drops everything in flight.
    ///
    /// A flush gives packets a new epoch. Two marks follow, because the first may only end a packet
    /// that was left open. Everything before the echo of the second is ignored.
    fn synchronise(&mut self) -> Result<u16, Error> {
        self.epoch = None;
        let before = self.read(registers::EPOCH)?;
        self.transport.write(registers::CONTROL, registers::control::FLUSH)?;
        let epoch = self.read(registers::EPOCH)?;
        if epoch == before || epoch > u16::MAX.into() {
            return Err(ErrorKind::Refused { address: registers::CONTROL }.into());
        }
        let epoch = epoch as u16;
        let (first, echo) = (self.next_header(epoch, 0), self.next_header(epoch, 0));
        let input = [first, echo.clone()].concat();
        let marks = Marks { input: &input, packet: self.header, echo: &echo, quiet_cycles: RESYNC_TIMEOUT_CYCLES };
        self.transport.synchronise(marks)?;
        self.transport.write(registers::ERROR, ALL_BITS)?;
        self.check_causes()?;
        self.epoch = Some(epoch);
        Ok(epoch)
    }

    /// Fails unless the device accepts items and has recorded no error.
    fn check(&mut self) -> Result<(), Error> {
        self.check_causes()?;
        match self.read(registers::STATUS)? & registers::status::READY {
            0 => Err(ErrorKind::NotReady.into()),
            _ => Ok(()),
        }
    }

    fn check_causes(&mut self) -> Result<(), Error> {
        match self.read(registers::ERROR)? {
            0 => Ok(()),
            causes => Err(fault_of(causes).into()),
        }
    }

    /// Makes the device usable again if it still answers, and returns a more exact error if the
    /// device knows one.
    fn recover(&mut self, error: Error) -> Error {
        let epoch = self.epoch.take();
        let status = self.read(registers::STATUS);
        let now = self.read(registers::EPOCH);
        let causes = self.read(registers::ERROR);
        let exact = match (status, now, causes) {
            (Err(gone), ..) if matches!(gone.kind(), ErrorKind::Vanished) => gone,
            (_, Ok(now), _) if epoch.is_some_and(|epoch| now != u32::from(epoch)) => ErrorKind::WasReset.into(),
            (Ok(status), ..) if status & registers::status::READY == 0 => ErrorKind::NotReady.into(),
            (_, _, Ok(causes)) if causes != 0 => fault_of(causes).into(),
            _ => error,
        };
        // If this fails, it is repeated before the next batch.
        let _ = self.synchronise();
        exact
    }
}

/// The meaning of the causes in ERROR.
fn fault_of(causes: u32) -> ErrorKind {
    if causes & registers::error::BROKEN != 0 {
        return ErrorKind::Dropped;
    }
    let known = registers::CAUSES.iter().filter(|(bit, _)| causes & bit != 0).map(|&(_, cause)| cause);
    let names: Vec<&str> = known.collect();
    ErrorKind::Noted { causes: if names.is_empty() { format!("{causes:#x}") } else { names.join("; ") } }
}

/// CRC-32 of words, as the device's KEY_CHECK: IEEE 802.3, bytes in little-endian order. Time and
/// addresses do not depend on the words.
struct Checksum(u32);

impl Checksum {
    /// The polynomial, reflected.
    const POLYNOMIAL: u32 = 0xedb8_8320;

    fn new() -> Self {
        Self(u32::MAX)
    }

    fn add(&mut self, word: u32) {
        self.0 ^= word;
        for _ in 0..32 {
            self.0 = self.0 >> 1 ^ (Self::POLYNOMIAL & (self.0 & 1).wrapping_neg());
        }
    }

    fn finish(&self) -> u32 {
        !self.0
    }
}

impl Shape {
    /// Bytes of an item of `bits` bits, padded to whole beats.
    fn bytes(&self, bits: u32) -> usize {
        (bits.div_ceil(self.stream_bits) * self.stream_bits / 8) as usize
    }
}

impl fmt::Debug for Accelerator {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Accelerator").field("at", &self.describe()).field("parameters", &self.parameters).finish()
    }
}

impl Drop for Accelerator {
    /// Wipes the key from a device that still answers.
    fn drop(&mut self) {
        let _ = self.wipe();
    }
}

#[cfg(test)]
mod tests {
    use super::Checksum;

    /// The standard check value of CRC-32 is that of the digits 1 to 9. The values for four zero
    /// bytes and for no bytes are zlib's.
    #[test]
    fn the_checksum_is_that_of_zlib() {
        let of = |words: &[u32]| {
            let mut sum = Checksum::new();
            words.iter().for_each(|&word| sum.add(word));
            sum.finish()
        };
        assert_eq!(of(&[]), 0);
        assert_eq!(of(&[u32::from_le_bytes(*b"1234"), u32::from_le_bytes(*b"5678")]), 0x9ae0_daaf);
        assert_eq!(of(&[0]), 0x2144_df1c);
    }
}
