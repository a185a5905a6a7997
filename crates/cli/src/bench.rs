//! `hearith bench`: operations per second on this machine.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hearith_paillier::{Ciphertexts, Error, KeyPolicy, PrivateKey, PublicKey, Variant, encoding};

use crate::args::Bench;
use crate::engines::{print, print_json};
use crate::failure::CliError;
use crate::session::Session;

/// Rows per batch for each core: several times the lanes of any engine.
const ROWS: usize = 64;
/// Minimum duration of a sample. The median of three samples counts.
const SAMPLE: Duration = Duration::from_millis(300);

/// The rates of one key size: name and operations per second, in table order.
type Rates = Vec<(&'static str, f64)>;

/// An operation on a batch.
type Run<'a> = dyn Fn() -> Result<(), Error> + 'a;

/// Measures every operation at every key size.
pub(crate) fn run(session: &Session, command: &Bench) -> Result<(), CliError> {
    let mut sizes = Vec::new();
    for &bits in &command.bits {
        sizes.push((bits, rates(session, bits)?));
    }
    match session.json {
        true => print_json(&by_size(&sizes)),
        false => print(&table(session, &sizes)),
    }
}

/// Measures one key size.
fn rates(session: &Session, bits: u32) -> Result<Rates, CliError> {
    let key =
        PrivateKey::generate(bits, Variant::Djn, KeyPolicy::AllowInsecure, session.engine).map_err(CliError::new)?;
    let djn = key.public();
    let standard = PublicKey::new(&djn.modulus_be(), None, KeyPolicy::AllowInsecure, session.engine);
    let standard = standard.map_err(CliError::new)?;
    measure(session, &key, djn, &standard).map_err(CliError::new)
}

fn measure(session: &Session, key: &PrivateKey, djn: &PublicKey, standard: &PublicKey) -> Result<Rates, Error> {
    let rows = ROWS * session.threads;
    let values: Vec<i128> = (0..rows as i128).map(|row| row - 7).collect();
    let plaintexts = encoding::encode_signed(djn, &values).expect("small numbers fit in any key");
    let ciphertexts = key.encrypt(&plaintexts)?;
    let scalars: Vec<i128> = vec![i128::from(u64::MAX); rows];
    let operations: [(&str, &Run<'_>); 8] = [
        ("encrypt", &|| standard.encrypt(&plaintexts).map(drop)),
        ("encrypt_djn", &|| djn.encrypt(&plaintexts).map(drop)),
        ("encrypt_owner", &|| key.encrypt(&plaintexts).map(drop)),
        ("decrypt", &|| key.decrypt(&ciphertexts).map(drop)),
        ("add", &|| djn.add(&ciphertexts, &ciphertexts).map(drop)),
        ("sum", &|| sum(djn, &ciphertexts)),
        ("scalar64", &|| djn.multiply_deterministic(&ciphertexts, &scalars, 64).map(drop)),
        ("rerandomise", &|| djn.rerandomise(&ciphertexts).map(drop)),
    ];
    operations.iter().map(|(name, run)| Ok((*name, per_second(rows, run)?))).collect()
}

fn sum(key: &PublicKey, ciphertexts: &Ciphertexts) -> Result<(), Error> {
    key.sum(ciphertexts).map(drop)
}

/// Rows per second: the median of three samples.
fn per_second(rows: usize, run: &Run<'_>) -> Result<f64, Error> {
    // Tables built on first use and cold caches are not part of a rate.
    run()?;
    let mut samples = Vec::new();
    for _ in 0..3 {
        let (start, mut done) = (Instant::now(), 0);
        while start.elapsed() < SAMPLE {
            run()?;
            done += rows;
        }
        samples.push(done as f64 / start.elapsed().as_secs_f64());
    }
    samples.sort_by(f64::total_cmp);
    Ok(samples[1])
}

/// `{"2048": {"encrypt": operations per second, ...}, ...}`.
fn by_size(sizes: &[(u32, Rates)]) -> BTreeMap<String, BTreeMap<&'static str, f64>> {
    sizes.iter().map(|(bits, rates)| (bits.to_string(), rates.iter().copied().collect())).collect()
}

fn table(session: &Session, sizes: &[(u32, Rates)]) -> String {
    let mut text = format!("per second, engine {}, threads {}\n{:<14}", session.engine, session.threads, "");
    sizes.iter().for_each(|(bits, _)| text += &format!("{:>14}", format!("{bits} bits")));
    let names = sizes.first().map_or(&[][..], |(_, rates)| rates);
    for (row, (name, _)) in names.iter().enumerate() {
        text += &format!("\n{name:<14}");
        sizes.iter().for_each(|(_, rates)| text += &format!("{:>14.0}", rates[row].1));
    }
    text + "\n"
}
