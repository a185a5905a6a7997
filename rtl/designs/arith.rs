//! `rtl/arith`.

use hearith_verilated::build::{Design, coverage};

/// The width of a design for tests of wide numbers. Coverage records a point for every bit of every
/// wire. With coverage such designs are therefore narrow, and their tests are left out.
fn wide(bits: u32) -> u32 {
    if coverage() { bits.min(128) } else { bits }
}

/// Digit-serial Montgomery multiplication: bits of the modulus, a digit and a word, and the delay
/// of the quotient.
fn digits(name: &str, top: &str, n: u32, w: u32, v: u32, d: u32) -> Design {
    Design::new(name, top).parameter("N", n).parameter("W", w).parameter("V", v).parameter("D", d)
}

fn cios(name: &str, n: u32, w: u32, v: u32, d: u32) -> Design {
    digits(name, "mont_mul_cios", n, w, v, d)
}

fn ladder(name: &str, [n, w, v, d]: [u32; 4], bits: u32, exit: u32) -> Design {
    digits(name, "mod_exp_ladder", n, w, v, d).parameter("Bits", bits).parameter("Exit", exit)
}

/// Products by large digits, with the bits of a digit, a word and a tile.
fn large(name: &str, top: &str, n: u32, [digit, width, tile]: [u32; 3]) -> Design {
    let design = Design::new(name, top).parameter("N", n).parameter("Digit", digit);
    design.parameter("Width", width).parameter("Tile", tile)
}

fn digit(name: &str, n: u32, shape: [u32; 3]) -> Design {
    large(name, "mont_mul_digit", n, shape)
}

fn pair(name: &str, n: u32, shape: [u32; 3]) -> Design {
    large(name, "mod_exp_pair", n, shape)
}

/// Dual lanes, with words of `v` bits.
fn dual(name: &str, [n, w, v, d]: [u32; 4], lanes: u32) -> Design {
    digits(name, "dual_lanes", n, w, v, d).parameter("Lanes", lanes)
}

/// Products of dual numbers.
fn dual_mul(name: &str, h: u32, [w, v, d]: [u32; 3]) -> Design {
    let design = Design::new(name, "dual_mul").parameter("H", h).parameter("W", w);
    design.parameter("V", v).parameter("D", d)
}

pub fn designs() -> Vec<Design> {
    vec![
        cios("cios_4", 4, 4, 4, 2),
        cios("cios_7", 7, 4, 5, 3),
        cios("cios_20", 20, 4, 7, 4),
        cios("cios_100", 100, 17, 33, 2),
        cios("cios_256", wide(256), 18, 18, 5).parameter("Near", 1),
        cios("cios_1024", wide(1024), 17, 24, 2).shared(&["mont_row"]),
        cios("cios_2048", wide(2048), 17, 24, 2).shared(&["mont_row"]),
        digit("digit_5", 5, [8, 4, 4]),
        digit("digit_7", 7, [4, 4, 4]),
        digit("digit_100", 100, [32, 16, 8]),
        digit("digit_512", wide(512), [64, 64, 16]),
        digit("digit_1024", wide(1024), [256, 128, 16]),
        digit("digit_1024_272", wide(1024), [272, 136, 17]).long(),
        digit("digit_2048", wide(2048), [272, 136, 17]).long(),
        digit("digit_4096", wide(4096), [256, 128, 16]).long(),
        pair("pair_5", 5, [8, 4, 4]),
        pair("pair_7", 7, [4, 4, 4]),
        pair("pair_100", 100, [32, 16, 8]),
        pair("pair_1024", wide(1024), [256, 128, 16]),
        ladder("ladder_5", [5, 4, 4, 2], 4, 1),
        ladder("ladder_5_words", [5, 4, 6, 4], 4, 1).parameter("Near", 1),
        ladder("ladder_96", [96, 17, 23, 2], 12, 0),
        ladder("ladder_exit_96", [96, 17, 23, 2], 12, 1),
        ladder("ladder_1024", [wide(1024), 17, 23, 2], 86, 1).shared(&["mont_row", "mont_digits"]),
        dual("dual_lane_40", [40, 4, 4, 2], 1),
        dual("dual_lane_40_words", [40, 4, 6, 3], 3),
        dual("dual_lane_256", [256, 17, 23, 4], 1),
        dual("dual_lane_256_balanced", [256, 18, 24, 2], 1),
        dual("dual_lane_1024", [wide(1024), 18, 24, 2], 1).shared(&["dual_row", "dual_digits", "dual_source"]),
        dual_mul("dual_mul_5", 5, [4, 4, 2]),
        dual_mul("dual_mul_20", 20, [4, 6, 3]),
        dual_mul("dual_mul_20_folded", 20, [4, 6, 3]).parameter("Fold", 2),
        dual_mul("dual_mul_128", 128, [17, 23, 4]),
        dual_mul("dual_mul_512", wide(512), [18, 26, 2]),
        Design::new("radix2_5", "mont_mul_radix2").parameter("N", 5).parameter("XBits", 7).parameter("Word", 4),
        Design::new("radix2_256", "mont_mul_radix2").parameter("N", 256).parameter("XBits", 514),
        Design::new("radix2_1024", "mont_mul_radix2").parameter("N", wide(1024)).parameter("XBits", 2050),
        Design::new("carry_resolve_7", "carry_resolve")
            .parameter("Words", 7)
            .parameter("W", 4)
            .parameter("B", 6)
            .parameter("PerCycle", 3),
        Design::new("carry_resolve_uneven", "carry_resolve")
            .parameter("Words", 7)
            .parameter("W", 5)
            .parameter("B", 6)
            .parameter("PerCycle", 3)
            .parameter("Span", 14),
        Design::new("div_exact_9", "div_exact")
            .parameter("XBits", 9)
            .parameter("DBits", 4)
            .parameter("QBits", 7)
            .parameter("Word", 4),
        Design::new("div_exact_1076", "div_exact")
            .parameter("XBits", 2 * wide(512) + 52)
            .parameter("DBits", wide(512))
            .parameter("QBits", 2 * wide(512) + 52),
        Design::new("div_restoring_9", "div_restoring")
            .parameter("XBits", 9)
            .parameter("DBits", 4)
            .parameter("QBits", 6)
            .parameter("Limb", 2),
        Design::new("div_restoring_564", "div_restoring")
            .parameter("XBits", 2 * wide(512) + 52)
            .parameter("DBits", wide(512))
            .parameter("QBits", wide(512) + 52),
        Design::new("mod_add_3", "mod_add").parameter("N", 3).parameter("Limb", 8),
        Design::new("mod_add_5", "mod_add").parameter("N", 5).parameter("Limb", 2),
        Design::new("mod_add_1024", "mod_add").parameter("N", wide(1024)),
        Design::new("cond_sub_3", "cond_sub").parameter("N", 3).parameter("Limb", 8),
        Design::new("cond_sub_6", "cond_sub").parameter("N", 6).parameter("Limb", 3),
        Design::new("cond_sub_1024", "cond_sub").parameter("N", wide(1024)),
        Design::new("wide_add_3", "wide_add").parameter("N", 3).parameter("Limb", 8),
        Design::new("wide_add_5", "wide_add").parameter("N", 5).parameter("Limb", 2),
        Design::new("wide_sub_6", "wide_add").parameter("N", 6).parameter("Limb", 3).parameter("Sub", 1),
        Design::new("wide_add_1024", "wide_add").parameter("N", wide(1024)),
        Design::new("wide_sub_1000", "wide_add").parameter("N", wide(1000)).parameter("Sub", 1),
    ]
}
