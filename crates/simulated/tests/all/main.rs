//! Integration tests of the simulated accelerators, linked into one executable.

#[cfg(all(feature = "ballot-machine", feature = "program"))]
mod ballot_machine;
// The directories in which the tests of the command line run it.
#[cfg(all(feature = "ballot-machine", feature = "program"))]
#[path = "../../../cli/tests/all/common/mod.rs"]
#[allow(dead_code, reason = "the tests of the command line use the rest")]
mod command_line;
#[cfg(any(feature = "coproc", feature = "dghv", feature = "mesa", feature = "mesa-dual", feature = "rns"))]
#[cfg_attr(
    not(all(feature = "coproc", feature = "dghv", feature = "mesa", feature = "mesa-dual", feature = "rns")),
    allow(dead_code, reason = "the tests of each device use their part")
)]
mod common;
#[cfg(feature = "coproc")]
mod coproc;
#[cfg(feature = "dghv")]
mod dghv;
#[cfg(all(feature = "mesa", feature = "mesa-dual", feature = "rns"))]
mod distrust;
#[cfg(all(feature = "coproc", feature = "dghv", feature = "mesa", feature = "mesa-dual", feature = "rns"))]
mod keys;
#[cfg(feature = "mesa")]
mod mesa;
#[cfg(feature = "mesa-dual")]
mod mesa_dual;
#[cfg(all(
    feature = "ballot-machine",
    feature = "coproc",
    feature = "dghv",
    feature = "mesa",
    feature = "mesa-dual",
    feature = "program",
    feature = "rns"
))]
mod program;
#[cfg(all(feature = "mesa", feature = "mesa-dual", feature = "rns"))]
mod protocol;
#[cfg(feature = "rns")]
mod residue_bank;
mod verilator;
