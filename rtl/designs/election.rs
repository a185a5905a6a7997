//! `rtl/election`.

use hearith_verilated::build::Design;

pub fn designs() -> Vec<Design> {
    vec![
        Design::new("sha256", "sha256"),
        Design::new("health_tests", "health_tests")
            .parameter("Repetition", 21)
            .parameter("Window", 128)
            .parameter("Proportion", 90),
        Design::new("noise_source_port", "noise_source_port")
            .parameter("Samples", 576)
            .parameter("StartUp", 1024)
            .parameter("Quiet", 400),
    ]
}
