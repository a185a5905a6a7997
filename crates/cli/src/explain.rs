//! `hearith engines --explain`: the vector engine's cost model held against this machine.

use std::time::Instant;

use hearith_arith::cost::{Cost, peak_rate};
use hearith_arith::natural::{bit_length, to_be};
use hearith_arith::{Batch, Engine, Exponents, Modulus, Square};
use hearith_paillier::{KeyPolicy, PrivateKey, Variant, encoding};
use serde::Serialize;

use crate::engines::{print, print_json};
use crate::failure::Failure;
use crate::session::Session;

/// Operations side by side in a vector.
const LANES: usize = 8;
/// Rows of a batch of whole operations.
const ROWS: usize = 32;
/// Squarings in a row.
const SQUARINGS: usize = 8192;

/// One line of the table.
#[derive(Serialize)]
struct Line {
    operation: &'static str,
    /// Bits of the modulus, or of the key.
    bits: u32,
    /// IFMA instructions for eight operations.
    instructions: u64,
    /// What they take at the peak, in microseconds.
    limit_us: f64,
    /// What eight operations took, in microseconds.
    measured_us: f64,
    /// Limit over measured.
    share: f64,
}

/// The model, and the machine it is held against.
#[derive(Serialize)]
struct Explanation {
    instructions_per_ns: f64,
    lines: Vec<Line>,
}

/// Measures kernels and whole operations on one thread and prints the share of the limit that each reaches.
pub(crate) fn run(session: &Session) -> Result<(), Failure> {
    let Some(peak) = peak_rate() else {
        let needs = Engine::Ifma.requires();
        return Err(Failure::new(format!("the cost model is that of the engine ifma, which needs {needs}")));
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(Failure::new)?;
    let mut lines = Vec::new();
    for bits in [512, 1024, 1536, 2048, 3072, 4096] {
        lines.extend(pool.install(|| kernels(bits)));
    }
    for bits in [1024, 2048, 3072] {
        lines.extend(pool.install(|| operations(bits))?);
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

/// Multiplications and squarings in rows long enough that getting numbers in and out does not show.
fn kernels(bits: u32) -> Vec<Line> {
    let cost = Cost::of(bits);
    let limbs = bits as usize / 64;
    let m = modulus(limbs);
    let (modulus, square) = (Modulus::new(Engine::Ifma, &m), Square::new(Engine::Ifma, &m));
    let (modulus, square) = (modulus.expect("an odd modulus"), square.expect("an odd modulus"));
    let base = Batch::repeat(&m[..limbs - 1], LANES).resize(limbs);
    // 2^SQUARINGS: one bit set, so nothing but squarings.
    let mut power = vec![0; SQUARINGS / 64 + 1];
    power[SQUARINGS / 64] = 1;
    let squarings = SQUARINGS as f64;
    let line = |operation, instructions, us| Line::new(operation, bits, instructions, us);
    vec![
        // The ladder does one of each a bit.
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

/// An odd number of no particular pattern with the highest bit set.
fn modulus(limbs: usize) -> Vec<u64> {
    let mut m: Vec<u64> = (1..=limbs as u64).map(|limb| limb.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    m[0] |= 1;
    m[limbs - 1] |= 1 << 63;
    m
}

/// Whole operations of Paillier's scheme.
fn operations(bits: u32) -> Result<Vec<Line>, Failure> {
    let key = PrivateKey::generate(bits, Variant::Djn, KeyPolicy::AllowInsecure, Engine::Ifma).map_err(Failure::new)?;
    let djn = key.public();
    let subgroup = PrivateKey::generate(bits, Variant::Subgroup, KeyPolicy::AllowInsecure, Engine::Ifma);
    let subgroup = subgroup.map_err(Failure::new)?;
    let [p, q] = key.primes().map(|prime| to_be(prime, (bits / 2).div_ceil(8) as usize));
    let standard = PrivateKey::from_primes(&p, &q, None, KeyPolicy::AllowInsecure, Engine::Ifma);
    let standard = standard.map_err(Failure::new)?;
    // They are the standard key's as well: its modulus is the same, and so is its id.
    let plaintexts = encoding::encode_signed(djn, &[-1; ROWS]).map_err(Failure::new)?;
    let ciphertexts = djn.encrypt(&plaintexts).map_err(Failure::new)?;
    let short_plaintexts = encoding::encode_signed(subgroup.public(), &[-1; ROWS]).map_err(Failure::new)?;
    let short_ciphertexts = subgroup.public().encrypt(&short_plaintexts).map_err(Failure::new)?;
    let order_bits = subgroup.subgroup_primes().map_or(0, |[p, _]| bit_length(p));
    let exponent_bits = subgroup.public().exponent_bits().unwrap_or_default();
    let (prime, full) = (Cost::of(bits / 2), Cost::of(bits));
    let eight = |run: &dyn Fn() -> bool| microseconds(|| assert!(run())) * LANES as f64 / ROWS as f64;
    let line = |operation, instructions, us| Line::new(operation, bits, instructions, us);
    Ok(vec![
        line("decryption", 2 * prime.dual_pow(bits / 2), eight(&|| key.decrypt(&ciphertexts).is_ok())),
        line(
            "decryption, subgroup",
            2 * prime.dual_pow(order_bits + 1),
            eight(&|| subgroup.decrypt(&short_ciphertexts).is_ok()),
        ),
        line("encryption, r^n", full.dual_pow_public(bits), eight(&|| standard.public().encrypt(&plaintexts).is_ok())),
        line(
            "encryption, r^n, key owner",
            2 * prime.dual_pow(bits / 2),
            eight(&|| standard.encrypt(&plaintexts).is_ok()),
        ),
        line("encryption, DJN", full.comb(bits / 2), eight(&|| djn.encrypt(&plaintexts).is_ok())),
        line("encryption, DJN, key owner", full.comb(bits / 2), eight(&|| key.encrypt(&plaintexts).is_ok())),
        line(
            "encryption, subgroup",
            full.comb(exponent_bits),
            eight(&|| subgroup.public().encrypt(&short_plaintexts).is_ok()),
        ),
    ])
}

/// The least of several times of one run.
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
