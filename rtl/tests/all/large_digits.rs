//! Montgomery products by large digits against GMP: every small modulus with every pair of
//! operands, edge cases and random operands up to 4096 bits; bounds, cycles, back-pressure.

use crate::golden::{Core, Large, below, limbs, number, odd, power};
use crate::idle::{Module, Operation, items};
use hearith_rtl::{
    COPROC_CORE_DIGIT_50, DIGIT_5, DIGIT_7, DIGIT_100, DIGIT_512, DIGIT_1024, DIGIT_1024_272, DIGIT_2048, DIGIT_4096,
};
use hearith_verilated::Design;
use hearith_verilated::bench::{Bench, Pressure, Random};
use rug::Integer;

fn check(design: &'static Design, shape: Large, modulus: &Integer, items: &[Vec<Integer>], seed: u64) {
    let core = Core { design, operands: &["a_i", "b_i"], results: &["r_o"] };
    let inverse = shape.inverse(modulus);
    let constants = [("modulus_i", modulus), ("inverse_i", &inverse)];
    let (latency, interval) = (shape.whole() + 2, shape.step());
    let timed = core.timed(&constants, items, latency, interval);
    let bound = Integer::from(modulus * 2u32);
    for (item, result) in items.iter().zip(&timed) {
        let (a, b, r) = (&item[0], &item[1], &result[0]);
        assert_eq!(*r, shape.product(modulus, a, b), "{a} * {b} mod {modulus}");
        assert!(*r < bound);
        assert!(*b != 1 || r <= modulus);
    }
    assert!(core.pressed(&constants, items, seed) == timed);
}

/// Values at the limits of a factor's range, below `times` moduli, and some random ones.
fn operands(modulus: &Integer, times: u32, random: &mut Random, count: usize) -> Vec<Integer> {
    let bound = Integer::from(modulus * times);
    let ones = power(bound.significant_bits() - 1) - 1u32;
    let corners =
        [Integer::new(), Integer::from(1), modulus.clone() - 1u32, modulus.clone(), ones, bound.clone() - 1u32];
    corners.into_iter().chain((0..count).map(|_| below(random, &bound))).collect()
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn products_modulo_every_small_number() {
    let mut random = Random::new(1);
    let shapes = [(&DIGIT_5, Large::new(5, [8, 4, 4])), (&DIGIT_7, Large::new(7, [4, 4, 4]))];
    for (design, shape) in shapes {
        for modulus in (1..1_u32 << shape.n).step_by(2) {
            // Every pair below 4 M and 2 M at 5 bits, and a sample of them at 7.
            let step = if shape.n == 5 { 1 } else { 1 + modulus as usize / 4 };
            let mut items = Vec::new();
            for a in (0..4 * modulus).step_by(step) {
                items.extend((0..2 * modulus).step_by(step).map(|b| vec![Integer::from(a), Integer::from(b)]));
            }
            if shape.n == 5 && modulus % 8 != 7 {
                items.truncate(256);
            }
            check(design, shape, &Integer::from(modulus), &items, random.below(3));
        }
    }
}

/// Some moduli, with edge cases and random operands.
fn check_wide(design: &'static Design, shape: Large, random: &mut Random, moduli: usize, count: usize) {
    let ends = [power(shape.n) - 1u32, power(shape.n - 1) + 1u32];
    let moduli: Vec<Integer> = ends.into_iter().chain((0..moduli).map(|_| odd(random, shape.n))).collect();
    for modulus in moduli {
        let (large, small) = (operands(&modulus, 4, random, count), operands(&modulus, 2, random, count));
        let shifted = small.iter().cycle().skip(3);
        let pairs = large.iter().zip(small.iter().chain(shifted));
        let items: Vec<Vec<Integer>> = pairs.map(|(a, b)| vec![a.clone(), b.clone()]).collect();
        check(design, shape, &modulus, &items, random.below(3));
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn products_of_middling_numbers() {
    check_wide(&DIGIT_100, Large::new(100, [32, 16, 8]), &mut Random::new(2), 8, 20);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn products_of_wide_numbers() {
    let mut random = Random::new(3);
    check_wide(&DIGIT_512, Large::new(512, [64, 64, 16]), &mut random, 1, 10);
    check_wide(&DIGIT_1024, Large::new(1024, [256, 128, 16]), &mut random, 2, 10);
}

/// These models are large and take a minute to compile.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
#[cfg_attr(verilator, ignore = "long: make test-full")]
fn products_of_the_widest_numbers() {
    let mut random = Random::new(4);
    check_wide(&DIGIT_1024_272, Large::new(1024, [272, 136, 17]), &mut random, 1, 6);
    check_wide(&DIGIT_2048, Large::new(2048, [272, 136, 17]), &mut random, 1, 4);
    check_wide(&DIGIT_4096, Large::new(4096, [256, 128, 16]), &mut random, 0, 4);
}

/// The figure of the paper's machine: 150 cycles for a product of 1024 bits.
#[test]
fn a_product_of_1024_bits_takes_no_more_cycles_than_the_papers() {
    for width in [128, 256] {
        let shape = Large::new(1024, [256, width, 16]);
        assert!(shape.whole() <= 150 && shape.step() <= 150, "{shape:?}");
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn operands_do_not_show_in_the_activity() {
    let shape = Large::new(100, [32, 16, 8]);
    let mut random = Random::new(5);
    let modulus = odd(&mut random, 100);
    let bound = Integer::from(&modulus * 2u32);
    let activity = |a: &Integer, b: &Integer| {
        let mut bench = Bench::new(DIGIT_100.model(), 1);
        let source = bench.source("in_valid_i", "in_ready_o", &["a_i", "b_i"]);
        let sink = bench.sink("out_valid_o", "out_ready_i", &["r_o"]);
        bench.model.set("modulus_i", limbs(&modulus));
        bench.model.set("inverse_i", limbs(&shape.inverse(&modulus)));
        bench.push(source, &[&limbs(a), &limbs(b)]);
        let mut cycles = Vec::new();
        while bench.received(sink).is_empty() {
            let cycle = bench.cycle();
            bench.step_watching(|model| {
                if model.bit("product_o") {
                    cycles.push(cycle);
                }
            });
        }
        cycles.push(bench.received(sink)[0].cycle);
        cycles
    };
    let reference = activity(&Integer::new(), &Integer::new());
    assert_eq!(reference.len(), 2, "a product and its result");
    for _ in 0..6 {
        let (a, b) = (below(&mut random, &bound), below(&mut random, &bound));
        assert_eq!(activity(&a, &b), reference);
    }
}

/// A multiplier of the co-processor: tags, and numbers below the modulus on output.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn tagged_products_and_the_way_out() {
    let shape = Large::new(100, [32, 16, 8]);
    let mut random = Random::new(6);
    for modulus in [power(100) - 1u32, odd(&mut random, 100), odd(&mut random, 64)] {
        let (large, small) = (operands(&modulus, 4, &mut random, 30), operands(&modulus, 2, &mut random, 30));
        let mut bench = Bench::new(COPROC_CORE_DIGIT_50.model(), 1);
        let source = bench.source("in_valid_i", "in_ready_o", &["in_tag_i", "in_leave_i", "a_i", "b_i"]);
        let sink = bench.sink("out_valid_o", "out_ready_i", &["out_tag_o", "r_o"]);
        bench.set_source_pressure(source, Pressure::Random(100));
        bench.set_sink_pressure(sink, Pressure::Random(3));
        bench.model.set("modulus_i", limbs(&modulus));
        bench.model.set("mt_i", limbs(&shape.inverse(&modulus)));
        let mut expected = vec![Integer::new(); 32];
        let mut items = 0;
        for (tag, (a, b)) in large.iter().zip(&small).take(32).enumerate() {
            let leaves = random.below(2);
            bench.push(source, &[&[tag as u64], &[leaves], &limbs(a), &limbs(b)]);
            expected[tag] = shape.product(&modulus, a, b);
            if leaves == 1 {
                expected[tag] %= &modulus;
            }
            items += 1;
        }
        bench.run(sink, items, 40 * 1000);
        let mut tags: Vec<u64> = bench.received(sink).iter().map(|given| given.fields[0][0]).collect();
        for given in bench.received(sink) {
            assert_eq!(number(&given.fields[1]), expected[given.fields[0][0] as usize]);
        }
        tags.sort_unstable();
        assert!(tags.into_iter().eq(0..items as u64));
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn shapes_that_cannot_be_are_refused() {
    let verilator = std::env::var("VERILATOR").unwrap_or_else(|_| "verilator".into());
    let elaborate = |parameters: &[&str]| {
        let mut command = std::process::Command::new(&verilator);
        command.args(["--lint-only", "-Wall", "--top-module", "mont_mul_digit", "-y", "arith"]);
        let output = command.args(parameters).arg("arith/mont_mul_digit.sv").output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for shape in
        [&["-GN=256", "-GDigit=64", "-GWidth=64"][..], &["-GN=2048", "-GDigit=272", "-GWidth=136", "-GTile=17"]]
    {
        let (accepted, said) = elaborate(shape);
        assert!(accepted, "{shape:?}: {said}");
    }
    let refused = [
        (&["-GWidth=120", "-GDigit=240"][..], "Tile must divide Width"),
        (&["-GWidth=128", "-GDigit=192"], "Width must divide Digit"),
        (&["-GTile=4"], "Tile is too small"),
    ];
    for (shape, message) in refused {
        let (accepted, said) = elaborate(shape);
        assert!(!accepted && said.contains(message), "{shape:?}: {said}");
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn moduli_change_between_products() {
    let sources = [items(&["a_i", "b_i"])];
    let beside = ["modulus_i", "inverse_i"];
    let module =
        Module { design: &DIGIT_5, beside: &beside, sources: &sources, results: &["r_o"], prompt: false, last: None };
    let shape = Large::new(5, [8, 4, 4]);
    module.check(200, false, |random| {
        let modulus = odd(random, 5);
        let count = 1 + random.below(3) as usize;
        let item = |random: &mut Random| [4, 2].map(|times| below(random, &Integer::from(&modulus * times))).to_vec();
        let items = (0..count).map(|_| item(random)).collect();
        Operation { beside: vec![modulus.clone(), shape.inverse(&modulus)], items: vec![items], answers: count }
    });
    // Including the output conversion, whose remainders take a separate path.
    let sources = [items(&["in_tag_i", "in_leave_i", "a_i", "b_i"])];
    let (beside, results) = (["modulus_i", "mt_i"], ["out_tag_o", "r_o"]);
    let module = Module {
        design: &COPROC_CORE_DIGIT_50,
        beside: &beside,
        sources: &sources,
        results: &results,
        prompt: false,
        last: None,
    };
    let shape = Large::new(100, [32, 16, 8]);
    module.check(100, false, |random| {
        let modulus = odd(random, 100);
        let leave = Integer::from(random.below(2));
        let [a, b] = [4, 2].map(|times| below(random, &Integer::from(&modulus * times)));
        let item = vec![random.below(32).into(), leave, a, b];
        let beside = vec![modulus.clone(), shape.inverse(&modulus)];
        Operation { beside, items: vec![vec![item]], answers: 1 }
    });
}
