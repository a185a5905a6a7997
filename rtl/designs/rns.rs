//! `rtl/rns`.

use super::pools::{POOL_360, POOL_720, POOL_1440};
use hearith_verilated::build::{Design, coverage};

/// The architectures of `residue_array`.
const PAPER: u32 = 0;
const COMPACT: u32 = 1;
const ROY: u32 = 2;
const TAN: u32 = 3;

/// The primes that the paper evaluates.
const EVALUATED: [u64; 2] = [1_073_692_673, 1_073_479_681];

/// Primes of the lattice scheme's parameter set of 200 bits.
const LATTICE: [u64; 4] = [(1 << 50) - 0x20_ffff, (1 << 50) - 0x2b_7fff, (1 << 50) - 0x2d_ffff, (1 << 50) - 0x2e_7fff];

/// The longest moduli, which need not be primes: one with the shortest beta except 1, and one with
/// a beta as long as a word allows.
const LONGEST: [u64; 2] = [(1 << 62) - 3, (1 << 61) + 1];

/// Bits from one word to the next: the exponents of the weights have 17 and 18 bits.
const FAR: u32 = 131_069;

/// Parallel units for primes of `v` bits.
fn array(name: &str, architecture: u32, primes: &[u64], v: u32, words: u32, stages: u32) -> Design {
    let digits: String = primes.iter().rev().map(|prime| format!("{prime:016x}")).collect();
    Design::new(name, "residue_array")
        .source("rns/rns_pkg.sv")
        .parameter("Count", primes.len())
        .parameter("Primes", format!("{}'h{digits}", 64 * primes.len()))
        .parameter("V", v)
        .parameter("Words", words)
        .parameter("Stages", stages)
        .parameter("Architecture", architecture)
}

/// A unit for every prime in the paper's pool of five terms for integers of `modulus_bits` bits.
/// Such models are large and run for few cycles, so they are compiled without optimisation. With
/// coverage, two primes are enough.
fn pool(name: &str, architecture: u32, primes: &[u64], modulus_bits: u32) -> Design {
    let primes = if coverage() { &primes[..2] } else { primes };
    array(name, architecture, primes, 30, modulus_bits / 30, 0).optimisation(0)
}

/// Every odd modulus of three or four bits, with as few words as cover all cases.
fn tiny(name: &str, architecture: u32, stages: u32) -> Design {
    match stages % 2 {
        0 => array(name, architecture, &[9, 11, 13, 15], 4, 3, stages),
        _ => array(name, architecture, &[5, 7], 3, 4, stages),
    }
}

fn barrett(name: &str, q: u64, k: u32, truncated: u32) -> Design {
    Design::new(name, "flexible_barrett")
        .source("rns/rns_pkg.sv")
        .parameter("Q", format!("64'd{q}"))
        .parameter("K", k)
        .parameter("Truncated", truncated)
}

/// A unit with a register behind every step, whose products are cut into tiles.
fn deep(name: &str, q: u64, words: u32, paired: u32, (x_tile, f_tile): (u32, u32)) -> Design {
    Design::new(name, "residue_unit_deep")
        .source("rns/rns_pkg.sv")
        .parameter("Q", format!("64'd{q}"))
        .parameter("Words", words)
        .parameter("Paired", paired)
        .parameter("XTile", x_tile)
        .parameter("FTile", f_tile)
}

pub fn designs() -> Vec<Design> {
    let mut designs = vec![
        pool("residues_pool_360", PAPER, &POOL_360, 360),
        pool("residues_pool_360_compact", COMPACT, &POOL_360, 360).long(),
        pool("residues_pool_720_compact", COMPACT, &POOL_720, 720).long(),
        pool("residues_pool_1440", PAPER, &POOL_1440, 1440),
    ];
    for (name, architecture) in [("paper", PAPER), ("compact", COMPACT), ("roy", ROY), ("tan", TAN)] {
        for (bits, stages) in [(360, 4), (1440, 6)] {
            let name = format!("residues_{bits}_{name}");
            designs.push(array(&name, architecture, &EVALUATED, 30, bits / 30, stages).optimisation(0));
        }
        for stages in 0..=7 {
            // The stages are those of the paper, so a sample is enough.
            if architecture != COMPACT || stages % 4 == 0 {
                designs.push(tiny(&format!("residues_tiny_{name}_{stages}"), architecture, stages));
            }
        }
    }
    designs.push(array("residues_200_compact", COMPACT, &LATTICE, 50, 4, 4).optimisation(0));
    for (name, architecture) in [("paper", PAPER), ("compact", COMPACT), ("roy", ROY), ("tan", TAN)] {
        let design = array(&format!("residues_long_{name}"), architecture, &LONGEST, 62, 5, 5).optimisation(0);
        designs.push(if architecture == COMPACT { design } else { design.long() });
    }
    // Single units, with numbers of stages that the array does not support.
    let unit = |name: &str, top: &str, q: u64, words: u32, stages: u32| {
        Design::new(name, top)
            .source("rns/rns_pkg.sv")
            .parameter("Q", format!("64'd{q}"))
            .parameter("Words", words)
            .parameter("Stages", stages)
    };
    designs.extend([
        unit("residue_unit_tiny_8", "residue_unit", 11, 3, 8),
        unit("residue_unit_tan_tiny_9", "residue_unit_tan", 17, 3, 9),
        // The smallest prime of all, and one with the largest possible beta.
        unit("residue_unit_3", "residue_unit", 3, 6, 3),
        unit("residue_unit_17", "residue_unit", 17, 2, 2).parameter("Compact", 1),
        unit("residue_unit_roy_17", "residue_unit_roy", 17, 2, 2),
        deep("residues_deep_360", EVALUATED[0], 12, 1, (26, 17)).optimisation(0),
        deep("residues_deep_360_words", EVALUATED[0], 12, 0, (18, 18)).optimisation(0),
        deep("residues_deep_1440", EVALUATED[1], 48, 1, (18, 18)).optimisation(0),
        deep("residues_deep_long", LONGEST[1], 5, 1, (26, 17)).optimisation(0),
        deep("residues_deep_11", 11, 3, 1, (2, 3)),
        deep("residues_deep_13", 13, 3, 0, (3, 1)),
        deep("residues_deep_5", 5, 4, 1, (26, 17)),
        deep("residues_deep_3", 3, 6, 1, (1, 1)),
        deep("residues_deep_17", 17, 2, 1, (4, 2)),
        deep("residues_deep_9", 9, 3, 0, (5, 7)),
        barrett("barrett_13_5", 13, 5, 0).parameter("Quotient", 1),
        barrett("barrett_13_12", 13, 12, 0).parameter("Difference", 1),
        barrett("barrett_9_14_compact", 9, 14, 1).parameter("Residue", 1),
        barrett("barrett_31_6_compact", 31, 6, 1),
        barrett("barrett_56", EVALUATED[0], 56, 0).parameter("Quotient", 1).parameter("Residue", 1),
        barrett("barrett_58_compact", EVALUATED[1], 58, 1).parameter("Quotient", 1).parameter("Difference", 1),
        // Words as far apart as the first and the last of a number of 2^17 bits.
        Design::new("weighted_sum_far", "weighted_sum")
            .source("rns/rns_pkg.sv")
            .parameter("Q", format!("64'd{}", LONGEST[1]))
            .parameter("Items", 3)
            .parameter("XBits", 30)
            .parameter("Step", FAR)
            .parameter("Sum", 1),
        Design::new("stream_stage_8", "stream_stage").parameter("Width", 8),
    ]);
    designs
}
