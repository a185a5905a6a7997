//! The commands of the accelerator, and what its answers say.

use std::fmt;

use crate::{Error, ErrorKind};

/// Words of data in a command and in an answer.
pub(super) const DATA_WORDS: usize = 8;
/// Words of a command.
pub(super) const COMMAND_WORDS: usize = 2 + DATA_WORDS;
/// Words of an answer.
pub(super) const ANSWER_WORDS: usize = 1 + DATA_WORDS;

/// The bits of an answer's first word beside the memory's.
const MEMORY: u64 = 0xf;
const NO_ROOM: u64 = 1 << 6;

/// What the device is told. Data that are shorter than eight words go on with zeros.
#[derive(Clone, Copy)]
pub(super) enum Command<'a> {
    /// The eight words at an address.
    Read { address: u32 },
    /// Eight words.
    Write { address: u32, data: &'a [u64] },
    /// Eight words of the coefficient.
    Coefficient { group: u8, data: &'a [u64] },
    /// The number at the address, or zero if it is fresh, and the coefficient times an element of so many bits.
    Sum { address: u32, fresh: bool, bits: u32, index: u32 },
}

impl Command<'_> {
    /// Writes the command's words into a row of zeros.
    pub(super) fn write(&self, row: &mut [u64]) {
        let mut data_of = |data: &[u64]| row[2..][..data.len()].copy_from_slice(data);
        match *self {
            Command::Read { address } => row[1] = address.into(),
            Command::Write { address, data } => {
                data_of(data);
                (row[0], row[1]) = (1, address.into());
            }
            Command::Coefficient { group, data } => {
                data_of(data);
                row[0] = 2 | u64::from(group) << 16;
            }
            Command::Sum { address, fresh, bits, index } => {
                row[0] = 3 | u64::from(fresh) << 8 | u64::from(bits) << 32;
                row[1] = u64::from(address) | u64::from(index) << 32;
            }
        }
    }

    /// Whether the command was carried out, by the first word of its answer.
    pub(super) fn check(&self, status: u64) -> Result<(), Error> {
        match status {
            0 => Ok(()),
            status if status & MEMORY != 0 => {
                Err(ErrorKind::MemoryFailed { fault: MemoryFault::of(status & 7), writing: status & 8 != 0 }.into())
            }
            // The driver asks for none that does not fit: one that does not was another when it arrived.
            status if status == NO_ROOM => Err(ErrorKind::FailedCheck.into()),
            _ => Err(ErrorKind::WrongAnswer.into()),
        }
    }
}

/// What is wrong with an accelerator's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryFault {
    /// It did nothing for too long.
    Silent,
    /// It refused an access: SLVERR.
    Refused,
    /// There is no memory at an address: DECERR.
    Nowhere,
    /// It marked the last word of a burst elsewhere. Only a reset helps.
    Misplaced,
    /// It answered what nobody had asked. Only a reset helps.
    Unasked,
}

impl MemoryFault {
    fn of(code: u64) -> Self {
        match code {
            1 => MemoryFault::Silent,
            2 => MemoryFault::Refused,
            3 => MemoryFault::Nowhere,
            4 => MemoryFault::Misplaced,
            _ => MemoryFault::Unasked,
        }
    }
}

impl fmt::Display for MemoryFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MemoryFault::Silent => "did not answer in time",
            MemoryFault::Refused => "refused an access",
            MemoryFault::Nowhere => "is not there at an address",
            MemoryFault::Misplaced => "ended a burst elsewhere than it should",
            MemoryFault::Unasked => "answered what nobody had asked",
        })
    }
}
