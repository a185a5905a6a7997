//! The simulated residue banks.

#[path = "../../rtl/designs/pools.rs"]
#[allow(dead_code, reason = "no bank has the pool of 720 bits")]
mod pools;

use hearith_verilated::build::{Design, coverage};

/// The primes of the lattice scheme, the largest of 50 bits that are 1 modulo 2^15. A test compares
/// them with its parameter sets.
const LATTICE: [u64; 8] = [
    1_125_899_904_679_937,
    1_125_899_903_991_809,
    1_125_899_903_827_969,
    1_125_899_903_795_201,
    1_125_899_903_500_289,
    1_125_899_903_107_073,
    1_125_899_902_124_033,
    1_125_899_901_665_281,
];

/// A bank. With coverage, models of many units are too long for the C++ compiler to optimise.
fn bank(name: &str, primes: &[u64], v: u32, words: u32, stream_bits: u32) -> Design {
    let digits: String = primes.iter().rev().map(|prime| format!("{prime:016x}")).collect();
    Design::new(name, "residue_bank")
        .source("../../rtl/lib/accelerator_pkg.sv")
        .source("../../rtl/rns/rns_pkg.sv")
        .parameter("Count", primes.len())
        .parameter("Primes", format!("{}'h{digits}", 64 * primes.len()))
        .parameter("V", v)
        .parameter("Words", words)
        .parameter("StreamBits", stream_bits)
        .optimisation(u32::from(!coverage()))
}

pub fn designs() -> Vec<Design> {
    // The largest primes of the paper's pools, enough that their product exceeds a coefficient.
    let primes_360 = &pools::POOL_360[..12];
    // With coverage, two units are enough.
    let primes_1440 = &pools::POOL_1440[..if coverage() { 2 } else { 48 }];
    vec![
        // Three primes of six bits, streams of 32.
        bank("residue_bank_60", &[59, 47, 37], 6, 10, 32),
        // A coefficient per beat, and its residues in another.
        bank("residue_bank_60_wide", &[59, 47, 37], 6, 10, 96),
        // Banks for `bfv-4096` and `bfv-8192`, and for `bfv-16384`.
        bank("residue_bank_200", &LATTICE[..4], 50, 4, 64),
        bank("residue_bank_400", &LATTICE, 50, 8, 64),
        bank("residue_bank_360", primes_360, 30, 12, 64),
        // A coefficient per cycle.
        bank("residue_bank_360_wide", primes_360, 30, 12, 384),
        // This takes long to compile: the paper's units without pipeline stages, and without
        // optimisation by the C++ compiler.
        bank("residue_bank_1440", primes_1440, 30, 48, 64)
            .parameter("Architecture", 0)
            .parameter("Stages", 0)
            .optimisation(0),
    ]
}
