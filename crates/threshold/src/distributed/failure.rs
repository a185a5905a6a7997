//! How a run fails, and who is to blame.

use std::fmt;

/// Why a run ended without a key. Nothing of it is kept: another begins with fresh random numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The trustees who are named, from 1: none if nobody is to blame.
    pub trustees: Vec<u32>,
    /// What they did.
    pub reason: Reason,
}

/// What ended a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// No message came: the trustee, or the link to it, is at fault.
    Silent,
    /// What came is no message that the trustee signed for this receiver, round and run.
    Foreign,
    /// Another trustee has lost contact with it.
    Reported {
        /// Who says so.
        by: u32,
    },
    /// A message that the trustee signed is not the one that its seed gives.
    Deviated {
        /// The round, from 0.
        round: u32,
    },
    /// The trustee told different trustees different things in the first round.
    Equivocated,
    /// The trustee accused another wrongly.
    Slandered,
    /// The trustee did not open its seed in time when the run had failed, or the link to it is at
    /// fault.
    Refused,
    /// The trustee said that the run had failed, and it had not.
    Alarmed,
    /// The trustee did not confirm the key when this one had. It is at fault, or whoever misled it
    /// in the round before: nothing may be opened any more that would show which.
    Withdrew,
    /// All followed the protocol: a number had a property that hardly any has. Run it again.
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
            Reason::Silent => f.write_str("no message came, the trustee or the link to it is at fault"),
            Reason::Foreign => f.write_str("what came is no message of this trustee for this round of this run"),
            Reason::Reported { by } => write!(f, "trustee {by} reports that it has lost contact"),
            Reason::Deviated { round } => write!(f, "the message of round {round} is not what the protocol asks for"),
            Reason::Equivocated => f.write_str("told different trustees different things"),
            Reason::Slandered => f.write_str("accused another trustee wrongly"),
            Reason::Refused => f.write_str("did not open its seed after the run had failed, or the link is at fault"),
            Reason::Alarmed => f.write_str("said without a reason that the run had failed"),
            Reason::Withdrew => f.write_str("did not confirm the key: it is at fault, or whoever misled it"),
            Reason::Chance => f.write_str("the numbers had a rare property; run it again"),
        }
    }
}

impl std::error::Error for Failure {}
