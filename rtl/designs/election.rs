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
        Design::new("vote_processor", "vote_processor")
            .source("election/ballot_pkg.sv")
            .parameter("Voters", 5)
            .parameter("Contests", 3)
            .parameter("Candidates", 6),
        // Two sectors of slots, so that a table is full soon.
        Design::new("vote_log", "vote_log")
            .source("election/ballot_pkg.sv")
            .parameter("Body", 5)
            .parameter("SlotLog", 8)
            .parameter("Slots", 32)
            .parameter("Half", 3)
            .parameter("Patience", 200),
    ]
}
