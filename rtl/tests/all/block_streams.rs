//! Numbers as streams of blocks against GMP: all numbers at tiny widths, edge cases and random
//! numbers of any length, and the paper's 4096 bits. Every cycle is counted, every port is tested
//! under back-pressure, and cycles do not depend on the numbers.

use crate::golden::{below, limbs, number, odd, power};
use crate::idle::{self, Operation};
use hearith_golden::block_streams::{Products, Shape};
use hearith_rtl as rtl;
use hearith_verilated::Design;
use hearith_verilated::bench::{Bench, Pressure, Random};
use rug::Integer;

/// A number and its length in blocks.
type Blocks = (Integer, usize);

/// A module whose ports carry numbers in blocks of `bits` bits.
#[derive(Clone, Copy)]
struct Module {
    design: &'static Design,
    bits: u32,
    /// The prefixes of its input ports.
    ports: &'static [&'static str],
    /// An additional output that is valid with the result's last block.
    beside: Option<&'static str>,
}

/// The results with their cycles, and the cycles in which each port accepted blocks.
#[derive(Debug, Default)]
struct Passage {
    results: Vec<Given>,
    taken: Vec<Vec<u64>>,
    /// Cycles in which the multipliers' operands were read.
    busy: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Given {
    number: Integer,
    blocks: usize,
    beside: u64,
    first: u64,
    last: u64,
}

/// Pressures: none; on each port in turn; and on all.
const EAGER: Pressure = Pressure::None;

impl Module {
    /// Sends numbers to each port under its pressure, and receives `count` results under the last
    /// pressure.
    fn pass(&self, inputs: &[(&str, u64)], numbers: &[Vec<Blocks>], count: usize, sides: &[Pressure]) -> Passage {
        let mut bench = Bench::new(self.design.model(), 3);
        for (port, value) in inputs {
            bench.model.set(port, [*value]);
        }
        let mut sources = Vec::new();
        for (index, (port, numbers)) in self.ports.iter().zip(numbers).enumerate() {
            let names = ["valid_i", "ready_o", "block_i", "last_i"].map(|name| format!("{port}_{name}"));
            let source = bench.source(&names[0], &names[1], &[&names[2], &names[3]]);
            bench.set_source_pressure(source, sides[index]);
            for (number, blocks) in numbers {
                for at in 0..*blocks {
                    let block = Integer::from(number >> (at as u32 * self.bits)).keep_bits(self.bits);
                    bench.push(source, &[&limbs(&block), &[u64::from(at + 1 == *blocks)]]);
                }
            }
            sources.push(source);
        }
        let mut fields = vec!["out_block_o", "out_last_o"];
        fields.extend(self.beside);
        let sink = bench.sink("out_valid_o", "out_ready_i", &fields);
        bench.set_sink_pressure(sink, sides[self.ports.len()]);
        let watched = self.design.port("mul_o").is_some();
        // Without pressure, numbers are sent after the constants.
        if self.ports[0] == "set" && sides.iter().all(|side| *side == EAGER) {
            sources[1..].iter().for_each(|&source| bench.set_source_pressure(source, Pressure::Stalled));
            bench.run_until(100_000, |bench| bench.queued(sources[0]) == 0);
            bench.idle(20);
            sources[1..].iter().for_each(|&source| bench.set_source_pressure(source, EAGER));
        }
        let mut passage = Passage::default();
        let mut open: Option<Given> = None;
        let mut seen = 0;
        let limit = 20_000_000 + 40 * sources.iter().map(|&source| bench.queued(source) as u64).sum::<u64>();
        while passage.results.len() < count {
            assert!(bench.cycle() < limit, "{}: {} of {count} results", self.design.name(), passage.results.len());
            bench.step_watching(|model| {
                passage.busy += if watched { model.get_u64("mul_o").count_ones().into() } else { 0 }
            });
            for block in &bench.received(sink)[seen..] {
                let given = open.get_or_insert_with(|| Given {
                    number: Integer::new(),
                    blocks: 0,
                    beside: 0,
                    first: block.cycle,
                    last: 0,
                });
                given.number |= number(&block.fields[0]) << (given.blocks as u32 * self.bits);
                given.blocks += 1;
                given.last = block.cycle;
                given.beside = block.fields.get(2).map_or(0, |field| field[0]);
                if block.fields[1][0] == 1 {
                    passage.results.extend(open.take());
                }
            }
            seen = bench.received(sink).len();
        }
        bench.idle(10);
        assert_eq!(bench.received(sink).len(), seen, "{}: no block more", self.design.name());
        passage.taken = sources.iter().map(|&source| bench.taken(source).to_vec()).collect();
        passage
    }

    /// The results without pressure. They must be the same under any pressure.
    fn results(&self, inputs: &[(&str, u64)], numbers: &[Vec<Blocks>], count: usize) -> Passage {
        let mut sides = vec![EAGER; self.ports.len() + 1];
        let passage = self.pass(inputs, numbers, count, &sides);
        let plain = |passage: &Passage| {
            let parts = passage.results.iter().map(|given| (given.number.clone(), given.blocks, given.beside));
            parts.collect::<Vec<_>>()
        };
        for slow in 0..=sides.len() {
            sides.iter_mut().enumerate().for_each(|(index, side)| {
                let waits = index == slow || slow == self.ports.len() + 1;
                *side = if waits { Pressure::Random(60 + 40 * index as u8) } else { EAGER };
            });
            let pressed = self.pass(inputs, numbers, count, &sides);
            assert_eq!(plain(&pressed), plain(&passage), "{}, port {slow} waits", self.design.name());
        }
        passage
    }
}

/// Every number of some lengths in blocks.
fn every(bits: u32, lengths: &[usize]) -> Vec<Blocks> {
    let of = |&blocks: &usize| (0..1u64 << (bits * blocks as u32)).map(move |value| (Integer::from(value), blocks));
    lengths.iter().flat_map(of).collect()
}

/// Zero, all ones, one, the top bit, and random numbers of `blocks` blocks.
fn some(random: &mut Random, bits: u32, blocks: usize, count: usize) -> Vec<Integer> {
    let width = bits * blocks as u32;
    let mut numbers = vec![Integer::new(), power(width) - 1u32, Integer::from(1), power(width - 1)];
    numbers.extend((0..count).map(|_| number(&random.bits(width as usize))));
    numbers
}

fn in_blocks(numbers: impl IntoIterator<Item = Integer>, blocks: usize) -> Vec<Blocks> {
    numbers.into_iter().map(|number| (number, blocks)).collect()
}

/// All pairs of two lists.
fn pairs(a: &[Blocks], b: &[Blocks]) -> Vec<Vec<Blocks>> {
    let both = a.iter().flat_map(|a| b.iter().map(move |b| (a.clone(), b.clone())));
    let (left, right) = both.unzip();
    vec![left, right]
}

fn two(design: &'static Design, bits: u32, beside: Option<&'static str>) -> Module {
    Module { design, bits, ports: &["a", "b"], beside }
}

fn one(design: &'static Design, bits: u32) -> Module {
    Module { design, bits, ports: &["in"], beside: None }
}

fn check_sums(module: &Module, sub: bool, numbers: &[Vec<Blocks>]) {
    for carry in 0..2 {
        let count = numbers[0].len();
        let passage = module.results(&[("carry_i", carry)], numbers, count);
        for ((given, (a, long)), (b, other)) in passage.results.iter().zip(&numbers[0]).zip(&numbers[1]) {
            let blocks = *long.max(other);
            let sum = if sub { Integer::from(a - b) - carry } else { Integer::from(a + b) + carry };
            let over = if sub { sum < 0 } else { sum >= power(blocks as u32 * module.bits) };
            let kept = sum.keep_bits(blocks as u32 * module.bits);
            assert_eq!((&given.number, given.blocks, given.beside), (&kept, blocks, u64::from(over)), "{a} and {b}");
        }
        assert!(passage.results.windows(2).all(|pair| pair[1].first == pair[0].last + 1), "a block every cycle");
        assert_eq!(passage.results[0].first, passage.taken[0][0] + 1, "latency");
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn sums_and_differences() {
    let numbers = every(2, &[1, 2]);
    check_sums(&two(&rtl::BLOCK_ADD_2, 2, Some("out_carry_o")), false, &pairs(&numbers, &numbers));
    check_sums(&two(&rtl::BLOCK_SUB_2, 2, Some("out_carry_o")), true, &pairs(&numbers, &numbers));
    let mut random = Random::new(1);
    let mut lists: Vec<Blocks> = [1, 4, 7].iter().flat_map(|&n| in_blocks(some(&mut random, 32, n, 3), n)).collect();
    check_sums(&two(&rtl::BLOCK_ADD_32, 32, Some("out_carry_o")), false, &pairs(&lists, &lists));
    // The paper's 4096 bits take some 128 cycles.
    lists = in_blocks(some(&mut random, 32, 128, 0), 128);
    let passage = two(&rtl::BLOCK_ADD_32, 32, None).results(&[], &pairs(&lists[..1], &lists[1..2]), 1);
    assert_eq!(passage.results[0].last - passage.taken[0][0] + 1, 129);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn comparisons() {
    let numbers = every(2, &[1, 2]);
    let both = pairs(&numbers, &numbers);
    for pressures in
        [[EAGER; 3], [Pressure::Random(90), EAGER, Pressure::Random(200)], [EAGER, Pressure::Random(40), EAGER]]
    {
        let mut bench = Bench::new(rtl::BLOCK_COMPARE_2.model(), 1);
        let mut sources = Vec::new();
        for (at, port) in ["a", "b"].iter().enumerate() {
            let names = ["valid_i", "ready_o", "block_i", "last_i"].map(|name| format!("{port}_{name}"));
            let source = bench.source(&names[0], &names[1], &[&names[2], &names[3]]);
            bench.set_source_pressure(source, pressures[at]);
            for (number, blocks) in &both[at] {
                for block in 0..*blocks {
                    let value = Integer::from(number >> (2 * block as u32)).keep_bits(2);
                    bench.push(source, &[&limbs(&value), &[u64::from(block + 1 == *blocks)]]);
                }
            }
            sources.push(source);
        }
        let sink = bench.sink("out_valid_o", "out_ready_i", &["less_o", "greater_o"]);
        bench.set_sink_pressure(sink, pressures[2]);
        let given = bench.run(sink, both[0].len(), 100_000).to_vec();
        for ((given, a), b) in given.iter().zip(&both[0]).zip(&both[1]) {
            assert_eq!(given.fields, [[u64::from(a.0 < b.0)], [u64::from(a.0 > b.0)]], "{a:?} and {b:?}");
        }
        if pressures == [EAGER; 3] {
            let last = bench.taken(sources[0]).last().max(bench.taken(sources[1]).last()).copied();
            assert_eq!(given.last().map(|given| given.cycle), last.map(|cycle| cycle + 1));
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn shifts_by_every_amount() {
    let numbers = every(4, &[1, 2]);
    let long = in_blocks(some(&mut Random::new(5), 4, 4, 20), 4);
    for (list, amounts) in [(&numbers, 0..10_u32), (&long, 0..19)] {
        for amount in amounts {
            let right = one(&rtl::BLOCK_SHIFT_4, 4).results(
                &[("amount_i", amount.into())],
                std::slice::from_ref(list),
                list.len(),
            );
            let left = one(&rtl::BLOCK_SHIFT_LEFT_4, 4).results(
                &[("amount_i", amount.into())],
                std::slice::from_ref(list),
                list.len(),
            );
            if amount < 4 {
                assert_eq!(right.results[0].last - right.taken[0][0], list[0].1 as u64 + 1);
            }
            for ((x, blocks), (right, left)) in list.iter().zip(right.results.iter().zip(&left.results)) {
                let whole = (amount / 4) as usize;
                assert_eq!(right.number, Integer::from(x >> amount), "{x} >> {amount}");
                assert_eq!(right.blocks, blocks.saturating_sub(whole).max(1), "{blocks} blocks");
                assert_eq!(left.number, Integer::from(x << amount), "{x} << {amount}");
                assert_eq!(left.blocks, blocks + whole + 1);
            }
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn selections_of_every_count() {
    let numbers = every(4, &[1, 2]);
    let long = in_blocks(some(&mut Random::new(5), 4, 4, 20), 4);
    for (list, counts) in [(&numbers, 0..10_u32), (&long, 0..19)] {
        for count in counts {
            let passage = one(&rtl::BLOCK_SELECT_4, 4).results(
                &[("count_i", count.into())],
                std::slice::from_ref(list),
                list.len(),
            );
            for ((x, blocks), given) in list.iter().zip(&passage.results) {
                assert_eq!(given.number, x.clone().keep_bits(count), "{x} modulo 2^{count}");
                assert_eq!(given.blocks, (*blocks).min((count as usize).div_ceil(4).max(1)));
            }
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_constant_comes_again_and_again() {
    let module = one(&rtl::BLOCK_REPEAT_8, 8);
    for (number, blocks, kept) in [(0x0c_0b0a, 3, 3), (0x0b0a, 2, 2), (0x0a, 1, 1), (0x0d0c_0b0a_u32, 4, 3)] {
        let numbers = [vec![(Integer::from(number), blocks)]];
        let mut bench_sides = [[EAGER, EAGER], [Pressure::Random(90), EAGER], [EAGER, Pressure::Random(90)]];
        for sides in &mut bench_sides {
            let mut bench = Bench::new(module.design.model(), 1);
            let source = bench.source("in_valid_i", "in_ready_o", &["in_block_i", "in_last_i"]);
            let sink = bench.sink("out_valid_o", "out_ready_i", &["out_block_o", "out_last_o"]);
            bench.set_source_pressure(source, sides[0]);
            bench.set_sink_pressure(sink, sides[1]);
            for at in 0..blocks {
                let block = u64::from(number >> (8 * at) & 255);
                bench.push(source, &[&[block], &[u64::from(at + 1 == blocks)]]);
            }
            // A second number is not accepted.
            bench.push(source, &[&[77], &[1]]);
            let given = bench.run(sink, 5 * kept, 1000).to_vec();
            for (at, block) in given.iter().enumerate() {
                let place = at % kept;
                assert_eq!(block.fields[0], [u64::from(number >> (8 * place) & 255)]);
                assert_eq!(block.fields[1], [u64::from(place + 1 == kept)]);
            }
            assert_eq!((bench.queued(source), bench.taken(source).len()), (1, blocks), "{numbers:?}");
            if *sides == [EAGER; 2] {
                assert!(given.windows(2).all(|pair| pair[1].cycle == pair[0].cycle + 1));
                assert_eq!(given[0].cycle - bench.taken(source).last().expect("taken"), 2);
            }
        }
    }
}

/// Sums of several numbers of any length, up to the sum's own and longer. A new sum begins after
/// each output.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn running_sums() {
    for (seed, sides) in
        [[EAGER, EAGER], [Pressure::Random(90), EAGER], [EAGER, Pressure::Random(60)]].iter().enumerate()
    {
        let mut random = Random::new(seed as u64);
        let mut bench = Bench::new(rtl::BLOCK_ACCUMULATE_4.model(), 1);
        let source = bench.source("in_valid_i", "in_ready_o", &["in_block_i", "in_last_i", "in_give_i"]);
        let sink = bench.sink("out_valid_o", "out_ready_i", &["out_block_o", "out_last_o", "out_over_o"]);
        bench.set_source_pressure(source, sides[0]);
        bench.set_sink_pressure(sink, sides[1]);
        let (mut expected, mut sum, mut over, mut cycles) = (Vec::new(), 0_u64, false, 0);
        for item in 0..800 {
            let give = random.below(3) == 0;
            let blocks = 1 + random.below(5);
            // Often small, so that not every sum overflows.
            let value = random.below(1 << (4 * blocks)) >> (if item % 3 == 0 { 0 } else { (4 * blocks).min(9) - 1 });
            for at in 0..blocks {
                bench.push(source, &[&[value >> (4 * at) & 15], &[u64::from(at + 1 == blocks)], &[u64::from(give)]]);
            }
            over |= value >> 12 != 0 || (sum + (value & 0xfff)) >> 12 != 0;
            sum = (sum + (value & 0xfff)) & 0xfff;
            cycles += blocks.max(3);
            if give || item == 799 {
                if give {
                    expected.push((sum, u64::from(over)));
                }
                (sum, over) = (0, false);
            }
        }
        let given = bench.run(sink, 3 * expected.len(), 100_000).to_vec();
        bench.run_until(10_000, |bench| bench.queued(source) == 0);
        bench.idle(20);
        assert_eq!(bench.received(sink).len(), 3 * expected.len());
        for (blocks, (sum, over)) in given.chunks(3).zip(&expected) {
            let value = blocks.iter().rev().fold(0, |value, block| value << 4 | block.fields[0][0]);
            assert_eq!((value, blocks[2].fields[2][0]), (*sum, *over));
            assert_eq!(blocks.iter().map(|block| block.fields[1][0]).collect::<Vec<_>>(), [0, 0, 1]);
        }
        if *sides == [EAGER; 2] {
            let taken = bench.taken(source);
            assert!(
                taken[taken.len() - 1] - taken[0] < cycles,
                "a number in as many cycles as it has blocks, or the sum"
            );
        }
    }
}

/// The product of two numbers truncated to `blocks` blocks.
fn product(bits: u32, blocks: u32, a: &Integer, b: &Integer) -> Integer {
    let [a, b] = [a, b].map(|x| x.clone().keep_bits(bits * blocks));
    a * b
}

/// Products of numbers of any length. At full length, the first block follows after `latency`
/// cycles, and the last block and the next operands after `columns` more.
fn check_products(
    module: &Module,
    [blocks, kept]: [u32; 2],
    numbers: &[Vec<Blocks>],
    [latency, columns]: [u64; 2],
) -> Passage {
    let passage = module.results(&[], numbers, numbers[0].len());
    for (given, ((a, _), (b, _))) in passage.results.iter().zip(numbers[0].iter().zip(&numbers[1])) {
        let expected = product(module.bits, blocks, a, b).keep_bits(module.bits * kept);
        assert_eq!(
            (&given.number, given.blocks),
            (&expected, kept as usize),
            "{}: {a} times {b}",
            module.design.name()
        );
    }
    let begin = passage.taken[0][0].max(passage.taken[1][0]);
    assert_eq!(passage.results[0].first - begin, latency, "latency of {}", module.design.name());
    let last = latency + columns - 1;
    assert_eq!(passage.results[0].last - begin, last, "last block of {}", module.design.name());
    for (pair, of) in passage.results.windows(2).zip(numbers[0].windows(2)) {
        if of.iter().all(|(_, length)| *length == blocks as usize) {
            assert_eq!(pair[1].last - pair[0].last, columns + 1, "interval of {}", module.design.name());
        }
    }
    assert_eq!(passage.busy, columns * numbers[0].len() as u64, "{}", module.design.name());
    passage
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn products_of_all_small_numbers() {
    let shape = |blocks, lanes| Shape { blocks, lanes };
    // Operands of full length come first, since they are timed.
    let all = every(2, &[3]);
    let columns = shape(3, 1).columns(Products::All);
    let full = pairs(&all, &all);
    let sides = [EAGER; 3];
    for (design, latency, columns) in
        [(&rtl::BLOCK_MUL_2, 6, columns), (&rtl::BLOCK_KARATSUBA_2, 5, shape(3, 1).karatsuba_columns())]
    {
        let module = two(design, 2, None);
        let passage = module.pass(&[], &full, full[0].len(), &sides);
        for (given, ((a, _), (b, _))) in passage.results.iter().zip(full[0].iter().zip(&full[1])) {
            assert_eq!((&given.number, given.blocks), (&Integer::from(a * b), 6), "{}: {a} times {b}", design.name());
        }
        // Shorter and longer ones, under pressure.
        let others: Vec<Blocks> =
            every(2, &[1, 2]).into_iter().chain((0..4).map(|k| (Integer::from(k * 71), 4))).collect();
        let mut mixed = pairs(&others, &others);
        for (side, list) in mixed.iter_mut().zip(&full) {
            side.splice(0..0, list[4000..].iter().cloned());
        }
        check_products(&module, [3, 6], &mixed, [latency, columns]);
    }
    let module = one(&rtl::BLOCK_SQUARE_2, 2);
    let numbers = every(2, &[4, 1, 3]);
    let passage = module.results(&[], std::slice::from_ref(&numbers), numbers.len());
    for (given, (x, _)) in passage.results.iter().zip(&numbers) {
        assert_eq!((given.number.clone(), given.blocks), (x.clone().square(), 8), "{x} squared");
    }
    let columns = shape(4, 2).columns(Products::Square);
    assert_eq!(passage.results[0].last - passage.taken[0][0], columns + 5);
    let mut random = Random::new(2);
    let numbers = in_blocks(some(&mut random, 8, 8, 10), 8);
    check_products(&two(&rtl::BLOCK_MUL_LOW_8, 8, None), [8, 8], &pairs(&numbers, &numbers), [6, shape(8, 2).lower()]);
}

/// The paper's 4096 bits: schoolbook multiplication with one and with four multipliers, Karatsuba,
/// squares.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn wide_products() {
    let mut random = Random::new(3);
    let numbers = in_blocks(some(&mut random, 32, 128, 2), 128);
    let both = vec![numbers[1..].to_vec(), [&numbers[1..2], &numbers[4..], &numbers[3..4], &numbers[2..3]].concat()];
    let shape = Shape::of_4096_bits;
    for (design, latency, columns, most) in [
        (&rtl::BLOCK_MUL_4096, 6, shape(1).columns(Products::All), 16_646),
        (&rtl::BLOCK_MUL_4096_PARALLEL, 6, shape(4).columns(Products::All), 4_296),
        (&rtl::BLOCK_KARATSUBA_4096, 5, shape(1).karatsuba_columns(), 16_646 / 2),
    ] {
        let passage = check_products(&two(design, 32, None), [128, 256], &both, [latency, columns]);
        let cycles = passage.results[0].last - passage.taken[0][0] + 1;
        assert!(cycles <= most, "{cycles} cycles of {}", design.name());
    }
    let module = one(&rtl::BLOCK_SQUARE_4096, 32);
    let passage = module.results(&[], &both[..1], both[0].len());
    for (given, (x, _)) in passage.results.iter().zip(&both[0]) {
        assert_eq!(given.number, x.clone().square());
    }
    assert_eq!(passage.results[0].last - passage.taken[0][0] + 1, shape(1).product(Products::Square));
}

/// A modulus with the constants of Montgomery reduction for it.
struct Modulus {
    n: Integer,
    r: Integer,
    blocks: usize,
}

impl Modulus {
    fn new(n: &Integer, bits: u32, blocks: usize) -> Self {
        Self { n: n.clone(), r: power(bits * blocks as u32), blocks }
    }

    /// `N` and `N' = -N^-1 mod R`.
    fn set(&self) -> Vec<Blocks> {
        let inverse = self.n.clone().invert(&self.r).expect("an odd modulus");
        in_blocks([self.n.clone(), self.r.clone() - inverse], self.blocks)
    }

    /// In addition `R^2` and `R`.
    fn set_power(&self) -> Vec<Blocks> {
        let one = Integer::from(&self.r % &self.n);
        let square = self.r.clone().square() % &self.n;
        [self.set(), in_blocks([square, one], self.blocks)].concat()
    }

    fn reduced(&self, t: &Integer) -> Integer {
        let inverse = self.r.clone().invert(&self.n).unwrap_or_default();
        Integer::from(t * &inverse) % &self.n
    }
}

fn check_reductions(module: &Module, modulus: &Modulus, numbers: &[Blocks], pressed: bool) -> Passage {
    let inputs = vec![modulus.set(), numbers.to_vec()];
    let passage = match pressed {
        true => module.results(&[], &inputs, numbers.len()),
        false => module.pass(&[], &inputs, numbers.len(), &[EAGER; 3]),
    };
    for (given, (t, _)) in passage.results.iter().zip(numbers) {
        assert_eq!((&given.number, given.blocks), (&modulus.reduced(t), modulus.blocks), "{t} modulo {}", modulus.n);
    }
    passage
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn reductions_of_all_small_numbers() {
    let module = Module { design: &rtl::BLOCK_REDUCE_2, bits: 2, ports: &["set", "in"], beside: None };
    for n in (1..16).step_by(2) {
        let modulus = Modulus::new(&Integer::from(n), 2, 2);
        let numbers = in_blocks((0..16 * n).map(Integer::from), 4);
        check_reductions(&module, &modulus, &numbers, false);
        let short = every(2, &[1, 2]).into_iter().filter(|(t, _)| *t < 16 * n).collect::<Vec<_>>();
        check_reductions(&module, &modulus, &short, n % 4 == 1);
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn wide_reductions() {
    let mut random = Random::new(4);
    for (design, lanes, most) in [(&rtl::BLOCK_REDUCE_4096, 1, 33_680), (&rtl::BLOCK_REDUCE_4096_PARALLEL, 4, 8_980)] {
        let module = Module { design, bits: 32, ports: &["set", "in"], beside: None };
        for n in [odd(&mut random, 4096), power(4096) - 1u32, odd(&mut random, 4000)] {
            let modulus = Modulus::new(&n, 32, 128);
            let bound = Integer::from(&modulus.r * &n);
            let numbers = [bound.clone() - 1u32, Integer::new(), below(&mut random, &bound)];
            let passage = check_reductions(&module, &modulus, &in_blocks(numbers, 256), false);
            let cycles = passage.results[0].last - passage.taken[1][0] + 1;
            assert_eq!(cycles, Shape::of_4096_bits(lanes).reduction());
            let interval = Shape::of_4096_bits(lanes).columns(Products::All) + 1;
            assert!(passage.results.windows(2).all(|pair| pair[1].last - pair[0].last == interval));
            assert!(cycles <= most, "{cycles} cycles of {}", design.name());
        }
    }
}

/// The divider's constants for numbers of `width` bits: the multiplier, whether the number is added
/// once more, and the shift.
fn magic(d: &Integer, width: u32) -> (Integer, bool, u32) {
    let shift = width + d.significant_bits() - 1;
    let (m, rest) = power(shift).div_rem(d.clone());
    // Rounding up makes the multiplier too large by d - rest.
    let up = Integer::from(d - &rest) << width <= power(shift);
    (if up && rest != 0 { m + 1u32 } else { m }, !up && rest != 0, shift)
}

fn check_quotients(design: &'static Design, bits: u32, d: &Integer, width: u32, numbers: &[Blocks]) -> Passage {
    let module = Module { design, bits, ports: &["set", "in"], beside: None };
    let (m, down, shift) = magic(d, width);
    let m = (m.clone(), m.significant_bits().div_ceil(bits) as usize);
    let inputs = [("shift_i", shift.into()), ("down_i", down.into())];
    let passage = module.results(&inputs, &[vec![m], numbers.to_vec()], numbers.len());
    for (given, (x, _)) in passage.results.iter().zip(numbers) {
        assert_eq!(given.number, Integer::from(x / d), "{x} / {d}");
    }
    passage
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn quotients() {
    // Numbers below d^2 for some d of eight bits, and all numbers of eight bits for any d.
    for d in [129_u32, 171, 181, 200, 239, 254, 255].map(Integer::from) {
        let square = d.clone().square();
        let near =
            [square.clone() - 1u32, square.clone() - &d, square.clone() - &d - 1u32, d.clone(), d.clone() - 1u32];
        let numbers = in_blocks((0..square.to_u32().expect("small")).step_by(97).map(Integer::from).chain(near), 4);
        check_quotients(&rtl::BLOCK_DIVIDE_4, 4, &d, 16, &numbers);
    }
    for d in 1..40 {
        check_quotients(&rtl::BLOCK_DIVIDE_4, 4, &Integer::from(d), 8, &every(4, &[2]));
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn wide_quotients() {
    let mut random = Random::new(6);
    for n in [odd(&mut random, 2048), power(2048) - 1u32] {
        let square = n.clone().square();
        let numbers = [square.clone() - 1u32, Integer::from(&square - &n) - 1u32, below(&mut random, &square)];
        let passage = check_quotients(&rtl::BLOCK_DIVIDE_4096, 32, &n, 4096, &in_blocks(numbers, 128));
        let cycles = passage.results[0].last - passage.taken[1][0] + 1;
        assert_eq!(cycles, Shape::of_4096_bits(1).division());
        assert!(cycles <= 16_902);
    }
}

/// `x^e f mod N` for all `x` and `f` in turn. Returns the passage of the first exponent without
/// pressure.
fn check_powers(
    design: &'static Design,
    bits: u32,
    modulus: &Modulus,
    e: &Blocks,
    x: &[Integer],
    f: &[Integer],
) -> Passage {
    let module = Module { design, bits, ports: &["set", "in", "factor"], beside: None };
    let set = [modulus.set_power(), vec![e.clone()]].concat();
    let inputs = [set, in_blocks(x.to_vec(), modulus.blocks), in_blocks(f.to_vec(), modulus.blocks)];
    let passage = if modulus.blocks < 64 {
        module.results(&[], &inputs, x.len())
    } else {
        module.pass(&[], &inputs, x.len(), &[EAGER; 4])
    };
    for (given, (x, f)) in passage.results.iter().zip(x.iter().zip(f)) {
        let power = x.clone().pow_mod(&e.0, &modulus.n).expect("not negative");
        let expected = power * f % &modulus.n;
        assert_eq!((&given.number, given.blocks), (&expected, modulus.blocks), "{x}^{} {f} modulo {}", e.0, modulus.n);
    }
    passage
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn powers_of_small_numbers() {
    let mut random = Random::new(7);
    for n in [1, 3, 255, 0x8001, 0xffff, 0xfff1_u32].map(Integer::from) {
        let modulus = Modulus::new(&n, 4, 4);
        for (e, blocks) in [(0, 1), (1, 1), (13, 1), (0xb5, 2), (0xffff, 4)] {
            let mut numbers = || vec![Integer::new(), n.clone() - 1u32, below(&mut random, &n), below(&mut random, &n)];
            let (x, f) = (numbers(), numbers());
            let passage = check_powers(&rtl::BLOCK_POWER_4, 4, &modulus, &(Integer::from(e), blocks), &x, &f);
            let cycles = passage.results[0].last - passage.taken[1][0] + 1;
            assert_eq!(cycles, Shape { blocks: 4, lanes: 1 }.power(4 * blocks as u64), "{e} in {blocks} blocks");
        }
    }
}

/// Exponents of 32 and 64 bits modulo numbers of 4096: cycles depend on the length only.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn wide_powers() {
    let mut random = Random::new(8);
    let modulus = Modulus::new(&odd(&mut random, 4096), 32, 128);
    for (e, blocks) in [(0xffff_ffff, 1), (0x8000_0001_u64, 1), (0x8000_0001_0000_0000, 2)] {
        let [x, f] = [0; 2].map(|_| [below(&mut random, &modulus.n)]);
        let passage = check_powers(&rtl::BLOCK_POWER_4096_PARALLEL, 32, &modulus, &(Integer::from(e), blocks), &x, &f);
        let cycles = passage.results[0].last - passage.taken[1][0] + 1;
        assert_eq!(cycles, Shape::of_4096_bits(4).power(32 * blocks as u64));
    }
    assert!(Shape::of_4096_bits(4).power(2048) <= 25_989_120 && Shape::of_4096_bits(1).power(2048) <= 102_273_024);
}

/// The paper's case: 4096 bits with an exponent of 2048.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
#[cfg_attr(verilator, ignore = "nine million cycles of a wide design: minutes; `make test-full` runs it")]
fn wide_power_with_an_exponent_of_2048_bits() {
    let mut random = Random::new(9);
    let modulus = Modulus::new(&odd(&mut random, 4096), 32, 128);
    let [x, f] = [0; 2].map(|_| [below(&mut random, &modulus.n)]);
    let e = odd(&mut random, 2048);
    let passage = check_powers(&rtl::BLOCK_POWER_4096_PARALLEL, 32, &modulus, &(e, 64), &x, &f);
    let cycles = passage.results[0].last - passage.taken[1][0] + 1;
    assert_eq!(cycles, Shape::of_4096_bits(4).power(2048));
}

/// Encryptions take the same cycles and products for any vote and randomness: with a key of 256
/// bits, and with the shortest key, of one block.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn encryptions() {
    check_encryptions(&rtl::BLOCK_ENCRYPTOR_512, Shape { blocks: 16, lanes: 4 });
    check_encryptions(&rtl::BLOCK_ENCRYPTOR_64, Shape { blocks: 2, lanes: 1 });
}

fn check_encryptions(design: &'static Design, shape: Shape) {
    let mut random = Random::new(10);
    let ports: &[&str] = &["set", "r", "m"];
    let module = Module { design, bits: 32, ports, beside: None };
    let blocks = shape.blocks as usize;
    let (half, bits) = (blocks / 2, 16 * blocks as u32);
    let n = odd(&mut random, bits);
    let modulus = Modulus::new(&n.clone().square(), 32, blocks);
    let set = [modulus.set_power(), vec![(n.clone(), half)]].concat();
    let ones = power(bits) - 1u32;
    let randoms = [Integer::from(1), n.clone() - 1u32, below(&mut random, &n), ones % &n];
    let votes = [Integer::new(), Integer::from(1), n.clone() - 1u32, below(&mut random, &n)];
    let mut seen = Vec::new();
    for (r, m) in randoms.iter().zip(&votes).chain(randoms.iter().zip(votes.iter().rev())) {
        let inputs = [set.clone(), vec![(r.clone(), half)], vec![(m.clone(), half)]];
        let passage = module.pass(&[], &inputs, 1, &[EAGER; 4]);
        let power = r.clone().pow_mod(&n, &modulus.n).expect("not negative");
        assert_eq!(passage.results[0].number, (Integer::from(m * &n) + 1u32) * power % &modulus.n, "{m} with {r}");
        seen.push((passage.results[0].first - passage.taken[1][0], passage.results[0].last, passage.busy));
    }
    assert!(seen.iter().all(|one| *one == seen[0]), "{seen:?}");
    assert_eq!(seen[0].0, shape.power(bits.into()) - blocks as u64);
    // One after the other, with all ports under pressure, including a vote of one block.
    let inputs = [
        set,
        vec![(randoms[2].clone(), half), (randoms[3].clone(), half)],
        vec![(votes[3].clone(), half), (votes[1].clone(), 1)],
    ];
    for slow in [60, 200] {
        let passage = module.pass(&[], &inputs, 2, &[Pressure::Random(slow); 4]);
        for (given, (r, m)) in passage.results.iter().zip([(&randoms[2], &votes[3]), (&randoms[3], &votes[1])]) {
            let power = r.clone().pow_mod(&n, &modulus.n).expect("not negative");
            assert_eq!(given.number, (Integer::from(m * &n) + 1u32) * power % &modulus.n);
        }
    }
}

/// The stream items of a number in blocks.
fn items(number: &Integer, blocks: usize, bits: u32) -> Vec<Vec<Integer>> {
    let block = |at: usize| Integer::from(number >> (at as u32 * bits)).keep_bits(bits);
    (0..blocks).map(|at| vec![block(at), u32::from(at + 1 == blocks).into()]).collect()
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn amounts_change_between_numbers() {
    let sources = [idle::items(&["in_block_i", "in_last_i"])];
    let results = ["out_block_o", "out_last_o"];
    let modules = [
        (&rtl::BLOCK_SHIFT_4, ["amount_i"]),
        (&rtl::BLOCK_SHIFT_LEFT_4, ["amount_i"]),
        (&rtl::BLOCK_SELECT_4, ["count_i"]),
    ];
    for (design, beside) in &modules {
        let module =
            idle::Module { design, beside, sources: &sources, results: &results, prompt: false, last: Some(1) };
        module.check(400, false, |random| {
            let blocks = 1 + random.below(4) as usize;
            let number = number(&random.bits(4 * blocks));
            let items = items(&number, blocks, 4);
            Operation { beside: vec![random.below(20).into()], items: vec![items], answers: 1 }
        });
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn carries_change_between_numbers() {
    let fields = &["a_block_i", "a_last_i"][..];
    let sources = [("a_valid_i", "a_ready_o", fields), ("b_valid_i", "b_ready_o", &["b_block_i", "b_last_i"])];
    let results = ["out_block_o", "out_carry_o", "out_last_o"];
    for design in [&rtl::BLOCK_ADD_2, &rtl::BLOCK_SUB_2] {
        let module = idle::Module {
            design,
            beside: &["carry_i"],
            sources: &sources,
            results: &results,
            prompt: false,
            last: Some(2),
        };
        module.check(400, false, |random| {
            let number = |random: &mut Random| {
                let blocks = 1 + random.below(3) as usize;
                items(&number(&random.bits(2 * blocks)), blocks, 2)
            };
            let items = vec![number(random), number(random)];
            Operation { beside: vec![random.below(2).into()], items, answers: 1 }
        });
    }
}

/// A shift and its accompanying input belong to M, and may change until M arrives.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn divisors_come_after_a_reset() {
    let sources = [
        ("set_valid_i", "set_ready_o", &["set_block_i", "set_last_i"][..]),
        ("in_valid_i", "in_ready_o", &["in_block_i", "in_last_i"]),
    ];
    let (beside, results) = (["shift_i", "down_i"], ["out_block_o", "out_last_o"]);
    let design = &rtl::BLOCK_DIVIDE_4;
    let module =
        idle::Module { design, beside: &beside, sources: &sources, results: &results, prompt: false, last: Some(1) };
    module.check(200, true, |random| {
        let [m, x] = [0, 1].map(|_| items(&number(&random.bits(16)), 4, 4));
        Operation { beside: vec![random.below(32).into(), random.below(2).into()], items: vec![m, x], answers: 1 }
    });
}
