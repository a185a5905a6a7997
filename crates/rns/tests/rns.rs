//! Tests of conversions to residues and back against GMP, on every engine of this machine.

use hearith_arith::{Batch, Engine};
use hearith_rns::{Basis, Bounds, ErrorKind, PrimeSearch, Residues, is_prime};
use hearith_testing::has;
use proptest::prelude::*;
use rug::rand::RandState;
use rug::{Integer, integer::Order};
use std::collections::HashMap;

fn engines() -> impl Iterator<Item = Engine> {
    Engine::ALL.iter().copied().filter(|engine| has(engine.name(), engine.is_available()))
}

/// The first `count` special primes for the three moduli evaluated in the paper.
fn special(log_degree: u32, modulus_bits: u32, count: usize) -> Vec<u64> {
    let max_word = if modulus_bits == 360 { 62 } else { 63 };
    let bounds = Bounds::Tight;
    let search = PrimeSearch { degree: 1 << log_degree, modulus_bits, word_bits: 30, max_word, terms: 5, bounds };
    search.primes().unwrap().take(count).map(|prime| prime.modulus()).collect()
}

/// The `count` largest or smallest primes of `bits` bits.
fn ordinary(bits: u32, count: usize, largest: bool) -> Vec<u64> {
    let (low, high) = (1_u64 << (bits - 1), 1_u64 << bits);
    let mut numbers: Box<dyn Iterator<Item = u64>> =
        if largest { Box::new((low..high).rev()) } else { Box::new(low..high) };
    numbers.by_ref().filter(|&n| is_prime(n)).take(count).collect()
}

/// Bases of every kind: special and ordinary primes, at each bound of a converter, and composite
/// moduli.
fn bases() -> Vec<Vec<u64>> {
    let mut bases = vec![
        special(13, 360, 12),
        special(14, 720, 24),
        special(15, 1440, 48),
        vec![2],
        vec![3],
        vec![1 << 59],
        vec![4, 9, 25, (1 << 59) - 1],
        vec![1 << 50, (1 << 50) - 1, (1 << 50) + 1],
        ordinary(16, 500, true),
        ordinary(60, 64, true),
        ordinary(20, 30, false),
    ];
    for bits in [30, 31, 34, 45, 49, 50, 51, 52, 53, 59, 60] {
        bases.push(ordinary(bits, 7, true));
        bases.push(ordinary(bits, 8, false));
    }
    // Narrow and wide moduli in turn.
    bases.push((0..12).flat_map(|i| ordinary(20 + i * 40 / 11, 1 + i as usize % 2, i % 2 == 0)).collect());
    // Every possible number of limbs in a block of the sum.
    bases.extend((1..20).map(|count| ordinary(52, count, true)));
    bases
}

/// Numbers at the bounds, then random ones.
fn numbers(basis: &Basis, count: usize, random: &mut RandState) -> Vec<Integer> {
    let product = Integer::from_digits(basis.product(), Order::Lsf);
    let top = Integer::from(1) << basis.bits();
    let mut numbers = vec![Integer::new(), Integer::from(1), Integer::from(&product - 1), Integer::from(&product / 2)];
    numbers.push(Integer::from(&product / basis.moduli()[0]));
    numbers.extend(basis.moduli().iter().take(3).map(|&q| Integer::from(&product - q)));
    numbers.push(Integer::from(&top >> 1) % &product);
    numbers.push(Integer::from(&(Integer::from(&top >> 1)) - 1));
    numbers.extend((0..count).map(|_| Integer::from(product.random_below_ref(random))));
    numbers
}

fn batch(numbers: &[Integer], limbs: usize) -> Batch {
    let rows: Vec<Vec<u64>> = numbers.iter().map(|number| number.to_digits(Order::Lsf)).collect();
    Batch::from_rows(limbs, rows.iter().map(Vec::as_slice))
}

fn check(basis: &Basis, numbers: &[Integer]) {
    let batch = batch(numbers, basis.limbs());
    let residues = basis.residues(&batch).unwrap();
    for (&modulus, column) in basis.moduli().iter().zip(residues.columns()) {
        for (number, &residue) in numbers.iter().zip(column) {
            assert_eq!(residue, Integer::from(number % modulus), "{number} mod {modulus}, {basis:?}");
        }
    }
    let slices: Vec<Vec<u64>> = (0..basis.limbs()).map(|limb| batch.rows().map(|row| row[limb]).collect()).collect();
    let slices: Vec<&[u64]> = slices.iter().map(Vec::as_slice).collect();
    assert_eq!(basis.residues_of_slices(&slices).unwrap(), residues, "{basis:?}");
    assert_eq!(basis.numbers(&residues).unwrap(), batch, "{basis:?}");
    // Into buffers that were used before.
    let (mut again, mut back) = (Residues::new(&[7], 2, vec![6, 5]).unwrap(), Batch::repeat(&[3], 3));
    for _ in 0..2 {
        basis.residues_into(&batch, &mut again).unwrap();
        basis.numbers_into(&again, &mut back).unwrap();
        assert!(again == residues && back == batch, "{basis:?}");
    }
}

#[test]
fn every_kind_of_basis_agrees_with_gmp() {
    let mut random = RandState::new();
    for moduli in bases() {
        for engine in engines() {
            let basis = Basis::new(engine, &moduli).unwrap();
            let product = moduli.iter().fold(Integer::from(1), |product, &q| product * q);
            assert_eq!(Integer::from_digits(basis.product(), Order::Lsf), product);
            check(&basis, &numbers(&basis, 22, &mut random));
        }
    }
}

/// Numbers above `Q` with no more bits than `Q` are converted too. For all ones, every sum is
/// largest.
#[test]
fn numbers_of_all_ones() {
    for moduli in bases() {
        for engine in engines() {
            let basis = Basis::new(engine, &moduli).unwrap();
            let ones: Integer = (Integer::from(1) << basis.bits()) - 1;
            let residues = basis.residues(&batch(std::slice::from_ref(&ones), basis.limbs())).unwrap();
            for (&modulus, column) in moduli.iter().zip(residues.columns()) {
                assert_eq!(column, [Integer::from(&ones % modulus)], "{basis:?}");
            }
        }
    }
}

/// The largest residues everywhere, and single nonzero residues: the largest and smallest sums in
/// the conversion to numbers.
#[test]
fn residues_at_the_bounds() {
    for moduli in bases() {
        let rows = 9;
        let largest = moduli.iter().flat_map(|&q| vec![q - 1; rows]).collect();
        let alone = |at: usize| {
            let row = |q: u64, index: usize| (0..rows).map(move |row| if (index + row) % 9 == at { q - 1 } else { 0 });
            moduli.iter().enumerate().flat_map(|(index, &q)| row(q, index)).collect::<Vec<_>>()
        };
        for words in [largest, alone(0), alone(5)] {
            let residues = Residues::new(&moduli, rows, words).unwrap();
            for engine in engines() {
                let basis = Basis::new(engine, &moduli).unwrap();
                let numbers = basis.numbers(&residues).unwrap();
                let product = Integer::from_digits(basis.product(), Order::Lsf);
                for (row, limbs) in numbers.rows().enumerate() {
                    let number = Integer::from_digits(limbs, Order::Lsf);
                    assert!(number < product, "{basis:?}");
                    for (&modulus, column) in moduli.iter().zip(residues.columns()) {
                        assert_eq!(Integer::from(&number % modulus), column[row], "{basis:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn batches_of_every_length() {
    let mut random = RandState::new();
    for engine in engines() {
        for moduli in [special(13, 360, 12), ordinary(59, 5, true)] {
            let basis = Basis::new(engine, &moduli).unwrap();
            let numbers = numbers(&basis, 1600, &mut random);
            for len in (0..20).chain([511, 512, 513, 1024, 1600]) {
                check(&basis, &numbers[..len]);
            }
        }
    }
}

/// Rows may have fewer limbs than the basis, or more if the upper ones are zero.
#[test]
fn rows_of_other_widths() {
    for engine in engines() {
        for moduli in [special(13, 360, 12), ordinary(59, 7, true)] {
            let basis = Basis::new(engine, &moduli).unwrap();
            for width in 1..=basis.limbs() + 9 {
                let used = width.min(basis.limbs() - 1);
                let row: Vec<u64> =
                    (0..width).map(|limb| if limb < used { u64::MAX - limb as u64 } else { 0 }).collect();
                let number = Integer::from_digits(&row, Order::Lsf);
                let rows = Batch::repeat(&row, 11);
                let slices: Vec<Vec<u64>> = row.iter().map(|&limb| vec![limb; 11]).collect();
                let slices: Vec<&[u64]> = slices.iter().map(Vec::as_slice).collect();
                let residues = basis.residues(&rows).unwrap();
                assert_eq!(basis.residues_of_slices(&slices).unwrap(), residues);
                for (&modulus, column) in moduli.iter().zip(residues.columns()) {
                    assert_eq!(column, vec![Integer::from(&number % modulus); 11], "{width} limbs, {basis:?}");
                }
            }
        }
    }
}

#[test]
fn threads_share_the_work() {
    let mut random = RandState::new();
    for engine in engines() {
        let basis = Basis::new(engine, &special(13, 360, 12)).unwrap();
        let numbers = numbers(&basis, 3000, &mut random);
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| check(&basis, &numbers));
        }
    }
}

proptest! {
    #[test]
    fn random_bases(seed: u32, bits in proptest::collection::vec(2_u32..=60, 1..40)) {
        let mut random = RandState::new();
        random.seed(&Integer::from(seed));
        let mut moduli: Vec<u64> = Vec::new();
        for bits in bits {
            let modulus = random.bits(bits.min(32)) as u64 + (1 << (bits - 1));
            let coprime = |&other: &u64| Integer::from(other).gcd(&Integer::from(modulus)) == 1;
            if modulus < 1 << 60 && moduli.iter().all(coprime) {
                moduli.push(modulus);
            }
        }
        for engine in engines() {
            let basis = Basis::new(engine, &moduli).unwrap();
            check(&basis, &numbers(&basis, 5, &mut random));
        }
    }
}

/// The instruction counts quoted in `crates/rns/README.md`.
#[test]
fn instructions_are_counted() {
    let counts = |log_degree, bits, count| {
        let moduli = special(log_degree, bits, count);
        let count = |engine| Basis::new(engine, &moduli).unwrap().instructions();
        engines().map(|engine| (engine, count(engine))).collect::<HashMap<_, _>>()
    };
    assert_eq!(counts(13, 360, 12)[&Engine::Serial], None);
    if has("ifma", Engine::Ifma.is_available()) {
        assert_eq!(counts(13, 360, 12)[&Engine::Ifma], Some([160, 230]));
        assert_eq!(counts(15, 1440, 48)[&Engine::Ifma], Some([1984, 2936]));
    }
}

#[test]
fn bad_bases_are_refused() {
    let refused = |moduli: &[u64]| Basis::new(Engine::Serial, moduli).unwrap_err();
    assert_eq!(refused(&[6, 35, 77]).kind(), &ErrorKind::NotCoprime { first: 35, second: 77 });
    assert_eq!(refused(&[7, 7]).kind(), &ErrorKind::NotCoprime { first: 7, second: 7 });
    assert_eq!(refused(&[]).to_string(), "the number of moduli is 0; 1 to 512 are supported");
    assert_eq!(refused(&vec![3; 513]).to_string(), "the number of moduli is 513; 1 to 512 are supported");
    assert_eq!(refused(&[5, 1]).to_string(), "a modulus is 1; 2 to 2^60 - 1 are supported");
    assert!(matches!(refused(&[0]).kind(), ErrorKind::Parameter { value: 0, .. }));
    assert!(matches!(refused(&[1 << 60]).kind(), ErrorKind::Parameter { .. }));
}

#[test]
fn bad_input_is_named() {
    for engine in engines() {
        let basis = Basis::new(engine, &[1_073_692_673, 1_073_479_681]).unwrap();
        assert_eq!(basis.bits(), 60);
        let batch = Batch::from_rows(2, [&[5, 0][..], &[(1 << 60) - 1, 0], &[1 << 60, 0], &[0, 1]]);
        assert_eq!(basis.residues(&batch), Err(ErrorKind::TooLong { bits: 60 }.at_row(2)));
        assert_eq!(basis.residues_of_slices(&[&[1, 2], &[0, 1]]), Err(ErrorKind::TooLong { bits: 60 }.at_row(1)));
        assert_eq!(basis.residues(&batch.range(0..2)).unwrap().len(), 2);
        let other = Residues::new(&[7], 1, vec![6]).unwrap();
        assert_eq!(basis.numbers(&other), Err(ErrorKind::OtherBasis.into()));
    }
    let error = Residues::new(&[7, 9], 2, vec![6, 5, 8, 9]).unwrap_err();
    assert_eq!((error.row(), error.column()), (Some(1), Some(1)));
    assert_eq!(error.to_string(), "row 1, column 1: is not below the modulus 9");
}
