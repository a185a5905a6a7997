//! Arithmetic over memory for encryption over the integers, against GMP.

use crate::golden::{below, power};
use crate::words::{ADD, AT_ONCE, Manner, Operand, PRODUCT, SEEDED, SLOW, SUBTRACT, Step, Unit, stream};
use hearith_golden::integer_fft::encryption::{Encryptor as Model, Step as ModelStep};
use hearith_golden::integer_fft::four_step::FourStep;
use hearith_rtl as rtl;
use hearith_verilated::Design;
use hearith_verilated::bench::{Pressure, Random};
use rug::Integer;

/// A number of `bits` bits: all ones, a single one, zero, or random.
fn some(random: &mut Random, bits: u32) -> Integer {
    match random.below(6) {
        _ if bits == 0 => Integer::new(),
        0 => power(bits) - 1u32,
        1 => power(bits - 1),
        2 => Integer::new(),
        _ => below(random, &power(bits)),
    }
}

/// Products of blocks that a step computes, including those of zeros.
fn products(step: &Step, block: usize) -> usize {
    let [i, j, columns] = [step.x.words, step.y.words, step.z.words].map(|words| words.div_ceil(block));
    let pairs = |c: usize| (c.min(i - 1) + 1).saturating_sub((c + 1).saturating_sub(j));
    (0..columns).map(|c| (pairs(c) * step.terms).max(1)).sum()
}

struct Multiplier {
    unit: Unit,
    block: usize,
    width: u32,
    random: Random,
}

impl Multiplier {
    fn new(design: &'static Design, seed: u64, manner: Manner) -> Self {
        let unit = Unit::new(design, 4096, seed, manner, true);
        let width = unit.bench.model.width("wr_data_o");
        let block = if width == 8 { 2 } else { 28 };
        Multiplier { unit, block, width, random: Random::new(seed + 9) }
    }

    /// Computes the lowest words of a sum of products of random numbers. Returns the cycles, and
    /// the products of blocks.
    fn check(&mut self, terms: usize, x: usize, y: usize, z: usize) -> (u64, usize) {
        let operand = |at, words| Operand { at, words, stride: words + 1 };
        let (y_at, z_at) = (terms * (x + 1), terms * (x + y + 2));
        let step = Step {
            kind: PRODUCT,
            x: operand(0, x),
            y: operand(y_at, y),
            z: operand(z_at, z),
            terms,
            ..Step::default()
        };
        let mut sum = Integer::new();
        // The previous content must not matter, nor must the words after a number.
        let guard = self.random.next() & u64::MAX >> (64 - self.width);
        self.unit.memory.words.fill(guard);
        for term in 0..terms {
            let [a, b] = [x, y].map(|words| some(&mut self.random, words as u32 * self.width));
            self.unit.memory.put(term * (x + 1), x, &a);
            self.unit.memory.put(y_at + term * (y + 1), y, &b);
            sum += a * b;
        }
        let before = self.unit.memory.written;
        let cycles = self.unit.carry_out(&step, 1_000_000);
        let expected = sum.keep_bits(z as u32 * self.width);
        assert_eq!(self.unit.memory.number(z_at, z), expected, "{terms} times {x} by {y} words, {z} of them");
        assert_eq!(self.unit.memory.words[z_at + z], guard, "nothing behind it is written");
        assert_eq!(self.unit.memory.written - before, z as u64, "a word is written once");
        (cycles, products(&step, self.block))
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn products_of_every_small_shape() {
    for (seed, manner) in [AT_ONCE].into_iter().chain(SLOW).enumerate() {
        let mut multiplier = Multiplier::new(&rtl::SUPER_PRODUCT_16, seed as u64, manner);
        for terms in 1..=3 {
            for (x, y) in (1..=7).flat_map(|x| (1..=7).map(move |y| (x, y))) {
                for z in [x + y + 1, x + y, 1 + (x + y) / 2] {
                    multiplier.check(terms, x, y, z);
                }
            }
        }
    }
}

/// Every product of blocks takes N cycles, and the latency is always the same.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn cycles_of_products() {
    for (design, n, way) in [(&rtl::SUPER_PRODUCT_16, 16, 98), (&rtl::SUPER_PRODUCT_128, 128, 354)] {
        let mut multiplier = Multiplier::new(design, 3, AT_ONCE);
        let b = multiplier.block;
        for (terms, x, y) in [(1, b, b), (1, b, 5 * b), (1, 4 * b, 7 * b), (3, 2 * b, 3 * b - 1), (1, 5 * b - 1, 5 * b)]
        {
            // From rest: blocks begin as soon as they arrive.
            multiplier.unit.bench.idle(2 * n);
            let (cycles, products) = multiplier.check(terms, x, y, x + y);
            assert_eq!(cycles, products as u64 * n + way, "{terms} times {x} by {y} words in {}", design.name());
        }
    }
}

/// A memory that answers late, but within a product's time, adds this delay once, plus at most the
/// time of a product.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn late_answers_cost_nothing_more() {
    let shape = (1, 112, 140, 252);
    let mut cycles = [0, 20, 40].map(|delay| {
        let mut multiplier = Multiplier::new(&rtl::SUPER_PRODUCT_128, 4, Manner { delay, pressure: Pressure::None });
        multiplier.unit.bench.idle(256);
        multiplier.check(shape.0, shape.1, shape.2, shape.3).0
    });
    let least = cycles[0];
    cycles.iter_mut().for_each(|each| *each -= least);
    assert!(cycles[1] <= 20 + 128 && cycles[2] <= 40 + 128, "{cycles:?}");
}

/// Element `index` of `bits` bits, by the definition in `hearith-dghv`: word `8 t + s` of its
/// stream is word `t` of segment `s`.
fn element(index: usize, bits: u32, width: u32) -> Integer {
    let words = bits.div_ceil(width) as usize;
    let segment = words.div_ceil(8);
    let word = |k: usize| stream(index as u64, (8 * (k % segment) + k / segment) as u64) & u64::MAX >> (64 - width);
    (0..words).rev().fold(Integer::new(), |sum, k| (sum << width) + word(k)).keep_bits(bits)
}

/// Sums over elements from the seed: one segment at a time, and all together.
fn check_seeded(
    multiplier: &mut Multiplier,
    bits: u32,
    coefficient: usize,
    terms: usize,
    first: usize,
) -> (u64, usize) {
    let width = multiplier.width;
    let whole = bits.div_ceil(width) as usize;
    let segment = whole.div_ceil(8);
    let x = Operand { at: 0, words: coefficient, stride: coefficient };
    let even = terms * coefficient;
    let odd = even + 9 * segment;
    let z = Operand { at: even, words: 2 * segment, stride: 0 };
    let y = Operand { at: 0, words: segment, stride: 0 };
    let step = Step { kind: SEEDED, x, y, z, odd, terms, first, whole, kept: bits % width, ..Step::default() };
    multiplier.unit.memory.words.fill(0);
    let mut sum = Integer::new();
    for term in 0..terms {
        let factor = some(&mut multiplier.random, coefficient as u32 * width);
        multiplier.unit.memory.put(term * coefficient, coefficient, &factor);
        sum += factor * element(first + term, bits, width);
    }
    let cycles = multiplier.unit.carry_out(&step, 1_000_000);
    let memory = &multiplier.unit.memory;
    let total = memory.number(even, 9 * segment) + memory.number(odd, 9 * segment);
    assert_eq!(total, sum, "{terms} elements of {bits} bits times {coefficient} words");
    (cycles, 8 * products(&step, multiplier.block))
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn sums_over_elements_from_the_seed() {
    for (seed, manner) in [AT_ONCE].into_iter().chain(SLOW).enumerate() {
        let mut multiplier = Multiplier::new(&rtl::SUPER_PRODUCT_16, seed as u64, manner);
        for bits in [200, 201, 250, 255, 256, 257, 400, 511] {
            for (coefficient, terms) in [(1, 1), (1, 3), (2, 2)] {
                check_seeded(&mut multiplier, bits, coefficient, terms, 5 + seed);
            }
        }
    }
}

/// Sums, differences, comparisons and tests, with various lengths.
struct Adder {
    unit: Unit,
    width: u32,
    random: Random,
}

impl Adder {
    fn new(design: &'static Design, seed: u64, manner: Manner) -> Self {
        let unit = Unit::new(design, 2048, seed, manner, false);
        let width = unit.bench.model.width("wr_data_o");
        Adder { unit, width, random: Random::new(seed + 17) }
    }

    /// Carries out one step with these lengths, at an address that `place` selects (in place for
    /// two of its values). Returns the cycles.
    fn check(&mut self, kind: u64, [x, y, z]: [usize; 3], place: usize, flags: u64) -> u64 {
        let [write, masked, carry] = [0, 1, 2].map(|bit| flags >> bit & 1 == 1);
        let width = self.width;
        let tested = self.random.below(width.into()) as u32;
        let operand = |at, words| Operand { at, words, stride: 0 };
        let z_at = [1000, 100, 500][place];
        let step = Step {
            kind,
            x: operand(100, x),
            y: operand(500, y),
            z: operand(z_at, z),
            write,
            masked,
            carry,
            tested,
            ..Step::default()
        };
        let guard = self.random.next() & u64::MAX >> (64 - width);
        self.unit.memory.words.fill(guard);
        let a = some(&mut self.random, x as u32 * width);
        // Often equal, so that differences are zero and carries propagate far.
        let b = if self.random.below(3) == 0 {
            a.clone().keep_bits(y as u32 * width)
        } else {
            some(&mut self.random, y as u32 * width)
        };
        self.unit.memory.put(100, x, &a);
        self.unit.memory.put(500, y, &b);
        let before = self.unit.memory.words.clone();
        let cycles = self.unit.carry_out(&step, 100_000);
        let bits = z as u32 * width;
        let (a, b) = (a.keep_bits(bits), if masked { Integer::new() } else { b.keep_bits(bits) });
        let exact = if kind == ADD { a + b + u32::from(carry) } else { a - b - u32::from(carry) };
        let result = exact.clone().keep_bits(bits);
        let top = Integer::from(&result >> (bits - width));
        let out = exact < 0 || exact >= power(bits);
        let expected = u64::from(out) << 3
            | u64::from(result != 0) << 2
            | u64::from(top.get_bit(tested)) << 1
            | u64::from(Integer::from(&top >> (tested + 1)) != 0);
        self.unit.bench.model.settle();
        assert_eq!(self.unit.bench.model.get_u64("finding_o"), expected, "{step:?}");
        if write {
            assert_eq!(self.unit.memory.number(z_at, z), result, "{step:?}");
            assert_eq!(self.unit.memory.words[z_at + z], before[z_at + z], "nothing behind it is written");
        } else {
            assert!(self.unit.memory.words == before, "nothing is written");
        }
        cycles
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn sums_and_differences_of_every_small_shape() {
    for (seed, manner) in [AT_ONCE].into_iter().chain(SLOW).enumerate() {
        let mut adder = Adder::new(&rtl::SUPER_SUM_8, seed as u64, manner);
        for shape in (0..1000).map(|k| [k / 100, k / 10 % 10, 1 + k % 10]) {
            let (kind, flags) = ([ADD, SUBTRACT][adder.random.below(2) as usize], adder.random.below(8));
            let place = adder.random.below(3) as usize;
            adder.check(kind, shape, place, flags);
        }
    }
}

/// All pairs of words, with and without a carry.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn sums_and_differences_of_all_words() {
    let mut unit = Unit::new(&rtl::SUPER_SUM_8, 1024, 3, AT_ONCE, false);
    let numbers = (0..256).fold(Integer::new(), |sum, k| sum + (Integer::from(k) << (8 * k)));
    unit.memory.put(0, 256, &numbers);
    for (kind, carry) in [(ADD, false), (ADD, true), (SUBTRACT, false), (SUBTRACT, true)] {
        for y in 0..256_u64 {
            // A step per word of y would take too long: x has all words, and y repeats one.
            let same = (0..256).fold(Integer::new(), |sum, k| sum + (Integer::from(y) << (8 * k)));
            unit.memory.put(256, 256, &same);
            let [x, y_at, z] = [0, 256, 512].map(|at| Operand { at, words: 256, stride: 0 });
            unit.carry_out(&Step { kind, x, y: y_at, z, carry, write: true, ..Step::default() }, 10_000);
            let more = same + u32::from(carry);
            let exact = if kind == ADD { Integer::from(&numbers + &more) } else { Integer::from(&numbers - &more) };
            assert_eq!(unit.memory.number(512, 256), exact.keep_bits(2048));
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn cycles_of_sums() {
    let mut adder = Adder::new(&rtl::SUPER_SUM_64, 5, AT_ONCE);
    for [x, y, z] in [
        [0, 0, 1],
        [0, 0, 200],
        [200, 0, 200],
        [0, 200, 200],
        [200, 200, 200],
        [32, 32, 32],
        [40, 1, 40],
        [100, 10, 70],
    ] {
        let expected = x.min(z) + z + 2 * usize::div_ceil(z, 32) + 4;
        assert_eq!(adder.check(SUBTRACT, [x, y, z], 0, 1), expected as u64, "{x} and {y} words, {z} of the result");
    }
}

/// Products of two long factors by transforms.
struct Transformer {
    unit: Unit,
    random: Random,
}

const BY_128: FourStep = FourStep { log: 7, columns: 4, base: 16, word: 64 };
/// Logarithm of the shortest transform, and the least number of words of both factors.
const SHORTEST: u64 = 2;
const LEAST: usize = 5;

impl Transformer {
    fn new(seed: u64, manner: Manner) -> Self {
        let mut unit = Unit::new(&rtl::TRANSFORM_PRODUCT_128, 1 << 16, seed, manner, false);
        unit.bench.model.set("settled_i", true);
        Transformer { unit, random: Random::new(seed + 5) }
    }

    /// A step with operands one after another from word 1 on, the address of its matrices, and
    /// their words.
    fn step([x, y, z]: [usize; 3]) -> (Step, usize, usize) {
        let operand = |at, words| Operand { at, words, stride: 0 };
        let shape = BY_128.shape(SHORTEST, 64 * (x + y).max(z) as u64).expect("a product that fits");
        let step = Step {
            kind: PRODUCT,
            x: operand(1, x),
            y: operand(2 + x, y),
            z: operand(3 + x + y, z),
            terms: 1,
            ..Step::default()
        };
        (step, 4 + x + y + z, BY_128.scratch(shape) as usize)
    }

    /// Whether the unit accepts a step.
    fn takes(&mut self, step: &Step) -> bool {
        self.unit.bench.model.set_limbs("step_i", &step.limbs());
        self.unit.bench.model.settle();
        self.unit.bench.model.bit("takes_o")
    }

    fn place(&mut self, scratch: u64, end: u64) {
        self.unit.bench.model.set("scratch_i", scratch);
        self.unit.bench.model.set("scratch_end_i", end);
    }

    /// Computes the lowest words of a product with just enough space for its matrices. Nothing else
    /// may be written. Returns the cycles, and those of a memory that answers at once.
    fn check(&mut self, lengths: [usize; 3]) -> [u64; 2] {
        let (step, scratch, matrices) = Self::step(lengths);
        let [x, y, z] = lengths;
        let factors = [x, y].map(|words| some(&mut self.random, 64 * words as u32));
        let mut random = Random::new(self.random.next());
        self.unit.memory.words.fill_with(|| random.next());
        self.unit.memory.put(step.x.at, x, &factors[0]);
        self.unit.memory.put(step.y.at, y, &factors[1]);
        let before = self.unit.memory.words.clone();
        assert!(self.takes(&step), "{step:?}");
        // The matrices begin at the first multiple of a row's words.
        let begin = scratch.next_multiple_of(BY_128.columns as usize);
        self.place(scratch as u64, (begin + matrices) as u64);
        let cycles = self.unit.carry_out(&step, 1_000_000);
        let expected = Integer::from(&factors[0] * &factors[1]).keep_bits(64 * z as u32);
        assert_eq!(self.unit.memory.number(step.z.at, z), expected, "{step:?}");
        let own = |at: usize| (step.z.at..step.z.at + z).contains(&at) || (begin..begin + matrices).contains(&at);
        let now = &self.unit.memory.words;
        assert!((0..now.len()).all(|at| own(at) || now[at] == before[at]), "nothing else is written");
        let shape = BY_128.shape(SHORTEST, 64 * (x + y).max(z) as u64).unwrap();
        [cycles, ModelStep::Transforms { by: BY_128, shape, z: z as u64 }.cycles(&Model::HALVES)]
    }

    /// The same with a memory that answers at once: the cycles must match.
    fn check_cycles(&mut self, lengths: [usize; 3]) {
        let [cycles, expected] = self.check(lengths);
        assert_eq!(cycles, expected, "{lengths:?} words");
    }
}

/// Lengths around the limits of every shape, and results that are shorter or longer than the
/// product.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn products_by_transforms() {
    let mut transformer = Transformer::new(1, AT_ONCE);
    // Words of a matrix of 2^log digits, from the size that fits two factors of minimum length.
    for room in (6..=12).map(|log| (16_usize << log) / 64) {
        for [x, y] in [[room / 2, room - room / 2], [LEAST, room - LEAST], [room + 1 - LEAST, LEAST]] {
            for z in [x + y, x.max(y) + 1] {
                transformer.check_cycles([x, y, z]);
            }
        }
    }
    // If the result is longer than the product, zeros are written.
    transformer.check_cycles([LEAST, LEAST, 17]);
    transformer.check_cycles([LEAST, 11, 16]);
    transformer.check_cycles([2048, 2048, 4096]);
}

/// A late memory that is slow to accept requests and words costs only time.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn transforms_wait_for_a_slow_memory() {
    for manner in SLOW {
        let mut transformer = Transformer::new(4, manner);
        for lengths in [[LEAST, LEAST, 10], [40, 24, 64], [7, 50, 51]] {
            let [cycles, at_once] = transformer.check(lengths);
            assert!(cycles > at_once, "{cycles} cycles");
        }
    }
}

/// The unit reports which steps it accepts: a single product that fits, of two factors that are
/// long enough.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn only_long_products_are_taken() {
    let mut transformer = Transformer::new(2, AT_ONCE);
    let longest = 4096;
    for ([x, y, z], takes) in [
        ([LEAST, LEAST, 10], true),
        ([LEAST - 1, 100, 104], false),
        ([100, LEAST - 1, 104], false),
        ([LEAST, longest - LEAST, longest], true),
        ([LEAST, longest - LEAST, longest + 1], false),
        ([LEAST, longest - LEAST + 1, longest], false),
        ([0xff_ffff, 0xff_ffff, 1], false),
        ([LEAST, LEAST, 0xff_ffff], false),
    ] {
        let operand = |words| Operand { at: 0, words, stride: 0 };
        let step = Step {
            kind: PRODUCT,
            x: operand(x),
            y: operand(y),
            z: operand(z),
            terms: 1,
            write: true,
            ..Step::default()
        };
        assert_eq!(transformer.takes(&step), takes, "{x} by {y} words, {z} of them");
        assert!(!transformer.takes(&Step { terms: 2, ..step }) && !transformer.takes(&Step { terms: 0, ..step }));
        for kind in [SEEDED, ADD, SUBTRACT] {
            assert!(!transformer.takes(&Step { kind, ..step }));
        }
    }
}

/// If matrices would exceed their space, the unit reports it and nothing begins.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn no_transforms_without_room() {
    let mut transformer = Transformer::new(3, AT_ONCE);
    let (step, scratch, matrices) = Transformer::step([20, 20, 40]);
    let (scratch, matrices) = (scratch.next_multiple_of(BY_128.columns as usize) as u64, matrices as u64);
    for (at, end) in [
        (scratch, scratch + matrices - 1),
        (scratch, 0),
        (scratch, scratch),
        (scratch - 3, scratch + matrices - 1),
        (0xffff_fff0, 0xffff_ffff),
        (0xffff_fffe, 0xffff_ffff),
        (0xffff_fff0, matrices),
    ] {
        assert!(transformer.takes(&step));
        transformer.place(at, end);
        let moved = (transformer.unit.memory.read, transformer.unit.memory.written);
        transformer.unit.bench.model.set("start_i", true);
        assert!(!transformer.unit.memory.step(&mut transformer.unit.bench, "short_o"));
        transformer.unit.bench.model.set("start_i", false);
        assert!(transformer.unit.memory.step(&mut transformer.unit.bench, "short_o"), "from {at} to {end}");
        for _ in 0..2000 {
            assert!(!transformer.unit.memory.step(&mut transformer.unit.bench, "short_o"));
            assert!(!transformer.unit.bench.model.bit("done_o"));
        }
        assert_eq!((transformer.unit.memory.read, transformer.unit.memory.written), moved);
        // The unit still works.
        transformer.check([20, 20, 40]);
    }
}
