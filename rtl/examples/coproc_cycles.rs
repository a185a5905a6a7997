//! Measures the cycles of the Paillier co-processor's multipliers in simulation and prints them as
//! JSON.
//!
//! The value is the interval between two products at full speed, for a key of 512 bits. The tables
//! in `bench/results/coproc.md` are compared with it.

use hearith_rtl::{CIOS_1024, DIGIT_1024, DIGIT_1024_272, DUAL_MUL_512};
use hearith_verilated::bench::Bench;
use hearith_verilated::{Design, Direction};

/// Returns the interval between results when operands are always available. Sets the inputs in
/// `ones` to 1: the constants, whose values do not matter, and perhaps others.
fn interval(design: &'static Design, ones: &[&str]) -> u64 {
    let mut bench = Bench::new(design.model(), 1);
    for port in design.ports() {
        if port.direction == Direction::Input && ones.contains(&port.name) {
            bench.model.set(port.name, true);
        }
    }
    let source = bench.source("in_valid_i", "in_ready_o", &["a_i", "b_i"]);
    let sink = bench.sink("out_valid_o", "out_ready_i", &[]);
    for _ in 0..4 {
        bench.push(source, &[&[0], &[0]]);
    }
    bench.run(sink, 4, 1_000_000);
    let given = bench.received(sink);
    given[3].cycle - given[2].cycle
}

fn main() {
    let constants = ["modulus_i", "inverse_i", "mt_i"];
    let products = [&DIGIT_1024, &DIGIT_1024_272, &CIOS_1024, &DUAL_MUL_512];
    let mut lines: Vec<String> =
        products.map(|design| format!("  \"{}\": {}", design.name(), interval(design, &constants))).to_vec();
    let square = interval(&DUAL_MUL_512, &["mt_i", "square_i"]);
    lines.push(format!("  \"{} square\": {square}", DUAL_MUL_512.name()));
    println!("{{\n{}\n}}", lines.join(",\n"));
}
