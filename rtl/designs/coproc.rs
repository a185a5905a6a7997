//! `rtl/coproc`.

use hearith_verilated::build::Design;

pub fn designs() -> Vec<Design> {
    vec![
        Design::new("coproc_core_cios_33", "coproc_core_cios")
            .parameter("N", 33)
            .parameter("W", 4)
            .parameter("V", 5)
            .parameter("TagBits", 5),
        Design::new("coproc_core_digit_50", "coproc_core_digit")
            .parameter("N", 50)
            .parameter("Digit", 32)
            .parameter("Width", 16)
            .parameter("Tile", 8)
            .parameter("TagBits", 5),
        Design::new("coproc_core_dual_33", "coproc_core_dual")
            .parameter("N", 33)
            .parameter("W", 4)
            .parameter("V", 7)
            .parameter("D", 3)
            .parameter("TagBits", 7),
    ]
}
