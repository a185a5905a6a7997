//! Integration tests of the proofs, linked into one executable.

mod proofs;
mod vectors;
