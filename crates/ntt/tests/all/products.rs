//! Tests of products of super-size numbers against GMP, on every engine of this machine.

use hearith_arith::Engine;
use hearith_ntt::{NttError, Ring};
use hearith_testing::has;
use proptest::prelude::*;
use rug::rand::RandState;
use rug::{Integer, integer::Order};

fn engines() -> impl Iterator<Item = Engine> {
    Engine::ALL.iter().copied().filter(|engine| has(engine.name(), engine.is_available()))
}

fn integer(limbs: &[u64]) -> Integer {
    Integer::from_digits(limbs, Order::Lsf)
}

fn random(limbs: usize, state: &mut RandState) -> Vec<u64> {
    let mut number: Vec<u64> = Integer::from(Integer::random_bits(64 * limbs as u32, state)).to_digits(Order::Lsf);
    number.resize(limbs, 0);
    number
}

/// Zero, one, the top bit, all ones, alternating runs of ones, and a random number.
fn corners(limbs: usize, state: &mut RandState) -> Vec<Vec<u64>> {
    let mut numbers = vec![vec![0; limbs]; 3];
    if limbs > 0 {
        numbers[1][0] = 1;
        numbers[2][limbs - 1] = 1 << 63;
    }
    numbers.push(vec![u64::MAX; limbs]);
    numbers.push((0..limbs).map(|i| if i % 7 < 3 { u64::MAX } else { 0 }).collect());
    numbers.push(random(limbs, state));
    numbers
}

fn check(ring: &Ring, a: &[u64], b: &[u64]) {
    let mut out = vec![1; a.len() + b.len()];
    ring.product(a, b, &mut out).unwrap();
    assert!(integer(&out) == integer(a) * integer(b), "{} by {} limbs, {ring:?}", a.len(), b.len());
}

#[test]
fn every_short_length() {
    let mut state = RandState::new();
    for engine in engines() {
        let ring = Ring::new(engine, 24).unwrap();
        for m in 0..12 {
            for n in 0..12 {
                for a in corners(m, &mut state) {
                    for b in corners(n, &mut state) {
                        check(&ring, &a, &b);
                    }
                }
            }
        }
    }
}

/// Pairs of two-limb numbers whose ones form a single run.
#[test]
fn every_pair_of_two_runs_of_bits() {
    let mut numbers = vec![0_u128];
    for low in (0..128).step_by(5) {
        for high in (low..128).step_by(7) {
            numbers.push((u128::MAX >> (127 - high)) & (u128::MAX << low));
        }
    }
    for engine in engines() {
        let ring = Ring::new(engine, 4).unwrap();
        for a in numbers.iter().step_by(3) {
            for b in &numbers {
                check(&ring, &[*a as u64, (*a >> 64) as u64], &[*b as u64, (*b >> 64) as u64]);
            }
        }
    }
}

/// Lengths at which the plan of the transform changes, and their neighbours.
#[test]
fn lengths_around_every_switch() {
    let mut state = RandState::new();
    for engine in engines() {
        let mut plan = None;
        for limbs in (2..1500).chain((1500..40_000).step_by(97)) {
            let ring = Ring::new(engine, limbs).unwrap();
            if plan.replace(ring.plan()) == Some(ring.plan()) {
                continue;
            }
            for limbs in [ring.limbs(), limbs, limbs - 1] {
                let (m, n) = (limbs / 2, limbs - limbs / 2);
                check(&ring, &vec![u64::MAX; m], &vec![u64::MAX; n]);
                check(&ring, &random(m, &mut state), &random(n, &mut state));
                check(&ring, &random(1, &mut state), &random(limbs - 1, &mut state));
            }
        }
    }
}

/// Lengths that are divided among caches, with one and several threads. The results must be the
/// same.
#[test]
fn long_numbers_on_several_threads() {
    let mut state = RandState::new();
    let lengths: &[usize] = if cfg!(debug_assertions) { &[12_000] } else { &[12_000, 60_000, 200_000, 900_000] };
    for &limbs in lengths {
        let (a, b) = (random(limbs, &mut state), vec![u64::MAX; limbs - 1]);
        let expected = [integer(&a) * integer(&b), integer(&b) * integer(&b), integer(&a) * integer(&a)];
        for engine in engines() {
            for threads in [1, 2, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    let ring = Ring::new(engine, 2 * limbs).unwrap();
                    let mut out = vec![0; 2 * limbs];
                    ring.product(&a, &b, &mut out).unwrap();
                    assert!(integer(&out) == expected[0], "{ring:?}, {threads} threads");
                    ring.square(&b, &mut out).unwrap();
                    assert!(integer(&out) == expected[1], "{ring:?}, {threads} threads");
                    let transformed = ring.transform(&a).unwrap();
                    ring.product_with(&a, &transformed, 0, &mut out).unwrap();
                    assert!(integer(&out) == expected[2], "{ring:?}, {threads} threads");
                    let mut sum = ring.sum();
                    ring.add_product(&mut sum, &transformed, &transformed).unwrap();
                    ring.number(sum, &mut out).unwrap();
                    assert!(integer(&out) == expected[2], "{ring:?}, {threads} threads");
                });
            }
        }
    }
}

/// Compares the product of factors of 10^9 bits modulo four primes.
#[test]
#[ignore = "takes 2.3 GB of memory"]
fn factors_of_ten_to_the_nine_bits() {
    let mut state = RandState::new();
    let limbs = 15_625_000;
    let (a, b) = (random(limbs, &mut state), random(limbs, &mut state));
    for engine in engines() {
        let ring = Ring::new(engine, 2 * limbs).unwrap();
        let mut out = vec![0; 2 * limbs];
        ring.product(&a, &b, &mut out).unwrap();
        for prime in [(1 << 61) - 1, u64::MAX - 58, u64::MAX - 82, (1 << 48) + 21] {
            let modulo = |limbs: &[u64]| {
                limbs.iter().rev().fold(0, |rest, &limb| (rest << 64 | u128::from(limb)) % u128::from(prime))
            };
            assert!(modulo(&out) == modulo(&a) * modulo(&b) % u128::from(prime), "{ring:?}, modulo {prime}");
        }
    }
}

/// Sums with the maximum number of terms and largest factors.
#[test]
fn sums_of_products() {
    for engine in engines() {
        for (limbs, terms) in [(4, 1), (50, 3), (700, 40), (900, 1000)] {
            let ring = Ring::with_terms(engine, limbs, terms).unwrap();
            let ones = vec![u64::MAX; limbs / 2 - 1];
            let (a, b) = (ring.transform(&ones).unwrap(), ring.transform(&[u64::MAX, 5]).unwrap());
            let mut sum = ring.sum();
            let mut expected = Integer::new();
            for term in 0..terms {
                let (x, y) = if term % 3 == 2 { (&a, &b) } else { (&a, &a) };
                ring.add_product(&mut sum, x, y).unwrap();
                let other = if term % 3 == 2 { integer(&[u64::MAX, 5]) } else { integer(&ones) };
                expected += integer(&ones) * other;
            }
            assert_eq!(sum.terms(), terms);
            assert_eq!(ring.add_product(&mut sum, &a, &b), Err(NttError::TooManyTerms { terms }));
            let mut out = vec![0; ring.limbs()];
            ring.number(sum, &mut out).unwrap();
            assert!(integer(&out) == expected, "{ring:?}");
        }
    }
}

/// Products modulo `2^N - 1`, including worst-case carries.
#[test]
fn cyclic_products() {
    let mut state = RandState::new();
    for engine in engines() {
        for limbs in [20, 300, 3000, 30_000] {
            let ring = Ring::new(engine, limbs).unwrap();
            let whole = ring.limbs();
            let modulus = (Integer::from(1) << (64 * whole) as u32) - 1;
            let mut numbers = corners(whole, &mut state);
            numbers.push(corners(whole / 2, &mut state).swap_remove(3));
            let mut out = vec![0; whole];
            for a in &numbers {
                let transformed = ring.transform(a).unwrap();
                for b in &numbers {
                    let expected = integer(a) * integer(b) % &modulus;
                    ring.cyclic_product(a, b, &mut out).unwrap();
                    assert!(integer(&out) % &modulus == expected, "{ring:?}");
                    ring.product_with(b, &transformed, 0, &mut out).unwrap();
                    assert!(integer(&out) % &modulus == expected, "{ring:?}");
                }
            }
        }
    }
}

#[test]
fn parts_of_products_and_batches() {
    let mut state = RandState::new();
    for engine in engines() {
        let ring = Ring::new(engine, 1000).unwrap();
        let (a, b) = (random(480, &mut state), random(520, &mut state));
        let mut whole = vec![0; 1000];
        ring.product(&a, &b, &mut whole).unwrap();
        let (mut low, mut middle, mut longer) = (vec![0; 77], vec![0; 600], vec![1; 1200]);
        ring.product(&a, &b, &mut low).unwrap();
        assert_eq!(low, whole[..77]);
        ring.product_from(&a, &b, 350, &mut middle).unwrap();
        assert_eq!(middle, whole[350..950]);
        ring.product(&a, &b, &mut longer).unwrap();
        assert!(longer[..1000] == whole && longer[1000..].iter().all(|&limb| limb == 0));
        ring.product_from(&a, &b, 5000, &mut low).unwrap();
        assert_eq!(low, [0; 77]);

        let (mut first, mut second) = (vec![0; 1000], vec![0; 1000]);
        ring.products(&[(&a, &b), (&b, &a)], &mut [&mut first, &mut second]).unwrap();
        assert!(first == whole && second == whole);
        let transformed = ring.transform(&b).unwrap();
        let mut again = ring.transform(&a).unwrap();
        ring.transform_into(&b, &mut again).unwrap();
        for factor in [&transformed, &again] {
            first.fill(0);
            ring.products_with(&[&a], factor, &mut [&mut first]).unwrap();
            assert!(first == whole);
        }
        assert_eq!(ring.products(&[(&a, &b)], &mut []), Err(NttError::Places { places: 0, results: 1 }));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    for engine in engines() {
        let ring = Ring::new(engine, 100).unwrap();
        let most = ring.limbs();
        let long = vec![0; most + 1];
        let error = NttError::TooLong { limbs: most + 1, most };
        assert_eq!(ring.product(&long[..most], &[1], &mut []), Err(error.clone()));
        assert_eq!(ring.transform(&long).unwrap_err(), error);
        assert_eq!(ring.cyclic_product(&[1], &long, &mut []), Err(error));
        assert_eq!(ring.cyclic_product(&[1], &[1], &mut [0]), Err(NttError::Place { limbs: 1, needed: most }));
        let other = Ring::new(engine, 10_000).unwrap();
        let foreign = other.transform(&[1]).unwrap();
        assert_eq!(ring.product_with(&[1], &foreign, 0, &mut []), Err(NttError::OtherRing));
        assert_eq!(ring.number(other.sum(), &mut []), Err(NttError::OtherRing));
        assert_eq!(Ring::new(engine, 1 << 40).unwrap_err(), NttError::Size { limbs: 1 << 40, terms: 1 });
        assert_eq!(Ring::with_terms(engine, 1, 0).unwrap_err(), NttError::Size { limbs: 1, terms: 0 });
    }
    if let [serial, ifma] = engines().map(|engine| Ring::new(engine, 10).unwrap()).collect::<Vec<_>>().as_slice() {
        let transformed = serial.transform(&[1]).unwrap();
        assert_eq!(ifma.product_with(&[1], &transformed, 0, &mut []), Err(NttError::OtherRing));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn random_lengths(m in 0..3000_usize, n in 0..3000_usize, more in 0..200_usize, seed: u32) {
        let mut state = RandState::new();
        state.seed(&Integer::from(seed));
        let (a, b) = (random(m, &mut state), random(n, &mut state));
        for engine in engines() {
            check(&Ring::new(engine, m + n + more).unwrap(), &a, &b);
        }
    }
}
