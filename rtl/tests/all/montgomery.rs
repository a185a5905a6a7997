//! Montgomery products against GMP: every small modulus with every pair of residues, edge cases and
//! random operands at full width, bounds of the results, back-pressure, latency and interval.

use crate::golden::{Core, Montgomery, below, number, odd, power};
use crate::idle::{Module, Operation, items};
use hearith_rtl::{
    CARRY_RESOLVE_7, CARRY_RESOLVE_UNEVEN, CIOS_4, CIOS_7, CIOS_20, CIOS_100, CIOS_256, CIOS_1024, CIOS_2048,
    COPROC_CORE_CIOS_33, RADIX2_5, RADIX2_256, RADIX2_1024,
};
use hearith_verilated::Design;
use hearith_verilated::bench::Random;
use rug::Integer;

const CIOS_RESULTS: [&str; 1] = ["r_o"];

fn cios(design: &'static Design) -> Core {
    Core { design, operands: &["a_i", "b_i"], results: &CIOS_RESULTS }
}

/// Bits of a modulus, a digit and a word, the delay of the quotient, and the additional registers
/// on each side of a multiplier.
#[derive(Clone, Copy)]
struct Shape {
    n: u32,
    w: u32,
    v: u32,
    d: u32,
    near: u32,
}

impl Shape {
    fn form(self, modulus: &Integer) -> Montgomery {
        Montgomery::new(modulus, self.n, self.w, self.v, self.d)
    }
}

/// Checks products of a digit-serial core at full speed and under pressure.
fn check_cios(core: &Core, shape: Shape, form: &Montgomery, items: &[Vec<Integer>], seed: u64) {
    let constants = [("mt_i", &form.mt)];
    let interval = form.step + 2 * u64::from(shape.near);
    let latency = interval + u64::from((shape.n + 1 - shape.w).div_ceil(shape.v).div_ceil(3)) + 2;
    let bound: Integer = form.scaled.clone() * 2;
    let timed = core.timed(&constants, items, latency, interval);
    for (item, result) in items.iter().zip(&timed) {
        let (a, b, r) = (&item[0], &item[1], &result[0]);
        assert_eq!(Integer::from(r % &form.modulus), form.product(a, b), "{a} * {b} mod {}", form.modulus);
        assert!(*r < bound, "{a} * {b} gives {r}");
        if *b == 1 {
            assert!(*r <= form.scaled);
        }
    }
    assert!(core.pressed(&constants, items, seed) == timed);
}

/// Every odd modulus that fits, every pair of residues, and pairs of edge cases.
fn check_small_cios(design: &'static Design, shape: Shape, moduli: impl Iterator<Item = u32>) {
    let core = cios(design);
    let mut random = Random::new(1);
    for modulus in moduli {
        let form = shape.form(&Integer::from(modulus));
        let mut items = Vec::new();
        for a in (0..modulus).step_by((modulus as usize / 16).max(1)) {
            items.extend((0..modulus).map(|b| vec![Integer::from(a), Integer::from(b)]));
        }
        let operands = form.operands(&mut random, 8);
        for a in &operands {
            items.extend(operands.iter().map(|b| vec![a.clone(), b.clone()]));
        }
        check_cios(&core, shape, &form, &items, modulus.into());
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn digit_serial_products_modulo_every_small_number() {
    check_small_cios(&CIOS_4, Shape { n: 4, w: 4, v: 4, d: 2, near: 0 }, (1..16).step_by(2));
    check_small_cios(&CIOS_7, Shape { n: 7, w: 4, v: 5, d: 3, near: 0 }, [1, 3, 5, 63, 65, 125, 127].into_iter());
}

fn check_wide_cios(design: &'static Design, shape: Shape, moduli: usize, operands: usize) {
    let (core, n) = (cios(design), shape.n);
    let mut random = Random::new(n.into());
    for round in 0..moduli {
        let modulus = match round {
            0 => power(n) - 1u32,
            1 => power(n - 1) + 1u32,
            // A modulus shorter than the core.
            2 => odd(&mut random, n / 2),
            _ => odd(&mut random, n),
        };
        let form = shape.form(&modulus);
        let values = form.operands(&mut random, operands);
        let mut items: Vec<Vec<Integer>> = values
            .iter()
            .flat_map(|a| [values.last(), values.get(1)].map(|b| vec![a.clone(), b.unwrap().clone()]))
            .collect();
        items.extend(values.iter().map(|a| vec![a.clone(), a.clone()]));
        check_cios(&core, shape, &form, &items, round as u64);
    }
}

/// Digits and words of various ratios.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn digit_serial_products_in_many_shapes() {
    check_wide_cios(&CIOS_20, Shape { n: 20, w: 4, v: 7, d: 4, near: 0 }, 20, 40);
    check_wide_cios(&CIOS_100, Shape { n: 100, w: 17, v: 33, d: 2, near: 0 }, 8, 20);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn digit_serial_products_of_wide_numbers() {
    check_wide_cios(&CIOS_256, Shape { n: 256, w: 18, v: 18, d: 5, near: 1 }, 4, 10);
    check_wide_cios(&CIOS_1024, Shape { n: 1024, w: 17, v: 24, d: 2, near: 0 }, 4, 10);
    check_wide_cios(&CIOS_2048, Shape { n: 2048, w: 17, v: 24, d: 2, near: 0 }, 1, 2);
}

#[test]
fn digit_serial_products_keep_the_promised_time() {
    let step = |n| Montgomery::new(&(power(n) - 1u32), n, 17, 24, 2).step;
    assert!(step(1024) <= 87 && step(2048) <= 168);
    assert!(step(1024) * 88 <= 7000, "DSP blocks times cycles a product");
}

/// Multiplies each x by y.
fn check_radix2(
    design: &'static Design,
    [n, x_bits, word]: [u32; 3],
    modulus: &Integer,
    y: &Integer,
    xs: &[Integer],
    seed: u64,
) {
    let core = Core { design, operands: &["x_i"], results: &["r_o"] };
    let constants = [("m_i", modulus), ("y_i", y)];
    let items: Vec<Vec<Integer>> = xs.iter().map(|x| vec![x.clone()]).collect();
    let latency = u64::from(x_bits + (n.div_ceil(word) + 1).div_ceil(2) + 3);
    let timed = core.timed(&constants, &items, latency, u64::from(x_bits + 2));
    let inverse = power(x_bits).invert(modulus).expect("a power of two");
    for (x, result) in xs.iter().zip(&timed) {
        let (product, r) = (Integer::from(x * y), &result[0]);
        assert_eq!(Integer::from(r % modulus), Integer::from(&product * &inverse) % modulus, "{x} {y} mod {modulus}");
        assert!(*r <= (product >> x_bits) + modulus, "{x} {y} gives {r}");
    }
    assert!(core.pressed(&constants, &items, seed) == timed);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn bit_serial_products_modulo_every_small_number() {
    let xs: Vec<Integer> = (0..128).map(Integer::from).collect();
    for modulus in (1..32).step_by(2).map(Integer::from) {
        // With y that is not reduced, too.
        for y in [0, 1, 7, 30, 31].map(Integer::from) {
            check_radix2(&RADIX2_5, [5, 7, 4], &modulus, &y, &xs, 2);
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn bit_serial_products_of_wide_numbers() {
    for (design, n, count) in [(&RADIX2_256, 256, 10), (&RADIX2_1024, 1024, 1)] {
        let x_bits = 2 * n + 2;
        let mut random = Random::new(n.into());
        for modulus in [power(n) - 1u32, power(n - 1) + 1u32, odd(&mut random, n), odd(&mut random, n / 2)] {
            let check = |y: &Integer, xs: &[Integer]| {
                check_radix2(design, [n, x_bits, 32], &modulus, y, xs, count);
            };
            check(&(modulus.clone() - 1u32), &[Integer::new(), Integer::from(1), power(x_bits) - 1u32]);
            check(&(power(n) - 1u32), &[power(x_bits) - 1u32]);
            for _ in 0..count {
                let x = number(&random.bits(x_bits as usize));
                check(&below(&mut random, &modulus), &[x]);
            }
        }
    }
}

/// Seven words of 6 bits each at these positions of their sum, three of which are added per cycle.
fn check_resolve(design: &'static Design, at: [u32; 7], bits: u32) {
    let core = Core { design, operands: &["x_i"], results: &["r_o"] };
    let mut random = Random::new(5);
    // The highest word is small enough that the sum fits.
    let most = (1 << (bits - at[6])) - 4;
    let words: Vec<Vec<u64>> = (0..600)
        .map(|round| {
            let word = |random: &mut Random| match round % 3 {
                0 => 63,
                1 => 15 + random.below(2),
                _ => random.below(64),
            };
            (0..7).map(|index| if index == 6 { random.below(most) } else { word(&mut random) }).collect()
        })
        .collect();
    let join = |words: &[u64], at: [u32; 7]| at.iter().zip(words).map(|(&at, &word)| Integer::from(word) << at).sum();
    let sums: Vec<Integer> = words.iter().map(|words| join(words, at)).collect();
    let items: Vec<Vec<Integer>> = words.iter().map(|words| vec![join(words, [0, 6, 12, 18, 24, 30, 36])]).collect();
    let results = core.timed(&[], &items, 4, 5);
    assert!(results.iter().zip(&sums).all(|(result, sum)| result[0] == *sum));
    assert!(core.pressed(&[], &items, 3) == results);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn redundant_words_become_plain_ones() {
    check_resolve(&CARRY_RESOLVE_7, [0, 4, 8, 12, 16, 20, 24], 28);
    check_resolve(&CARRY_RESOLVE_UNEVEN, [0, 4, 9, 14, 18, 23, 28], 32);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn moduli_change_between_products() {
    let sources = [items(&["a_i", "b_i"])];
    let shapes =
        [(&CIOS_4, Shape { n: 4, w: 4, v: 4, d: 2, near: 0 }), (&CIOS_7, Shape { n: 7, w: 4, v: 5, d: 3, near: 0 })];
    for (design, shape) in shapes {
        let module =
            Module { design, beside: &["mt_i"], sources: &sources, results: &CIOS_RESULTS, prompt: false, last: None };
        module.check(300, false, |random| {
            let form = shape.form(&Integer::from(1 + 2 * random.below(1 << (shape.n - 1))));
            let count = 1 + random.below(3) as usize;
            let values: Vec<Integer> = form.operands(random, 4);
            let mut pick = || values[random.below(values.len() as u64) as usize].clone();
            let items = (0..count).map(|_| vec![pick(), pick()]).collect();
            Operation { beside: vec![form.mt], items: vec![items], answers: count }
        });
    }
    // Including the output conversion, whose remainders take a separate path.
    let sources = [items(&["in_tag_i", "in_leave_i", "a_i", "b_i"])];
    let (beside, results) = (["modulus_i", "mt_i"], ["out_tag_o", "r_o"]);
    let module = Module {
        design: &COPROC_CORE_CIOS_33,
        beside: &beside,
        sources: &sources,
        results: &results,
        prompt: false,
        last: None,
    };
    let shape = Shape { n: 66, w: 4, v: 5, d: 2, near: 0 };
    module.check(100, false, |random| {
        let modulus = odd(random, 66);
        let form = shape.form(&modulus);
        let leave = random.below(2);
        let values = form.operands(random, 4);
        let mut pick = || values[random.below(values.len() as u64) as usize].clone();
        let (a, b) = (pick(), pick());
        let b = if leave == 1 { b % &modulus } else { b };
        let item = vec![random.below(32).into(), leave.into(), a, b];
        Operation { beside: vec![modulus, form.mt], items: vec![vec![item]], answers: 1 }
    });
    let sources = [items(&["x_i"])];
    let module = Module {
        design: &RADIX2_5,
        beside: &["m_i", "y_i"],
        sources: &sources,
        results: &["r_o"],
        prompt: false,
        last: None,
    };
    module.check(300, false, |random| {
        let modulus = 1 + 2 * random.below(16);
        let count = 1 + random.below(3) as usize;
        let beside = vec![modulus.into(), random.below(modulus).into()];
        let items = (0..count).map(|_| vec![random.below(128).into()]).collect();
        Operation { beside, items: vec![items], answers: count }
    });
}
