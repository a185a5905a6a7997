//! Those whose proofs the server verifies: voters and trustees, and the one share of each trustee that may wait.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use hearith_election::{Body, Notice};

/// Whose proofs an entry has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Author {
    Voter(String),
    Trustee(u32),
}

impl Author {
    /// The author of a notice with proofs; organisers' have none of this kind.
    pub(crate) fn of(notice: &Notice) -> Option<Self> {
        match notice.body() {
            Body::Ballot(ballot) => Some(Self::Voter(ballot.voter.clone())),
            Body::Challenge(challenge) => Some(Self::Voter(challenge.ballot.voter.clone())),
            Body::Share(share) => Some(Self::Trustee(share.trustee)),
            _ => None,
        }
    }
}

/// The trustees of whom a share waits to be verified or entered.
#[derive(Debug, Default)]
pub(crate) struct WaitingShares(Arc<Mutex<HashSet<u32>>>);

/// A trustee's place among them, until it is dropped.
#[derive(Debug)]
pub(crate) struct WaitingShare {
    all: Arc<Mutex<HashSet<u32>>>,
    trustee: u32,
}

impl WaitingShares {
    /// A trustee's place, unless a share of theirs waits already.
    pub(crate) fn take(&self, trustee: u32) -> Option<WaitingShare> {
        let new = self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(trustee);
        new.then(|| WaitingShare { all: self.0.clone(), trustee })
    }
}

impl Drop for WaitingShare {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.trustee);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_share_of_each_trustee_waits() {
        let shares = WaitingShares::default();
        let first = shares.take(1).expect("none waits");
        assert!(shares.take(1).is_none());
        assert!(shares.take(2).is_some());
        drop(first);
        assert!(shares.take(1).is_some());
    }
}
