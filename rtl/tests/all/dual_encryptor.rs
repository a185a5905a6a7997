//! Encryptions in dual numbers against GMP, two votes at a time, by r^n and by a comb, under
//! back-pressure. The cycle in which each product begins depends on neither votes nor randomness.

use crate::golden::{below, number, odd, power};
use hearith_golden::block_streams::Dual;
use hearith_rtl::{DUAL_ENCRYPTOR_64, DUAL_ENCRYPTOR_COMB_64};
use hearith_verilated::Design;
use hearith_verilated::bench::{Bench, Pressure, Random};
use rug::Integer;

const N: u32 = 64;
const W: u32 = 16;
const D: u32 = 4;
const TEETH: u32 = 3;
const EXPONENT: u32 = 40;
const COLUMNS: u32 = EXPONENT.div_ceil(TEETH);
const SHAPE: Dual = Dual { bits: N as u64, delay: D as u64, fold: 2 };

/// A key's numbers as blocks, one vector per number.
struct Key {
    n: Integer,
    square: Integer,
    scaled: Integer,
    r: Integer,
    digits: u32,
    numbers: Vec<Vec<u64>>,
}

fn blocks(number: &Integer, count: u32) -> Vec<u64> {
    (0..count).map(|at| Integer::from(number >> (32 * at)).keep_bits(32).to_u64().expect("a block")).collect()
}

impl Key {
    fn new(n: &Integer) -> Self {
        let block = power(W * (D + 1));
        let unit = block.clone() - n.clone().invert(&block).expect("odd");
        let scaled = unit.clone() * n;
        let mt = (scaled.clone() + 1u32) / &block;
        let digits = (N + W + 2) / W + D + 1;
        let square = n.clone().square();
        let exit = n * power(N + W * (D + 1) + 3) % &square;
        let numbers = vec![
            blocks(n, N / 32),
            blocks(&square, 2 * N / 32),
            blocks(&exit, 2 * N / 32),
            blocks(&mt, N / 32),
            blocks(&unit, (W * (D + 1)).div_ceil(32)),
        ];
        Self { n: n.clone(), square, scaled, r: power(W * digits), digits, numbers }
    }

    /// A dual number in blocks, each of which holds a digit of both parts.
    fn dual(&self, value: &Integer) -> Vec<u64> {
        let whole = self.scaled.clone().square();
        let (high, low) = (value % whole).div_rem(self.scaled.clone());
        let digit = |part: &Integer, at: u32| Integer::from(part >> (W * at)).keep_bits(W).to_u64().expect("a digit");
        (0..self.digits).map(|at| digit(&high, at) << W | digit(&low, at)).collect()
    }

    fn windows(mut self) -> Self {
        let cube = self.r.clone().square() * &self.r;
        let constants = [self.r.clone(), cube, power(N)].map(|value| self.dual(&value));
        self.numbers.extend(constants);
        self
    }

    fn comb(mut self, base: &Integer) -> Self {
        for entry in 0..1u32 << TEETH {
            let teeth = (0..TEETH).filter(|tooth| entry >> tooth & 1 == 1);
            let exponent = teeth.fold(Integer::new(), |sum, tooth| sum + power(tooth * COLUMNS));
            let value = base.clone().pow_mod(&exponent, &self.square).expect("not negative");
            let entry = self.dual(&(value * &self.r % &self.square));
            self.numbers.push(entry);
        }
        self
    }
}

/// The ciphertexts of votes with their randomness, and the cycles, counted from the first number,
/// in which products began and the last block arrived.
fn encrypt(
    design: &'static Design,
    key: &Key,
    votes: &[(Integer, Integer)],
    pressure: Pressure,
) -> (Vec<Integer>, Vec<u64>) {
    let mut bench = Bench::new(design.model(), 1);
    let ports = ["set", "r", "m"].map(|port| {
        let names = ["valid_i", "ready_o", "block_i", "last_i"].map(|name| format!("{port}_{name}"));
        bench.source(&names[0], &names[1], &[&names[2], &names[3]])
    });
    let sink = bench.sink("out_valid_o", "out_ready_i", &["out_block_o", "out_last_o"]);
    ports.iter().for_each(|&port| bench.set_source_pressure(port, pressure));
    bench.set_sink_pressure(sink, pressure);
    let mut send = |port: usize, numbers: &[u64]| {
        for (at, block) in numbers.iter().enumerate() {
            bench.push(ports[port], &[&[*block], &[u64::from(at + 1 == numbers.len())]]);
        }
    };
    key.numbers.iter().for_each(|number| send(0, number));
    for (m, r) in votes {
        send(1, &blocks(r, if key.numbers.len() > 8 { EXPONENT.div_ceil(32) } else { N / 32 }));
        send(2, &blocks(m, N / 32));
    }
    let words = 2 * N as usize / 32;
    let mut products = Vec::new();
    while bench.received(sink).len() < votes.len() * words {
        assert!(bench.cycle() < 400_000, "{} blocks", bench.received(sink).len());
        let cycle = bench.cycle();
        bench.step_watching(|model| {
            if model.bit("mul_o") {
                products.push(cycle);
            }
        });
    }
    bench.idle(50);
    let begin = bench.taken(ports[1])[0];
    let received = bench.received(sink);
    assert_eq!(received.len(), votes.len() * words);
    assert!(received.iter().enumerate().all(|(at, block)| (block.fields[1][0] == 1) == (at % words == words - 1)));
    products.push(received.last().expect("a block").cycle);
    let cycles = products.iter().map(|cycle| cycle - begin).collect();
    let ciphertexts = received.chunks(words).map(|blocks| {
        let blocks = blocks.iter().rev().map(|block| number(&block.fields[0]));
        blocks.fold(Integer::new(), |sum, block| (sum << 32) + block)
    });
    (ciphertexts.collect(), cycles)
}

/// Checks pairs of votes at full speed and under pressure. Returns the cycles in which the first
/// pair's products began and its last block arrived.
fn check(design: &'static Design, key: &Key, votes: &[(Integer, Integer)], base: Option<&Integer>) -> Vec<u64> {
    let expected: Vec<Integer> = votes
        .iter()
        .map(|(m, r)| {
            let (base, exponent) = base.map_or((r, &key.n), |base| (base, r));
            let power = base.clone().pow_mod(exponent, &key.square).expect("not negative");
            (Integer::from(m * &key.n) + 1u32) * power % &key.square
        })
        .collect();
    let (ciphertexts, _) = encrypt(design, key, votes, Pressure::Random(90));
    assert_eq!(ciphertexts, expected);
    let mut cycles = Vec::new();
    for (pair, expected) in votes.chunks(2).zip(expected.chunks(2)) {
        let (ciphertexts, seen) = encrypt(design, key, pair, Pressure::None);
        assert_eq!(ciphertexts, expected);
        if cycles.is_empty() {
            cycles = seen.clone();
        }
        assert_eq!(seen, cycles, "numbers show in the cycles");
    }
    cycles
}

/// The products of both votes follow each other without a gap: from product number `opening` on,
/// `rounds` rounds of `squares` squares and a product.
fn check_rounds(cycles: &[u64], opening: usize, rounds: usize, squares: usize) {
    let operations = 2 * (squares + 1);
    let begins = &cycles[opening..=opening + rounds * operations];
    for (at, pair) in begins.windows(2).enumerate() {
        let square = at % operations < 2 * squares;
        let expected = if square { SHAPE.square() } else { SHAPE.product() };
        assert_eq!(pair[1] - pair[0], expected, "operation {at}");
    }
    assert_eq!(begins[begins.len() - 1] - begins[0], SHAPE.rounds(rounds as u64, squares as u64));
    // Two conversions out and the last block follow.
    assert_eq!(cycles.len(), opening + rounds * operations + 3);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn windows_of_the_public_exponent() {
    let mut random = Random::new(1);
    for n in [odd(&mut random, N), power(N) - 1u32, odd(&mut random, 61)] {
        let key = Key::new(&n).windows();
        let ends = [(Integer::new(), Integer::from(1)), (n.clone() - 1u32, n.clone() - 1u32)];
        let mut votes = ends.to_vec();
        votes.extend((0..4).map(|_| (below(&mut random, &n), below(&mut random, &n))));
        let cycles = check(&DUAL_ENCRYPTOR_64, &key, &votes, None);
        // The conversion in, R^3 and entries 2 to 15 come before.
        let opening = cycles[..2 * 16].windows(2).map(|pair| pair[1] - pair[0]);
        assert!(opening.into_iter().all(|cycles| cycles == SHAPE.product()));
        check_rounds(&cycles, 2 * 16, N as usize / 4 - 1, 4);
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn combs_of_secret_exponents() {
    let mut random = Random::new(2);
    let n = odd(&mut random, N);
    let base = below(&mut random, &n.clone().square());
    let key = Key::new(&n).comb(&base);
    let ones = power(EXPONENT) - 1u32;
    let mut votes = vec![(Integer::from(1), Integer::new()), (n.clone() - 1u32, ones.clone())];
    votes.extend((0..6).map(|_| (below(&mut random, &n), below(&mut random, &ones))));
    let cycles = check(&DUAL_ENCRYPTOR_COMB_64, &key, &votes, Some(&base));
    check_rounds(&cycles, 0, COLUMNS as usize - 1, 1);
}
