//! Integration tests of the service, as its clients see it, linked into one executable.

mod common;
mod computers;
mod faults;
mod hostile;
mod operations;
mod processors;
mod standards;
mod turns;
