//! Compiles the simulated devices of the systems whose features are on.

mod banks;

use std::env;

use hearith_verilated::build::{Build, Design, coverage};

/// The simulated MESAs: bits of the key, ladders per branch, bits of a beat.
const MESA: [(u32, u32, u32); 5] = [(64, 1, 32), (128, 2, 64), (256, 2, 64), (1024, 6, 64), (2048, 3, 64)];

/// The simulated MESAs in dual numbers: bits of the key, lanes per branch, bits of a digit, bits of
/// a beat.
const DUAL: [(u32, u32, u32, u32); 5] =
    [(64, 1, 16, 32), (128, 2, 17, 64), (256, 3, 18, 64), (1024, 10, 18, 64), (2048, 10, 18, 64)];

/// The package with every device's registers.
const REGISTERS: &str = "../../rtl/lib/accelerator_pkg.sv";

/// Modules with many instances.
const SHARED: [&str; 13] = [
    "mesa_dual_branch",
    "dual_lanes",
    "dual_lane",
    "dual_mul",
    "dual_row",
    "mesa_branch",
    "mod_exp_ladder",
    "mont_row",
    "mont_digits",
    "dual_digits",
    "mont_mul_radix2",
    "div_exact",
    "cond_sub",
];

/// The width of a device. With coverage, wide devices would repeat the same lines. They are
/// therefore narrow, and their tests are left out.
fn width(bits: u32) -> u32 {
    if coverage() { bits.min(128) } else { bits }
}

/// The C++ optimisation level. Optimising the widest devices, which only long tests run, costs more
/// time than it saves.
fn effort(bits: u32) -> u32 {
    u32::from(bits < 2048)
}

/// Marks designs that are too wide for any but the long tests.
fn mark(design: Design, long: bool) -> Design {
    if long { design.long() } else { design }
}

/// The pipelined decryptors.
fn mesa() -> Vec<Design> {
    let restoring = Design::new("mesa_128_restoring", "mesa")
        .parameter("N", 128)
        .parameter("Stages", 2)
        .parameter("Exact", 0)
        .parameter("StreamBits", 64)
        .source(REGISTERS)
        .shared(&SHARED);
    let mesa = MESA.map(|(bits, stages, stream)| {
        let design = Design::new(&format!("mesa_{bits}"), "mesa")
            .parameter("N", width(bits))
            .parameter("Stages", stages)
            .parameter("StreamBits", stream)
            .source(REGISTERS)
            .shared(&SHARED)
            .optimisation(effort(bits));
        mark(design, bits >= 2048)
    });
    // Shapes in which the shared part of the stages is slower than a stage.
    let shapes = [2, 3].map(|stages| {
        Design::new(&format!("mesa_64_{stages}"), "mesa")
            .parameter("N", 64)
            .parameter("Stages", stages)
            .parameter("StreamBits", 32)
            .source(REGISTERS)
            .shared(&SHARED)
    });
    mesa.into_iter().chain([restoring]).chain(shapes).collect()
}

/// The decryptors in dual numbers.
fn mesa_dual() -> Vec<Design> {
    let dual = DUAL.map(|(bits, lanes, digit, stream)| {
        let design = Design::new(&format!("mesa_dual_{bits}"), "mesa_dual")
            .parameter("N", width(bits))
            .parameter("Lanes", lanes)
            .parameter("W", digit)
            .parameter("StreamBits", stream)
            .source(REGISTERS)
            .shared(&SHARED)
            .optimisation(effort(bits));
        mark(design, bits >= 2048)
    });
    // Enough lanes for the product after them to be the slower part.
    let many_lanes = Design::new("mesa_dual_64_10", "mesa_dual")
        .parameter("N", 64)
        .parameter("Lanes", 10)
        .parameter("W", 16)
        .parameter("StreamBits", 32)
        .source(REGISTERS)
        .shared(&SHARED);
    dual.into_iter().chain([many_lanes]).collect()
}

/// A simulated co-processor: bits of the key, multipliers, contexts, teeth of the comb, bits of a
/// beat.
fn coprocessor(name: &str, [bits, cores, contexts, teeth, stream]: [u32; 5]) -> Design {
    Design::new(name, "coproc")
        .parameter("N", bits)
        .parameter("Cores", cores)
        .parameter("Contexts", contexts)
        .parameter("Teeth", teeth)
        .parameter("StreamBits", stream)
        .source(REGISTERS)
        .source("../../rtl/coproc/coproc_pkg.sv")
        .shared(&SHARED)
}

/// The co-processors.
fn coproc() -> Vec<Design> {
    vec![
        coprocessor("coproc_64", [64, 1, 2, 4, 32]).parameter("Groups", 4).memory("ram_1r1w", "word_q"),
        coprocessor("coproc_256", [256, 2, 4, 8, 64]),
        coprocessor("coproc_512", [width(512), 1, 4, 4, 64]),
        coprocessor("coproc_512_digit", [width(512), 1, 4, 4, 64]).parameter("Core", 1),
        coprocessor("coproc_512_dual", [width(512), 1, 4, 4, 64]).parameter("Core", 2),
        // The widest co-processor, for a long test only, and small in all other respects.
        coprocessor("coproc_4096", [width(4096), 1, 2, 4, 64]).parameter("Groups", 2).optimisation(0).long(),
        coprocessor("coproc_64_digit", [64, 1, 2, 4, 32])
            .parameter("Core", 1)
            .parameter("Digit", 32)
            .parameter("Width", 16)
            .parameter("Tile", 8)
            .parameter("Groups", 4)
            .memory("ram_1r1w", "word_q"),
        coprocessor("coproc_64_dual", [64, 1, 2, 4, 32])
            .parameter("Core", 2)
            .parameter("Groups", 4)
            .memory("ram_1r1w", "word_q"),
        coprocessor("coproc_256_dual", [256, 2, 4, 8, 64]).parameter("Core", 2),
    ]
}

/// A simulated accelerator of encryption over the integers: rounds of AES, words of memory, bits of
/// a beat.
fn integers(name: &str, [rounds, words, stream]: [u32; 3]) -> Design {
    Design::new(name, "dghv")
        .parameter("Rounds", rounds)
        .parameter("MemoryWords", words)
        .parameter("StreamBits", stream)
        .parameter("Timeout", 1000)
        .source(REGISTERS)
        .source("../../rtl/lib/axi4_pkg.sv")
        .source("../../rtl/ntt/ntt_pkg.sv")
        .source("../../rtl/dghv/aes_pkg.sv")
        .source("../../rtl/dghv/dghv_pkg.sv")
        .source("../../rtl/dghv/four_step_pkg.sv")
}

/// The accelerators of encryption over the integers.
fn dghv() -> Vec<Design> {
    vec![
        integers("dghv_tiny", [1, 1 << 12, 32])
            .memory("ram_1r1w", "word_q")
            .memory("folded_multiplier", "sum_q")
            .memory("wide_product", "a_q")
            .memory("wide_product", "b_q"),
        integers("dghv_small", [2, 1 << 17, 64]),
        // From a few thousand bits on, transforms compute a reduction's products.
        integers("dghv_long", [2, 1 << 14, 64])
            .parameter("LongWords", 40)
            .memory("ram_1r1w", "word_q")
            .memory("wide_product", "a_q"),
    ]
}

/// The serial line of a ballot machine's board. Its bits are short to keep simulations short.
fn line(design: Design) -> Design {
    let times = [("BaudDivisor", 8), ("Timeout", 40_000), ("Retries", 4)];
    let design = times.into_iter().fold(design, |design, (name, value)| design.parameter(name, value));
    design.source("../../rtl/links/link_pkg.sv")
}

/// A simulated encryptor board: bits of n, contests, slots of its log, bits of a digit.
fn encryptor_board(name: &str, [bits, contests, slots, digit]: [u32; 4]) -> Design {
    let sizes = [
        ("N", 2 * bits),
        ("ABits", bits / 2),
        ("Contests", contests),
        ("Candidates", 2),
        ("Voters", 1000),
        ("Slots", slots),
        ("Digit", digit),
        ("SckHalfPeriod", 5),
        ("FlashSckHalfPeriod", 3),
        ("FlashTimeout", 200),
        ("Samples", 640),
        ("NoiseTimeout", 4000),
    ];
    let board = Design::new(name, "encryptor_board");
    let board = sizes.into_iter().fold(board, |design, (name, value)| design.parameter(name, value));
    line(board.source("../../rtl/election/ballot_pkg.sv").shared(&["mod_exp_pair"]))
}

/// A simulated tally board: bits of n, contests, most ballots, bits of a digit.
fn tally_board(name: &str, [bits, contests, slots, digit]: [u32; 4]) -> Design {
    let sizes = [
        ("N", 2 * bits),
        ("EBits", 2 * bits),
        // Shares of a key that up to nine trustees generated together have at most 3 b + 301 bits.
        ("ShareBits", 3 * bits + 320),
        ("Contests", contests),
        ("Candidates", 2),
        ("Slots", slots),
        ("Digit", digit),
        ("Samples", 640),
        ("NoiseTimeout", 4000),
    ];
    let board = Design::new(name, "tally_board");
    let board = sizes.into_iter().fold(board, |design, (name, value)| design.parameter(name, value));
    line(board.source("../../rtl/election/ballot_pkg.sv").shared(&["mod_exp_pair"]))
}

/// The ballot machine's boards; a terminal's end of their lines, with buffers for the largest
/// messages; and a source of ballots for the smaller tally board where there is no encryptor board.
fn ballot_machine() -> Vec<Design> {
    vec![
        // A key of real size takes minutes per ballot: for a long test.
        encryptor_board("encryptor_board_2048", [2048, 1, 8, 256]).optimisation(2).long(),
        encryptor_board("encryptor_board", [256, 3, 64, 64])
            .memory("secret_power", "exponent_q")
            .memory("mark_prover", "opening_q"),
        // Counts the ballots of the large encryptor board. That test computes neither products nor
        // powers here, so small digits are enough.
        tally_board("tally_board_2048", [2048, 1, 4, 64]).long(),
        tally_board("tally_board", [256, 3, 64, 64]).memory("share_prover", "rho_q"),
        line(Design::new("terminal", "uart_link")).parameter("Words", 608),
        Design::new("ballot_feeder", "spi_controller_link")
            .source("../../rtl/links/link_pkg.sv")
            .parameter("SckHalfPeriod", 5)
            .parameter("Words", 40)
            .parameter("Timeout", 40_000)
            .parameter("Retries", 4),
    ]
}

/// A feature and its designs.
type System = (&'static str, fn() -> Vec<Design>);

/// The systems, those that take longest to compile first.
const SYSTEMS: [System; 6] = [
    ("MESA_DUAL", mesa_dual),
    ("MESA", mesa),
    ("RNS", banks::designs),
    ("COPROC", coproc),
    ("DGHV", dghv),
    ("BALLOT_MACHINE", ballot_machine),
];

fn main() {
    println!("cargo::rerun-if-changed=banks.rs");
    println!("cargo::rerun-if-changed=../../rtl/designs/pools.rs");
    let build = ["lib", "arith", "mesa", "ntt", "rns", "coproc", "dghv", "links", "election"]
        .map(|directory| format!("../../rtl/{directory}"));
    let build = build.into_iter().fold(Build::new(), Build::library);
    let wanted = SYSTEMS.into_iter().filter(|(feature, _)| env::var_os(format!("CARGO_FEATURE_{feature}")).is_some());
    build.covers("../../rtl/tests/cover").designs(wanted.flat_map(|(_, designs)| designs())).finish();
}
