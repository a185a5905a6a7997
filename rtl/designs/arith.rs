//! `rtl/arith`.

use hearith_verilated::build::{Design, coverage};

/// The width of a design for tests of wide numbers. With coverage, which takes a point for every bit of every wire, such designs
/// are narrow and their tests are left out.
fn wide(bits: u32) -> u32 {
    if coverage() { bits.min(128) } else { bits }
}

/// Digit-serial Montgomery: a design for modulus bits, digit bits and quotient delay.
fn digits(name: &str, top: &str, n: u32, w: u32, d: u32) -> Design {
    Design::new(name, top).parameter("N", n).parameter("W", w).parameter("D", d)
}

fn ladder(name: &str, n: u32, w: u32, d: u32, bits: u32, exit: u32) -> Design {
    digits(name, "mod_exp_ladder", n, w, d).parameter("Bits", bits).parameter("Exit", exit)
}

/// Dual lanes, with words of `v` bits.
fn dual(name: &str, n: u32, lanes: u32, w: u32, v: u32, d: u32) -> Design {
    digits(name, "dual_lanes", n, w, d).parameter("V", v).parameter("Lanes", lanes)
}

pub fn designs() -> Vec<Design> {
    vec![
        digits("cios_4", "mont_mul_cios", 4, 4, 1),
        digits("cios_7", "mont_mul_cios", 7, 4, 3),
        digits("cios_100", "mont_mul_cios", 100, 17, 2),
        digits("cios_1024", "mont_mul_cios", wide(1024), 16, 2).shared(&["mont_row", "mont_digits"]).optimisation(2),
        digits("cios_2048", "mont_mul_cios", wide(2048), 16, 2).shared(&["mont_row", "mont_digits"]),
        ladder("ladder_5", 5, 4, 1, 4, 1),
        ladder("ladder_96", 96, 16, 2, 12, 0),
        ladder("ladder_exit_96", 96, 16, 2, 12, 1),
        ladder("ladder_1024", wide(1024), 16, 2, 86, 1).shared(&["mont_row", "mont_digits"]).optimisation(2),
        dual("dual_lane_40", 40, 1, 4, 4, 2),
        dual("dual_lane_40_words", 40, 3, 4, 6, 3),
        dual("dual_lane_256", 256, 1, 17, 23, 4),
        dual("dual_lane_256_balanced", 256, 1, 18, 24, 2),
        dual("dual_lane_1024", wide(1024), 1, 18, 24, 2)
            .shared(&["dual_row", "dual_digits", "dual_source"])
            .optimisation(2),
        Design::new("radix2_5", "mont_mul_radix2").parameter("N", 5).parameter("XBits", 7).parameter("Word", 4),
        Design::new("radix2_256", "mont_mul_radix2").parameter("N", 256).parameter("XBits", 514),
        Design::new("radix2_1024", "mont_mul_radix2")
            .parameter("N", wide(1024))
            .parameter("XBits", 2050)
            .optimisation(2),
        Design::new("carry_resolve_7", "carry_resolve")
            .parameter("Words", 7)
            .parameter("W", 4)
            .parameter("B", 6)
            .parameter("PerCycle", 3),
        Design::new("div_exact_9", "div_exact")
            .parameter("XBits", 9)
            .parameter("DBits", 4)
            .parameter("QBits", 7)
            .parameter("Word", 4),
        Design::new("div_exact_561", "div_exact")
            .parameter("XBits", 2 * wide(512) + 49)
            .parameter("DBits", wide(512))
            .parameter("QBits", wide(512) + 49),
        Design::new("div_restoring_9", "div_restoring")
            .parameter("XBits", 9)
            .parameter("DBits", 4)
            .parameter("QBits", 6)
            .parameter("Limb", 2),
        Design::new("div_restoring_561", "div_restoring")
            .parameter("XBits", 2 * wide(512) + 49)
            .parameter("DBits", wide(512))
            .parameter("QBits", wide(512) + 49),
        Design::new("mod_add_5", "mod_add").parameter("N", 5).parameter("Limb", 2),
        Design::new("mod_add_1024", "mod_add").parameter("N", wide(1024)),
        Design::new("cond_sub_6", "cond_sub").parameter("N", 6).parameter("Limb", 3),
        Design::new("cond_sub_1024", "cond_sub").parameter("N", wide(1024)),
        Design::new("wide_add_5", "wide_add").parameter("N", 5).parameter("Limb", 2),
        Design::new("wide_sub_6", "wide_add").parameter("N", 6).parameter("Limb", 3).parameter("Sub", 1),
        Design::new("wide_add_1024", "wide_add").parameter("N", wide(1024)),
        Design::new("wide_sub_1000", "wide_add").parameter("N", wide(1000)).parameter("Sub", 1),
    ]
}
