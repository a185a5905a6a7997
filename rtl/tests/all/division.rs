//! Dividers against GMP: every dividend and divisor at tiny widths, corner and random values at
//! full width.

use crate::golden::{Core, below, number, odd, power};
use crate::idle::{Module, Operation, items};
use hearith_rtl::{DIV_EXACT_9, DIV_EXACT_1076, DIV_RESTORING_9, DIV_RESTORING_564};
use hearith_verilated::Design;
use hearith_verilated::bench::Random;
use rug::Integer;

fn check_exact(design: &'static Design, q_bits: u32, divisor: &Integer, items: &[Vec<Integer>], seed: u64) {
    let core = Core { design, operands: &["x_i"], results: &["q_o"] };
    let constants = [("d_i", divisor)];
    let latency = u64::from(q_bits + 1);
    let results = core.timed(&constants, items, latency, latency + 1);
    let modulus = power(q_bits);
    for (item, result) in items.iter().zip(&results) {
        // (x - 1) / d modulo a power of two: the exact quotient if there is one.
        let difference = Integer::from(&item[0] - 1u32);
        let inverse = divisor.clone().invert(&modulus).expect("an odd divisor");
        assert_eq!(result[0], (Integer::from(&difference * &inverse)).modulo(&modulus));
        if difference.is_divisible(divisor) && difference >= 0 {
            let quotient = difference / divisor;
            assert!(quotient >= modulus || result[0] == quotient);
        } else if difference >= 0 && difference < modulus {
            // If the quotient has as many bits as the dividend, its value shows that there is a
            // remainder.
            assert!(Integer::from(&result[0] * divisor) >= modulus, "{difference} by {divisor}");
        }
    }
    assert!(core.pressed(&constants, items, seed) == results);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn every_small_exact_division() {
    let items: Vec<Vec<Integer>> = (0..512).map(|x| vec![Integer::from(x)]).collect();
    for divisor in (1..16).step_by(2) {
        check_exact(&DIV_EXACT_9, 7, &Integer::from(divisor), &items, divisor);
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn wide_exact_divisions() {
    let mut random = Random::new(1);
    for divisor in
        [power(512) - 1u32, power(511) + 1u32, odd(&mut random, 512), odd(&mut random, 300), Integer::from(1)]
    {
        let most = power(564) - 1u32;
        let quotients =
            [Integer::new(), Integer::from(1), most].into_iter().chain((0..8).map(|_| number(&random.bits(564))));
        let items: Vec<Vec<Integer>> = quotients
            .flat_map(|quotient| [1, 2, 0].map(|rest| vec![Integer::from(&quotient * &divisor) + rest]))
            .filter(|item| item[0] < power(1076))
            .chain([vec![Integer::new()], vec![power(1076) - 1u32]])
            .collect();
        check_exact(&DIV_EXACT_1076, 1076, &divisor, &items, 2);
    }
}

fn check_restoring(design: &'static Design, q_bits: u32, divisor: &Integer, items: &[Vec<Integer>], seed: u64) {
    let core = Core { design, operands: &["x_i"], results: &["q_o", "r_o"] };
    let constants = [("d_i", divisor)];
    let latency = u64::from(3 * q_bits + 1);
    let results = core.timed(&constants, items, latency, latency + 1);
    for (item, result) in items.iter().zip(&results) {
        let (quotient, remainder) = item[0].clone().div_rem(divisor.clone());
        assert_eq!(result, &[quotient, remainder], "{} / {divisor}", item[0]);
    }
    assert!(core.pressed(&constants, items, seed) == results);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn every_small_restoring_division() {
    for divisor in 1..16_u32 {
        let items: Vec<Vec<Integer>> = (0..(divisor << 6).min(512)).map(|x| vec![Integer::from(x)]).collect();
        check_restoring(&DIV_RESTORING_9, 6, &Integer::from(divisor), &items, divisor.into());
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn wide_restoring_divisions() {
    let mut random = Random::new(2);
    for divisor in [power(512) - 1u32, power(511), odd(&mut random, 512), odd(&mut random, 200), power(160)] {
        let bound: Integer = divisor.clone() << 564;
        // In the last two, limbs of the dividend equal those of the divisor, so that borrows
        // propagate.
        let items: Vec<Vec<Integer>> = [Integer::new(), bound.clone() - 1u32, divisor.clone(), divisor.clone() - 1u32]
            .into_iter()
            .chain((0..5).map(|_| below(&mut random, &bound)))
            .chain([Integer::from(&divisor << 300u32), (Integer::from(&divisor << 300u32)) - 1u32])
            .map(|x| vec![x])
            .collect();
        check_restoring(&DIV_RESTORING_564, 564, &divisor, &items, 1);
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn divisors_change_between_numbers() {
    let sources = [items(&["x_i"])];
    let operation = |random: &mut Random, divisor: u64, bound: u64| {
        let items: Vec<Vec<Integer>> = (0..1 + random.below(3)).map(|_| vec![random.below(bound).into()]).collect();
        Operation { beside: vec![divisor.into()], answers: items.len(), items: vec![items] }
    };
    let exact = Module {
        design: &DIV_EXACT_9,
        beside: &["d_i"],
        sources: &sources,
        results: &["q_o"],
        prompt: false,
        last: None,
    };
    exact.check(300, false, |random| {
        let divisor = 1 + 2 * random.below(8);
        operation(random, divisor, 512)
    });
    let results = ["q_o", "r_o"];
    let restoring = Module {
        design: &DIV_RESTORING_9,
        beside: &["d_i"],
        sources: &sources,
        results: &results,
        prompt: false,
        last: None,
    };
    restoring.check(300, false, |random| {
        let divisor = 1 + random.below(15);
        operation(random, divisor, 512.min(divisor << 6))
    });
}
