//! Dual lanes against GMP: halves of Paillier decryptions, for several primes and for ciphertexts
//! at the limits of their range. Time and number of products are the same for all.

use crate::golden::{limbs, number, odd, power};
use crate::idle::{Module, Operation, items};
use hearith_rtl::{DUAL_LANE_40, DUAL_LANE_40_WORDS, DUAL_LANE_256, DUAL_LANE_256_BALANCED, DUAL_LANE_1024};
use hearith_verilated::Design;
use hearith_verilated::bench::{Bench, Pressure, Random, Sink, Source};
use rug::Integer;

/// The constants of lanes for a prime, and their timing in cycles.
struct Lane {
    half: u32,
    w: u32,
    prime: Integer,
    scaled: Integer,
    mt: Integer,
    exponent: Integer,
    /// Windows of 4 bits after the first.
    windows: Integer,
    unit: Integer,
    /// `2^H R`, `R^3`, `R^2` as low and high parts.
    constants: [(Integer, Integer); 3],
    /// Cycles from the first digit of an item to its result.
    latency: u64,
    /// Cycles between results of a lane.
    interval: u64,
}

impl Lane {
    fn new(prime: &Integer, n: u32, w: u32, d: u32) -> Self {
        Self::with(prime, (prime.clone() - 1u32, n / 2), n, w, d)
    }

    /// With an exponent of `bits` bits.
    fn with(prime: &Integer, (exponent, bits): (Integer, u32), n: u32, w: u32, d: u32) -> Self {
        let half = n / 2;
        let windows = bits.div_ceil(4);
        let block = power(w * (d + 1));
        let unit = block.clone() - prime.clone().invert(&block).expect("an odd prime");
        let scaled = unit.clone() * prime;
        let mt = (scaled.clone() + 1u32) / block;
        let digits = (half + 3).div_ceil(w) + d + 1;
        let r = power(w * digits);
        let square: Integer = scaled.clone() * &scaled;
        let dual = |value: Integer| (value % &square).div_rem(scaled.clone());
        let constants =
            [r.clone() << half, r.clone() * &r * &r, r.clone() * &r].map(dual).map(|(high, low)| (low, high));
        let jobs = u64::from(54 + 11 * windows);
        let job = u64::from(digits + d + 2);
        let interval = (jobs + 2) * job;
        let latency = interval - 3 * job + u64::from(digits) - 1;
        Self {
            half,
            w,
            prime: prime.clone(),
            scaled,
            mt,
            exponent,
            windows: Integer::from(windows - 1),
            unit,
            constants,
            latency,
            interval,
        }
    }

    fn ports(&self) -> Vec<(&'static str, &Integer)> {
        let [shift, enter, one] = &self.constants;
        vec![
            ("mt_i", &self.mt),
            ("unit_i", &self.unit),
            ("exponent_i", &self.exponent),
            ("windows_i", &self.windows),
            ("shift_low_i", &shift.0),
            ("shift_high_i", &shift.1),
            ("enter_low_i", &enter.0),
            ("enter_high_i", &enter.1),
            ("one_low_i", &one.0),
            ("one_high_i", &one.1),
        ]
    }

    /// A ciphertext in the lanes' input format: quarters, the highest first, each from its lowest
    /// digit on.
    fn digits(&self, ciphertext: &Integer) -> Vec<Vec<u64>> {
        let (half, w) = (self.half, self.w);
        let quarter = |index: u32| Integer::from(ciphertext >> (half * index)).keep_bits(half);
        let digits = |quarter: Integer| {
            (0..half.div_ceil(w)).map(move |index| limbs(&Integer::from(&quarter >> (w * index)).keep_bits(w)))
        };
        (0..4).rev().map(quarter).flat_map(digits).collect()
    }

    /// A bench with the constants, the two streams, and all ciphertexts queued.
    fn bench(&self, design: &'static Design, ciphertexts: &[Integer]) -> (Bench, Source, Sink) {
        let mut bench = Bench::new(design.model(), 3);
        let source = bench.source("in_valid_i", "in_ready_o", &["digit_i", "last_i"]);
        let sink = bench.sink("out_valid_o", "out_ready_i", &["l_o", "foreign_o"]);
        for (name, value) in self.ports() {
            bench.model.set(name, limbs(value));
        }
        for ciphertext in ciphertexts {
            let digits = self.digits(ciphertext);
            for (index, digit) in digits.iter().enumerate() {
                bench.push(source, &[digit, &[u64::from(index + 1 == digits.len())]]);
            }
        }
        (bench, source, sink)
    }

    /// `(c^e mod p^2 - 1) / p`, if the power is 1 modulo p.
    fn expected(&self, ciphertext: &Integer) -> Option<Integer> {
        let square = self.prime.clone() * &self.prime;
        let power = ciphertext.clone().pow_mod(&self.exponent, &square).expect("an exponent that is not negative");
        (Integer::from(&power % &self.prime) == 1).then(|| (power - 1u32) / &self.prime)
    }
}

/// A prime of exactly `bits` bits.
fn prime(random: &mut Random, bits: u32) -> Integer {
    loop {
        let prime = odd(random, bits).next_prime();
        if prime.significant_bits() == bits {
            return prime;
        }
    }
}

fn check(design: &'static Design, lanes: usize, lane: &Lane, random: &mut Random, count: usize, pressed: bool) {
    let bits = 4 * lane.half;
    let corners = [Integer::from(1), power(bits) - 1u32, lane.prime.clone() + 1u32, power(bits - 1)];
    let items: Vec<Integer> = corners
        .into_iter()
        .chain((0..count).map(|_| number(&random.bits(bits as usize))))
        // A ciphertext is coprime to p.
        .map(|value| if value.is_divisible(&lane.prime) { value - 1u32 } else { value })
        .collect();
    check_items(design, lanes, lane, items, pressed);
}

fn check_items(design: &'static Design, lanes: usize, lane: &Lane, items: Vec<Integer>, pressed: bool) {
    let (mut bench, source, sink) = lane.bench(design, &items);
    bench.run(sink, items.len(), (items.len() as u64 + 1) * (lane.interval + 100));
    bench.idle(5);
    let given = bench.received(sink);
    assert_eq!(given.len(), items.len());
    // The first digit is requested two jobs after the start.
    let digits = lane.digits(&items[0]).len();
    let first_digits = bench.taken(source).iter().step_by(digits);
    for (first, result) in first_digits.zip(given) {
        assert_eq!(result.cycle - first, lane.latency, "latency of {}", design.name());
    }
    for (result, later) in given.iter().zip(&given[lanes..]) {
        assert_eq!(later.cycle - result.cycle, lane.interval, "interval of {}", design.name());
    }
    let bound: Integer = lane.scaled.clone() * 2;
    for (item, result) in items.iter().zip(given) {
        let l = number(&result.fields[0]);
        let expected = lane.expected(item);
        assert_eq!(number(&result.fields[1]) == 1, expected.is_none(), "{item} modulo {}", lane.prime);
        if let Some(expected) = expected {
            assert_eq!(Integer::from(&l % &lane.prime), expected, "{item} modulo {}", lane.prime);
        }
        assert!(l < bound);
    }
    if pressed {
        let (mut slow, _, slow_sink) = lane.bench(design, &items);
        slow.set_sink_pressure(slow_sink, Pressure::Random(1));
        slow.run(slow_sink, items.len(), (items.len() as u64 + 1) * (lane.interval + 3000));
        let results = slow.received(slow_sink).iter().map(|result| &result.fields);
        assert!(results.eq(given.iter().map(|result| &result.fields)));
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn halves_of_decryptions() {
    let mut random = Random::new(1);
    let primes = [20, 20, 20, 19, 12].map(|bits| prime(&mut random, bits));
    for prime in primes.into_iter().chain([3, 5, 7].map(Integer::from)) {
        let pressed = prime.significant_bits() == 20;
        let lane = Lane::new(&prime, 40, 4, 2);
        check(&DUAL_LANE_40, 1, &lane, &mut random, 40, pressed);
        // Words of 6, 7, 7 bits with digits of 4, and three lanes.
        let lane = Lane::new(&prime, 40, 4, 3);
        check(&DUAL_LANE_40_WORDS, 3, &lane, &mut random, 40, pressed);
    }
    for bits in [128, 128, 100] {
        let prime = prime(&mut random, bits);
        let lane = Lane::new(&prime, 256, 17, 4);
        check(&DUAL_LANE_256, 1, &lane, &mut random, 12, bits == 128);
        let lane = Lane::new(&prime, 256, 18, 2);
        check(&DUAL_LANE_256_BALANCED, 1, &lane, &mut random, 12, bits == 128);
    }
}

/// Exponents of every number of windows: powers that are 1 modulo the prime, and others, which are
/// reported as foreign.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn short_exponents_and_foreign_ciphertexts() {
    let mut random = Random::new(8);
    // 2 * 3 * 5 * 7 * 11 * 19 = 43890: elements of many small orders.
    let prime = Integer::from(43_891);
    for (exponent, bits) in [(2, 2), (6, 4), (10, 8), (70, 8), (2310, 12), (6270, 16), (43_890, 16), (6, 20)] {
        let lane = Lane::with(&prime, (Integer::from(exponent), bits), 40, 4, 2);
        let root = |ciphertext: Integer| {
            // An element whose order modulo the prime divides the exponent, times an element whose
            // order is the prime.
            let square = prime.clone() * &prime;
            let cofactor = Integer::from(43_890 / exponent) * &prime;
            let unit = ciphertext.pow_mod(&cofactor, &square).expect("not negative");
            unit * (Integer::from(7) * &prime + 1u32) % square
        };
        let own: Vec<Integer> = (0..6).map(|at| root(Integer::from(at + 2))).collect();
        assert!(own.iter().all(|one| lane.expected(one).is_some()));
        check_items(&DUAL_LANE_40, 1, &lane, own, true);
        check(&DUAL_LANE_40, 1, &lane, &mut random, 12, true);
        // Three lanes.
        let lane = Lane::with(&prime, (Integer::from(exponent), bits), 40, 4, 3);
        check(&DUAL_LANE_40_WORDS, 3, &lane, &mut random, 12, false);
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn halves_of_wide_decryptions() {
    let mut random = Random::new(2);
    let lane = Lane::new(&prime(&mut random, 512), 1024, 18, 2);
    check(&DUAL_LANE_1024, 1, &lane, &mut random, 1, false);
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
    let mut lane = Lane::new(&prime(&mut random, 20), 40, 4, 2);
    let reference = activity(&lane, &Integer::from(1));
    assert_eq!(reference.len(), 21 + 1 + 4 * 5 + 1 + 1, "opening, windows, exit, the result");
    for exponent in [Integer::new(), power(20) - 1u32, number(&random.bits(20))] {
        lane.exponent = exponent;
        for ciphertext in [Integer::new(), power(80) - 1u32, number(&random.bits(80))] {
            assert_eq!(activity(&lane, &ciphertext), reference);
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn shapes_that_cannot_be_are_refused() {
    let verilator = std::env::var("VERILATOR").unwrap_or_else(|_| "verilator".into());
    let elaborate = |parameters: &[&str]| {
        let mut command = std::process::Command::new(&verilator);
        command.args(["--lint-only", "-Wall", "--top-module", "dual_lanes", "-y", "lib", "-y", "arith"]);
        let output = command.args(parameters).arg("arith/dual_lanes.sv").output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for shape in [&["-GN=64", "-GW=8", "-GV=8"][..], &["-GN=64", "-GW=8", "-GV=9", "-GD=4", "-GLanes=2"]] {
        let (accepted, said) = elaborate(shape);
        assert!(accepted, "{shape:?}: {said}");
    }
    let digits = "W must be 4 to 32, V at least W, D 2 to 4";
    let refused = [
        (&["-GN=65", "-GW=8", "-GV=8"][..], "N must be even"),
        (&["-GN=64", "-GW=3", "-GV=8"], digits),
        (&["-GN=64", "-GW=8", "-GV=7"], digits),
        (&["-GN=64", "-GW=8", "-GV=8", "-GD=1"], digits),
        (&["-GN=64", "-GW=8", "-GV=8", "-GD=5"], digits),
    ];
    for (shape, message) in refused {
        let (accepted, said) = elaborate(shape);
        assert!(!accepted && said.contains(message), "{shape:?}: {said}");
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn primes_change_between_ciphertexts() {
    let sources = [items(&["digit_i", "last_i"])];
    for (design, lanes, d) in [(&DUAL_LANE_40, 1, 2), (&DUAL_LANE_40_WORDS, 3, 3)] {
        let lane = Lane::new(&Integer::from(1_048_573), 40, 4, d);
        let beside: Vec<&'static str> = lane.ports().into_iter().map(|(name, _)| name).collect();
        let results = ["l_o", "foreign_o"];
        let module = Module { design, beside: &beside, sources: &sources, results: &results, prompt: true, last: None };
        module.check(30, false, |random| {
            let lane = Lane::new(&prime(random, 20), 40, 4, d);
            let count = 1 + random.below(2 * lanes) as usize;
            let digits = (0..count).flat_map(|_| {
                let ciphertext = number(&random.bits(80));
                let digits = lane.digits(&ciphertext);
                let last = digits.len() - 1;
                digits
                    .into_iter()
                    .enumerate()
                    .map(move |(at, digit)| vec![number(&digit), u32::from(at == last).into()])
            });
            let digits = digits.collect();
            let beside = lane.ports().into_iter().map(|(_, value)| value.clone()).collect();
            Operation { beside, items: vec![digits], answers: count }
        });
    }
}
