//! The accelerator's commands, and the status words of its answers.

use std::fmt;

use super::layout::Operand;
use crate::{Error, ErrorKind};

/// Words of data in a command and in an answer.
pub(super) const DATA_WORDS: usize = 8;
/// Words of a command.
pub(super) const COMMAND_WORDS: usize = 2 + DATA_WORDS;
/// Words of an answer.
pub(super) const ANSWER_WORDS: usize = 1 + DATA_WORDS;

/// Bits of an answer's first word: those of the memory's status, and the position from which the
/// computation's status is stored.
const MEMORY: u64 = 0xf;
const ENDING: u32 = 8;

/// A command to the device. Data shorter than eight words are padded with zeros.
#[derive(Clone, Copy)]
pub(super) enum Command<'a> {
    /// Reads the eight words at an address.
    Read { address: u32 },
    /// Writes eight words.
    Write { address: u32, data: &'a [u64] },
    /// Encrypts.
    Encrypt(&'a Encryption),
    /// Overwrites a range of the memory with zeros.
    Wipe(Operand),
}

/// An encryption with operands in the memory.
pub(super) struct Encryption {
    /// True for CMNT, false for CNT.
    pub(super) quadratic: bool,
    pub(super) coefficients: Operand,
    pub(super) corrections: Operand,
    pub(super) result: u32,
    pub(super) modulus: u32,
    pub(super) reciprocal: u32,
    pub(super) bits: u32,
    pub(super) excess: u32,
    pub(super) elements: u32,
    pub(super) noise: Operand,
    pub(super) scratch: Operand,
}

/// The operation code of a computation, and the codes of the computations.
const COMPUTE: u64 = 2;
const ENCRYPT_CNT: u64 = 2;
const ENCRYPT_CMNT: u64 = 3;
const WIPE: u64 = 4;

/// Packs two 32-bit numbers into a word.
fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

impl Command<'_> {
    /// Writes the command's words into a row of zeros.
    pub(super) fn write(&self, row: &mut [u64]) {
        let operand = |operand: Operand| pair(operand.at, operand.words);
        match *self {
            Command::Read { address } => row[1] = address.into(),
            Command::Write { address, data } => {
                row[2..][..data.len()].copy_from_slice(data);
                (row[0], row[1]) = (1, address.into());
            }
            Command::Encrypt(encryption) => {
                let Encryption { coefficients, corrections, result, modulus, .. } = *encryption;
                let Encryption { reciprocal, bits, excess, elements, noise, scratch, .. } = *encryption;
                row[0] = COMPUTE | (if encryption.quadratic { ENCRYPT_CMNT } else { ENCRYPT_CNT }) << 8;
                row[2..9].copy_from_slice(&[
                    operand(coefficients),
                    operand(corrections),
                    pair(result, modulus),
                    pair(reciprocal, bits),
                    pair(excess, elements),
                    operand(noise),
                    operand(scratch),
                ]);
            }
            Command::Wipe(scratch) => (row[0], row[8]) = (COMPUTE | WIPE << 8, operand(scratch)),
        }
    }

    /// Checks by the first word of its answer that the command was carried out.
    pub(super) fn check(&self, status: u64) -> Result<(), Error> {
        let refused = |why| Err(ErrorKind::EncryptionRefused { why }.into());
        match status {
            0 => Ok(()),
            status if status & MEMORY != 0 => {
                Err(ErrorKind::MemoryFailed { fault: MemoryFault::of(status & 7), writing: status & 8 != 0 }.into())
            }
            status if status >> ENDING << ENDING == status => match status >> ENDING {
                1 => refused(Unfit::Sizes),
                2 => refused(Unfit::Modulus),
                3 => refused(Unfit::Sum),
                4 => refused(Unfit::Negative),
                _ => Err(ErrorKind::WrongAnswer.into()),
            },
            _ => Err(ErrorKind::WrongAnswer.into()),
        }
    }
}

/// The reason why an accelerator refuses to encrypt with its input. The driver never sends such
/// input: it was damaged on the way, or the memory has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// The lengths contradict each other.
    Sizes,
    /// The modulus has a clear top bit or a bit above it, or the reciprocal belongs to another
    /// modulus.
    Modulus,
    /// The sum is longer than any sum of such coefficients and elements.
    Sum,
    /// The sum is negative.
    Negative,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unfit::Sizes => "the lengths are inconsistent",
            Unfit::Modulus => "the modulus or the reciprocal in its memory is wrong",
            Unfit::Sum => "the sum is too long, so the numbers in its memory are wrong",
            Unfit::Negative => "the sum is below zero, so the numbers in its memory are wrong",
        })
    }
}

/// A fault of an accelerator's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryFault {
    /// It made no progress for too long.
    Silent,
    /// It rejected an access: SLVERR.
    Refused,
    /// There is no memory at an address: DECERR.
    Nowhere,
    /// It marked the wrong word as the last of a burst. Only a reset helps.
    Misplaced,
    /// It sent an answer without a request. Only a reset helps.
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
            MemoryFault::Refused => "rejected an access",
            MemoryFault::Nowhere => "reported an address that does not exist",
            MemoryFault::Misplaced => "ended a burst in the wrong place",
            MemoryFault::Unasked => "answered without a request",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every known status maps to its own error; an unknown status is a wrong answer.
    #[test]
    fn every_status_is_understood() {
        let checked = |status: u64| Command::Read { address: 0 }.check(status).map_err(|error| error.to_string());
        assert_eq!(checked(0), Ok(()));
        let refused = |why: Unfit| Err(format!("the device rejects the encryption: {why}"));
        for (ending, why) in [(1, Unfit::Sizes), (2, Unfit::Modulus), (3, Unfit::Sum), (4, Unfit::Negative)] {
            assert_eq!(checked(ending << 8), refused(why));
        }
        assert_eq!(checked(1), Err("the device's memory did not answer in time while the device was reading".into()));
        assert_eq!(
            checked(8 | 3),
            Err("the device's memory reported an address that does not exist while the device was writing".into())
        );
        for strange in [1 << 4, 5 << 8, 6 << 8, 1 << 11, 1 << 63, 1 << 4 | 2 << 8] {
            assert_eq!(checked(strange), Err("the device answered another request".into()), "{strange:#x}");
        }
    }
}
