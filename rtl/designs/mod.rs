//! The designs that the tests simulate: modules with their parameters, a file for each directory of sources.

mod arith;
mod lib;
mod rns;

use hearith_verilated::build::Design;

/// All of them.
pub fn all() -> impl Iterator<Item = Design> {
    lib::designs().into_iter().chain(arith::designs()).chain(rns::designs())
}
