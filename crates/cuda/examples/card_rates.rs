//! Rates of the first card, for `bench/gpu.sh`.
//!
//! After known answers, it prints a line per measurement: name, rows, seconds of kernels, seconds
//! in total. The total includes copies and, except for measurements called unchecked, checks on the
//! CPU. Optional lines that begin with "batch" compare batches of few rows: name, rows, seconds of
//! the card in total, seconds of this CPU.
//!
//! Usage: card_rates KEYS ROWS [batches]. The directory KEYS holds private keys as JSON Web Keys,
//! `NAME.json`.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use hearith_cuda::{Driver, LoadedCard};
use hearith_device::Trust;
use hearith_paillier::encoding::encode_signed;
use hearith_paillier::{Ciphertexts, DecryptionBackend, Engine, KeyPolicy, PrivateKey, PublicKeyBackend};

/// Runs of each measurement; the best one counts.
const RUNS: usize = 2;
/// Rows of the batches for the comparison with the CPU.
const BATCHES: [usize; 5] = [64, 256, 1024, 4096, 16384];
/// Seconds of the CPU after which no larger batch is measured.
const LONG: f64 = 0.5;

fn measure<T>(
    name: &str,
    rows: usize,
    card: &LoadedCard,
    mut work: impl FnMut() -> Result<T, Box<dyn Error>>,
) -> Result<T, Box<dyn Error>> {
    let mut best: Option<(f64, f64)> = None;
    let mut last = work()?;
    for _ in 0..RUNS {
        let (before, busy) = (Instant::now(), card.busy());
        last = work()?;
        let (whole, kernels) = (before.elapsed().as_secs_f64(), (card.busy() - busy).as_secs_f64());
        best = Some(best.map_or((kernels, whole), |(a, b)| (f64::min(a, kernels), f64::min(b, whole))));
    }
    if card.has_failed() {
        return Err(format!("{name}: the card gave a wrong answer").into());
    }
    let (kernels, whole) = best.unwrap_or_default();
    println!("{name}\t{rows}\t{kernels:.6}\t{whole:.6}");
    Ok(last)
}

/// Seconds of the best run.
fn seconds<T>(mut work: impl FnMut() -> Result<T, Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    work()?;
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        let before = Instant::now();
        work()?;
        best = best.min(before.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// Compares batches of growing size on the card and on this CPU.
fn compare<T>(
    name: &str,
    batches: impl Iterator<Item = usize>,
    mut card: impl FnMut(usize) -> Result<T, Box<dyn Error>>,
    mut cpu: impl FnMut(usize) -> Result<T, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    for rows in batches {
        let (there, here) = (seconds(|| card(rows))?, seconds(|| cpu(rows))?);
        println!("batch {name}\t{rows}\t{there:.6}\t{here:.6}");
        if here > LONG {
            break;
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(keys), Some(rows)) = (arguments.next(), arguments.next()) else {
        return Err("usage: card_rates KEYS ROWS [batches]".into());
    };
    let batches = if arguments.next().is_some() { BATCHES.as_slice() } else { &[] };
    let rows: usize = rows.parse()?;
    let driver = Driver::load()?;
    let trust = Trust::Checked;
    for name in ["standard-2048", "standard-3072", "subgroup-2048", "djn-2048"] {
        let text = std::fs::read_to_string(Path::new(&keys).join(format!("{name}.json")))?;
        let key = PrivateKey::from_jwk(&text, KeyPolicy::AllowInsecure, Engine::best())?;
        let public = key.public();
        // A few ciphertexts repeated, since the CPU would take long to make this many.
        let few = encode_signed(public, &(-128..128).collect::<Vec<i128>>())?;
        let made = public.encrypt(&few)?;
        let mut many: Ciphertexts = made.clone();
        many.reserve(rows);
        while many.len() < rows {
            many.append(&made)?;
        }
        let many = many.range(0..rows)?;

        let card = LoadedCard::with_private(&driver, 0, &key, trust)?;
        if card.decrypt(&made)? != few {
            return Err(format!("{name}: the card decrypts wrongly").into());
        }
        eprintln!("{name}: known answers are right on {}", hearith_device::Device::describe(&card));
        measure(&format!("decrypt {name}"), rows, &card, || Ok(card.decrypt(&many)?))?;
        let believed = LoadedCard::with_private(&driver, 0, &key, Trust::Unchecked)?;
        measure(&format!("decrypt {name} unchecked"), rows, &believed, || Ok(believed.decrypt(&many)?))?;
        drop(believed);
        compare(
            &format!("decrypt {name}"),
            batches.iter().copied().filter(|&batch| batch <= rows),
            |count| Ok(card.decrypt(&many.range(0..count)?)?),
            |count| Ok(key.decrypt(&many.range(0..count)?)?),
        )?;
        drop(card);

        let card = LoadedCard::with_public(&driver, 0, public, trust)?;
        let numbers: Vec<i128> = (0..rows as i128).collect();
        let plaintexts = encode_signed(public, &numbers)?;
        // r^n is a power with an exponent as long as the key: fewer rows.
        let count = if name.starts_with("standard") { rows.div_ceil(16) } else { rows };
        let plaintexts = plaintexts.range(0..count)?;
        measure(&format!("encrypt {name}"), count, &card, || Ok(card.encrypt(&plaintexts)?))?;
        let believed = LoadedCard::with_public(&driver, 0, public, Trust::Unchecked)?;
        measure(&format!("encrypt {name} unchecked"), count, &believed, || Ok(believed.encrypt(&plaintexts)?))?;
        drop(believed);
        compare(
            &format!("encrypt {name}"),
            batches.iter().copied().filter(|&batch| batch <= count),
            |count| Ok(card.encrypt(&plaintexts.range(0..count)?)?),
            |count| Ok(public.encrypt(&plaintexts.range(0..count)?)?),
        )?;
        let groups: Vec<Vec<u32>> = (0..960).map(|group| (group..rows as u32).step_by(960).collect()).collect();
        let totals = measure(&format!("sum {name}"), rows, &card, || Ok(card.sum_groups(&many, &groups)?))?;
        if totals != public.sum_groups(&many, &groups)? {
            return Err(format!("{name}: the card adds wrongly").into());
        }
    }
    Ok(())
}
