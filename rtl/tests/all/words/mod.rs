//! A memory of words with configurable delays for the encryptor's ports, and steps and commands in
//! the hardware's format.

use hearith_verilated::Design;
use hearith_verilated::bench::{Bench, Pressure, Random, Sink, Source};
use rug::Integer;
use rug::integer::Order;
use std::collections::VecDeque;

/// A memory's behaviour: its delay in cycles, and how often it accepts requests or has answers.
#[derive(Clone, Copy)]
pub struct Manner {
    pub delay: u64,
    pub pressure: Pressure,
}

/// Answers at once and always.
pub const AT_ONCE: Manner = Manner { delay: 0, pressure: Pressure::None };

/// Late, or so slow to accept requests and words that everything inside has to wait.
pub const SLOW: [Manner; 3] = [
    Manner { delay: 3, pressure: Pressure::Random(60) },
    Manner { delay: 40, pressure: Pressure::Random(200) },
    Manner { delay: 0, pressure: Pressure::Random(20) },
];

/// A read or write request.
#[derive(Debug)]
struct Request {
    due: u64,
    from: u64,
    count: u64,
    row: u64,
}

/// Words at a design's ports, and the stream of a seed, an arbitrary function of an element's index
/// and a word's position.
pub struct Words {
    width: u32,
    pub words: Vec<u64>,
    manner: Manner,
    asked: Sink,
    answers: Source,
    told: Sink,
    given: Sink,
    seeds: Option<(Sink, Source)>,
    seen: [usize; 4],
    reads: VecDeque<Request>,
    rows: VecDeque<Request>,
    writes: VecDeque<Request>,
    pub read: u64,
    pub written: u64,
    /// While set, no answer is sent and nothing is accepted.
    pub silent: bool,
}

/// Word `place` of the stream of element `index`.
pub fn stream(index: u64, place: u64) -> u64 {
    let mut z = (index << 40 ^ place).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

impl Words {
    pub fn new(bench: &mut Bench, words: usize, manner: Manner, seeded: bool) -> Self {
        let asked = bench.sink("rd_req_valid_o", "rd_req_ready_i", &["rd_req_addr_o", "rd_req_count_o"]);
        let answers = bench.source("rd_valid_i", "rd_ready_o", &["rd_data_i"]);
        let told = bench.sink("wr_req_valid_o", "wr_req_ready_i", &["wr_req_addr_o", "wr_req_count_o"]);
        let given = bench.sink("wr_valid_o", "wr_ready_i", &["wr_data_o"]);
        let width = bench.model.width("wr_data_o");
        let seeds = seeded.then(|| {
            let fields = ["seed_req_index_o", "seed_req_row_o", "seed_req_count_o"];
            let asked = bench.sink("seed_req_valid_o", "seed_req_ready_i", &fields);
            (asked, bench.source("seed_valid_i", "seed_ready_o", &["seed_data_i"]))
        });
        let mut memory = Words {
            width,
            words: vec![0; words],
            manner,
            asked,
            answers,
            told,
            given,
            seeds,
            seen: [0; 4],
            reads: VecDeque::new(),
            rows: VecDeque::new(),
            writes: VecDeque::new(),
            read: 0,
            written: 0,
            silent: false,
        };
        memory.set_manner(bench, manner);
        memory
    }

    pub fn set_manner(&mut self, bench: &mut Bench, manner: Manner) {
        self.manner = manner;
        let seeds = self.seeds;
        for sink in [self.asked, self.told, self.given].into_iter().chain(seeds.map(|(sink, _)| sink)) {
            bench.set_sink_pressure(sink, manner.pressure);
        }
        for source in [self.answers].into_iter().chain(seeds.map(|(_, source)| source)) {
            bench.set_source_pressure(source, manner.pressure);
        }
    }

    /// Stores a number in `count` words from an address on.
    pub fn put(&mut self, at: usize, count: usize, number: &Integer) {
        let width = self.width;
        assert!(number.significant_bits() <= count as u32 * width, "a number that fits");
        let digit = |k: usize| Integer::from(number >> (k as u32 * width)).keep_bits(width).to_u64().unwrap();
        (0..count).for_each(|k| self.words[at + k] = digit(k));
    }

    /// The number in `count` words.
    pub fn number(&self, at: usize, count: usize) -> Integer {
        let words = self.words[at..at + count].iter().rev();
        words.fold(Integer::new(), |sum, &word| (sum << self.width) + word)
    }

    /// Steps the design and the memory by a cycle. Returns whether the output `port` was high.
    pub fn step(&mut self, bench: &mut Bench, port: &str) -> bool {
        let mut high = false;
        bench.step_watching(|model| high = model.bit(port));
        if !self.silent {
            self.act(bench);
        }
        high
    }

    fn act(&mut self, bench: &mut Bench) {
        let (now, delay) = (bench.cycle(), self.manner.delay);
        let request = |fields: &[Vec<u64>], cycle: u64| Request {
            due: cycle + delay,
            from: fields[0][0],
            row: if fields.len() > 2 { fields[1][0] } else { 0 },
            count: fields[fields.len() - 1][0],
        };
        let mut fresh = |bench: &Bench, sink: Sink, kind: usize| -> Vec<Request> {
            let all = bench.received(sink);
            let requests = all[self.seen[kind]..].iter().map(|t| request(&t.fields, t.cycle)).collect();
            self.seen[kind] = all.len();
            requests
        };
        let (reads, writes) = (fresh(bench, self.asked, 0), fresh(bench, self.told, 1));
        let rows = self.seeds.map(|(sink, _)| fresh(bench, sink, 2)).unwrap_or_default();
        self.reads.extend(reads);
        self.writes.extend(writes);
        self.rows.extend(rows);
        self.take_words(bench);
        while self.reads.front().is_some_and(|read| read.due <= now) {
            let read = self.reads.pop_front().unwrap();
            assert!(read.count > 0, "no empty requests");
            for k in 0..read.count {
                bench.push(self.answers, &[&[self.words[(read.from + k) as usize]]]);
                self.read += 1;
            }
        }
        while self.rows.front().is_some_and(|rows| rows.due <= now) {
            let rows = self.rows.pop_front().unwrap();
            for place in 8 * rows.row..8 * (rows.row + rows.count) {
                let mask = u64::MAX >> (64 - self.width);
                bench.push(self.seeds.unwrap().1, &[&[stream(rows.from, place) & mask]]);
            }
        }
    }

    /// Stores written words, once their request has arrived.
    fn take_words(&mut self, bench: &mut Bench) {
        let mut done = false;
        let all = bench.received(self.given);
        for transfer in &all[self.seen[3]..] {
            let Some(write) = self.writes.front_mut() else {
                assert!(bench.model.bit("wr_req_valid_o"), "a word without a request");
                break;
            };
            self.words[write.from as usize] = transfer.fields[0][0];
            write.from += 1;
            write.count -= 1;
            self.seen[3] += 1;
            self.written += 1;
            if write.count == 0 {
                self.writes.pop_front();
                done = true;
                break;
            }
        }
        if bench.model.design().top() == "dghv_encryptor" {
            bench.model.set("wr_done_i", done);
        }
    }
}

/// Fields of a packed structure, the first one at the top.
#[derive(Default)]
pub struct Packed(Integer);

impl Packed {
    pub fn with(self, bits: u32, value: u64) -> Self {
        assert!(bits == 64 || value >> bits == 0, "{value} in {bits} bits");
        Packed((self.0 << bits) + value)
    }

    pub fn operand(self, operand: Operand) -> Self {
        self.with(32, operand.at as u64).with(24, operand.words as u64).with(24, operand.stride as u64)
    }

    pub fn limbs(&self) -> Vec<u64> {
        self.0.to_digits(Order::Lsf)
    }
}

/// `dghv_pkg::operand_t`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Operand {
    pub at: usize,
    pub words: usize,
    pub stride: usize,
}

/// `dghv_pkg::step_t`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Step {
    pub kind: u64,
    pub x: Operand,
    pub y: Operand,
    pub z: Operand,
    pub odd: usize,
    pub terms: usize,
    pub first: usize,
    pub whole: usize,
    pub kept: u32,
    pub write: bool,
    pub masked: bool,
    pub carry: bool,
    pub tested: u32,
}

pub const PRODUCT: u64 = 0;
pub const SEEDED: u64 = 1;
pub const ADD: u64 = 2;
pub const SUBTRACT: u64 = 3;

impl Step {
    pub fn limbs(&self) -> Vec<u64> {
        let packed = Packed::default().with(2, self.kind).operand(self.x).operand(self.y).operand(self.z);
        let packed = packed.with(32, self.odd as u64).with(24, self.terms as u64).with(32, self.first as u64);
        let packed = packed.with(24, self.whole as u64).with(6, self.kept.into()).with(1, self.write.into());
        packed.with(1, self.masked.into()).with(1, self.carry.into()).with(6, self.tested.into()).limbs()
    }
}

/// A unit that carries out steps, with its memory.
pub struct Unit {
    pub bench: Bench,
    pub memory: Words,
    random: Random,
}

impl Unit {
    pub fn new(design: &'static Design, words: usize, seed: u64, manner: Manner, seeded: bool) -> Self {
        let mut bench = Bench::new(design.model(), seed);
        bench.model.set("start_i", false);
        let memory = Words::new(&mut bench, words, manner, seeded);
        let mut unit = Unit { bench, memory, random: Random::new(seed + 1) };
        unit.wait("ready_o", 20_000);
        unit
    }

    /// Number of cycles until an output is high, including that cycle.
    pub fn wait(&mut self, port: &str, limit: u64) -> u64 {
        let start = self.bench.cycle();
        while !self.memory.step(&mut self.bench, port) {
            assert!(self.bench.cycle() - start < limit, "{port} is not high within {limit} cycles");
        }
        self.bench.cycle() - start
    }

    /// Carries out a step. Returns the cycles from its start to its end, both included.
    ///
    /// Before it starts, the step's wires change in every cycle, which is allowed while nothing is
    /// in progress and must have no effect.
    pub fn carry_out(&mut self, step: &Step, limit: u64) -> u64 {
        let (width, moved) = (self.bench.model.width("step_i") as usize, (self.memory.read, self.memory.written));
        for _ in 0..[0, 1, 5][self.random.below(3) as usize] {
            self.bench.model.set_limbs("step_i", &self.random.bits(width));
            assert!(!self.memory.step(&mut self.bench, "done_o"));
        }
        assert_eq!((self.memory.read, self.memory.written), moved);
        self.bench.model.set_limbs("step_i", &step.limbs());
        self.bench.model.set("start_i", true);
        self.memory.step(&mut self.bench, "ready_o");
        self.bench.model.set("start_i", false);
        1 + self.wait("done_o", limit)
    }
}

/// `dghv_pkg::command_t`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Command {
    pub operation: u64,
    pub x: Operand,
    pub y: Operand,
    pub z: usize,
    pub modulus: usize,
    pub reciprocal: usize,
    pub bits: u32,
    pub excess: u32,
    pub elements: usize,
    pub noise: Operand,
    pub scratch: Operand,
}

pub const MULTIPLY: u64 = 0;
pub const REDUCE: u64 = 1;
pub const ENCRYPT_CNT: u64 = 2;
pub const ENCRYPT_CMNT: u64 = 3;
pub const WIPE: u64 = 4;

/// `dghv_pkg::ending_e`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Done,
    BadSizes,
    BadModulus,
    BadOperand,
    Negative,
    BadMemory,
}

impl Ending {
    pub fn of(code: u64) -> Self {
        use Ending::*;
        [Done, BadSizes, BadModulus, BadOperand, Negative, BadMemory][code as usize]
    }
}

impl Command {
    pub fn limbs(&self) -> Vec<u64> {
        let packed = Packed::default().with(3, self.operation).operand(self.x).operand(self.y).with(32, self.z as u64);
        let packed = packed.with(32, self.modulus as u64).with(32, self.reciprocal as u64);
        let packed = packed.with(32, self.bits.into()).with(32, self.excess.into()).with(24, self.elements as u64);
        packed.operand(self.noise).operand(self.scratch).limbs()
    }
}

/// The encryptor with its memory.
pub struct Encryptor {
    pub bench: Bench,
    pub memory: Words,
    commands: Source,
    endings: Sink,
}

impl Encryptor {
    pub fn new(design: &'static Design, words: usize, seed: u64, manner: Manner) -> Self {
        let mut bench = Bench::new(design.model(), seed);
        ["error_i", "wr_done_i", "rd_last_i"].iter().for_each(|port| bench.model.set(port, false));
        let memory = Words::new(&mut bench, words, manner, true);
        let commands = bench.source("command_valid_i", "command_ready_o", &["command_i"]);
        let endings = bench.sink("status_valid_o", "status_ready_i", &["status_o"]);
        Encryptor { bench, memory, commands, endings }
    }

    /// Makes the test accept answers slowly from now on.
    pub fn hesitate(&mut self) {
        self.bench.set_sink_pressure(self.endings, Pressure::Random(40));
    }

    pub fn begin(&mut self, command: &Command) {
        self.bench.push(self.commands, &[&command.limbs()]);
    }

    pub fn step(&mut self) {
        self.memory.step(&mut self.bench, "status_valid_o");
    }

    /// The number of commands answered.
    pub fn answered(&self) -> usize {
        self.bench.received(self.endings).len()
    }

    /// The ending of the last command, and its cycles since it was accepted.
    pub fn end(&mut self, limit: u64) -> (Ending, u64) {
        let (answered, start) = (self.answered(), self.bench.cycle());
        while self.answered() == answered {
            self.step();
            assert!(self.bench.cycle() - start < limit, "no status within {limit} cycles");
        }
        let status = self.bench.received(self.endings).last().unwrap();
        let taken = *self.bench.taken(self.commands).last().unwrap();
        (Ending::of(status.fields[0][0]), status.cycle - taken)
    }

    pub fn carry_out(&mut self, command: &Command, limit: u64) -> (Ending, u64) {
        self.begin(command);
        self.end(limit)
    }

    /// Resets the design and the memory's open requests.
    pub fn reset(&mut self) {
        self.bench.model.set("wr_done_i", false);
        self.bench.reset();
        self.memory.forget();
    }
}

impl Words {
    /// Forgets all requests, after a reset of the bench.
    pub fn forget(&mut self) {
        self.seen = [0; 4];
        self.reads.clear();
        self.rows.clear();
        self.writes.clear();
    }
}
