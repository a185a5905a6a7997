//! Integration tests of elections, linked into one executable.

mod ballots;
mod browser;
mod common;
mod corpus;
mod ranks;
mod records;
mod terms;
mod vectors;
