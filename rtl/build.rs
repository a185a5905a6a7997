//! Compiles the designs that the tests simulate.

mod designs;

use hearith_verilated::build::Build;

fn main() {
    println!("cargo::rerun-if-changed=designs");
    let build = Build::new().library("lib").library("arith").library("mesa").library("rns").library("tests/designs");
    build.designs(designs::all()).finish();
}
