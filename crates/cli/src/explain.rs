//! `hearith engines --explain`: compares the vector engine's cost model with this machine.

use std::time::Instant;

use hearith_arith::cost::{Cost, peak_rate};
use hearith_arith::natural::{bit_length, to_be};
use hearith_arith::{Batch, Engine, Exponents, Modulus, Square};
use hearith_device::State;
use hearith_paillier::{Ciphertexts, Error, KeyPolicy, Plaintexts, PrivateKey, PublicKey, Variant, encoding};
use serde::Serialize;

use crate::engines::{print, print_json};
use crate::failure::CliError;
use crate::session::Session;

/// Operations per vector.
const LANES: usize = 8;
/// Rows per batch of whole operations.
const ROWS: usize = 32;
/// Number of successive squarings.
const SQUARINGS: usize = 8192;

/// One line of the table.
#[derive(Serialize)]
struct Line {
    operation: &'static str,
    /// Bits of the modulus, or of the key.
    bits: u32,
    /// IFMA instructions for eight operations.
    instructions: u64,
    /// Their time at the peak rate, in microseconds.
    limit_us: f64,
    /// Measured time of eight operations, in microseconds.
    measured_us: f64,
    /// Limit divided by measured time.
    share: f64,
}

/// The model and the measurements.
#[derive(Serialize)]
struct Explanation {
    instructions_per_ns: f64,
    lines: Vec<Line>,
}

/// Measures kernels and whole operations on one thread. Prints the share of the limit that each
/// reaches.
pub(crate) fn run(session: &Session) -> Result<(), CliError> {
    if let Some(kind) = session.device {
        let (name, State { available, description, .. }) = (kind.system().name, kind.state());
        let there = if available { description } else { format!("not available: {description}") };
        return Err(CliError::new(format!("only the engine ifma has a cost model, not {name} ({there})")));
    }
    let Some(peak) = peak_rate() else {
        let needs = Engine::Ifma.requires();
        return Err(CliError::new(format!("only the engine ifma has a cost model, and it needs {needs}")));
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(CliError::new)?;
    let mut lines = Vec::new();
    for bits in [512, 1024, 1536, 2048, 3072, 4096] {
        lines.extend(pool.install(|| kernels(bits)));
    }
    for bits in [1024, 2048, 3072] {
        let keys = Keys::new(bits, Engine::Ifma)?;
        lines.extend(pool.install(|| operations(&keys)).iter().map(Operation::line));
    }
    for line in &mut lines {
        line.limit_us = line.instructions as f64 / peak / 1000.0;
        line.share = line.limit_us / line.measured_us;
    }
    let explanation = Explanation { instructions_per_ns: peak, lines };
    match session.json {
        true => print_json(&explanation),
        false => print(&explanation.text()),
    }
}

/// Measures runs of multiplications and squarings that are long enough to hide conversions.
fn kernels(bits: u32) -> Vec<Line> {
    let cost = Cost::of(bits);
    let limbs = bits as usize / 64;
    let m = modulus(limbs);
    let (modulus, square) = (Modulus::new(Engine::Ifma, &m), Square::new(Engine::Ifma, &m));
    let (modulus, square) = (modulus.expect("an odd modulus"), square.expect("an odd modulus"));
    let base = Batch::repeat(&m[..limbs - 1], LANES).resize(limbs);
    // 2^SQUARINGS has one set bit, so it needs only squarings.
    let mut power = vec![0; SQUARINGS / 64 + 1];
    power[SQUARINGS / 64] = 1;
    let squarings = SQUARINGS as f64;
    let line = |operation, instructions, us| Line::new(operation, bits, instructions, us);
    vec![
        // The ladder does one multiplication and one squaring per bit.
        line(
            "multiplication and squaring mod m",
            cost.mul + cost.sqr,
            microseconds(|| drop(modulus.pow_ladder(&base, Exponents::Shared(&power, SQUARINGS as u32)))) / squarings,
        ),
        line(
            "squaring mod m",
            cost.sqr,
            microseconds(|| drop(modulus.pow(&base, Exponents::Public(&power)))) / squarings,
        ),
        line(
            "squaring mod m^2, dual",
            cost.dual_sqr,
            microseconds(|| drop(square.pow(&base, Exponents::Public(&power)))) / squarings,
        ),
    ]
}

/// An odd number without a particular pattern, with the highest bit set.
fn modulus(limbs: usize) -> Vec<u64> {
    let mut m: Vec<u64> = (1..=limbs as u64).map(|limb| limb.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    m[0] |= 1;
    m[limbs - 1] |= 1 << 63;
    m
}

/// Keys of all variants, each with a batch.
struct Keys {
    bits: u32,
    djn: PrivateKey,
    /// Has the same modulus, and therefore the same ID.
    standard: PrivateKey,
    subgroup: PrivateKey,
    plaintexts: Plaintexts,
    ciphertexts: Ciphertexts,
    short_plaintexts: Plaintexts,
    short_ciphertexts: Ciphertexts,
}

impl Keys {
    fn new(bits: u32, engine: Engine) -> Result<Self, CliError> {
        let policy = KeyPolicy::AllowInsecure;
        let djn = PrivateKey::generate(bits, Variant::Djn, policy, engine).map_err(CliError::new)?;
        let subgroup = PrivateKey::generate(bits, Variant::Subgroup, policy, engine).map_err(CliError::new)?;
        let [p, q] = djn.primes().map(|prime| to_be(prime, (bits / 2).div_ceil(8) as usize));
        let standard = PrivateKey::from_primes(&p, &q, None, policy, engine).map_err(CliError::new)?;
        let encrypted = |key: &PublicKey| {
            let plaintexts = encoding::encode_signed(key, &[-1; ROWS])?;
            Ok((plaintexts.clone(), key.encrypt(&plaintexts)?))
        };
        let (plaintexts, ciphertexts) = encrypted(djn.public()).map_err(|error: Error| CliError::new(error))?;
        let short = encrypted(subgroup.public()).map_err(CliError::new)?;
        let (short_plaintexts, short_ciphertexts) = short;
        Ok(Self { bits, djn, standard, subgroup, plaintexts, ciphertexts, short_plaintexts, short_ciphertexts })
    }
}

/// A whole operation of the Paillier scheme.
struct Operation<'a> {
    name: &'static str,
    bits: u32,
    /// IFMA instructions for eight rows, according to the model.
    instructions: u64,
    /// Runs it for all [`ROWS`]. Returns whether it succeeded.
    run: Box<dyn Fn() -> bool + Send + Sync + 'a>,
}

impl Operation<'_> {
    fn line(&self) -> Line {
        let us = microseconds(|| assert!((self.run)())) * LANES as f64 / ROWS as f64;
        Line::new(self.name, self.bits, self.instructions, us)
    }
}

/// The operations under each variant, with their costs in the model.
fn operations(keys: &Keys) -> Vec<Operation<'_>> {
    let Keys { bits, djn, standard, subgroup, plaintexts, ciphertexts, short_plaintexts, short_ciphertexts } = keys;
    let order_bits = subgroup.subgroup_primes().map_or(0, |[p, _]| bit_length(p));
    let exponent_bits = subgroup.public().exponent_bits().unwrap_or_default();
    let (prime, full) = (Cost::of(bits / 2), Cost::of(*bits));
    let operation = |name, instructions, run| Operation { name, bits: *bits, instructions, run };
    vec![
        operation(
            "decryption",
            2 * prime.dual_pow(bits / 2),
            Box::new(|| djn.decrypt(ciphertexts).is_ok()) as Box<dyn Fn() -> bool + Send + Sync>,
        ),
        operation(
            "decryption, subgroup",
            2 * prime.dual_pow(order_bits + 1),
            Box::new(|| subgroup.decrypt(short_ciphertexts).is_ok()),
        ),
        operation(
            "decryption, subgroup, any row",
            2 * prime.dual_pow(bits / 2),
            Box::new(|| subgroup.decrypt_any(short_ciphertexts).is_ok()),
        ),
        operation(
            "encryption, r^n",
            full.dual_pow_public(*bits),
            Box::new(|| standard.public().encrypt(plaintexts).is_ok()),
        ),
        operation(
            "encryption, r^n, key owner",
            2 * prime.dual_pow(bits / 2),
            Box::new(|| standard.encrypt(plaintexts).is_ok()),
        ),
        operation("encryption, DJN", full.comb(bits / 2), Box::new(|| djn.public().encrypt(plaintexts).is_ok())),
        operation("encryption, DJN, key owner", full.comb(bits / 2), Box::new(|| djn.encrypt(plaintexts).is_ok())),
        operation(
            "encryption, subgroup",
            full.comb(exponent_bits),
            Box::new(|| subgroup.public().encrypt(short_plaintexts).is_ok()),
        ),
        operation(
            "encryption, subgroup, key owner",
            full.comb(exponent_bits),
            Box::new(|| subgroup.encrypt(short_plaintexts).is_ok()),
        ),
    ]
}

/// The minimum of several measured times of a run, in microseconds.
fn microseconds(run: impl Fn()) -> f64 {
    run();
    let (begin, mut least) = (Instant::now(), f64::MAX);
    while begin.elapsed().as_millis() < 200 {
        let start = Instant::now();
        run();
        least = least.min(start.elapsed().as_secs_f64() * 1e6);
    }
    least
}

impl Line {
    fn new(operation: &'static str, bits: u32, instructions: u64, measured_us: f64) -> Self {
        Line { operation, bits, instructions, limit_us: 0.0, measured_us, share: 0.0 }
    }
}

impl Explanation {
    fn text(&self) -> String {
        let mut text = format!(
            "One core does {:.2} IFMA instructions a nanosecond at most (measured). For eight operations side by side:\n\n\
             {:<34}{:>6}{:>14}{:>12}{:>13}{:>8}\n",
            self.instructions_per_ns, "operation", "bits", "instructions", "limit, us", "measured, us", "share"
        );
        for line in &self.lines {
            text += &format!(
                "{:<34}{:>6}{:>14}{:>12.2}{:>13.2}{:>7.0}%\n",
                line.operation,
                line.bits,
                line.instructions,
                line.limit_us,
                line.measured_us,
                100.0 * line.share
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hearith_arith::cost::counted;

    /// Compares the products counted in the kernels during whole operations with the model, in
    /// engines with the model's windows.
    ///
    /// The model omits the conversions to and from Montgomery form and the work on a finished
    /// power, which are a few products.
    #[test]
    fn every_operation_takes_the_products_of_the_model() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        for engine in [Engine::Avx2, Engine::Ifma] {
            if !hearith_testing::has(engine.name(), engine.is_available()) {
                continue;
            }
            let keys = Keys::new(1024, engine).unwrap();
            for Operation { name, instructions, run, .. } in operations(&keys) {
                // The first run builds tables.
                let found = pool.install(|| {
                    assert!(run(), "{name}");
                    counted(|| assert!(run(), "{name}")).expect("tests are built with debug assertions")
                });
                let groups = (ROWS / engine.lanes()) as f64;
                let ratio = found as f64 / groups / instructions as f64;
                // The windows of a public exponent skip its zeros, and each key has another
                // exponent. This varies the count by about five products per thousand around the
                // model's mean.
                let least = if name == "encryption, r^n" { 0.97 } else { 1.0 };
                assert!((least..1.07).contains(&ratio), "{engine}, {name}: {ratio} times the model");
            }
        }
    }
}
