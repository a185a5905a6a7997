//! Integration tests of the service from its clients' point of view, linked into one executable.

mod common;
mod compression;
mod computers;
mod faults;
mod hostile;
mod operations;
mod processors;
mod quotas;
mod standards;
mod traces;
mod turns;
