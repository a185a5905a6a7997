//! Integration tests of the election server over HTTP, linked into one executable.

mod clocks;
mod common;
mod crashes;
mod dates;
mod limits;
mod load;
mod postgres;
mod process;
mod several;
mod shares;
mod stale;
mod taking;
