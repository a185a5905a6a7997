//! The responses and errors of bus transactions.

use std::error::Error;
use std::fmt;

/// The response of an AXI transaction (AMBA AXI, A3.4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// OKAY: done.
    Okay,
    /// EXOKAY: an exclusive access succeeded. No model here makes one.
    ExclusiveOkay,
    /// SLVERR: the subordinate refuses.
    SubordinateError,
    /// DECERR: there is no subordinate at the address.
    DecodeError,
}

/// A transaction that was not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BusError {
    /// The subordinate answered with an error.
    Refused(Response),
    /// There was no answer within this many cycles. The transaction is still on the bus.
    Silent(u64),
}

impl Response {
    /// The response with this code.
    ///
    /// # Panics
    /// If the code has more than two bits.
    pub fn new(code: u64) -> Self {
        match code {
            0 => Self::Okay,
            1 => Self::ExclusiveOkay,
            2 => Self::SubordinateError,
            3 => Self::DecodeError,
            _ => panic!("a response has two bits, not {code}"),
        }
    }

    /// Its code on the bus.
    pub fn code(self) -> u64 {
        self as u64
    }

    /// Converts the response to a result.
    ///
    /// # Errors
    /// [`BusError::Refused`] unless the response is OKAY.
    pub fn done(self) -> Result<(), BusError> {
        if self == Self::Okay { Ok(()) } else { Err(BusError::Refused(self)) }
    }
}

impl fmt::Display for BusError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Refused(response) => write!(f, "the transaction was refused: {response:?}"),
            Self::Silent(cycles) => write!(f, "the transaction was not answered within {cycles} cycles"),
        }
    }
}

impl Error for BusError {}
