//! Tests of Barrett's reduction and reciprocals against GMP, on every engine of this machine.

use hearith_arith::Engine;
use hearith_ntt::{Barrett, NttError, reciprocal};
use hearith_testing::has;
use proptest::prelude::*;
use rug::rand::RandState;
use rug::{Integer, integer::Order};

fn engines() -> impl Iterator<Item = Engine> {
    Engine::ALL.iter().copied().filter(|engine| has(engine.name(), engine.is_available()))
}

fn limbs(number: &Integer) -> Vec<u64> {
    number.to_digits(Order::Lsf)
}

fn power(bits: usize) -> Integer {
    Integer::from(1) << bits as u32
}

fn check(barrett: &Barrett, x: &Integer) {
    let modulus = Integer::from_digits(barrett.modulus(), Order::Lsf);
    let mut out = vec![1; barrett.modulus().len()];
    barrett.reduce(&limbs(x), &mut out).unwrap();
    assert!(Integer::from_digits(&out, Order::Lsf) == Integer::from(x % &modulus), "{barrett:?}");
}

/// Moduli of `bits` bits: the smallest, the largest, and a random one.
fn moduli(bits: usize, state: &mut RandState) -> Vec<Integer> {
    let random = power(bits - 1) + Integer::from(Integer::random_bits(bits as u32 - 1, state));
    vec![power(bits - 1), power(bits - 1) + 1, power(bits) - 1, random]
}

/// The largest numbers, those next to multiples of the modulus, and random ones.
fn numbers(modulus: &Integer, bits: usize, state: &mut RandState) -> Vec<Integer> {
    let top = power(bits);
    let largest = Integer::from(&top - 1) / modulus * modulus;
    let mut numbers =
        vec![Integer::new(), Integer::from(&top - 1), top >> 1, Integer::from(modulus - 1), modulus.clone()];
    numbers.extend([largest.clone() - 1, largest]);
    numbers.push(Integer::from(Integer::random_bits(bits as u32, state)));
    numbers.push(Integer::from(Integer::random_bits(bits as u32, state)) / modulus * modulus);
    numbers.retain(|x| x.significant_bits() as usize <= bits);
    numbers
}

#[test]
fn every_small_modulus_and_number() {
    for engine in engines() {
        for modulus in 1..40_u64 {
            let barrett = Barrett::new(engine, &[modulus, 0], 5).unwrap();
            for x in 0..1 << barrett.most_bits() {
                let mut out = [u64::MAX];
                barrett.reduce(&[x], &mut out).unwrap();
                assert_eq!(out[0], x % modulus);
            }
        }
    }
}

#[test]
fn every_length_around_limbs() {
    let mut state = RandState::new();
    for engine in engines() {
        for bits in (65..70).chain(126..133).chain(190..196).chain([1000, 1023, 1024, 1025, 1026, 1027]) {
            for excess in [0, 1, 2, 60, 61, 62, 63, 64, 65, 66, 125, 130, 500, 2500] {
                for modulus in moduli(bits, &mut state) {
                    let barrett = Barrett::new(engine, &limbs(&modulus), excess).unwrap();
                    for x in numbers(&modulus, bits + excess, &mut state) {
                        check(&barrett, &x);
                    }
                }
            }
        }
    }
}

#[test]
fn long_moduli() {
    let mut state = RandState::new();
    let sizes: &[(usize, usize)] = if cfg!(debug_assertions) {
        &[(40_000, 2000), (30_001, 31_000)]
    } else {
        &[(40_000, 2000), (30_001, 31_000), (1_000_002, 50_000), (1_000_003, 1_000_000), (5_000_063, 5_000_000)]
    };
    for engine in engines() {
        for &(bits, excess) in sizes {
            for modulus in moduli(bits, &mut state) {
                let barrett = Barrett::new(engine, &limbs(&modulus), excess).unwrap();
                for x in numbers(&modulus, bits + excess, &mut state) {
                    check(&barrett, &x);
                }
            }
        }
    }
}

#[test]
fn batches_and_errors() {
    for engine in engines() {
        assert_eq!(Barrett::new(engine, &[0, 0], 5).unwrap_err(), NttError::ZeroModulus);
        assert_eq!(reciprocal(engine, &[], 5).unwrap_err(), NttError::ZeroModulus);
        for limbs in [1 << 28, usize::MAX] {
            assert_eq!(reciprocal(engine, &[3], limbs).unwrap_err(), NttError::Size { limbs, terms: 1 });
        }
        for excess in [1 << 34, usize::MAX - 2000, usize::MAX] {
            assert!(matches!(Barrett::new(engine, &[1, 1], excess), Err(NttError::Size { .. })), "{excess}");
        }
        let barrett = Barrett::new(engine, &[3, 1 << 20], 30).unwrap();
        assert_eq!(barrett.most_bits(), 115);
        assert_eq!(barrett.reduce(&[0, 1 << 51], &mut [0; 2]), Err(NttError::TooLarge { bits: 116, most: 115 }));
        assert_eq!(barrett.reduce(&[1], &mut [0]), Err(NttError::Place { limbs: 1, needed: 2 }));
        let (mut first, mut second) = ([0; 2], [0; 2]);
        barrett.reduce_each(&[&[7, 0, 0, 0], &[4, 1 << 20]], &mut [&mut first, &mut second]).unwrap();
        assert_eq!((first, second), ([7, 0], [1, 0]));
        assert_eq!(barrett.reduce_each(&[&[7]], &mut []), Err(NttError::Places { places: 0, results: 1 }));
    }
}

#[test]
fn reciprocals() {
    let mut state = RandState::new();
    for engine in engines() {
        for bits in (1..40).chain([63, 64, 65, 127, 128, 129, 191, 192, 193, 500, 3000, 40_000, 200_001]) {
            for modulus in moduli(bits, &mut state) {
                let a = limbs(&modulus);
                for m in
                    [0, 1, a.len() - 1, a.len(), a.len() + 1, a.len() + 2, a.len() + 5, 2 * a.len(), 3 * a.len() + 1]
                {
                    let expected = power(64 * m) / &modulus;
                    let found = reciprocal(engine, &a, m).unwrap();
                    assert!(Integer::from_digits(&found, Order::Lsf) == expected, "2^{} / {bits} bits", 64 * m);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn random_lengths(bits in 2..20_000_usize, excess in 0..20_000_usize, seed: u32) {
        let mut state = RandState::new();
        state.seed(&Integer::from(seed));
        for engine in engines() {
            for modulus in moduli(bits, &mut state) {
                let barrett = Barrett::new(engine, &limbs(&modulus), excess).unwrap();
                check(&barrett, &Integer::from(Integer::random_bits((bits + excess) as u32, &mut state)));
            }
        }
    }
}
