//! Products and remainders of very long numbers compared with FLINT and GMP, on one thread and on
//! two, and transforms alone compared with tfhe-ntt: `results/ntt.md` and `results/ntt.svg`.

mod contestants;
mod report;
mod task;

use contestants::{Peer, contestants};
use gmp_mpfr_sys::gmp;
use hearith_bench::Result;
use hearith_bench::options::Options;
use hearith_bench::statistics::Spread;
use hearith_paillier::Engine;
use report::Report;
use task::{LONG, LONGEST, Task};

/// Bits of the factors of products. The option `--bits` adds more.
const PRODUCTS: [usize; 11] = [
    10_000,
    30_000,
    100_000,
    300_000,
    1_000_000,
    3_000_000,
    10_000_000,
    20_000_000,
    30_000_000,
    60_000_000,
    100_000_000,
];
/// Bits of a number and of its modulus.
const REMAINDERS: [(usize, usize); 3] = [(2_000_000, 1_000_000), (20_000_000, 19_000_000), (38_000_000, 19_000_000)];
/// Residues of a transform, as powers of 2.
const TRANSFORMS: [u32; 4] = [11, 13, 15, 18];

/// Rounds of ordinary tasks, of long tasks, and of those measured only on request.
const ROUNDS: [usize; 3] = [9, 3, 1];
/// Least duration of a round in nanoseconds.
const ROUND: usize = 20_000_000;

/// The times of a contestant.
struct Times {
    name: String,
    threads: usize,
    limits: [Option<f64>; 2],
    /// Milliseconds per round.
    taken: Vec<f64>,
}

/// All times of a task.
struct Measured {
    task: Task,
    times: Vec<Times>,
}

impl Measured {
    fn new(task: Task, quick: bool) -> Result<Self> {
        let mut all = contestants(task, quick)?;
        let repeats = (if quick { 1_000_000 } else { ROUND } / task.nanoseconds()).max(1);
        let rounds = match task {
            _ if task.nanoseconds() > LONGEST => ROUNDS[2],
            _ if quick || task.nanoseconds() > LONG => ROUNDS[1],
            _ => ROUNDS[0],
        };
        let mut times: Vec<Times> = all
            .iter()
            .map(|one| Times { name: one.name(), threads: one.threads(), limits: one.limits(), taken: Vec::new() })
            .collect();
        let mut right = None;
        for round in 0..rounds + 1 {
            let mut order: Vec<usize> = (0..all.len()).collect();
            if round % 2 == 1 {
                order.reverse();
            }
            for at in order {
                let (seconds, hash) = all[at].measure(repeats)?;
                if let Some(hash) = hash {
                    assert_eq!(*right.get_or_insert(hash), hash, "{}: {}", all[at].name(), task.name());
                }
                // The first round is a warm-up.
                if round > 0 {
                    times[at].taken.push(1e3 * seconds / repeats as f64);
                }
            }
        }
        Ok(Measured { task, times })
    }

    fn of(&self, name: &str, threads: usize) -> &Times {
        self.times.iter().find(|one| one.name == name && one.threads == threads).expect("it was measured")
    }

    fn ours(&self, threads: usize) -> &Times {
        self.of(&format!("hearith ({})", Engine::best()), threads)
    }

    /// A contestant's time divided by ours on `threads` threads.
    fn beside(&self, theirs: &Times, threads: usize) -> Spread {
        Spread::of_ratios(&theirs.taken, &self.ours(threads).taken)
    }
}

fn main() -> Result<()> {
    let options = Options::from_args()?;
    let most = if options.quick { 1_000_000 } else { usize::MAX };
    let more = options.bits.iter().map(|&bits| bits as usize);
    let mut sizes: Vec<usize> = PRODUCTS.into_iter().filter(|&bits| bits <= most).chain(more).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let (long, short): (Vec<usize>, Vec<usize>) = sizes.into_iter().partition(|bits| !PRODUCTS.contains(bits));
    let product = |bits: &usize| Task::Product(bits.div_ceil(64));
    let remainders = REMAINDERS.iter().filter(|&&(bits, _)| bits <= most.saturating_mul(2));
    let remainders = remainders.map(|&(x, m)| Task::Remainder(x.div_ceil(64), m.div_ceil(64)));
    let transforms = TRANSFORMS.into_iter().filter(|&log| log <= 12 || !options.quick).map(Task::Transform);
    // The longest tasks come last.
    let tasks: Vec<Task> =
        short.iter().map(product).chain(remainders).chain(transforms).chain(long.iter().map(product)).collect();
    // SAFETY: GMP's version is a constant C string.
    let gmp_version = unsafe { std::ffi::CStr::from_ptr(gmp::version) }.to_string_lossy().into_owned();
    let flint = Peer::flint(Task::Product(1), 1)?.ask("version")?;
    let tfhe = Peer::tfhe(4)?.ask("version")?;
    let report = Report { options: &options, versions: format!("{flint}, GMP {gmp_version}, {tfhe}"), rounds: ROUNDS };

    let mut measured = Vec::new();
    for (done, &task) in tasks.iter().enumerate() {
        measured.push(Measured::new(task, options.quick)?);
        eprintln!("ntt: {}", task.name());
        // After every task, so that an interrupted run leaves its results.
        report.write(&measured, &tasks[done + 1..])?;
    }
    Ok(())
}
