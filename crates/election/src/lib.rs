//! Secret ballots whose result everybody can check.
mod board;
mod body;
pub mod canonical;
mod contest;
mod election;
mod entry;
mod error;
pub mod signature;
mod state;
mod tracker;
mod tree;
mod verify_ballots;
mod vote;

pub use board::{Board, Head, Receipt};
pub use body::*;
pub use canonical::{Bytes, Hash, MAX_LINE};
pub use contest::{Contest, DIGIT_BITS, Limit, MAX_CANDIDATES, MAX_CONTESTS, MAX_MARKS, Method};
pub use election::Election;
pub use entry::{Entry, NO_LINE, Notice, line_hash};
pub use error::{Error, ErrorKind, Place};
pub use signature::Signer;
pub use state::{Admitted, MAX_VOTER_ID, MAX_VOTERS_AN_ENTRY, MAX_WEIGHT, Phase, Standing, State};
pub use tracker::{read_tracker, tracker};
pub use tree::{Tree, leaf_hash};
pub use verify_ballots::{verify_ballots, verify_challenges};
pub use vote::{Prepared, Vote};
