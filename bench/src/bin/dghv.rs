//! Encryption over the integers: one message, a batch, and key generation, compared with a simple
//! program over GMP and with the papers' figures: `results/dghv.md`.

use hearith_arith::Engine;
use hearith_bench::Result;
use hearith_bench::machine::Machine;
use hearith_bench::options::Options;
use hearith_bench::report::Table;
use hearith_dghv::{InsecureHistoricalParameters, KeyPair, Parameters, PublicKey, Scheme, Size};
use rug::integer::Order;
use rug::{Integer, rand::RandState};
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Messages of a batch.
const BATCH: usize = 8;
/// Limbs of the factors of the product computed by FLINT.
const UNIT: usize = 312_500;

/// Seconds printed in the papers: for their own software, and for the best hardware of \[CMOOH13\],
/// Table 6, which assumes that the products of two elements of CMNT are given.
fn printed(scheme: Scheme, size: Size) -> (f64, f64) {
    match (scheme, size) {
        (Scheme::Cmnt, Size::Toy) => (0.05, 0.000815),
        (Scheme::Cmnt, Size::Small) => (0.79, 0.0130),
        (Scheme::Cmnt, Size::Medium) => (10.0, 0.221),
        (Scheme::Cmnt, Size::Large) => (177.0, 3.958),
        (Scheme::Cnt, Size::Toy) => (0.05, 0.000739),
        (Scheme::Cnt, Size::Small) => (1.0, 0.0132),
        (Scheme::Cnt, Size::Medium) => (21.0, 0.4772),
        (Scheme::Cnt, Size::Large) => (435.0, 7.994),
    }
}

/// The shortest of `rounds` runs, in seconds.
fn least(rounds: usize, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..rounds {
        let start = Instant::now();
        work()?;
        least = least.min(start.elapsed().as_secs_f64());
    }
    Ok(least)
}

/// Seconds of one thread for FLINT's product, the shortest of several.
fn unit() -> Result<f64> {
    let path = std::env::var("HEARITH_NTT_FLINT").map_err(|_| "run scripts/bench_dghv.sh, which builds FLINT")?;
    let mut least = f64::INFINITY;
    for _ in 0..5 {
        let mut process = Command::new(&path).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        writeln!(process.stdin.take().ok_or("no pipe to FLINT")?, "product {UNIT} 1 2")?;
        let answer = String::from_utf8(process.wait_with_output()?.stdout)?;
        let seconds: f64 = answer.split_whitespace().next().ok_or("no answer of FLINT")?.parse()?;
        least = least.min(seconds / 2.0);
    }
    Ok(least)
}

/// Seconds of a simple program over GMP on one thread for the encryption equation alone: elements
/// are generated beforehand, or one by one outside the measurement.
fn plain(key: &PublicKey) -> f64 {
    let lengths = *key.parameters().lengths();
    let (count, mut random) = (lengths.elements as usize, RandState::new());
    let element = |index| Integer::from_digits(&key.element(index), Order::Lsf);
    let modulus = Integer::from_digits(key.modulus(), Order::Lsf);
    let mut draw = || Integer::from(Integer::random_bits(lengths.coefficient, &mut random));
    let (mut sum, mut taken) = (Integer::new(), 0.0);
    let right: Vec<Integer> = match key.parameters().scheme() {
        Scheme::Cmnt => (count..2 * count).map(element).collect(),
        Scheme::Cnt => Vec::new(),
    };
    for i in 0..count {
        let (left, coefficients): (Integer, Vec<Integer>) =
            (element(i), (0..right.len().max(1)).map(|_| draw()).collect());
        let start = Instant::now();
        if right.is_empty() {
            sum += &coefficients[0] * &left;
        } else {
            let mut inner = Integer::new();
            right.iter().zip(&coefficients).for_each(|(element, b)| inner += b * element);
            sum += inner * &left;
        }
        taken += start.elapsed().as_secs_f64();
    }
    let start = Instant::now();
    let value = (2 * sum + 1u32) % &modulus;
    assert!(value < modulus);
    taken + start.elapsed().as_secs_f64()
}

/// Peak memory of the process since it was reset, in MiB.
fn peak_memory() -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmHWM")).ok_or("no VmHWM")?;
    Ok(line.split_whitespace().nth(1).ok_or("no number")?.parse::<u64>()? / 1024)
}

fn main() -> Result<()> {
    let options = Options::from_args()?;
    let sizes = if options.quick { &Size::ALL[..2] } else { Size::ALL };
    let headings = [
        "",
        "key generation",
        "one message",
        "a message of 8",
        "GMP, one thread",
        "GMP / ours",
        "FLINT [ms]",
        "units",
        "units, of 8",
        "MiB",
    ];
    let mut table = Table::new(headings);
    let mut six = Table::new([
        "seconds for a message",
        "ours, one",
        "ours, of 8",
        "the scheme's authors",
        "best hardware of Table 6",
    ]);
    for &size in sizes {
        for &scheme in Scheme::ALL {
            // Resets the peak memory.
            fs::write("/proc/self/clear_refs", "5")?;
            let parameters = Parameters::historical(scheme, size);
            let start = Instant::now();
            let KeyPair { private, public } =
                KeyPair::generate(&parameters, Engine::from_env()?, InsecureHistoricalParameters)?;
            let generation = start.elapsed().as_secs_f64();
            let bits: Vec<bool> = (0..BATCH).map(|i| i % 3 == 0).collect();
            eprintln!("{scheme} {size}: the key is made");
            let unit = unit()?;
            // This also does the preparations for the first encryption.
            let ciphertexts = public.encrypt(&bits)?;
            assert_eq!(private.decrypt(&ciphertexts)?, bits);
            let rounds = [50, 10, 5, 3][size as usize];
            let one = least(rounds, || public.encrypt(&bits[..1]).map(drop).map_err(Into::into))?;
            let batch =
                least(rounds.div_ceil(4), || public.encrypt(&bits).map(drop).map_err(Into::into))? / BATCH as f64;
            // The less disturbed of two measurements.
            let unit = unit.min(self::unit()?);
            let memory = peak_memory()?;
            let gmp = plain(&public);
            let name = format!("{scheme} {size}");
            let seconds = |value: f64| if value < 0.1 { format!("{value:.5}") } else { format!("{value:.2}") };
            table.row([
                name.clone(),
                seconds(generation),
                seconds(one),
                seconds(batch),
                seconds(gmp),
                format!("{:.1}", gmp / one),
                format!("{:.1}", 1e3 * unit),
                format!("{:.3}", one / unit),
                format!("{:.3}", batch / unit),
                memory.to_string(),
            ]);
            let (authors, hardware) = printed(scheme, size);
            six.row([name, seconds(one), seconds(batch), seconds(authors), seconds(hardware)]);
            eprintln!("{scheme} {size}: {one:.5} s");
            // After every set, so that an interrupted run leaves its results.
            fs::write(options.out.join("dghv.md"), report(&table, &six))?;
        }
    }
    println!("{}", report(&table, &six));
    Ok(())
}

fn report(table: &Table, six: &Table) -> String {
    format!(
        "# Encryption over the integers\n\nWritten by `make bench-dghv`; wall-clock seconds, the lowest of several runs, on \
         {} threads.\n\n{}\n\
         A unit is the time of FLINT's product of two numbers of 20 million bits on one thread, the lower of two measurements, before and after each row. MiB is\n\
         the peak memory of the process from key generation to the last encryption. GMP computes the equation directly, on one thread, without generating the elements.\n\n{}\n\
         Compared with the papers' figures (CMNT's hardware assumes the products of elements as given; here they are computed):\n\n{}",
        rayon::current_num_threads(),
        Machine::here().to_markdown(),
        table.to_markdown(),
        six.to_markdown()
    )
}
