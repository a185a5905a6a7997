//! Compiles Verilator's run-time library once for all models of a program.

#[path = "src/verilator.rs"]
mod verilator;

use verilator::Verilator;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/verilator.rs");
    let Some(verilator) = Verilator::find() else { return };
    let include = verilator.include();
    let mut library = cc::Build::new();
    library.cpp(true).std("c++17").opt_level(2).debug(false).warnings(false).flag("-pthread");
    library.include(&include).include(include.join("vltstd")).define("VM_COVERAGE", "1");
    for source in ["verilated.cpp", "verilated_cov.cpp", "verilated_threads.cpp"] {
        library.file(include.join(source));
    }
    library.compile("verilated_runtime");
    println!("cargo::rustc-link-lib=pthread");
}
