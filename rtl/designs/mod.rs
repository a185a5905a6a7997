//! The designs that the tests simulate: modules with their parameters, in one file per directory of
//! sources.

mod arith;
mod bench;
mod blocks;
mod boards;
mod coproc;
mod dghv;
mod election;
mod encryptor;
mod lib;
mod links;
mod ntt;
mod pools;
mod rns;

use hearith_verilated::build::Design;

/// The designs of `lib` and of the bench's own tests, and those of the directories that the crate's
/// features name.
pub fn all() -> impl Iterator<Item = Design> {
    let arith = if cfg!(feature = "arith") { arith::designs() } else { Vec::new() };
    let rns = if cfg!(feature = "rns") { rns::designs() } else { Vec::new() };
    let ntt = if cfg!(feature = "ntt") { ntt::designs() } else { Vec::new() };
    let encryptor = if cfg!(feature = "dghv") { encryptor::designs() } else { Vec::new() };
    let blocks = if cfg!(feature = "blocks") { blocks::designs() } else { Vec::new() };
    // Contains a MESA.
    let boards = if cfg!(feature = "arith") { boards::designs() } else { Vec::new() };
    let dghv = if cfg!(feature = "dghv") { dghv::designs() } else { Vec::new() };
    let coproc = if cfg!(feature = "arith") { coproc::designs() } else { Vec::new() };
    let links = if cfg!(feature = "election") { links::designs() } else { Vec::new() };
    let election = if cfg!(feature = "election") { election::designs() } else { Vec::new() };
    let all =
        [lib::designs(), bench::designs(), boards, coproc, encryptor, blocks, arith, ntt, rns, links, election, dghv];
    all.into_iter().flatten()
}
