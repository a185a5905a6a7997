//! The two boards of the ballot machine together (`rtl/election`), for n of 256 bits: votes enter over a serial line, ballots cross the peripheral interface, and the
//! totals come out right, over wires with noise, with resets and power failures at random. Ciphertexts, products and totals are compared with GMP.

mod flash;

use std::collections::HashMap;

use flash::Flash;
use hearith_rtl::{ENCRYPTOR_BOARD, TALLY_BOARD, TERMINAL};
use hearith_verilated::bench::{Bench, Random, Sink, Source};
use rug::{Integer, integer::Order};
use sha2::{Digest, Sha256};

const CANDIDATES: usize = 2;
/// Words of n^2, of an exponent, and of a ballot.
const C_WORDS: usize = 16;
const A_WORDS: usize = 4;
const BODY: usize = 2 + CANDIDATES * C_WORDS;

const RECEIPT: u64 = 1;
const STORED: u64 = 2;
const OPENED: u64 = 3;
const REFUSED: u64 = 4;

/// A Paillier key, for tests alone.
struct Key {
    n: Integer,
    square: Integer,
    base: Integer,
    /// lambda (1 / lambda mod n).
    exponent: Integer,
}

impl Key {
    fn new() -> Self {
        let p = ((Integer::from(1) << 127_u32) + 12_345_678_u64).next_prime();
        let q = ((Integer::from(1) << 128_u32) - 987_654_321_u64).next_prime();
        assert_eq!(q.significant_bits(), 128);
        let n = p.clone() * &q;
        let square = n.clone() * &n;
        let lambda = (p - 1_u32).lcm(&(q - 1_u32));
        let inverse = lambda.clone().invert(&n).expect("lambda is a unit");
        let base = Integer::from(123_456_789_u64).pow_mod(&(n.clone() * 2_u32), &square).expect("n is not negative");
        Self { n, square, base, exponent: lambda * inverse }
    }

    /// What the boards are given.
    fn ports(&self) -> HashMap<&'static str, Integer> {
        let m = &self.square;
        let r = Integer::from(1) << 544_u32;
        let digit = Integer::from(1) << 32_u32;
        let inverse = digit.clone() - m.clone().invert(&digit).expect("n^2 is odd");
        let power = |k: u32| rug::ops::Pow::pow(r.clone(), k) % m;
        [
            ("modulus_i", m.clone()),
            ("inverse_i", inverse),
            ("enter_i", power(2)),
            ("cube_i", power(3)),
            ("zero_i", power(1)),
            ("unit_i", power(1)),
            ("one_i", power(1) * (self.n.clone() + 1_u32) % m),
            ("base_i", self.base.clone()),
            ("exponent_i", self.exponent.clone()),
        ]
        .into()
    }

    fn encrypt(&self, mark: u64, exponent: &Integer) -> Integer {
        let power = self.base.clone().pow_mod(exponent, &self.square).expect("an exponent");
        (self.n.clone() * mark + 1_u32) * power % &self.square
    }

    /// The plaintext of what the tally board gave.
    fn plaintext(&self, power: &Integer) -> Integer {
        assert_eq!(power.clone() % &self.n, 1);
        (power.clone() - 1_u32) / &self.n
    }
}

fn number(words: &[u64]) -> Integer {
    let words: Vec<u32> = words.iter().map(|&word| word as u32).collect();
    Integer::from_digits(&words, Order::Lsf)
}

/// The end of a board's line that the test holds.
struct Terminal {
    bench: Bench,
    source: Source,
    sink: Sink,
    taken: usize,
    tag: u64,
}

impl Terminal {
    fn new(seed: u64) -> Self {
        let mut bench = Bench::new(TERMINAL.model(), seed);
        let source = bench.source("in_valid_i", "in_ready_o", &["in_data_i", "in_last_i"]);
        let sink = bench.sink("out_valid_o", "out_ready_i", &["out_data_o", "out_last_o"]);
        bench.model.set("tag_i", 0x4000 + seed);
        bench.model.set("rx_i", true);
        Self { bench, source, sink, taken: 0, tag: 0x4000 + seed }
    }

    fn say(&mut self, words: &[u64]) {
        for (at, &word) in words.iter().enumerate() {
            self.bench.push(self.source, &[&[word], &[u64::from(at + 1 == words.len())]]);
        }
    }

    fn reset(&mut self) {
        self.tag += 1;
        self.bench.reset();
        self.bench.model.set("tag_i", self.tag);
        self.taken = 0;
    }

    /// The next message, once it is whole.
    fn hear(&mut self) -> Option<Vec<u64>> {
        let items = &self.bench.received(self.sink)[self.taken..];
        let end = items.iter().position(|item| item.fields[1] == [1])?;
        let words = items[..=end].iter().map(|item| item.fields[0][0]).collect();
        self.taken += end + 1;
        Some(words)
    }
}

/// Both boards, their terminals, the memory, the wires between.
struct Machine {
    key: Key,
    encryptor: Bench,
    tally: Bench,
    flash: Flash,
    booth: Terminal,
    office: Terminal,
    random: Random,
    /// Bits of the wires that are wrong, of 2^32.
    rate: u64,
    wrong: [bool; 6],
    stuck: bool,
    cycle: u64,
    tags: u64,
    faults: u32,
}

impl Machine {
    fn new(seed: u64, rate: f64) -> Self {
        let mut machine = Self {
            key: Key::new(),
            encryptor: Bench::new(ENCRYPTOR_BOARD.model(), seed),
            tally: Bench::new(TALLY_BOARD.model(), seed),
            flash: Flash::new(4096, seed),
            booth: Terminal::new(100 + seed),
            office: Terminal::new(200 + seed),
            random: Random::new(seed),
            rate: (rate * 2_f64.powi(32)) as u64,
            wrong: [false; 6],
            stuck: false,
            cycle: 0,
            tags: 1,
            faults: 0,
        };
        let contests = [("candidates_i", 0x0202), ("most_i", 0x0201), ("least_i", 0x0001)];
        contests.into_iter().for_each(|(port, limits)| machine.encryptor.model.set(port, limits));
        for (port, value) in machine.key.ports() {
            for board in [&mut machine.encryptor, &mut machine.tally] {
                if board.model.design().ports().iter().any(|one| one.name == port) {
                    board.model.set_limbs(port, &value.to_digits(Order::Lsf));
                }
            }
        }
        machine.encryptor.model.set("tag_i", 1_u64);
        machine.tally.model.set("tag_i", 0x8001_u64);
        machine
    }

    fn step(&mut self) {
        if self.rate > 0 && self.cycle.is_multiple_of(8) {
            let (random, rate) = (&mut self.random, self.rate);
            self.wrong = std::array::from_fn(|_| random.next() >> 32 < rate);
        }
        let bit = |bench: &Bench, port: &str| bench.model.bit(port);
        let wires = [
            bit(&self.booth.bench, "tx_o"),
            bit(&self.encryptor, "tx_o"),
            bit(&self.office.bench, "tx_o"),
            bit(&self.tally, "tx_o"),
            bit(&self.encryptor, "copi_o"),
            bit(&self.tally, "cipo_o"),
        ];
        let [to_encryptor, to_booth, to_tally, to_office, copi, cipo]: [bool; 6] =
            std::array::from_fn(|at| wires[at] ^ self.wrong[at]);
        let (sck, cs) = (bit(&self.encryptor, "sck_o"), bit(&self.encryptor, "cs_no"));
        let flash = ["flash_cs_no", "flash_sck_o", "flash_copi_o"].map(|port| bit(&self.encryptor, port));
        let flash = self.flash.step(flash[0], flash[1], flash[2]);
        let noise = !self.stuck && self.random.next() & 1 == 1;
        let inputs = [
            ("rx_i", to_encryptor),
            ("cipo_i", cipo),
            ("flash_cipo_i", flash),
            ("noise_i", noise),
            ("noise_valid_i", true),
        ];
        inputs.into_iter().for_each(|(port, level)| self.encryptor.model.set(port, level));
        let inputs = [("rx_i", to_tally), ("copi_i", copi), ("sck_i", sck), ("cs_ni", cs)];
        inputs.into_iter().for_each(|(port, level)| self.tally.model.set(port, level));
        self.booth.bench.model.set("rx_i", to_booth);
        self.office.bench.model.set("rx_i", to_office);
        for bench in [&mut self.encryptor, &mut self.tally, &mut self.booth.bench, &mut self.office.bench] {
            bench.step();
        }
        self.faults += u32::from(bit(&self.encryptor, "fault_o")) + u32::from(bit(&self.tally, "fault_o"));
        self.cycle += 1;
    }

    /// The encryptor board's power fails, and its memory's; or it alone is reset.
    fn reset_encryptor(&mut self, power: bool) {
        if power {
            self.flash.fail();
        }
        self.tags += 1;
        self.encryptor.reset();
        self.encryptor.model.set("tag_i", self.tags);
    }

    fn reset_tally(&mut self) {
        self.tags += 1;
        self.tally.reset();
        self.tally.model.set("tag_i", 0x8000 + self.tags);
    }

    /// What the encryptor board says within so many cycles.
    fn answer(&mut self, limit: u64) -> Option<Vec<u64>> {
        for _ in 0..limit {
            self.step();
            if let Some(words) = self.booth.hear() {
                return Some(words);
            }
        }
        None
    }

    fn ask(&mut self, words: &[u64]) -> Vec<u64> {
        self.booth.say(words);
        self.answer(2_000_000).expect("an answer of the encryptor board")
    }

    /// A vote up to its receipt.
    fn prepare(&mut self, id: u64, voter: u64, contest: u64, choices: &[u64]) -> Vec<u64> {
        let message = [&[(choices.len() as u64) << 16 | contest, id, voter], choices].concat();
        self.ask(&message)
    }

    fn cast(&mut self, id: u64, voter: u64, contest: u64, choices: &[u64]) {
        let receipt = self.prepare(id, voter, contest, choices);
        assert_eq!((&receipt[..2], receipt.len()), (&[RECEIPT, id][..], 10));
        assert_eq!(self.ask(&[0, id]), [STORED, id]);
    }

    /// What the tally board says.
    fn office(&mut self, words: &[u64]) -> Vec<u64> {
        self.office.say(words);
        for _ in 0..4_000_000 {
            self.step();
            if let Some(answer) = self.office.hear() {
                return answer;
            }
        }
        panic!("the tally board says nothing");
    }

    /// Waits until so many ballots are counted.
    fn wait_for(&mut self, ballots: u64) {
        for _ in 0..60 {
            if self.office(&[0]) == [0, ballots] {
                return;
            }
            (0..20_000).for_each(|_| self.step());
        }
        panic!("{:?} and not {ballots} ballots were counted", self.office(&[0]));
    }

    /// The total of a mark, decrypted.
    fn total(&mut self, contest: u64, mark: u64) -> Integer {
        let answer = self.office(&[2, contest, mark]);
        assert_eq!((&answer[..3], answer.len()), (&[2, contest, mark][..], 3 + C_WORDS));
        self.key.plaintext(&number(&answer[3..]))
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn votes_are_counted_challenged_and_refused() {
    let mut machine = Machine::new(1, 1e-5);
    machine.cast(7, 2, 0, &[1]);
    // A second vote of the voter, a voter that there is not, a candidate that there is not.
    for (id, voter, contest, choices, code) in [(8, 2, 0, 0, 8), (9, 6, 0, 0, 2), (10, 3, 0, 2, 6), (11, 3, 5, 0, 3)] {
        assert_eq!(machine.prepare(id, voter, contest, &[choices]), [code << 16 | REFUSED, id]);
    }
    // A challenged ballot is what its receipt said, encrypts what the voter chose, and does not count.
    let receipt = machine.prepare(12, 4, 1, &[1]);
    let opened = machine.ask(&[1, 12]);
    assert_eq!((&opened[..3], opened.len()), (&[OPENED, 12, 0b10][..], 3 + CANDIDATES * A_WORDS + BODY));
    let (exponents, ballot) = opened[3..].split_at(CANDIDATES * A_WORDS);
    assert_eq!(ballot[..2], [4, 1]);
    for mark in 0..CANDIDATES {
        let exponent = number(&exponents[mark * A_WORDS..][..A_WORDS]);
        assert!(exponent.significant_bits() > 90, "random");
        let expected = machine.key.encrypt((mark == 1).into(), &exponent);
        assert_eq!(number(&ballot[2 + mark * C_WORDS..][..C_WORDS]), expected);
    }
    let hashed = [&[1 << 24 | 4], ballot].concat();
    let digest = Sha256::digest(hashed.iter().flat_map(|&word| (word as u32).to_be_bytes()).collect::<Vec<u8>>());
    assert!(receipt[2..].iter().flat_map(|&word| (word as u32).to_be_bytes()).eq(digest));
    // A terminal that says neither has its ballot dropped, and may begin again.
    machine.prepare(13, 4, 1, &[0]);
    assert_eq!(machine.ask(&[2, 13]), [1 << 16 | REFUSED, 13]);
    machine.cast(14, 4, 1, &[0, 1]);
    machine.wait_for(2);
    // The tally board loses everything, and gets it again.
    machine.reset_tally();
    machine.wait_for(2);
    let totals = [(0, 1), (1, 0), (1, 1)].map(|(contest, mark)| machine.total(contest, mark));
    assert_eq!(totals, [1, 1, 1]);
    assert_eq!(machine.office(&[2, 2, 0]), [3]);
    assert_eq!(machine.office(&[4]), [3]);
    // A source that is stuck: the machine refuses to encrypt, and says so.
    machine.stuck = true;
    (0..200).for_each(|_| machine.step());
    assert!(machine.encryptor.model.bit("noise_failed_o"));
    assert_eq!(machine.prepare(15, 5, 0, &[0]), [9 << 16 | REFUSED, 15]);
    assert_eq!(machine.flash.programs, 2);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn units_that_differ_encrypt_nothing() {
    let mut machine = Machine::new(2, 0.0);
    machine.booth.say(&[1 << 16, 3, 1, 0]);
    // In the middle of the power a bit of one unit's exponent turns over.
    let path = "u_twin.u_second.exponent_q";
    while machine.encryptor.model.peek(path, 0) == [0, 0] {
        machine.step();
        assert!(machine.cycle < 100_000);
    }
    let mut exponent = machine.encryptor.model.peek(path, 0);
    exponent[1] ^= 1 << 17;
    machine.encryptor.model.poke(path, 0, &exponent);
    assert_eq!(machine.answer(2_000_000), Some(vec![10 << 16 | REFUSED, 3]));
    machine.cast(4, 1, 0, &[0]);
    machine.wait_for(1);
}

/// An election in which any board may be reset, or lose its power, at any time, and wires are noisy; terminals that got no answer begin again.
fn holds(voters: u64, rate: f64, every: u64, seed: u64) {
    let mut machine = Machine::new(seed, rate);
    let mut random = Random::new(seed);
    let mut votes = [0_u64; 2];
    let mut resets = 0;
    for voter in 0..voters {
        let choice = random.below(2);
        let id = 50 + voter;
        let vote = [1 << 16, id, voter, choice];
        machine.booth.say(&vote);
        loop {
            let limit = random.below(every);
            match machine.answer(limit).as_deref() {
                Some([RECEIPT, told, ..]) if *told == id => machine.booth.say(&[0, id]),
                Some([STORED, told]) if *told == id => break,
                // It was stored, and the answer lost.
                Some([code, told]) if *code == 8 << 16 | REFUSED && *told == id => break,
                // The decision of a ballot that was lost: no vote, so it begins again.
                Some([code, _]) if *code & 0xffff == REFUSED => machine.booth.say(&vote),
                Some(_) => (),
                None => {
                    resets += 1;
                    match random.below(3) {
                        0 => machine.reset_tally(),
                        1 => machine.reset_encryptor(true),
                        _ => machine.reset_encryptor(false),
                    }
                    // The terminal's end as well, so that it begins with its vote again.
                    machine.booth.reset();
                    machine.booth.say(&vote);
                }
            }
        }
        votes[choice as usize] += 1;
    }
    machine.rate /= 8;
    machine.wait_for(voters);
    assert_eq!([0, 1].map(|mark| machine.total(0, mark)), votes, "{resets} resets");
    assert!(resets > 0);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn an_election_survives_resets_and_noise() {
    holds(2, 1e-4, 900_000, 7);
}

#[test]
#[ignore = "a long test: minutes of simulation"]
fn elections_survive_resets_and_noise() {
    for (seed, rate) in [(8, 1e-6), (9, 1e-4), (10, 3e-4)] {
        holds(6, rate, 1_200_000, seed);
    }
}
