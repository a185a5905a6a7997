//! Products of dual numbers against GMP: operands at the limits of their range and random ones for
//! many moduli, conversions in and out, and powers; also the co-processor's multiplier, which
//! includes the conversion out. Tests count cycles, apply back-pressure, and check that cycles do
//! not depend on the numbers.

use crate::golden::{below, limbs, number, odd, power};
use crate::idle::{Module, Operation, items};
use hearith_rtl::{COPROC_CORE_DUAL_33, DUAL_MUL_5, DUAL_MUL_20, DUAL_MUL_20_FOLDED, DUAL_MUL_128, DUAL_MUL_512};
use hearith_verilated::Design;
use hearith_verilated::bench::{Bench, Pressure, Random};
use rug::Integer;

/// A modulus with the constants of a row for it.
struct Row {
    h: u32,
    modulus: Integer,
    scaled: Integer,
    unit: Integer,
    mt: Integer,
    r: Integer,
    part: u32,
    job: u64,
    d: u64,
}

/// A dual number: `low + high M'`.
type Dual = [Integer; 2];

/// An operation of a core.
#[derive(Clone)]
enum Work {
    Product(Dual, Dual),
    Square(Dual),
    Enter(Integer),
}

impl Row {
    fn new(modulus: &Integer, h: u32, [w, d]: [u32; 2]) -> Self {
        let block = power(w * (d + 1));
        let unit = block.clone() - modulus.clone().invert(&block).expect("an odd modulus");
        let scaled = unit.clone() * modulus;
        let mt = (scaled.clone() + 1u32) / block;
        let digits = (h + 3).div_ceil(w) + d + 1;
        Self {
            h,
            modulus: modulus.clone(),
            scaled,
            unit,
            mt,
            r: power(w * digits),
            part: w * digits,
            job: (digits + d + 2).into(),
            d: d.into(),
        }
    }

    /// Converts a number to a dual number with parts that are not negative.
    fn dual(&self, value: &Integer) -> Dual {
        let square = self.scaled.clone() * &self.scaled;
        let (high, low) = Integer::from(value % &square).div_rem(self.scaled.clone());
        [low, high]
    }

    fn value(&self, [low, high]: &Dual) -> Integer {
        Integer::from(high * &self.scaled) + low
    }

    /// A dual number in the core's input format, in two's complement.
    fn pack(&self, parts: &Dual) -> Integer {
        let [low, high] = parts.each_ref().map(|part| part.clone().keep_bits(self.part));
        low | high << self.part
    }

    fn unpack(&self, packed: &Integer) -> Dual {
        [0, 1].map(|index| Integer::from(packed >> (index * self.part)).keep_signed_bits(self.part))
    }

    /// Whether a result is within its bounds.
    fn bounded(&self, [low, high]: &Dual) -> bool {
        let most = |hundredths: u32| self.scaled.clone() * hundredths / 100u32;
        low.clone().abs() <= most(65) && high.clone().abs() <= most(140)
    }

    /// Operands at the limits of the range, and some random ones.
    fn operands(&self, random: &mut Random, count: usize) -> Vec<Dual> {
        let part = |random: &mut Random, hundredths: u32| {
            let most = self.scaled.clone() * hundredths / 100u32;
            match random.below(6) {
                0 => most,
                1 => -most,
                2 => Integer::from(random.below(3)) - 1u32,
                _ => below(random, &Integer::from(&most * 2u32)) - most,
            }
        };
        (0..count).map(|_| [part(random, 65), part(random, 140)]).collect()
    }

    /// The fields of an item: whether it is a conversion in, whether it is a square, and the
    /// operands.
    fn item(&self, work: &Work) -> Vec<Integer> {
        let (enter, square, a, b) = match work {
            Work::Product(a, b) => (0, 0, self.pack(a), self.pack(b)),
            Work::Square(a) => (0, 1, self.pack(a), self.pack(a)),
            Work::Enter(x) => (1, 0, x.clone(), self.pack(&self.dual(&power(self.h)))),
        };
        vec![enter.into(), square.into(), a, b]
    }

    /// Sends operations through the core. Returns for each the result, and the cycles in which its
    /// operands were accepted and its result returned.
    fn run(&self, design: &'static Design, works: &[Work], pressures: [Pressure; 2]) -> Vec<(Dual, u64, u64)> {
        let mut bench = Bench::new(design.model(), 5);
        let source = bench.source("in_valid_i", "in_ready_o", &["enter_i", "square_i", "a_i", "b_i"]);
        let sink = bench.sink("out_valid_o", "out_ready_i", &["r_o"]);
        bench.set_source_pressure(source, pressures[0]);
        bench.set_sink_pressure(sink, pressures[1]);
        bench.model.set("mt_i", limbs(&self.mt));
        for work in works {
            let item = self.item(work).iter().map(limbs).collect::<Vec<_>>();
            bench.push(source, &item.iter().map(Vec::as_slice).collect::<Vec<_>>());
        }
        bench.run(sink, works.len(), (works.len() as u64 + 3) * (8 * self.job + 200));
        bench.idle(3);
        assert_eq!(bench.received(sink).len(), works.len());
        let given = bench.received(sink).iter().map(|given| (self.unpack(&number(&given.fields[0])), given.cycle));
        given.zip(bench.taken(source)).map(|((dual, cycle), &taken)| (dual, taken, cycle)).collect()
    }

    /// Checks results modulo `M'^2` and their bounds, at full speed and under pressure.
    fn check(&self, design: &'static Design, works: &[Work]) -> Vec<(Dual, u64, u64)> {
        let square = self.scaled.clone() * &self.scaled;
        let given = self.run(design, works, [Pressure::None; 2]);
        for (work, (result, _, _)) in works.iter().zip(&given) {
            assert!(self.bounded(result), "{result:?} modulo {}", self.scaled);
            let product = self.value(result) * &self.r;
            match work {
                Work::Product(a, b) => assert!((product - self.value(a) * self.value(b)).is_divisible(&square)),
                Work::Square(a) => assert!((product - self.value(a).square()).is_divisible(&square)),
                Work::Enter(x) => assert!((product - x).is_divisible(&square)),
            }
        }
        for pressures in [[60, 4], [128, 60]] {
            let pressed = self.run(design, works, pressures.map(Pressure::Random));
            assert!(pressed.iter().map(|item| &item.0).eq(given.iter().map(|item| &item.0)));
        }
        given
    }

    /// The ordinary number of `X u / R`, where `u` times a number is given in two parts.
    fn leave(&self, [low, high]: &Dual) -> Integer {
        assert!(low.is_divisible(&self.unit));
        let v = Integer::from(low / &self.unit);
        let square = self.modulus.clone() * &self.modulus;
        (v + Integer::from(high * &self.modulus)).modulo(&square)
    }

    /// `x^e (1 + m n) mod n^2` by squares and products in turn. The conversion out of `(u, m)` is
    /// `u (1 + m n)`.
    fn power(&self, design: &'static Design, x: &Integer, exponent: u32, message: &Integer) -> Integer {
        let one = |work: Work| self.run(design, &[work], [Pressure::None; 2]).remove(0).0;
        let cube = self.dual(&Integer::from(&self.r * &self.r).square().div_exact(&self.r));
        let base = one(Work::Product(one(Work::Enter(x.clone())), cube));
        let mut result = base.clone();
        for bit in (0..exponent.ilog2()).rev() {
            result = one(Work::Square(result));
            if exponent >> bit & 1 == 1 {
                result = one(Work::Product(result, base.clone()));
            }
        }
        self.leave(&one(Work::Product(result, [self.unit.clone(), message.clone()])))
    }

    fn check_power(&self, design: &'static Design, x: &Integer, exponent: u32, message: &Integer) {
        let square = self.modulus.clone().square();
        let power = x.clone().pow_mod(&Integer::from(exponent), &square).expect("not negative");
        let expected = (Integer::from(message * &self.modulus) + 1u32) * power % square;
        assert_eq!(self.power(design, x, exponent, message), expected, "{x}^{exponent} (1 + {message} n)");
    }
}

/// Products, squares and conversions in, mixed.
fn works(row: &Row, random: &mut Random, count: usize) -> Vec<Work> {
    let ends = [Integer::new(), power(2 * row.h) - 1u32, power(row.h) - 1u32];
    let mut works: Vec<Work> = ends.into_iter().map(Work::Enter).collect();
    for a in row.operands(random, count) {
        works.push(match random.below(4) {
            0 => Work::Square(a),
            1 => Work::Enter(number(&random.bits(2 * row.h as usize))),
            _ => Work::Product(a, row.operands(random, 1).remove(0)),
        });
    }
    works
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn products_modulo_small_squares() {
    let mut random = Random::new(1);
    for modulus in (3..32).step_by(2).map(Integer::from) {
        let row = Row::new(&modulus, 5, [4, 2]);
        row.check(&DUAL_MUL_5, &works(&row, &mut random, 60));
        for x in [1, 2, 5, 30] {
            let x = Integer::from(x + 31 * random.below(30));
            row.check_power(&DUAL_MUL_5, &x, 11, &below(&mut random, &modulus));
        }
    }
    for bits in [20, 20, 19, 7] {
        let row = Row::new(&odd(&mut random, bits), 20, [4, 3]);
        row.check(&DUAL_MUL_20, &works(&row, &mut random, 60));
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn products_modulo_wide_squares() {
    let mut random = Random::new(2);
    for modulus in [power(128) - 1u32, odd(&mut random, 128), odd(&mut random, 120)] {
        let row = Row::new(&modulus, 128, [17, 4]);
        row.check(&DUAL_MUL_128, &works(&row, &mut random, 20));
    }
    let row = Row::new(&odd(&mut random, 512), 512, [18, 2]);
    row.check(&DUAL_MUL_512, &works(&row, &mut random, 12));
    let x = number(&random.bits(1023));
    row.check_power(&DUAL_MUL_512, &x, 0xb5, &Integer::new());
    row.check_power(&DUAL_MUL_512, &x, 3, &(row.modulus.clone() - 1u32));
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn products_take_three_jobs_and_squares_two() {
    check_jobs([(&DUAL_MUL_20, 20, [4, 3]), (&DUAL_MUL_128, 128, [17, 4])]);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn wide_products_take_three_jobs_and_squares_two() {
    check_jobs([(&DUAL_MUL_512, 512, [18, 2])]);
}

/// Latency of products and squares, alone and in sequence, at one per interval.
fn check_jobs<const ROWS: usize>(rows: [(&'static Design, u32, [u32; 2]); ROWS]) {
    let mut random = Random::new(3);
    for (design, bits, shape) in rows {
        let row = Row::new(&odd(&mut random, bits), bits, shape);
        let operands = row.operands(&mut random, 6);
        let products = operands.iter().map(|a| Work::Product(a.clone(), operands[0].clone())).collect::<Vec<_>>();
        let squares = operands.iter().map(|a| Work::Square(a.clone())).collect::<Vec<_>>();
        for (works, jobs) in [(products, 3), (squares, 2)] {
            let given = row.check(design, &works);
            for (index, (_, taken, cycle)) in given.iter().enumerate() {
                // The first is accepted at once, the others when the job before their own begins.
                assert_eq!(cycle - taken, (jobs + 2) * row.job + 6 - 2 * row.d, "{} number {index}", design.name());
            }
            for pair in given.windows(2).skip(1) {
                assert_eq!(pair[1].2 - pair[0].2, jobs * row.job, "{}", design.name());
            }
        }
    }
}

/// With half the multipliers, every cycle becomes two: the results are the same, squares take four
/// jobs' cycles, products six.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn folded_products_take_twice_as_long() {
    let mut random = Random::new(6);
    for bits in [20, 19, 7] {
        let row = Row::new(&odd(&mut random, bits), 20, [4, 3]);
        row.check(&DUAL_MUL_20_FOLDED, &works(&row, &mut random, 60));
        let operands = row.operands(&mut random, 5);
        let products = operands.iter().map(|a| Work::Product(a.clone(), operands[0].clone())).collect::<Vec<_>>();
        let squares = operands.iter().map(|a| Work::Square(a.clone())).collect::<Vec<_>>();
        for (works, jobs) in [(products, 3), (squares, 2)] {
            let given = row.check(&DUAL_MUL_20_FOLDED, &works);
            for pair in given.windows(2).skip(1) {
                assert_eq!(pair[1].2 - pair[0].2, 2 * jobs * row.job);
            }
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn numbers_do_not_show_in_the_activity() {
    let mut random = Random::new(4);
    let row = Row::new(&odd(&mut random, 20), 20, [4, 3]);
    let activity = |a: &Dual, b: &Dual| {
        let works = [Work::Product(a.clone(), b.clone()), Work::Square(a.clone())];
        let given = row.run(&DUAL_MUL_20, &works, [Pressure::None; 2]);
        given.into_iter().map(|(_, taken, cycle)| (taken, cycle)).collect::<Vec<_>>()
    };
    let zero = [Integer::new(), Integer::new()];
    let reference = activity(&zero, &zero);
    let operands = row.operands(&mut random, 8);
    assert!(operands.windows(2).all(|pair| activity(&pair[0], &pair[1]) == reference));
}

/// A multiplier of the co-processor: products, squares and conversions in and out, with operands at
/// the limits of their range, overtake each other.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn plain_numbers_come_out_of_the_coprocessors_multiplier() {
    let mut random = Random::new(5);
    let moduli = [power(33) - 1u32, power(32) + 1u32, Integer::from(3), odd(&mut random, 33), odd(&mut random, 11)];
    for (modulus, pressure) in moduli.iter().zip([255, 60, 128, 60, 4]) {
        let row = Row::new(modulus, 33, [4, 3]);
        let (square, whole) = (modulus.clone().square(), row.scaled.clone().square());
        let mut bench = Bench::new(COPROC_CORE_DUAL_33.model(), 1);
        let fields = ["in_tag_i", "in_square_i", "in_enter_i", "in_leave_i", "a_i", "b_i"];
        let source = bench.source("in_valid_i", "in_ready_o", &fields);
        let sink = bench.sink("out_valid_o", "out_ready_i", &["out_tag_o", "r_o"]);
        bench.set_sink_pressure(sink, Pressure::Random(pressure));
        let exit = power(33 + 4 * 4 + 3) * modulus % &square;
        for (port, constant) in
            [("mt_i", &row.mt), ("unit_i", &row.unit), ("root_i", modulus), ("modulus_i", &square), ("exit_i", &exit)]
        {
            bench.model.set(port, limbs(constant));
        }
        // For each tag, whether it is converted out, and R times its result modulo n^2 or M'^2.
        let mut expected = Vec::new();
        for a in row.operands(&mut random, 128) {
            let value = row.value(&a);
            let [square_it, enter, leave, packed, b, product] = match random.below(5) {
                0 => [1.into(), 0.into(), 0.into(), row.pack(&a), row.pack(&a), value.square()],
                1 => {
                    let x = number(&random.bits(66));
                    [0.into(), 1.into(), 0.into(), x.clone(), row.pack(&row.dual(&power(33))), x]
                }
                2 => {
                    let b = row.operands(&mut random, 1).remove(0);
                    [0.into(), 0.into(), 0.into(), row.pack(&a), row.pack(&b), value * row.value(&b)]
                }
                _ => {
                    let m = [Integer::new(), modulus.clone() - 1u32, below(&mut random, modulus)];
                    let m = m[random.below(3) as usize].clone();
                    let product = value * (m.clone() * modulus + 1u32);
                    [0.into(), 0.into(), 1.into(), row.pack(&a), m, product]
                }
            };
            let tag = [expected.len() as u64];
            bench
                .push(source, &[&tag, &limbs(&square_it), &limbs(&enter), &limbs(&leave), &limbs(&packed), &limbs(&b)]);
            expected.push((leave == 1, product));
        }
        bench.run(sink, expected.len(), 128 * 2000);
        let mut tags = Vec::new();
        for given in bench.received(sink) {
            let (leaves, product) = &expected[given.fields[0][0] as usize];
            let result = number(&given.fields[1]);
            if *leaves {
                assert!(result < square && (result * &row.r - product).is_divisible(&square));
            } else {
                let dual = row.unpack(&result);
                assert!(row.bounded(&dual) && (row.value(&dual) * &row.r - product).is_divisible(&whole));
            }
            tags.push(given.fields[0][0]);
        }
        tags.sort_unstable();
        assert!(tags.into_iter().eq(0..128));
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn moduli_change_between_products() {
    let sources = [items(&["enter_i", "square_i", "a_i", "b_i"])];
    for (design, bits, shape) in [(&DUAL_MUL_5, 5, [4, 2]), (&DUAL_MUL_20_FOLDED, 20, [4, 3])] {
        let module =
            Module { design, beside: &["mt_i"], sources: &sources, results: &["r_o"], prompt: false, last: None };
        module.check(100, false, |random| {
            let row = Row::new(&odd(random, bits), bits, shape);
            let works = works(&row, random, 2);
            let items: Vec<Vec<Integer>> =
                works.iter().skip(random.below(4) as usize).map(|work| row.item(work)).collect();
            Operation { beside: vec![row.mt.clone()], answers: items.len(), items: vec![items] }
        });
    }
    let sources = [items(&["in_tag_i", "in_square_i", "in_enter_i", "in_leave_i", "a_i", "b_i"])];
    let beside = ["mt_i", "unit_i", "root_i", "modulus_i", "exit_i"];
    let results = ["out_tag_o", "r_o"];
    let module = Module {
        design: &COPROC_CORE_DUAL_33,
        beside: &beside,
        sources: &sources,
        results: &results,
        prompt: false,
        last: None,
    };
    module.check(100, false, |random| {
        let modulus = odd(random, 33);
        let row = Row::new(&modulus, 33, [4, 3]);
        let square = modulus.clone().square();
        let exit = power(33 + 4 * 4 + 3) * &modulus % &square;
        let leave = random.below(2) == 1;
        let a = row.operands(random, 1).remove(0);
        let work = if leave { vec![row.pack(&a), below(random, &modulus)] } else { vec![row.pack(&a), row.pack(&a)] };
        let item = [vec![random.below(128).into(), u32::from(!leave).into(), 0.into(), u32::from(leave).into()], work];
        let beside = vec![row.mt, row.unit, modulus, square, exit];
        Operation { beside, items: vec![vec![item.concat()]], answers: 1 }
    });
}
