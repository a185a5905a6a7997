//! `rtl/arith`.

use hearith_verilated::build::Design;

pub fn designs() -> Vec<Design> {
    vec![]
}
