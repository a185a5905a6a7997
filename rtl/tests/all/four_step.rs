//! Products over an external memory by four-step transforms, against GMP.

use crate::golden::{below, power};
use crate::idle;
use crate::words::{AT_ONCE, Ending, Manner, Operand, Packed, SLOW, Words};
use hearith_golden::integer_fft::four_step::{FourStep, Shape};
use hearith_rtl as rtl;
use hearith_verilated::Design;
use hearith_verilated::bench::{AxiMemory, Bench, Lie, MemorySettings, Pressure, Random, Response, Rows, Sink, Source};
use rug::Integer;
use rug::integer::Order;

/// `four_step_pkg::product_t`.
#[derive(Clone, Copy, Debug, Default)]
struct Command {
    wipe: bool,
    x: Operand,
    y: Operand,
    z: Operand,
    scratch: usize,
    rows: u32,
    columns: u32,
}

impl Command {
    fn limbs(&self) -> Vec<u64> {
        let number = |packed: Packed, of: Operand| packed.with(32, of.at as u64).with(24, of.words as u64);
        let flag = Packed::default().with(1, self.wipe.into());
        let packed = [self.x, self.y, self.z].into_iter().fold(flag, number);
        packed.with(32, self.scratch as u64).with(4, self.rows.into()).with(4, self.columns.into()).limbs()
    }

    fn points(&self) -> usize {
        1 << (self.rows + self.columns)
    }

    fn shape(&self) -> Shape {
        Shape { rows: self.rows.into(), columns: self.columns.into() }
    }
}

fn built(design: &Design) -> FourStep {
    if design.parameters().iter().any(|(name, _)| *name == "Low") {
        let [columns, base] = ["Columns", "Base"].map(|name| design.parameter(name).into());
        FourStep { log: 7, columns, base, word: 64 }
    } else {
        FourStep::LONG
    }
}

/// Numbers one after another from word 3 on, a buffer for the product, and the scratch at the next
/// multiple of a burst. Also returns the total number of words, plus one that must not be written.
fn laid(x: usize, y: usize, z: usize, [rows, columns]: [u32; 2]) -> (Command, usize) {
    let operand = |at, words| Operand { at, words, stride: 0 };
    let z_at = 3 + x + y + 1;
    let scratch = (z_at + z + 1).next_multiple_of(16);
    let command =
        Command { x: operand(3, x), y: operand(3 + x, y), z: operand(z_at, z), scratch, rows, columns, wipe: false };
    (command, scratch + 2 * command.points() + 1)
}

/// A number of `words` words: all ones, a single one, zero, or random.
fn some(random: &mut Random, words: usize) -> Integer {
    let bits = 64 * words as u32;
    match random.below(6) {
        0 => power(bits) - 1u32,
        1 => power(bits - 1),
        2 => Integer::new(),
        _ => below(random, &power(bits)),
    }
}

/// The multiplier with a memory.
struct Multiplier {
    bench: Bench,
    memory: AxiMemory,
    commands: Source,
    endings: Sink,
    random: Random,
    words: usize,
}

impl Multiplier {
    fn new(design: &'static Design, words: usize, seed: u64, settings: MemorySettings) -> Self {
        let mut bench = Bench::new(design.model(), seed);
        let memory = bench.axi_memory("m_axi_", 0, 8 * words, settings);
        let commands = bench.source("command_valid_i", "command_ready_o", &["command_i"]);
        let endings = bench.sink("status_valid_o", "status_ready_i", &["status_o", "fault_o"]);
        Multiplier { bench, memory, commands, endings, random: Random::new(seed + 9), words }
    }

    fn put(&mut self, at: usize, words: usize, number: &Integer) {
        let mut bytes = number.to_digits::<u8>(Order::Lsf);
        bytes.resize(8 * words, 0);
        self.bench.content_mut(self.memory)[8 * at..][..8 * words].copy_from_slice(&bytes);
    }

    fn number(&self, at: usize, words: usize) -> Integer {
        Integer::from_digits(&self.bench.content(self.memory)[8 * at..][..8 * words], Order::Lsf)
    }

    /// Fills the memory with random data.
    fn fill(&mut self) {
        let mut random = Random::new(self.random.next());
        self.bench.content_mut(self.memory).fill_with(|| random.next() as u8);
    }

    fn begin(&mut self, command: &Command) {
        self.bench.push(self.commands, &[&command.limbs()]);
    }

    /// The ending of the last command, with the memory's fault.
    fn end(&mut self, limit: u64) -> (Ending, u64) {
        let (answered, start) = (self.bench.received(self.endings).len(), self.bench.cycle());
        while self.bench.received(self.endings).len() == answered {
            assert!(self.bench.cycle() - start < limit, "no status within {limit} cycles");
            self.bench.step();
        }
        let fields = &self.bench.received(self.endings).last().unwrap().fields;
        (Ending::of(fields[0][0]), fields[1][0])
    }

    /// Multiplies two numbers. The lowest words must be right, the scratch zero, and nothing else
    /// written.
    fn check(&mut self, factors: [&Integer; 2], [x, y, z]: [usize; 3], shape: [u32; 2]) {
        let (command, words) = laid(x, y, z, shape);
        assert!(words <= self.words, "{words} words");
        self.fill();
        self.put(command.x.at, x, factors[0]);
        self.put(command.y.at, y, factors[1]);
        let before = self.bench.content(self.memory).to_vec();
        self.begin(&command);
        let limit = 60 * command.points() as u64 + 200_000;
        assert_eq!(self.end(limit), (Ending::Done, 0), "{command:?}");
        let expected = Integer::from(factors[0] * factors[1]).keep_bits(64 * z as u32);
        assert!(self.number(command.z.at, z) == expected, "{command:?}");
        let (start, end) = (8 * command.scratch, 8 * (command.scratch + 2 * command.points()));
        let now = self.bench.content(self.memory);
        assert!(now[start..end].iter().all(|&byte| byte == 0), "the scratch is wiped");
        let own = |at: usize| (8 * command.z.at..8 * (command.z.at + z)).contains(&at) || (start..end).contains(&at);
        assert!((0..now.len()).all(|at| own(at) || now[at] == before[at]), "nothing else is written");
    }

    /// Multiplies random or special numbers of these lengths.
    fn check_some(&mut self, [x, y, z]: [usize; 3], shape: [u32; 2]) {
        let factors = [x, y].map(|words| some(&mut self.random, words));
        self.check([&factors[0], &factors[1]], [x, y, z], shape);
    }

    fn set_pressure(&mut self, pressure: Pressure) {
        self.bench.set_memory_pressure(self.memory, pressure);
    }
}

fn settings(kind: usize) -> MemorySettings {
    let rows = [None, None, Some(Rows::DDR4), Some(Rows { bytes: 256, banks: 2, ..Rows::DDR4 })][kind];
    MemorySettings { latency: [1, 30, 12, 60][kind], rows, ..Default::default() }
}

/// Words of the largest product of a shape.
fn room(design: &FourStep, [rows, columns]: [u32; 2]) -> usize {
    ((design.base << (rows + columns)) / design.word) as usize
}

/// Every shape of 4 to 32 rows and columns, and the longest with the shortest; various lengths,
/// with various memories.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn products_of_every_small_shape() {
    let design = &rtl::FOUR_STEP_MULTIPLIER_128;
    let shapes = (2..=5).flat_map(|rows| (2..=5).map(move |columns| [rows, columns])).chain([[2, 7], [7, 2]]);
    for (kind, shape) in (0..4).flat_map(|kind| shapes.clone().map(move |shape| (kind, shape))) {
        let mut multiplier = Multiplier::new(design, 8192, kind as u64, settings(kind));
        multiplier.set_pressure([Pressure::None, Pressure::Random(60), Pressure::None, Pressure::Random(150)][kind]);
        let room = room(&built(design), shape);
        for [x, y] in [[1, 1], [room / 2, room / 2], [room - 1, 1], [1, room - 1], [room.div_ceil(3), room / 3]] {
            let z = [x + y, room, 1, (x + y) / 2][(x + kind) % 4];
            multiplier.check_some([x, y, z], shape);
        }
    }
}

/// The largest possible digits, and thus the largest coefficients, at every length of rows and
/// columns; also numbers that end in the middle of a tile.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn the_largest_coefficients() {
    let design = &rtl::FOUR_STEP_MULTIPLIER_WIDE;
    let mut multiplier = Multiplier::new(design, 50_000, 5, settings(1));
    for shape in [[3, 3], [3, 4], [4, 3], [5, 5], [6, 4], [3, 7], [7, 7]] {
        let room = room(&built(design), shape);
        let half = room / 2;
        let ones = [half, room - half].map(|words| power(64 * words as u32) - 1u32);
        multiplier.check([&ones[0], &ones[1]], [half, room - half, room], shape);
        let single = [half, room - half].map(|words| power(64 * words as u32 - 1));
        multiplier.check([&single[0], &single[1]], [half, room - half, room], shape);
        multiplier.check_some([half.div_ceil(3), half, room - 1], shape);
    }
}

/// The design's own size for numbers of millions of bits: transforms of up to 2048 points, tiles of
/// 16 columns, digits of 20 bits. Squares a toy key's modulus, and computes the shortest product.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn products_as_built() {
    let mut multiplier = Multiplier::new(&rtl::FOUR_STEP_MULTIPLIER_2048, 50_000, 6, settings(2));
    multiplier.check_some([600, 650, 1250], [6, 6]);
    let shape = FourStep::LONG.shape(6, 2 * 160_000).unwrap();
    let ones = power(160_000) - 1u32;
    multiplier.check([&ones, &ones], [2500, 2500, 5000], [shape.rows as u32, shape.columns as u32]);
}

/// Commands with invalid lengths are reported, and nothing is written. Wipe commands write zeros.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn bad_lengths_are_refused() {
    let design = &rtl::FOUR_STEP_MULTIPLIER_128;
    let mut multiplier = Multiplier::new(design, 4096, 7, settings(0));
    // Answers are accepted slowly.
    multiplier.bench.set_sink_pressure(multiplier.endings, Pressure::Random(40));
    let (command, _) = laid(9, 7, 16, [3, 3]);
    let wrong: [fn(&mut Command); 9] = [
        |command| command.x.words = 0,
        |command| command.y.words = 0,
        |command| command.z.words = 0,
        |command| command.x.words = 10,
        |command| command.y.words = 0xff_ffff,
        |command| command.z.words = 17,
        |command| command.rows = 1,
        |command| command.columns = 8,
        |command| (command.wipe, command.rows) = (true, 15),
    ];
    for change in wrong {
        let mut bad = command;
        change(&mut bad);
        multiplier.fill();
        let before = multiplier.bench.content(multiplier.memory).to_vec();
        multiplier.begin(&bad);
        assert_eq!(multiplier.end(10_000), (Ending::BadSizes, 0), "{bad:?}");
        assert!(multiplier.bench.content(multiplier.memory) == before, "nothing is written");
        // The multiplier still works.
        multiplier.check_some([9, 7, 16], [3, 3]);
    }
    multiplier.fill();
    let before = multiplier.bench.content(multiplier.memory).to_vec();
    multiplier.begin(&Command { wipe: true, ..command });
    assert_eq!(multiplier.end(10_000), (Ending::Done, 0));
    let scratch = 8 * command.scratch..8 * (command.scratch + 128);
    let now = multiplier.bench.content(multiplier.memory);
    assert!((0..now.len()).all(|at| now[at] == if scratch.contains(&at) { 0 } else { before[at] }));
}

/// Internal memories and registers, by their instances, except the other factor's register, which
/// is `w^0` at rest.
const MEMORIES: [&str; 9] = [
    "u_product.gen_tile[0].u_tile.word_q",
    "u_product.gen_tile[1].u_tile.word_q",
    "u_product.gen_tile[2].u_tile.word_q",
    "u_product.u_worker.u_kept.word_q",
    "u_product.u_worker.u_product.u_product.u_product.a_q",
    "u_product.u_worker.u_transform.gen_rank[5].gen_twiddle.u_twiddle.u_product.u_product.a_q",
    "u_product.u_worker.u_transform.gen_rank[0].u_butterfly.gen_shared.gen_memory.u_held.u_words.word_q",
    "u_memory.u_reader.u_words.gen_memory.u_items.word_q",
    "u_memory.u_writer.u_words.gen_memory.u_items.word_q",
];

const NOTHING: [usize; MEMORIES.len()] = [0; MEMORIES.len()];

impl Multiplier {
    /// Number of words in each memory that are not zero.
    fn left(&self) -> [usize; MEMORIES.len()] {
        let model = &self.bench.model;
        let words = |name: &str| {
            (0..model.memory_words(name)).filter(|&word| model.peek(name, word).iter().any(|&limb| limb != 0)).count()
        };
        MEMORIES.map(words)
    }

    /// Wipes a command's scratch after a reset.
    fn wipe(&mut self, command: &Command) {
        self.begin(&Command { wipe: true, ..*command });
        assert_eq!(self.end(20_000), (Ending::Done, 0));
        assert_eq!(self.number(command.scratch, 2 * command.points()), 0, "the scratch is wiped");
    }
}

/// After a product, and after a reset at any moment of one.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn nothing_is_left_behind() {
    let design = &rtl::FOUR_STEP_MULTIPLIER_128;
    let mut multiplier = Multiplier::new(design, 4096, 8, settings(1));
    let mut random = Random::new(12);
    let start = multiplier.bench.cycle();
    multiplier.check_some([60, 68, 128], [5, 4]);
    let whole = multiplier.bench.cycle() - start;
    assert_eq!(multiplier.left(), NOTHING, "after a product");
    let mut most = NOTHING;
    for _ in 0..12 {
        let (command, _) = laid(60, 68, 128, [5, 4]);
        multiplier.fill();
        multiplier.begin(&command);
        let moment = random.below(whole * 3 / 4) + 600;
        multiplier.bench.idle(moment);
        for (most, left) in most.iter_mut().zip(multiplier.left()) {
            *most = left.max(*most);
        }
        multiplier.bench.reset();
        multiplier.wipe(&command);
        assert_eq!(multiplier.left(), NOTHING, "after {moment} cycles");
        multiplier.check_some([9, 7, 16], [3, 3]);
    }
    assert!(most.iter().all(|&words| words > 0), "there was something to wipe everywhere: {most:?}");
}

/// A memory that is late, refuses accesses or breaks the protocol ends a product with its fault
/// code, and blocks everything until a reset.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_memory_that_fails_ends_all() {
    let (command, _) = laid(60, 68, 128, [5, 4]);
    let scratch = command.scratch as u64;
    let cases = [
        (Some(Lie::SilentReads), None, 1),
        (Some(Lie::SilentWrites), None, 9),
        (Some(Lie::Deaf), None, 1),
        (Some(Lie::LastEarly), None, 4),
        (Some(Lie::LastMissing), None, 4),
        (Some(Lie::StrayBeat), None, 5),
        (Some(Lie::StrayResponse), None, 13),
        (Some(Lie::WrongId), None, 5),
        (None, Some((10, Response::SubordinateError)), 2),
        (None, Some((11, Response::DecodeError)), 3),
        (None, Some((scratch + 700, Response::SubordinateError)), 10),
        (None, Some((scratch + 1, Response::DecodeError)), 11),
    ];
    for (round, (lie, fault, code)) in cases.into_iter().enumerate() {
        let mut multiplier = Multiplier::new(&rtl::FOUR_STEP_MULTIPLIER_128, 4096, round as u64, settings(0));
        multiplier.fill();
        let result = multiplier.number(command.z.at, command.z.words);
        if let Some((word, response)) = fault {
            multiplier.bench.set_memory_fault(multiplier.memory, 8 * word..8 * (word + 1), response);
        }
        multiplier.begin(&command);
        // Faults occur during the passes, which continue to read and write.
        multiplier.bench.idle(if fault.is_some() { 0 } else { 1500 + 700 * round as u64 });
        multiplier.bench.set_memory_lie(multiplier.memory, lie);
        let (ending, found) = multiplier.end(20_000);
        assert_eq!(ending, Ending::BadMemory, "{lie:?} {fault:?}");
        // If two sides fail at once, either may be reported first.
        assert_eq!(found & 7, code & 7, "{lie:?} {fault:?}");
        assert_eq!(multiplier.number(command.z.at, command.z.words), result, "no result");
        multiplier.bench.set_memory_lie(multiplier.memory, None);
        multiplier.begin(&command);
        assert_eq!(multiplier.end(20_000).0, Ending::BadMemory, "until reset");
        multiplier.bench.reset();
        multiplier.bench.idle(1000);
        assert_eq!(multiplier.left(), NOTHING);
        // Faulty words stay faulty, but a memory that no longer breaks the protocol works again.
        if lie.is_some() {
            multiplier.wipe(&command);
            multiplier.check_some([60, 68, 128], [5, 4]);
        }
    }
}

/// The unit alone, with a memory.
struct Alone {
    bench: Bench,
    memory: Words,
    random: Random,
}

impl Alone {
    fn new(design: &'static Design, words: usize, seed: u64, manner: Manner) -> Self {
        let mut bench = Bench::new(design.model(), seed);
        bench.model.set("start_i", false);
        bench.model.set("settled_i", true);
        let mut memory = Words::new(&mut bench, words, manner, false);
        while !memory.step(&mut bench, "ready_o") {}
        Self { bench, memory, random: Random::new(13) }
    }

    /// Multiplies numbers of these lengths, compares the product and counts the words transferred.
    /// Returns the cycles.
    fn check(&mut self, [x, y, z]: [usize; 3], shape: [u32; 2]) -> u64 {
        let (command, _) = laid(x, y, z, shape);
        let factors = [x, y].map(|words| some(&mut self.random, words));
        self.memory.put(command.x.at, x, &factors[0]);
        self.memory.put(command.y.at, y, &factors[1]);
        let moved = (self.memory.read, self.memory.written);
        // While nothing is in progress, the step's wires may change in every cycle.
        for _ in 0..[0, 1, 5][self.random.below(3) as usize] {
            idle::change(&mut self.bench.model, &["step_i"], &mut self.random);
            assert!(!self.memory.step(&mut self.bench, "done_o"));
        }
        self.bench.model.set_limbs("step_i", &command.limbs());
        self.bench.model.set("start_i", true);
        self.memory.step(&mut self.bench, "done_o");
        self.bench.model.set("start_i", false);
        let mut cycles = 2;
        while !self.memory.step(&mut self.bench, "done_o") {
            cycles += 1;
            assert!(cycles < 1_000_000, "it is done");
        }
        let product = Integer::from(&factors[0] * &factors[1]).keep_bits(64 * z as u32);
        assert_eq!(self.memory.number(command.z.at, z), product, "{shape:?}");
        let moved = (self.memory.read - moved.0, self.memory.written - moved.1);
        let expected = built(self.bench.model.design()).moved(command.shape(), x as u64, y as u64, z as u64);
        assert_eq!(moved, expected, "{shape:?}");
        cycles
    }
}

/// Cycles of the unit alone with a memory that answers at once, and the words transferred, compared
/// with the reference model. The model then predicts numbers too long to simulate.
fn counted(design: &'static Design, words: usize, shapes: &[[u32; 2]]) {
    let model = built(design);
    let mut unit = Alone::new(design, words, 3, AT_ONCE);
    for &[rows, columns] in shapes {
        let room = room(&model, [rows, columns]);
        let cycles = unit.check([room / 2, room / 2 - 1, room], [rows, columns]);
        let shape = Shape { rows: rows.into(), columns: columns.into() };
        assert_eq!(cycles, model.cycles(shape), "{shape:?}");
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn cycles_and_words_by_the_golden_model() {
    let shapes = [[2, 2], [2, 3], [3, 2], [4, 4], [5, 6], [6, 5], [2, 7], [7, 2], [7, 7]];
    counted(&rtl::FOUR_STEP_128, 50_000, &shapes);
    counted(&rtl::FOUR_STEP_2048, 50_000, &[[6, 6], [6, 7], [7, 6], [7, 7]]);
}

/// A memory that is late, or so slow to accept requests and words that everything inside has to
/// wait.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_slow_memory_takes_nothing_but_time() {
    let (design, shape) = (&rtl::FOUR_STEP_128, [4, 4]);
    let model = built(design);
    let (room, at_once) = (room(&model, shape), model.cycles(Shape { rows: 4, columns: 4 }));
    for manner in SLOW {
        let mut unit = Alone::new(design, 50_000, 4, manner);
        for sizes in [[room / 2, room / 2, room], [1, room - 1, room], [room / 3, room / 3, room / 2]] {
            let cycles = unit.check(sizes, shape);
            assert!(cycles > at_once, "{cycles} cycles");
        }
    }
}
