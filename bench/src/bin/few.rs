//! One number at a time, compared with a call that fills the lanes and with python-paillier:
//! `results/few.md`.
//!
//! Eight lanes take as long for one number as for eight. The time of a call that fills them is
//! therefore the time for one number without a special kernel. Both calls are measured in the same
//! rounds.

use hearith_bench::Result;
use hearith_bench::contestant::{Contestant, Operation, Way, check};
use hearith_bench::machine::Machine;
use hearith_bench::options::Options;
use hearith_bench::ours::Ours;
use hearith_bench::phe::{Phe, Worker};
use hearith_bench::report::{Table, ratio, spread};
use hearith_bench::statistics::Spread;
use hearith_bench::workload::Workload;
use hearith_paillier::Engine;
use std::fmt::Write;

/// The measured ways.
const WAYS: [Way; 5] = [Way::EncryptPublic, Way::EncryptDjn, Way::DecryptDual, Way::Add, Way::Scale];
/// The least gain of a decryption of one number, at [`SIZES`].
const LEAST: f64 = 2.2;
/// See [`LEAST`].
const SIZES: [u32; 2] = [2048, 3072];

/// One way at one size, with seconds per round: of a call with one number, of a call that fills the
/// lanes, and of python-paillier with one number.
struct Found {
    bits: u32,
    way: Way,
    one: Vec<f64>,
    full: Vec<f64>,
    phe: Option<Vec<f64>>,
}

impl Found {
    fn gain(&self) -> Spread {
        Spread::of_ratios(&self.full, &self.one)
    }
}

fn main() -> Result<()> {
    let options = Options::from_args()?;
    let sizes = if options.bits.is_empty() { vec![1024, 2048, 3072, 4096] } else { options.bits.clone() };
    let (seconds, rounds) = if options.quick { (0.005, 3) } else { (0.05, 15) };
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    let engine = Engine::best();
    let mut worker = Worker::python_paillier()?;
    let mut found = Vec::new();
    for bits in sizes {
        eprintln!("{bits} bits");
        let workload = Workload::new(bits)?;
        let mut ours = Ours::new(&workload, engine)?;
        let mut phe = Phe::new(&mut worker, &workload)?;
        for way in WAYS {
            check(&mut ours, way, &workload)?;
            found.push(measure(&mut ours, &mut phe, bits, way, engine, seconds, rounds)?);
        }
    }
    std::fs::write(options.out.join("few.md"), markdown(engine, &worker.versions, rounds, &found)?)?;
    Ok(())
}

/// Rows that fill the lanes. A decryption uses two lanes, one for each prime.
fn full(way: Way, engine: Engine) -> usize {
    if way.operation() == Operation::Decrypt { engine.lanes().div_ceil(2) } else { engine.lanes() }
}

fn measure(
    ours: &mut dyn Contestant,
    phe: &mut dyn Contestant,
    bits: u32,
    way: Way,
    engine: Engine,
    seconds: f64,
    rounds: usize,
) -> Result<Found> {
    let rows = full(way, engine);
    // As many calls as fill a sample.
    let repeats = |contestant: &mut dyn Contestant, way, rows| -> Result<usize> {
        contestant.run(way, rows, 1)?;
        Ok((seconds / contestant.run(way, rows, 1)?).ceil().clamp(1.0, 1e6) as usize)
    };
    let (one, many) = (repeats(ours, way, 1)?, repeats(ours, way, rows)?);
    let theirs = match (way, phe.comparable(way)) {
        (Way::EncryptDjn, _) | (_, None) => None,
        (_, Some(theirs)) => Some((theirs, repeats(phe, theirs, 1)?)),
    };
    let mut found = Found { bits, way, one: Vec::new(), full: Vec::new(), phe: theirs.map(|_| Vec::new()) };
    for _ in 0..rounds {
        found.one.push(ours.run(way, 1, one)? / one as f64);
        found.full.push(ours.run(way, rows, many)? / many as f64);
        if let (Some((way, repeats)), Some(seconds)) = (theirs, &mut found.phe) {
            seconds.push(phe.run(way, 1, repeats)? / repeats as f64);
        }
    }
    Ok(found)
}

fn markdown(engine: Engine, versions: &str, rounds: usize, found: &[Found]) -> Result<String> {
    let mut text = String::from("# Single-value operations\n\nMade by `make bench` (`bench/src/bin/few.rs`).\n\n");
    text += &Machine::here().to_markdown();
    write!(
        text,
        "- Engine: {engine}, {} lanes\n- Versions: {versions}\n- Method: one thread; {rounds} rounds, each measuring every \
         call of an operation. Times are medians; a ratio is the median of the rounds' ratios, with the lowest and highest \
         in brackets.\n\n\
         *All lanes* is a call with as many numbers as the engine has lanes. A single number takes this time too, if it has \
         no kernel of its own ([crates/arith/src/backend/README.md](../../crates/arith/src/backend/README.md)). `phe` is \
         python-paillier with gmpy2, by its raw operations.\n\n",
        engine.lanes()
    )?;
    let mut goals = Table::new(["operation", "bits", "compared with", "at least", "measured", "met"]);
    let mut table = Table::new(["operation", "bits", "one [µs]", "all lanes [µs]", "gain", "compared with phe"]);
    for found in found {
        let (gain, bits) = (found.gain(), found.bits.to_string());
        if found.way == Way::DecryptDual && SIZES.contains(&found.bits) {
            let met = if gain.median >= LEAST { "yes" } else { "no" };
            goals.row([found.way.title(), &bits, "all lanes", &ratio(LEAST), &spread(gain), met]);
        }
        let phe = found.phe.as_ref().map_or("-".into(), |phe| spread(Spread::of_ratios(phe, &found.one)));
        let [one, full] = [&found.one, &found.full].map(|seconds| micros(seconds));
        table.row([found.way.title().to_owned(), bits, one, full, spread(gain), phe]);
    }
    write!(text, "## Goals\n\n{}\n## Calls\n\n{}", goals.to_markdown(), table.to_markdown())?;
    Ok(text)
}

fn micros(seconds: &[f64]) -> String {
    let median = 1e6 * Spread::of(seconds.iter().copied()).median;
    if median < 100.0 { format!("{median:.1}") } else { format!("{median:.0}") }
}
