//! Keys of the DJN and the subgroup variant compared: `results/variants.md`.
//!
//! Both encrypt with a comb and decrypt in dual numbers, but a subgroup key's exponents are
//! shorter. The predicted gain is the ratio of the products for their exponents, ignoring
//! everything around the powers. Key generation is compared with that of a key of safe primes.
//! HEU's Okamoto-Uchiyama also has short exponents. It is measured in alternation with a subgroup
//! key of the same length, if `HEARITH_PEERS_PYTHON` has it.

use std::fmt::Write;
use std::time::Instant;

use hearith_bench::Result;
use hearith_bench::contestant::{Contestant, Way};
use hearith_bench::heu::Heu;
use hearith_bench::machine::{Machine, engines};
use hearith_bench::options::Options;
use hearith_bench::report::{Table, rate, ratio, spread};
use hearith_bench::statistics::Spread;
use hearith_paillier::encoding::encode_signed;
use hearith_paillier::{Ciphertexts, Engine, KeyPolicy, Plaintexts, PrivateKey, Variant};

/// Rows of a batch: a multiple of every engine's lanes.
const ROWS: usize = 64;
/// Least gains of a subgroup key, by operation and bits.
const GOALS: [(&str, u32, f64); 5] = [
    ("decrypt", 2048, 3.4),
    ("decrypt", 3072, 4.4),
    ("encrypt", 2048, 1.45),
    ("encrypt", 3072, 1.95),
    ("decrypt one number", 2048, 3.0),
];

/// Least gain of a subgroup key of 3072 bits over HEU's Okamoto-Uchiyama.
const HEU: (u32, f64) = (3072, 2.5);

/// A key with its plaintexts and ciphertexts.
struct Side {
    key: PrivateKey,
    plaintexts: Plaintexts,
    ciphertexts: Ciphertexts,
}

impl Side {
    fn new(bits: u32, variant: Variant, engine: Engine) -> Result<Self> {
        let key = PrivateKey::generate(bits, variant, KeyPolicy::AllowInsecure, engine)?;
        let numbers: Vec<i128> = (0..ROWS as i128).map(|row| row * 1_000_003 - 17).collect();
        let plaintexts = encode_signed(key.public(), &numbers)?;
        let ciphertexts = key.public().encrypt(&plaintexts)?;
        assert_eq!(key.decrypt(&ciphertexts)?, plaintexts, "what is measured is right");
        Ok(Self { key, plaintexts, ciphertexts })
    }

    fn run(&self, operation: &str) -> Result<()> {
        match operation {
            "encrypt" => drop(self.key.public().encrypt(&self.plaintexts)?),
            "decrypt" => drop(self.key.decrypt(&self.ciphertexts)?),
            _ => drop(self.key.decrypt(&self.ciphertexts.range(0..1)?)?),
        }
        Ok(())
    }

    /// Seconds of `repeats` calls.
    fn seconds(&self, operation: &str, repeats: usize) -> Result<f64> {
        let start = Instant::now();
        (0..repeats).try_for_each(|_| self.run(operation))?;
        Ok(start.elapsed().as_secs_f64())
    }
}

/// Bits of the generated keys, and how many of each kind: their times vary widely.
const GENERATED: (u32, usize) = (2048, 5);

/// Seconds to generate keys of each kind in alternation: DJN, subgroup, safe primes.
fn generation(bits: u32, rounds: usize) -> Result<[Vec<f64>; 3]> {
    let (engine, policy) = (Engine::best(), KeyPolicy::AllowInsecure);
    let kinds: [&dyn Fn() -> std::result::Result<PrivateKey, hearith_paillier::Error>; 3] = [
        &|| PrivateKey::generate(bits, Variant::Djn, policy, engine),
        &|| PrivateKey::generate(bits, Variant::Subgroup, policy, engine),
        &|| PrivateKey::generate_safe(bits, Variant::Djn, policy, engine),
    ];
    let mut found = [const { Vec::new() }; 3];
    for _ in 0..rounds {
        for (times, generate) in found.iter_mut().zip(kinds) {
            let start = Instant::now();
            generate()?;
            times.push(start.elapsed().as_secs_f64());
        }
    }
    Ok(found)
}

fn main() -> Result<()> {
    let options = Options::from_args()?;
    let sizes = if options.bits.is_empty() { vec![2048, 3072] } else { options.bits.clone() };
    let (seconds, rounds) = if options.quick { (0.02, 3) } else { (0.2, 9) };
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    let mut goals = Table::new(["operation", "bits", "engine", "at least", "measured", "met"]);
    let mut table =
        Table::new(["operation", "bits", "engine", "djn, per second", "subgroup, per second", "times as fast"]);
    for (engine, bits) in engines().into_iter().flat_map(|engine| sizes.iter().map(move |&bits| (engine, bits))) {
        eprintln!("{engine}, {bits} bits");
        let (djn, subgroup) = (Side::new(bits, Variant::Djn, engine)?, Side::new(bits, Variant::Subgroup, engine)?);
        for operation in ["encrypt", "decrypt", "decrypt one number"] {
            let rows = if operation == "decrypt one number" { 1 } else { ROWS };
            let (ours, theirs) = measure(&subgroup, &djn, operation, seconds, rounds)?;
            let gain = Spread::of_ratios(&theirs, &ours);
            let (name, bits_text) = (engine.to_string(), bits.to_string());
            let per_second = |times: &[f64]| rate(rows as f64 / Spread::of(times.iter().copied()).median);
            table.row([operation, &bits_text, &name, &per_second(&theirs), &per_second(&ours), &spread(gain)]);
            let goal = GOALS.iter().find(|(what, size, _)| *what == operation && *size == bits);
            if let Some((_, _, least)) = goal.filter(|_| engine != Engine::Serial) {
                let met = if gain.median >= *least { "yes" } else { "no" };
                goals.row([operation, &bits_text, &name, &ratio(*least), &spread(gain), met]);
            }
        }
    }
    let heu = match Heu::new("OU", HEU.0) {
        Ok(mut heu) => beside_heu(&mut heu, seconds, rounds)?,
        Err(error) => format!("Not measured: {error}.\n"),
    };
    let (bits, keys) = if options.quick { (1024, 1) } else { GENERATED };
    let [djn, subgroup, safe] = generation(bits, keys)?;
    let mut made = Table::new(["primes", "bits", "seconds per key", "at most safe primes'"]);
    for (name, times) in [("djn", &djn), ("subgroup", &subgroup), ("safe primes", &safe)] {
        let spread_of = Spread::of(times.iter().copied());
        let met = if spread_of.median <= Spread::of(safe.iter().copied()).median { "yes" } else { "no" };
        made.row([name, &bits.to_string(), &spread(spread_of), met]);
    }
    let mut text = String::from(
        "# Subgroup keys compared with DJN keys\n\nMade by `make bench-variants` (`bench/src/bin/variants.rs`).\n\n",
    );
    text += &Machine::here().to_markdown();
    write!(
        text,
        "- Method: one thread; batches of {ROWS} rows, and one row; {rounds} rounds of both keys in alternation. A ratio is \
         the median of the rounds' ratios, with the lowest and highest in brackets.\n\n## Goals\n\n{}\n## Figures\n\n{}\n\
         ## Compared with HEU's Okamoto-Uchiyama\n\n{heu}\n## Generating a key\n\nMedian of {keys} keys of each kind, \
         generated in alternation, with the lowest and highest in brackets. A key for trustees needs safe primes.\n\n{}",
        goals.to_markdown(),
        table.to_markdown(),
        made.to_markdown()
    )?;
    std::fs::write(options.out.join("variants.md"), text)?;
    Ok(())
}

/// A table of HEU's Okamoto-Uchiyama and a subgroup key of the same length, measured in
/// alternation.
fn beside_heu(heu: &mut Heu, seconds: f64, rounds: usize) -> Result<String> {
    let (bits, goal) = HEU;
    let ours = Side::new(bits, Variant::Subgroup, Engine::best())?;
    let mut table =
        Table::new(["operation", "HEU, per second", "subgroup, per second", "times as fast", "at least", "met"]);
    for (operation, way) in [("encrypt", Way::EncryptDjn), ("decrypt", Way::DecryptCrt)] {
        ours.run(operation)?;
        let repeats = (seconds / ours.seconds(operation, 1)?).ceil().max(1.0) as usize;
        let theirs_once = heu.run(way, ROWS, 1)?;
        let their_repeats = (seconds / theirs_once).ceil().max(1.0) as usize;
        let (mut here, mut there) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            here.push(ours.seconds(operation, repeats)? / repeats as f64);
            there.push(heu.run(way, ROWS, their_repeats)? / their_repeats as f64);
        }
        let gain = Spread::of_ratios(&there, &here);
        let per_second = |times: &[f64]| rate(ROWS as f64 / Spread::of(times.iter().copied()).median);
        let (least, met) = match operation {
            "decrypt" => (ratio(goal), if gain.median >= goal { "yes" } else { "no" }),
            _ => ("-".into(), "-"),
        };
        table.row([operation, &per_second(&there), &per_second(&here), &spread(gain), &least, met]);
    }
    Ok(format!(
        "{}, keys of {bits} bits, engine {}. A single plaintext overflow leaks an Okamoto-Uchiyama key.\n\n{}",
        heu.versions(),
        Engine::best(),
        table.to_markdown()
    ))
}

/// Seconds of a call in each round, for the first key and for the second.
fn measure(one: &Side, other: &Side, operation: &str, seconds: f64, rounds: usize) -> Result<(Vec<f64>, Vec<f64>)> {
    let repeats = |side: &Side| -> Result<usize> {
        side.run(operation)?;
        Ok((seconds / side.seconds(operation, 1)?).ceil().clamp(1.0, 1e5) as usize)
    };
    let (first, second) = (repeats(one)?, repeats(other)?);
    let mut found = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        found.0.push(one.seconds(operation, first)? / first as f64);
        found.1.push(other.seconds(operation, second)? / second as f64);
    }
    Ok(found)
}
