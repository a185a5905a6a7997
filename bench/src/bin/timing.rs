//! Statistical tests that secret values do not show in running times, for every engine that this machine runs.
//!
//! Each experiment times an operation on two classes of secret input, a fixed special one and random ones, drawn in random
//! order, and compares the classes with Welch's t-test (see `hearith_bench::welch`). The last experiment of each engine is
//! a control: an exponentiation whose time is meant to follow its public exponent. If the test did not catch that, its
//! other verdicts would be worth nothing, and the program fails. It also fails if anything else is caught.

use hearith_arith::{Batch, Engine, Exponents, FixedBase, Modulus, Square};
use hearith_bench::Result;
use hearith_bench::machine::{Machine, engines};
use hearith_bench::number::{random_below, random_bits, to_be};
use hearith_bench::options::Options;
use hearith_bench::report::Table;
use hearith_bench::welch::{DOUBT, LEAK, largest_t};
use hearith_golden::{Decryption, PaperKey};
use hearith_paillier::{Ciphertexts, KeyPolicy, Plaintexts, PrivateKey};
use rug::Integer;
use rug::integer::Order;
use std::hint::black_box;
use std::rc::Rc;
use std::time::Instant;

/// Bits of the moduli, and of `n` where a key is used; the width does not matter to what is shown.
const BITS: u32 = 1024;
/// Seconds after which an experiment ends though calls are left.
const LONGEST: f64 = 20.0;
/// Keys of each class where keys are compared: all are used in turn, so that both classes find them equally cached.
const KEYS: usize = 4;

/// An operation that is timed on inputs of class 0 (special) and 1 (random).
struct Experiment {
    operation: &'static str,
    special: &'static str,
    run: Box<dyn FnMut(usize) -> f64>,
}

fn main() -> Result<()> {
    let options = Options::from_args()?;
    let calls = if options.quick { 500 } else { 20_000 };
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    let mut table = Table::new(["operation", "special class", "engine", "calls", "largest t", "verdict"]);
    let mut failures = Vec::new();
    for engine in engines() {
        for mut experiment in experiments(engine)? {
            let (t, made) = measure(&mut experiment.run, calls);
            table.row([
                experiment.operation.to_owned(),
                experiment.special.to_owned(),
                engine.to_string(),
                made.to_string(),
                format!("{t:.1}"),
                verdict(t).to_owned(),
            ]);
            eprintln!("{engine}: {}, {}: {t:.1}", experiment.operation, experiment.special);
            if t >= LEAK {
                failures.push(format!("{engine}: {}: |t| = {t:.1}", experiment.operation));
            }
        }
        let (t, made) = measure(&mut control(engine)?, calls);
        eprintln!("{engine}: control: {t:.1}");
        table.row([
            "control: pow, public exponent",
            "2^0 beside random",
            engine.name(),
            &made.to_string(),
            &format!("{t:.1}"),
            verdict(t),
        ]);
        if t < LEAK {
            failures.push(format!("{engine}: the control was not caught: |t| = {t:.1}"));
        }
    }
    std::fs::write(options.out.join("timing.md"), markdown(&table))?;
    if failures.is_empty() { Ok(()) } else { Err(failures.join("; ").into()) }
}

fn verdict(t: f64) -> &'static str {
    if t >= LEAK {
        "told apart"
    } else if t >= DOUBT {
        "unclear"
    } else {
        "not told apart"
    }
}

/// Times calls of both classes in random order; returns the largest |t| and how many calls were made.
fn measure(run: &mut dyn FnMut(usize) -> f64, calls: usize) -> (f64, usize) {
    let mut classes = vec![0u8; calls];
    getrandom::fill(&mut classes).expect("the operating system's random generator");
    let mut times = [Vec::with_capacity(calls), Vec::with_capacity(calls)];
    for class in [0, 1].repeat(8) {
        run(class);
    }
    let start = Instant::now();
    for class in classes {
        if start.elapsed().as_secs_f64() > LONGEST {
            break;
        }
        let class = usize::from(class & 1);
        times[class].push(run(class));
    }
    (largest_t(&times), times[0].len() + times[1].len())
}

/// Nanoseconds of one call.
fn time<T>(call: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    black_box(call());
    start.elapsed().as_nanos() as f64
}

/// A batch whose rows are all `fixed` for class 0, random below `bound` for class 1. Both are made alike: a random batch is
/// drawn each time, and one of the two is copied into the same place by a mask.
struct Input {
    fixed: Batch,
    batch: Batch,
    bound: Integer,
}

impl Input {
    fn new(engine: Engine, fixed: &Integer, bound: &Integer, limbs: usize) -> Self {
        let fixed = batch_of(std::iter::repeat_n(fixed, engine.lanes()), limbs);
        Input { batch: fixed.clone(), fixed, bound: bound.clone() }
    }

    fn draw(&mut self, class: usize) -> &Batch {
        let random = batch_of(&random_numbers(self.fixed.len(), &self.bound), self.fixed.limbs());
        let mask = (class as u64).wrapping_neg();
        let both = self.fixed.as_limbs().iter().zip(random.as_limbs());
        for (limb, (&fixed, &random)) in self.batch.as_limbs_mut().iter_mut().zip(both) {
            *limb = fixed & !mask | random & mask;
        }
        &self.batch
    }
}

fn random_numbers(rows: usize, bound: &Integer) -> Vec<Integer> {
    (0..rows).map(|_| random_below(bound)).collect()
}

fn batch_of<'a>(numbers: impl IntoIterator<Item = &'a Integer>, limbs: usize) -> Batch {
    let rows: Vec<Vec<u64>> = numbers.into_iter().map(|number| number.to_digits(Order::Lsf)).collect();
    Batch::from_rows(limbs, rows.iter().map(Vec::as_slice))
}

/// A random odd number of exactly [`BITS`] bits.
fn random_modulus() -> Integer {
    let mut m = random_bits(BITS);
    m.set_bit(BITS - 1, true).set_bit(0, true);
    m
}

fn experiments(engine: Engine) -> Result<Vec<Experiment>> {
    let mut all = arithmetic(engine)?;
    all.extend(scheme(engine)?);
    all.extend(keys(engine)?);
    Ok(all)
}

/// What the exponentiations and products of `hearith-arith` are tried with.
struct Setting {
    modulus: Modulus,
    square: Square,
    comb: FixedBase,
    bases: Batch,
    exponent: Vec<u64>,
}

/// Bits of the exponents.
const EXPONENT_BITS: u32 = BITS / 2;

/// Exponentiations and products of `hearith-arith`.
fn arithmetic(engine: Engine) -> Result<Vec<Experiment>> {
    let m = random_modulus();
    let limbs = m.to_digits::<u64>(Order::Lsf);
    let square = Square::new(engine, &limbs)?;
    let numbers = random_numbers(engine.lanes(), &m);
    let setting = Rc::new(Setting {
        modulus: Modulus::new(engine, &limbs)?,
        comb: FixedBase::new(&square, &numbers[0].to_digits(Order::Lsf), EXPONENT_BITS),
        square,
        bases: batch_of(&numbers, limbs.len()),
        exponent: random_bits(EXPONENT_BITS).to_digits(Order::Lsf),
    });

    let (zero, one) = (Integer::new(), Integer::from(1));
    let bound = Integer::from(1) << EXPONENT_BITS;
    let ones = Integer::from(&bound - 1u32);
    let exponents = |fixed: &Integer| Input::new(engine, fixed, &bound, (EXPONENT_BITS / 64) as usize);
    let residues = |fixed: &Integer| Input::new(engine, fixed, &m, limbs.len());
    let experiment = |operation, special, mut input: Input, call: fn(&Setting, &Batch)| {
        let setting = Rc::clone(&setting);
        let run = Box::new(move |class| {
            let batch = input.draw(class);
            time(|| call(&setting, batch))
        });
        Experiment { operation, special, run }
    };

    let pow = |on: &Setting, input: &Batch| drop(black_box(on.modulus.pow(&on.bases, shared(input.row(0)))));
    let ladder = |on: &Setting, input: &Batch| drop(black_box(on.modulus.pow_ladder(&on.bases, shared(input.row(0)))));
    let dual = |on: &Setting, input: &Batch| drop(black_box(on.square.pow(&on.bases, shared(input.row(0)))));
    let each = |on: &Setting, input: &Batch| {
        drop(black_box(on.modulus.pow(&on.bases, Exponents::Each(input, EXPONENT_BITS))));
    };
    let of_bases = |on: &Setting, input: &Batch| drop(black_box(on.modulus.pow(input, shared(&on.exponent))));
    let comb = |on: &Setting, input: &Batch| drop(black_box(on.comb.pow(input)));
    let products =
        |on: &Setting, input: &Batch| (0..64).for_each(|_| drop(black_box(on.modulus.mul(input, &on.bases))));
    Ok(vec![
        experiment("pow, shared exponent", "exponent 1", exponents(&one), pow),
        experiment("pow, shared exponent", "exponent all ones", exponents(&ones), pow),
        experiment("pow, an exponent a row", "exponent 1", exponents(&one), each),
        experiment("pow, shared exponent", "base 1", residues(&one), of_bases),
        experiment("pow, ladder", "exponent 1", exponents(&one), ladder),
        experiment("dual pow, shared exponent", "exponent 1", exponents(&one), dual),
        experiment("dual pow, shared exponent", "exponent all ones", exponents(&ones), dual),
        experiment("fixed base", "exponent 0", exponents(&zero), comb),
        experiment("products", "factor 0", residues(&zero), products),
    ])
}

/// One secret exponent for all rows.
fn shared(exponent: &[u64]) -> Exponents<'_> {
    Exponents::Shared(exponent, EXPONENT_BITS)
}

/// Encryption and decryption of special plaintexts and ciphertexts.
fn scheme(engine: Engine) -> Result<Vec<Experiment>> {
    let mut all = Vec::new();
    for way in [None, Some(Decryption::Standard), Some(Decryption::Crt), Some(Decryption::Ecrt)] {
        let key = sparse_keys(engine, 0)?;
        let n_squared = modulus_of(&key).square();
        // The ciphertext 1 holds 0, and all powers on the way to it are 1.
        let mut input = Input::new(engine, &Integer::from(1), &n_squared, key.public().ciphertext_bytes() / 8);
        let paper = PaperKey::new(&key)?;
        let operation = match way {
            Some(Decryption::Standard) => "decrypt, standard",
            Some(Decryption::Crt) => "decrypt, crt",
            Some(Decryption::Ecrt) => "decrypt, ecrt",
            None => "decrypt, dual",
        };
        let run = Box::new(move |class| {
            let ciphertexts = ciphertexts(&key, input.draw(class));
            time(|| match way {
                Some(way) => paper.decrypt(way, &ciphertexts),
                None => key.decrypt(&ciphertexts),
            })
        });
        all.push(Experiment { operation, special: "ciphertext 1", run });
    }
    for owner in [false, true] {
        let key = sparse_keys(engine, 0)?;
        let mut input = Input::new(engine, &Integer::new(), &modulus_of(&key), key.public().plaintext_limbs());
        let operation = if owner { "encrypt, key owner" } else { "encrypt, public key" };
        let run = Box::new(move |class| {
            let plaintexts = plaintexts(&key, input.draw(class));
            time(|| if owner { key.encrypt(&plaintexts) } else { key.public().encrypt(&plaintexts) })
        });
        all.push(Experiment { operation, special: "plaintext 0", run });
    }
    Ok(all)
}

/// Decryption and the key owner's encryption with special keys: primes with few ones beside random primes.
fn keys(engine: Engine) -> Result<Vec<Experiment>> {
    let mut all = Vec::new();
    for owner in [false, true] {
        let keys = [0, 1].map(|class| (0..KEYS).map(|_| sparse_keys(engine, class)).collect::<Result<Vec<_>>>());
        let [special, random] = keys;
        let keys = [special?, random?];
        let inputs = keys.each_ref().map(|keys| keys.iter().map(random_input).collect::<Vec<_>>());
        let mut turn = 0;
        let run = Box::new(move |class: usize| {
            turn = (turn + 1) % KEYS;
            let (key, (plaintexts, ciphertexts)) = (&keys[class][turn], &inputs[class][turn]);
            if owner { time(|| key.encrypt(plaintexts)) } else { time(|| key.decrypt(ciphertexts)) }
        });
        let operation = if owner { "encrypt, key owner" } else { "decrypt, dual" };
        all.push(Experiment { operation, special: "primes with few ones", run });
    }
    Ok(all)
}

/// A key of class 0, its primes just above 3/4 of a power of two and so with few ones, or of class 1, random.
fn sparse_keys(engine: Engine, class: usize) -> Result<PrivateKey> {
    let half = BITS / 2;
    let prime = || {
        let low = if class == 0 { random_bits(20) } else { random_bits(half - 2) };
        ((Integer::from(3) << (half - 2)) + low).next_prime()
    };
    let (p, q) = (prime(), prime());
    let [p, q] = [p, q].map(|prime| to_be(&prime, half as usize / 8));
    Ok(PrivateKey::from_primes(&p, &q, None, KeyPolicy::AllowInsecure, engine)?)
}

fn modulus_of(key: &PrivateKey) -> Integer {
    hearith_bench::number::from_be(&key.public().modulus_be())
}

fn ciphertexts(key: &PrivateKey, batch: &Batch) -> Ciphertexts {
    key.public().ciphertexts_from_be(&batch.to_be_bytes(key.public().ciphertext_bytes())).expect("numbers below n^2")
}

fn plaintexts(key: &PrivateKey, batch: &Batch) -> Plaintexts {
    key.public().plaintexts_from_be(&batch.to_be_bytes(key.public().plaintext_bytes())).expect("numbers below n")
}

/// Random plaintexts and their ciphertexts.
fn random_input(key: &PrivateKey) -> (Plaintexts, Ciphertexts) {
    let n = modulus_of(key);
    let numbers = random_numbers(key.public().engine().lanes(), &n);
    let plaintexts = plaintexts(key, &batch_of(&numbers, key.public().plaintext_limbs()));
    let ciphertexts = key.encrypt(&plaintexts).expect("plaintexts of this key");
    (plaintexts, ciphertexts)
}

/// An exponentiation that follows its public exponent, whose lengths differ by class.
fn control(engine: Engine) -> Result<impl FnMut(usize) -> f64> {
    let m = random_modulus();
    let modulus = Modulus::new(engine, &m.to_digits::<u64>(Order::Lsf))?;
    let numbers = random_numbers(engine.lanes(), &m);
    let bases = batch_of(&numbers, modulus.limbs());
    let bound = Integer::from(1) << EXPONENT_BITS;
    let mut input = Input::new(engine, &Integer::from(1), &bound, (EXPONENT_BITS / 64) as usize);
    Ok(move |class| {
        let exponent = input.draw(class);
        time(|| modulus.pow(&bases, Exponents::Public(exponent.row(0))))
    })
}

fn markdown(table: &Table) -> String {
    format!(
        "# Statistical timing tests\n\nMade by `make bench` (`bench/src/bin/timing.rs`).\n\n{}- Method: as many rows a call as the \
         engine has lanes, at {BITS} bits; in random order a fixed special secret or a random one; Welch's t-test on times cropped \
         at several percentiles (dudect). The largest absolute t counts: from {LEAK} on the classes are told apart, below \
         {DOUBT} they are not. The control must be told apart.\n\nNot being told apart is evidence, not proof.\n\n{}",
        Machine::here().to_markdown(),
        table.to_markdown()
    )
}
