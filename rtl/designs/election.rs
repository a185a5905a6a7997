//! `rtl/election`.

use hearith_verilated::build::Design;

/// The tally board for n of 256 bits. The encryptor board, with which it has contests, candidates and the line's times in common, is hearith-simulated's.
fn tally_board() -> Design {
    let sources = ["links/link_pkg.sv", "election/ballot_pkg.sv"];
    let design = sources.into_iter().fold(Design::new("tally_board", "tally_board"), Design::source);
    let sizes = [("Contests", 3), ("Candidates", 2), ("Slots", 16), ("Digit", 64)];
    let times = [("Period", 8), ("Timeout", 40_000), ("Retries", 4)];
    let design = sizes.into_iter().chain(times).fold(design, |design, (name, value)| design.parameter(name, value));
    design.shared(&["mod_exp_pair"])
}

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
        tally_board(),
    ]
}
