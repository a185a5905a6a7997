//! How a device is reached.

use crate::{Error, ErrorKind};

/// The way to a device: registers of 32 bits, and a stream of packets in each direction.
///
/// The crate has one, [`MemoryMapped`](crate::MemoryMapped); others can be written elsewhere, and report what is their own as
/// [`ErrorKind::Transport`].
pub trait Transport: Send {
    /// Where the device is, in words.
    fn describe(&self) -> String;

    /// Reads the register at a byte address.
    ///
    /// # Errors
    /// The device refuses or does not answer.
    fn read(&mut self, address: u32) -> Result<u32, Error>;

    /// Writes the register at a byte address.
    ///
    /// # Errors
    /// The device refuses or does not answer.
    fn write(&mut self, address: u32, value: u32) -> Result<(), Error>;

    /// Sends packets and takes packets, both at the same time, until all have passed.
    ///
    /// # Errors
    /// [`ErrorKind::Stalled`] after `quiet_cycles` without progress in either direction, [`ErrorKind::CutShort`]; the
    /// device may then still have something in flight.
    fn exchange(&mut self, exchange: Exchange<'_>) -> Result<(), Error>;
}

/// Packets to a device and from it; all of one direction have the same length, which is a whole number of the device's beats.
#[derive(Debug)]
pub struct Exchange<'a> {
    /// Packets to the device, back to back.
    pub input: &'a [u8],
    /// Bytes of each, not 0.
    pub input_packet: usize,
    /// Space for the packets from the device, back to back.
    pub output: &'a mut [u8],
    /// Bytes of each, not 0.
    pub output_packet: usize,
    /// The most clock cycles of the device that may pass without progress.
    pub quiet_cycles: u64,
}

impl Exchange<'_> {
    /// The error of a device that stopped after so many bytes each way.
    pub fn stalled(&self, sent: usize, received: usize) -> Error {
        let (sent, received) = (sent / self.input_packet, received / self.output_packet);
        ErrorKind::Stalled { sent, received, expected: self.input.len() / self.input_packet }.into()
    }
}
