//! Secret-ballot elections whose results anyone can verify from the published record alone.
//!
//! - [`Election`]: a validated manifest; it makes ballots ([`Election::prepare`]), trustees' shares
//!   and openings of the tally.
//! - [`verify_ballots`], [`verify_challenges`]: verify the proofs of thousands of ballots in one
//!   batch and name the invalid ballots.
//! - [`State`]: the state after a sequence of entries; it enforces their order, their authors and
//!   that nothing is entered twice.
//! - [`Board`], [`SignedTreeHead`], [`Receipt`]: the hash-chained bulletin board and its operator's
//!   signed commitments. [`Record`]: a board in a folder.
//! - [`Products`]: the encrypted sums of the ballots. [`verify`]: verifies a whole record, check by
//!   check.
//!
//! `docs/explanation/election.md` describes the protocol, its trust assumptions and its
//! limitations.
//!
//! # Secrets
//! Making a ballot takes constant time in its choices ([`Election::prepare_all`]). Choices,
//! openings and keys are wiped and never shown. Verification is not constant time and handles no
//! secrets.

mod board;
mod body;
pub mod canonical;
pub mod cluster;
mod code;
mod contest;
mod decrypt;
mod decryption;
mod election;
mod entry;
mod error;
mod key;
mod names;
mod record;
mod report;
mod secret;
pub mod signature;
mod state;
mod tally;
mod time;
mod tracker;
mod tree;
mod verify;
mod verify_ballots;
mod vote;
mod voter_code;

pub use board::{Board, Receipt, SignedTreeHead};
pub use body::*;
pub use canonical::{Bytes, Hash, MAX_LINE};
pub use code::{CodeError, CodeKind};
pub use contest::{Contest, DIGIT_BITS, Detail, Limit, MAX_CANDIDATES, MAX_CONTESTS, MAX_MARKS, MAX_POINTS, Method};
pub use decryption::Decryption;
pub use election::Election;
pub use entry::{Entry, NO_LINE, Notice, line_hash};
pub use error::{Error, ErrorKind, Place};
pub use record::{FILE_ENTRIES, Folder, HEADS, Lines, Record, Source, board_file, in_order};
pub use report::{Check, Report, Step};
pub use secret::{KeyRole, SecretKey};
pub use signature::Signer;
pub use state::{Admitted, Change, MAX_VOTER_ID, MAX_VOTERS_AN_ENTRY, MAX_WEIGHT, Phase, State, VoterState};
pub use tally::{Products, for_each_counted, tally};
pub use time::{now, now_after};
pub use tracker::{read_tracker, shown_tracker, tracker};
pub use tree::{Tree, leaf_hash};
pub use verify::verify;
pub use verify_ballots::{verify_ballots, verify_challenges};
pub use vote::{Prepared, Vote};
pub use voter_code::VoterCode;

/// Compiles and runs the examples of the README together with the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
