//! Ladder segments against GMP: every exponent at a tiny width, chained segments, full width.
//! Cycles and multiplications do not depend on the exponent.

use crate::golden::{Core, Montgomery, below, limbs, number, odd, power};
use crate::idle::{Module, Operation, items};
use hearith_rtl::{LADDER_5, LADDER_5_WORDS, LADDER_96, LADDER_1024, LADDER_EXIT_96};
use hearith_verilated::Design;
use hearith_verilated::bench::{Bench, Random};
use rug::Integer;

fn ladder(design: &'static Design) -> Core {
    Core { design, operands: &["x_i", "y_i"], results: &["x_o", "y_o"] }
}

/// The ordered pair of `S` and `Z` before a bit.
fn ordered(form: &Montgomery, s: &Integer, z: &Integer, bit: bool) -> Vec<Integer> {
    let (x, y) = if bit { (z, s) } else { (s, z) };
    vec![form.spread(x), form.spread(y)]
}

/// `base^exponent R mod M`.
fn power_in_form(form: &Montgomery, base: &Integer, exponent: &Integer) -> Integer {
    let power = base.clone().pow_mod(exponent, &form.modulus).expect("an exponent that is not negative");
    power * &form.r % &form.modulus
}

/// Every exponent of 4 bits with a modulus of 5 bits, digits of 4 bits, and `near` more registers
/// on each side of a multiplier.
fn check_every_exponent(design: &'static Design, v: u32, d: u32, near: u64) {
    let core = ladder(design);
    for modulus in [1, 3, 5, 7, 9, 15, 17, 21, 29, 31].map(Integer::from) {
        let form = Montgomery::new(&modulus, 5, 4, v, d);
        // Every length: the exponent is aligned to the top of four bits.
        for (length, exponent) in (1..5_u32).flat_map(|length| (0..1_u32 << length).map(move |one| (length, one))) {
            let bases: Vec<Integer> = (0..8).map(|base| Integer::from(base * 5 + exponent) % &modulus).collect();
            let items: Vec<Vec<Integer>> = bases
                .iter()
                .map(|base| {
                    let one = Integer::from(&form.r % &modulus);
                    ordered(&form, &one, &(Integer::from(base * &form.r) % &modulus), exponent >> (length - 1) == 1)
                })
                .collect();
            let constants = [
                ("mt_i", &form.mt),
                ("exponent_i", &Integer::from(exponent << (4 - length))),
                ("steps_i", &Integer::from(length)),
                ("next_i", &Integer::from(1)),
            ];
            let latency = u64::from(length + 1) * (form.step + 2 * near) + 1;
            let results = core.timed(&constants, &items, latency, latency + 1);
            for (base, result) in bases.iter().zip(&results) {
                let r = form.gather(&result[0]);
                let expected = base.clone().pow_mod(&Integer::from(exponent), &modulus).expect("not negative");
                assert_eq!(Integer::from(&r % &modulus), expected, "{base}^{exponent} mod {modulus}");
                assert!(r <= form.scaled);
            }
            assert!(core.pressed(&constants, &items, exponent.into()).iter().zip(&results).all(|(a, b)| a[0] == b[0]));
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn every_exponent_of_four_bits() {
    check_every_exponent(&LADDER_5, 4, 2, 0);
    check_every_exponent(&LADDER_5_WORDS, 6, 4, 1);
}

/// Two chained segments of 12 bits, and of 7 bits, which leave free bits below them.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn segments_make_up_an_exponent() {
    check_segments(12, 16);
    check_segments(7, 6);
}

fn check_segments(bits: u32, rounds: u64) {
    let (first, second) = (ladder(&LADDER_96), ladder(&LADDER_EXIT_96));
    let mut random = Random::new(7);
    let whole = 1_u64 << (2 * bits);
    let corners = [0, 1, whole - 1, whole / 2, 1 << bits, (1 << bits) - 1, 0xaaa_555, 0x555_aaa];
    for round in 0..rounds {
        let exponent = corners.get(round as usize).map_or_else(|| random.below(whole), |corner| corner % whole);
        let modulus = if round % 4 == 0 { power(96) - 1u32 } else { odd(&mut random, 96) };
        let form = Montgomery::new(&modulus, 96, 17, 23, 2);
        let one = Integer::from(&form.r % &modulus);
        // Including operands that are not reduced.
        let values = form.operands(&mut random, 4);
        let items: Vec<Vec<Integer>> =
            values.iter().map(|value| ordered(&form, &one, value, exponent >> (2 * bits - 1) == 1)).collect();
        let (high, low) = (Integer::from(exponent >> bits), Integer::from(exponent % (1 << bits)));
        let next = Integer::from(exponent >> (bits - 1) & 1);
        // The segment at the top of its 12 bits, with the next bit below it. `next_i` matters only
        // after a segment of all 12 bits; shorter segments get the inverse there.
        let place = |segment: &Integer, next: &Integer| {
            Integer::from(segment << (12 - bits))
                | if bits < 12 { Integer::from(next << (11 - bits)) } else { Integer::new() }
        };
        let (at_high, at_low) = (place(&high, &next), place(&low, &Integer::new()));
        let beside = if bits < 12 { Integer::from(1) - &next } else { next.clone() };
        let (steps, cycles) = (Integer::from(bits - 1), u64::from(bits) * form.step);
        let constants = [("mt_i", &form.mt), ("exponent_i", &at_high), ("steps_i", &steps), ("next_i", &beside)];
        let between = first.timed(&constants, &items, cycles + 1, cycles + 2);
        assert!(first.pressed(&constants, &items, round) == between);

        for (value, pair) in values.iter().zip(&between) {
            let base = form.product(value, &Integer::from(1));
            let [x, y] = [&pair[0], &pair[1]].map(|words| form.gather(words));
            assert!(x < form.scaled.clone() * 2 && y < form.scaled.clone() * 2);
            let s = power_in_form(&form, &base, &high);
            let z = Integer::from(&s * &base) % &modulus;
            let [x, y] = [x, y].map(|value| value % &modulus);
            assert_eq!(if next == 1 { (y, x) } else { (x, y) }, (s, z));
        }

        let steps = Integer::from(bits);
        let constants = [("mt_i", &form.mt), ("exponent_i", &at_low), ("steps_i", &steps), ("next_i", &next)];
        let cycles = cycles + form.step;
        let results = second.timed(&constants, &between, cycles + 1, cycles + 2);
        for (value, result) in values.iter().zip(&results) {
            let base = form.product(value, &Integer::from(1));
            let r = form.gather(&result[0]);
            assert!(r <= form.scaled);
            assert_eq!(r % &modulus, base.pow_mod(&Integer::from(exponent), &modulus).expect("not negative"));
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn powers_of_wide_numbers() {
    let core = ladder(&LADDER_1024);
    let mut random = Random::new(9);
    for exponent in [Integer::new(), power(86) - 1u32, number(&random.bits(86))] {
        // A square of a prime, as in Paillier.
        let prime = odd(&mut random, 512);
        let modulus = prime.clone() * &prime;
        let form = Montgomery::new(&modulus, 1024, 17, 23, 2);
        let one = Integer::from(&form.r % &modulus);
        let bases: Vec<Integer> =
            (0..3).map(|_| below(&mut random, &modulus)).chain([modulus.clone() - 1u32]).collect();
        let items: Vec<Vec<Integer>> = bases
            .iter()
            .map(|base| ordered(&form, &one, &(Integer::from(base * &form.r) % &modulus), exponent.get_bit(85)))
            .collect();
        let constants = [
            ("mt_i", &form.mt),
            ("exponent_i", &exponent),
            ("steps_i", &Integer::from(86)),
            ("next_i", &Integer::from(0)),
        ];
        let results = core.timed(&constants, &items, 87 * form.step + 1, 87 * form.step + 2);
        for (base, result) in bases.iter().zip(&results) {
            let r = form.gather(&result[0]);
            assert!(r <= form.scaled);
            assert_eq!(r % &modulus, base.clone().pow_mod(&exponent, &modulus).expect("not negative"));
        }
    }
}

/// The cycles in which products begin, in an exponentiation of a random base.
fn activity(exponent: u64, form: &Montgomery, base: &Integer) -> Vec<u64> {
    let mut bench = Bench::new(LADDER_EXIT_96.model(), 3);
    let source = bench.source("in_valid_i", "in_ready_o", &["x_i", "y_i"]);
    let sink = bench.sink("out_valid_o", "out_ready_i", &["x_o", "y_o"]);
    bench.model.set("mt_i", limbs(&form.mt));
    bench.model.set("exponent_i", exponent);
    bench.model.set("steps_i", 12_u64);
    bench.model.set("next_i", false);
    let one = form.r.clone() % &form.modulus;
    let item = ordered(form, &one, base, exponent >> 11 & 1 == 1);
    bench.push(source, &[&limbs(&item[0]), &limbs(&item[1])]);
    let mut starts = Vec::new();
    while bench.received(sink).is_empty() {
        let cycle = bench.cycle();
        bench.step_watching(|model| {
            if model.bit("mul_o") {
                starts.push(cycle);
            }
        });
    }
    starts.push(bench.received(sink)[0].cycle);
    starts
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn exponents_and_bases_do_not_show_in_the_activity() {
    let mut random = Random::new(11);
    let modulus = odd(&mut random, 96);
    let form = Montgomery::new(&modulus, 96, 17, 23, 2);
    let reference = activity(0, &form, &Integer::from(1));
    assert_eq!(reference.len(), 13 + 1, "a pair of products for every bit, one to leave Montgomery form, the result");
    for exponent in [(1 << 12) - 1, 0x800, 1, random.below(1 << 12), random.below(1 << 12)] {
        for base in [Integer::new(), number(&random.bits(90)), form.scaled.clone()] {
            assert_eq!(activity(exponent, &form, &base), reference);
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn moduli_and_exponents_change_between_pairs() {
    let sources = [items(&["x_i", "y_i"])];
    let (beside, results) = (["mt_i", "exponent_i", "steps_i", "next_i"], ["x_o", "y_o"]);
    for (design, v, d) in [(&LADDER_5, 4, 2), (&LADDER_5_WORDS, 6, 4)] {
        let module =
            Module { design, beside: &beside, sources: &sources, results: &results, prompt: false, last: None };
        module.check(100, false, |random| {
            let modulus = Integer::from(1 + 2 * random.below(16));
            let form = Montgomery::new(&modulus, 5, 4, v, d);
            let (exponent, steps, next) = (random.below(16), 1 + random.below(4), random.below(2));
            let count = 1 + random.below(2) as usize;
            let one = Integer::from(&form.r % &modulus);
            let pair = |random: &mut Random| ordered(&form, &one, &below(random, &modulus), exponent >= 8);
            let items = (0..count).map(|_| pair(random)).collect();
            let beside = vec![form.mt.clone(), exponent.into(), steps.into(), next.into()];
            Operation { beside, items: vec![items], answers: count }
        });
    }
}
