//! Statistical tests that running times do not depend on secret values, for every engine that this
//! machine supports.
//!
//! Each experiment times an operation on two classes of secret input, a fixed special one and
//! random ones, drawn in random order. It compares the classes with Welch's t-test (see
//! `hearith_bench::welch`). The last experiment of each engine is a control: an exponentiation
//! whose time depends on its public exponent by design. If the test does not detect that, its other
//! verdicts are worthless, and the program fails. It also fails if it detects anything else.

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
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

/// Bits of the moduli, and of `n` where a key is used. The width does not affect the conclusions.
const BITS: u32 = 1024;
/// Seconds after which an experiment ends even if calls are left.
const LONGEST: f64 = 8.0;
/// Keys of each class for comparisons of keys, used in turn.
const KEYS: usize = 64;
/// Calls per key that are timed together, since making a key takes longer than a call.
const CALLS: usize = 8;
/// The operation whose classes must be distinguishable.
const CONTROL: &str = "control: pow, public exponent";

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
    let (mut rows_made, mut failures) = (Vec::new(), Vec::new());
    for (engine, rows) in engines().into_iter().flat_map(batches) {
        for mut experiment in experiments(engine, rows)? {
            let name = format!("{engine}, {rows} rows: {}, {}", experiment.operation, experiment.special);
            if options.only.as_ref().is_some_and(|only| !name.contains(only)) {
                continue;
            }
            let (t, made) = measure(&mut experiment.run, calls);
            eprintln!("{name}: {t:.1}");
            rows_made.push([
                experiment.operation.to_owned(),
                experiment.special.to_owned(),
                engine.to_string(),
                rows.to_string(),
                made.to_string(),
                format!("{t:.1}"),
                verdict(t).to_owned(),
            ]);
            match experiment.operation == CONTROL {
                true if t < LEAK => failures.push(format!("{name}: the control was not caught: |t| = {t:.1}")),
                false if t >= LEAK => failures.push(format!("{name}: |t| = {t:.1}")),
                _ => {}
            }
        }
    }
    let place = options.out.join("timing.md");
    let earlier = if options.only.is_some() { earlier(&place)? } else { Vec::new() };
    std::fs::write(place, markdown(&joined(earlier, rows_made)))?;
    if failures.is_empty() { Ok(()) } else { Err(failures.join("; ").into()) }
}

/// The cells of a line of the table.
type Row = [String; 7];

/// The rows of an earlier page, which a partial run extends. They must be from the same machine and
/// day.
fn earlier(place: &Path) -> Result<Vec<Row>> {
    let Ok(page) = std::fs::read_to_string(place) else { return Ok(Vec::new()) };
    if !page.contains(&Machine::here().to_markdown()) {
        return Err(format!("{} is of another machine, compiler or day: measure everything", place.display()).into());
    }
    let lines = page.lines().filter(|line| line.starts_with("| ")).skip(2);
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    lines.map(|line| cells(line).try_into().map_err(|_| format!("not a line of this table: {line}").into())).collect()
}

/// The earlier rows, with new measurements of the same kind replacing them, followed by new rows.
fn joined(mut rows: Vec<Row>, made: Vec<Row>) -> Table {
    for row in made {
        match rows.iter_mut().find(|earlier| earlier[..4] == row[..4]) {
            Some(earlier) => *earlier = row,
            None => rows.push(row),
        }
    }
    let mut table = Table::new(["operation", "special class", "engine", "rows", "calls", "largest t", "verdict"]);
    rows.into_iter().for_each(|row| table.row(row));
    table
}

/// As many rows as an engine has lanes, and a single row, for which an engine may have another
/// kernel.
fn batches(engine: Engine) -> Vec<(Engine, usize)> {
    let mut rows = vec![engine.lanes(), 1];
    rows.dedup();
    rows.into_iter().map(|rows| (engine, rows)).collect()
}

fn verdict(t: f64) -> &'static str {
    if t >= LEAK {
        "distinguishable"
    } else if t >= DOUBT {
        "unclear"
    } else {
        "indistinguishable"
    }
}

/// Times calls of both classes in random order. Returns the largest |t| and the number of calls.
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

/// A batch whose rows are all `fixed` for class 0, and random below `bound` for class 1.
///
/// Both classes are prepared in the same way: a random batch is drawn each time, and a mask selects
/// which of the two is copied to the same place.
struct Input {
    fixed: Batch,
    batch: Batch,
    bound: Integer,
}

impl Input {
    fn new(rows: usize, fixed: &Integer, bound: &Integer, limbs: usize) -> Self {
        let fixed = batch_of(std::iter::repeat_n(fixed, rows), limbs);
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

fn experiments(engine: Engine, rows: usize) -> Result<Vec<Experiment>> {
    let mut all = arithmetic(engine, rows)?;
    all.extend(scheme(engine, rows)?);
    all.extend(keys(engine, rows)?);
    // Always whole vectors, whatever the number of rows.
    if rows == engine.lanes() {
        all.extend(lattice(engine)?);
        all.push(lattice_keys(engine)?);
    }
    all.push(control(engine, rows)?);
    Ok(all)
}

/// Inputs for the exponentiations and products of `hearith-arith`.
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
fn arithmetic(engine: Engine, rows: usize) -> Result<Vec<Experiment>> {
    let m = random_modulus();
    let limbs = m.to_digits::<u64>(Order::Lsf);
    let square = Square::new(engine, &limbs)?;
    let numbers = random_numbers(rows, &m);
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
    let exponents = |fixed: &Integer| Input::new(rows, fixed, &bound, (EXPONENT_BITS / 64) as usize);
    let residues = |fixed: &Integer| Input::new(rows, fixed, &m, limbs.len());
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
        experiment("pow, one exponent per row", "exponent 1", exponents(&one), each),
        experiment("pow, shared exponent", "base 1", residues(&one), of_bases),
        experiment("pow, ladder", "exponent 1", exponents(&one), ladder),
        experiment("dual pow, shared exponent", "exponent 1", exponents(&one), dual),
        experiment("dual pow, shared exponent", "exponent all ones", exponents(&ones), dual),
        experiment("fixed base", "exponent 0", exponents(&zero), comb),
        experiment("fixed base", "exponent all ones", exponents(&ones), comb),
        experiment("fixed base", "one random exponent", exponents(&random_below(&bound)), comb),
        experiment("products", "factor 0", residues(&zero), products),
    ])
}

/// One secret exponent for all rows.
fn shared(exponent: &[u64]) -> Exponents<'_> {
    Exponents::Shared(exponent, EXPONENT_BITS)
}

/// Encryption and decryption of special plaintexts and ciphertexts.
fn scheme(engine: Engine, rows: usize) -> Result<Vec<Experiment>> {
    let mut all = Vec::new();
    for way in [None, Some(Decryption::Standard), Some(Decryption::Crt), Some(Decryption::Ecrt)] {
        let key = key_of(&primes(0)?, engine)?;
        let n_squared = modulus_of(&key).square();
        // The ciphertext 1 holds 0, and all intermediate powers are 1.
        let mut input = Input::new(rows, &Integer::from(1), &n_squared, key.public().ciphertext_bytes() / 8);
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
        let key = key_of(&primes(0)?, engine)?;
        let mut input = Input::new(rows, &Integer::new(), &modulus_of(&key), key.public().plaintext_limbs());
        let operation = if owner { "encrypt, key owner" } else { "encrypt, public key" };
        let run = Box::new(move |class| {
            let plaintexts = plaintexts(&key, input.draw(class));
            time(|| if owner { key.encrypt(&plaintexts) } else { key.public().encrypt(&plaintexts) })
        });
        all.push(Experiment { operation, special: "plaintext 0", run });
    }
    Ok(all)
}

/// Decryption and the key owner's encryption with special keys: primes with few ones compared with
/// random primes, and as a control random primes compared with other random ones.
///
/// The address of a key in memory affects the times, so a few keys at fixed addresses would differ
/// by class whatever their primes. Each measurement therefore creates its key again, and makes one
/// call before the timed ones.
fn keys(engine: Engine, rows: usize) -> Result<Vec<Experiment>> {
    let mut all = Vec::new();
    for (owner, kind, special) in [
        (false, 0, "primes with few ones"),
        (true, 0, "primes with few ones"),
        (false, 1, "other random primes"),
        (true, 1, "other random primes"),
    ] {
        let primes = [kind, 1].map(|kind| (0..KEYS).map(|_| primes(kind)).collect::<Result<Vec<_>>>());
        let [special_primes, random_primes] = primes;
        let primes = [special_primes?, random_primes?];
        let mut turn = 0;
        let run = Box::new(move |class: usize| {
            turn = (turn + 1) % KEYS;
            let key = key_of(&primes[class][turn], engine).expect("primes that made a key before");
            let (plaintexts, ciphertexts) = random_input(&key, rows);
            let call = || {
                if owner {
                    drop(black_box(key.encrypt(&plaintexts)))
                } else {
                    drop(black_box(key.decrypt(&ciphertexts)))
                }
            };
            call();
            time(|| (0..CALLS).for_each(|_| call()))
        });
        let operation = if owner { "encrypt, key owner" } else { "decrypt, dual" };
        all.push(Experiment { operation, special, run });
    }
    Ok(all)
}

/// Encryption, decryption and release of special numbers by the lattice scheme. Its randomness is
/// new each time.
fn lattice(engine: Engine) -> Result<Vec<Experiment>> {
    const WIDTH: u32 = 97;
    let key = Rc::new(hearith_bfv::PrivateKey::generate(hearith_bfv::Set::default(), engine)?);
    // Zeros, or random signed numbers of 64 bits. Both are prepared in the same way, as in `Input`.
    let draw = |class: usize| -> Vec<i128> {
        let mut bytes = vec![0; 8 * hearith_bfv::Set::default().degree()];
        getrandom::fill(&mut bytes).expect("the operating system's random generator");
        let numbers = bytes.as_chunks::<8>().0.iter().map(|bytes| i64::from_le_bytes(*bytes));
        numbers.map(|number| i128::from(number & -(class as i64))).collect()
    };
    let mut all = Vec::new();
    for operation in ["bfv encrypt, public key", "bfv encrypt, key owner", "bfv decrypt", "bfv release"] {
        let key = key.clone();
        let run = Box::new(move |class| {
            let numbers = draw(class);
            let encrypted = || key.encrypt(&numbers, WIDTH).expect("numbers that fit");
            match operation {
                "bfv encrypt, public key" => time(|| key.public().encrypt(&numbers, WIDTH)),
                "bfv encrypt, key owner" => time(encrypted),
                "bfv decrypt" => {
                    let encrypted = encrypted();
                    time(|| key.decrypt(&encrypted))
                }
                _ => {
                    let encrypted = encrypted();
                    time(|| key.public().release(&encrypted))
                }
            }
        });
        all.push(Experiment { operation, special: "numbers 0", run });
    }
    Ok(all)
}

/// Decryption by the lattice scheme with one key compared with others, each created again as in
/// [`keys`].
fn lattice_keys(engine: Engine) -> Result<Experiment> {
    let texts = (0..=KEYS).map(|_| {
        let key = hearith_bfv::PrivateKey::generate(hearith_bfv::Set::default(), engine)?;
        Ok(key.to_text())
    });
    let texts = texts.collect::<Result<Vec<_>>>()?;
    let numbers = vec![1; hearith_bfv::Set::default().degree()];
    let mut turn = 0;
    let run = Box::new(move |class: usize| {
        turn = (turn + 1) % KEYS;
        let text: &str = &texts[class * (1 + turn)];
        let key = hearith_bfv::PrivateKey::from_text(text, engine).expect("a key's text");
        let encrypted = key.encrypt(&numbers, 2).expect("numbers that fit");
        let call = || drop(black_box(key.decrypt(&encrypted)));
        call();
        time(|| (0..CALLS).for_each(|_| call()))
    });
    Ok(Experiment { operation: "bfv decrypt", special: "one key", run })
}

/// Two primes of [`BITS`]` / 2` bits. Kind 0 is just above 3/4 of a power of two and has few ones;
/// kind 1 is random.
fn primes(kind: usize) -> Result<[Vec<u8>; 2]> {
    let half = BITS / 2;
    let prime = || {
        let low = if kind == 0 { random_bits(20) } else { random_bits(half - 2) };
        ((Integer::from(3) << (half - 2)) + low).next_prime()
    };
    // Few numbers have so few ones: occasionally both primes are equal, or one is slightly too
    // long.
    let (p, q) = std::iter::repeat_with(|| (prime(), prime()))
        .find(|(p, q)| p != q && p.significant_bits() == half && q.significant_bits() == half)
        .ok_or("no two primes")?;
    Ok([p, q].map(|prime| to_be(&prime, half as usize / 8)))
}

fn key_of([p, q]: &[Vec<u8>; 2], engine: Engine) -> Result<PrivateKey> {
    Ok(PrivateKey::from_primes(p, q, None, KeyPolicy::AllowInsecure, engine)?)
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
fn random_input(key: &PrivateKey, rows: usize) -> (Plaintexts, Ciphertexts) {
    let n = modulus_of(key);
    let numbers = random_numbers(rows, &n);
    let plaintexts = plaintexts(key, &batch_of(&numbers, key.public().plaintext_limbs()));
    let ciphertexts = key.encrypt(&plaintexts).expect("plaintexts of this key");
    (plaintexts, ciphertexts)
}

/// An exponentiation whose time depends on its public exponent, with lengths that differ by class.
fn control(engine: Engine, rows: usize) -> Result<Experiment> {
    let m = random_modulus();
    let modulus = Modulus::new(engine, &m.to_digits::<u64>(Order::Lsf))?;
    let numbers = random_numbers(rows, &m);
    let bases = batch_of(&numbers, modulus.limbs());
    let bound = Integer::from(1) << EXPONENT_BITS;
    let mut input = Input::new(rows, &Integer::from(1), &bound, (EXPONENT_BITS / 64) as usize);
    let run = Box::new(move |class| {
        let exponent = input.draw(class);
        time(|| modulus.pow(&bases, Exponents::Public(exponent.row(0))))
    });
    Ok(Experiment { operation: CONTROL, special: "exponent 1", run })
}

fn markdown(table: &Table) -> String {
    format!(
        "# Statistical timing tests\n\nMade by `make bench` (`bench/src/bin/timing.rs`).\n\n{}- Method: calls with as many \
         rows as the engine has lanes, and with one row, at {BITS} bits, with a fixed special secret or a random one in \
         random order; Welch's t-test on times cropped at several percentiles (dudect). Compared keys are created again for \
         each measurement, of {CALLS} calls, because their position in memory affects times too; *other random primes* are \
         random in both classes. The largest absolute t decides: from {LEAK} on the classes are distinguishable, below \
         {DOUBT} they are not. The control must be distinguishable.\n\nIndistinguishable times are evidence, not proof.\n\n{}",
        Machine::here().to_markdown(),
        table.to_markdown()
    )
}
