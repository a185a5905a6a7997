//! The engines for machines without AVX-512 compared with GMP and HEU, on one thread, in one run.
//!
//! The method is that of `compare`. HEU generates its own keys, since it accepts no others, and its
//! process checks its own results.

use hearith_bench::Result;
use hearith_bench::contestant::{Contestant, Operation, Way, check};
use hearith_bench::gmp::Gmp;
use hearith_bench::heu::Heu;
use hearith_bench::machine::Machine;
use hearith_bench::options::Options;
use hearith_bench::ours::Ours;
use hearith_bench::report::{Table, rate, ratio, spread};
use hearith_bench::rounds::{Entry, Plan, calibrate, measure_round};
use hearith_bench::statistics::Spread;
use hearith_bench::workload::Workload;
use hearith_paillier::Engine;
use std::fmt::Write;

/// The measured engines.
const ENGINES: [Engine; 2] = [Engine::Serial, Engine::Avx2];
/// The measured ways. A library without one of them uses its own way of the operation.
const WAYS: [Way; 5] = [Way::EncryptPublic, Way::EncryptDjn, Way::DecryptDual, Way::DecryptOne, Way::Add];
const SERIAL: &str = "hearith (serial)";
const AVX2: &str = "hearith (avx2)";
const POWM: &str = "GMP mpz_powm";
const HEU: &str = "HEU ZPaillier";

/// The results for a key size: for each library and way, the seconds per row in each round.
struct Found {
    bits: u32,
    entries: Vec<(String, Way, Vec<f64>)>,
}

fn main() -> Result<()> {
    let options = Options::from_args()?;
    let sizes = if options.bits.is_empty() { vec![1024, 2048, 3072, 4096] } else { options.bits.clone() };
    let plan = if options.quick { Plan { seconds: 0.01, rounds: 3 } } else { Plan { seconds: 0.1, rounds: 7 } };
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    let mut versions = String::new();
    let found: Vec<Found> = sizes.iter().map(|&bits| measure(bits, &plan, &mut versions)).collect::<Result<_>>()?;
    std::fs::write(options.out.join("everywhere.md"), markdown(&plan, &versions, &found)?)?;
    Ok(())
}

fn measure(bits: u32, plan: &Plan, versions: &mut String) -> Result<Found> {
    eprintln!("{bits} bits");
    let workload = Workload::new(bits)?;
    let mut contestants: Vec<Box<dyn Contestant>> = Vec::new();
    for engine in ENGINES {
        contestants.push(Box::new(Ours::new(&workload, engine)?));
    }
    contestants.push(Box::new(Gmp::new(&workload, false)));
    let own_results = contestants.len();
    for schema in ["ZPaillier", "OU"] {
        let heu = Heu::new(schema, bits)?;
        *versions = heu.versions().to_owned();
        contestants.push(Box::new(heu));
    }
    let mut entries: Vec<Entry> = Vec::new();
    for operation in Operation::ALL {
        let from = entries.len();
        for (index, contestant) in contestants.iter_mut().enumerate() {
            let wanted = |way: &Way| match index < own_results {
                true => WAYS.contains(way) || *way == Way::DecryptCrt && index == own_results - 1,
                false => true,
            };
            for way in contestant.ways().to_vec().into_iter().filter(|way| way.operation() == operation && wanted(way))
            {
                if index < own_results {
                    check(contestant.as_mut(), way, &workload)?;
                }
                entries.push(calibrate(contestant.as_mut(), index, way, plan)?);
            }
        }
        for round in 0..plan.rounds {
            measure_round(&mut contestants, &mut entries[from..], round)?;
        }
    }
    let named = |entry: Entry| (contestants[entry.contestant].name().to_owned(), entry.way, entry.seconds);
    Ok(Found { bits, entries: entries.into_iter().map(named).collect() })
}

impl Found {
    /// The seconds of a library's way, or of its only way of that operation.
    fn seconds(&self, library: &str, way: Way) -> Option<&[f64]> {
        let of =
            |fits: &dyn Fn(Way) -> bool| self.entries.iter().find(|(name, found, _)| name == library && fits(*found));
        let only = |found: Way| found.operation() == way.operation() && way != Way::EncryptPublic;
        of(&|found| found == way).or_else(|| of(&only)).map(|(_, _, seconds)| &seconds[..])
    }

    fn ratio(&self, ours: &str, theirs: &str, way: Way) -> Option<Spread> {
        Some(Spread::of_ratios(self.seconds(theirs, way)?, self.seconds(ours, way)?))
    }
}

fn markdown(plan: &Plan, versions: &str, found: &[Found]) -> Result<String> {
    let mut text = String::from("# Without AVX-512, compared with GMP and HEU\n\n");
    write!(text, "Made by `make bench-everywhere` (`bench/src/bin/everywhere.rs`).\n\n")?;
    writeln!(text, "{}- Versions: {versions}", Machine::here().to_markdown())?;
    write!(
        text,
        "- Method: one thread, with each engine selected explicitly; {} rounds of about {} s per sample in alternating \
         order. Rates are medians; a ratio is the median of the rounds' ratios, with the lowest and highest in brackets.\n\n\
         `GMP` uses the same formulas with `mpz_powm`, which is not constant-time. HEU is not constant-time either. Its \
         `ZPaillier` is Paillier's scheme with the short exponents of Damgård, Jurik and Nielsen, over tables that secret \
         bits index. Its `OU` is the scheme of Okamoto and Uchiyama modulo `p^2 q`, which rests on another assumption and \
         needs less computation: compare Paillier's figures with `ZPaillier`. HEU uses its own keys of the same length.\n\n",
        plan.rounds, plan.seconds
    )?;
    write!(text, "## Goals\n\n{}\n", goals(found))?;
    for size in found {
        write!(text, "## {} bits\n\n{}\n", size.bits, table(size))?;
    }
    Ok(text)
}

/// All rates, and the speed of the AVX2 engine relative to each.
fn table(found: &Found) -> String {
    let mut table = Table::new(["operation", "library", "per second", "avx2 compared with it"]);
    for (library, way, seconds) in &found.entries {
        let ours = if *way == Way::DecryptCrt { Way::DecryptDual } else { *way };
        let gain = found.seconds(AVX2, ours).map(|ours| Spread::of_ratios(seconds, ours));
        let gain = if library == AVX2 { "-".into() } else { gain.map_or("-".into(), spread) };
        let per_second = rate(1.0 / Spread::of(seconds.iter().copied()).median);
        table.row([way.title().to_owned(), library.clone(), per_second, gain]);
    }
    table.to_markdown()
}

fn goals(found: &[Found]) -> String {
    let goals = [
        (Way::DecryptDual, SERIAL, 2.2),
        (Way::DecryptDual, POWM, 2.2),
        (Way::EncryptDjn, HEU, 1.5),
        (Way::Add, HEU, 1.3),
        (Way::Add, POWM, 1.5),
    ];
    let mut table = Table::new(["operation", "bits", "compared with", "at least", "measured", "met"]);
    for (way, other, least) in goals {
        for size in found.iter().filter(|size| [2048, 3072].contains(&size.bits)) {
            if let Some(measured) = size.ratio(AVX2, other, way) {
                let met = if measured.median >= least { "yes" } else { "no" };
                table.row([way.title(), &size.bits.to_string(), other, &ratio(least), &spread(measured), met]);
            }
        }
    }
    table.to_markdown()
}
