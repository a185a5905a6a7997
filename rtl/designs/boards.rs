//! `boards`: the parts of the examples, and their wrapper.

use hearith_verilated::build::Design;

pub fn designs() -> Vec<Design> {
    vec![Design::new("self_test", "self_test").source("lib/accelerator_pkg.sv")]
}
