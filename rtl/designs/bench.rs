//! `rtl/tests/designs`: designs for testing the bench's models.

use hearith_verilated::build::Design;

pub fn designs() -> Vec<Design> {
    vec![
        Design::new("axi_copy", "axi_copy"),
        Design::new("axil_words", "axil_words").memory("axil_words", "words"),
        // A small design, the only one that can always write waveforms.
        Design::new("axis_pass", "axis_pass").waves(),
    ]
}
