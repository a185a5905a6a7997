//! `rtl/ntt`.

use hearith_verilated::build::Design;

fn design(name: &str, top: &str) -> Design {
    Design::new(name, top).source("ntt/ntt_pkg.sv")
}

/// A module for p = 2^a + 1 (b = 0) or 2^a - 2^b + 1.
fn modular(name: &str, top: &str, a: u32, b: u32) -> Design {
    design(name, top).parameter("A", a).parameter("B", b)
}

fn barrett(name: &str, m: u32, p: u64) -> Design {
    design(name, "reduce_barrett").parameter("M", m).parameter("P", format!("66'd{p}"))
}

/// A root for transforms of length 8, modulo the modulus whose roots include no powers of two.
const ROOT_8: &str = "66'd3598607238";

/// Roots of order 16 modulo 241, and of order 256 modulo 2^64 - 2^32 + 1. The powers of two among
/// their powers are powers of 8.
const ROOT_16: &str = "66'd44";
const ROOT_256: &str = "66'd14041890976876060974";

/// The root of 8 made of half powers of two, modulo the latter.
const ROOT_128: &str = "66'd18446741870424883713";

/// Transforms of 2^high times 2^low items, an item per cycle.
fn folded(name: &str, top: &str, b: u32, [high, low]: [u32; 2], root: &str) -> Design {
    let design = design(name, top).parameter("B", b).parameter("High", high).parameter("Low", low);
    design.parameter("Root", root)
}

/// The fully parallel multiplier for one of the paper's moduli.
fn blocks(name: &str, [a, b, k, base, group]: [u32; 5]) -> Design {
    let design = modular(name, "block_multiplier", a, b).parameter("K", k).parameter("Base", base);
    design.parameter("Group", group)
}

/// The multiplier over memory that is built from such blocks.
fn long(name: &str, [a, b, k, base, group]: [u32; 5]) -> Design {
    let design = modular(name, "long_product", a, b).parameter("K", k).parameter("Base", base);
    design.parameter("Group", group).parameter("CountBits", 6)
}

pub fn designs() -> Vec<Design> {
    vec![
        design("reduce_fermat_2", "reduce_fermat").parameter("A", 2),
        design("reduce_fermat_5", "reduce_fermat").parameter("A", 5),
        design("reduce_fermat_32", "reduce_fermat").parameter("A", 32),
        design("reduce_fermat_64", "reduce_fermat").parameter("A", 64),
        modular("reduce_solinas_4_2", "reduce_solinas", 4, 2),
        modular("reduce_solinas_5_2", "reduce_solinas", 5, 2),
        modular("reduce_solinas_7_5", "reduce_solinas", 7, 5),
        modular("reduce_solinas_8_4", "reduce_solinas", 8, 4),
        modular("reduce_solinas_32_20", "reduce_solinas", 32, 20),
        modular("reduce_solinas_64_32", "reduce_solinas", 64, 32),
        barrett("reduce_barrett_17", 5, 17),
        barrett("reduce_barrett_31", 5, 31),
        barrett("reduce_barrett_241", 8, 241),
        barrett("reduce_barrett_32", 32, (1 << 32) - (1 << 20) + 1),
        barrett("reduce_barrett_64", 64, u64::MAX - (1 << 32) + 2),
        modular("modular_product_4_0", "modular_product", 4, 0).parameter("ATile", 3).parameter("BTile", 2),
        modular("modular_product_8_4", "modular_product", 8, 4).parameter("ATile", 4).parameter("BTile", 3),
        modular("modular_product_barrett", "modular_product", 32, 20).parameter("Barrett", 1),
        modular("modular_product_64_0", "modular_product", 64, 0).parameter("ATile", 17),
        modular("modular_product_64_32", "modular_product", 64, 32),
        modular("modular_pair_4_0", "modular_pair", 4, 0),
        modular("modular_pair_8_4", "modular_pair", 8, 4),
        modular("modular_pair_64_0", "modular_pair", 64, 0),
        modular("modular_pair_64_32", "modular_pair", 64, 32),
        modular("shift_products_2_0", "shift_products", 2, 0),
        modular("shift_products_4_0", "shift_products", 4, 0),
        modular("shift_products_8_4", "shift_products", 8, 4),
        modular("shift_products_64_0", "shift_products", 64, 0),
        modular("shift_products_64_32", "shift_products", 64, 32),
        modular("twiddles_4_0", "twiddles", 4, 0).parameter("K", 16),
        modular("twiddles_8_4", "twiddles", 8, 4).parameter("K", 16),
        modular("twiddles_64_32", "twiddles", 64, 32).parameter("K", 128),
        modular("twiddles_32_20", "twiddles", 32, 20).parameter("K", 8).parameter("Root", ROOT_8),
        modular("twiddles_barrett", "twiddles", 32, 20)
            .parameter("K", 8)
            .parameter("Root", ROOT_8)
            .parameter("Barrett", 1),
        modular("ntt_2_0", "ntt_parallel", 2, 0).parameter("K", 4),
        modular("ntt_2_0_inverse", "ntt_parallel", 2, 0).parameter("K", 4).parameter("Inverse", 1),
        modular("ntt_4_0", "ntt_parallel", 4, 0).parameter("K", 16),
        modular("ntt_8_4_inverse", "ntt_parallel", 8, 4).parameter("K", 16).parameter("Inverse", 1),
        modular("ntt_32_20", "ntt_parallel", 32, 20).parameter("K", 8).parameter("Root", ROOT_8),
        modular("ntt_32_20_inverse", "ntt_parallel", 32, 20)
            .parameter("K", 8)
            .parameter("Root", ROOT_8)
            .parameter("Barrett", 1)
            .parameter("Inverse", 1),
        modular("convolution_8_4", "convolution_parallel", 8, 4).parameter("K", 4).parameter("Base", 3),
        design("pair_sums_8", "pair_sums").parameter("K", 8).parameter("Base", 3).parameter("Bound", 8),
        design("pair_sums_2", "pair_sums")
            .parameter("K", 4)
            .parameter("Base", 5)
            .parameter("Bound", 5)
            .parameter("Group", 2),
        design("block_rows_2", "block_rows").parameter("Half", 2).parameter("Width", 3).parameter("WordBits", 5),
        design("block_rows_8", "block_rows"),
        design("variable_shift_4", "variable_shift").parameter("B", 4),
        design("variable_shift_32", "variable_shift"),
        folded("ntt_folded_16", "ntt_folded", 4, [2, 2], ROOT_16),
        folded("ntt_folded_16_inverse", "ntt_folded", 4, [2, 2], ROOT_16).parameter("Inverse", 1).parameter("Start", 5),
        folded("ntt_folded_256", "ntt_folded", 32, [4, 4], ROOT_256),
        folded("ntt_folded_256_inverse", "ntt_folded", 32, [4, 4], ROOT_256).parameter("Inverse", 1),
        design("ntt_lengths_128", "ntt_lengths").parameter("High", 4).parameter("Low", 3).parameter("Root", ROOT_128),
        design("root_product_14", "root_product").parameter("Log", 14).parameter("Root", "66'd18026564079049828345"),
        folded("folded_16", "folded_multiplier", 4, [2, 2], ROOT_16).parameter("Base", 2),
        folded("folded_16_halves", "folded_multiplier", 4, [2, 2], "66'd197")
            .parameter("Halves", 1)
            .parameter("Base", 2),
        folded("folded_128_halves", "folded_multiplier", 32, [4, 3], ROOT_128)
            .parameter("Halves", 1)
            .parameter("Base", 28),
        folded("folded_256", "folded_multiplier", 32, [3, 5], ROOT_256).parameter("Base", 28),
        design("folded_4096", "folded_multiplier"),
        blocks("blocks_8_4", [8, 4, 8, 3, 2]),
        long("long_product_8_4", [8, 4, 8, 3, 2]),
        long("long_product_32_0", [32, 0, 16, 13, 2]),
        blocks("blocks_32_0", [32, 0, 64, 12, 4]).optimisation(0),
        blocks("blocks_64_0", [64, 0, 16, 30, 4]),
        blocks("blocks_64_32", [64, 32, 16, 29, 4]),
        blocks("blocks_barrett", [32, 20, 8, 14, 2]).parameter("Root", ROOT_8).parameter("Barrett", 1),
    ]
}
