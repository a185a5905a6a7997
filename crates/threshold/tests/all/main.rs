//! Integration tests of shared keys, linked into one executable.

mod files;
mod shares;
mod vectors;
