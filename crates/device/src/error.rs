//! What can go wrong with a device. No error carries key material or a plaintext.

use hearith_verilated::NoVerilator;
use thiserror::Error;

/// A device, or the way to it, failed. Nothing of a batch is given out then; the device has been flushed and can be used again unless it
/// has stopped answering.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeviceError {
    /// The operating system refuses.
    #[error("{what}: {reason}")]
    Io {
        /// What was attempted.
        what: String,
        /// Why it failed.
        reason: String,
    },
    /// A register access got no answer.
    #[error("the device does not answer (register {address:#x})")]
    Silent {
        /// Byte address of the register.
        address: u32,
    },
    /// The device refused a register access: no such register, or not now.
    #[error("the device refuses access to register {address:#x}")]
    Refused {
        /// Byte address of the register.
        address: u32,
    },
    /// The streams made no progress for longer than the device may take.
    #[error("the device stopped: it took {sent} and gave {received} of {expected} packets")]
    Stalled {
        /// Packets that it took.
        sent: usize,
        /// Packets that it gave.
        received: usize,
        /// Packets sent to it.
        expected: usize,
    },
    /// A packet from the device was shorter or longer than it should be.
    #[error("the device's stream was cut: packet {packet} ended after {bytes} of {expected} bytes")]
    CutShort {
        /// Number of the packet, from 0.
        packet: usize,
        /// Bytes that came.
        bytes: usize,
        /// Bytes that should have come.
        expected: usize,
    },
    /// A packet to the device was shorter or longer than it should be when it arrived there.
    #[error("the device dropped a packet of the wrong length: the stream to it was cut")]
    Dropped,
    /// Something else answers than the device that is driven.
    #[error("not a {expected}: its identity is {found:#010x}")]
    WrongDevice {
        /// Name of the device expected.
        expected: &'static str,
        /// Identity read.
        found: u32,
    },
    /// The device's register map or parameters are not those that this driver knows.
    #[error("{name} has parameters that this driver does not know")]
    UnknownParameters {
        /// Name of the device.
        name: &'static str,
    },
    /// The key is larger than the device was built for.
    #[error("a key of {bits} bits does not fit: the device takes at most {largest}")]
    KeyTooLarge {
        /// Size of the key.
        bits: u32,
        /// Size of the largest that fits.
        largest: u32,
    },
    /// A batch came before a key.
    #[error("the device has no key")]
    NoKey,
    /// The device gave a number that is no plaintext.
    #[error("the device gave what is no plaintext, at row {row}")]
    NotAPlaintext {
        /// Row of the batch, from 0.
        row: usize,
    },
    /// The device is of a kind that decrypts nothing.
    #[error("the device {name} decrypts nothing")]
    DecryptsNothing {
        /// Name of the device.
        name: &'static str,
    },
    /// No simulated residue bank has these moduli and takes numbers of this length.
    #[error(
        "no simulated residue bank has these {moduli} moduli for numbers of {bits} bits (the largest takes {largest} bits)"
    )]
    NoResidueBank {
        /// How many moduli were asked for.
        moduli: usize,
        /// Bits of a number.
        bits: u32,
        /// Bits of a number that the largest bank takes.
        largest: u32,
    },
    /// The residue bank was not built for this modulus.
    #[error("the residue bank has no unit for the modulus {modulus}")]
    NotAModulus {
        /// The modulus.
        modulus: u64,
    },
    /// A number is longer than the residue bank takes.
    #[error("row {}: the number is longer than the {bits} bits that the residue bank takes", row + 1)]
    NumberTooLong {
        /// Row of the batch, from 0.
        row: usize,
        /// Bits of a number that it takes.
        bits: u32,
    },
    /// The device gave a number that is not below its modulus.
    #[error("row {}: the device gave what is no residue modulo {modulus}", row + 1)]
    NotAResidue {
        /// Row of the batch, from 0.
        row: usize,
        /// The modulus.
        modulus: u64,
    },
    /// The batch is not one for this key.
    #[error(transparent)]
    Operation(#[from] hearith_paillier::Error),
    /// The simulated device is missing.
    #[error(transparent)]
    NoModel(#[from] NoVerilator),
}
