//! The encryptor over the integers against GMP: products, reductions, encryptions of both schemes
//! as `hearith-dghv` computes them, invalid input, and data left behind.

use crate::golden::{below, power};
use crate::words::{
    AT_ONCE, Command, ENCRYPT_CMNT, ENCRYPT_CNT, Encryptor, Ending, MULTIPLY, Manner, Operand, REDUCE, WIPE, stream,
};
use hearith_golden::integer_fft::encryption::Encryptor as Model;
use hearith_golden::integer_fft::encryption::{Lengths as ModelLengths, Step as ModelStep, Transforms};
use hearith_golden::integer_fft::four_step::FourStep;
use hearith_rtl as rtl;
use hearith_verilated::Design;
use hearith_verilated::bench::{Pressure, Random};
use rug::Integer;

const SLOW: Manner = Manner { delay: 20, pressure: Pressure::Random(150) };

/// Lengths of a key, in bits.
#[derive(Clone, Copy)]
struct Lengths {
    modulus: u32,
    elements: usize,
    coefficient: u32,
    correction: u32,
    noise: u32,
}

const TINY: Lengths = Lengths { modulus: 405, elements: 4, coefficient: 14, correction: 37, noise: 20 };
const SMALL: Lengths = Lengths { modulus: 2005, elements: 5, coefficient: 60, correction: 1031, noise: 168 };

/// The memory's content before a command, and the expected content after it.
struct Case {
    command: Command,
    /// The number, and the quotient after it, if there is one.
    expected: Integer,
    quotient: Option<Integer>,
    /// All initial numbers: address, words, number.
    parts: Vec<(usize, usize, Integer)>,
    words: usize,
}

/// Allocates numbers one after another.
struct Layout {
    width: u32,
    next: usize,
    parts: Vec<(usize, usize, Integer)>,
}

impl Layout {
    fn words(&self, bits: u32) -> usize {
        bits.div_ceil(self.width) as usize
    }

    fn room(&mut self, words: usize) -> Operand {
        self.next += words + 1;
        Operand { at: self.next - words - 1, words, stride: 0 }
    }

    fn put(&mut self, words: usize, number: &Integer) -> Operand {
        let operand = self.room(words);
        self.parts.push((operand.at, words, number.clone()));
        operand
    }

    /// Allocates numbers of `words` words each, without gaps.
    fn put_all(&mut self, words: usize, numbers: &[Integer]) -> Operand {
        let all =
            numbers.iter().rev().fold(Integer::new(), |sum, number| (sum << (words as u32 * self.width)) + number);
        let operand = self.put(words * numbers.len(), &all);
        Operand { words, ..operand }
    }
}

/// A modulus of `bits` bits: the smallest, the largest, or a random one.
fn modulus(random: &mut Random, bits: u32) -> Integer {
    match random.below(4) {
        0 => power(bits - 1),
        1 => power(bits) - 1u32,
        _ => power(bits - 1) + below(random, &power(bits - 1)),
    }
}

/// Words of the reciprocal, and the reciprocal, by super_reduce's formulas.
fn reciprocal(modulus: &Integer, excess: u32, d: u32) -> (usize, Integer) {
    let phi = modulus.significant_bits();
    let minus_beta = if phi % d < 3 { phi % d + d } else { phi % d };
    let size = (excess + minus_beta) / d + 1;
    let alpha = size * d - minus_beta;
    (size as usize, power(phi + alpha) / modulus)
}

/// Words of scratch that a reduction needs.
fn reduction_scratch(size: usize, words: usize) -> usize {
    2 * size + words + 1
}

/// Element `index` of a key before its correction, by the definition in `hearith-dghv`.
fn chi(index: usize, bits: u32, width: u32) -> Integer {
    let words = bits.div_ceil(width) as usize;
    let segment = words.div_ceil(8);
    let word = |k: usize| stream(index as u64, (8 * (k % segment) + k / segment) as u64) & u64::MAX >> (64 - width);
    (0..words).rev().fold(Integer::new(), |sum, k| (sum << width) + word(k)).keep_bits(bits)
}

/// An encryption of a bit under a random key, as `PublicKey::encrypt` defines it.
fn encryption(random: &mut Random, width: u32, lengths: Lengths, quadratic: bool) -> Case {
    let Lengths { modulus: bits, elements, coefficient, correction, noise } = lengths;
    let mut layout = Layout { width, next: 3, parts: Vec::new() };
    let a_0 = modulus(random, bits);
    let kinds = if quadratic { 2 } else { 1 };
    let number = |random: &mut Random, bits: u32| {
        if random.below(4) == 0 { power(bits) - 1u32 } else { below(random, &power(bits)) }
    };
    let deltas: Vec<Integer> = (0..kinds * elements).map(|_| number(random, correction)).collect();
    let keys: Vec<Integer> = (0..kinds * elements).map(|i| chi(i, bits, width) - &deltas[i]).collect();
    let count = if quadratic { elements * elements } else { elements };
    let coefficients: Vec<Integer> = (0..count).map(|_| number(random, coefficient)).collect();
    let sum = if quadratic {
        (0..count).fold(Integer::new(), |sum, at| {
            let (i, j) = (at / elements, at % elements);
            sum + Integer::from(&coefficients[at] * &keys[i]) * &keys[elements + j]
        })
    } else {
        coefficients.iter().zip(&keys).fold(Integer::new(), |sum, (b, a)| sum + Integer::from(b * a))
    };
    // m + 2 R, where R is at least -2^noise.
    let shift = power(noise + 1);
    let raised = number(random, noise + 2);
    let mut sum = sum * 2u32 + &raised - &shift;
    if sum < 0 {
        sum += &a_0;
    }
    let (quotient, expected) = sum.div_rem_euc(a_0.clone());
    // Bits of the doubled sum before its reduction, beyond those of the modulus.
    let longer = elements.ilog2() + 2;
    let excess = if quadratic { bits + coefficient + 2 * longer } else { coefficient + longer };
    let (size, mu) = reciprocal(&a_0, excess, width);
    let w = layout.words(bits);
    let (cw, dw) = (layout.words(coefficient), layout.words(correction));
    let noise_words = layout.words(noise + 3);
    let modulus = layout.put(w, &a_0).at;
    let reciprocal = layout.put(size, &mu).at;
    let x = layout.put_all(cw, &coefficients);
    let y = layout.put_all(dw, &deltas);
    let noise = layout.put_all(noise_words, &[raised, shift]);
    let z = layout.room(w + size).at;
    let between = if quadratic { 1 + elements * (2 * w + cw + 1) } else { 0 };
    let sums = 18 * w.div_ceil(8) + (cw + dw + 1 + between).max(reduction_scratch(size, w));
    let scratch = layout.room(sums);
    let operation = if quadratic { ENCRYPT_CMNT } else { ENCRYPT_CNT };
    let command = Command { operation, x, y, z, modulus, reciprocal, bits, excess, elements, noise, scratch };
    Case { command, expected, quotient: Some(quotient), parts: layout.parts, words: layout.next }
}

/// A reduction of a number of up to `excess` bits more than the modulus.
fn reduction(random: &mut Random, width: u32, bits: u32, excess: u32, kind: u64) -> Case {
    let mut layout = Layout { width, next: 1, parts: Vec::new() };
    let a_0 = modulus(random, bits);
    let most = power(bits + excess) - 1u32;
    let multiple = Integer::from(&most / &a_0) * &a_0;
    let x = match kind {
        0 => most,
        1 => multiple,
        2 => Integer::from(&multiple - 1),
        3 => Integer::new(),
        4 => Integer::from(&a_0 - 1),
        5 => a_0.clone(),
        _ => below(random, &(most + 1u32)),
    };
    let (size, mu) = reciprocal(&a_0, excess, width);
    let w = layout.words(bits);
    let modulus = layout.put(w, &a_0).at;
    let reciprocal = layout.put(size, &mu).at;
    let operand = layout.put(layout.words(bits + excess) + random.below(3) as usize, &x);
    let z = layout.room(w + size).at;
    let scratch = layout.room(reduction_scratch(size, w));
    let command =
        Command { operation: REDUCE, x: operand, z, modulus, reciprocal, bits, excess, scratch, ..Command::default() };
    let (quotient, expected) = x.div_rem(a_0);
    Case { command, expected, quotient: Some(quotient), parts: layout.parts, words: layout.next }
}

fn multiplication(random: &mut Random, width: u32, x_words: usize, y_words: usize) -> Case {
    let mut layout = Layout { width, next: 1, parts: Vec::new() };
    let [a, b] = [x_words, y_words].map(|words| below(random, &power(words as u32 * width)));
    let (x, y) = (layout.put(x_words, &a), layout.put(y_words, &b));
    let z = layout.room(x_words + y_words).at;
    Case {
        command: Command { operation: MULTIPLY, x, y, z, ..Command::default() },
        expected: a * b,
        quotient: None,
        parts: layout.parts,
        words: layout.next,
    }
}

struct Device {
    encryptor: Encryptor,
    width: u32,
    /// The model of a design with 64-bit words.
    model: Model,
    random: Random,
}

/// The reference model of a design with blocks of 128 points.
fn model(design: &Design) -> Model {
    let long = design.parameters().iter().any(|(name, _)| *name == "LongWords").then(|| {
        let [least, low, columns, base] =
            ["LongWords", "LongLow", "LongColumns", "LongBase"].map(|name| design.parameter(name).into());
        let log = u64::from(design.parameter("LongHigh")) + low;
        Transforms { least, shortest: low + 1, by: FourStep { log, columns, base, word: 64 } }
    });
    Model { transforms: long, ..Model::HALVES }
}

impl Device {
    fn new(design: &'static Design, seed: u64, manner: Manner) -> Self {
        let encryptor = Encryptor::new(design, 1 << 14, seed, manner);
        let width = encryptor.bench.model.width("wr_data_o");
        Device { encryptor, width, model: model(design), random: Random::new(seed + 3) }
    }

    /// The steps of a case's reduction.
    fn reduction(&self, case: &Case) -> [ModelStep; Model::REDUCTION] {
        let Command { operation, x, bits, excess, .. } = case.command;
        let words = case.parts[0].1;
        let x = match operation {
            REDUCE => x.words,
            ENCRYPT_CNT => 9 * words.div_ceil(8),
            _ => 2 * words + x.words + 2,
        };
        let lengths =
            ModelLengths { modulus: bits.into(), excess: excess.into(), elements: 0, coefficient: 0, correction: 0 };
        self.model.reduction(&lengths, x as u64)
    }

    /// The case with a scratch, placed after everything else, that is just large enough for the
    /// matrices as well.
    fn with_matrices(&self, mut case: Case) -> Case {
        let matrices = Model::matrices(&self.reduction(&case)) as usize;
        let (words, size) = (case.parts[0].1, case.parts[1].1);
        let before = if case.command.operation == REDUCE { 0 } else { 18 * words.div_ceil(8) };
        if matrices > 0 {
            let columns = self.model.transforms.map_or(1, |transforms| transforms.by.columns as usize);
            let behind = case.command.scratch.at + before + reduction_scratch(size, words);
            let end = behind.next_multiple_of(columns) + matrices;
            let most = case.command.scratch.words.max(end - case.command.scratch.at);
            case.words += most - case.command.scratch.words;
            case.command.scratch.words = most;
        }
        case
    }

    /// Writes a case to memory; the rest of the memory is random.
    fn lay(&mut self, case: &Case) {
        let memory = &mut self.encryptor.memory;
        assert!(case.words < memory.words.len(), "{} words", case.words);
        let mask = u64::MAX >> (64 - self.width);
        memory.words.iter_mut().for_each(|word| *word = self.random.next() & mask);
        for (at, words, number) in &case.parts {
            memory.put(*at, *words, number);
        }
    }

    /// Words of the result without the quotient.
    fn result(&self, case: &Case) -> usize {
        let command = &case.command;
        if command.operation == MULTIPLY {
            command.x.words + command.y.words
        } else {
            command.bits.div_ceil(self.width) as usize
        }
    }

    /// Words of the quotient after it.
    fn quotient(&self, case: &Case) -> usize {
        case.quotient.as_ref().map_or(0, |_| reciprocal(&case.parts[0].2, case.command.excess, self.width).0)
    }

    fn scratch(&self, case: &Case) -> &[u64] {
        &self.encryptor.memory.words[case.command.scratch.at..][..case.command.scratch.words]
    }

    /// Carries out a case, and returns its cycles.
    fn check(&mut self, case: &Case) -> u64 {
        self.lay(case);
        let before = self.encryptor.memory.words.clone();
        let (ending, cycles) = self.encryptor.carry_out(&case.command, 40_000_000);
        assert_eq!(ending, Ending::Done, "{:?}", case.command);
        let words = self.result(case);
        assert_eq!(self.encryptor.memory.number(case.command.z, words), case.expected, "{:?}", case.command);
        let quotient = self.quotient(case);
        let found = self.encryptor.memory.number(case.command.z + words, quotient);
        assert_eq!(found, case.quotient.clone().unwrap_or_default(), "{:?}", case.command);
        let words = words + quotient;
        assert!(self.scratch(case).iter().all(|&word| word == 0), "the scratch is wiped");
        // Nothing else is written.
        let own = |at: usize| {
            (case.command.z..case.command.z + words).contains(&at)
                || (case.command.scratch.at..case.command.scratch.at + case.command.scratch.words).contains(&at)
        };
        let now = &self.encryptor.memory.words;
        assert!((0..now.len()).all(|at| own(at) || now[at] == before[at]), "nothing else is written");
        cycles
    }

    /// Carries out an invalid command: it must cause an error and no result.
    fn refused(&mut self, case: &Case, ending: Ending) {
        self.lay(case);
        self.refused_as_it_lies(case, ending);
    }

    fn refused_as_it_lies(&mut self, case: &Case, ending: Ending) {
        // Includes the first word of the quotient.
        let words = self.result(case) + 1;
        let before = self.encryptor.memory.words[case.command.z..][..words].to_vec();
        assert_eq!(self.encryptor.carry_out(&case.command, 40_000_000).0, ending, "{:?}", case.command);
        assert!(self.encryptor.memory.words[case.command.z..][..words] == before, "no result");
        assert!(self.scratch(case).iter().all(|&word| word == 0), "the scratch is wiped");
    }
}

fn devices(design: &'static Design) -> [Device; 2] {
    [Device::new(design, 1, AT_ONCE), Device::new(design, 2, SLOW)]
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn products_and_reductions() {
    for mut device in devices(&rtl::DGHV_ENCRYPTOR_16) {
        let mut random = Random::new(4);
        for (x, y) in [(1, 1), (1, 5), (6, 7), (9, 2)] {
            device.check(&multiplication(&mut random, 8, x, y));
        }
        // All positions of the modulus's top bit in a word.
        for bits in 40..=56 {
            for (kind, excess) in (0..8).map(|kind| (kind, [0, 3, 17, bits][kind as usize % 4])) {
                device.check(&reduction(&mut random, 8, bits, excess, kind));
            }
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn encryptions_equal_their_definition() {
    for mut device in devices(&rtl::DGHV_ENCRYPTOR_16) {
        let mut random = Random::new(6);
        for more in 0..6 {
            for quadratic in [false, true] {
                let lengths = Lengths { modulus: TINY.modulus + more, elements: 1 + more as usize % 4, ..TINY };
                device.check(&encryption(&mut random, 8, lengths, quadratic));
            }
        }
    }
}

/// The time does not depend on the numbers.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn cycles_depend_on_lengths_alone() {
    let mut device = Device::new(&rtl::DGHV_ENCRYPTOR_16, 3, AT_ONCE);
    let mut random = Random::new(7);
    let mut case = |quadratic| encryption(&mut random, 8, TINY, quadratic);
    for quadratic in [false, true] {
        let cases = [(); 6].map(|()| case(quadratic));
        // From rest, so that blocks begin as soon as they arrive.
        let cycles = cases.map(|case| {
            device.encryptor.bench.idle(64);
            device.check(&case)
        });
        assert!(cycles.iter().all(|&each| each == cycles[0]), "{cycles:?}");
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn bad_input_gives_an_error_and_no_number() {
    let mut device = Device::new(&rtl::DGHV_ENCRYPTOR_16, 5, SLOW);
    let mut random = Random::new(8);
    let width = 8;
    let kinds = [
        |random: &mut Random| encryption(random, 8, TINY, false),
        |random: &mut Random| encryption(random, 8, TINY, true),
    ];
    for kind in kinds {
        // A modulus without its top bit, or with one above it.
        let mut case = kind(&mut random);
        let top = power(case.command.bits - 1);
        case.parts[0].2 = Integer::from(&top - 1u32);
        device.refused(&case, Ending::BadModulus);
        case.parts[0].2 = Integer::from(&top << 1) | top;
        device.refused(&case, Ending::BadModulus);
        // The reciprocal of another modulus: r is not below 2 A.
        let mut case = kind(&mut random);
        case.parts[1].2 = Integer::new();
        device.refused(&case, Ending::BadModulus);
        // Coefficients that are too long make the sum too long.
        let mut case = kind(&mut random);
        case.command.excess -= 8;
        let (size, mu) = reciprocal(&case.parts[0].2, case.command.excess, width);
        case.parts[1] = (case.parts[1].0, size, mu);
        let words = case.parts[2].1;
        case.parts[2].2 = power(words as u32 * width) - 1u32;
        device.refused(&case, Ending::BadOperand);
        // A negative sum, with coefficients of zero and no noise, needs one modulus added,
        let mut case = kind(&mut random);
        case.parts[2].2 = Integer::new();
        let (at, words, noise) = case.parts[4].clone();
        let half = words as u32 / 2 * width;
        let shift = Integer::from(&noise >> half);
        case.parts[4] = (at, words, shift.clone() << half);
        case.expected = &case.parts[0].2 - shift;
        case.quotient = Some(Integer::new());
        device.check(&case);
        // but not two: the shift exceeds the modulus.
        let mut case = kind(&mut random);
        case.parts[2].2 = Integer::new();
        let words = case.parts[0].1 + 1;
        case.command.noise = Operand { at: case.words + 1, words, stride: 0 };
        case.parts.push((case.words + 1, 2 * words, power(case.command.bits + 1) << (words as u32 * width)));
        case.words += 2 * words + 2;
        device.refused(&case, Ending::Negative);
        // The scratch is too small.
        let mut case = kind(&mut random);
        case.command.scratch.words -= 1;
        device.refused(&case, Ending::BadSizes);
        // Invalid lengths.
        let case = kind(&mut random);
        let segment = case.command.bits.div_ceil(8).div_ceil(8) as usize;
        let wrong: [fn(&mut Command); 6] = [
            |command| command.bits = 8,
            |command| command.elements = 0,
            |command| command.x.words = 0,
            |command| command.y.words = 0,
            |command| command.noise.words = 0,
            |command| command.operation = 7,
        ];
        for change in wrong {
            let mut command = case.command;
            change(&mut command);
            device.lay(&case);
            assert_eq!(device.encryptor.carry_out(&command, 100_000).0, Ending::BadSizes, "{command:?}");
        }
        let mut command = case.command;
        command.x.words = segment;
        assert_eq!(device.encryptor.carry_out(&command, 100_000).0, Ending::BadSizes, "{command:?}");
        // The device still works.
        device.check(&kind(&mut random));
    }
    // A key with negative elements, because its corrections are longer than they are: those of one
    // kind, or of the other.
    for (quadratic, kind) in [(false, 0), (true, 0), (true, 1)] {
        let lengths = Lengths { correction: TINY.modulus + width, ..TINY };
        let mut case = encryption(&mut random, width, lengths, quadratic);
        let (_, _, corrections) = &mut case.parts[3];
        let of_a_kind = TINY.elements as u32 * lengths.correction.next_multiple_of(width);
        *corrections = (power(of_a_kind) - 1u32) << (kind * of_a_kind);
        device.refused(&case, Ending::Negative);
        device.check(&encryption(&mut random, width, TINY, quadratic));
    }
    let mut case = reduction(&mut random, width, 50, 20, 6);
    let (at, words, _) = case.parts[2];
    for bits in [70, words as u32 * width - 1] {
        case.parts[2] = (at, words, power(bits));
        device.refused(&case, Ending::BadOperand);
    }
    case.parts[2] = (at, words, power(69));
    let (quotient, expected) = power(69).div_rem(case.parts[0].2.clone());
    (case.expected, case.quotient) = (expected, Some(quotient));
    device.check(&case);
    case.command.x.words = 6;
    device.refused_as_it_lies(&case, Ending::BadSizes);
    let mut nothing = multiplication(&mut random, width, 3, 3);
    nothing.command.x.words = 0;
    device.encryptor.hesitate();
    assert_eq!(device.encryptor.carry_out(&nothing.command, 10_000).0, Ending::BadSizes);
    assert_eq!(device.encryptor.carry_out(&Command::default(), 10_000).0, Ending::BadSizes);
}

/// Internal memories and registers, by their instances.
const MEMORIES: [&str; 7] = [
    "u_product.u_operands.u_x.word_q",
    "u_product.u_operands.u_y.word_q",
    "u_product.u_sum.u_sum.word_q",
    "u_sum.u_x.word_q",
    "u_product.u_product.u_multiplier.sum_q",
    "u_product.u_product.u_multiplier.u_point.u_product.a_q",
    "u_product.u_product.u_multiplier.u_point.u_product.b_q",
];

/// The same for the transforms, except the other factor's register, which is `w^0` at rest.
const TRANSFORMS: [&str; 7] = [
    "gen_long.u_long.u_product.gen_tile[0].u_tile.word_q",
    "gen_long.u_long.u_product.gen_tile[1].u_tile.word_q",
    "gen_long.u_long.u_product.gen_tile[2].u_tile.word_q",
    "gen_long.u_long.u_product.u_worker.u_kept.word_q",
    "gen_long.u_long.u_product.u_worker.u_product.u_product.u_product.a_q",
    "gen_long.u_long.u_product.u_worker.u_transform.gen_rank[5].gen_twiddle.u_twiddle.u_product.u_product.a_q",
    "u_sum.u_x.word_q",
];

impl Device {
    /// Number of words in each of these memories that are not zero.
    fn left_in<const N: usize>(&self, names: [&str; N]) -> [usize; N] {
        let model = &self.encryptor.bench.model;
        let words = |name: &str| {
            (0..model.memory_words(name)).filter(|&word| model.peek(name, word).iter().any(|&limb| limb != 0)).count()
        };
        names.map(words)
    }

    /// Steps by `cycles` cycles, and updates the largest number of nonzero words in each memory of
    /// the transforms.
    fn go_on(&mut self, cycles: u64, most: &mut [usize; TRANSFORMS.len()]) {
        (0..cycles).for_each(|_| self.encryptor.step());
        for (most, left) in most.iter_mut().zip(self.left_in(TRANSFORMS)) {
            *most = left.max(*most);
        }
    }

    /// Number of internal words that are not zero.
    fn left(&self) -> usize {
        self.left_in(MEMORIES).iter().sum()
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn nothing_is_left_behind() {
    let mut device = Device::new(&rtl::DGHV_ENCRYPTOR_16, 6, SLOW);
    let mut random = Random::new(9);
    let whole = {
        let case = encryption(&mut random, 8, TINY, false);
        device.check(&case)
    };
    assert_eq!(device.left(), 0, "after a command");
    let mut most = 0;
    for round in 0..12 {
        let case = encryption(&mut random, 8, TINY, round % 4 == 3);
        device.lay(&case);
        device.encryptor.begin(&case.command);
        let moment = random.below(whole * 3 / 4) + 20;
        (0..moment).for_each(|_| device.encryptor.step());
        most = most.max(device.left());
        device.encryptor.reset();
        let wipe = Command { operation: WIPE, scratch: case.command.scratch, ..Command::default() };
        assert_eq!(device.encryptor.carry_out(&wipe, 100_000).0, Ending::Done);
        assert!(device.scratch(&case).iter().all(|&word| word == 0), "the scratch is wiped");
        assert_eq!(device.left(), 0, "after {moment} cycles");
        device.check(&multiplication(&mut random, 8, 5, 4));
    }
    assert!(most > 20, "there was something to wipe: {most} words");
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_memory_that_fails_ends_all() {
    let mut device = Device::new(&rtl::DGHV_ENCRYPTOR_16, 7, SLOW);
    let mut random = Random::new(10);
    for _ in 0..8 {
        let case = encryption(&mut random, 8, TINY, false);
        device.lay(&case);
        let before = device.encryptor.memory.words[case.command.z..][..51].to_vec();
        device.encryptor.begin(&case.command);
        let moment = random.below(3000) + 20;
        (0..moment).for_each(|_| device.encryptor.step());
        // The memory is silent until its watchdog reports it.
        device.encryptor.memory.silent = true;
        (0..200).for_each(|_| device.encryptor.step());
        assert_eq!(device.encryptor.answered(), 0);
        device.encryptor.bench.model.set("error_i", true);
        assert_eq!(device.encryptor.end(10_000).0, Ending::BadMemory, "after {moment} cycles");
        assert_eq!(device.left(), 0, "after {moment} cycles");
        assert!(device.encryptor.memory.words[case.command.z..][..51] == before, "no result");
        // Nothing works until a reset.
        assert_eq!(device.encryptor.carry_out(&case.command, 10_000).0, Ending::BadMemory);
        device.encryptor.bench.model.set("error_i", false);
        device.encryptor.memory.silent = false;
        device.encryptor.reset();
        device.check(&case);
        device.encryptor.reset();
    }
}

/// The design's own words and blocks.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn encryptions_with_words_of_64_bits() {
    let mut device = Device::new(&rtl::DGHV_ENCRYPTOR_128, 8, AT_ONCE);
    let mut random = Random::new(11);
    device.check(&reduction(&mut random, 64, 4000, 4000, 0));
    for quadratic in [false, true] {
        device.check(&encryption(&mut random, 64, SMALL, quadratic));
    }
}

/// The reference model predicts the cycles of an encryption, and so those of keys too long to
/// simulate.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn cycles_follow_the_model() {
    let mut device = Device::new(&rtl::DGHV_ENCRYPTOR_128, 9, AT_ONCE);
    let mut random = Random::new(12);
    for (modulus, elements, coefficient) in [(2005, 5, 60), (9000, 3, 400), (30_000, 2, 936)] {
        let lengths = Lengths { modulus, elements, coefficient, ..SMALL };
        for quadratic in [false, true] {
            let case = encryption(&mut random, 64, lengths, quadratic);
            device.encryptor.bench.idle(1000);
            let cycles = device.check(&case);
            let lengths = ModelLengths {
                modulus: modulus.into(),
                elements: elements as u64,
                coefficient: coefficient.into(),
                correction: SMALL.correction.into(),
                excess: case.command.excess.into(),
            };
            let steps = if quadratic { Model::HALVES.cmnt(&lengths) } else { Model::HALVES.cnt(&lengths) };
            let expected = Model::HALVES.cycles(&steps, case.command.scratch.words as u64);
            // A product that starts just after another has ended may have to wait, at most for the
            // time of a block.
            let waits = 128 * steps.iter().filter(|step| step.products(28) > 0).count() as u64;
            let said = format!("{modulus} bits: {cycles} cycles, {expected} by the model");
            assert!(expected <= cycles + 50 && cycles <= expected + waits, "{said}");
            assert!(modulus < 30_000 || cycles.abs_diff(expected) * 100 < expected, "{said}");
        }
    }
}

/// Transforms for the products of reductions, of every length and kind.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn reductions_by_transforms() {
    for mut device in devices(&rtl::DGHV_ENCRYPTOR_TRANSFORMS) {
        let mut random = Random::new(14);
        for (bits, excess) in [(65, 0), (130, 127), (700, 64), (1983, 2100), (4000, 4000)] {
            for kind in 0..7 {
                let case = device.with_matrices(reduction(&mut random, 64, bits, excess, kind));
                device.check(&case);
            }
        }
        for quadratic in [false, true] {
            for more in [0, 43, 44] {
                let lengths = Lengths { modulus: SMALL.modulus + more, ..SMALL };
                let case = device.with_matrices(encryption(&mut random, 64, lengths, quadratic));
                device.check(&case);
            }
        }
    }
}

/// Only products of two long factors use transforms. A reduction by CNT has a short quotient, so it
/// does not, and needs no matrices.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn short_factors_stay_with_blocks() {
    let mut device = Device::new(&rtl::DGHV_ENCRYPTOR_MIXED, 11, SLOW);
    let mut random = Random::new(15);
    let lengths = Lengths { modulus: 5000, elements: 2, ..SMALL };
    for (quadratic, long) in [(false, 0), (true, 2)] {
        let case = device.with_matrices(encryption(&mut random, 64, lengths, quadratic));
        let transforms =
            device.reduction(&case).into_iter().filter(|step| matches!(step, ModelStep::Transforms { .. })).count();
        assert_eq!(transforms, long);
        device.check(&case);
    }
    // Lengths around the minimum for both factors: the words of the quotient and of the modulus.
    for (bits, excess) in [(2300, 2300), (2560, 2490), (2560, 2500), (2432, 2560), (2496, 2500)] {
        let case = device.with_matrices(reduction(&mut random, 64, bits, excess, 6));
        device.check(&case);
    }
    // A multiplication uses blocks whatever its length.
    device.check(&multiplication(&mut random, 64, 50, 60));
}

/// A scratch that is one word too short for the matrices is refused, and so is one at the end of
/// the address space.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn matrices_must_have_their_room() {
    let mut device = Device::new(&rtl::DGHV_ENCRYPTOR_TRANSFORMS, 12, SLOW);
    let mut random = Random::new(16);
    // If the second of its two products is the longer one, the first has been computed when the
    // second is refused.
    for (bits, excess) in [(2000, 300), (2000, 2000)] {
        let mut case = device.with_matrices(reduction(&mut random, 64, bits, excess, 6));
        device.check(&case);
        case.command.scratch.words -= 1;
        device.refused(&case, Ending::BadSizes);
    }
    let case = device.with_matrices(encryption(&mut random, 64, SMALL, true));
    device.check(&case);
}

/// The reference model counts every cycle of a reduction, whatever the numbers, from the acceptance
/// of its command to the wiped scratch.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn cycles_by_transforms_follow_the_model() {
    let mut device = Device::new(&rtl::DGHV_ENCRYPTOR_TRANSFORMS, 13, AT_ONCE);
    let mut random = Random::new(17);
    let mut over = Vec::new();
    for (bits, excess) in [(700, 64), (2000, 300), (2005, 2100), (9000, 9000), (30_000, 30_000)] {
        for kind in 0..7 {
            let case = device.with_matrices(reduction(&mut random, 64, bits, excess, kind));
            device.encryptor.bench.idle(64);
            let cycles = device.check(&case);
            let steps = device.reduction(&case);
            assert!(!steps.iter().any(|step| matches!(step, ModelStep::Product { .. })), "{steps:?}");
            over.push(cycles as i64 - device.model.cycles(&steps, case.command.scratch.words as u64) as i64);
        }
    }
    // All but the time for the internal wiping, for which the model has a bound.
    assert!(over.iter().all(|&more| more == -124), "{over:?}");
    // For a whole encryption, the difference between blocks and transforms follows the model, up to
    // waits of the two products.
    let mut blocks = Device::new(&rtl::DGHV_ENCRYPTOR_128, 13, AT_ONCE);
    for (modulus, elements, coefficient) in [(2005, 5, 60), (9000, 3, 400), (30_000, 2, 936)] {
        let lengths = Lengths { modulus, elements, coefficient, ..SMALL };
        let case = device.with_matrices(encryption(&mut random, 64, lengths, true));
        let counted = |device: &mut Device| {
            device.encryptor.bench.idle(1000);
            let steps = device.reduction(&case);
            (device.check(&case), device.model.cycles(&steps, case.command.scratch.words as u64))
        };
        let ((by_blocks, model_blocks), (by_transforms, model)) = (counted(&mut blocks), counted(&mut device));
        let (found, expected) = (by_blocks as i64 - by_transforms as i64, model_blocks as i64 - model as i64);
        assert!((-256..=256).contains(&(found - expected)), "{modulus} bits: {found} cycles, {expected} by the model");
    }
}

/// After a reduction by transforms, and after a reset at any moment of one.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn transforms_leave_nothing_behind() {
    let mut device = Device::new(&rtl::DGHV_ENCRYPTOR_TRANSFORMS, 14, SLOW);
    let mut random = Random::new(18);
    let case = device.with_matrices(reduction(&mut random, 64, 3000, 3000, 6));
    let whole = device.check(&case);
    assert_eq!(device.left_in(TRANSFORMS), [0; TRANSFORMS.len()], "after a reduction");
    let mut most = [0; TRANSFORMS.len()];
    for _ in 0..12 {
        let case = device.with_matrices(reduction(&mut random, 64, 3000, 3000, 6));
        device.lay(&case);
        device.encryptor.begin(&case.command);
        let moment = random.below(whole * 3 / 4) + 600;
        device.go_on(moment, &mut most);
        device.encryptor.reset();
        let wipe = Command { operation: WIPE, scratch: case.command.scratch, ..Command::default() };
        assert_eq!(device.encryptor.carry_out(&wipe, 100_000).0, Ending::Done);
        assert!(device.scratch(&case).iter().all(|&word| word == 0), "the scratch is wiped");
        assert_eq!(device.left_in(TRANSFORMS), [0; TRANSFORMS.len()], "after {moment} cycles");
        let next = device.with_matrices(reduction(&mut random, 64, 200, 150, 6));
        device.check(&next);
    }
    assert!(most.iter().all(|&words| words > 0), "there was something to wipe everywhere: {most:?}");
}

/// A memory that becomes silent in the middle of transforms ends everything, as it does elsewhere.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_memory_that_fails_ends_transforms() {
    let mut device = Device::new(&rtl::DGHV_ENCRYPTOR_TRANSFORMS, 15, SLOW);
    let mut random = Random::new(19);
    let mut most = [0; TRANSFORMS.len()];
    for round in 0..8 {
        let case = device.with_matrices(reduction(&mut random, 64, 3000, 3000, 6));
        device.lay(&case);
        let result = case.command.z..case.command.z + 47 + 48;
        let before = device.encryptor.memory.words[result.clone()].to_vec();
        device.encryptor.begin(&case.command);
        let moment = 1500 + 900 * round;
        device.go_on(moment, &mut most);
        device.encryptor.memory.silent = true;
        (0..200).for_each(|_| device.encryptor.step());
        assert_eq!(device.encryptor.answered(), 0);
        device.encryptor.bench.model.set("error_i", true);
        assert_eq!(device.encryptor.end(10_000).0, Ending::BadMemory, "after {moment} cycles");
        assert_eq!(device.left_in(TRANSFORMS), [0; TRANSFORMS.len()], "after {moment} cycles");
        assert!(device.encryptor.memory.words[result] == before, "no result");
        assert_eq!(device.encryptor.carry_out(&case.command, 10_000).0, Ending::BadMemory);
        device.encryptor.bench.model.set("error_i", false);
        device.encryptor.memory.silent = false;
        device.encryptor.reset();
        device.check(&case);
        device.encryptor.reset();
    }
    assert!(most[..6].iter().all(|&words| words > 0), "transforms were under way: {most:?}");
}
