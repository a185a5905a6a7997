//! Proofs that a ciphertext holds 0 or 1, and trustees' shares of decryptions, compared with simple
//! programs of the same equations over gmpy2 (`bench/proofs_gmpy2.py`, `bench/shares_gmpy2.py`), on
//! one thread: `results/proofs.md`.

use hearith_arith::Engine;
use hearith_bench::Result;
use hearith_bench::machine::Machine;
use hearith_bench::options::Options;
use hearith_bench::phe::python;
use hearith_bench::report::{Table, ratio};
use hearith_bench::shares;
use hearith_bench::statistics::Spread;
use hearith_paillier::encoding::encode_signed;
use hearith_paillier::{Ciphertexts, KeyPolicy, Openings, Plaintexts, PrivateKey, PublicKey, ShortOpenings, Variant};
use hearith_proofs::{Contexts, Form, Witness, membership};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::time::Instant;

/// Rows of the measured batches.
const SIZES: [usize; 3] = [256, 2048, 16384];

/// Rows that gmpy2 verifies as a batch, and one by one.
const PEER_ROWS: (usize, usize) = (200, 30);

/// The goals of the issue, at 2048 bits.
const ASKED: [(&str, f64); 3] = [("verify, the slowest of the batches", 20.0), ("verify, one", 8.0), ("prove", 8.0)];

struct Case {
    key: PublicKey,
    set: Plaintexts,
    ciphertexts: Ciphertexts,
    openings: Kept,
    chosen: Vec<usize>,
    contexts: Contexts,
    proofs: membership::Proofs,
}

/// The openings of the ciphertexts, in either form.
enum Kept {
    Openings(Openings),
    Short(ShortOpenings),
}

impl Kept {
    fn witness(&self) -> Witness<'_> {
        match self {
            Kept::Openings(openings) => openings.into(),
            Kept::Short(openings) => openings.into(),
        }
    }

    fn form(&self) -> Form {
        match self {
            Kept::Openings(_) => Form::Openings,
            Kept::Short(openings) => Form::Short { bits: openings.bits() },
        }
    }

    fn range(&self, rows: std::ops::Range<usize>) -> Result<Self> {
        Ok(match self {
            Kept::Openings(openings) => Kept::Openings(openings.range(rows)?),
            Kept::Short(openings) => Kept::Short(openings.range(rows)?),
        })
    }

    /// Bytes of each opening, and the bytes of all.
    fn to_be_bytes(&self) -> (usize, Vec<u8>) {
        match self {
            Kept::Openings(openings) => (openings.row_bytes(), openings.to_be_bytes().to_vec()),
            Kept::Short(openings) => (openings.row_bytes(), openings.to_be_bytes().to_vec()),
        }
    }
}

impl Case {
    fn new(key: &PublicKey, short: bool, rows: usize) -> Result<Self> {
        let key = key.clone();
        let set = encode_signed(&key, &[0, 1])?;
        let chosen: Vec<usize> = (0..rows).map(|row| row * row % 3 % 2).collect();
        let votes: Vec<i128> = chosen.iter().map(|&one| one as i128).collect();
        let votes = encode_signed(&key, &votes)?;
        let (ciphertexts, openings) = if short {
            let (ciphertexts, openings) = key.encrypt_opened_short(&votes)?;
            (ciphertexts, Kept::Short(openings))
        } else {
            let (ciphertexts, openings) = key.encrypt_opened(&votes)?;
            (ciphertexts, Kept::Openings(openings))
        };
        let contexts = Contexts::new(b"bench", (0..rows).map(|row| format!("ballot {row}")));
        let proofs = membership::prove(&key, &contexts, &set, &ciphertexts, openings.witness(), &chosen)?;
        Ok(Case { key, set, ciphertexts, openings, chosen, contexts, proofs })
    }

    /// The same case with its first rows only.
    fn first(&self, rows: usize) -> Result<Self> {
        let width = self.width();
        Ok(Case {
            key: self.key.clone(),
            set: self.set.clone(),
            ciphertexts: self.ciphertexts.range(0..rows)?,
            openings: self.openings.range(0..rows)?,
            chosen: self.chosen[..rows].to_vec(),
            contexts: Contexts::new(b"bench", (0..rows).map(|row| format!("ballot {row}"))),
            proofs: membership::Proofs::from_be_bytes(
                &self.key,
                self.openings.form(),
                2,
                &self.proofs.to_be_bytes()[..rows * width],
            )?,
        })
    }

    /// Bytes of a proof.
    fn width(&self) -> usize {
        membership::Proofs::row_bytes(&self.key, self.openings.form(), 2)
    }

    fn prove(&self) -> Result<f64> {
        let (openings, start) = (self.openings.witness(), Instant::now());
        membership::prove(&self.key, &self.contexts, &self.set, &self.ciphertexts, openings, &self.chosen)?;
        Ok(start.elapsed().as_secs_f64() / self.chosen.len() as f64)
    }

    fn verify(&self) -> Result<f64> {
        let start = Instant::now();
        membership::verify(&self.key, &self.contexts, &self.set, &self.ciphertexts, &self.proofs)?;
        Ok(start.elapsed().as_secs_f64() / self.chosen.len() as f64)
    }

    /// The request to gmpy2, with everything in hexadecimal.
    fn request(&self, single: usize) -> Value {
        let texts = |bytes: &[u8], width: usize| -> Vec<String> {
            bytes.chunks(width).map(|row| row.iter().map(|byte| format!("{byte:02x}")).collect()).collect()
        };
        let (wide, narrow) = (self.key.ciphertext_bytes(), self.key.plaintext_bytes());
        let proofs = self.proofs.to_be_bytes();
        let side = |side: &[u8]| {
            let (a, rest) = side.split_at(wide);
            let (e, z) = rest.split_at(32);
            json!({ "A": texts(a, wide)[0], "e": texts(e, 32)[0], "z": texts(z, z.len())[0] })
        };
        let (width, (opening, openings)) = (self.width(), self.openings.to_be_bytes());
        let base = match self.openings {
            Kept::Openings(_) => None,
            Kept::Short(_) => self.key.generator_power(&[1]).ok().map(|base| texts(&base.to_be_bytes(wide), wide)),
        };
        let rows = texts(&self.ciphertexts.to_be_bytes(), wide)
            .into_iter()
            .zip(texts(&openings, opening))
            .zip(proofs.chunks(width))
            .zip(&self.chosen)
            .map(|(((c, opening), proof), chosen)| {
                json!({ "c": c, "opening": opening, "chosen": chosen, "sides": proof.chunks(width / 2).map(side).collect::<Vec<_>>() })
            });
        json!({
            "n": texts(&self.key.modulus_be(), narrow)[0],
            "base": base.map(|base| base[0].clone()),
            "set": texts(&self.set.to_be_bytes(), narrow),
            "single": single,
            "rows": rows.collect::<Vec<_>>(),
        })
    }
}

/// Seconds per row.
#[derive(Deserialize)]
struct Peer {
    batch: f64,
    single: f64,
    prove: f64,
    versions: String,
}

fn peer(request: &Value) -> Result<Peer> {
    let mut process = python("proofs_gmpy2.py")?;
    process.stdin.take().ok_or("no pipe to Python")?.write_all(request.to_string().as_bytes())?;
    let output = process.wait_with_output()?;
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Median of all rounds in microseconds, as text.
fn microseconds(seconds: &[f64]) -> String {
    format!("{:.1}", 1e6 * Spread::of(seconds.iter().copied()).median)
}

/// Seconds per row of all rounds.
struct Times {
    peers: Vec<Peer>,
    batches: Vec<Vec<f64>>,
    ones: Vec<f64>,
    provings: Vec<f64>,
}

impl Times {
    /// Measures ours and gmpy2's in alternation.
    fn measured(whole: &Case, sizes: &[usize], rounds: usize, (rows, single): (usize, usize)) -> Result<Self> {
        let request = whole.first(rows)?.request(single);
        let cases: Vec<Case> = sizes.iter().map(|&rows| whole.first(rows)).collect::<Result<_>>()?;
        let one = whole.first(1)?;
        let mut times =
            Times { peers: Vec::new(), batches: vec![Vec::new(); sizes.len()], ones: Vec::new(), provings: Vec::new() };
        for round in 0..rounds {
            times.peers.push(peer(&request)?);
            for (case, times) in cases.iter().zip(&mut times.batches) {
                times.push(case.verify()?);
            }
            times.ones.push(one.verify()?);
            times.provings.push(cases[0].prove()?);
            eprintln!("round {} of {rounds}", round + 1);
        }
        Ok(times)
    }

    /// The table, and the figures for the goals: the slowest of the batches, a single proof, and
    /// proving.
    fn table(&self, sizes: &[usize]) -> (Table, [f64; 3]) {
        let of_peer = |figure: fn(&Peer) -> f64| self.peers.iter().map(figure).collect::<Vec<f64>>();
        let (in_batch, one_by_one, proving) = (of_peer(|p| p.batch), of_peer(|p| p.single), of_peer(|p| p.prove));
        let mut table = Table::new(["", "us a proof", "gmpy2, us", "x gmpy2", "least", "most"]);
        let mut add = |what: String, ours: &[f64], theirs: &[f64]| {
            let ratios = Spread::of_ratios(theirs, ours);
            let [median, least, most] = [ratios.median, ratios.min, ratios.max].map(ratio);
            table.row([what, microseconds(ours), microseconds(theirs), median, least, most]);
            ratios.median
        };
        let mut least = f64::INFINITY;
        for (rows, times) in sizes.iter().zip(&self.batches) {
            least = least.min(add(format!("verify, a batch of {rows}"), times, &in_batch));
        }
        let one = add("verify, one".into(), &self.ones, &one_by_one);
        let prove = add(format!("prove, a batch of {}", sizes[0]), &self.provings, &proving);
        (table, [least, one, prove])
    }
}

fn main() -> Result<()> {
    let options = Options::from_args()?;
    let (bits, rounds) = (options.bits.first().copied().unwrap_or(2048), if options.quick { 1 } else { 5 });
    let sizes = if options.quick { vec![64] } else { SIZES.to_vec() };
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    let private = PrivateKey::generate(bits, Variant::Djn, KeyPolicy::AllowInsecure, Engine::best())?;
    let peer_rows = if options.quick { (10, 3) } else { PEER_ROWS };
    let rows = sizes.last().copied().ok_or("no size")?;

    let mut page =
        String::from("# Proofs compared with gmpy2\n\nMade by `make bench-proofs` (`bench/src/bin/proofs.rs`).\n\n");
    let (mut tables, mut verdicts) = (String::new(), String::new());
    for (short, title) in [(false, "By openings"), (true, "Fast ballots, by short openings")] {
        let times = Times::measured(&Case::new(private.public(), short, rows)?, &sizes, rounds, peer_rows)?;
        if !short {
            writeln!(page, "{}- Versions: {}", Machine::here().to_markdown(), times.peers[0].versions)?;
        }
        let (table, found) = times.table(&sizes);
        writeln!(tables, "## {title}\n\n{}", table.to_markdown())?;
        for ((what, asked), found) in ASKED.iter().zip(found) {
            let verdict = if found >= *asked { "reached" } else { "**missed**" };
            let form = title.to_lowercase();
            writeln!(verdicts, "- {form}: {what}: {} times as fast as gmpy2, goal {asked}: {verdict}", ratio(found))?;
        }
    }
    let (shares, share_rows) = shares::table(bits, rounds, options.quick)?;
    writeln!(tables, "## Shares of decryptions\n\n{}", shares.to_markdown())?;
    writeln!(
        page,
        "- Method: proofs that a ciphertext holds 0 or 1, a key of {bits} bits, one thread; {rounds} rounds, ours and gmpy2's in alternation. Times are medians, \
         ratios medians of\n  paired rounds. gmpy2 verifies {} of the same proofs in the same batch form, with a power for every factor, and {} of them one \
         by one, without\n  the hash. Ours is the complete check: hash, greatest common divisors, equation. Shares are those of one trustee of a key with safe primes, each\n  \
         with its proof; gmpy2 creates and checks {} of them one by one and checks {} in batch form.\n\n{tables}## Goals\n\n{verdicts}",
        peer_rows.0, peer_rows.1, share_rows.single, share_rows.batch
    )?;
    fs::write(options.out.join("proofs.md"), page.trim_end().to_owned() + "\n")?;
    Ok(())
}
