//! The simulated co-processor: every command against GMP, the driver against the library, refusals,
//! constant activity, and data left behind.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::{EPOCH, Fault, Recorder, Shared, header, is, key, load};
use hearith_device::coproc::{Command, Coproc, Core, CrtCoproc, LoadedCoproc, Operation, Refusal, Scalars};
use hearith_device::{Device, Error, ErrorKind, Exchange, Marks, Transport, Trust};
use hearith_paillier::{
    ComputeError, Engine, ErrorKind as SchemeErrorKind, KeyPolicy, PrivateKey, PublicKey, PublicKeyBackend, Variant,
};
use hearith_simulated::Simulated;
use hearith_simulated::designs::{
    COPROC_64, COPROC_64_DIGIT, COPROC_64_DUAL, COPROC_256, COPROC_256_DUAL, COPROC_512, COPROC_512_DIGIT,
    COPROC_512_DUAL, COPROC_4096,
};
use hearith_verilated::Design;
use hearith_verilated::bench::Random;
use rug::Integer;
use rug::integer::Order;

const CONTROL: u32 = 0x10;
const ERROR: u32 = 0x18;
const FLUSH: u32 = 2;
const LOCKED: u32 = 64;
/// The region of the modulus.
const MODULUS: u32 = 0x1_1000;

fn number(limbs: &[u64]) -> Integer {
    Integer::from_digits(limbs, Order::Lsf)
}

fn limbs(number: &Integer) -> Vec<u64> {
    number.to_digits(Order::Lsf)
}

fn below(random: &mut Random, bound: &Integer) -> Integer {
    number(&random.bits(bound.significant_bits() as usize + 64)) % bound
}

fn power(bits: u32) -> Integer {
    Integer::from(1) << bits
}

fn djn(bits: u32) -> PrivateKey {
    PrivateKey::generate(bits, Variant::Djn, KeyPolicy::AllowInsecure, Engine::best()).unwrap()
}

fn modulus(key: &PublicKey) -> Integer {
    Integer::from_digits(&key.modulus_be(), Order::MsfBe)
}

fn device(design: &'static Design) -> Coproc {
    Coproc::open(Box::new(Simulated::new(design).unwrap())).unwrap()
}

/// A command with its expected result from GMP.
struct Case {
    operation: Operation,
    length: u32,
    group: u16,
    x: Vec<u64>,
    y: Vec<u64>,
    result: Result<Integer, Refusal>,
}

impl Case {
    fn command(&self) -> Command<'_> {
        let Case { operation, length, group, .. } = *self;
        Command { operation, length, group, x: &self.x, y: &self.y }
    }
}

/// A model in GMP of the state of a co-processor, in addition to its key.
struct Model {
    n: Integer,
    square: Integer,
    /// The entries of the comb, empty until they are set.
    comb: Vec<Integer>,
    groups: Vec<Option<Integer>>,
    teeth: u32,
}

impl Model {
    fn new(key: &PublicKey, device: &Coproc) -> Self {
        let (n, parameters) = (modulus(key), device.parameters());
        let square = n.clone().square();
        Self { n, square, comb: Vec::new(), groups: vec![None; parameters.groups as usize], teeth: parameters.teeth }
    }

    fn product(&self, a: &Integer, b: &Integer) -> Integer {
        Integer::from(a * b) % &self.square
    }

    fn pow(&self, base: &Integer, exponent: &Integer) -> Integer {
        base.clone().pow_mod(exponent, &self.square).unwrap()
    }

    /// Commands that set a comb of random numbers.
    fn set_comb(&mut self, random: &mut Random) -> Vec<Case> {
        self.comb = (0..1 << self.teeth).map(|_| below(random, &self.square)).collect();
        let case = |(group, entry): (u16, &Integer)| Case {
            operation: Operation::SetComb,
            length: 0,
            group,
            x: limbs(entry),
            y: Vec::new(),
            result: Ok(Integer::new()),
        };
        (0..).zip(&self.comb).map(case).collect()
    }

    /// The power by a comb: digits from the highest on, with a square before each entry.
    fn combed(&self, exponent: &Integer, length: u32) -> Integer {
        let stride = length.div_ceil(self.teeth);
        let mut power = Integer::from(1);
        for low in (0..stride).rev() {
            let bit = |tooth: u32| low + tooth * stride;
            let set = |tooth: &u32| bit(*tooth) < length && exponent.get_bit(bit(*tooth));
            let digit: usize = (0..self.teeth).filter(set).map(|tooth| 1 << tooth).sum();
            power = self.product(&power.clone().square(), &self.comb[digit]);
        }
        power
    }

    /// A random valid command, and its result.
    fn random(&mut self, random: &mut Random, longest: u32) -> Case {
        let corner = |random: &mut Random, bound: &Integer| match random.below(8) {
            0 => Integer::from(bound - 1),
            1 => Integer::from(random.below(3)),
            _ => below(random, bound),
        };
        let length = 1 + random.below(u64::from(longest)) as u32;
        let group = random.below(self.groups.len() as u64) as u16;
        let (small, other) = (corner(random, &self.n), corner(random, &self.n));
        let (large, long) = (corner(random, &self.square), corner(random, &self.square));
        let exponent = below(random, &power(length));
        let held = self.groups[usize::from(group)].clone();
        let one = Integer::from(1);
        let (operation, x, y, result) = match random.below(9) {
            0 => (Operation::Multiply, large.clone(), long.clone(), self.product(&large, &long)),
            1 => (Operation::Power, large.clone(), exponent.clone(), self.pow(&large, &exponent)),
            2 => {
                let payload = Integer::from(&other * &self.n) + 1u32;
                let result = self.product(&self.pow(&small, &self.n), &payload);
                (Operation::Encrypt, small, other, result)
            }
            3 => {
                let result = self.product(&self.pow(&small, &self.n), &large);
                (Operation::Rerandomise, small, large, result)
            }
            4 if !self.comb.is_empty() => {
                let payload = Integer::from(&small * &self.n) + 1u32;
                let result = self.product(&self.combed(&exponent, length), &payload);
                (Operation::CombEncrypt, small, exponent.clone(), result)
            }
            5 if !self.comb.is_empty() => {
                let result = self.product(&self.combed(&exponent, length), &large);
                (Operation::CombRerandomise, large, exponent.clone(), result)
            }
            6 => {
                self.groups[usize::from(group)] = Some(self.product(held.as_ref().unwrap_or(&one), &large));
                (Operation::Accumulate, large, Integer::new(), Integer::new())
            }
            7 => {
                let raised = self.pow(held.as_ref().unwrap_or(&one), &power(length.next_multiple_of(4)));
                self.groups[usize::from(group)] = Some(self.product(&raised, &self.pow(&large, &exponent)));
                (Operation::Continue, large, exponent.clone(), Integer::new())
            }
            _ => match self.groups[usize::from(group)].take() {
                Some(total) => (Operation::Total, Integer::new(), Integer::new(), total),
                None => (Operation::Multiply, large.clone(), long.clone(), self.product(&large, &long)),
            },
        };
        Case { operation, length, group, x: limbs(&x), y: limbs(&y), result: Ok(result) }
    }
}

/// Runs cases in one call, and compares the results.
fn runs(device: &mut Coproc, cases: &[Case]) {
    let commands: Vec<Command<'_>> = cases.iter().map(Case::command).collect();
    let results = device.run(&commands).unwrap();
    for (row, (case, result)) in cases.iter().zip(&results).enumerate() {
        let found = result.as_ref().map(|limbs| number(limbs)).map_err(|&refusal| refusal);
        assert_eq!(found, case.result, "row {row}: {:?}", case.command());
    }
}

/// Every command, with random and edge values, against GMP.
fn computes(design: &'static Design, count: usize, longest: u32, seed: u64) {
    let mut device = device(design);
    let key = key(device.parameters().bits);
    device.load_key(key.public()).unwrap();
    let mut random = Random::new(seed);
    let mut model = Model::new(key.public(), &device);
    let mut cases = model.set_comb(&mut random);
    cases.extend((0..count).map(|_| model.random(&mut random, longest)));
    runs(&mut device, &cases);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn every_command_is_gmps() {
    computes(&COPROC_64, 300, 128, 1);
    computes(&COPROC_64_DIGIT, 300, 128, 1);
    computes(&COPROC_64_DUAL, 300, 128, 1);
    computes(&COPROC_256, 20, 24, 2);
    computes(&COPROC_256_DUAL, 20, 24, 2);
}

/// The longest key with a device: a product, a short power, a group.
#[test]
#[cfg_attr(verilator, ignore = "long: make test-full")]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_key_of_4096_bits_is_taken() {
    let mut device = device(&COPROC_4096);
    let key = key(device.parameters().bits);
    device.load_key(key.public()).unwrap();
    let square = modulus(key.public()).square();
    let (mut random, largest) = (Random::new(3), Integer::from(&square - 1));
    let [x, y] = [(); 2].map(|()| below(&mut random, &square));
    let case = |operation, length, x: &Integer, y: &Integer, result| Case {
        operation,
        length,
        group: 1,
        x: limbs(x),
        y: limbs(y),
        result: Ok(result),
    };
    let exponent = Integer::from(13);
    let power = x.clone().pow_mod(&exponent, &square).unwrap();
    runs(
        &mut device,
        &[
            case(Operation::Multiply, 0, &x, &y, Integer::from(&x * &y) % &square),
            case(Operation::Multiply, 0, &largest, &largest, Integer::from(1)),
            case(Operation::Power, 4, &x, &exponent, power),
            case(Operation::Accumulate, 0, &x, &y, Integer::new()),
            case(Operation::Accumulate, 0, &largest, &y, Integer::new()),
            case(Operation::Total, 0, &x, &y, square.clone() - &x),
        ],
    );
}

/// The registers describe the multipliers, and the products of one follow each other at the stated
/// interval.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn the_multipliers_are_what_the_registers_say() {
    let shapes = [
        (&COPROC_64, Core::Cios, [17, 2, 24]),
        (&COPROC_64_DIGIT, Core::Digit, [32, 0, 16]),
        (&COPROC_64_DUAL, Core::Dual, [17, 2, 24]),
    ];
    for (design, core, shape) in shapes {
        let mut device = device(design);
        let parameters = device.parameters();
        assert_eq!(parameters.core, core);
        assert_eq!([parameters.digit_bits, parameters.delay, parameters.word_bits], shape);
        device.load_key(key(64).public()).unwrap();
        let powers = [Command { length: 128, ..Command::new(Operation::Power, &[3], &[1; 2]) }; 8];
        let before = device.counters().unwrap();
        assert!(device.run(&powers).unwrap().iter().all(Result::is_ok));
        let after = device.counters().unwrap();
        let cycles = (after.busy_cycles - before.busy_cycles) / (after.products - before.products);
        // For dual numbers a square takes two thirds of the interval, and four of five products are
        // squares.
        let interval = u64::from(parameters.interval) * if core == Core::Dual { 11 } else { 15 } / 15;
        assert!((interval..2 * interval).contains(&cycles), "{cycles} cycles a product, {interval} of the multiplier");
    }
}

/// An exponent too long for one command, in pieces, the highest first.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn an_exponent_of_any_length_comes_in_pieces() {
    let mut device = device(&COPROC_64);
    let key = key(64);
    device.load_key(key.public()).unwrap();
    let mut random = Random::new(3);
    let square = modulus(key.public()).square();
    let (base, exponent) = (limbs(&below(&mut random, &square)), random.bits(5 * 128 - 3));
    let piece = |y| Command { length: 128, group: 1, ..Command::new(Operation::Continue, &base, y) };
    let mut commands: Vec<Command<'_>> = exponent.rchunks(2).map(piece).collect();
    commands.push(Command { group: 1, ..Command::new(Operation::Total, &[], &[]) });
    let results = device.run(&commands).unwrap();
    assert_eq!(number(results[5].as_ref().unwrap()), number(&base).pow_mod(&number(&exponent), &square).unwrap());
}

fn plaintexts(key: &PublicKey, random: &mut Random, rows: usize) -> (hearith_paillier::Plaintexts, Vec<Integer>) {
    let n = modulus(key);
    let numbers: Vec<Integer> = (0..rows).map(|_| below(random, &n)).collect();
    let width = key.plaintext_bytes();
    let bytes = numbers.iter().flat_map(|number| {
        let digits: Vec<u8> = number.to_digits(Order::MsfBe);
        [vec![0; width - digits.len()], digits].concat()
    });
    (key.plaintexts_from_be(&bytes.collect::<Vec<u8>>()).unwrap(), numbers)
}

/// The driver's operations, for both variants of keys, with and without checks: results decrypt on
/// the CPU to the expected plaintexts.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn the_driver_does_what_the_library_does() {
    for (design, rows) in
        [(&COPROC_64, 9), (&COPROC_64_DIGIT, 5), (&COPROC_64_DUAL, 5), (&COPROC_256, 4), (&COPROC_256_DUAL, 4)]
    {
        for (private, trust) in
            [(key(design.parameter("N")), Trust::Checked), (djn(design.parameter("N")), Trust::Unchecked)]
        {
            let mut device = device(design).with_trust(trust);
            device.load_private_key(&private).unwrap();
            let public = private.public();
            let mut random = Random::new(rows as u64);
            let ((first, _), (second, _)) =
                (plaintexts(public, &mut random, rows), plaintexts(public, &mut random, rows));
            let encrypted = device.encrypt(&first).unwrap();
            assert!(private.decrypt(&encrypted).unwrap() == first);
            assert!(device.decrypt(&encrypted).unwrap() == first);
            let other = device.rerandomise(&encrypted).unwrap();
            assert!(other != encrypted && private.decrypt(&other).unwrap() == first);
            let fresh = public.encrypt(&second).unwrap();
            assert!(device.add(&encrypted, &fresh).unwrap() == public.add(&encrypted, &fresh).unwrap());
            let multiplied = device.multiply(&encrypted, Scalars::Secret(&second)).unwrap();
            assert!(device.multiply(&encrypted, Scalars::Public(&second)).unwrap() == multiplied);
            let groups = vec![vec![0, 2, 1], vec![], vec![3], vec![3, 3], vec![0], vec![1, 2]];
            let sums = public.sum_groups(&encrypted, &groups).unwrap();
            assert!(device.sum_groups(&encrypted, &groups).unwrap() == sums);
            assert!(device.sum(&encrypted).unwrap() == public.sum(&encrypted).unwrap());
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_plain_number_multiplies() {
    let (mut device, private) = (device(&COPROC_64), key(64));
    let public = private.public();
    device.load_key(public).unwrap();
    let mut random = Random::new(8);
    let ((first, a), (second, b)) = (plaintexts(public, &mut random, 5), plaintexts(public, &mut random, 5));
    let encrypted = public.encrypt(&first).unwrap();
    let multiplied = device.multiply(&encrypted, Scalars::Secret(&second)).unwrap();
    let found = private.decrypt(&multiplied).unwrap();
    for ((a, b), found) in a.iter().zip(&b).zip(found.batch().rows()) {
        assert_eq!(Integer::from(a * b) % modulus(public), number(found));
    }
    // Without its private key, the device decrypts nothing.
    is(&device.decrypt(&encrypted).unwrap_err(), ErrorKind::NoKey);
}

/// If a command is refused, the other commands of its batch are carried out, and the reason is
/// reported.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn what_cannot_be_is_refused_alone() {
    for design in [&COPROC_64, &COPROC_64_DUAL] {
        refuses(design);
    }
}

fn refuses(design: &'static Design) {
    let (mut device, private) = (device(design), key(64));
    let public = private.public();
    device.load_key(public).unwrap();
    let n = modulus(public);
    let square = limbs(&n.clone().square());
    let n = limbs(&n);
    let with = |length, group, operation, x, y| Command { length, group, operation, x, y };
    let small: &[u64] = &[3];
    let cases = [
        (with(0, 0, Operation::Multiply, &square, small), Refusal::FirstOperand),
        (with(0, 0, Operation::Multiply, small, &square), Refusal::SecondOperand),
        (with(0, 0, Operation::Multiply, small, &[u64::MAX; 2]), Refusal::SecondOperand),
        (with(9, 0, Operation::Power, &square, small), Refusal::FirstOperand),
        (with(0, 0, Operation::Power, small, small), Refusal::Length),
        (with(129, 0, Operation::Power, small, small), Refusal::Length),
        (with(0, 0, Operation::Encrypt, &n, small), Refusal::FirstOperand),
        (with(0, 0, Operation::Encrypt, small, &n), Refusal::SecondOperand),
        (with(0, 0, Operation::Rerandomise, &n, small), Refusal::FirstOperand),
        (with(0, 0, Operation::Rerandomise, small, &square), Refusal::SecondOperand),
        (with(5, 0, Operation::CombEncrypt, small, small), Refusal::Missing),
        (with(5, 0, Operation::CombRerandomise, small, small), Refusal::Missing),
        (with(0, 4, Operation::Accumulate, small, small), Refusal::Group),
        (with(0, 2, Operation::Total, small, small), Refusal::Missing),
        (with(0, 16, Operation::SetComb, small, small), Refusal::Group),
        (with(0, 0, Operation::Decrypt, small, small), Refusal::Missing),
    ];
    let right = Command { group: 1, ..Command::new(Operation::Multiply, small, &[5]) };
    for (wrong, refusal) in cases {
        let results = device.run(&[right, wrong, right]).unwrap();
        assert_eq!(results[1], Err(refusal), "{wrong:?}");
        // The others are carried out.
        for result in [&results[0], &results[2]] {
            assert_eq!(result.as_ref().unwrap()[..], [15, 0], "{wrong:?}");
        }
    }
}

/// The driver refuses a key of another size, and the device then has no key.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_key_of_another_size_is_refused() {
    let mut device = device(&COPROC_64);
    is(&device.load_key(key(128).public()).unwrap_err(), ErrorKind::KeySize { bits: 128, takes: 64 });
    let private = key(64);
    let (plaintexts, _) = plaintexts(private.public(), &mut Random::new(5), 1);
    is(&device.encrypt(&plaintexts).unwrap_err(), ErrorKind::NoKey);
}

/// The number of products, and of cycles with anything in flight, does not depend on the numbers.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn activity_does_not_depend_on_numbers() {
    for design in [&COPROC_64, &COPROC_64_DIGIT, &COPROC_64_DUAL] {
        constant_activity(design);
    }
}

fn constant_activity(design: &'static Design) {
    let (mut device, private) = (device(design), key(64));
    device.load_private_key(&private).unwrap();
    let n = modulus(private.public());
    let square = n.clone().square();
    let entries: Vec<Vec<u64>> = (0..16_u32).map(|entry| limbs(&Integer::from(entry * entry + 1))).collect();
    let mut random = Random::new(6);
    let operations = [
        Operation::Multiply,
        Operation::Power,
        Operation::Encrypt,
        Operation::Rerandomise,
        Operation::CombEncrypt,
        Operation::CombRerandomise,
        Operation::Accumulate,
        Operation::Decrypt,
    ];
    let mut counted = |numbers: [Integer; 4]| {
        let [small, other, large, long] = numbers.map(|number| limbs(&number));
        let operands = |operation| match operation {
            Operation::Encrypt => (&small, &other),
            Operation::Rerandomise => (&small, &large),
            Operation::CombEncrypt => (&small, &other),
            Operation::CombRerandomise => (&large, &other),
            _ => (&large, &long),
        };
        let mut commands = Vec::new();
        for (group, x) in (0..).zip(&entries) {
            commands.push(Command { group, ..Command::new(Operation::SetComb, x, &[]) });
        }
        for operation in operations {
            let (x, y) = operands(operation);
            commands.push(Command { length: 61, ..Command::new(operation, x, y) });
        }
        let before = device.counters().unwrap();
        assert!(device.run(&commands).unwrap().iter().all(Result::is_ok));
        let after = device.counters().unwrap();
        (after.busy_cycles - before.busy_cycles, after.products - before.products)
    };
    let (one, zero) = (Integer::from(1), Integer::new());
    let small = counted([one.clone(), zero.clone(), one, zero]);
    let most = counted([n.clone() - 1u32, n.clone() - 1u32, square.clone() - 1u32, square.clone() - 1u32]);
    assert_eq!(small, most);
    for _ in 0..5 {
        let drawn =
            [below(&mut random, &n), below(&mut random, &n), below(&mut random, &square), below(&mut random, &square)];
        assert_eq!(counted(drawn), small);
    }
    // The counts of rtl/coproc/README.md: a table, windows, a tail; the comb's digits; the rest.
    let power = |bits: u64, tail: u64| 17 + 5 * bits.div_ceil(4) + tail;
    let combed = |bits: u64, tail: u64| 1 + 2 * bits.div_ceil(4) + tail;
    if device.parameters().core == Core::Dual {
        // An ordinary number needs one more product on input. A plaintext is combined with the
        // output.
        let powers = power(61, 2) + power(64, 2) + power(64, 5) + power(64, 2);
        assert_eq!(small.1, 2 * 16 + 6 + powers + combed(61, 1) + combed(61, 4) + 2);
    } else {
        let (powers, combs) = (power(61, 1) + 2 * power(64, 3) + power(64, 1), 2 * combed(61, 3));
        assert_eq!(small.1, 16 + 2 + powers + combs + 1);
    }
}

/// The driver of a device under pressure on every channel. The simulation ends if the device breaks
/// a bus's rules.
fn pressed(design: &'static Design, seed: u64) -> Coproc {
    Coproc::open(Box::new(Simulated::under_pressure(design, seed).unwrap())).unwrap()
}

/// Random commands of all kinds, one in eight invalid, in batches of random lengths on devices
/// under pressure, for this time. Every result is compared.
fn soak(time: Duration) {
    let end = Instant::now() + time;
    let (mut random, mut commands) = (Random::new(9), 0);
    for round in 0.. {
        let designs = [&COPROC_64, &COPROC_256, &COPROC_64_DUAL, &COPROC_64_DIGIT, &COPROC_64, &COPROC_256_DUAL];
        let design = designs[round as usize % designs.len()];
        let mut device = pressed(design, round);
        let key = key(device.parameters().bits);
        device.load_key(key.public()).unwrap();
        let longest = if key.public().bits() == 256 { 24 } else { 128 };
        for _ in 0..4 {
            let mut model = Model::new(key.public(), &device);
            let mut cases = if random.below(2) == 0 { model.set_comb(&mut random) } else { Vec::new() };
            for _ in 0..random.below(30) {
                let mut case = model.random(&mut random, longest);
                if random.below(8) == 0
                    && !matches!(case.operation, Operation::Accumulate | Operation::Continue | Operation::Total)
                {
                    (case.x, case.result) = (
                        vec![u64::MAX; model.square.significant_bits().div_ceil(64) as usize],
                        Err(Refusal::FirstOperand),
                    );
                }
                cases.push(case);
            }
            runs(&mut device, &cases);
            commands += cases.len();
            if Instant::now() > end {
                println!("{commands} commands on {} devices", round + 1);
                return;
            }
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_minute_of_random_commands() {
    soak(Duration::from_secs(60));
}

#[test]
#[cfg_attr(verilator, ignore = "long: make test-full")]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn an_hour_of_random_commands() {
    let minutes = std::env::var("HEARITH_SOAK").map_or(60, |minutes| minutes.parse().expect("HEARITH_SOAK is minutes"));
    soak(Duration::from_secs(60 * minutes));
}

/// Two devices for keys of half the length, with transports that can be disturbed.
fn halves(design: &'static Design, private: &PrivateKey, trust: Trust) -> ([Shared; 2], CrtCoproc) {
    let shared = [Shared::new(design), Shared::new(design)];
    let transports: [Box<dyn Transport>; 2] = [Box::new(shared[0].clone()), Box::new(shared[1].clone())];
    (shared, CrtCoproc::new(transports, private, trust).unwrap())
}

/// Two devices of half the width decrypt like one, with products of half the length and half as
/// many.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn two_devices_decrypt_by_the_remainder_theorem() {
    for (design, private, rows) in [
        (&COPROC_64, key(128), 9),
        (&COPROC_64_DIGIT, djn(128), 4),
        (&COPROC_64_DUAL, djn(128), 4),
        (&COPROC_256, key(512), 3),
    ] {
        for trust in [Trust::Checked, Trust::Unchecked] {
            let (_, mut device) = halves(design, &private, trust);
            let (plain, _) = plaintexts(private.public(), &mut Random::new(11), rows);
            let fresh = private.public().encrypt(&plain).unwrap();
            assert!(device.decrypt(&fresh).unwrap() == plain);
            let enter = u64::from(design.name() == COPROC_64_DUAL.name());
            let power = |bits: u64| enter + 17 + 5 * bits.div_ceil(4) + 1;
            let counters = device.counters().unwrap();
            assert_eq!(counters.products, 2 * rows as u64 * power(private.public().bits() as u64 / 2));
            assert_eq!(counters.delivered, rows as u64);
        }
    }
}

/// A key of 512 bits on one device with one multiplier, and on two of half the width with two each:
/// the cycles of four decryptions.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn wide_devices_decrypt_several_times_as_fast() {
    let private = key(512);
    let (plain, _) = plaintexts(private.public(), &mut Random::new(12), 4);
    let fresh = private.public().encrypt(&plain).unwrap();
    let mut whole =
        LoadedCoproc::with_private(Box::new(Simulated::new(&COPROC_512).unwrap()), &private, Trust::Checked);
    let whole = whole.as_mut().unwrap();
    assert!(hearith_paillier::DecryptionBackend::decrypt(whole, &fresh).unwrap() == plain);
    let (_, mut halves) = halves(&COPROC_256, &private, Trust::Checked);
    assert!(halves.decrypt(&fresh).unwrap() == plain);
    let [whole, halves] = [whole.counters().unwrap().busy_cycles, halves.counters().unwrap().busy_cycles];
    // These depend on no key and no ciphertext: rtl/coproc/README.md lists them.
    assert_eq!([whole, halves], [187_044, 30_070]);
}

/// Four commands on one multiplier of each kind, for a key of 512 bits: the cycles of encryptions,
/// of products by 64-bit numbers, and of sums.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn wide_cores_take_their_cycles() {
    let private = key(512);
    let mut random = Random::new(15);
    let n = modulus(private.public());
    let [x, y] = [(); 2].map(|()| limbs(&below(&mut random, &n)));
    let cycles = [&COPROC_512, &COPROC_512_DIGIT, &COPROC_512_DUAL].map(|design| {
        let mut device = device(design);
        device.load_key(private.public()).unwrap();
        [(Operation::Encrypt, 0), (Operation::Power, 64), (Operation::Multiply, 0)].map(|(operation, length)| {
            let command = Command { length, ..Command::new(operation, &x, &y) };
            let before = device.counters().unwrap().busy_cycles;
            assert!(device.run(&[command; 4]).unwrap().iter().all(Result::is_ok));
            device.counters().unwrap().busy_cycles - before
        })
    });
    // These depend on no number: docs/explanation/coproc.md lists them.
    assert_eq!(cycles, [[187_776, 28_165, 904], [375_152, 55_921, 1_393], [225_177, 37_913, 5_233]]);
}

/// If one device returns wrong results, is reset or vanishes, nothing is returned, and the next
/// batch is right.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_half_that_fails_gives_nothing() {
    let private = key(128);
    let (plain, _) = plaintexts(private.public(), &mut Random::new(13), 3);
    let fresh = private.public().encrypt(&plain).unwrap();
    let (shared, device) = halves(&COPROC_64, &private, Trust::Checked);
    for half in &shared {
        for fault in [Fault::Reset(3), Fault::GivenUp(3), Fault::CutInput(4)] {
            half.disturb(fault);
            device.decrypt(&fresh).unwrap_err();
            assert!(device.decrypt(&fresh).unwrap() == plain);
        }
    }
    let lie = Arc::new(Mutex::new(None));
    for byte in [8, 15, 40] {
        let lying = || Lying(Shared::new(&COPROC_64), lie.clone());
        let transports: [Box<dyn Transport>; 2] = [Box::new(Shared::new(&COPROC_64)), Box::new(lying())];
        let device = CrtCoproc::new(transports, &private, Trust::Checked).unwrap();
        *lie.lock().unwrap() = Some(byte);
        let error = device.decrypt(&fresh).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::NotAPlaintext | ErrorKind::FailedCheck), "{error}");
        *lie.lock().unwrap() = None;
        assert!(device.decrypt(&fresh).unwrap() == plain);
    }
    // A key of another length.
    let transports: [Box<dyn Transport>; 2] = [Box::new(Shared::new(&COPROC_64)), Box::new(Shared::new(&COPROC_64))];
    let error = CrtCoproc::new(transports, &key(256), Trust::Checked).unwrap_err();
    is(&error, ErrorKind::KeySize { bits: 128, takes: 64 });
}

/// A device used in place of a public key, as by front ends: its results and errors are those of
/// the key itself.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_device_computes_in_the_keys_stead() {
    let private = key(64);
    let public = private.public();
    let device =
        LoadedCoproc::with_public(Box::new(Simulated::new(&COPROC_64).unwrap()), public, Trust::Checked).unwrap();
    let (here, there): (&dyn PublicKeyBackend, &dyn PublicKeyBackend) = (public, &device);
    let (plain, _) = plaintexts(public, &mut Random::new(14), 5);
    let fresh = there.encrypt(&plain).unwrap();
    assert!(private.decrypt(&fresh).unwrap() == plain);
    assert!(private.decrypt(&there.rerandomise(&fresh).unwrap()).unwrap() == plain);
    let scalars = [0, 1, -1, -12345, 1 << 15];
    assert!(there.multiply(&fresh, &scalars, 16).unwrap() == here.multiply(&fresh, &scalars, 16).unwrap());
    let large = [i128::MAX, i128::MIN + 1, 3, -3, 0];
    assert!(there.multiply(&fresh, &large, 127).unwrap() == here.multiply(&fresh, &large, 127).unwrap());
    let groups = [vec![0, 1, 4], vec![2, 3]];
    assert!(there.sum_groups(&fresh, &groups).unwrap() == here.sum_groups(&fresh, &groups).unwrap());
    assert!(there.add(&fresh, &fresh).unwrap() == here.add(&fresh, &fresh).unwrap());
    for wrong in [there.multiply(&fresh, &scalars, 15), there.multiply(&fresh, &scalars[1..], 16)] {
        let Err(ComputeError::Batch(error)) = wrong else { panic!("{wrong:?}") };
        let expected = match error.row() {
            Some(row) => row == 4 && matches!(error.kind(), SchemeErrorKind::ScalarTooLarge { bits: 15 }),
            None => matches!(error.kind(), SchemeErrorKind::Lengths { left: 5, right: 4 }),
        };
        assert!(expected, "{error}");
    }
}

/// A device with an attacker who flips the lowest bit of one byte of each answer, counted from the
/// end of the header.
#[derive(Clone)]
struct Lying(Shared, Arc<Mutex<Option<usize>>>);

impl Transport for Lying {
    fn describe(&self) -> String {
        self.0.describe()
    }

    fn read(&mut self, address: u32) -> Result<u32, Error> {
        self.0.read(address)
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), Error> {
        self.0.write(address, value)
    }

    fn exchange(&mut self, exchange: Exchange<'_>) -> Result<(), Error> {
        let Exchange { input, output, header, input_item, output_item, quiet_cycles } = exchange;
        let exchange = Exchange { input, output: &mut *output, header, input_item, output_item, quiet_cycles };
        self.0.exchange(exchange)?;
        if let Some(byte) = *self.1.lock().unwrap() {
            output[header + byte] ^= 1;
        }
        Ok(())
    }

    fn synchronise(&mut self, marks: Marks<'_>) -> Result<(), Error> {
        self.0.synchronise(marks)
    }
}

/// Results of a lying device are not returned. The device is wiped, and works again after reloading
/// the key.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn no_answer_is_believed() {
    let lie = Arc::new(Mutex::new(None));
    let mut device = Coproc::open(Box::new(Lying(Shared::new(&COPROC_64), lie.clone()))).unwrap();
    for private in [key(64), djn(64)] {
        let public = private.public();
        let mut random = Random::new(4);
        let (plain, _) = plaintexts(public, &mut random, 3);
        let fresh = public.encrypt(&plain).unwrap();
        let one = fresh.range(0..1).unwrap();
        device.load_private_key(&private).unwrap();
        // Once in advance, so that a comb is on the device.
        device.encrypt(&plain).unwrap();
        // The first word of an answer, then the lowest byte of the number and one in the middle, in
        // the second row if there is one.
        let row = 8 + 16;
        for byte in [1, 8, 15] {
            let mut fails = |operation: &mut dyn FnMut(&mut Coproc) -> Option<Error>, byte: usize| {
                *lie.lock().unwrap() = Some(byte);
                let error = operation(&mut device).expect("a lie is found");
                *lie.lock().unwrap() = None;
                let known = [ErrorKind::FailedCheck, ErrorKind::NotAPlaintext, ErrorKind::WrongAnswer];
                assert!(known.iter().any(|kind| format!("{kind:?}") == format!("{:?}", error.kind())), "{error}");
                assert!(!device.has_key());
                device.load_private_key(&private).unwrap();
                device.encrypt(&plain).unwrap();
            };
            fails(&mut |device| device.encrypt(&plain).err(), byte + row);
            fails(&mut |device| device.rerandomise(&fresh).err(), byte + row);
            fails(&mut |device| device.decrypt(&fresh).err(), byte + row);
            // Of few rows, one is recomputed.
            fails(&mut |device| device.add(&one, &one).err(), byte);
            fails(&mut |device| device.multiply(&one, Scalars::Secret(&plain.range(0..1).unwrap())).err(), byte);
            fails(&mut |device| device.sum(&one).err(), byte + row);
        }
    }
}

/// A batch that is interrupted by a reset or by giving up leaves neither groups nor a comb behind,
/// and the next batch is right.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn batches_that_break_off_leave_nothing_behind() {
    for design in [&COPROC_64, &COPROC_64_DUAL] {
        breaks_off(design);
    }
}

fn breaks_off(design: &'static Design) {
    let shared = Shared::new(design);
    let mut device = Coproc::open(Box::new(shared.clone())).unwrap();
    let private = djn(64);
    let public = private.public();
    device.load_private_key(&private).unwrap();
    let (plain, _) = plaintexts(public, &mut Random::new(7), 6);
    let fresh = public.encrypt(&plain).unwrap();
    let groups = vec![vec![0, 1, 2], vec![3, 4, 5], vec![0, 5]];
    for beats in [1, 3, 9] {
        shared.disturb(Fault::GivenUp(beats));
        device.sum_groups(&fresh, &groups).unwrap_err();
        assert!(device.sum_groups(&fresh, &groups).unwrap() == public.sum_groups(&fresh, &groups).unwrap());
        shared.disturb(Fault::Abandoned(40 + beats));
        device.decrypt(&fresh).unwrap_err();
        assert!(private.decrypt(&device.encrypt(&plain).unwrap()).unwrap() == plain);
    }
    shared.disturb(Fault::Reset(3));
    assert_eq!(kept(&shared), [true; 4]);
    is(&device.decrypt(&fresh).unwrap_err(), ErrorKind::WasReset);
    shared.simulated().idle(200);
    assert_eq!(kept(&shared), [false; 4], "a reset leaves neither numbers nor a key");
    is(&device.decrypt(&fresh).unwrap_err(), ErrorKind::NoKey);
    device.load_private_key(&private).unwrap();
    assert!(device.decrypt(&fresh).unwrap() == plain);
}

/// Whether a device with a key of 64 bits holds anything but zeros: in its numbers, its exponents,
/// the key's numbers, which have a memory for each word, and the key's exponents.
fn kept(shared: &Shared) -> Vec<bool> {
    let words = (0..4).map(|word| format!("gen_constant_word[{word}].u_word")).collect();
    let memories = [vec!["u_numbers".into()], vec!["u_exponents".into()], words, vec!["u_key_exponents".into()]];
    let holds = |memory: &String| {
        shared.simulated().memory(&format!("{memory}.word_q")).iter().flatten().any(|&limb| limb != 0)
    };
    memories.map(|parts| parts.iter().any(holds)).to_vec()
}

/// A flush clears the numbers of commands; a wipe also clears those of the key.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn memories_are_cleared() {
    for design in [&COPROC_64, &COPROC_64_DIGIT, &COPROC_64_DUAL] {
        cleared(design);
    }
}

fn cleared(design: &'static Design) {
    let shared = Shared::new(design);
    let mut device = Coproc::open(Box::new(shared.clone())).unwrap();
    let private = key(64);
    device.load_private_key(&private).unwrap();
    let (plain, _) = plaintexts(private.public(), &mut Random::new(7), 3);
    device.encrypt(&plain).unwrap();
    assert_eq!(kept(&shared), [true; 4]);
    shared.simulated().write(CONTROL, FLUSH).unwrap();
    shared.simulated().idle(200);
    assert_eq!(kept(&shared), [false, false, true, true]);
    device.wipe().unwrap();
    shared.simulated().idle(200);
    assert_eq!(kept(&shared), [false; 4]);
}

/// A command in the item format of a device for keys of 64 bits: its first word, x and y.
fn item(word: u64, x: u128, y: u128) -> Vec<u8> {
    [&word.to_le_bytes()[..], &x.to_le_bytes(), &y.to_le_bytes()].concat()
}

/// Requests that a correct driver never makes: an unknown command, an even or short modulus, a key
/// change while commands are in progress.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn what_no_driver_does_is_refused() {
    let shared = Shared::new(&COPROC_64);
    let mut device = Coproc::open(Box::new(shared.clone())).unwrap();
    device.load_key(key(64).public()).unwrap();
    let mut simulated = shared.simulated();
    let mut sequence = 1000;
    let mut codes = |simulated: &mut Simulated, words: &[u64]| -> Vec<u8> {
        sequence += 1;
        let epoch = simulated.read(EPOCH).unwrap();
        let items = words.iter().flat_map(|&word| item(word, 3, 5));
        let packet = [header(epoch, sequence, words.len() as u16), items.collect()].concat();
        simulated.queue(&packet, true, 0);
        let answers = simulated.drain(20_000);
        assert_eq!(answers[0].len(), 8 + 24 * words.len());
        answers[0][8..].chunks(24).map(|answer| answer[0]).collect()
    };
    assert_eq!(codes(&mut simulated, &[1, 0, 12, 255, 1]), [0, 1, 1, 1, 0]);
    // While a power of 128 bits is in progress, the key cannot be changed, and the power is right.
    let epoch = simulated.read(EPOCH).unwrap();
    let packet = [header(epoch, 77, 1), item(2 | 128 << 16, 1, u128::MAX)].concat();
    simulated.queue(&packet, true, 200);
    assert!(simulated.write(MODULUS, 1).is_err());
    assert_eq!(simulated.read(ERROR).unwrap(), LOCKED);
    simulated.write(ERROR, LOCKED).unwrap();
    let answer = simulated.drain(60_000).concat();
    assert_eq!((answer[8], &answer[16..]), (0, &1_u128.to_le_bytes()[..]));
    // Moduli of 64 bits, in two words.
    let loaded = Recorder::session(&COPROC_64, |transport| {
        let mut device = Coproc::open(transport).unwrap();
        let private = key(64);
        device.load_key(private.public()).unwrap();
        device.encrypt(&plaintexts(private.public(), &mut Random::new(7), 1).0).unwrap();
    });
    for (low, high, code) in [(6, 1 << 31, 5), (7, 1 << 30, 6), (7, 1 << 31, 0)] {
        let others = loaded.constants.iter().copied().filter(|(address, _)| ![MODULUS, MODULUS + 4].contains(address));
        let constants: Vec<_> = others.chain([(MODULUS, low), (MODULUS + 4, high)]).collect();
        load(&mut simulated, &constants).unwrap();
        assert_eq!(codes(&mut simulated, &[1]), [code]);
    }
}
