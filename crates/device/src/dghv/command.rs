//! The commands of the accelerator, and what its answers say.

use std::fmt;

use super::layout::Operand;
use crate::{Error, ErrorKind};

/// Words of data in a command and in an answer.
pub(super) const DATA_WORDS: usize = 8;
/// Words of a command.
pub(super) const COMMAND_WORDS: usize = 2 + DATA_WORDS;
/// Words of an answer.
pub(super) const ANSWER_WORDS: usize = 1 + DATA_WORDS;

/// The bits of an answer's first word that are the memory's, and where those that say how a
/// computation ended begin.
const MEMORY: u64 = 0xf;
const ENDING: u32 = 8;

/// What the device is told. Data that are shorter than eight words go on with zeros.
#[derive(Clone, Copy)]
pub(super) enum Command<'a> {
    /// The eight words at an address.
    Read { address: u32 },
    /// Eight words.
    Write { address: u32, data: &'a [u64] },
    /// An encryption.
    Encrypt(&'a Encryption),
    /// Zeros over so much of the memory.
    Wipe(Operand),
}

/// An encryption, of what lies in the memory.
pub(super) struct Encryption {
    /// By CMNT, or else by CNT.
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

/// The operation of a computation, and the numbers of computations.
const COMPUTE: u64 = 2;
const ENCRYPT_CNT: u64 = 2;
const ENCRYPT_CMNT: u64 = 3;
const WIPE: u64 = 4;

/// Two numbers of 32 bits as a word.
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

    /// Whether the command was carried out, by the first word of its answer.
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

/// What an accelerator finds wrong with what it is to encrypt with. The driver gives it nothing
/// such: it has come to it as something else, or its memory has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// Lengths that make no sense together.
    Sizes,
    /// The modulus has not its top bit, or has one above it; or the reciprocal is of another.
    Modulus,
    /// The sum is longer than coefficients and elements can make it.
    Sum,
    /// The sum is below zero.
    Negative,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unfit::Sizes => "it says that the lengths make no sense",
            Unfit::Modulus => "the modulus in its memory is another one, or the reciprocal is",
            Unfit::Sum => "the sum is too long, so the numbers in its memory are others",
            Unfit::Negative => "the sum is below zero, so the numbers in its memory are others",
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Every status there is gives its own error; what is none is no answer to this.
    #[test]
    fn every_status_is_understood() {
        let said = |status: u64| Command::Read { address: 0 }.check(status).map_err(|error| error.to_string());
        assert_eq!(said(0), Ok(()));
        let refused = |why: Unfit| Err(format!("the device rejects the encryption: {why}"));
        for (ending, why) in [(1, Unfit::Sizes), (2, Unfit::Modulus), (3, Unfit::Sum), (4, Unfit::Negative)] {
            assert_eq!(said(ending << 8), refused(why));
        }
        assert_eq!(said(1), Err("the device's memory did not answer in time while the device was reading".into()));
        assert_eq!(
            said(8 | 3),
            Err("the device's memory is not there at an address while the device was writing".into())
        );
        for strange in [1 << 4, 5 << 8, 6 << 8, 1 << 11, 1 << 63, 1 << 4 | 2 << 8] {
            assert_eq!(said(strange), Err("the device answered another request".into()), "{strange:#x}");
        }
    }
}
