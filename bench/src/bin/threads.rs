//! Small operations on columns, on one thread and on all: `results/threads.md`.
//!
//! Operations that move much memory and compute little are limited by memory, however many threads
//! there are. The table therefore compares each operation's bytes per second with the rate of a
//! copy on as many threads. To measure the machine's own limit, the program also runs one call per
//! thread at the same time. These calls share nothing but the machine.

use hearith_bench::Result;
use hearith_bench::machine::Machine;
use hearith_bench::options::Options;
use hearith_bench::report::{Table, spread};
use hearith_bench::statistics::Spread;
use hearith_paillier::encoding::encode_signed;
use hearith_paillier::{Ciphertexts, Engine, KeyPolicy, PrivateKey, PublicKey, Variant};
use rayon::ThreadPool;
use rayon::prelude::*;
use std::fmt::Write;
use std::hint::black_box;
use std::time::Instant;

/// Bits of `n`.
const BITS: u32 = 2048;
/// Least gain of two threads where memory is not the limit.
const LEAST: f64 = 1.9;
/// Fraction of a copy's rate from which an operation counts as limited by memory.
const BOUND: f64 = 0.5;

/// A measured operation: its name, its rows, the bytes that it reads and writes per row, and the
/// call.
type Operation<'a> = (&'static str, usize, usize, Box<dyn Fn() + Sync + 'a>);

fn main() -> Result<()> {
    let options = Options::from_args()?;
    let (rows, rounds) = if options.quick { (2000, 3) } else { (40_000, 11) };
    let key = PrivateKey::generate(BITS, Variant::Djn, KeyPolicy::Secure, Engine::best())?;
    let public = key.public();
    let column = column(public, rows)?;
    let plain = encode_signed(public, &vec![5; rows])?;
    let groups: Vec<Vec<u32>> =
        (0..100).map(|group| (0..rows as u32).filter(|row| row % 100 == group).collect()).collect();
    let few = column.range(0..rows / 10)?;
    let factors = vec![3_i128; few.len()];
    let (bytes, half) = (public.ciphertext_bytes(), public.plaintext_bytes());
    let operations: Vec<Operation<'_>> = vec![
        ("add two columns", rows, 3 * bytes, Box::new(|| drop(black_box(public.add(&column, &column))))),
        ("add plain numbers", rows, 2 * bytes + half, Box::new(|| drop(black_box(public.add_plain(&column, &plain))))),
        ("sums of 100 groups", rows, bytes, Box::new(|| drop(black_box(public.sum_groups(&column, &groups))))),
        ("nothing but word multiplications", rows, 0, Box::new(move || multiplications(rows))),
        (
            "multiply by numbers of 8 bits",
            few.len(),
            2 * bytes,
            Box::new(|| drop(black_box(public.multiply_deterministic(&few, &factors, 8)))),
        ),
    ];
    let all = std::thread::available_parallelism()?.get();
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pools = Pools { one: (0..all).map(|_| pool(1)).collect::<std::result::Result<_, _>>()?, all: pool(all)? };
    let copy = [&pools.one[0], &pools.all].map(|pool| copy_rate(pool, rounds));

    let threads = all as f64;
    let mut table =
        Table::new(["operation", "rows/s, one", "rows/s, all", "gain", "of parallel calls", "of a copy's rate, all"]);
    for (name, rows, bytes, call) in &operations {
        let seconds = measure(&pools, rounds, call);
        let [first, second] = [&seconds.one, &seconds.all].map(|seconds| Spread::of(seconds.iter().copied()).median);
        let gain = Spread::of_ratios(&seconds.one, &seconds.all);
        let apart: Vec<f64> = seconds.apart.iter().map(|seconds| seconds / threads).collect();
        let allowed = Spread::of_ratios(&seconds.one, &apart);
        let share = (rows * bytes) as f64 / second / copy[1];
        let rate = |seconds: f64| format!("{:.0}", *rows as f64 / seconds);
        let note = if share > BOUND { ", bound by memory" } else { "" };
        table.row([
            (*name).to_owned(),
            rate(first),
            rate(second),
            spread(gain),
            spread(allowed),
            format!("{:.0} %{note}", 100.0 * share),
        ]);
    }
    let mut text =
        String::from("# Small operations over threads\n\nMade by `make bench` (`bench/src/bin/threads.rs`).\n\n");
    text += &Machine::here().to_markdown();
    write!(
        text,
        "- Method: columns of {rows} ciphertexts of {BITS} bits, on one thread and on {all} in alternation, {rounds} rounds. \
         Rates are medians; a gain is the median of the rounds' gains, with the lowest and highest in brackets. *Parallel \
         calls* are {all} concurrent calls, one per thread, that share only the machine: their total gain bounds that of one \
         call on all threads. A copy in memory moves {:.1} GB/s on one thread and {:.1} on {all}, reads and writes included. \
         The goal for two threads is {LEAST} unless memory is the limit.\n\n{}",
        copy[0] / 1e9,
        copy[1] / 1e9,
        table.to_markdown()
    )?;
    std::fs::write(options.out.join("threads.md"), text)?;
    Ok(())
}

/// `rows` ciphertexts of one number.
fn column(public: &PublicKey, rows: usize) -> Result<Ciphertexts> {
    let part = public.encrypt(&encode_signed(public, &vec![7; 1000])?)?;
    let more = vec![&part; rows.div_ceil(1000) - 1];
    Ok(Ciphertexts::concat(&part, &more)?.range(0..rows)?)
}

/// As much work per row as an addition, but in registers only: the gain of threads without other
/// limits.
fn multiplications(rows: usize) {
    (0..rows).into_par_iter().for_each(|row| {
        black_box((0..2000).fold(row as u64 | 1, |product, _| product.wrapping_mul(black_box(0x9e37_79b9_7f4a_7c15))));
    });
}

/// Pools of one thread, one for each thread of the machine, and a pool of all threads.
struct Pools {
    one: Vec<ThreadPool>,
    all: ThreadPool,
}

/// Seconds per round: of a call on one thread, of a call on all, and of one call per thread at the
/// same time.
#[derive(Default)]
struct Seconds {
    one: Vec<f64>,
    all: Vec<f64>,
    apart: Vec<f64>,
}

fn measure(pools: &Pools, rounds: usize, call: &(dyn Fn() + Sync)) -> Seconds {
    let timed = |pool: &ThreadPool| {
        pool.install(|| {
            let start = Instant::now();
            call();
            start.elapsed().as_secs_f64()
        })
    };
    let mut seconds = Seconds::default();
    for round in 0..=rounds {
        let (one, all) = (timed(&pools.one[0]), timed(&pools.all));
        let start = Instant::now();
        std::thread::scope(|scope| {
            for pool in &pools.one {
                scope.spawn(move || timed(pool));
            }
        });
        let apart = start.elapsed().as_secs_f64();
        // The first round touches memory for the first time.
        if round > 0 {
            seconds.one.push(one);
            seconds.all.push(all);
            seconds.apart.push(apart);
        }
    }
    seconds
}

/// Bytes per second, read and written, of a copy of memory that exceeds every cache.
fn copy_rate(pool: &ThreadPool, rounds: usize) -> f64 {
    const BYTES: usize = 1 << 28;
    let (from, mut to) = (vec![1_u8; BYTES], vec![2_u8; BYTES]);
    let mut seconds = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        pool.install(|| {
            to.par_chunks_mut(1 << 20).zip(from.par_chunks(1 << 20)).for_each(|(to, from)| to.copy_from_slice(from))
        });
        seconds.push(start.elapsed().as_secs_f64());
        black_box(&to);
    }
    2.0 * BYTES as f64 / Spread::of(seconds).median
}
