//! The designs that the tests simulate: modules with their parameters, a file for each directory of sources.

mod arith;
mod bench;
mod boards;
mod coproc;
mod dghv;
mod lib;
mod ntt;
mod rns;

use hearith_verilated::build::Design;

/// Those of `lib` and of the bench's own tests, and of the other directories that the crate's features name.
pub fn all() -> impl Iterator<Item = Design> {
    let arith = if cfg!(feature = "arith") { arith::designs() } else { Vec::new() };
    let rns = if cfg!(feature = "rns") { rns::designs() } else { Vec::new() };
    let ntt = if cfg!(feature = "ntt") { ntt::designs() } else { Vec::new() };
    // With a MESA inside.
    let boards = if cfg!(feature = "arith") { boards::designs() } else { Vec::new() };
    let dghv = if cfg!(feature = "dghv") { dghv::designs() } else { Vec::new() };
    let coproc = if cfg!(feature = "arith") { coproc::designs() } else { Vec::new() };
    lib::designs()
        .into_iter()
        .chain(bench::designs())
        .chain(boards)
        .chain(coproc)
        .chain(arith)
        .chain(ntt)
        .chain(rns)
        .chain(dghv)
}
