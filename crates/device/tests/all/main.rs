//! Integration tests of the device drivers, linked into one executable.

mod common;
#[cfg_attr(not(unix), allow(dead_code, reason = "boards are mapped on Unix alone"))]
mod fake;
mod faulty;
#[cfg(unix)]
mod mapped;
mod residue_bank;
