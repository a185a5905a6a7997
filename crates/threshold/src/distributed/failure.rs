//! The reason why a run fails, and the trustees responsible for it.

use std::fmt;

/// The failure of a run without a key. All key material is discarded. Another run starts with fresh
/// random numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The trustees at fault, from 1. Empty if nobody is at fault.
    pub trustees: Vec<u32>,
    /// The reason.
    pub reason: Reason,
}

/// The reason of a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// No message arrived: the trustee or the link to it is at fault.
    Silent,
    /// The message received is not one that the trustee signed for this receiver, round and run.
    Foreign,
    /// Another trustee has lost contact with the trustee.
    Reported {
        /// The trustee that reports it.
        by: u32,
    },
    /// A message that the trustee signed does not follow from its seed.
    Deviated {
        /// The round, from 0.
        round: u32,
    },
    /// The trustee sent different messages to different trustees in the first round.
    Equivocated,
    /// The trustee accused another trustee wrongly.
    Slandered,
    /// The trustee did not reveal its seed in time after the run had failed, or the link to it is
    /// at fault.
    Refused,
    /// The trustee claimed that the run had failed, although it had not.
    Alarmed,
    /// The trustee did not confirm the key when this trustee had confirmed it. The trustee is at
    /// fault, or another trustee misled it in the round before. At this point nothing may be
    /// revealed that could show which.
    Withdrew,
    /// All trustees followed the protocol, but a number had a rare property. Repeat the run.
    Chance,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.trustees.iter().map(u32::to_string).collect();
        match names.as_slice() {
            [] => {}
            [one] => write!(f, "trustee {one}: ")?,
            many => write!(f, "trustees {}: ", many.join(", "))?,
        }
        match &self.reason {
            Reason::Silent => f.write_str("no message arrived, so the trustee or the link to it is at fault"),
            Reason::Foreign => f.write_str("the message received is not the trustee's for this round of this run"),
            Reason::Reported { by } => write!(f, "trustee {by} reports that it has lost contact"),
            Reason::Deviated { round } => write!(f, "the message of round {round} does not follow the protocol"),
            Reason::Equivocated => f.write_str("sent different messages to different trustees"),
            Reason::Slandered => f.write_str("accused another trustee wrongly"),
            Reason::Refused => {
                f.write_str("did not reveal its seed after the run had failed, or the link to it is at fault")
            }
            Reason::Alarmed => f.write_str("claimed without a reason that the run had failed"),
            Reason::Withdrew => {
                f.write_str("did not confirm the key: it or another trustee that misled it is at fault")
            }
            Reason::Chance => f.write_str("the numbers had a rare property; run it again"),
        }
    }
}

impl std::error::Error for Failure {}
