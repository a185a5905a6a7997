//! Integration tests of the Paillier scheme, linked into one executable.

mod checks;
mod common;
#[cfg(target_os = "linux")]
mod hardening;
mod jwk;
mod known_answers;
mod malformed;
mod nothing_shown;
mod phe;
mod properties;
mod slots;
mod subgroup;
