//! A server over HTTP: what it takes, what it refuses, and that nothing it acknowledged is lost or counts twice.

mod common;
mod limits;
mod taking;
