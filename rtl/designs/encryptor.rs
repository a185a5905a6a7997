//! Super-size arithmetic and the encryptor in `rtl/dghv`.

use hearith_verilated::build::Design;

/// Roots made of half powers of two: one of order 16 modulo 241, and one of order 128 modulo 2^64 -
/// 2^32 + 1.
const ROOT_16: &str = "66'd197";
const ROOT_128: &str = "66'd18446741870424883713";

/// The root of order 2^14 whose 256th power is 8.
const ROOT_16384: &str = "66'd18026564079049828345";

fn design(name: &str, top: &str) -> Design {
    let design = Design::new(name, top).source("dghv/dghv_pkg.sv").source("ntt/ntt_pkg.sv");
    design.source("dghv/four_step_pkg.sv")
}

/// Designs for blocks of 8 digits of 2 bits, in words of 8 bits: everything as short as possible.
fn tiny(name: &str, top: &str) -> Design {
    let design = design(name, top).parameter("B", 4).parameter("High", 2).parameter("Low", 2);
    design.parameter("Root", ROOT_16).parameter("Halves", 1).parameter("Base", 2).parameter("Width", 8)
}

/// Designs for blocks of 64 digits of 28 bits, in words of 64 bits: the design's own size.
fn full(name: &str, top: &str) -> Design {
    design(name, top).parameter("Root", ROOT_128)
}

fn over_memory(name: &str, top: &str) -> Design {
    design(name, top).source("lib/axi4_pkg.sv")
}

/// Products by four-step transforms, with columns and rows of `columns` to 128 points.
fn four_step(name: &str, top: &str, columns: u32, base: u32) -> Design {
    let low = columns.ilog2() - 1;
    let design = over_memory(name, top).parameter("High", 7 - low).parameter("Low", low);
    design.parameter("Root", ROOT_16384).parameter("Columns", columns).parameter("Base", base)
}

/// The encryptor at its own size, where transforms of up to 128 by 128 points compute a reduction's
/// products of at least `words` words.
fn by_transforms(name: &str, words: u32) -> Design {
    let design = full(name, "dghv_encryptor").parameter("LongWords", words);
    let design = design.parameter("LongHigh", 6).parameter("LongLow", 1).parameter("LongRoot", ROOT_16384);
    design.parameter("LongColumns", 4).parameter("LongBase", 16)
}

pub fn designs() -> Vec<Design> {
    vec![
        tiny("super_product_16", "super_product"),
        full("super_product_128", "super_product"),
        design("super_sum_8", "super_sum").parameter("Width", 8).parameter("Chunk", 4),
        design("super_sum_64", "super_sum"),
        tiny("dghv_encryptor_16", "dghv_encryptor")
            .parameter("Chunk", 4)
            .memory("ram_1r1w", "word_q")
            .memory("folded_multiplier", "sum_q")
            .memory("wide_product", "a_q")
            .memory("wide_product", "b_q"),
        full("dghv_encryptor_128", "dghv_encryptor"),
        // Designs that use transforms for the products of every reduction, and for long ones only.
        by_transforms("dghv_encryptor_transforms", 1).memory("ram_1r1w", "word_q").memory("wide_product", "a_q"),
        by_transforms("dghv_encryptor_mixed", 40),
        four_step("transform_product_128", "transform_product", 4, 16).parameter("LongWords", 5),
        four_step("four_step_128", "four_step", 4, 16),
        over_memory("four_step_2048", "four_step"),
        four_step("four_step_multiplier_128", "four_step_multiplier", 4, 16)
            .parameter("Timeout", 400)
            .memory("ram_1r1w", "word_q")
            .memory("wide_product", "a_q"),
        four_step("four_step_multiplier_wide", "four_step_multiplier", 8, 24),
        over_memory("four_step_multiplier_2048", "four_step_multiplier"),
    ]
}
