//! What all accelerators have in common: the registers of `rtl/lib/accelerator_registers.sv` and batches over the streams.

use std::fmt;

use hearith_arith::Batch;
use zeroize::Zeroizing;

use crate::{Error, ErrorKind, Exchange, Transport};

const IDENTITY: u32 = 0x00;
const VERSION: u32 = 0x04;
const PARAMETERS: u32 = 0x20;
const CONTROL: u32 = 0x40;
const STATUS: u32 = 0x44;
const COUNTERS: u32 = 0x50;
const KEY: u32 = 0x1_0000;
/// Bytes between two constants of the key memory.
const KEY_STRIDE: u32 = 0x800;

const KEY_COMPLETE: u32 = 1;
const FLUSH: u32 = 2;
const WIPE: u32 = 4;
const PACKET_DROPPED: u32 = 4;

/// The version of the register map that this driver knows.
const KNOWN_VERSION: u32 = 1;

/// What a device has counted since its reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Clock cycles with anything in flight.
    pub busy_cycles: u64,
    /// Ciphertexts taken in.
    pub accepted: u64,
    /// Plaintexts given out.
    pub delivered: u64,
    /// Products started, in the unit of the device.
    pub products: u64,
}

/// A device behind the common register map.
pub(crate) struct Accelerator {
    transport: Box<dyn Transport>,
    parameters: [u32; 8],
}

/// The shape of a batch on the streams.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Bits of a beat.
    pub(crate) stream_bits: u32,
    /// Bits of an item to the device.
    pub(crate) input_bits: u32,
    /// Bits of an item from it.
    pub(crate) output_bits: u32,
    /// The most cycles without progress.
    pub(crate) quiet_cycles: u64,
}

impl Accelerator {
    /// The device at the other end, which must have this identity.
    pub(crate) fn open(
        mut transport: Box<dyn Transport>,
        name: &'static str,
        identity: &[u8; 4],
    ) -> Result<Self, Error> {
        let found = transport.read(IDENTITY)?;
        if found != u32::from_be_bytes(*identity) {
            return Err(ErrorKind::WrongDevice { expected: name, found }.into());
        }
        if transport.read(VERSION)? != KNOWN_VERSION {
            return Err(ErrorKind::UnknownParameters { name }.into());
        }
        let mut parameters = [0; 8];
        for (address, parameter) in (PARAMETERS..).step_by(4).zip(&mut parameters) {
            *parameter = transport.read(address)?;
        }
        Ok(Self { transport, parameters })
    }

    pub(crate) fn describe(&self) -> String {
        self.transport.describe()
    }

    pub(crate) fn parameters(&self) -> [u32; 8] {
        self.parameters
    }

    /// Writes the constants of a key, by their number in the key memory, and declares it complete.
    pub(crate) fn load_key<'a>(
        &mut self,
        constants: impl IntoIterator<Item = (u32, &'a [u64], u32)>,
    ) -> Result<(), Error> {
        for (number, limbs, bits) in constants {
            let words = limbs.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]).chain(std::iter::repeat(0));
            let addresses = (KEY + number * KEY_STRIDE..).step_by(4);
            for (address, word) in addresses.zip(words).take(bits.div_ceil(32) as usize) {
                self.transport.write(address, word)?;
            }
        }
        self.transport.write(CONTROL, KEY_COMPLETE)
    }

    /// Writes the first word of the key memory, with which a device that has no key selects something.
    pub(crate) fn select(&mut self, number: u32) -> Result<(), Error> {
        self.transport.write(KEY, number)
    }

    /// Reads a parameter that may have changed since the device was opened.
    pub(crate) fn parameter(&mut self, index: usize) -> Result<u32, Error> {
        self.transport.read(PARAMETERS + 4 * index as u32)
    }

    /// Lets a device that has no key begin.
    pub(crate) fn start(&mut self) -> Result<(), Error> {
        self.transport.write(CONTROL, KEY_COMPLETE)
    }

    /// Clears the key memory and drops what is in flight.
    pub(crate) fn wipe(&mut self) -> Result<(), Error> {
        self.transport.write(CONTROL, WIPE)
    }

    pub(crate) fn counters(&mut self) -> Result<Counters, Error> {
        let mut values = [0; 4];
        for (address, value) in (COUNTERS..).step_by(8).zip(&mut values) {
            let low = self.transport.read(address)?;
            *value = u64::from(low) | u64::from(self.transport.read(address + 4)?) << 32;
        }
        let [busy_cycles, accepted, delivered, products] = values;
        Ok(Counters { busy_cycles, accepted, delivered, products })
    }

    /// Sends every row of a batch, and gives the answers as rows of `limbs` limbs. When that fails the device is flushed.
    pub(crate) fn process(&mut self, batch: &Batch, limbs: usize, shape: Shape) -> Result<Batch, Error> {
        let (input_packet, output_packet) = (shape.packet(shape.input_bits), shape.packet(shape.output_bits));
        let mut input = vec![0; batch.len() * input_packet];
        for (packet, row) in input.chunks_exact_mut(input_packet).zip(batch.rows()) {
            let bytes = row.iter().flat_map(|limb| limb.to_le_bytes());
            packet.iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte);
        }
        let mut output = Zeroizing::new(vec![0; batch.len() * output_packet]);
        let (input, quiet_cycles) = (&input[..], shape.quiet_cycles);
        let exchange = Exchange { input, input_packet, output: &mut output, output_packet, quiet_cycles };
        if let Err(error) = self.transport.exchange(exchange) {
            return Err(self.recover(error));
        }
        let mut answers = Batch::zeros(batch.len(), limbs);
        for (row, packet) in answers.rows_mut().zip(output.chunks_exact(output_packet)) {
            let (kept, beyond) = packet.split_at(packet.len().min(8 * row.len()));
            for (limb, piece) in row.iter_mut().zip(kept.chunks(8)) {
                *limb = piece.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
            }
            // A device for larger keys: what is beyond must be 0, or the number is no plaintext.
            if beyond.iter().any(|&byte| byte != 0) {
                row.fill(u64::MAX);
            }
        }
        Ok(answers)
    }

    /// Makes the device usable again if it still answers, and says what went wrong more exactly if it knows.
    fn recover(&mut self, error: Error) -> Error {
        let status = self.transport.read(STATUS);
        let _ = self.transport.write(CONTROL, FLUSH);
        match status {
            Ok(status) if status & PACKET_DROPPED != 0 => ErrorKind::Dropped.into(),
            _ => error,
        }
    }
}

impl Shape {
    /// Bytes of a packet of so many bits, padded to whole beats.
    fn packet(&self, bits: u32) -> usize {
        (bits.div_ceil(self.stream_bits) * self.stream_bits / 8) as usize
    }
}

impl fmt::Debug for Accelerator {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Accelerator").field("at", &self.describe()).field("parameters", &self.parameters).finish()
    }
}

impl Drop for Accelerator {
    /// Leaves no key behind on a device that still answers.
    fn drop(&mut self) {
        let _ = self.wipe();
    }
}
