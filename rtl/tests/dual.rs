//! The dual lane against GMP: half of a Paillier decryption, for several primes and for ciphertexts at the ends of their range; time and
//! number of products the same for all.

mod golden;

use golden::{Core, Montgomery, limbs, number, odd, power};
use hearith_rtl::{DUAL_LANE_40, DUAL_LANE_256, DUAL_LANE_1024};
use hearith_verilated::Design;
use hearith_verilated::bench::{Bench, Random};
use rug::Integer;

/// The constants of a lane for a prime.
struct Lane {
    prime: Integer,
    form: Montgomery,
    exponent: Integer,
    unit: Integer,
    /// `2^H R`, `R^3`, `R^2` as low and high parts.
    constants: [(Integer, Integer); 3],
    latency: u64,
}

impl Lane {
    fn new(prime: &Integer, n: u32, w: u32, d: u32) -> Self {
        let half = n / 2;
        let form = Montgomery::new(prime, half, w, d);
        let square: Integer = form.scaled.clone() * &form.scaled;
        let dual = |value: Integer| (value % &square).div_rem(form.scaled.clone());
        let constants = [form.r.clone() << half, form.r.clone() * &form.r * &form.r, form.r.clone() * &form.r]
            .map(dual)
            .map(|(high, low)| (low, high));
        let steps = u64::from(23 + 5 * half.div_ceil(4));
        let latency = steps * form.step + 8;
        let unit = form.scaled.clone() / prime;
        Self { prime: prime.clone(), exponent: prime.clone() - 1u32, unit, constants, latency, form }
    }

    fn ports(&self) -> Vec<(&'static str, &Integer)> {
        let [shift, enter, one] = &self.constants;
        vec![
            ("mt_i", &self.form.mt),
            ("unit_i", &self.unit),
            ("exponent_i", &self.exponent),
            ("shift_low_i", &shift.0),
            ("shift_high_i", &shift.1),
            ("enter_low_i", &enter.0),
            ("enter_high_i", &enter.1),
            ("one_low_i", &one.0),
            ("one_high_i", &one.1),
        ]
    }

    /// `(c^(p-1) mod p^2 - 1) / p`.
    fn expected(&self, ciphertext: &Integer) -> Integer {
        let square = self.prime.clone() * &self.prime;
        let power = ciphertext.clone().pow_mod(&self.exponent, &square).expect("an exponent that is not negative");
        (power - 1u32) / &self.prime
    }
}

/// A prime of so many bits.
fn prime(random: &mut Random, bits: u32) -> Integer {
    loop {
        let prime = odd(random, bits).next_prime();
        if prime.significant_bits() == bits {
            return prime;
        }
    }
}

fn check(design: &'static Design, lane: &Lane, n: u32, random: &mut Random, count: usize, pressed: bool) {
    let core = Core { design, operands: &["ciphertext_i"], results: &["l_o"] };
    let corners = [Integer::from(1), power(2 * n) - 1u32, lane.prime.clone() + 1u32, power(2 * n - 1)];
    let items: Vec<Vec<Integer>> = corners
        .into_iter()
        .chain((0..count).map(|_| number(&random.bits(2 * n as usize))))
        // A ciphertext has no factor in common with p.
        .map(|value| if value.is_divisible(&lane.prime) { value + 1u32 } else { value })
        .map(|value| vec![value])
        .collect();
    let results = core.timed(&lane.ports(), &items, lane.latency, lane.latency + 1);
    let bound: Integer = lane.form.scaled.clone() * 2;
    for (item, result) in items.iter().zip(&results) {
        assert_eq!(
            Integer::from(&result[0] % &lane.prime),
            lane.expected(&item[0]),
            "{} modulo {}",
            item[0],
            lane.prime
        );
        assert!(result[0] <= bound);
    }
    if pressed {
        assert!(core.pressed(&lane.ports(), &items, 1) == results);
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn halves_of_decryptions() {
    let mut random = Random::new(1);
    for bits in [20, 20, 20, 19, 12, 3] {
        let lane = Lane::new(&prime(&mut random, bits), 40, 4, 1);
        check(&DUAL_LANE_40, &lane, 40, &mut random, 40, bits == 20);
    }
    for bits in [128, 128, 100] {
        let lane = Lane::new(&prime(&mut random, bits), 256, 17, 3);
        check(&DUAL_LANE_256, &lane, 256, &mut random, 12, bits == 128);
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn halves_of_wide_decryptions() {
    let mut random = Random::new(2);
    let lane = Lane::new(&prime(&mut random, 512), 1024, 17, 1);
    check(&DUAL_LANE_1024, &lane, 1024, &mut random, 1, false);
}

/// The cycles in which products begin, and that of the result.
fn activity(lane: &Lane, ciphertext: &Integer) -> Vec<u64> {
    let mut bench = Bench::new(DUAL_LANE_40.model(), 3);
    let source = bench.source("in_valid_i", "in_ready_o", &["ciphertext_i"]);
    let sink = bench.sink("out_valid_o", "out_ready_i", &["l_o"]);
    for (name, value) in lane.ports() {
        bench.model.set(name, limbs(value));
    }
    bench.push(source, &[&limbs(ciphertext)]);
    let mut cycles = Vec::new();
    while bench.received(sink).is_empty() {
        let cycle = bench.cycle();
        bench.step_watching(|model| {
            if model.bit("mul_o") {
                cycles.push(cycle);
            }
        });
    }
    cycles.push(bench.received(sink)[0].cycle);
    cycles
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn exponents_and_ciphertexts_do_not_show_in_the_activity() {
    let mut random = Random::new(4);
    let mut lane = Lane::new(&prime(&mut random, 20), 40, 4, 1);
    let reference = activity(&lane, &Integer::from(1));
    assert_eq!(reference.len(), 22 + 5 * 5 + 1, "opening, windows, exit, the result");
    for exponent in [Integer::new(), power(20) - 1u32, number(&random.bits(20))] {
        lane.exponent = exponent;
        for ciphertext in [Integer::new(), power(80) - 1u32, number(&random.bits(80))] {
            assert_eq!(activity(&lane, &ciphertext), reference);
        }
    }
}
