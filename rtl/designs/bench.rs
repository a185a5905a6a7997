//! `rtl/tests/designs`: what the bench's models are tested with.

use hearith_verilated::build::Design;

pub fn designs() -> Vec<Design> {
    vec![
        Design::new("axi_copy", "axi_copy"),
        Design::new("axil_words", "axil_words").memory("axil_words", "words"),
        // Small, and the one design that always can write waveforms.
        Design::new("axis_pass", "axis_pass").waves(),
    ]
}
