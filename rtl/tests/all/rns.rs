//! Residue units and Barrett reductions against GMP: every input at tiny widths; edge cases and
//! random values for every prime of the paper's pools, and at full width.

#[path = "../../designs/pools.rs"]
mod pools;

use crate::golden::{Core, below, number, power};
use hearith_rns::{Bounds, PrimeSearch};
use hearith_rtl as rtl;
use hearith_verilated::Design;
use hearith_verilated::bench::{Bench, Pressure, Random};
use rug::Integer;

/// The parameters of an array of units.
struct Array {
    design: &'static Design,
    primes: Vec<u64>,
    v: u32,
    words: u32,
}

impl Array {
    fn new(design: &'static Design) -> Self {
        let value =
            |name| design.parameters().iter().find(|(parameter, _)| *parameter == name).map(|&(_, value)| value);
        let (_, digits) = value("Primes").and_then(|primes| primes.split_once("'h")).expect("a list of primes");
        let prime = |at| u64::from_str_radix(&digits[at..at + 16], 16).expect("hexadecimal digits");
        let primes: Vec<u64> = (0..digits.len()).step_by(16).rev().map(prime).collect();
        Self { design, primes, v: design.parameter("V"), words: design.parameter("Words") }
    }

    fn bits(&self) -> u32 {
        self.v * self.words
    }

    fn core(&self) -> Core {
        Core { design: self.design, operands: &["a_i"], results: &["r_o"] }
    }

    /// A number's residues in the array's output format.
    fn expected(&self, a: &Integer) -> Integer {
        let residues = self.primes.iter().rev().map(|&prime| Integer::from(a % prime));
        residues.fold(Integer::new(), |all, residue| (all << self.v) + residue)
    }

    /// The largest number, neighbours of multiples of some prime, and numbers at the edges of
    /// words.
    fn corners(&self, random: &mut Random, count: usize) -> Vec<Integer> {
        let (most, word) = (power(self.bits()) - 1u32, power(self.v) - 1u32);
        let alternating = |first: u32| {
            let words = (first..self.words).step_by(2).map(|at| word.clone() << (self.v * at));
            words.fold(Integer::new(), |sum, word| sum + word)
        };
        let mut found =
            vec![Integer::new(), Integer::from(1), most.clone(), word.clone(), alternating(0), alternating(1)];
        for at in 0..count.min(self.primes.len()) {
            let prime = self.primes[at * self.primes.len() / count.min(self.primes.len())];
            let multiple = Integer::from(&most / prime) * prime;
            found.extend([multiple.clone() - 1u32, multiple, Integer::from(prime), Integer::from(prime - 1)]);
        }
        for at in 1..self.words {
            found.extend([power(self.v * at), power(self.v * at) - 1u32]);
        }
        found.extend((0..count).map(|_| number(&random.bits(self.bits() as usize))));
        found
    }

    /// Checks one coefficient per cycle with results `Stages` cycles later, and the same under
    /// pressure.
    fn check(&self, numbers: Vec<Integer>, pressures: u64) {
        let items: Vec<Vec<Integer>> = numbers.into_iter().map(|number| vec![number]).collect();
        let stages = self.design.parameter("Stages").into();
        let results = self.core().timed(&[], &items, stages, 1);
        for (item, result) in items.iter().zip(&results) {
            assert_eq!(result[0], self.expected(&item[0]), "{} of {}", item[0], self.design.name());
        }
        for seed in 0..pressures {
            assert!(self.core().pressed(&[], &items, seed) == results, "{} under pressure", self.design.name());
        }
    }
}

/// Every number of `bits` bits.
fn all(bits: u32) -> Vec<Integer> {
    (0..1_u32 << bits).map(Integer::from).collect()
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn every_small_number_in_every_architecture() {
    let designs = [
        &rtl::RESIDUES_TINY_PAPER_0,
        &rtl::RESIDUES_TINY_PAPER_1,
        &rtl::RESIDUES_TINY_PAPER_2,
        &rtl::RESIDUES_TINY_PAPER_3,
        &rtl::RESIDUES_TINY_PAPER_4,
        &rtl::RESIDUES_TINY_PAPER_5,
        &rtl::RESIDUES_TINY_PAPER_6,
        &rtl::RESIDUES_TINY_PAPER_7,
        &rtl::RESIDUES_TINY_COMPACT_0,
        &rtl::RESIDUES_TINY_COMPACT_4,
        &rtl::RESIDUES_TINY_ROY_0,
        &rtl::RESIDUES_TINY_ROY_1,
        &rtl::RESIDUES_TINY_ROY_2,
        &rtl::RESIDUES_TINY_ROY_3,
        &rtl::RESIDUES_TINY_ROY_4,
        &rtl::RESIDUES_TINY_ROY_5,
        &rtl::RESIDUES_TINY_ROY_6,
        &rtl::RESIDUES_TINY_ROY_7,
        &rtl::RESIDUES_TINY_TAN_0,
        &rtl::RESIDUES_TINY_TAN_1,
        &rtl::RESIDUES_TINY_TAN_2,
        &rtl::RESIDUES_TINY_TAN_3,
        &rtl::RESIDUES_TINY_TAN_4,
        &rtl::RESIDUES_TINY_TAN_5,
        &rtl::RESIDUES_TINY_TAN_6,
        &rtl::RESIDUES_TINY_TAN_7,
    ];
    for design in designs {
        let array = Array::new(design);
        array.check(all(array.bits()), 3);
    }
}

/// The modulus of a single unit, which may be longer than `Design::parameter` reads.
fn modulus(design: &Design) -> u64 {
    let (_, value) = design.parameters().iter().find(|(name, _)| *name == "Q").expect("a modulus");
    value.rsplit("'d").next().and_then(|digits| digits.parse().ok()).expect("decimal digits")
}

/// Checks a module with one stream of numbers and one of their residues modulo `Q`.
fn check_single(design: &'static Design, operand: &'static str, latency: u64, numbers: Vec<Integer>) {
    let core = Core { design, operands: if operand == "a_i" { &["a_i"] } else { &["x_i"] }, results: &["r_o"] };
    let q = modulus(design);
    let items: Vec<Vec<Integer>> = numbers.into_iter().map(|number| vec![number]).collect();
    let results = core.timed(&[], &items, latency, 1);
    for (item, result) in items.iter().zip(&results) {
        assert_eq!(result[0], Integer::from(&item[0] % q), "{} modulo {q}", item[0]);
    }
    assert!(core.pressed(&[], &items, latency) == results);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn every_small_number_in_single_units() {
    check_single(&rtl::RESIDUE_UNIT_TINY_8, "a_i", 8, all(12));
    check_single(&rtl::RESIDUE_UNIT_TAN_TINY_9, "a_i", 9, all(15));
    check_single(&rtl::RESIDUE_UNIT_3, "a_i", 3, all(12));
    check_single(&rtl::RESIDUE_UNIT_17, "a_i", 2, all(10));
    check_single(&rtl::RESIDUE_UNIT_ROY_17, "a_i", 2, all(10));
}

/// Cycles from a coefficient to its residue in `residue_unit_deep`.
fn deep_latency(design: &Design) -> u64 {
    9 + u64::from(design.parameter("Paired"))
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn every_small_number_in_deep_units() {
    for (design, bits) in [
        (&rtl::RESIDUES_DEEP_11, 12),
        (&rtl::RESIDUES_DEEP_13, 12),
        (&rtl::RESIDUES_DEEP_5, 12),
        (&rtl::RESIDUES_DEEP_3, 12),
        (&rtl::RESIDUES_DEEP_17, 10),
        (&rtl::RESIDUES_DEEP_9, 12),
    ] {
        check_single(design, "a_i", deep_latency(design), all(bits));
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn long_numbers_in_deep_units() {
    for design in
        [&rtl::RESIDUES_DEEP_360, &rtl::RESIDUES_DEEP_360_WORDS, &rtl::RESIDUES_DEEP_1440, &rtl::RESIDUES_DEEP_LONG]
    {
        let q = modulus(design);
        let array =
            Array { design, primes: vec![q], v: u64::BITS - q.leading_zeros(), words: design.parameter("Words") };
        check_single(design, "a_i", deep_latency(design), array.corners(&mut Random::new(11), 400));
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn every_small_barrett_reduction() {
    check_single(&rtl::BARRETT_13_5, "x_i", 1, all(5));
    check_single(&rtl::BARRETT_13_12, "x_i", 1, all(12));
    check_single(&rtl::BARRETT_9_14_COMPACT, "x_i", 1, all(14));
    check_single(&rtl::BARRETT_31_6_COMPACT, "x_i", 0, all(6));
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn barrett_reductions_of_long_words() {
    for design in [&rtl::BARRETT_56, &rtl::BARRETT_58_COMPACT] {
        let mut random = Random::new(7);
        let (q, most) = (design.parameter("Q"), power(design.parameter("K")) - 1u32);
        // Near multiples of q, the quotient is most likely to be one too small.
        let multiples = (0..400).map(|_| below(&mut random, &Integer::from(&most / q)) * q);
        let numbers = multiples.flat_map(|x| [x.clone() + (q - 1), x.clone() + q, x]);
        let ends = (0..400_u32).flat_map(|x| [Integer::from(x), most.clone() - x]);
        check_single(design, "x_i", 2, numbers.chain(ends).collect());
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn weights_of_words_far_apart() {
    let design = &rtl::WEIGHTED_SUM_FAR;
    let (q, bits, step) = (Integer::from(modulus(design)), design.parameter("XBits"), design.parameter("Step"));
    let mut random = Random::new(13);
    let items: Vec<Vec<Integer>> = (0..20).map(|_| vec![below(&mut random, &power(3 * bits))]).collect();
    let core = Core { design, operands: &["x_i"], results: &["r_o"] };
    for (item, result) in items.iter().zip(core.timed(&[], &items, 1, 1)) {
        let word = |at: u32| Integer::from(&item[0] >> (at * bits)) % power(bits);
        let sum = (0..3).map(|at| word(at) << (at * step)).sum::<Integer>();
        assert_eq!(result[0].clone() % &q, sum % &q);
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn wide_pools_every_prime() {
    check_pool(&rtl::RESIDUES_POOL_360, 120, 62);
    check_pool(&rtl::RESIDUES_POOL_1440, 70, 63);
}

/// The largest models of all tests. Short tests also cover the compact form.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
#[cfg_attr(verilator, ignore = "long: make test-full")]
fn wide_compact_pools_every_prime() {
    check_pool(&rtl::RESIDUES_POOL_360_COMPACT, 120, 62);
    check_pool(&rtl::RESIDUES_POOL_720_COMPACT, 121, 63);
}

fn check_pool(design: &'static Design, primes: usize, longest: u32) {
    let array = Array::new(design);
    assert_eq!(array.primes.len(), primes);
    array.primes.iter().for_each(|&prime| check_bounds(prime, &array, longest));
    let mut random = Random::new(primes as u64);
    // These designs have no registers, so pressure cannot hold anything.
    array.check(array.corners(&mut random, 20), 0);
}

/// The widths in `residue_unit` fit the largest number, and no word of its Barrett reduction is
/// longer than the paper allows.
fn check_bounds(prime: u64, array: &Array, longest: u32) {
    let (v, pairs) = (array.v, array.words.div_ceil(2));
    let beta = power(v) - prime;
    let s = (power(v) - 1u32) * (Integer::from(&beta) + 1u32);
    let beta_bits = beta.significant_bits();
    assert!(s < power(v + beta_bits));
    let weights = (0..pairs).map(|j| power(2 * v * j) % prime);
    let sum = weights.fold(Integer::new(), |sum, weight| sum + weight * &s);
    let sum_bits = 2 * v + beta_bits + pairs.next_power_of_two().ilog2();
    assert!(sum < power(sum_bits), "the sum modulo {prime}");
    let split = (sum_bits + v).div_ceil(2);
    let fold = power(split) - 1u32 + (power(sum_bits - split) - 1u32) * (power(split) % prime);
    assert!(fold < power(split + 1) && split < longest, "the fold modulo {prime}");
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn evaluated_primes_at_360_bits() {
    for design in [&rtl::RESIDUES_360_PAPER, &rtl::RESIDUES_360_COMPACT, &rtl::RESIDUES_360_ROY, &rtl::RESIDUES_360_TAN]
    {
        let array = Array::new(design);
        array.check(array.corners(&mut Random::new(360), 1000), 3);
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn wide_evaluated_primes_at_1440_bits() {
    for design in
        [&rtl::RESIDUES_1440_PAPER, &rtl::RESIDUES_1440_COMPACT, &rtl::RESIDUES_1440_ROY, &rtl::RESIDUES_1440_TAN]
    {
        let array = Array::new(design);
        array.check(array.corners(&mut Random::new(1440), 300), 3);
    }
}

/// The primes of the lattice scheme, and words of the greatest length that a bank supports, with
/// the smallest beta and one as long as a word.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn primes_of_more_than_a_word() {
    for (design, seed) in [(&rtl::RESIDUES_200_COMPACT, 200), (&rtl::RESIDUES_LONG_COMPACT, 62)] {
        let array = Array::new(design);
        array.check(array.corners(&mut Random::new(seed), 1000), 3);
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
#[cfg_attr(verilator, ignore = "long: make test-full")]
fn primes_of_more_than_a_word_in_every_architecture() {
    for design in [&rtl::RESIDUES_LONG_PAPER, &rtl::RESIDUES_LONG_ROY, &rtl::RESIDUES_LONG_TAN] {
        let array = Array::new(design);
        array.check(array.corners(&mut Random::new(63), 1000), 3);
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_stage_holds_an_item_while_the_next_waits() {
    for (seed, before) in (0..).zip([Pressure::None, Pressure::Random(200), Pressure::Random(20)]) {
        for after in [Pressure::None, Pressure::Random(128), Pressure::Random(20)] {
            let mut bench = Bench::new(rtl::STREAM_STAGE_8.model(), seed);
            let source = bench.source("in_valid_i", "in_ready_o", &["in_data_i"]);
            let sink = bench.sink("out_valid_o", "out_ready_i", &["out_data_o"]);
            bench.set_source_pressure(source, before);
            bench.set_sink_pressure(sink, after);
            (0..200_u64).for_each(|item| bench.push(source, &[&[item]]));
            bench.run(sink, 200, 60_000);
            bench.idle(50);
            assert!(bench.received(sink).iter().map(|transfer| transfer.fields[0][0]).eq(0..200));
            if (before, after) == (Pressure::None, Pressure::None) {
                assert!(bench.taken(source).iter().copied().eq(0..200));
                assert_eq!(bench.received(sink)[0].cycle, 1);
            }
        }
    }
}

/// The lists that the models are built from equal the results of the search.
#[test]
fn the_pools_are_what_the_search_finds() {
    let found = |degree, modulus_bits, max_word| {
        let search = PrimeSearch { degree, modulus_bits, word_bits: 30, max_word, terms: 5, bounds: Bounds::Paper };
        search.primes().unwrap().map(|prime| prime.modulus()).collect::<Vec<_>>()
    };
    assert_eq!(pools::POOL_360[..], found(1 << 13, 360, 62));
    assert_eq!(pools::POOL_720[..], found(1 << 14, 720, 63));
    assert_eq!(pools::POOL_1440[..], found(1 << 15, 1440, 63));
    // The bank of 360 bits uses the largest primes of the paper's shorter pool.
    assert_eq!(pools::POOL_360[..12], found(1 << 13, 360, 60)[..12]);
}
