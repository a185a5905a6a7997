//! The tables and the plot.

use crate::task::{LIMB, LONG, LONGEST, Task, bits};
use crate::{Measured, Times};
use hearith_arith::cost::peak_rate;
use hearith_bench::Result;
use hearith_bench::machine::Machine;
use hearith_bench::options::Options;
use hearith_bench::plot::{Line, log_log};
use hearith_bench::report::{Table, ratio};
use hearith_bench::statistics::Spread;
use hearith_paillier::Engine;
use std::fmt::Write;
use std::fs;

/// The claims: the bits of a product from which one thread must be this many times as fast as
/// FLINT, and the same factor for remainders.
const CLAIMS: [(usize, f64); 2] = [(100_000, 1.2), (1_000_000, 2.0)];
const REMAINDERS: f64 = 2.0;

/// The data common to all results.
pub struct Report<'a> {
    pub options: &'a Options,
    pub versions: String,
    /// Rounds of ordinary tasks, of long tasks, and of the longest.
    pub rounds: [usize; 3],
}

impl Report<'_> {
    /// Writes the results so far. `missing` lists the remaining tasks.
    pub fn write(&self, measured: &[Measured], missing: &[Task]) -> Result<()> {
        let mut text = String::from(
            "# Very long numbers compared with FLINT, GMP and tfhe-ntt\n\nMade by `make bench-ntt` (`bench/src/bin/ntt`).\n\n",
        );
        text += &Machine::here().to_markdown();
        writeln!(text, "- Versions: {}", self.versions)?;
        if self.options.quick {
            writeln!(text, "- A quick run (`--quick`): it only shows that everything works, its numbers mean little")?;
        }
        if !missing.is_empty() {
            let names: Vec<String> = missing.iter().map(|task| task.name()).collect();
            writeln!(text, "- Cut short, not measured: {}", names.join("; "))?;
        }
        if let Some(peak) = peak_rate() {
            writeln!(text, "- Peak: {peak:.2} IFMA instructions per nanosecond and core, measured at the end")?;
        }
        let [rounds, few, one] = self.rounds;
        writeln!(
            text,
            "- Method: {rounds} rounds ({few} above {} bits, {one} above {}) in alternating order. Times are medians, ratios \
             medians of paired rounds. One thread is measured in processor time, two in wall-clock time, so other programs \
             make two threads look slower than they are. All libraries' products and remainders are compared. Tables of the \
             transforms are computed beforehand; for remainders, so are the transforms of the modulus and its reciprocal.",
            bits(LONG / LIMB),
            bits(LONGEST / LIMB)
        )?;
        let products: Vec<&Measured> = measured.iter().filter(|one| matches!(one.task, Task::Product(_))).collect();
        write!(text, "\n## Products\n\n{}\n{SHARES}", products_table(&products))?;
        writeln!(text, "\n![Time against bits, both logarithmic](ntt.svg)\n\n## Goals\n")?;
        text += &claims(measured);
        write!(text, "\n## Remainders\n\n{}", remainders_table(measured))?;
        write!(text, "\n## Transforms alone\n\n{TRANSFORMS}\n{}", transforms_table(measured))?;
        write!(text, "\n## All times\n\n{}", times_table(measured))?;
        fs::write(self.options.out.join("ntt.md"), text)?;
        fs::write(self.options.out.join("ntt.svg"), plot(&products))?;
        Ok(())
    }
}

const SHARES: &str = "\
`x` is the time of FLINT or GMP divided by ours; GMP has only one thread. The shares are of one thread's time: the time of the
product's multiplications alone at the peak, and the time of its passes over memory alone, at the rate of a loop that reads and
writes as many bytes as two transforms have. There is no share of memory if a core's own caches hold everything.
";

const TRANSFORMS: &str = "\
Eight transforms of 2^k residues, on one thread, modulo the eight primes. Ours computes the residues from a number's bits and stops
at polynomials of eight coefficients, three levels before the end; tfhe-ntt computes a complete negacyclic transform. So the ratio
compares times per level.
";

fn milliseconds(ms: f64) -> String {
    if ms < 1.0 { format!("{ms:.4}") } else { format!("{ms:.2}") }
}

fn median(times: &Times) -> String {
    milliseconds(Spread::of(times.taken.iter().copied()).median)
}

fn products_table(products: &[&Measured]) -> String {
    let head =
        ["bits", "ms", "x FLINT", "x GMP", "two threads, ms", "gain", "x FLINT", "of multiplication", "of memory"];
    let mut table = Table::new(head);
    let mut products = products.to_vec();
    products.sort_by_key(|one| one.task.nanoseconds());
    for one in products {
        let Task::Product(limbs) = one.task else { continue };
        let (ours, two) = (one.ours(1), one.ours(2));
        let time = Spread::of(ours.taken.iter().copied()).median;
        let share = |limit: Option<f64>| limit.map_or(String::new(), |limit| format!("{:.0} %", 1e5 * limit / time));
        table.row([
            bits(limbs),
            median(ours),
            ratio(one.beside(one.of("FLINT", 1), 1).median),
            ratio(one.beside(one.of("GMP", 1), 1).median),
            median(two),
            ratio(one.beside(ours, 2).median),
            ratio(one.beside(one.of("FLINT", 2), 2).median),
            share(ours.limits[0]),
            share(ours.limits[1]),
        ]);
    }
    table.to_markdown()
}

fn remainders_table(measured: &[Measured]) -> String {
    let mut table = Table::new(["", "ms", "x FLINT", "x GMP", "two threads, ms", "gain", "x FLINT"]);
    for one in measured.iter().filter(|one| matches!(one.task, Task::Remainder(..))) {
        table.row([
            one.task.name(),
            median(one.ours(1)),
            ratio(one.beside(one.of("FLINT", 1), 1).median),
            ratio(one.beside(one.of("GMP", 1), 1).median),
            median(one.ours(2)),
            ratio(one.beside(one.ours(1), 2).median),
            ratio(one.beside(one.of("FLINT", 2), 2).median),
        ]);
    }
    table.to_markdown()
}

fn transforms_table(measured: &[Measured]) -> String {
    let mut table = Table::new(["residues", "ms", "tfhe-ntt, ms", "x tfhe-ntt, per level"]);
    for one in measured {
        let Task::Transform(log) = one.task else { continue };
        let tfhe = one.of("tfhe-ntt", 1);
        let levels = f64::from(log - 3) / f64::from(log);
        table.row([format!("2^{log}"), median(one.ours(1)), median(tfhe), ratio(levels * one.beside(tfhe, 1).median)]);
    }
    table.to_markdown()
}

fn times_table(measured: &[Measured]) -> String {
    let mut table = Table::new(["", "library", "threads", "ms", "least", "most"]);
    for one in measured {
        for times in &one.times {
            let spread = Spread::of(times.taken.iter().copied());
            table.row([
                one.task.name(),
                times.name.clone(),
                times.threads.to_string(),
                milliseconds(spread.median),
                milliseconds(spread.min),
                milliseconds(spread.max),
            ]);
        }
    }
    table.to_markdown()
}

/// The claims and whether they were reached.
fn claims(measured: &[Measured]) -> String {
    let lines = measured.iter().filter_map(|one| {
        let least = match one.task {
            Task::Product(limbs) => CLAIMS.iter().rfind(|(bits, _)| 64 * limbs >= *bits)?.1,
            Task::Remainder(..) => REMAINDERS,
            Task::Transform(_) => return None,
        };
        let verdict = |found: f64| if found < least { "**missed**" } else { "reached" };
        let flint = one.beside(one.of("FLINT", 1), 1);
        let (low, high) = (ratio(flint.min), ratio(flint.max));
        let mut line = format!(
            "- {}: {} times as fast as FLINT ({low} to {high}), goal {}: {}",
            one.task.name(),
            ratio(flint.median),
            ratio(least),
            verdict(flint.median)
        );
        if matches!(one.task, Task::Remainder(..)) {
            let gmp = one.beside(one.of("GMP", 1), 1).median;
            line += &format!("; {} times as fast as GMP: {}", ratio(gmp), verdict(gmp));
        }
        Some(line + "\n")
    });
    lines.collect()
}

fn plot(products: &[&Measured]) -> String {
    let ours = format!("hearith ({})", Engine::best());
    let whose = [
        ("hearith", ours.as_str(), 1),
        ("hearith, 2 threads", &ours, 2),
        ("FLINT", "FLINT", 1),
        ("FLINT, 2 threads", "FLINT", 2),
        ("GMP", "GMP", 1),
    ];
    let lines = whose.map(|(name, who, threads)| {
        let point = |one: &&Measured| match one.task {
            Task::Product(limbs) => {
                let taken = one.of(who, threads).taken.iter().copied();
                Some((64.0 * limbs as f64, Spread::of(taken).median))
            }
            _ => None,
        };
        let mut points: Vec<(f64, f64)> = products.iter().filter_map(point).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Line { name: name.into(), points }
    });
    let label = "Time of a product against the bits of its factors, for Hearith, FLINT and GMP";
    log_log(label, "bits of each factor", "milliseconds", &lines)
}
