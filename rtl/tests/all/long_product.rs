//! Products over memory against GMP: every number of blocks up to a limit, with memories that
//! answer at once, late or irregularly. Cycles are counted.

use crate::golden::{below, limbs, number, power};
use hearith_rtl as rtl;
use hearith_verilated::Design;
use hearith_verilated::bench::{Bench, Pressure, Random, Sink, Source};
use rug::Integer;

/// A memory's behaviour: its delay in cycles, and how often it accepts requests or has answers.
#[derive(Clone, Copy)]
struct Memory {
    delay: u64,
    pressure: Pressure,
}

/// A read port: addresses from the design, words to it.
struct Port {
    asked: Sink,
    answers: Source,
    /// Addresses received, and words sent.
    seen: usize,
    sent: usize,
}

impl Port {
    fn new(bench: &mut Bench, name: &str, memory: Memory) -> Self {
        let port = |rest: &str| format!("{name}_{rest}");
        let asked = bench.sink(&port("read_valid_o"), &port("read_ready_i"), &[&port("read_o")]);
        let answers = bench.source(&port("data_valid_i"), &port("data_ready_o"), &[&port("data_i")]);
        bench.set_sink_pressure(asked, memory.pressure);
        bench.set_source_pressure(answers, memory.pressure);
        Self { asked, answers, seen: 0, sent: 0 }
    }

    /// Answers requests that are old enough with the current words.
    fn answer(&mut self, bench: &mut Bench, words: &[Integer], delay: u64) {
        let asked = bench.received(self.asked);
        self.seen = asked.len();
        let now = bench.cycle();
        let due = asked[self.sent..].iter().take_while(|transfer| transfer.cycle + delay <= now);
        let due: Vec<usize> = due.map(|transfer| transfer.fields[0][0] as usize).collect();
        self.sent += due.len();
        due.iter().for_each(|&address| bench.push(self.answers, &[&limbs(&words[address])]));
    }
}

/// Products of numbers of these lengths in blocks, in one run of a model. Returns their cycles from
/// the first word written to the last. Each product is requested twice in a row, so that the second
/// waits for the first.
fn products(design: &'static Design, counts: &[[usize; 2]], seed: u64, memory: Memory) -> Vec<u64> {
    let (base, group) = (design.parameter("Base"), design.parameter("Group"));
    let (half, width) = ((design.parameter("K") / group / 2) as usize, group * base);
    let mut bench = Bench::new(design.model(), seed);
    let mut random = Random::new(seed + 50);
    let start = bench.source("in_valid_i", "in_ready_o", &["rows_i", "blocks_i"]);
    let [mut x_port, mut y_port, mut z_port] = ["x", "y", "z"].map(|name| Port::new(&mut bench, name, memory));
    let write = bench.sink("write_valid_o", "write_ready_i", &["write_last_o", "write_address_o", "write_o"]);
    bench.set_sink_pressure(write, memory.pressure);
    let mut written = 0;
    let mut cycles = Vec::new();
    for (kind, &[rows, blocks]) in counts.iter().enumerate() {
        let cut = |x: &Integer, count: usize| -> Vec<Integer> {
            (0..count).map(|at| Integer::from(x >> (at as u32 * width)).keep_bits(width)).collect()
        };
        let bits = |count: usize| (count * half) as u32 * width;
        let mut some = |count: usize| {
            let most = power(bits(count)) - 1u32;
            if kind % 3 == 0 { most } else { below(&mut random, &(most + 1u32)) }
        };
        let (x, y) = (some(rows), some(blocks));
        let (x_words, y_words) = (cut(&x, rows * half), cut(&y, blocks * half));
        // The previous content must not matter.
        let mut z = vec![power(width) - 1u32; (rows + blocks) * half];
        bench.push(start, &[&[rows as u64], &[blocks as u64]]);
        bench.push(start, &[&[rows as u64], &[blocks as u64]]);
        let total = rows * (blocks + 1) * half;
        let (first, limit) = (written, bench.cycle() + 2000 + 80 * total as u64);
        while written < first + 2 * total {
            assert!(bench.cycle() < limit, "{} stands still", design.name());
            bench.step();
            let words = bench.received(write);
            for word in &words[written..] {
                z[word.fields[1][0] as usize] = number(&word.fields[2]);
                written += 1;
                assert_eq!(word.fields[0][0] == 1, (written - first) % total == 0, "the last word alone is marked");
            }
            x_port.answer(&mut bench, &x_words, memory.delay);
            y_port.answer(&mut bench, &y_words, memory.delay);
            z_port.answer(&mut bench, &z, memory.delay);
        }
        let product = z.iter().rev().fold(Integer::new(), |sum, word| (sum << width) + word);
        assert_eq!(product, Integer::from(&x * &y), "{rows} by {blocks} blocks in {}", design.name());
        let given = bench.received(write);
        cycles.push(given[first + total - 1].cycle - given[first].cycle + 1);
    }
    // Every word of a factor is requested as often as necessary, and no unused word is.
    bench.idle(40);
    let sum = |count: fn(&[usize; 2]) -> usize| counts.iter().map(count).sum::<usize>() * half;
    assert_eq!(bench.received(x_port.asked).len(), 2 * sum(|[rows, _]| *rows));
    assert_eq!(bench.received(y_port.asked).len(), 2 * sum(|[rows, blocks]| rows * blocks));
    assert_eq!(bench.received(z_port.asked).len(), 2 * sum(|[rows, blocks]| (rows - 1) * blocks));
    assert_eq!(bench.received(write).len(), written);
    cycles
}

/// All numbers of blocks from one on.
fn counts(rows: usize, blocks: usize) -> Vec<[usize; 2]> {
    (1..=rows).flat_map(|i| (1..=blocks).map(move |j| [i, j])).collect()
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn products_of_every_shape() {
    let design = &rtl::LONG_PRODUCT_8_4;
    let counts = counts(5, 6);
    products(design, &counts, 1, Memory { delay: 0, pressure: Pressure::None });
    products(design, &counts, 2, Memory { delay: 0, pressure: Pressure::Random(60) });
    products(design, &counts, 3, Memory { delay: 30, pressure: Pressure::Random(200) });
    products(design, &counts, 4, Memory { delay: 3, pressure: Pressure::Random(20) });
}

/// A word per cycle: for I by J blocks, I (J + 1) halves of a block.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_word_in_every_cycle() {
    let design = &rtl::LONG_PRODUCT_32_0;
    let counts = [[1, 1], [1, 5], [4, 3], [5, 12], [12, 5], [3, 30], [20, 20]];
    let cycles = products(design, &counts, 7, Memory { delay: 0, pressure: Pressure::None });
    for ([rows, blocks], cycles) in counts.iter().zip(cycles) {
        assert_eq!(cycles, (rows * (blocks + 1) * 4) as u64, "{rows} by {blocks} blocks");
    }
}
