//! Every way of every operation compared with python-paillier and GMP, on one thread, in one run.
//!
//! All libraries use the same key and numbers, and each is first checked against the textbook
//! formulas. They are then measured in rounds. Each round measures every way of every library once,
//! in alternating order, so that slowdowns of the machine affect neighbours alike. Ratios are
//! computed within a round; the tables show their median over the rounds, with the minimum and the
//! maximum.

use gmp_mpfr_sys::gmp;
use hearith_bench::Result;
use hearith_bench::contestant::{Contestant, Operation, Way, check};
use hearith_bench::gmp::Gmp;
use hearith_bench::machine::{Machine, engines};
use hearith_bench::options::Options;
use hearith_bench::ours::Ours;
use hearith_bench::phe::{Phe, Worker};
use hearith_bench::report::{Table, rate, ratio, spread};
use hearith_bench::rounds::{Entry, Plan, calibrate, measure_round};
use hearith_bench::statistics::Spread;
use hearith_bench::workload::Workload;
use serde::Serialize;
use serde_json::json;
use std::fmt::Write;

/// One of our ways on one engine, and its speed relative to each other library.
#[derive(Serialize)]
struct Outcome {
    bits: u32,
    library: String,
    way: &'static str,
    #[serde(skip)]
    title: &'static str,
    per_second: f64,
    ratios: Vec<(String, Option<Spread>)>,
}

impl Outcome {
    fn ratio_to(&self, library: &str) -> Option<Spread> {
        self.ratios.iter().find(|(name, _)| name == library).and_then(|(_, spread)| *spread)
    }
}

fn main() -> Result<()> {
    let options = Options::from_args()?;
    let sizes = if options.bits.is_empty() { vec![1024, 2048, 3072, 4096] } else { options.bits.clone() };
    let plan = if options.quick { Plan { seconds: 0.01, rounds: 3 } } else { Plan { seconds: 0.15, rounds: 9 } };
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    let mut worker = Worker::python_paillier()?;
    let mut outcomes = Vec::new();
    for &bits in &sizes {
        eprintln!("{bits} bits");
        outcomes.extend(measure_size(bits, &mut worker, &plan)?);
    }
    let machine = Machine::here();
    let versions = format!("{}; rug with GMP {}", worker.versions, gmp_version());
    std::fs::write(options.out.join("paillier.md"), markdown(&machine, &versions, &plan, &sizes, &outcomes)?)?;
    let json = json!({ "machine": machine, "versions": versions, "rounds": plan.rounds, "results": outcomes });
    std::fs::write(options.out.join("paillier.json"), serde_json::to_string_pretty(&json)? + "\n")?;
    Ok(())
}

fn gmp_version() -> String {
    format!("{}.{}.{}", gmp::VERSION, gmp::VERSION_MINOR, gmp::VERSION_PATCHLEVEL)
}

/// Checks and measures every library at one key size.
fn measure_size(bits: u32, worker: &mut Worker, plan: &Plan) -> Result<Vec<Outcome>> {
    let workload = Workload::new(bits)?;
    let mut contestants: Vec<Box<dyn Contestant>> = Vec::new();
    for engine in engines() {
        contestants.push(Box::new(Ours::new(&workload, engine)?));
    }
    let ours = contestants.len();
    contestants.push(Box::new(Phe::new(worker, &workload)?));
    contestants.push(Box::new(Gmp::new(&workload, false)));
    contestants.push(Box::new(Gmp::new(&workload, true)));

    let mut entries = Vec::new();
    for operation in Operation::ALL {
        let from = entries.len();
        for (index, contestant) in contestants.iter_mut().enumerate() {
            for way in contestant.ways().to_vec().into_iter().filter(|way| way.operation() == operation) {
                check(contestant.as_mut(), way, &workload)?;
                entries.push(calibrate(contestant.as_mut(), index, way, plan)?);
            }
        }
        for round in 0..plan.rounds {
            measure_round(&mut contestants, &mut entries[from..], round)?;
        }
        eprintln!("  {operation:?}");
    }
    Ok(outcomes(bits, &contestants, ours, &entries))
}

/// The rates of all entries and, for our entries, the ratios to the others.
fn outcomes(bits: u32, contestants: &[Box<dyn Contestant + '_>], ours: usize, entries: &[Entry]) -> Vec<Outcome> {
    let ratios = |entry: &Entry| {
        let others = contestants.iter().map(|other| &**other).enumerate().skip(ours);
        let ratio = |(index, other): (usize, &(dyn Contestant + '_))| {
            let way = other.comparable(entry.way)?;
            let theirs = entries.iter().find(|theirs| theirs.contestant == index && theirs.way == way)?;
            Some(Spread::of_ratios(&theirs.seconds, &entry.seconds))
        };
        others.map(|other| (other.1.name().to_owned(), ratio(other))).collect()
    };
    entries
        .iter()
        .map(|entry| Outcome {
            bits,
            library: contestants[entry.contestant].name().to_owned(),
            way: entry.way.key(),
            title: entry.way.title(),
            per_second: 1.0 / Spread::of(entry.seconds.iter().copied()).median,
            ratios: if entry.contestant < ours { ratios(entry) } else { Vec::new() },
        })
        .collect()
}

fn markdown(machine: &Machine, versions: &str, plan: &Plan, sizes: &[u32], outcomes: &[Outcome]) -> Result<String> {
    let mut text = String::from("# Paillier compared with python-paillier and GMP\n\n");
    write!(
        text,
        "Made by `make bench` (`bench/src/bin/compare.rs`).\n\n{}- Versions: {versions}\n",
        machine.to_markdown()
    )?;
    write!(
        text,
        "- Method: one thread. All libraries use the same key and numbers, and each result is checked first. {} rounds of \
         about {} s per sample measure every row of an operation once, in alternating order. Rates are medians; a ratio is \
         the median of the rounds' ratios, with the lowest and highest in brackets.\n\n\
         `phe` is python-paillier with gmpy2: its raw operations, without its encoding. It has one form of each operation. \
         `mpz_powm` and `mpz_powm_sec` are the same formulas with GMP's variable-time and constant-time exponentiation; \
         `ecrt` and `dual` are compared with GMP's `crt`. Ratios above 1 mean that Hearith is faster.\n\n",
        plan.rounds, plan.seconds
    )?;
    write!(text, "## Goals\n\n{}\n", goals(outcomes))?;
    for &bits in sizes {
        let of_size: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.bits == bits).collect();
        write!(text, "## {bits} bits\n\n{}\n{}\n", ours_table(&of_size), others_table(&of_size))?;
    }
    Ok(text)
}

const PHE: &str = "phe";
const POWM: &str = "GMP mpz_powm";
const POWM_SEC: &str = "GMP mpz_powm_sec";

/// Our rates and ratios.
fn ours_table(outcomes: &[&Outcome]) -> String {
    let mut table = Table::new(["operation", "library", "per second", PHE, POWM, POWM_SEC]);
    for outcome in outcomes.iter().filter(|outcome| !outcome.ratios.is_empty()) {
        let cell = |library| outcome.ratio_to(library).map_or("-".into(), spread);
        let [phe, powm, powm_sec] = [PHE, POWM, POWM_SEC].map(cell);
        table.row([outcome.title.into(), outcome.library.clone(), rate(outcome.per_second), phe, powm, powm_sec]);
    }
    table.to_markdown()
}

/// The rates of the other libraries.
fn others_table(outcomes: &[&Outcome]) -> String {
    let mut table = Table::new(["operation", PHE, POWM, POWM_SEC]);
    for way in Way::ALL {
        let cells = [PHE, POWM, POWM_SEC].map(|library| {
            let found = outcomes.iter().find(|outcome| outcome.library == library && outcome.way == way.key());
            found.map_or("-".into(), |outcome| rate(outcome.per_second))
        });
        if cells.iter().any(|cell| cell != "-") {
            let [phe, powm, powm_sec] = cells;
            table.row([format!("{}, per second", way.title()), phe, powm, powm_sec]);
        }
    }
    table.to_markdown()
}

/// The goals for each engine: a minimum speed relative to a library.
fn goals(outcomes: &[Outcome]) -> String {
    // At most 1.2 times the time of variable-time powm.
    const NEARLY: f64 = 1.0 / 1.2;
    let every_size = [1024, 2048, 3072, 4096];
    let mut goals: Vec<(&str, Way, u32, &str, f64)> = Vec::new();
    goals.extend(every_size.map(|bits| ("hearith (serial)", Way::DecryptDual, bits, POWM_SEC, 1.0)));
    goals.extend(every_size.map(|bits| ("hearith (serial)", Way::DecryptDual, bits, POWM, NEARLY)));
    let vector = "hearith (ifma)";
    goals.extend(
        [(1024, 15.0), (2048, 13.0), (3072, 11.0)].map(|(bits, times)| (vector, Way::DecryptDual, bits, PHE, times)),
    );
    let encryptions = [(Way::EncryptPublic, 11.0), (Way::EncryptDjn, 100.0), (Way::EncryptOwner, 40.0)];
    goals.extend(encryptions.map(|(way, times)| (vector, way, 2048, PHE, times)));

    let mut table = Table::new(["operation", "bits", "library", "compared with", "at least", "measured", "met"]);
    for (library, way, bits, other, times) in goals {
        let found = outcomes.iter().find(|row| row.library == library && row.way == way.key() && row.bits == bits);
        if let Some(measured) = found.and_then(|row| row.ratio_to(other)) {
            let met = if measured.median >= times { "yes" } else { "no" };
            let cells = [bits.to_string(), library.into(), other.into(), ratio(times), spread(measured), met.into()];
            table.row(std::iter::once(way.title().to_owned()).chain(cells));
        }
    }
    table.to_markdown()
}
