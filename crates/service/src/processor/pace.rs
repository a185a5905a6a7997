//! Estimates how long operations take.
//!
//! The estimate is rows times exponent bits times the square of the modulus bits, times a factor
//! that every batch corrects.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::keys::ServedKey;
use crate::work::Operation;

/// Seconds per unit before any measurement: that of a 2048-bit encryption with AVX2.
const FIRST: f64 = 3e-13;
/// Weight of a new measurement against the previous estimate.
const WEIGHT: f64 = 0.125;
/// Number of factors: six operations, each with or without a private key and with or without a
/// generator.
const KINDS: usize = 24;

/// The factors as bits of an `f64`, 0 if not measured yet.
#[derive(Debug, Default)]
pub(super) struct Pace([AtomicU64; KINDS]);

impl Pace {
    /// Estimates the time for rows.
    pub(super) fn time(&self, operation: Operation, key: &ServedKey, rows: usize) -> Duration {
        let factor = match self.0[kind(operation, key)].load(Ordering::Relaxed) {
            0 => FIRST,
            bits => f64::from_bits(bits),
        };
        // At most an hour, which suffices and avoids overflow.
        Duration::from_secs_f64((factor * cost(operation, key, rows)).clamp(0.0, 3600.0))
    }

    /// Records the measured time for rows.
    pub(super) fn learn(&self, operation: Operation, key: &ServedKey, rows: usize, took: Duration) {
        let (kept, measured) = (&self.0[kind(operation, key)], took.as_secs_f64() / cost(operation, key, rows));
        if !measured.is_normal() {
            return;
        }
        let factor = match kept.load(Ordering::Relaxed) {
            0 => measured,
            bits => f64::from_bits(bits) * (1.0 - WEIGHT) + measured * WEIGHT,
        };
        // Of two concurrent measurements one may be lost.
        kept.store(factor.to_bits(), Ordering::Relaxed);
    }
}

/// Rows times exponent bits times the square of the modulus bits.
fn cost(operation: Operation, key: &ServedKey, rows: usize) -> f64 {
    let bits = f64::from(key.public().bits());
    let exponent = match operation {
        Operation::Encrypt | Operation::Rerandomise | Operation::Decrypt => bits,
        Operation::Multiply { bits: scalar, deterministic: false } => bits + f64::from(scalar),
        Operation::Multiply { bits: scalar, deterministic: true } => f64::from(scalar.max(1)),
        Operation::Add | Operation::SumGroups => 1.0,
    };
    rows.max(1) as f64 * exponent * bits * bits
}

fn kind(operation: Operation, key: &ServedKey) -> usize {
    let operation = match operation {
        Operation::Encrypt => 0,
        Operation::Rerandomise => 1,
        Operation::Add => 2,
        Operation::Multiply { .. } => 3,
        Operation::SumGroups => 4,
        Operation::Decrypt => 5,
    };
    let halves = usize::from(key.private().is_some()) + 2 * usize::from(key.public().generator_be().is_some());
    operation * 4 + halves
}

#[cfg(test)]
mod tests {
    use super::*;
    use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant};

    #[test]
    fn what_was_measured_is_expected() {
        let key = |bits| {
            let key = PrivateKey::generate(bits, Variant::Standard, KeyPolicy::AllowInsecure, Engine::Serial).unwrap();
            ServedKey::new(key.public().clone(), None)
        };
        let (small, large) = (key(256), key(512));
        let pace = Pace::default();
        let guessed = pace.time(Operation::Encrypt, &small, 8);
        assert!(guessed > Duration::ZERO);
        pace.learn(Operation::Encrypt, &small, 8, Duration::from_millis(3));
        let twice = pace.time(Operation::Rerandomise, &small, 16).as_secs_f64();
        assert!((twice / guessed.as_secs_f64() - 2.0).abs() < 0.01);
        let near = |time: Duration, millis: f64| (time.as_secs_f64() * 1e3 / millis - 1.0).abs() < 0.01;
        assert!(near(pace.time(Operation::Encrypt, &small, 8), 3.0));
        // Twice the bits are eight times the work.
        assert!(near(pace.time(Operation::Encrypt, &large, 8), 24.0));
        pace.learn(Operation::Encrypt, &large, 8, Duration::from_millis(48));
        assert!(near(pace.time(Operation::Encrypt, &small, 8), 3.375), "an eighth of the way");
        assert_eq!(pace.time(Operation::Rerandomise, &small, 8), guessed, "another kind");
    }
}
