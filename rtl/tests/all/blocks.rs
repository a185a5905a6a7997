//! Rows of block products against GMP: all cases at tiny sizes, edge cases and random blocks for
//! the paper's moduli. Every cycle is counted.

use crate::golden::{below, limbs, number, power};
use hearith_rtl as rtl;
use hearith_verilated::Design;
use hearith_verilated::bench::{Bench, Pressure, Random};
use rug::Integer;

/// The input of a row: the fields of each of its blocks, and the number that is added.
struct Row {
    blocks: Vec<Vec<Integer>>,
    addend: Integer,
    expected: Integer,
}

/// A design that returns rows in words.
struct Rows {
    design: &'static Design,
    fields: &'static [&'static str],
    /// Words of half a block, and bits of a word.
    half: usize,
    width: u32,
}

impl Rows {
    /// The rows' results, and the cycles in which blocks were accepted and words returned.
    fn pass(&self, rows: &[Row], seed: u64, sides: [Pressure; 3]) -> (Vec<Integer>, Vec<u64>, Vec<u64>) {
        let mut bench = Bench::new(self.design.model(), seed);
        let fields: Vec<&str> = ["first_i", "last_i"].iter().chain(self.fields).copied().collect();
        let source = bench.source("in_valid_i", "in_ready_o", &fields);
        let addend = bench.source("add_valid_i", "add_ready_o", &["add_i"]);
        let sink = bench.sink("out_valid_o", "out_ready_i", &["out_last_o", "out_o"]);
        bench.set_source_pressure(source, sides[0]);
        bench.set_source_pressure(addend, sides[1]);
        bench.set_sink_pressure(sink, sides[2]);
        let mut words = 0;
        for row in rows {
            let last = row.blocks.len() - 1;
            for (at, block) in row.blocks.iter().enumerate() {
                let ends = [vec![u64::from(at == 0)], vec![u64::from(at == last)]];
                let values: Vec<Vec<u64>> = ends.into_iter().chain(block.iter().map(limbs)).collect();
                bench.push(source, &values.iter().map(Vec::as_slice).collect::<Vec<_>>());
            }
            for at in 0..self.words(row) {
                let word = Integer::from(&row.addend >> (at as u32 * self.width)).keep_bits(self.width);
                bench.push(addend, &[&limbs(&word)]);
            }
            words += self.words(row);
        }
        bench.run(sink, words, 3000 + 200 * words as u64);
        bench.idle(20);
        let given = bench.received(sink).to_vec();
        assert_eq!(given.len(), words, "no word more");
        let mut results = Vec::new();
        let mut rest = given.as_slice();
        for row in rows {
            let (own, others) = rest.split_at(self.words(row));
            rest = others;
            let ends = own.iter().map(|word| word.fields[0][0] == 1);
            assert!(ends.eq((1..=own.len()).map(|at| at == own.len())), "the last word alone is marked");
            let words = own.iter().rev().map(|word| number(&word.fields[1]));
            results.push(words.fold(Integer::new(), |sum, word| (sum << self.width) + word));
        }
        (results, bench.taken(source).to_vec(), given.iter().map(|word| word.cycle).collect())
    }

    fn words(&self, row: &Row) -> usize {
        (row.blocks.len() + 1) * self.half
    }

    /// Checks rows at full speed and under pressure from all sides. At full speed, the first word
    /// follows `latency` cycles after the first block, and further words without a gap.
    fn check(&self, rows: &[Row], latency: u64) {
        let (results, taken, given) = self.pass(rows, 1, [Pressure::None; 3]);
        for (row, result) in rows.iter().zip(&results) {
            assert_eq!(*result, row.expected, "{} of {} blocks", self.design.name(), row.blocks.len());
        }
        assert_eq!(given[0] - taken[0], latency, "latency of {}", self.design.name());
        assert!(given.windows(2).all(|pair| pair[1] - pair[0] == 1), "a word every cycle of {}", self.design.name());
        for seed in 0..3 {
            let sides = [[120, 40, 40], [20, 120, 200], [200, 200, 30]][seed as usize].map(Pressure::Random);
            assert!(self.pass(rows, seed, sides).0 == results, "{} under pressure", self.design.name());
        }
    }
}

/// Rows of blocks in overlapping words: all ones, zeros and random words, one to four blocks.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn rows_of_words() {
    for (design, half, width, bits) in [(&rtl::BLOCK_ROWS_2, 2_u32, 3, 5), (&rtl::BLOCK_ROWS_8, 8, 48, 66)] {
        let mut random = Random::new(9);
        let rows: Vec<Row> = (0..300)
            .map(|kind| {
                let count = 1 + kind % 4;
                let bound = power(bits * 2 * half);
                let mut block = |kind| match kind % 3 {
                    0 => bound.clone() - 1u32,
                    _ => below(&mut random, &bound),
                };
                // All ones would overflow the row's top word.
                let top = power(bits * (2 * half - 1)) - 1u32;
                let blocks: Vec<Integer> =
                    (0..count).map(|at| if at + 1 == count { block(kind) & &top } else { block(kind) }).collect();
                let value = |block: &Integer| {
                    let words = (0..2 * half).rev();
                    words.fold(Integer::new(), |sum, k| {
                        (sum << width) + Integer::from(block >> (k * bits)).keep_bits(bits)
                    })
                };
                let place = |at: usize| at as u32 * half * width;
                let sum = blocks
                    .iter()
                    .enumerate()
                    .fold(Integer::new(), |sum, (at, block)| sum + (value(block) << place(at)));
                let most = power(place(count + 1)) - 1u32;
                assert!(sum <= most);
                let addend = match kind % 5 {
                    0 => Integer::new(),
                    1 => most - &sum,
                    _ => below(&mut random, &(most - &sum + 1u32)),
                };
                let expected = sum + &addend;
                Row { blocks: blocks.into_iter().map(|block| vec![block]).collect(), addend, expected }
            })
            .collect();
        Rows { design, fields: &["word_i"], half: half as usize, width }.check(&rows, 1);
    }
}

/// A block times each block of a number, plus another number.
fn products(design: &'static Design, latency: u64, count: usize) {
    let (k, base, group) = (design.parameter("K"), design.parameter("Base"), design.parameter("Group"));
    let (block, mut random) = (k * base / 2, Random::new(77));
    let most = power(block) - 1u32;
    let rows: Vec<Row> = (0..count)
        .map(|kind| {
            let blocks = 1 + kind as u32 % 3;
            let mut some = |bits: u32, kind: usize| match kind % 4 {
                0 => power(bits) - 1u32,
                1 => power(bits - 1),
                _ => below(&mut random, &power(bits)),
            };
            let (x, y) = (some(block, kind), some(block * blocks, kind / 4));
            // x y plus a number as long as y never has more bits than both together.
            let addend = some(block * blocks, kind / 2);
            let expected = Integer::from(&x * &y) + &addend;
            let part = |at| Integer::from(&y >> (at * block)) & &most;
            Row { blocks: (0..blocks).map(|at| vec![x.clone(), part(at)]).collect(), addend, expected }
        })
        .collect();
    Rows { design, fields: &["x_i", "y_i"], half: (k / group / 2) as usize, width: group * base }.check(&rows, latency);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn rows_of_small_blocks() {
    // Two transforms with 2 + 2 cycles per rank, a product of 4 + 3, one level of sums, a register.
    products(&rtl::BLOCKS_8_4, 2 * 3 * 4 + 7 + 1 + 1, 200);
}

/// Modulo 2^32 + 1 as in the paper's Table 3. Moduli of 64 bits, whose models would take long to
/// compile, have fewer and longer digits.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn wide_rows_of_the_papers_moduli() {
    products(&rtl::BLOCKS_32_0, 2 * 6 * 4 + 6 + 2 + 1, 12);
    products(&rtl::BLOCKS_64_0, 2 * 4 * 4 + 6 + 2 + 1, 40);
    products(&rtl::BLOCKS_64_32, 2 * 4 * 4 + 7 + 2 + 1, 40);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn rows_with_barrett_reductions() {
    products(&rtl::BLOCKS_BARRETT, 2 * 3 * 10 + 8 + 1 + 1, 40);
}
