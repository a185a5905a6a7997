//! Integration tests of elections, linked into one executable.

mod ballots;
mod browser;
mod common;
mod records;
mod vectors;
