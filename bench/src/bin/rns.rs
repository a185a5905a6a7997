//! Residue conversion in both directions compared with NTL and FLINT, on one thread:
//! `results/rns-software.md`.

use hearith_arith::cost::peak_rate;
use hearith_arith::{Batch, Engine};
use hearith_bench::Result;
use hearith_bench::machine::{Machine, engines};
use hearith_bench::number::random_below;
use hearith_bench::options::Options;
use hearith_bench::report::{Table, ratio, spread as spread_of};
use hearith_bench::statistics::Spread;
use hearith_rns::{Basis, Bounds, PrimeSearch, Residues, SpecialPrime};
use rug::{Integer, integer::Order};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

/// Numbers of a batch: a polynomial's coefficients, few enough that the residues fit the
/// second-level cache.
const ROWS: usize = 2048;

/// A ring of the paper: log2 of the degree, bits of the modulus, primes, c.
const RINGS: [(u32, u32, usize, u32); 2] = [(13, 360, 12, 62), (15, 1440, 48, 63)];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Residues,
    Numbers,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Way::Residues => "residues",
            Way::Numbers => "numbers",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Way::Residues => "numbers to residues",
            Way::Numbers => "residues to numbers",
        }
    }
}

/// The claims: speed relative to a library.
const CLAIMS: [(Engine, Way, &str, f64); 4] = [
    (Engine::Ifma, Way::Residues, "NTL", 8.0),
    (Engine::Ifma, Way::Residues, "FLINT", 15.0),
    (Engine::Ifma, Way::Numbers, "FLINT", 4.0),
    (Engine::Avx2, Way::Residues, "NTL", 3.0),
];

/// A library that converts.
trait Contestant {
    fn name(&self) -> String;
    /// Whether it supports the conversion back.
    fn goes_back(&self) -> bool;
    /// A lower bound of the nanoseconds per number on this machine, if known.
    fn limit(&self, _way: Way) -> Option<f64> {
        None
    }
    /// Converts all numbers `repeats` times, and returns the seconds.
    fn run(&mut self, way: Way, repeats: usize) -> Result<f64>;
    /// The residues of a number, and the number converted back from them.
    fn show(&mut self, row: usize) -> Result<(Vec<u64>, Integer)>;
}

struct Ours<'a> {
    basis: Basis,
    numbers: &'a Batch,
    slices: Option<Vec<Vec<u64>>>,
    residues: Residues,
    back: Batch,
}

impl<'a> Ours<'a> {
    fn new(engine: Engine, moduli: &[u64], numbers: &'a Batch, sliced: bool) -> Result<Self> {
        let basis = Basis::new(engine, moduli)?;
        let slice = |limb: usize| numbers.rows().map(|row| row[limb]).collect();
        let slices = sliced.then(|| (0..numbers.limbs()).map(slice).collect());
        let residues = basis.residues(numbers)?;
        let back = basis.numbers(&residues)?;
        Ok(Ours { basis, numbers, slices, residues, back })
    }
}

impl Contestant for Ours<'_> {
    fn name(&self) -> String {
        let sliced = if self.slices.is_some() { ", limb by limb" } else { "" };
        format!("hearith ({}{sliced})", self.basis.engine())
    }

    fn goes_back(&self) -> bool {
        self.slices.is_none()
    }

    fn limit(&self, way: Way) -> Option<f64> {
        let instructions = self.basis.instructions()?[way as usize] as f64;
        Some(instructions / 8.0 / peak_rate()?)
    }

    fn run(&mut self, way: Way, repeats: usize) -> Result<f64> {
        let start = Instant::now();
        for _ in 0..repeats {
            match (way, &self.slices) {
                (Way::Residues, None) => self.basis.residues_into(self.numbers, &mut self.residues)?,
                (Way::Residues, Some(slices)) => {
                    let slices: Vec<&[u64]> = slices.iter().map(Vec::as_slice).collect();
                    self.basis.residues_of_slices_into(&slices, &mut self.residues)?;
                }
                (Way::Numbers, _) => self.basis.numbers_into(&self.residues, &mut self.back)?,
            }
        }
        Ok(start.elapsed().as_secs_f64())
    }

    fn show(&mut self, row: usize) -> Result<(Vec<u64>, Integer)> {
        let residues = self.residues.columns().map(|column| column[row]).collect();
        Ok((residues, Integer::from_digits(self.back.row(row), Order::Lsf)))
    }
}

/// The process with NTL and FLINT.
struct Libraries {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Libraries {
    fn start() -> Result<Self> {
        let path =
            std::env::var("HEARITH_RNS_LIBRARIES").map_err(|_| "run scripts/bench_rns.sh, which builds NTL's side")?;
        let mut process = Command::new(path).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let requests = process.stdin.take().ok_or("no pipe to the libraries")?;
        let answers = BufReader::new(process.stdout.take().ok_or("no pipe from the libraries")?);
        Ok(Libraries { process, requests, answers })
    }

    /// Sends moduli and numbers, and returns the libraries' versions.
    fn load(&mut self, bits: u32, moduli: &[u64], numbers: &Batch) -> Result<String> {
        let mut text = format!("load {bits} {} {}\n", numbers.len(), moduli.len());
        moduli.iter().try_for_each(|modulus| write!(text, "{modulus} "))?;
        for row in numbers.rows() {
            write!(text, "\n{}", Integer::from_digits(row, Order::Lsf).to_string_radix(16))?;
        }
        self.ask(&text)
    }

    fn ask(&mut self, request: &str) -> Result<String> {
        writeln!(self.requests, "{request}")?;
        self.requests.flush()?;
        let mut line = String::new();
        match self.answers.read_line(&mut line)? {
            0 => Err("the libraries' process stopped".into()),
            _ => Ok(line.trim().to_owned()),
        }
    }
}

impl Drop for Libraries {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

struct Theirs<'a> {
    name: &'static str,
    /// Its name in requests to the process.
    key: &'static str,
    libraries: &'a std::cell::RefCell<Libraries>,
}

impl Contestant for Theirs<'_> {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn goes_back(&self) -> bool {
        self.key != "ntl-rem"
    }

    fn run(&mut self, way: Way, repeats: usize) -> Result<f64> {
        let request = format!("{} {} {repeats}", way.name(), self.key);
        Ok(self.libraries.borrow_mut().ask(&request)?.parse()?)
    }

    fn show(&mut self, row: usize) -> Result<(Vec<u64>, Integer)> {
        let answer = self.libraries.borrow_mut().ask(&format!("show {} {row}", self.key))?;
        let (residues, number) = answer.rsplit_once(' ').ok_or("an answer without residues")?;
        let residues = residues.split(' ').map(str::parse).collect::<std::result::Result<_, _>>()?;
        Ok((residues, Integer::from_str_radix(number, 16)?))
    }
}

/// Nanoseconds per number and round, for each contestant and way.
struct Measured {
    names: Vec<String>,
    limits: Vec<[Option<f64>; 2]>,
    go_back: Vec<bool>,
    rounds: [Vec<Vec<f64>>; 2],
}

impl Measured {
    fn of(&self, way: Way, name: &str) -> Option<&[f64]> {
        let at = self.names.iter().position(|one| one == name)?;
        Some(&self.rounds[way as usize][at])
    }
}

fn main() -> Result<()> {
    let options = Options::from_args()?;
    let (rounds, seconds) = if options.quick { (3, 0.002) } else { (15, 0.02) };
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    let libraries = std::cell::RefCell::new(Libraries::start()?);
    let (mut claims, mut tables, mut versions) = (Vec::new(), String::new(), String::new());
    for (log_degree, bits, count, max_word) in RINGS {
        let search = PrimeSearch {
            degree: 1 << log_degree,
            modulus_bits: bits,
            word_bits: 30,
            max_word,
            terms: 5,
            bounds: Bounds::Paper,
        };
        let moduli: Vec<u64> = search.primes()?.take(count).map(|prime: SpecialPrime| prime.modulus()).collect();
        let numbers = random_numbers(&moduli)?;
        versions = libraries.borrow_mut().load(bits, &moduli, &numbers)?;
        let measured = measure(&moduli, &numbers, &libraries, rounds, seconds)?;
        let title = format!("{bits} bits, {count} primes");
        for (engine, way, library, least) in CLAIMS {
            let name = format!("hearith ({engine})");
            let (Some(theirs), Some(ours)) = (measured.of(way, library), measured.of(way, &name)) else { continue };
            claims.push((title.clone(), way, library, least, name, Spread::of_ratios(theirs, ours)));
        }
        write!(tables, "\n## {title}\n\n{}", table(&measured))?;
    }

    let mut text = String::from(
        "# Residue conversion compared with NTL and FLINT\n\nMade by `make bench-rns` (`bench/src/bin/rns.rs`).\n\n",
    );
    text += &Machine::here().to_markdown();
    writeln!(text, "- Versions: {versions}")?;
    writeln!(
        text,
        "- Method: one thread; {ROWS} random numbers below the product of the primes, written to preallocated memory. Each \
         result is checked. {rounds} rounds of about {seconds} s per sample in alternating order. Times are medians; a ratio \
         is the median of the rounds' ratios, with the lowest and highest in brackets.\n"
    )?;
    text += "The primes are the largest special primes of the paper's rings. `NTL` is the code beneath its `ZZ_pX`: \
     `ZZ_RemStructAdapter`, which only accepts primes of 60 bits and gets as many of them as there are special primes, and \
     `ZZ_CRTStructAdapter` with the special primes and one long remainder. `NTL, rem` is its remainder of a long integer by \
     a word, prime by prime. FLINT's functions are `fmpz_multi_mod_ui` and `fmpz_multi_CRT_ui`. Ratios above 1 mean that Hearith is faster. The \
     limit is the time of the conversion's IFMA instructions alone (`Basis::instructions`, at the core's rate as measured at \
     the start).\n\n## Goals\n\n";
    let mut shown = Table::new(["numbers", "way", "library", "compared with", "at least", "measured", "met"]);
    for (title, way, library, least, name, spread) in claims {
        let met = if spread.median >= least { "yes" } else { "no" };
        let least = ratio(least);
        shown.row([&title, way.title(), &name, library, &least, &spread_of(spread), met]);
    }
    text += &shown.to_markdown();
    text += &tables;
    std::fs::write(options.out.join("rns-software.md"), &text)?;
    print!("{text}");
    Ok(())
}

/// Numbers below the product, the largest first.
fn random_numbers(moduli: &[u64]) -> Result<Batch> {
    let product = moduli.iter().fold(Integer::from(1), |product, &modulus| product * modulus);
    let limbs = product.significant_digits::<u64>();
    let mut rows = vec![Integer::from(&product - 1)];
    while rows.len() < ROWS {
        rows.push(random_below(&product));
    }
    let rows: Vec<Vec<u64>> = rows.iter().map(|number| number.to_digits(Order::Lsf)).collect();
    Ok(Batch::from_rows(limbs, rows.iter().map(Vec::as_slice)))
}

fn measure<'a>(
    moduli: &[u64],
    numbers: &'a Batch,
    libraries: &'a std::cell::RefCell<Libraries>,
    rounds: usize,
    seconds: f64,
) -> Result<Measured> {
    let mut contestants: Vec<Box<dyn Contestant + 'a>> = Vec::new();
    for engine in engines() {
        contestants.push(Box::new(Ours::new(engine, moduli, numbers, false)?));
    }
    contestants.push(Box::new(Ours::new(Engine::best(), moduli, numbers, true)?));
    for (name, key) in [("NTL, rem", "ntl-rem"), ("NTL", "ntl"), ("FLINT", "flint")] {
        contestants.push(Box::new(Theirs { name, key, libraries }));
    }
    let names = contestants.iter().map(|contestant| contestant.name()).collect();
    let limits = contestants.iter().map(|contestant| [Way::Residues, Way::Numbers].map(|way| contestant.limit(way)));
    let go_back = contestants.iter().map(|contestant| contestant.goes_back()).collect();
    let mut measured = Measured { names, limits: limits.collect(), go_back, rounds: [const { Vec::new() }; 2] };
    for way in [Way::Residues, Way::Numbers] {
        let samples = sample(&mut contestants, way, rounds, seconds)?;
        measured.rounds[way as usize] = samples;
    }
    for contestant in &mut contestants {
        for row in (0..ROWS).step_by(7) {
            let number = Integer::from_digits(numbers.row(row), Order::Lsf);
            let residues = moduli.iter().map(|&modulus| Integer::from(&number % modulus).to_u64_wrapping()).collect();
            if contestant.show(row)? != (residues, number) {
                return Err(format!("{}: a wrong result in row {row}", contestant.name()).into());
            }
        }
    }
    Ok(measured)
}

fn sample(
    contestants: &mut [Box<dyn Contestant + '_>],
    way: Way,
    rounds: usize,
    seconds: f64,
) -> Result<Vec<Vec<f64>>> {
    let mut repeats = Vec::new();
    for contestant in contestants.iter_mut() {
        contestant.run(way, 1)?;
        let once = contestant.run(way, 3)? / 3.0;
        repeats.push((seconds / once).ceil() as usize);
    }
    let mut samples = vec![Vec::new(); contestants.len()];
    for round in 0..rounds {
        let mut order: Vec<usize> = (0..contestants.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for at in order {
            let took = contestants[at].run(way, repeats[at])?;
            samples[at].push(took / (repeats[at] * ROWS) as f64 * 1e9);
        }
    }
    Ok(samples)
}

fn table(measured: &Measured) -> String {
    let mut table =
        Table::new(["way", "library", "ns per number", "limit, ns", "compared with NTL", "compared with FLINT"]);
    for way in [Way::Residues, Way::Numbers] {
        for (index, (name, ours)) in measured.names.iter().zip(&measured.rounds[way as usize]).enumerate() {
            if way == Way::Numbers && !measured.go_back[index] {
                continue;
            }
            let beside = |library| match measured.of(way, library) {
                Some(theirs) if name != library => spread_of(Spread::of_ratios(theirs, ours)),
                _ => "-".to_owned(),
            };
            let median = ratio(Spread::of(ours.iter().copied()).median);
            let limit = measured.limits[index][way as usize].map_or("-".to_owned(), ratio);
            table.row([way.title(), name, &median, &limit, &beside("NTL"), &beside("FLINT")]);
        }
    }
    table.to_markdown()
}
