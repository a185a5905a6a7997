//! Integration tests of shared keys, linked into one executable.

mod dealers;
mod distributed;
mod files;
mod offline;
mod shares;
mod vectors;
