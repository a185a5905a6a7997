//! Sums and differences in limbs against GMP: all operands at tiny widths, edge cases and random
//! values at full width.

use crate::golden::{Core, below, number, odd, power};
use crate::idle::{Module, Operation, items};
use hearith_rtl::{
    COND_SUB_3, COND_SUB_6, COND_SUB_1024, MOD_ADD_3, MOD_ADD_5, MOD_ADD_1024, WIDE_ADD_3, WIDE_ADD_5, WIDE_ADD_1024,
    WIDE_SUB_6, WIDE_SUB_1000,
};
use hearith_verilated::Design;
use hearith_verilated::bench::Random;
use rug::Integer;

fn pairs(values: &[Integer]) -> Vec<Vec<Integer>> {
    values.iter().flat_map(|a| values.iter().map(|b| vec![a.clone(), b.clone()])).collect()
}

fn numbers(bound: u32) -> Vec<Integer> {
    (0..bound).map(Integer::from).collect()
}

/// 0, 1, the largest, all ones in the lower half, and random numbers below the bound.
fn corners(random: &mut Random, bound: &Integer) -> Vec<Integer> {
    let half = power(bound.significant_bits() / 2) - 1u32;
    let fixed = [Integer::new(), Integer::from(1), bound.clone() - 1u32, half % bound];
    fixed.into_iter().chain((0..6).map(|_| below(random, bound))).collect()
}

fn check_mod_add(design: &'static Design, latency: u64, modulus: &Integer, items: &[Vec<Integer>]) {
    let core = Core { design, operands: &["a_i", "b_i"], results: &["r_o"] };
    let constants = [("m_i", modulus)];
    let results = core.timed(&constants, items, latency, latency + 1);
    for (item, result) in items.iter().zip(&results) {
        assert_eq!(result[0], Integer::from(&item[0] + &item[1]) % modulus);
    }
    assert!(core.pressed(&constants, items, latency) == results);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn modular_sums() {
    for modulus in 1..32 {
        check_mod_add(&MOD_ADD_5, 3 + 3, &Integer::from(modulus), &pairs(&numbers(modulus)));
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn wide_modular_sums() {
    let mut random = Random::new(1);
    for modulus in [power(1024) - 1u32, power(1023) + 1u32, odd(&mut random, 1024), odd(&mut random, 512)] {
        let values = corners(&mut random, &modulus);
        check_mod_add(&MOD_ADD_1024, 16 + 3, &modulus, &pairs(&values));
    }
}

fn check_cond_sub(design: &'static Design, latency: u64, modulus: &Integer, items: &[Vec<Integer>]) {
    let core = Core { design, operands: &["a_i"], results: &["r_o"] };
    let constants = [("m_i", modulus)];
    let results = core.timed(&constants, items, latency, latency + 1);
    for (item, result) in items.iter().zip(&results) {
        assert_eq!(result[0], Integer::from(&item[0] % modulus));
    }
    assert!(core.pressed(&constants, items, latency) == results);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn conditional_subtractions() {
    for modulus in 1..64 {
        let items: Vec<Vec<Integer>> = numbers(2 * modulus).into_iter().map(|a| vec![a]).collect();
        check_cond_sub(&COND_SUB_6, 2 + 2, &Integer::from(modulus), &items);
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn wide_conditional_subtractions() {
    let mut random = Random::new(2);
    for modulus in [power(1024) - 1u32, power(1023) + 1u32, odd(&mut random, 1024), odd(&mut random, 512)] {
        let mut values = corners(&mut random, &(modulus.clone() * 2u32));
        values.extend([modulus.clone(), modulus.clone() - 1u32, modulus.clone() + 1u32]);
        let items: Vec<Vec<Integer>> = values.into_iter().map(|a| vec![a]).collect();
        check_cond_sub(&COND_SUB_1024, 16 + 2, &modulus, &items);
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn numbers_shorter_than_a_limb() {
    for modulus in 1..8 {
        let values = numbers(2 * modulus).into_iter().map(|a| vec![a]).collect::<Vec<_>>();
        check_cond_sub(&COND_SUB_3, 1 + 2, &Integer::from(modulus), &values);
        check_mod_add(&MOD_ADD_3, 1 + 3, &Integer::from(modulus), &pairs(&numbers(modulus)));
    }
    check_wide(&WIDE_ADD_3, 3, 1 + 1, false, &pairs(&numbers(8)));
}

fn check_wide(design: &'static Design, bits: u32, latency: u64, subtract: bool, items: &[Vec<Integer>]) {
    let core = Core { design, operands: &["a_i", "b_i"], results: &["r_o", "carry_o"] };
    let results = core.timed(&[], items, latency, latency + 1);
    let range = power(bits);
    for (item, result) in items.iter().zip(&results) {
        let (a, b) = (&item[0], &item[1]);
        let exact = if subtract { Integer::from(a - b) } else { Integer::from(a + b) };
        let carry = exact < 0 || exact >= range;
        assert_eq!(result, &[exact.modulo(&range), Integer::from(carry)], "{a}, {b}");
    }
    assert!(core.pressed(&[], items, latency) == results);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn sums_and_differences() {
    check_wide(&WIDE_ADD_5, 5, 4, false, &pairs(&numbers(32)));
    check_wide(&WIDE_SUB_6, 6, 3, true, &pairs(&numbers(64)));
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn wide_sums_and_differences() {
    let mut random = Random::new(3);
    let mut values = corners(&mut random, &power(1000));
    values.push(number(&random.bits(999)));
    check_wide(&WIDE_SUB_1000, 1000, 17, true, &pairs(&values));
    let values = corners(&mut random, &power(1024));
    check_wide(&WIDE_ADD_1024, 1024, 17, false, &pairs(&values));
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn moduli_change_between_numbers() {
    let [sums, differences] = [&["a_i", "b_i"][..], &["a_i"]].map(|fields| [items(fields)]);
    for (design, sources) in [(&MOD_ADD_5, &sums), (&COND_SUB_6, &differences)] {
        let module = Module { design, beside: &["m_i"], sources, results: &["r_o"], prompt: false, last: None };
        module.check(300, false, |random| {
            let m = Integer::from(1 + random.below(31));
            let bound = if design.top() == "mod_add" { m.clone() } else { Integer::from(&m * 2u32) };
            let item = |random: &mut Random| sources[0].2.iter().map(|_| below(random, &bound)).collect();
            let items: Vec<Vec<Integer>> = (0..1 + random.below(3)).map(|_| item(random)).collect();
            Operation { beside: vec![m], answers: items.len(), items: vec![items] }
        });
    }
}
