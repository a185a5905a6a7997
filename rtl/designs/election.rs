//! `rtl/election`, except the boards, which are in hearith-simulated.

use hearith_verilated::build::Design;

/// A log of `Slots` records of `Body` words each.
fn vote_log(name: &str, [body, slot_log, slots]: [u32; 3]) -> Design {
    Design::new(name, "vote_log")
        .source("election/ballot_pkg.sv")
        .parameter("Body", body)
        .parameter("SlotLog", slot_log)
        .parameter("Slots", slots)
        .parameter("SckHalfPeriod", 3)
        .parameter("FlashTimeout", 200)
}

/// The hash of a proof's transcript, for n^2 of `bits` bits.
fn challenge(top: &str, bits: u32) -> Design {
    Design::new(&format!("{top}_{bits}"), top).source("election/ballot_pkg.sv").parameter("N", bits)
}

pub fn designs() -> Vec<Design> {
    vec![
        Design::new("sha256", "sha256"),
        challenge("proof_challenge", 512),
        challenge("proof_challenge", 4096),
        challenge("share_challenge", 4096),
        Design::new("health_tests", "health_tests")
            .parameter("Repetition", 21)
            .parameter("Window", 128)
            .parameter("Proportion", 90),
        Design::new("noise_source_port", "noise_source_port")
            .parameter("Samples", 576)
            .parameter("StartUp", 1024)
            .parameter("NoiseTimeout", 400),
        Design::new("vote_processor", "vote_processor")
            .source("election/ballot_pkg.sv")
            .parameter("Voters", 5)
            .parameter("Contests", 3)
            .parameter("Candidates", 6),
        // Two sectors of slots, so that a table fills up soon: slots of a page, of three pages, and
        // of two sectors.
        vote_log("vote_log", [5, 8, 32]),
        vote_log("vote_log_pages", [150, 10, 8]),
        vote_log("vote_log_sectors", [1030, 13, 4]),
        Design::new("share_prover", "share_prover")
            .source("election/ballot_pkg.sv")
            .parameter("N", 256)
            .parameter("ShareBits", 397)
            .memory("share_prover", "share_q"),
    ]
}
