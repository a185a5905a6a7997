//! Compiles the simulated devices.

use hearith_verilated::build::{Build, Design};

/// The simulated MESAs: bits of the key, ladders a branch, bits of a beat.
const MESA: [(u32, u32, u32); 5] = [(64, 1, 32), (128, 2, 64), (256, 2, 64), (1024, 6, 64), (2048, 3, 64)];

/// Modules with many instances.
const SHARED: [&str; 7] =
    ["mesa_branch", "mod_exp_ladder", "mont_row", "mont_digits", "mont_mul_radix2", "div_exact", "cond_sub"];

fn main() {
    let rtl = "../../rtl";
    let libraries = ["lib", "arith", "mesa"].map(|directory| format!("{rtl}/{directory}"));
    let build = libraries.into_iter().fold(Build::new(), Build::library);
    let mesa = MESA.map(|(bits, stages, stream)| {
        Design::new(&format!("mesa_{bits}"), "mesa")
            .parameter("N", bits)
            .parameter("Stages", stages)
            .parameter("StreamBits", stream)
            .shared(&SHARED)
    });
    build.designs(mesa).finish();
}
