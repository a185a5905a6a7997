//! Secret ballots whose result everybody can check, from the published record alone.
//!
//! - [`Election`]: a manifest ready to vote in; it makes ballots ([`Election::prepare`]), shares
//!   and openings of the tally;
//! - [`verify_ballots`], [`verify_challenges`]: the proofs of thousands of ballots in one batch,
//!   those at fault named;
//! - [`State`]: entries folded one by one: what may come when, from whom, and nothing twice;
//! - [`Board`], [`Head`], [`Receipt`]: lines chained, and what the board's keeper answers for;
//!   [`Record`]: the same in a folder;
//! - [`Products`]: what ballots come to; [`verify`]: a record's verdicts, check by check.
//!
//! The protocol, what is trusted and what is not claimed are in `docs/explanation/election.md`.
//!
//! # Secrets
//! Making a ballot is constant time in its choices ([`Election::prepare_all`]); choices, openings
//! and keys are wiped and never shown. Verifying is not constant time, and sees nothing secret.

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

pub use board::{Board, Head, Receipt};
pub use body::*;
pub use canonical::{Bytes, Hash, MAX_LINE};
pub use code::{CodeError, CodeKind};
pub use contest::{Contest, DIGIT_BITS, Detail, Limit, MAX_CANDIDATES, MAX_CONTESTS, MAX_MARKS, MAX_POINTS, Method};
pub use decryption::Decryption;
pub use election::Election;
pub use entry::{Entry, NO_LINE, Notice, line_hash};
pub use error::{Error, ErrorKind, Place};
pub use record::{FILE_ENTRIES, Folder, HEADS, Lines, Record, Source, board_file, in_order};
pub use secret::{Holder, SecretKey};
pub use signature::Signer;
pub use state::{Admitted, Change, MAX_VOTER_ID, MAX_VOTERS_AN_ENTRY, MAX_WEIGHT, Phase, State, VoterState};
pub use tally::{Products, for_each_counted, tally};
pub use time::{now, now_after};
pub use tracker::{read_tracker, shown_tracker, tracker};
pub use tree::{Tree, leaf_hash};
pub use verify::{Check, Report, Step, verify};
pub use verify_ballots::{verify_ballots, verify_challenges};
pub use vote::{Prepared, Vote};
pub use voter_code::VoterCode;

/// The examples of the README, compiled and run with the others.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
