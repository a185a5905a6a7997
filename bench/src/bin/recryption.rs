//! Recryption of ciphertexts over the integers and circuits on them: `results/recryption.md`.

use hearith_arith::Engine;
use hearith_bench::Result;
use hearith_bench::machine::Machine;
use hearith_bench::options::Options;
use hearith_bench::report::Table;
use hearith_bench::statistics::Spread;
use hearith_dghv::circuit::{Circuit, library};
use hearith_dghv::{
    Ciphertext, Evaluator, InsecureHistoricalParameters, KeyPair, Parameters, RecryptionKey, Scheme, Size,
};
use rustix::time::{ClockId, clock_gettime};
use std::fmt::Write as _;
use std::fs;
use std::time::Instant;

/// Ciphertexts of a batch.
const BATCH: usize = 4;

/// The number of measurements.
fn rounds(size: Size, quick: bool) -> usize {
    match size {
        _ if quick => 1,
        Size::Toy | Size::Small => 7,
        Size::Medium => 3,
        Size::Large => 1,
    }
}

struct Keys {
    pair: KeyPair,
    recryption: RecryptionKey,
    seconds: f64,
}

fn keys(scheme: Scheme, size: Size) -> Result<Keys> {
    let parameters = Parameters::historical(scheme, size);
    let pair = KeyPair::generate(&parameters, Engine::best(), InsecureHistoricalParameters)?;
    let start = Instant::now();
    let recryption = RecryptionKey::generate(&pair.private, &pair.public, InsecureHistoricalParameters)?;
    Ok(Keys { pair, recryption, seconds: start.elapsed().as_secs_f64() })
}

/// Ciphertexts with the noise of fresh ones, made with the private key, because encryption is
/// measured elsewhere.
fn ciphertexts(keys: &Keys, bits: &[bool]) -> Result<Vec<Ciphertext>> {
    let parameters = keys.pair.public.parameters();
    let made = keys.pair.private.encrypt(&keys.pair.public, bits)?;
    let noisy =
        |c: Ciphertext| Ciphertext::from_parts(c.key_id(), parameters, c.value().to_vec(), parameters.fresh_noise());
    Ok(made.into_iter().map(noisy).collect::<std::result::Result<_, _>>()?)
}

/// Seconds to recrypt `count` ciphertexts at once: CPU time for one thread, since the machine may
/// be shared, and wall-clock time for several.
fn recryption(keys: &Keys, count: usize, threads: usize, rounds: usize) -> Result<Spread> {
    let bits: Vec<bool> = (0..count).map(|row| row % 2 == 1).collect();
    let given = ciphertexts(keys, &bits)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let mut taken = Vec::new();
    for _ in 0..=rounds {
        let (results, processor, wall) = pool.install(|| {
            let (start, before) = (Instant::now(), processor_time());
            let results = keys.recryption.recrypt(&keys.pair.public, &given);
            (results, processor_time() - before, start.elapsed().as_secs_f64())
        });
        taken.push(if threads == 1 { processor } else { wall });
        assert_eq!(keys.pair.private.decrypt(&results?)?, bits);
    }
    // The first one prepares transforms.
    Ok(Spread::of(taken.into_iter().skip(1)))
}

/// This thread's CPU time in seconds.
fn processor_time() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

/// A circuit's number of recryptions, and its seconds.
fn circuit(keys: &Keys, circuit: &Circuit) -> Result<(usize, f64)> {
    let bits: Vec<bool> = (0..circuit.input_bits()).map(|bit| bit % 3 == 1).collect();
    let rows = [ciphertexts(keys, &bits)?];
    let evaluator = Evaluator::new(&keys.pair.public).with_recryption(&keys.recryption);
    let recryptions = evaluator.recryptions(circuit, &rows)?;
    let start = Instant::now();
    let results = evaluator.evaluate(circuit, &rows)?;
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(keys.pair.private.decrypt(&results[0])?, circuit.evaluate_plain(&bits));
    Ok((recryptions, seconds))
}

fn time(seconds: f64) -> String {
    if seconds < 1.0 { format!("{seconds:.4}") } else { format!("{seconds:.2}") }
}

fn main() -> Result<()> {
    let options = Options::from_args()?;
    let sizes = if options.quick { &Size::ALL[..1] } else { Size::ALL };
    let mut recryptions = Table::new([
        "",
        "noise [bits]",
        "one thread [s]",
        "least",
        "most",
        "all cores [s]",
        "of four, each [s]",
        "key [s]",
    ]);
    let mut circuits = Table::new(["", "circuit", "AND", "recryptions", "s"]);
    let sbox = Circuit::parse(library::AES_SBOX)?;
    let measured = [("adder, 8 bits", library::adder(8)), ("comparison, 8 bits", library::less_than(8))];
    let measured = [&measured[..], &[("majority of 7", library::majority(3)), ("S-box of AES", sbox)]].concat();
    for &size in sizes {
        for &scheme in Scheme::ALL {
            let (keys, rounds) = (keys(scheme, size)?, rounds(size, options.quick));
            let cores = rayon::current_num_threads();
            let one = recryption(&keys, 1, 1, rounds)?;
            let (all, batch) = (recryption(&keys, 1, cores, rounds)?, recryption(&keys, BATCH, cores, rounds)?);
            recryptions.row([
                format!("{scheme} {size}"),
                format!("{:.0}", keys.recryption.noise()),
                time(one.median),
                time(one.min),
                time(one.max),
                time(all.median),
                time(batch.median / BATCH as f64),
                time(keys.seconds),
            ]);
            for (name, of) in measured.iter().filter(|_| size < Size::Medium) {
                let (count, seconds) = circuit(&keys, of)?;
                let (ands, count) = (of.ands().to_string(), count.to_string());
                circuits.row([format!("{scheme} {size}"), (*name).into(), ands, count, time(seconds)]);
            }
            eprintln!("recryption: {scheme} {size}: {:.4} s", one.median);
            // After every set, so that an interrupted run leaves its results.
            fs::write(options.out.join("recryption.md"), report(&options, &recryptions, &circuits)?)?;
        }
    }
    Ok(())
}

fn report(options: &Options, recryptions: &Table, circuits: &Table) -> Result<String> {
    let mut text = String::from(
        "# Recryption over the integers\n\nMade by `make bench-recryption` (`bench/src/bin/recryption.rs`).\n\n",
    );
    text += &Machine::here().to_markdown();
    let load = fs::read_to_string("/proc/loadavg")?;
    writeln!(text, "- Cores: {}", rayon::current_num_threads())?;
    writeln!(text, "- Load average at the end: {}", load.split(' ').next().unwrap_or("unknown"))?;
    if options.quick {
        writeln!(text, "- A quick run (`--quick`): it only shows that everything works, its numbers mean little")?;
    }
    writeln!(
        text,
        "- Method: medians of up to seven recryptions without the first; each result is decrypted. One thread is measured in \
         processor time, all cores in wall-clock time, so other programs make them look slower than they are.\n"
    )?;
    write!(
        text,
        "{}\n## Circuits\n\nOne row of freshly encrypted inputs.\n\n{}",
        recryptions.to_markdown(),
        circuits.to_markdown()
    )?;
    Ok(text)
}
