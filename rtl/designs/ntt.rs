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
    ]
}
