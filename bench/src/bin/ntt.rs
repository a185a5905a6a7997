//! Products and remainders of very long numbers beside FLINT and GMP, on one thread and on two: `results/ntt.md`.

use gmp_mpfr_sys::gmp;
use hearith_arith::cost::peak_rate;
use hearith_bench::Result;
use hearith_bench::machine::{Machine, engines};
use hearith_bench::options::Options;
use hearith_bench::report::{Table, ratio};
use hearith_bench::statistics::Spread;
use hearith_ntt::{Barrett, Ring};
use hearith_paillier::Engine;
use rug::{Complete, Integer, integer::Order};
use rustix::time::{ClockId, clock_gettime};
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

/// What was to be shown: a product's bits from which on one thread is so many times as fast as FLINT.
const CLAIMS: [(usize, f64); 2] = [(100_000, 1.2), (1_000_000, 2.0)];
/// Bits of the factors of products; the last two take a while.
const PRODUCTS: [usize; 9] =
    [10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 20_000_000, 100_000_000];
/// Bits of a number and of its modulus.
const REMAINDERS: [(usize, usize); 3] = [(2_000_000, 1_000_000), (20_000_000, 19_000_000), (38_000_000, 19_000_000)];

/// About the nanoseconds that a limb of a task takes.
const LIMB: usize = 60;
/// Tasks of more nanoseconds have few rounds.
const LONG: usize = 50_000_000;
const FEW: usize = 5;

/// What is measured, in 64-bit limbs.
#[derive(Clone, Copy)]
enum Task {
    Product(usize),
    Remainder(usize, usize),
}

impl Task {
    fn name(self) -> String {
        match self {
            Task::Product(limbs) => format!("product of {} bits by as many", bits(limbs)),
            Task::Remainder(x, m) => format!("{} bits modulo {}", bits(x), bits(m)),
        }
    }

    /// About the nanoseconds that it takes.
    fn nanoseconds(self) -> usize {
        let limbs = match self {
            Task::Product(limbs) => limbs,
            Task::Remainder(x, _) => x,
        };
        LIMB * limbs
    }
}

fn bits(limbs: usize) -> String {
    let bits = 64 * limbs as u64;
    match bits {
        1_000_000.. => format!("{:.0} million", bits as f64 / 1e6),
        _ => format!("{:.0} thousand", bits as f64 / 1e3),
    }
}

/// The numbers that both sides make: splitmix64 from a seed.
fn number(limbs: usize, mut seed: u64) -> Vec<u64> {
    let mut next = || {
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (seed ^ seed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    };
    (0..limbs).map(|_| next()).collect()
}

fn modulus(limbs: usize) -> Vec<u64> {
    let mut modulus = number(limbs, 2);
    modulus[limbs - 1] |= 1 << 63;
    modulus
}

fn hash(limbs: &[u64]) -> u64 {
    limbs.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &limb| (hash ^ limb).wrapping_mul(0x0100_0000_01b3))
}

/// Seconds: of this thread's processor time for one thread, since the machine may be shared, by the wall clock for several.
fn seconds(threads: usize, work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    let before = processor_time();
    work();
    if threads == 1 { processor_time() - before } else { start.elapsed().as_secs_f64() }
}

/// By the clock that FLINT's side reads too (`bench/ntt/flint.c`).
fn processor_time() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Somebody who computes: `measure` returns seconds for so many repeats and a hash of the result.
trait Contestant {
    fn name(&self) -> String;
    fn threads(&self) -> usize;
    /// The least seconds that the machine's multiplications take, as far as that is known.
    fn limit(&self) -> Option<f64> {
        None
    }
    fn measure(&mut self, repeats: usize) -> Result<(f64, u64)>;
}

/// What is prepared: a ring, or a modulus with its transforms.
enum Prepared {
    Product(Ring, Vec<u64>, Vec<u64>),
    Remainder(Box<Barrett>, Vec<u64>),
}

struct Ours {
    engine: Engine,
    pool: rayon::ThreadPool,
    prepared: Prepared,
    out: Vec<u64>,
}

impl Ours {
    fn new(engine: Engine, threads: usize, task: Task) -> Result<Self> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let (prepared, limbs) = match task {
            Task::Product(limbs) => {
                (Prepared::Product(Ring::new(engine, 2 * limbs)?, number(limbs, 1), number(limbs, 2)), 2 * limbs)
            }
            Task::Remainder(x, m) => {
                let barrett = pool.install(|| Barrett::new(engine, &modulus(m), 64 * (x - m)))?;
                (Prepared::Remainder(Box::new(barrett), number(x, 1)), m)
            }
        };
        Ok(Ours { engine, pool, prepared, out: vec![0; limbs] })
    }
}

impl Contestant for Ours {
    fn name(&self) -> String {
        format!("hearith ({})", self.engine)
    }

    fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    fn limit(&self) -> Option<f64> {
        match &self.prepared {
            Prepared::Product(ring, ..) if self.engine == Engine::Ifma => {
                Some(ring.instructions() as f64 / peak_rate()? / 1e9)
            }
            _ => None,
        }
    }

    fn measure(&mut self, repeats: usize) -> Result<(f64, u64)> {
        let threads = self.pool.current_num_threads();
        let (prepared, out) = (&self.prepared, &mut self.out);
        let taken = self.pool.install(|| {
            seconds(threads, || {
                for _ in 0..repeats {
                    match prepared {
                        Prepared::Product(ring, a, b) => ring.product(a, b, out),
                        Prepared::Remainder(barrett, x) => barrett.reduce(x, out),
                    }
                    .expect("what was prepared for");
                }
            })
        });
        Ok((taken, hash(&self.out)))
    }
}

struct Gmp {
    task: Task,
    a: Integer,
    b: Integer,
    out: Integer,
}

impl Contestant for Gmp {
    fn name(&self) -> String {
        "GMP".into()
    }

    fn threads(&self) -> usize {
        1
    }

    fn measure(&mut self, repeats: usize) -> Result<(f64, u64)> {
        let taken = seconds(1, || {
            for _ in 0..repeats {
                match self.task {
                    Task::Product(_) => self.out = (&self.a * &self.b).complete(),
                    Task::Remainder(..) => self.out = (&self.a % &self.b).complete(),
                }
            }
        });
        let mut limbs: Vec<u64> = self.out.to_digits(Order::Lsf);
        limbs.resize(
            match self.task {
                Task::Product(limbs) => 2 * limbs,
                Task::Remainder(_, m) => m,
            },
            0,
        );
        Ok((taken, hash(&limbs)))
    }
}

/// The process that holds FLINT.
struct Flint {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    task: Task,
    threads: usize,
}

impl Flint {
    fn start(task: Task, threads: usize) -> Result<Self> {
        let path = std::env::var("HEARITH_NTT_FLINT").map_err(|_| "run scripts/bench_ntt.sh, which builds FLINT")?;
        let mut process = Command::new(path).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let requests = process.stdin.take().ok_or("no pipe to FLINT")?;
        let answers = BufReader::new(process.stdout.take().ok_or("no pipe from FLINT")?);
        Ok(Flint { process, requests, answers, task, threads })
    }

    fn ask(&mut self, request: &str) -> Result<String> {
        writeln!(self.requests, "{request}")?;
        self.requests.flush()?;
        let mut line = String::new();
        match self.answers.read_line(&mut line)? {
            0 => Err("FLINT's process stopped".into()),
            _ => Ok(line.trim().to_owned()),
        }
    }
}

impl Drop for Flint {
    fn drop(&mut self) {
        // Ending twice is no harm.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Contestant for Flint {
    fn name(&self) -> String {
        "FLINT".into()
    }

    fn threads(&self) -> usize {
        self.threads
    }

    fn measure(&mut self, repeats: usize) -> Result<(f64, u64)> {
        let threads = self.threads;
        let request = match self.task {
            Task::Product(limbs) => format!("product {limbs} {threads} {repeats}"),
            Task::Remainder(x, m) => format!("remainder {x} {m} {threads} {repeats}"),
        };
        let answer = self.ask(&request)?;
        let (taken, hash) = answer.split_once(' ').ok_or("an answer without a hash")?;
        Ok((taken.parse()?, hash.parse()?))
    }
}

/// Everybody who takes part.
fn contestants(task: Task, quick: bool) -> Result<Vec<Box<dyn Contestant>>> {
    let mut all: Vec<Box<dyn Contestant>> = Vec::new();
    for threads in [1, 2] {
        for engine in engines() {
            // The portable engine takes long, and nothing is claimed of it.
            let long = task.nanoseconds() > if quick { 1_000_000 } else { 20_000_000 };
            if engine != Engine::best() && (threads > 1 || long) {
                continue;
            }
            all.push(Box::new(Ours::new(engine, threads, task)?));
        }
        all.push(Box::new(Flint::start(task, threads)?));
    }
    let (a, b) = match task {
        Task::Product(limbs) => (number(limbs, 1), number(limbs, 2)),
        Task::Remainder(x, m) => (number(x, 1), modulus(m)),
    };
    let integer = |limbs: &[u64]| Integer::from_digits(limbs, Order::Lsf);
    all.push(Box::new(Gmp { task, a: integer(&a), b: integer(&b), out: Integer::new() }));
    Ok(all)
}

fn main() -> Result<()> {
    let options = Options::from_args()?;
    let (rounds_asked, nanoseconds) = if options.quick { (3, 1_000_000) } else { (11, 20_000_000) };
    let most = if options.quick { 1_000_000 } else { usize::MAX };
    let products = PRODUCTS.iter().filter(|&&bits| bits <= most).map(|&bits| Task::Product(bits.div_ceil(64)));
    let remainders = REMAINDERS.iter().filter(|&&(bits, _)| bits <= 2 * most.min(1 << 40));
    let remainders = remainders.map(|&(x, m)| Task::Remainder(x.div_ceil(64), m.div_ceil(64)));
    let tasks: Vec<Task> = products.chain(remainders).collect();
    let version = Flint::start(Task::Product(1), 1)?.ask("version")?;
    // SAFETY: GMP's version is a constant C string.
    let gmp_version = unsafe { std::ffi::CStr::from_ptr(gmp::version) }.to_string_lossy().into_owned();

    let mut table = Table::new(["", "who", "threads", "ms", "least", "most", "beside hearith", "share of the limit"]);
    let mut claims = String::new();
    for (done, &task) in tasks.iter().enumerate() {
        let mut all = contestants(task, options.quick)?;
        let repeats = (nanoseconds / task.nanoseconds()).max(1);
        let rounds = if task.nanoseconds() > LONG { rounds_asked.min(FEW) } else { rounds_asked };
        let mut taken = vec![Vec::new(); all.len()];
        let mut right = None;
        for round in 0..rounds + 1 {
            let mut order: Vec<usize> = (0..all.len()).collect();
            if round % 2 == 1 {
                order.reverse();
            }
            for at in order {
                let (seconds, hash) = all[at].measure(repeats)?;
                assert_eq!(*right.get_or_insert(hash), hash, "{}: {}", all[at].name(), task.name());
                // The first round warms up.
                if round > 0 {
                    taken[at].push(1e3 * seconds / repeats as f64);
                }
            }
        }
        let best = format!("hearith ({})", Engine::best());
        let ours = |threads| all.iter().position(|one| one.name() == best && one.threads() == threads).expect("ours");
        for (at, one) in all.iter().enumerate() {
            let spread = Spread::of(taken[at].iter().copied());
            let beside = Spread::of_ratios(&taken[at], &taken[ours(one.threads())]).median;
            let share = one.limit().map(|limit| 1e5 * limit / spread.median / one.threads() as f64);
            let time = |ms: f64| if ms < 1.0 { format!("{ms:.4}") } else { format!("{ms:.2}") };
            table.row([
                task.name(),
                one.name(),
                one.threads().to_string(),
                time(spread.median),
                time(spread.min),
                time(spread.max),
                ratio(beside),
                share.map_or(String::new(), |share| format!("{share:.0} %")),
            ]);
        }
        let of = |name: &str, threads| {
            all.iter().position(|one| one.name() == name && one.threads() == threads).expect("a peer")
        };
        let flint = Spread::of_ratios(&taken[of("FLINT", 1)], &taken[ours(1)]);
        let gmp = Spread::of_ratios(&taken[of("GMP", 1)], &taken[ours(1)]);
        let threads = Spread::of_ratios(&taken[ours(1)], &taken[ours(2)]);
        let least = match task {
            Task::Product(limbs) => CLAIMS.iter().rfind(|(bits, _)| 64 * limbs >= *bits).map(|&(_, least)| least),
            Task::Remainder(..) => Some(2.0),
        };
        writeln!(
            claims,
            "- {}: {} times as fast as FLINT ({} to {}){}, {} as GMP; two threads {} times as fast as one",
            task.name(),
            ratio(flint.median),
            ratio(flint.min),
            ratio(flint.max),
            least.map_or(String::new(), |least| format!(
                ", of {} asked{}",
                ratio(least),
                if flint.median < least { ": **missed**" } else { "" }
            )),
            ratio(gmp.median),
            ratio(threads.median),
        )?;
        eprintln!("ntt: {}: {:.2} times FLINT", task.name(), flint.median);
        // After every task: a run that is cut short leaves what it has measured.
        let versions = format!("{version}, GMP {gmp_version}");
        let missing: Vec<String> = tasks[done + 1..].iter().map(|task| task.name()).collect();
        fs::write(options.out.join("ntt.md"), report(&options, &versions, rounds_asked, &missing, &claims, &table)?)?;
    }
    Ok(())
}

/// The results as far as they are there; `missing` are the tasks that are still to be done.
fn report(
    options: &Options,
    versions: &str,
    rounds: usize,
    missing: &[String],
    claims: &str,
    table: &Table,
) -> Result<String> {
    let mut text = String::from(
        "# Very long numbers beside FLINT and GMP\n\nMade by `make bench-ntt` (`bench/src/bin/ntt.rs`).\n\n",
    );
    text += &Machine::here().to_markdown();
    let load = fs::read_to_string("/proc/loadavg")?;
    let load = load.split(' ').next().unwrap_or("unknown").to_owned();
    writeln!(text, "- Versions: {versions}")?;
    if options.quick {
        writeln!(text, "- A quick run (`--quick`): it shows that everything works, its numbers mean little")?;
    }
    if !missing.is_empty() {
        writeln!(text, "- Cut short, not measured: {}", missing.join("; "))?;
    }
    writeln!(text, "- Processes that wanted to run at the end of the measurement: {load} on average")?;
    if let Some(peak) = peak_rate() {
        writeln!(text, "- Peak: {peak:.2} IFMA instructions a nanosecond and core, measured at the end")?;
    }
    writeln!(
        text,
        "- Method: {rounds} rounds (at most {FEW} from {} bits on) in alternating order, times are medians with the least and the most, ratios medians of \
         paired rounds. One thread is measured by the processor time that it gets, two by the wall clock: where other \
         programs run, two threads look slower than they are. Everybody's results are compared. Transforms' tables are \
         there before, and for remainders the modulus' and its reciprocal's transforms. The share is that of the peak which \
         the product's multiplications alone would take.",
        bits(LONG.div_ceil(LIMB))
    )?;
    write!(text, "\n## What was asked\n\n{claims}\n## Times\n\n{}", table.to_markdown())?;
    Ok(text)
}
