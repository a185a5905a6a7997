//! Compiles the designs that the tests simulate.

mod designs;

use hearith_verilated::build::Build;

fn main() {
    println!("cargo::rerun-if-changed=designs");
    let rooms = ["lib", "arith", "mesa", "coproc", "dghv", "ntt", "rns", "ip", "../boards/self_test", "tests/designs"];
    let build = rooms.into_iter().fold(Build::new(), Build::library);
    build.covers("tests/cover").designs(designs::all()).finish();
}
