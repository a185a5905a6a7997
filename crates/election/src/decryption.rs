//! How far a tally is decrypted: what shares, openings and results are checked against.

use crate::body::{Body, Opening, Outcome, Share, Tally};
use crate::election::Election;
use crate::error::ErrorKind;
use std::collections::BTreeMap;

/// The tally on a board, and what has been entered to decrypt it. A copy of its own: checking takes
/// seconds, and nobody should hold a lock for so long.
#[derive(Clone, Debug)]
pub struct Decryption {
    pub(crate) election: Election,
    pub(crate) tally: Option<Tally>,
    pub(crate) shares: BTreeMap<u32, Share>,
    pub(crate) opening: Option<Opening>,
}

impl Decryption {
    /// What the tally decrypts to, by the shares or the opening on the board, which are verified.
    ///
    /// # Errors
    /// If it is not decrypted yet, or as [`Election::combine`] and [`Election::check_opening`].
    pub fn outcome(&self) -> Result<Outcome, ErrorKind> {
        match (&self.tally, &self.opening) {
            (Some(tally), Some(opening)) => self.election.check_opening(tally, opening),
            (Some(tally), None) => self.election.combine(tally, &self.shares.values().collect::<Vec<_>>()),
            (None, _) => Err(ErrorKind::Shape { problem: "there is no tally yet" }),
        }
    }

    /// Verifies the proofs of a share or an opening, or a result; other bodies have none of these.
    ///
    /// # Errors
    /// What does not hold.
    pub fn check(&self, body: &Body) -> Result<(), ErrorKind> {
        match (body, &self.tally) {
            (Body::Share(share), Some(tally)) => self.election.verify_share(tally, share),
            (Body::Opening(opening), Some(tally)) => self.election.check_opening(tally, opening).map(|_| ()),
            (Body::Result(result), _) => compare(&self.outcome()?, result),
            _ => Ok(()),
        }
    }
}

/// Checks a result against what the tally decrypts to.
fn compare(right: &Outcome, found: &Outcome) -> Result<(), ErrorKind> {
    match right.contests.iter().zip(&found.contests).position(|(right, found)| right != found) {
        Some(contest) => Err(ErrorKind::WrongResult { contest }),
        None => Ok(()),
    }
}
