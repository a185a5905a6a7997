//! The authors of proofs that the server verifies: voters and trustees.

use hearith_election::{Body, Notice};

/// The author of an entry with proofs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Author {
    Voter(String),
    Trustee(u32),
}

impl Author {
    /// The author of a notice with proofs. `None` for an organiser's notice, which has none of this
    /// kind.
    pub(crate) fn of(notice: &Notice) -> Option<Self> {
        match notice.body() {
            Body::Ballot(ballot) => Some(Self::Voter(ballot.voter.clone())),
            Body::Challenge(challenge) => Some(Self::Voter(challenge.ballot.voter.clone())),
            Body::Share(share) => Some(Self::Trustee(share.trustee)),
            _ => None,
        }
    }
}
