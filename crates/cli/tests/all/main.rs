//! Integration tests of the command-line program, linked into one executable.

mod cards;
#[cfg_attr(
    not(all(feature = "dghv", feature = "election", feature = "service")),
    allow(dead_code, reason = "the tests of each feature use their part")
)]
mod common;
mod complaints;
mod describing;
mod devices;
#[cfg(feature = "dghv")]
mod dghv;
#[cfg(feature = "service")]
mod distributed;
#[cfg(feature = "election")]
mod election;
#[cfg(feature = "election")]
mod election_server;
#[cfg(feature = "election")]
mod election_terms;
mod expressions;
mod formats;
mod inputs;
mod interop;
mod interruptions;
mod keys;
mod labels;
mod lattice;
mod means;
#[cfg(feature = "service")]
mod offline;
mod openings;
mod outputs;
mod passphrases;
mod plans;
mod printing;
mod readme;
mod refusals;
mod release;
mod rns;
mod round_trip;
#[cfg(feature = "service")]
mod service;
mod shared_keys;
mod signatures;
mod streaming;
mod terminal;
mod values;
mod variants;
mod weights;
