//! Proofs that a ciphertext holds 0 or 1, and trustees' shares of decryptions, beside plain programs of the same equations over gmpy2 (`bench/proofs_gmpy2.py`,
//! `bench/shares_gmpy2.py`), on one thread: `results/proofs.md`.

use hearith_arith::Engine;
use hearith_bench::Result;
use hearith_bench::machine::Machine;
use hearith_bench::options::Options;
use hearith_bench::phe::python;
use hearith_bench::report::{Table, ratio};
use hearith_bench::shares;
use hearith_bench::statistics::Spread;
use hearith_paillier::encoding::encode_signed;
use hearith_paillier::{Ciphertexts, KeyPolicy, Openings, Plaintexts, PrivateKey, PublicKey, Variant};
use hearith_proofs::{Contexts, membership};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::time::Instant;

/// Rows of the batches that are measured.
const SIZES: [usize; 3] = [256, 2048, 16384];

/// Rows that gmpy2 verifies in batch form, and one by one.
const PEER_ROWS: (usize, usize) = (200, 30);

/// Rows of the batch of shares that is measured, rows of it that gmpy2 checks in batch form, and those that it makes and checks one by one.
const SHARES: (usize, usize, usize) = (256, 40, 10);

/// What was asked for: the issue's figures, at 2048 bits.
const ASKED: [(&str, f64); 3] = [("verify, the slowest of the batches", 20.0), ("verify, one", 8.0), ("prove", 8.0)];

struct Case {
    key: PublicKey,
    set: Plaintexts,
    ciphertexts: Ciphertexts,
    openings: Openings,
    chosen: Vec<usize>,
    contexts: Contexts,
    proofs: membership::Proofs,
}

impl Case {
    fn new(bits: u32, rows: usize) -> Result<Self> {
        let private = PrivateKey::generate(bits, Variant::Djn, KeyPolicy::AllowInsecure, Engine::best())?;
        let key = private.public().clone();
        let set = encode_signed(&key, &[0, 1])?;
        let chosen: Vec<usize> = (0..rows).map(|row| row * row % 3 % 2).collect();
        let votes: Vec<i128> = chosen.iter().map(|&one| one as i128).collect();
        let (ciphertexts, openings) = key.encrypt_opened(&encode_signed(&key, &votes)?)?;
        let contexts = Contexts::new(b"bench", (0..rows).map(|row| format!("ballot {row}")));
        let proofs = membership::prove(&key, &contexts, &set, &ciphertexts, &openings, &chosen)?;
        Ok(Case { key, set, ciphertexts, openings, chosen, contexts, proofs })
    }

    /// The first rows of it.
    fn first(&self, rows: usize) -> Result<Self> {
        let width = membership::Proofs::row_bytes(&self.key, 2);
        Ok(Case {
            key: self.key.clone(),
            set: self.set.clone(),
            ciphertexts: self.ciphertexts.range(0..rows)?,
            openings: self.openings.range(0..rows)?,
            chosen: self.chosen[..rows].to_vec(),
            contexts: Contexts::new(b"bench", (0..rows).map(|row| format!("ballot {row}"))),
            proofs: membership::Proofs::from_be_bytes(&self.key, 2, &self.proofs.to_be_bytes()[..rows * width])?,
        })
    }

    fn prove(&self) -> Result<f64> {
        let start = Instant::now();
        membership::prove(&self.key, &self.contexts, &self.set, &self.ciphertexts, &self.openings, &self.chosen)?;
        Ok(start.elapsed().as_secs_f64() / self.chosen.len() as f64)
    }

    fn verify(&self) -> Result<f64> {
        let start = Instant::now();
        membership::verify(&self.key, &self.contexts, &self.set, &self.ciphertexts, &self.proofs)?;
        Ok(start.elapsed().as_secs_f64() / self.chosen.len() as f64)
    }

    /// For gmpy2: everything in hexadecimal.
    fn request(&self, single: usize) -> Value {
        let texts = |bytes: &[u8], width: usize| -> Vec<String> {
            bytes.chunks(width).map(|row| row.iter().map(|byte| format!("{byte:02x}")).collect()).collect()
        };
        let (wide, narrow) = (self.key.ciphertext_bytes(), self.key.plaintext_bytes());
        let proofs = self.proofs.to_be_bytes();
        let side = |side: &[u8]| {
            let (a, rest) = side.split_at(wide);
            let (e, z) = rest.split_at(32);
            json!({ "A": texts(a, wide)[0], "e": texts(e, 32)[0], "z": texts(z, narrow)[0] })
        };
        let width = membership::Proofs::row_bytes(&self.key, 2);
        let rows = texts(&self.ciphertexts.to_be_bytes(), wide)
            .into_iter()
            .zip(texts(&self.openings.to_be_bytes(), narrow))
            .zip(proofs.chunks(width))
            .zip(&self.chosen)
            .map(|(((c, r), proof), chosen)| {
                json!({ "c": c, "r": r, "chosen": chosen, "sides": proof.chunks(width / 2).map(side).collect::<Vec<_>>() })
            });
        json!({
            "n": texts(&self.key.modulus_be(), narrow)[0],
            "set": texts(&self.set.to_be_bytes(), narrow),
            "single": single,
            "rows": rows.collect::<Vec<_>>(),
        })
    }
}

/// Seconds a row.
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

/// Microseconds of all rounds, as text.
fn microseconds(seconds: &[f64]) -> String {
    format!("{:.1}", 1e6 * Spread::of(seconds.iter().copied()).median)
}

fn main() -> Result<()> {
    let options = Options::from_args()?;
    let (bits, rounds) = (options.bits.first().copied().unwrap_or(2048), if options.quick { 1 } else { 5 });
    let sizes = if options.quick { vec![64] } else { SIZES.to_vec() };
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    let whole = Case::new(bits, sizes.last().copied().ok_or("no size")?)?;
    let (peer_rows, single) = if options.quick { (10, 3) } else { PEER_ROWS };
    let request = whole.first(peer_rows)?.request(single);
    let cases: Vec<Case> = sizes.iter().map(|&rows| whole.first(rows)).collect::<Result<_>>()?;
    let one = whole.first(1)?;

    let (share_rows, share_peer_rows, share_single) = if options.quick { (16, 4, 2) } else { SHARES };
    let shared = shares::Case::new(bits, share_rows)?;
    let (shared_one, shared_request) = (shared.first(1)?, shared.first(share_peer_rows)?.request(share_single));
    let (mut share_peers, mut share_times) = (Vec::new(), [const { Vec::new() }; 4]);

    let (mut peers, mut batches, mut ones, mut provings) =
        (Vec::new(), vec![Vec::new(); sizes.len()], Vec::new(), Vec::new());
    for round in 0..rounds {
        peers.push(peer(&request)?);
        for (case, times) in cases.iter().zip(&mut batches) {
            times.push(case.verify()?);
        }
        ones.push(one.verify()?);
        provings.push(cases[0].prove()?);
        share_peers.push(shares::peer(&shared_request)?);
        for (times, seconds) in share_times.iter_mut().zip([
            shared.decrypt()?,
            shared_one.decrypt()?,
            shared.verify()?,
            shared_one.verify()?,
        ]) {
            times.push(seconds);
        }
        eprintln!("round {} of {rounds}", round + 1);
    }

    let of_peer = |figure: fn(&Peer) -> f64| peers.iter().map(figure).collect::<Vec<f64>>();
    let (in_batch, one_by_one, proving) = (of_peer(|p| p.batch), of_peer(|p| p.single), of_peer(|p| p.prove));
    let mut table = Table::new(["", "us each", "gmpy2, us", "x gmpy2", "least", "most"]);
    let mut reached = Vec::new();
    let mut add = |what: String, ours: &[f64], theirs: &[f64]| {
        let ratios = Spread::of_ratios(theirs, ours);
        let [median, least, most] = [ratios.median, ratios.min, ratios.max].map(ratio);
        table.row([what, microseconds(ours), microseconds(theirs), median, least, most]);
        reached.push(ratios.median);
    };
    for (rows, times) in sizes.iter().zip(&batches) {
        add(format!("verify, a batch of {rows}"), times, &in_batch);
    }
    add("verify, one".into(), &ones, &one_by_one);
    add(format!("prove, a batch of {}", sizes[0]), &provings, &proving);
    let of_peer = |figure: fn(&shares::Peer) -> f64| share_peers.iter().map(figure).collect::<Vec<f64>>();
    let (decrypting, in_batch, one_by_one) = (of_peer(|p| p.decrypt), of_peer(|p| p.batch), of_peer(|p| p.single));
    let of_share = [
        (format!("share of a decryption, a batch of {share_rows}"), &decrypting),
        ("share of a decryption, one".into(), &decrypting),
        (format!("check shares, a batch of {share_rows}"), &in_batch),
        ("check a share, one".into(), &one_by_one),
    ];
    for ((what, theirs), ours) in of_share.into_iter().zip(&share_times) {
        add(what, ours, theirs);
    }
    let found = [
        reached[..sizes.len()].iter().copied().fold(f64::INFINITY, f64::min),
        reached[sizes.len()],
        reached[sizes.len() + 1],
    ];

    let mut page =
        String::from("# Proofs beside gmpy2\n\nMade by `make bench-proofs` (`bench/src/bin/proofs.rs`).\n\n");
    writeln!(page, "{}- Versions: {}", Machine::here().to_markdown(), peers[0].versions)?;
    writeln!(
        page,
        "- Method: proofs that a ciphertext holds 0 or 1, a key of {bits} bits, one thread; {rounds} rounds, ours and gmpy2's by turns; times are medians, \
         ratios medians of\n  paired rounds. gmpy2 verifies {peer_rows} of the same proofs in the same batch form, a power for every factor, and {single} of them one \
         by one; it leaves the hash\n  out. Ours is the whole check: hash, greatest common divisors, equation. Shares are those of one trustee of a key of safe primes, each with\n  \
         its proof; gmpy2 makes and checks {share_single} of them one by one and checks {share_peer_rows} in batch form.\n\n{}",
        table.to_markdown()
    )?;
    writeln!(page, "## What was asked\n")?;
    for ((what, asked), found) in ASKED.iter().zip(found) {
        let verdict = if found >= *asked { "reached" } else { "**missed**" };
        writeln!(page, "- {what}: {} times as fast as gmpy2, {asked} asked: {verdict}", ratio(found))?;
    }
    fs::write(options.out.join("proofs.md"), page)?;
    Ok(())
}
