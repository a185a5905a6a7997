//! A server over HTTP: what it takes, what it refuses, and that nothing it acknowledged is lost or counts twice.

mod common;
mod crashes;
mod limits;
mod load;
mod postgres;
mod process;
mod taking;
