//! A trustee's share of a decryption and its proof (`rtl/election/share_prover.sv`), compared with
//! GMP's powers and the hash that `docs/explanation/threshold.md` describes. The test computes the
//! powers and records the unit's requests for them, with exponent lengths and cycles.

use crate::idle;
use hearith_rtl::SHARE_PROVER;
use hearith_verilated::bench::{Bench, Random};
use rug::{Integer, integer::Order};
use sha2::{Digest, Sha256};

/// Bits of n^2, and bytes.
const N: u32 = 256;
const WIDTH: usize = N as usize / 8;
/// Bits of the longest share that the unit accepts; words of the stored value, and of an answer.
const MOST: u32 = 397;
const WORDS: usize = 15;
const ANSWER_WORDS: usize = 29;
const ELECTION: [u8; 32] = [0x5a; 32];
/// The parameters w, l, i; the contest and the mark.
const COUNTERS: [u32; 3] = [3, 5, 4];
const PLACE: [u32; 2] = [2, 7];
/// Cycles of a power.
const POWER: u64 = 20;

/// The unit, and the test's side of its ports.
struct Unit {
    bench: Bench,
    random: Random,
    n: Integer,
    share_bits: u32,
    generator: Integer,
    /// Words of rho drawn so far.
    drawn: Vec<u32>,
    power: Option<(u64, Integer)>,
    /// Requests for powers: cycle, and stated bits of the exponent.
    powers: Vec<(u64, u64)>,
    cycle: u64,
    said: Vec<u32>,
    done: bool,
}

impl Unit {
    /// Creates a unit for a key with shares of `share_bits` bits.
    fn new(seed: u64, share_bits: u32) -> Self {
        let mut random = Random::new(seed);
        let n = Integer::from(0xd1_u32) << 120_u32 | number(&mut random, 120) | 1_u32;
        let square = n.clone().square();
        let generator = number(&mut random, 300).square() % &square;
        let mut unit = Self {
            bench: Bench::new(SHARE_PROVER.model(), seed),
            random,
            n,
            share_bits,
            generator,
            drawn: Vec::new(),
            power: None,
            powers: Vec::new(),
            cycle: 0,
            said: Vec::new(),
            done: false,
        };
        let [contest, mark] = PLACE.map(Integer::from);
        let [needed, trustees, trustee] = COUNTERS.map(Integer::from);
        let inputs = [
            ("n_i", unit.n.clone()),
            ("generator_i", unit.generator.clone()),
            ("needed_i", needed),
            ("trustees_i", trustees),
            ("trustee_i", trustee),
            ("election_i", Integer::from_digits(&ELECTION, Order::Msf)),
            ("contest_i", contest),
            ("mark_i", mark),
            ("share_bits_i", share_bits.into()),
        ];
        inputs.iter().for_each(|(port, value)| unit.set(port, value));
        unit.bench.model.set("word_ready_i", true);
        unit
    }

    fn set(&mut self, port: &str, value: &Integer) {
        self.bench.model.set_limbs(port, &value.to_digits(Order::Lsf));
    }

    fn get(&self, port: &str) -> Integer {
        Integer::from_digits(&self.bench.model.get(port), Order::Lsf)
    }

    fn square(&self) -> Integer {
        self.n.clone().square()
    }

    /// Steps by a cycle, and serves powers, random words and words of the answer.
    fn step(&mut self) {
        let asked = self.bench.model.bit("power_valid_o") && self.power.is_none();
        self.bench.model.set("power_ready_i", asked);
        let over = matches!(self.power, Some((0, _)));
        self.bench.model.set("power_done_i", over);
        if asked {
            let [base, exponent] = ["power_base_o", "power_exponent_o"].map(|port| self.get(port));
            let bits = self.bench.model.get_u64("power_bits_o");
            assert!(u64::from(exponent.significant_bits()) <= bits, "all of the exponent is raised to");
            self.powers.push((self.cycle, bits));
            self.power = Some((POWER, base.pow_mod(&exponent, &self.square()).unwrap()));
        } else if over {
            let power = self.power.take().unwrap().1;
            self.set("power_i", &power);
        } else if let Some((left, _)) = &mut self.power {
            *left -= 1;
        }
        let word = self.random.next() as u32;
        self.bench.model.set("random_i", u64::from(word));
        if self.bench.model.bit("random_valid_i") && self.bench.model.bit("random_ready_o") {
            self.drawn.push(word);
        }
        if self.bench.model.bit("word_valid_o") {
            self.said.push(self.bench.model.get_u64("word_o") as u32);
        }
        self.bench.step();
        self.cycle += 1;
        self.done = self.bench.model.bit("done_o");
    }

    fn pulse(&mut self, port: &str) {
        self.bench.model.set(port, true);
        self.step();
        self.bench.model.set(port, false);
    }

    /// Loads words. With the required number of words, the unit checks them. Returns whether the
    /// share is kept, and the number of cycles.
    fn load(&mut self, share: &Integer, words: usize) -> (bool, u64) {
        self.pulse("load_i");
        let mut digits = share.to_digits::<u32>(Order::Lsf);
        digits.resize(words, 0);
        self.bench.model.set("load_valid_i", true);
        for word in digits {
            self.bench.model.set("load_word_i", u64::from(word));
            self.step();
        }
        self.bench.model.set("load_valid_i", false);
        let begun = self.cycle;
        let fits = share.significant_bits() <= self.share_bits + 64;
        assert_eq!(self.bench.model.bit("whole_o"), words == WORDS && fits, "{words} words");
        if self.bench.model.bit("whole_o") {
            self.order(true);
        }
        (self.bench.model.bit("kept_o"), self.cycle - begun)
    }

    /// Changes the inputs of a share in every cycle, which is allowed while none is being computed.
    fn change(&mut self) {
        for port in ["c_i", "contest_i", "mark_i", "verifier_i", "check_i"] {
            let kept = self.bench.model.get(port);
            for _ in 0..3 {
                idle::change(&mut self.bench.model, &[port], &mut self.random);
                self.step();
            }
            self.bench.model.set_limbs(port, &kept);
        }
    }

    /// Starts an operation and waits for its end.
    fn order(&mut self, check: bool) {
        self.change();
        self.bench.model.set("check_i", check);
        self.pulse("in_valid_i");
        for _ in 0..20_000 {
            self.step();
            if self.done {
                return;
            }
        }
        panic!("it is never done");
    }

    /// Whether the register of the share is nonzero.
    fn holds_a_share(&mut self) -> bool {
        self.bench.model.peek("share_q", 0).iter().any(|&limb| limb != 0)
    }
}

fn number(random: &mut Random, bits: u32) -> Integer {
    let limbs: Vec<u64> = (0..bits.div_ceil(64)).map(|_| random.next()).collect();
    Integer::from_digits(&limbs, Order::Lsf).keep_bits(bits)
}

fn big_endian(number: &Integer, width: usize) -> Vec<u8> {
    let digits = number.to_digits::<u8>(Order::Msf);
    [vec![0; width - digits.len()], digits].concat()
}

/// The challenge as documented in `docs/explanation/threshold.md`.
fn challenge(n: &Integer, numbers: [&Integer; 6]) -> Integer {
    let election: String = ELECTION.iter().map(|byte| format!("{byte:02x}")).collect();
    let texts = [
        "hearith-proofs 1 share".into(),
        format!("hearith-election 1 share {election}"),
        format!("[{},{}]", PLACE[0], PLACE[1]),
    ];
    let counters: Vec<u8> = COUNTERS.iter().flat_map(|counter| counter.to_be_bytes()).collect();
    let mut parts: Vec<Vec<u8>> = texts.map(String::into_bytes).into();
    parts.extend([big_endian(n, WIDTH / 2), counters]);
    parts.extend(numbers.map(|number| big_endian(number, WIDTH)));
    let hash = parts
        .iter()
        .fold(Sha256::new(), |hash, part| hash.chain_update((part.len() as u64).to_be_bytes()).chain_update(part));
    Integer::from_digits(&hash.finalize(), Order::Msf)
}

/// Shares of `bits` bits, from almost all zeros to all ones, times factorials of up to 62 bits.
fn shares(random: &mut Random, bits: u32) -> [Integer; 5] {
    let ones = (Integer::from(1) << bits) - 1_u32;
    let longest = ones * ((Integer::from(1) << 62_u32) - 1_u32);
    [Integer::from(1), Integer::from(1) << 200_u32, number(random, bits + 50), number(random, 64), longest]
}

/// The shortest and the longest shares, and some with other word boundaries.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn shares_and_their_proofs_are_those_of_the_protocol_in_the_same_time_for_all() {
    for bits in [N, N + 1, 351, 352, MOST] {
        shares_of_bits_are_those_of_the_protocol(bits);
    }
}

fn shares_of_bits_are_those_of_the_protocol(bits: u32) {
    let mut unit = Unit::new(1, bits);
    let square = unit.square();
    let shares = shares(&mut Random::new(2), bits);
    let mut times = Vec::new();
    for (at, share) in shares.iter().enumerate() {
        let verifier = unit.generator.clone().pow_mod(share, &square).unwrap();
        unit.set("verifier_i", &verifier);
        let (kept, checked) = unit.load(share, WORDS);
        assert!(kept);
        let c = if at == 0 { Integer::from(1) } else { number(&mut unit.random, 500) % &square };
        unit.set("c_i", &c);
        (unit.drawn, unit.said, unit.powers) = Default::default();
        unit.bench.model.set("random_valid_i", true);
        let begun = unit.cycle;
        unit.order(false);
        // Cycles of the check and of the share, and the start cycle and length of each power.
        let powers: Vec<_> = unit.powers.iter().map(|(cycle, bits)| (cycle - begun, *bits)).collect();
        times.push((checked, unit.cycle - begun, powers));
        assert_eq!(unit.drawn.len(), ANSWER_WORDS);
        let rho = Integer::from_digits(&unit.drawn, Order::Lsf).keep_bits(bits + 511);
        let power = |base: &Integer, exponent: Integer| base.clone().pow_mod(&exponent, &square).unwrap();
        let number = power(&c, share.clone() * 2_u32);
        let (a, b) = (power(&c, rho.clone() * 4_u32), power(&unit.generator, rho.clone()));
        let e = challenge(&unit.n, [&unit.generator, &verifier, &c, &number, &a, &b]);
        let expected = [number, a, b, rho + e * share];
        let words = unit.said.split_at(3 * WIDTH / 4);
        let said = words.0.chunks(WIDTH / 4).chain([words.1]).map(|words| Integer::from_digits(words, Order::Lsf));
        assert_eq!(said.collect::<Vec<_>>(), expected);
        assert_eq!(words.1.len(), ANSWER_WORDS);
    }
    assert!(times.iter().all(|time| *time == times[0]), "{times:?}");
    assert_eq!(
        times[0].2.iter().map(|power| power.1).collect::<Vec<_>>(),
        [bits + 65, bits + 513, bits + 513].map(u64::from)
    );
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_share_is_forgotten_on_command_at_a_reset_and_when_it_is_wrong() {
    let mut unit = Unit::new(3, N);
    let share = number(&mut unit.random, N + 40);
    let verifier = unit.generator.clone().pow_mod(&share, &unit.square()).unwrap();
    let words = WORDS;
    unit.set("verifier_i", &verifier);
    let forgotten = |unit: &mut Unit| !unit.bench.model.bit("kept_o") && !unit.holds_a_share();
    assert!(forgotten(&mut unit));
    for length in [0, 1, words - 1, words + 1, words + 40] {
        assert!(!unit.load(&Integer::from(1), length.max(1)).0, "{length} words");
    }
    for bit in [0, 31, 32, N + 39] {
        let mut wrong = share.clone();
        wrong.toggle_bit(bit);
        assert!(!unit.load(&wrong, words).0, "bit {bit}");
        assert!(forgotten(&mut unit));
    }
    // The longest values and beyond, with powers in which the excess bits do not show.
    for bit in [N + 63, N + 64, N + 65, N + 95, N + 96, 32 * WORDS as u32 - 1] {
        let long = share.clone() + (Integer::from(1) << bit);
        assert!(!unit.load(&long, words).0, "bit {bit}");
        unit.pulse("forget_i");
    }
    let kept = |unit: &mut Unit| {
        assert!(unit.load(&share, words).0);
        assert!(unit.holds_a_share());
    };
    kept(&mut unit);
    unit.pulse("forget_i");
    assert!(forgotten(&mut unit));
    kept(&mut unit);
    unit.pulse("load_i");
    assert!(forgotten(&mut unit));
    kept(&mut unit);
    unit.bench.reset();
    assert!(forgotten(&mut unit));
    // During a check no words come, and a share that is forgotten stays forgotten.
    for port in ["load_i", "load_valid_i", "forget_i"] {
        kept(&mut unit);
        unit.bench.model.set("check_i", true);
        unit.pulse("in_valid_i");
        while unit.power.is_none() {
            unit.step();
        }
        unit.pulse(port);
        while !unit.bench.model.bit("done_o") {
            unit.step();
        }
        if port == "forget_i" {
            assert!(forgotten(&mut unit));
        } else {
            assert!(unit.bench.model.bit("kept_o"), "{port}");
            // The share is still the right one.
            unit.order(true);
            assert!(unit.bench.model.bit("kept_o"), "{port}");
        }
    }
    // If the operation is aborted while rho is drawn, the share stays for the next one.
    kept(&mut unit);
    unit.bench.model.set("random_valid_i", false);
    unit.bench.model.set("check_i", false);
    unit.pulse("in_valid_i");
    (0..100).for_each(|_| unit.step());
    assert!(unit.bench.model.bit("random_ready_o"));
    unit.pulse("abort_i");
    assert!(unit.bench.model.bit("in_ready_o") && unit.bench.model.bit("kept_o"));
    unit.bench.model.set("random_valid_i", true);
    unit.said.clear();
    unit.order(false);
    assert_eq!(unit.said.len(), 3 * WIDTH / 4 + ANSWER_WORDS);
}
