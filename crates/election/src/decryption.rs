//! The state of a tally's decryption, against which shares, openings and results are checked.

use crate::body::{Body, DecryptionOpening, Outcome, Share, Tally};
use crate::election::Election;
use crate::error::ErrorKind;
use std::collections::BTreeMap;

/// The tally on a board, and the shares or opening entered for it. This is a separate copy, because
/// checks take seconds and must not hold a lock that long.
#[derive(Clone, Debug)]
pub struct Decryption {
    pub(crate) election: Election,
    pub(crate) tally: Option<Tally>,
    pub(crate) shares: BTreeMap<u32, Share>,
    pub(crate) opening: Option<DecryptionOpening>,
}

impl Decryption {
    /// Verifies the shares or the opening on the board and returns the result of the tally.
    ///
    /// # Errors
    /// If the decryption is not complete, or the errors of [`Election::combine`] and
    /// [`Election::check_opening`].
    pub fn outcome(&self) -> Result<Outcome, ErrorKind> {
        match (&self.tally, &self.opening) {
            (Some(tally), Some(opening)) => self.election.check_opening(tally, opening),
            (Some(tally), None) => self.election.combine(tally, &self.shares.values().collect::<Vec<_>>()),
            (None, _) => Err(ErrorKind::Shape { problem: "there is no tally yet" }),
        }
    }

    /// Verifies the proofs of a share or an opening, or compares a result with the decryption.
    /// Accepts other bodies, which have no such proofs.
    ///
    /// # Errors
    /// The first fault found.
    pub fn check(&self, body: &Body) -> Result<(), ErrorKind> {
        match (body, &self.tally) {
            (Body::Share(share), Some(tally)) => self.election.verify_share(tally, share),
            (Body::Opening(opening), Some(tally)) => self.election.check_opening(tally, opening).map(|_| ()),
            (Body::Result(result), _) => compare(&self.outcome()?, result),
            _ => Ok(()),
        }
    }
}

/// Compares a result with the decrypted tally.
fn compare(right: &Outcome, found: &Outcome) -> Result<(), ErrorKind> {
    match right.contests.iter().zip(&found.contests).position(|(right, found)| right != found) {
        Some(contest) => Err(ErrorKind::WrongResult { contest }),
        None => Ok(()),
    }
}
