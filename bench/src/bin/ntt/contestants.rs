//! The contestants: this project and GMP in this process, FLINT and tfhe-ntt in separate processes.

use crate::task::{Task, hash, modulus, number};
use hearith_arith::cost::peak_rate;
use hearith_bench::Result;
use hearith_bench::machine::engines;
use hearith_ntt::{Barrett, Ring, Transformed};
use hearith_paillier::Engine;
use rayon::prelude::*;
use rug::{Complete, Integer, integer::Order};
use rustix::time::{ClockId, clock_gettime};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;
use std::time::Instant;

/// Seconds of some work: thread CPU time for one thread, since the machine may be shared, and
/// wall-clock time for several.
fn seconds(threads: usize, work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    let before = processor_time();
    work();
    if threads == 1 { processor_time() - before } else { start.elapsed().as_secs_f64() }
}

/// CPU time by the clock that FLINT's side also reads (`bench/ntt/flint.c`).
fn processor_time() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Seconds of a pass that reads and writes this many vectors of 64 bytes in memory, on the threads
/// of rayon's current pool.
pub fn pass(vectors: usize) -> f64 {
    let threads = rayon::current_num_threads();
    let mut memory = vec![1_u64; 8 * vectors];
    let once = |memory: &mut [u64]| {
        let part = memory.len().div_ceil(threads);
        seconds(threads, || memory.par_chunks_mut(part).for_each(|part| part.iter_mut().for_each(|word| *word += 1)))
    };
    (0..5).map(|_| once(&mut memory)).fold(f64::MAX, f64::min)
}

/// A library that computes tasks.
pub trait Contestant {
    /// Its name in tables.
    fn name(&self) -> String;
    /// The number of threads.
    fn threads(&self) -> usize;
    /// Lower bounds in seconds by the machine's multiplications and by its memory, if known.
    fn limits(&self) -> [Option<f64>; 2] {
        [None; 2]
    }
    /// The seconds for this many repeats, and a hash of the result if all contestants have the same
    /// result.
    fn measure(&mut self, repeats: usize) -> Result<(f64, Option<u64>)>;
}

/// The prepared data: a ring, or a modulus with its transforms.
enum Prepared {
    Product(Ring, Vec<u64>, Vec<u64>),
    Remainder(Box<Barrett>, Vec<u64>),
    Transform(Ring, Vec<u64>),
}

impl Prepared {
    fn new(engine: Engine, task: Task) -> Result<Self> {
        Ok(match task {
            Task::Product(limbs) => {
                Prepared::Product(Ring::new(engine, 2 * limbs)?, number(limbs, 1), number(limbs, 2))
            }
            Task::Remainder(x, m) => {
                Prepared::Remainder(Box::new(Barrett::new(engine, &modulus(m), 64 * (x - m))?), number(x, 1))
            }
            Task::Transform(log) => {
                // The longest numbers that fit this many coefficients.
                let rings = (42..=47).rev().map(|digit| Ring::new(engine, ((4 * digit) << log) / 64));
                let fits = |ring: &Ring| {
                    let (degree, levels, _) = ring.plan();
                    degree << levels == 1 << log
                };
                let ring = rings.flatten().find(fits).ok_or("no ring of that length")?;
                let limbs = ring.limbs();
                Prepared::Transform(ring, number(limbs, 1))
            }
        })
    }
}

struct Ours {
    engine: Engine,
    pool: rayon::ThreadPool,
    prepared: Rc<Prepared>,
    out: Vec<u64>,
    transformed: Option<Transformed>,
}

impl Ours {
    fn new(engine: Engine, threads: usize, task: Task, prepared: Rc<Prepared>) -> Result<Self> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let (limbs, transformed) = match (task, &*prepared) {
            (Task::Product(limbs), _) => (2 * limbs, None),
            (Task::Remainder(_, m), _) => (m, None),
            (_, Prepared::Transform(ring, x)) => (0, Some(ring.transform(x)?)),
            (Task::Transform(_), _) => unreachable!("prepared for another task"),
        };
        Ok(Ours { engine, pool, prepared, out: vec![0; limbs], transformed })
    }
}

impl Contestant for Ours {
    fn name(&self) -> String {
        format!("hearith ({})", self.engine)
    }

    fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    fn limits(&self) -> [Option<f64>; 2] {
        let Prepared::Product(ring, ..) = &*self.prepared else { return [None; 2] };
        if self.engine != Engine::Ifma {
            return [None; 2];
        }
        let multiplications = peak_rate().map(|rate| ring.instructions() as f64 / rate / 1e9 / self.threads() as f64);
        let (degree, levels, _) = ring.plan();
        let vectors = degree << levels;
        // A pass reads and writes 64 bytes per vector.
        let (passes, pass) =
            self.pool.install(|| (ring.bytes() as f64 / (128 * vectors) as f64, pass(2 * vectors) / 2.0));
        [multiplications, (passes > 0.0).then_some(passes * pass)]
    }

    fn measure(&mut self, repeats: usize) -> Result<(f64, Option<u64>)> {
        let threads = self.pool.current_num_threads();
        let Ours { pool, prepared, out, transformed, .. } = self;
        // A ring is prepared on one thread and used on another.
        let (prepared, comparable) = (&**prepared, transformed.is_none());
        let taken = pool.install(|| {
            seconds(threads, || {
                for _ in 0..repeats {
                    match (prepared, &mut *transformed) {
                        (Prepared::Product(ring, a, b), _) => ring.product(a, b, out),
                        (Prepared::Remainder(barrett, x), _) => barrett.reduce(x, out),
                        (Prepared::Transform(ring, x), Some(transformed)) => ring.transform_into(x, transformed),
                        (Prepared::Transform(..), None) => unreachable!("it has a place for the transform"),
                    }
                    .expect("what was prepared for");
                }
            })
        });
        Ok((taken, comparable.then(|| hash(&self.out))))
    }
}

struct Gmp {
    task: Task,
    a: Integer,
    b: Integer,
    out: Integer,
    limbs: usize,
}

impl Gmp {
    /// GMP has no transforms.
    fn new(task: Task) -> Option<Self> {
        let (a, b, limbs) = match task {
            Task::Product(limbs) => (number(limbs, 1), number(limbs, 2), 2 * limbs),
            Task::Remainder(x, m) => (number(x, 1), modulus(m), m),
            Task::Transform(_) => return None,
        };
        let integer = |limbs: &[u64]| Integer::from_digits(limbs, Order::Lsf);
        Some(Gmp { task, a: integer(&a), b: integer(&b), out: Integer::new(), limbs })
    }
}

impl Contestant for Gmp {
    fn name(&self) -> String {
        "GMP".into()
    }

    fn threads(&self) -> usize {
        1
    }

    fn measure(&mut self, repeats: usize) -> Result<(f64, Option<u64>)> {
        let taken = seconds(1, || {
            for _ in 0..repeats {
                self.out = match self.task {
                    Task::Remainder(..) => (&self.a % &self.b).complete(),
                    _ => (&self.a * &self.b).complete(),
                };
            }
        });
        let mut limbs: Vec<u64> = self.out.to_digits(Order::Lsf);
        limbs.resize(self.limbs, 0);
        Ok((taken, Some(hash(&limbs))))
    }
}

/// A contestant in a separate process, which answers requests by lines. scripts/bench_ntt.sh builds
/// it.
pub struct Peer {
    name: &'static str,
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    request: String,
    threads: usize,
}

impl Peer {
    /// Starts FLINT.
    pub fn flint(task: Task, threads: usize) -> Result<Self> {
        let request = match task {
            Task::Product(limbs) => format!("product {limbs} {threads}"),
            Task::Remainder(x, m) => format!("remainder {x} {m} {threads}"),
            Task::Transform(_) => return Err("FLINT's transforms are not called alone".into()),
        };
        Self::start("FLINT", "HEARITH_NTT_FLINT", request, threads)
    }

    /// Starts tfhe-ntt.
    pub fn tfhe(log: u32) -> Result<Self> {
        Self::start("tfhe-ntt", "HEARITH_NTT_TFHE", format!("transform {log}"), 1)
    }

    fn start(name: &'static str, variable: &str, request: String, threads: usize) -> Result<Self> {
        let path = std::env::var(variable).map_err(|_| "run scripts/bench_ntt.sh, which builds the peers")?;
        let mut process = Command::new(path).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let requests = process.stdin.take().ok_or("no pipe to the process")?;
        let answers = BufReader::new(process.stdout.take().ok_or("no pipe from the process")?);
        Ok(Peer { name, process, requests, answers, request, threads })
    }

    /// Sends a line and returns the answer.
    pub fn ask(&mut self, request: &str) -> Result<String> {
        writeln!(self.requests, "{request}")?;
        self.requests.flush()?;
        let mut line = String::new();
        match self.answers.read_line(&mut line)? {
            0 => Err(format!("{}'s process stopped", self.name).into()),
            _ => Ok(line.trim().to_owned()),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Contestant for Peer {
    fn name(&self) -> String {
        self.name.into()
    }

    fn threads(&self) -> usize {
        self.threads
    }

    fn measure(&mut self, repeats: usize) -> Result<(f64, Option<u64>)> {
        let answer = self.ask(&format!("{} {repeats}", self.request))?;
        let mut words = answer.split(' ');
        let taken = words.next().ok_or("an answer without a time")?.parse()?;
        Ok((taken, words.next().map(str::parse).transpose()?))
    }
}

/// All contestants for a task.
pub fn contestants(task: Task, quick: bool) -> Result<Vec<Box<dyn Contestant>>> {
    let mut all: Vec<Box<dyn Contestant>> = Vec::new();
    for engine in engines() {
        // The portable engine is slow, and there are no claims about it.
        let long = task.nanoseconds() > if quick { 1_000_000 } else { 20_000_000 };
        if engine != Engine::best() && long {
            continue;
        }
        let prepared = Rc::new(Prepared::new(engine, task)?);
        all.push(Box::new(Ours::new(engine, 1, task, prepared.clone())?));
        if engine == Engine::best() && !matches!(task, Task::Transform(_)) {
            all.push(Box::new(Ours::new(engine, 2, task, prepared)?));
        }
    }
    if let Task::Transform(log) = task {
        all.push(Box::new(Peer::tfhe(log)?));
    } else {
        all.push(Box::new(Peer::flint(task, 1)?));
        all.push(Box::new(Peer::flint(task, 2)?));
    }
    all.extend(Gmp::new(task).map(|gmp| Box::new(gmp) as Box<dyn Contestant>));
    Ok(all)
}
