//! The connection to a device.

use crate::{Error, ErrorKind};

/// A connection to a device: 32-bit registers, and a stream of packets in each direction.
///
/// The crate implements one, [`MemoryMapped`](crate::MemoryMapped). Implementations elsewhere
/// report their own errors as [`ErrorKind::Transport`].
pub trait Transport: Send {
    /// The location of the device, in words.
    fn describe(&self) -> String;

    /// Reads the register at a byte address.
    ///
    /// # Errors
    /// The device refuses the access or does not answer.
    fn read(&mut self, address: u32) -> Result<u32, Error>;

    /// Writes the register at a byte address. This call may not notice that the device refuses a
    /// write. The caller therefore reads the register ERROR afterwards.
    ///
    /// # Errors
    /// The device refuses the access or does not answer.
    fn write(&mut self, address: u32, value: u32) -> Result<(), Error>;

    /// Sends a packet and receives a packet at the same time. Returns when both have passed.
    ///
    /// # Errors
    /// - [`ErrorKind::Stalled`]: no progress in either direction for `quiet_cycles`
    /// - [`ErrorKind::CutShort`]: the packet from the device has the wrong length
    ///
    /// After an error, data may still be in flight in either direction.
    fn exchange(&mut self, exchange: Exchange<'_>) -> Result<(), Error>;

    /// Sends packets and drops everything received, truncated packets included, until the echo
    /// arrives.
    ///
    /// # Errors
    /// [`ErrorKind::Stalled`] after about `quiet_cycles`, even if other data arrived.
    fn synchronise(&mut self, marks: Marks<'_>) -> Result<(), Error>;
}

/// A packet to a device and the packet that answers it. Each consists of a header and items, all in
/// whole beats of the device's streams.
#[derive(Debug)]
pub struct Exchange<'a> {
    /// The packet to the device.
    pub input: &'a [u8],
    /// Buffer for the packet from the device, which must have exactly this length.
    pub output: &'a mut [u8],
    /// Bytes of the header, the same in both packets.
    pub header: usize,
    /// Bytes of an item of `input`, not 0.
    pub input_item: usize,
    /// Bytes of an item of `output`, not 0.
    pub output_item: usize,
    /// Most clock cycles of the device without progress.
    pub quiet_cycles: u64,
}

/// Packets of equal length. The device echoes the last, and possibly others.
#[derive(Debug)]
pub struct Marks<'a> {
    /// The packets to the device, back to back.
    pub input: &'a [u8],
    /// Bytes of each packet, not 0.
    pub packet: usize,
    /// The packet after which the device sends nothing more.
    pub echo: &'a [u8],
    /// Most clock cycles of the device until the echo.
    pub quiet_cycles: u64,
}

impl Exchange<'_> {
    /// The error of a device that stopped after `sent` bytes to it and `received` bytes from it.
    pub fn stalled(&self, sent: usize, received: usize) -> Error {
        let items = |bytes: usize, item: usize| bytes.saturating_sub(self.header) / item;
        let (sent, received) = (items(sent, self.input_item), items(received, self.output_item));
        ErrorKind::Stalled { sent, received, expected: items(self.input.len(), self.input_item) }.into()
    }

    /// The error of a packet from the device that ended, or should have ended, after `bytes` bytes.
    pub fn cut_short(&self, bytes: usize) -> Error {
        ErrorKind::CutShort { bytes, expected: self.output.len() }.into()
    }
}

impl Marks<'_> {
    /// The error of a device that accepted `sent` bytes and did not return the echo.
    pub fn stalled(&self, sent: usize) -> Error {
        let (sent, expected) = (sent / self.packet, self.input.len() / self.packet);
        ErrorKind::Stalled { sent, received: 0, expected }.into()
    }
}
