//! The format of commands and answers (`rtl/coproc/README.md`).

use std::fmt;

use hearith_arith::Batch;
use zeroize::Zeroizing;

use super::parameters::CoprocParameters;
use crate::{Error, ErrorKind};

/// The operation of a command on its operands `x` and `y`, modulo `n^2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Operation {
    /// `x y`.
    Multiply = 1,
    /// `x^y`, with the low bits of `y` that the command's length selects.
    Power = 2,
    /// `x^n (1 + y n)`, `x` and `y` below `n`.
    Encrypt = 3,
    /// `x^n y`, `x` below `n`.
    Rerandomise = 4,
    /// `h^y (1 + x n)` with the comb's base `h`, `x` below `n`.
    CombEncrypt = 5,
    /// `h^y x`.
    CombRerandomise = 6,
    /// Multiplies the running product of a group, initially 1, by `x`.
    Accumulate = 7,
    /// Raises the running product to the power `2^l` and multiplies it by `x^y`, where `l` is the
    /// length rounded up to a multiple of 4.
    ///
    /// Exponents of any length are sent in pieces, the highest first.
    Continue = 8,
    /// Returns the running product of a group and resets it to 1.
    Total = 9,
    /// Sets the comb entry given by the group number to `x`.
    SetComb = 10,
    /// `x` to the power of the secret exponent that was loaded with the key.
    Decrypt = 11,
}

/// The reason why the device refuses a command. It carries out the other commands of the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The device does not know the command.
    Unknown,
    /// The first operand is at or above its modulus.
    FirstOperand,
    /// The second operand is at or above its modulus.
    SecondOperand,
    /// The exponent has no bits or too many.
    Length,
    /// The modulus is even.
    EvenModulus,
    /// The modulus is shorter than the device's length.
    ShortModulus,
    /// The group does not exist.
    Group,
    /// Data that the command needs are missing: the group is empty, the comb is incomplete, or no
    /// secret exponent was loaded.
    Missing,
}

impl Refusal {
    /// Parses the code of an answer.
    fn of(code: u8) -> Option<Self> {
        let refusals = [
            Refusal::Unknown,
            Refusal::FirstOperand,
            Refusal::SecondOperand,
            Refusal::Length,
            Refusal::EvenModulus,
            Refusal::ShortModulus,
            Refusal::Group,
            Refusal::Missing,
        ];
        refusals.get(usize::from(code).checked_sub(1)?).copied()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::Unknown => "it does not know the command",
            Refusal::FirstOperand => "the first operand is not below its modulus",
            Refusal::SecondOperand => "the second operand is not below its modulus",
            Refusal::Length => "the exponent is empty or too long",
            Refusal::EvenModulus => "the modulus is even",
            Refusal::ShortModulus => "the modulus does not have the device's length",
            Refusal::Group => "it has no such group",
            Refusal::Missing => "the group is empty, or the comb or the secret exponent is not loaded",
        })
    }
}

/// A result in limbs, the least significant first, wiped when dropped.
pub type Number = Zeroizing<Vec<u64>>;

/// A command. Operands are limbs, the least significant first, and may be shorter than the device's
/// operands.
#[derive(Clone, Copy)]
pub struct Command<'a> {
    /// The operation.
    pub operation: Operation,
    /// Bits of the exponent, if the operation has one: 1 to twice the bits of the key.
    pub length: u32,
    /// The group, or the index of the comb entry.
    pub group: u16,
    /// The first operand.
    pub x: &'a [u64],
    /// The second operand.
    pub y: &'a [u64],
}

impl<'a> Command<'a> {
    /// Creates an operation without exponent and group.
    pub fn new(operation: Operation, x: &'a [u64], y: &'a [u64]) -> Self {
        Self { operation, length: 0, group: 0, x, y }
    }
}

impl fmt::Debug for Command<'_> {
    /// Omits the operands.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operation, length, group, .. } = self;
        write!(f, "Command({operation:?}, {length} bits, group {group})")
    }
}

/// Commands as items: `{y, x, command}`.
///
/// # Panics
/// If an operand is longer than the device's operands.
pub(super) fn items(commands: &[Command<'_>], parameters: &CoprocParameters) -> Batch {
    let limbs = parameters.limbs();
    let mut items = Batch::zeros(commands.len(), 1 + 2 * limbs);
    for (item, command) in items.rows_mut().zip(commands) {
        let Command { operation, length, group, x, y } = *command;
        assert!(x.len() <= limbs && y.len() <= limbs, "operands of at most {limbs} limbs");
        item[0] = operation as u64 | u64::from(length) << 16 | u64::from(group) << 48;
        item[1..][..x.len()].copy_from_slice(x);
        item[1 + limbs..][..y.len()].copy_from_slice(y);
    }
    items
}

/// The results in the answers to these commands, or the reasons for refusal.
///
/// # Errors
/// [`ErrorKind::WrongAnswer`] for the first row that answers a different command.
pub(super) fn results(commands: &[Command<'_>], answers: &Batch) -> Result<Vec<Result<Number, Refusal>>, Error> {
    let result = |(row, (command, answer)): (usize, (&Command<'_>, &[u64]))| {
        let [code, operation, ..] = answer[0].to_le_bytes();
        let answers_it = operation == command.operation as u8 && answer[0] >> 48 == u64::from(command.group);
        match Refusal::of(code) {
            _ if !answers_it => Err(Error::from(ErrorKind::WrongAnswer).at_row(row)),
            Some(refusal) => Ok(Err(refusal)),
            None if code == 0 => Ok(Ok(Number::new(answer[1..].to_vec()))),
            None => Err(Error::from(ErrorKind::WrongAnswer).at_row(row)),
        }
    };
    commands.iter().zip(answers.rows()).enumerate().map(result).collect()
}
