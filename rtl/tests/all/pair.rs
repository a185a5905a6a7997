//! Exponentiation by two parallel multipliers against GMP: every exponent of some bits at tiny
//! widths, exponents of any length, full width, and late bits. Cycles and products do not depend on
//! exponent and base.

use crate::golden::{Large, limbs, number, odd, power};
use crate::idle::{Module, Operation, items};
use hearith_rtl::{PAIR_5, PAIR_7, PAIR_100, PAIR_1024};
use hearith_verilated::Design;
use hearith_verilated::bench::{Bench, Pressure, Random, Sink, Source};
use rug::Integer;

/// A pair of multipliers with a modulus.
struct Pair {
    bench: Bench,
    bases: Source,
    bits: Source,
    powers: Sink,
}

impl Pair {
    fn new(design: &'static Design, shape: Large, modulus: &Integer) -> Self {
        let mut bench = Bench::new(design.model(), 3);
        let bases = bench.source("in_valid_i", "in_ready_o", &["base_i"]);
        let bits = bench.source("bit_valid_i", "bit_ready_o", &["bit_i", "bit_last_i"]);
        let powers = bench.sink("out_valid_o", "out_ready_i", &["r_o"]);
        let r = shape.r();
        let constants = [
            ("modulus_i", modulus.clone()),
            ("inverse_i", shape.inverse(modulus)),
            ("enter_i", r.clone() * &r % modulus),
            ("one_i", r % modulus),
        ];
        for (name, value) in constants {
            bench.model.set(name, limbs(&value));
        }
        Self { bench, bases, bits, powers }
    }

    fn push(&mut self, base: &Integer, exponent: &Integer, bits: u32) {
        self.bench.push(self.bases, &[&limbs(base)]);
        for bit in 0..bits {
            let last = bit + 1 == bits;
            self.bench.push(self.bits, &[&[u64::from(exponent.get_bit(bit))], &[u64::from(last)]]);
        }
    }
}

/// Checks powers, and their latency if they all have the same number of bits.
fn check(design: &'static Design, shape: Large, modulus: &Integer, items: &[(Integer, Integer, u32)], pressed: bool) {
    let mut pair = Pair::new(design, shape, modulus);
    if pressed {
        pair.bench.set_source_pressure(pair.bases, Pressure::Random(8));
        pair.bench.set_source_pressure(pair.bits, Pressure::Random(8));
        pair.bench.set_sink_pressure(pair.powers, Pressure::Random(8));
    }
    let mut cycles = 0;
    for (base, exponent, bits) in items {
        pair.push(base, exponent, *bits);
        cycles += (u64::from(*bits) + 3) * (shape.step() + 100);
    }
    pair.bench.run(pair.powers, items.len(), cycles);
    for ((base, exponent, bits), (taken, given)) in
        items.iter().zip(pair.bench.taken(pair.bases).iter().zip(pair.bench.received(pair.powers)))
    {
        let r = number(&given.fields[0]);
        assert!(r <= *modulus);
        let expected = base.clone().pow_mod(exponent, modulus).expect("not negative");
        assert_eq!(r % modulus, expected, "{base}^{exponent} mod {modulus}");
        if !pressed {
            let latency = (u64::from(*bits) + 1) * shape.step() + shape.whole() + 2;
            assert_eq!(given.cycle - taken, latency, "{} of {bits} bits", design.name());
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn every_exponent_of_four_bits() {
    for (design, shape) in [(&PAIR_5, Large::new(5, [8, 4, 4])), (&PAIR_7, Large::new(7, [4, 4, 4]))] {
        for modulus in (1..1_u32 << shape.n).step_by(2).step_by(if shape.n == 5 { 1 } else { 7 }) {
            // Bases need not be below the modulus.
            let exponents = (0..16_u32).map(|exponent| {
                let base = (5 * exponent + 3 * modulus + 1) % (1 << shape.n);
                (Integer::from(base), Integer::from(exponent), 4)
            });
            let modulus = Integer::from(modulus);
            check(design, shape, &modulus, &exponents.collect::<Vec<_>>(), false);
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn exponents_of_any_length() {
    let shape = Large::new(100, [32, 16, 8]);
    let mut random = Random::new(7);
    for (round, modulus) in [power(100) - 1u32, odd(&mut random, 100), odd(&mut random, 70)].into_iter().enumerate() {
        let items: Vec<_> = [1, 1, 2, 3, 17, 64, 65, 130]
            .into_iter()
            .map(|bits| (number(&random.bits(100)), number(&random.bits(bits as usize)), bits))
            .chain([(Integer::new(), Integer::from(5), 3), (power(100) - 1u32, Integer::new(), 9)])
            .chain([(modulus.clone() - 1u32, power(20) - 1u32, 20), (modulus.clone(), Integer::from(3), 2)])
            .collect();
        check(&PAIR_100, shape, &modulus, &items, round == 1);
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn powers_of_wide_numbers() {
    let shape = Large::new(1024, [256, 128, 16]);
    let mut random = Random::new(9);
    // A square, as in Paillier.
    let root = odd(&mut random, 512);
    let items = [(number(&random.bits(1023)), number(&random.bits(40)), 40), (root.clone(), power(12) - 1u32, 12)];
    check(&PAIR_1024, shape, &(root.clone() * &root), &items, false);
}

/// The figure of the paper's machine: 187 cycles per bit of the exponent.
#[test]
fn a_bit_takes_no_more_cycles_than_the_papers() {
    assert!([128, 256].iter().all(|&width| Large::new(1024, [256, width, 16]).step() <= 187));
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn exponents_and_bases_do_not_show_in_the_activity() {
    let shape = Large::new(100, [32, 16, 8]);
    let mut random = Random::new(11);
    let modulus = odd(&mut random, 100);
    let activity = |base: &Integer, exponent: u32| {
        let mut pair = Pair::new(&PAIR_100, shape, &modulus);
        pair.push(base, &Integer::from(exponent), 12);
        let mut cycles = Vec::new();
        while pair.bench.received(pair.powers).is_empty() {
            let cycle = pair.bench.cycle();
            pair.bench.step_watching(|model| {
                if model.bit("mul_o") {
                    cycles.push(cycle);
                }
            });
        }
        cycles.push(pair.bench.received(pair.powers)[0].cycle);
        cycles
    };
    let reference = activity(&Integer::from(1), 0);
    assert_eq!(reference.len(), 12 + 2 + 1, "two products for every bit, two more steps, the result");
    for exponent in [0xfff, 0x800, 1, random.below(1 << 12) as u32] {
        for base in [Integer::new(), number(&random.bits(100)), modulus.clone()] {
            assert_eq!(activity(&base, exponent), reference);
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn moduli_change_between_powers() {
    let shape = Large::new(5, [8, 4, 4]);
    let sources = [items(&["base_i"]), ("bit_valid_i", "bit_ready_o", &["bit_i", "bit_last_i"])];
    let beside = ["modulus_i", "inverse_i", "enter_i", "one_i"];
    let module =
        Module { design: &PAIR_5, beside: &beside, sources: &sources, results: &["r_o"], prompt: false, last: None };
    module.check(100, false, |random| {
        let modulus = odd(random, 5);
        let r = shape.r();
        let count = 1 + random.below(2);
        let (mut bases, mut bits) = (Vec::new(), Vec::new());
        for _ in 0..count {
            bases.push(vec![random.below(32).into()]);
            let length = 1 + random.below(5);
            bits.extend((1..=length).map(|at| vec![random.below(2).into(), u32::from(at == length).into()]));
        }
        let enter = r.clone() * &r % &modulus;
        let beside = vec![modulus.clone(), shape.inverse(&modulus), enter, r % &modulus];
        Operation { beside, items: vec![bases, bits], answers: count as usize }
    });
}
