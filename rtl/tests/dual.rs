//! The dual lane against GMP: half of a Paillier decryption, for several primes and for ciphertexts at the ends of their range; time and
//! number of products the same for all.

mod golden;

use golden::{Montgomery, limbs, number, odd, power};
use hearith_rtl::{DUAL_LANE_40, DUAL_LANE_40_WORDS, DUAL_LANE_256, DUAL_LANE_1024};
use hearith_verilated::Design;
use hearith_verilated::bench::{Bench, Pressure, Random, Sink, Source};
use rug::Integer;

/// The constants of a lane for a prime.
struct Lane {
    half: u32,
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
        Self { half, prime: prime.clone(), exponent: prime.clone() - 1u32, unit, constants, latency, form }
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

    /// A ciphertext as the lane takes it: quarters, the highest first, each from its lowest digit on.
    fn digits(&self, ciphertext: &Integer) -> Vec<Vec<u64>> {
        let (half, w) = (self.half, self.form.w);
        let quarter = |index: u32| Integer::from(ciphertext >> (half * index)).keep_bits(half);
        let digits = |quarter: Integer| {
            (0..half.div_ceil(w)).map(move |index| limbs(&Integer::from(&quarter >> (w * index)).keep_bits(w)))
        };
        (0..4).rev().map(quarter).flat_map(digits).collect()
    }

    /// A bench with the constants and the two streams, and all ciphertexts to come.
    fn bench(&self, design: &'static Design, ciphertexts: &[Integer]) -> (Bench, Source, Sink) {
        let mut bench = Bench::new(design.model(), 3);
        let source = bench.source("in_valid_i", "in_ready_o", &["digit_i"]);
        let sink = bench.sink("out_valid_o", "out_ready_i", &["l_o"]);
        for (name, value) in self.ports() {
            bench.model.set(name, limbs(value));
        }
        for ciphertext in ciphertexts {
            self.digits(ciphertext).iter().for_each(|digit| bench.push(source, &[digit]));
        }
        (bench, source, sink)
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

fn check(design: &'static Design, lane: &Lane, random: &mut Random, count: usize, pressed: bool) {
    let bits = 4 * lane.half;
    let corners = [Integer::from(1), power(bits) - 1u32, lane.prime.clone() + 1u32, power(bits - 1)];
    let items: Vec<Integer> = corners
        .into_iter()
        .chain((0..count).map(|_| number(&random.bits(bits as usize))))
        // A ciphertext has no factor in common with p.
        .map(|value| if value.is_divisible(&lane.prime) { value + 1u32 } else { value })
        .collect();
    let (mut bench, source, sink) = lane.bench(design, &items);
    bench.run(sink, items.len(), (items.len() as u64 + 1) * (lane.latency + 100));
    bench.idle(5);
    let given = bench.received(sink);
    assert_eq!(given.len(), items.len());
    // The first digit is asked for a step after the start, when the step's digits arrive.
    let digits = lane.digits(&items[0]).len();
    let first_digits = bench.taken(source).iter().step_by(digits);
    for (first, result) in first_digits.zip(given) {
        assert_eq!(result.cycle - first, lane.latency - lane.form.step - 3, "latency of {}", design.name());
    }
    for pair in given.windows(2) {
        assert_eq!(pair[1].cycle - pair[0].cycle, lane.latency + 1, "interval of {}", design.name());
    }
    let bound: Integer = lane.form.scaled.clone() * 2;
    for (item, result) in items.iter().zip(given) {
        let l = number(&result.fields[0]);
        assert_eq!(Integer::from(&l % &lane.prime), lane.expected(item), "{item} modulo {}", lane.prime);
        assert!(l <= bound);
    }
    if pressed {
        let (mut slow, _, slow_sink) = lane.bench(design, &items);
        slow.set_sink_pressure(slow_sink, Pressure::Random(120));
        slow.run(slow_sink, items.len(), (items.len() as u64 + 1) * (lane.latency + 1000));
        let results = slow.received(slow_sink).iter().map(|result| &result.fields);
        assert!(results.eq(given.iter().map(|result| &result.fields)));
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn halves_of_decryptions() {
    let mut random = Random::new(1);
    for bits in [20, 20, 20, 19, 12, 3] {
        let lane = Lane::new(&prime(&mut random, bits), 40, 4, 1);
        check(&DUAL_LANE_40, &lane, &mut random, 40, bits == 20);
        // Words of 5, 5, 6 bits beside digits of 4.
        let lane = Lane::new(&lane.prime, 40, 4, 2);
        check(&DUAL_LANE_40_WORDS, &lane, &mut random, 40, bits == 20);
    }
    for bits in [128, 128, 100] {
        let lane = Lane::new(&prime(&mut random, bits), 256, 17, 3);
        check(&DUAL_LANE_256, &lane, &mut random, 12, bits == 128);
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn halves_of_wide_decryptions() {
    let mut random = Random::new(2);
    let lane = Lane::new(&prime(&mut random, 512), 1024, 17, 2);
    check(&DUAL_LANE_1024, &lane, &mut random, 1, false);
}

/// The cycles in which products begin, and that of the result.
fn activity(lane: &Lane, ciphertext: &Integer) -> Vec<u64> {
    let (mut bench, _, sink) = lane.bench(&DUAL_LANE_40, std::slice::from_ref(ciphertext));
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
