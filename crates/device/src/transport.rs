//! The connection to a device.

use crate::{Error, ErrorKind};

/// The way to a device: registers of 32 bits, and a stream of packets in each direction.
///
/// The crate has one, [`MemoryMapped`](crate::MemoryMapped); others can be written elsewhere, and
/// report what is their own as [`ErrorKind::Transport`].
pub trait Transport: Send {
    /// Where the device is, in words.
    fn describe(&self) -> String;

    /// Reads the register at a byte address.
    ///
    /// # Errors
    /// The device refuses or does not answer.
    fn read(&mut self, address: u32) -> Result<u32, Error>;

    /// Writes the register at a byte address. A write that the device refuses may go unnoticed
    /// here: who writes reads the register ERROR afterwards.
    ///
    /// # Errors
    /// The device refuses or does not answer.
    fn write(&mut self, address: u32, value: u32) -> Result<(), Error>;

    /// Sends a packet and takes a packet, both at the same time, until both have passed.
    ///
    /// # Errors
    /// [`ErrorKind::Stalled`] after `quiet_cycles` without progress in either direction,
    /// [`ErrorKind::CutShort`] if the packet from the device ends elsewhere than it should;
    /// something may then still be on its way in either direction.
    fn exchange(&mut self, exchange: Exchange<'_>) -> Result<(), Error>;

    /// Sends packets, and drops whatever comes, packets that were cut short included, until one has
    /// come that is the echo.
    ///
    /// # Errors
    /// [`ErrorKind::Stalled`] after about `quiet_cycles`, whatever came.
    fn synchronise(&mut self, marks: Marks<'_>) -> Result<(), Error>;
}

/// A packet to a device and the one that answers it. Each is a header and items, all of whole beats
/// of the device's streams.
#[derive(Debug)]
pub struct Exchange<'a> {
    /// The packet to the device.
    pub input: &'a [u8],
    /// Space for the packet from the device, which must have exactly this length.
    pub output: &'a mut [u8],
    /// Bytes of the header of either.
    pub header: usize,
    /// Bytes of an item of `input`, not 0.
    pub input_item: usize,
    /// Bytes of an item of `output`, not 0.
    pub output_item: usize,
    /// The most clock cycles of the device that may pass without progress.
    pub quiet_cycles: u64,
}

/// Packets of one length, of which the device echoes the last, and perhaps others.
#[derive(Debug)]
pub struct Marks<'a> {
    /// The packets to the device, back to back.
    pub input: &'a [u8],
    /// Bytes of each, not 0.
    pub packet: usize,
    /// The packet after which nothing more comes.
    pub echo: &'a [u8],
    /// The most clock cycles of the device that may pass.
    pub quiet_cycles: u64,
}

impl Exchange<'_> {
    /// The error of a device that stopped after so many bytes each way.
    pub fn stalled(&self, sent: usize, received: usize) -> Error {
        let items = |bytes: usize, item: usize| bytes.saturating_sub(self.header) / item;
        let (sent, received) = (items(sent, self.input_item), items(received, self.output_item));
        ErrorKind::Stalled { sent, received, expected: items(self.input.len(), self.input_item) }.into()
    }

    /// The error of a packet from the device that ended, or should have, after so many bytes.
    pub fn cut_short(&self, bytes: usize) -> Error {
        ErrorKind::CutShort { bytes, expected: self.output.len() }.into()
    }
}

impl Marks<'_> {
    /// The error of a device that took so many bytes and did not give the echo.
    pub fn stalled(&self, sent: usize) -> Error {
        let (sent, expected) = (sent / self.packet, self.input.len() / self.packet);
        ErrorKind::Stalled { sent, received: 0, expected }.into()
    }
}
