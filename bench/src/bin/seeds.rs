//! The papers' hardware (\[HDSST25\], \[CWCGLTZ24\], \[RZ25\], \[GTG24\]) compared with this
//! machine: their printed figures, and ours on one core and on all.

use hearith_arith::{Batch, Exponents, Modulus};
use hearith_bench::Result;
use hearith_bench::machine::Machine;
use hearith_bench::number::{from_limbs, random_bits, to_be};
use hearith_bench::options::Options;
use hearith_bench::report::{Table, rate, ratio};
use hearith_bench::statistics::Spread;
use hearith_paillier::{Ciphertexts, Engine, KeyPolicy, Plaintexts, PrivateKey, PublicKey, Variant};
use rayon::ThreadPool;
use rug::integer::Order;
use std::hint::black_box;
use std::time::Instant;

/// Rows of a batch: enough for all lanes on all cores of a large machine.
const ROWS: usize = 512;

/// A figure of a paper.
struct Figure {
    paper: &'static str,
    what: &'static str,
    per_second: f64,
    work: Work,
}

/// The operation, with its size in bits.
enum Work {
    Decryption(u32),
    Encryption(u32),
    Multiplication(u32),
    Exponentiation(u32),
}

const FIGURES: [Figure; 8] = [
    Figure {
        paper: "MESA (eCRT-Paillier accelerator)",
        what: "decryption, n of 1024 bits",
        per_second: 13_333.0,
        work: Work::Decryption(1024),
    },
    Figure {
        paper: "MESA (eCRT-Paillier accelerator)",
        what: "decryption, n of 2048 bits",
        per_second: 1_733.0,
        work: Work::Decryption(2048),
    },
    Figure {
        paper: "Che et al. (as MESA cites them)",
        what: "decryption, n of 1024 bits",
        per_second: 7_042.0,
        work: Work::Decryption(1024),
    },
    Figure {
        paper: "Che et al. (as MESA cites them)",
        what: "decryption, n of 2048 bits",
        per_second: 1_488.0,
        work: Work::Decryption(2048),
    },
    Figure {
        paper: "Software/hardware co-design",
        what: "encryption, n of 512 bits",
        per_second: 3_649.0,
        work: Work::Encryption(512),
    },
    Figure {
        paper: "Software/hardware co-design",
        what: "Montgomery multiplication, 1024 bits",
        per_second: 1_875_800.0,
        work: Work::Multiplication(1024),
    },
    Figure {
        paper: "Software/hardware co-design",
        what: "modular exponentiation, 1024 bits",
        per_second: 1_498.0,
        work: Work::Exponentiation(1024),
    },
    Figure {
        paper: "Block-stream election board",
        what: "encryption, n of 2048 bits",
        per_second: 3.7,
        work: Work::Encryption(2048),
    },
];

/// A batch of work, ready to be repeated.
type Task = Box<dyn Fn() -> Result<()> + Send + Sync>;

fn main() -> Result<()> {
    let options = Options::from_args()?;
    let seconds = if options.quick { 0.02 } else { 1.0 };
    let machine = Machine::here();
    let pool = |threads: usize| rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let (one, all) = (pool(1)?, pool(machine.threads)?);
    let engine = Engine::best();

    let all_cores = format!("ours, {} threads", machine.threads);
    let headings = ["paper", "what", "paper, per second", "ours, one thread", &all_cores, "one thread / paper"];
    let mut table = Table::new(headings);
    for figure in &FIGURES {
        eprintln!("{}: {}", figure.paper, figure.what);
        let task = figure.work.prepare(engine)?;
        let (single, every) = (per_second(&one, &task, seconds)?, per_second(&all, &task, seconds)?);
        let cells = [figure.what.into(), rate(figure.per_second), rate(single), rate(every)];
        table.row(std::iter::once(figure.paper.to_owned()).chain(cells).chain([ratio(single / figure.per_second)]));
    }
    let text = format!(
        "# The papers' hardware compared with this machine\n\nMade by `make bench` (`bench/src/bin/seeds.rs`).\n\n{}- Engine: \
         {engine}\n- Method: batches of {ROWS} rows, the median of five samples of at least {seconds} s. Encryption uses the \
         public key and computes `r^n` in full. The exponentiation has a secret exponent of full length and runs in constant \
         time.\n\n{}",
        machine.to_markdown(),
        table.to_markdown()
    );
    std::fs::write(options.out.join("seeds.md"), text)?;
    Ok(())
}

/// Rows per second: the median of five samples.
fn per_second(pool: &ThreadPool, task: &Task, seconds: f64) -> Result<f64> {
    let sample = || -> std::result::Result<f64, String> {
        let start = Instant::now();
        let mut rows = 0;
        while rows == 0 || start.elapsed().as_secs_f64() < seconds {
            task().map_err(|error| error.to_string())?;
            rows += ROWS;
        }
        Ok(rows as f64 / start.elapsed().as_secs_f64())
    };
    let samples: Vec<f64> = (0..5).map(|_| pool.install(sample)).collect::<std::result::Result<_, _>>()?;
    Ok(Spread::of(samples).median)
}

impl Work {
    /// Draws keys and numbers, and checks the result once if a check is available.
    fn prepare(&self, engine: Engine) -> Result<Task> {
        match *self {
            Work::Decryption(bits) => {
                let key = PrivateKey::generate(bits, Variant::Standard, KeyPolicy::AllowInsecure, engine)?;
                let plaintexts = random_plaintexts(key.public())?;
                let ciphertexts: Ciphertexts = key.encrypt(&plaintexts)?;
                check(key.decrypt(&ciphertexts)?.batch() == plaintexts.batch())?;
                Ok(Box::new(move || {
                    black_box(key.decrypt(&ciphertexts)?);
                    Ok(())
                }))
            }
            Work::Encryption(bits) => {
                let key = PrivateKey::generate(bits, Variant::Standard, KeyPolicy::AllowInsecure, engine)?;
                let plaintexts = random_plaintexts(key.public())?;
                check(key.decrypt(&key.public().encrypt(&plaintexts)?)?.batch() == plaintexts.batch())?;
                let public = key.public().clone();
                Ok(Box::new(move || {
                    black_box(public.encrypt(&plaintexts)?);
                    Ok(())
                }))
            }
            Work::Multiplication(bits) => {
                let (modulus, numbers) = modulus_and_numbers(bits, engine)?;
                let factor = modulus.factor(numbers.row(0));
                let [m, a, b] = [modulus.as_limbs(), numbers.row(0), numbers.row(1)].map(from_limbs);
                check(from_limbs(modulus.mul_by(&numbers, &factor).row(1)) == a * b % m)?;
                Ok(Box::new(move || {
                    black_box(modulus.mul_by(&numbers, &factor));
                    Ok(())
                }))
            }
            Work::Exponentiation(bits) => {
                let (modulus, numbers) = modulus_and_numbers(bits, engine)?;
                let exponent = numbers.row(0).to_vec();
                let [m, a, b] = [modulus.as_limbs(), numbers.row(0), numbers.row(1)].map(from_limbs);
                let power = modulus.pow(&numbers, Exponents::Shared(&exponent, bits));
                check(b.pow_mod(&a, &m).is_ok_and(|expected| from_limbs(power.row(1)) == expected))?;
                Ok(Box::new(move || {
                    black_box(modulus.pow(&numbers, Exponents::Shared(&exponent, bits)));
                    Ok(())
                }))
            }
        }
    }
}

fn check(right: bool) -> Result<()> {
    if right { Ok(()) } else { Err("wrong result".into()) }
}

/// A batch of random plaintexts.
fn random_plaintexts(key: &PublicKey) -> Result<Plaintexts> {
    let bytes: Vec<u8> = (0..ROWS).flat_map(|_| to_be(&random_bits(key.bits() - 1), key.plaintext_bytes())).collect();
    Ok(key.plaintexts_from_be(&bytes)?)
}

/// A random odd modulus of exactly `bits` bits and a batch of residues.
fn modulus_and_numbers(bits: u32, engine: Engine) -> Result<(Modulus, Batch)> {
    let mut m = random_bits(bits);
    m.set_bit(bits - 1, true).set_bit(0, true);
    let modulus = Modulus::new(engine, &m.to_digits::<u64>(Order::Lsf))?;
    let rows: Vec<Vec<u64>> = (0..ROWS).map(|_| random_bits(bits - 1).to_digits(Order::Lsf)).collect();
    let numbers = Batch::from_rows(modulus.limbs(), rows.iter().map(Vec::as_slice));
    Ok((modulus, numbers))
}
