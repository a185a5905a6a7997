//! Measures the cycles of the arithmetic cores in simulation and prints them as JSON.
//!
//! For each design it gives the latency and the interval between two operations at full speed. The
//! tables in `bench/results/mesa.md` use it.

use hearith_rtl::{
    CIOS_1024, CIOS_2048, COND_SUB_1024, DIV_EXACT_1076, DIV_RESTORING_564, LADDER_1024, MOD_ADD_1024, RADIX2_1024,
    WIDE_ADD_1024,
};
use hearith_verilated::bench::Bench;
use hearith_verilated::{Design, Direction};

/// Bits of the ladder's longest segment, including the exit product but not the first bit.
const LADDER_STEPS: u64 = 86;

/// Returns latency and interval of a core with streams `in_` and `out_`. Sets its other inputs,
/// constants whose values do not matter, to 1.
fn measure(design: &'static Design) -> (u64, u64) {
    let mut bench = Bench::new(design.model(), 1);
    let control = ["clk_i", "rst_ni", "in_valid_i", "out_ready_i"];
    let inputs = |name: &str| design.ports().iter().any(|port| port.name == name);
    let operands: Vec<&str> = ["a_i", "b_i", "x_i", "y_i"].into_iter().filter(|&name| inputs(name)).collect();
    for port in design.ports() {
        let constant = !control.contains(&port.name) && !operands.contains(&port.name);
        if port.direction == Direction::Input && constant {
            bench.model.set(port.name, true);
        }
    }
    // A ladder's time depends on its steps: use those of its longest segment.
    if inputs("steps_i") {
        bench.model.set("steps_i", LADDER_STEPS);
    }
    let source = bench.source("in_valid_i", "in_ready_o", &operands);
    let sink = bench.sink("out_valid_o", "out_ready_i", &[]);
    for _ in 0..2 {
        bench.push(source, &vec![&[0_u64][..]; operands.len()]);
    }
    bench.run(sink, 2, 1_000_000);
    let (taken, given) = (bench.taken(source), bench.received(sink));
    (given[0].cycle - taken[0], taken[1] - taken[0])
}

fn main() {
    let designs = [
        &CIOS_1024,
        &CIOS_2048,
        &RADIX2_1024,
        &LADDER_1024,
        &DIV_EXACT_1076,
        &DIV_RESTORING_564,
        &MOD_ADD_1024,
        &COND_SUB_1024,
        &WIDE_ADD_1024,
    ];
    let lines = designs.map(|design| {
        let (latency, interval) = measure(design);
        format!("  \"{}\": {{\"latency\": {latency}, \"interval\": {interval}}}", design.name())
    });
    println!("{{\n{}\n}}", lines.join(",\n"));
}
