//! Compares every engine with GMP, from 64 to 8192 bits (and 16 384 bits for plain moduli), for
//! random numbers and corner cases.

use hearith_arith::{Batch, Engine, Exponents, FixedBase, Modulus, Pairs, Square, pow_pairs, powers_of_two};
use hearith_testing::has;
use rug::integer::Order;
use rug::ops::Pow;
use rug::rand::RandState;
use rug::{Complete, Integer};

/// Bit lengths that exactly fill their limbs, fall just short, or just exceed them, in radix 2^64,
/// 2^52 and 2^28.
const BITS: &[u32] =
    &[52, 53, 64, 65, 100, 127, 128, 129, 192, 256, 416, 512, 513, 520, 1000, 1024, 1025, 1060, 1061, 1536, 2048, 2049];
/// Lengths tested with fewer and shorter exponents.
const LONG: &[u32] = &[3072, 4096, 4097, 6144, 8192];

fn engines() -> impl Iterator<Item = Engine> {
    Engine::ALL.iter().copied().filter(|engine| has(engine.name(), engine.is_available()))
}

fn limbs(number: &Integer) -> Vec<u64> {
    number.to_digits(Order::Lsf)
}

fn integer(row: &[u64]) -> Integer {
    Integer::from_digits(row, Order::Lsf)
}

fn batch(numbers: &[Integer], width: usize) -> Batch {
    let rows: Vec<Vec<u64>> = numbers.iter().map(limbs).collect();
    Batch::from_rows(width, rows.iter().map(Vec::as_slice))
}

fn integers(batch: &Batch) -> Vec<Integer> {
    batch.rows().map(integer).collect()
}

/// Moduli of exactly `bits` bits: random, the smallest, the largest, and one with long runs of
/// zeros and ones.
fn moduli(bits: u32, random: &mut RandState) -> Vec<Integer> {
    let top = (Integer::from(1) << (bits - 1)) | Integer::from(1);
    let half = (Integer::from(1) << (bits / 2)) - 1u32;
    vec![
        Integer::from(Integer::random_bits(bits, random)) | &top,
        top.clone(),
        (Integer::from(1) << bits) - 1u32,
        top | half,
    ]
}

/// 0, 1, 2, m - 1, m - 2, and random residues.
fn residues(m: &Integer, count: usize, random: &mut RandState) -> Vec<Integer> {
    let mut out =
        vec![Integer::new(), Integer::from(1), Integer::from(2), (m - 1u32).complete(), (m - 2u32).complete()];
    out.extend((0..count).map(|_| m.random_below_ref(random).into()));
    out
}

fn pairs(pairs: &Pairs, m: &Integer) -> Vec<Integer> {
    let whole = |(low, high): (&[u64], &[u64])| {
        let (low, high) = (integer(low), integer(high));
        assert!(low < *m && high < *m, "canonical");
        low + high * m
    };
    pairs.low.rows().zip(pairs.high.rows()).map(whole).collect()
}

fn for_all(lengths: &[u32], mut check: impl FnMut(Engine, &Integer, &mut RandState)) {
    let mut random = RandState::new();
    for engine in engines() {
        for &bits in lengths {
            for m in moduli(bits, &mut random) {
                check(engine, &m, &mut random);
            }
        }
    }
}

#[test]
fn products_sums_and_reductions() {
    for_all(&[BITS, LONG, &[12000, 16384]].concat(), |engine, m, random| {
        let modulus = Modulus::new(engine, &limbs(m)).unwrap();
        let width = modulus.limbs();
        let (a, b) = (residues(m, 14, random), residues(m, 14, random).into_iter().rev().collect::<Vec<_>>());
        let (x, y) = (batch(&a, width), batch(&b, width));
        let expect = |f: &dyn Fn(&Integer, &Integer) -> Integer| {
            a.iter().zip(&b).map(|(a, b)| f(a, b).rem_euc(m.clone())).collect::<Vec<_>>()
        };
        use rug::ops::RemRounding;
        assert_eq!(integers(&modulus.mul(&x, &y)), expect(&|a, b| (a * b).complete()), "{engine} mul {m}");
        assert_eq!(integers(&modulus.add(&x, &y)), expect(&|a, b| (a + b).complete()));
        assert_eq!(integers(&modulus.sub(&x, &y)), expect(&|a, b| (a - b).complete()));
        assert_eq!(integers(&modulus.neg(&x)), expect(&|a, _| (-a).complete()));
        // Numbers as long as the modulus need not be below it.
        let most: Vec<Integer> = (0..9).map(|i| (Integer::from(1) << (64 * width as u32)) - (1u32 << i)).collect();
        let (z, all) = (batch(&most, width), |f: &dyn Fn(&Integer) -> Integer| most.iter().map(f).collect::<Vec<_>>());
        assert_eq!(integers(&modulus.mul(&z, &z)), all(&|z| z.clone().square() % m), "{engine} mul {m}");
        let factor = modulus.factor(x.row(7));
        assert_eq!(integers(&modulus.mul_by(&y, &factor)), expect(&|_, b| (b * &a[7]).complete()));
    });
}

#[test]
fn numbers_of_any_width_are_reduced() {
    for_all(&[BITS, LONG].concat(), |engine, m, random| {
        let modulus = Modulus::new(engine, &limbs(m)).unwrap();
        let square = Square::new(engine, &limbs(m)).unwrap();
        for width in [1, modulus.limbs(), 2 * modulus.limbs(), 4 * modulus.limbs() + 1] {
            let bits = 64 * width as u32;
            let mut numbers: Vec<Integer> = (0..9).map(|_| Integer::random_bits(bits, random).into()).collect();
            numbers.push((Integer::from(1) << bits) - 1u32);
            numbers.push(Integer::new());
            let rows = batch(&numbers, width);
            let expected: Vec<Integer> = numbers.iter().map(|number| (number % m).complete()).collect();
            assert_eq!(integers(&modulus.reduce(&rows)), expected, "{engine} {m} from {width} limbs");
            let expected: Vec<Integer> = numbers.iter().map(|number| number % m.clone().square()).collect();
            let split = square.split(&rows);
            assert_eq!(pairs(&split, m), expected, "{engine} {m} squared from {width} limbs");
            assert_eq!(integers(&square.join(&split)), expected);
        }
    });
}

/// Powers by every method, with exponents of `exponent_bits(m)` bits.
fn powers(lengths: &[u32], rows: usize, exponent_bits: impl Fn(u32) -> u32) {
    for_all(lengths, |engine, m, random| {
        let bits = exponent_bits(m.significant_bits());
        let modulus = Modulus::new(engine, &limbs(m)).unwrap();
        let square = Square::new(engine, &limbs(m)).unwrap();
        let width = modulus.limbs();
        let bases = residues(m, rows, random);
        let x = batch(&bases, width);
        let most = (Integer::from(1) << bits) - 1u32;
        let mut exponents: Vec<Integer> = bases.iter().map(|_| Integer::random_bits(bits, random).into()).collect();
        exponents[..4].clone_from_slice(&[Integer::new(), Integer::from(1), most.clone(), Integer::from(2) & &most]);
        let each = batch(&exponents, limbs(&most).len());
        let one = limbs(&exponents[5]);

        let power = |m: &Integer, e: &dyn Fn(usize) -> Integer| {
            (0..bases.len()).map(|i| bases[i].clone().pow_mod(&e(i), m).unwrap()).collect::<Vec<_>>()
        };
        let m2 = m.clone().square();
        let expected = power(m, &|i| exponents[i].clone());
        assert_eq!(integers(&modulus.pow(&x, Exponents::Each(&each, bits))), expected, "{engine} {m}");
        assert_eq!(integers(&modulus.pow_ladder(&x, Exponents::Each(&each, bits))), expected);
        let expected = power(&m2, &|i| exponents[i].clone());
        assert_eq!(pairs(&square.pow(&x, Exponents::Each(&each, bits)), m), expected, "{engine} {m} squared");
        let expected = power(m, &|_| exponents[5].clone());
        assert_eq!(integers(&modulus.pow(&x, Exponents::Shared(&one, bits))), expected);
        assert_eq!(integers(&modulus.pow(&x, Exponents::Public(&one))), expected);
        let expected = power(&m2, &|_| exponents[5].clone());
        assert_eq!(pairs(&square.pow(&x, Exponents::Public(&one)), m), expected);
        assert_eq!(pairs(&square.pow(&x, Exponents::Shared(&one, bits)), m), expected);
    });
}

#[test]
fn powers_with_full_exponents() {
    powers(&BITS[..14], 5, |bits| bits);
}

#[test]
fn powers_of_long_numbers() {
    powers(&[&BITS[14..], LONG].concat(), 2, |_| 67);
}

#[test]
fn powers_with_exponents_of_every_short_length() {
    for bits in 1..40 {
        powers(&[128], 1, |_| bits);
    }
}

/// Products of single numbers with long runs of zeros and ones, which produce long carry chains.
/// The lengths of the moduli are around those that fill a limb of 52 or 64 bits.
#[test]
fn single_products_carry_far() {
    for_all(
        &[&BITS[..13], &[832, 1039, 1040, 1041, 2079, 2080, 2081, 4095, 4096, 4108]].concat(),
        |engine, m, random| {
            let modulus = Modulus::new(engine, &limbs(m)).unwrap();
            let width = modulus.limbs();
            let mut runs = |rows: usize| -> Vec<Integer> {
                let run = |random: &mut RandState| {
                    let (from, to) = (random.below(64 * width as u32 + 1), random.below(64 * width as u32 + 1));
                    let run = (Integer::from(1) << from.max(to)) - (Integer::from(1) << from.min(to));
                    if random.below(2) == 0 { run } else { (Integer::from(1) << (64 * width as u32)) - 1u32 - run }
                };
                (0..rows).map(|_| run(random)).collect()
            };
            for rows in [1, 2, 3, 8] {
                let (a, b) = (runs(rows), runs(rows));
                let expected: Vec<Integer> = a.iter().zip(&b).map(|(a, b)| (a * b).complete() % m).collect();
                let products = modulus.mul(&batch(&a, width), &batch(&b, width));
                assert_eq!(integers(&products), expected, "{engine}, {rows} rows modulo {m}: {a:?} {b:?}");
            }
        },
    );
}

/// Batches of few rows, for which engines have separate kernels: every operation, compared row by
/// row with GMP.
#[test]
fn few_rows() {
    for_all(
        &[&BITS[..3], &[128, 190, 512, 513, 1024, 1500, 2048], &LONG[..2], &[5300, 8192]].concat(),
        |engine, m, random| {
            let (modulus, square) = (Modulus::new(engine, &limbs(m)).unwrap(), Square::new(engine, &limbs(m)).unwrap());
            let (m2, width, bits) = (m.clone().square(), modulus.limbs(), 67);
            let all = residues(m, 6, random);
            let comb = FixedBase::new(&square, &limbs(&all[7]), bits);
            for rows in 1..=5 {
                let start = random.below(all.len() as u32 - rows as u32) as usize;
                let numbers = &all[start..start + rows];
                let wide: Vec<Integer> = numbers.iter().map(|number| &m2 - number.clone() * 3u32 % &m2).collect();
                let exponents: Vec<Integer> = (0..rows).map(|_| Integer::random_bits(bits, random).into()).collect();
                let (x, y, e) = (batch(numbers, width), batch(&wide, 2 * width + 1), batch(&exponents, 2));
                let of = |f: &dyn Fn(usize) -> Integer| (0..rows).map(f).collect::<Vec<_>>();
                let power = |base: &Integer, row: usize, m: &Integer| base.clone().pow_mod(&exponents[row], m).unwrap();

                let name = format!("{engine}, {rows} rows from {start} modulo {m}");
                assert_eq!(integers(&modulus.mul(&x, &y)), of(&|i| (&numbers[i] * &wide[i]).complete() % m), "{name}");
                assert_eq!(integers(&modulus.reduce(&y)), of(&|i| (&wide[i] % m).complete()), "{name}");
                // As long as the modulus' limbs and not below it, in the widths that addition uses.
                let long: Vec<Integer> =
                    (0..rows).map(|i| (Integer::from(1) << (64 * width as u32)) - (1u32 << i)).collect();
                for (a, b) in [(numbers, &long[..]), (&long, numbers), (&long, &long), (numbers, numbers)] {
                    let products = modulus.mul(&batch(a, width), &batch(b, width));
                    assert_eq!(integers(&products), of(&|i| (&a[i] * &b[i]).complete() % m), "{name}");
                }
                let factor = modulus.factor(y.row(0));
                assert_eq!(
                    integers(&modulus.mul_by(&x, &factor)),
                    of(&|i| (&numbers[i] * &wide[0]).complete() % m),
                    "{name}"
                );
                assert_eq!(
                    integers(&modulus.pow(&x, Exponents::Each(&e, bits))),
                    of(&|i| power(&numbers[i], i, m)),
                    "{name}"
                );
                let groups: Vec<Vec<u32>> = vec![(0..rows as u32).collect(), vec![]];
                let product = numbers.iter().fold(Integer::from(1), |product, number| product * number % m);
                assert_eq!(integers(&modulus.products(&x, &groups)), [product, Integer::from(1) % m], "{name}");

                assert_eq!(pairs(&square.split(&y), m), of(&|i| (&wide[i] % &m2).complete()), "{name}");
                let powers = square.pow(&y, Exponents::Each(&e, bits));
                assert_eq!(pairs(&powers, m), of(&|i| power(&wide[i], i, &m2)), "{name}");
                assert_eq!(pairs(&comb.pow(&e), m), of(&|i| power(&all[7], i, &m2)), "{name}");
                let product = (0..rows).fold(Integer::from(1), |product, i| product * power(&wide[i], i, &m2) % &m2);
                assert_eq!(pairs(&square.multi_pow(&y, &e, bits, &groups[..1]), m), [product], "{name}");
            }
        },
    );
}

#[test]
fn moduli_side_by_side() {
    let mut random = RandState::new();
    for engine in engines() {
        for &bits in &[64, 512, 1024, 1100] {
            let all = moduli(bits, &mut random);
            for rows in [1, 2, 3, 8, 19] {
                let of = |row: usize| &all[row * 7 % all.len()];
                let squares: Vec<Square> = (0..rows).map(|row| Square::new(engine, &limbs(of(row))).unwrap()).collect();
                let width = squares[0].root().limbs();
                let bases: Vec<Integer> =
                    (0..rows).map(|_| Integer::random_bits(4 * bits, &mut random).into()).collect();
                let exponents: Vec<Integer> =
                    (0..rows).map(|_| Integer::random_bits(100, &mut random).into()).collect();
                let (x, e) = (batch(&bases, 4 * width), batch(&exponents, 2));
                let result = pow_pairs(&squares.iter().collect::<Vec<_>>(), &x, Exponents::Each(&e, 100));
                let roots: Vec<&Modulus> = squares.iter().map(Square::root).collect();
                let plain = powers_of_two(&roots, Exponents::Each(&e, 100));
                for row in 0..rows {
                    let one = Pairs { low: result.low.range(row..row + 1), high: result.high.range(row..row + 1) };
                    let power = |m: &Integer| bases[row].clone().pow_mod(&exponents[row], m).unwrap();
                    assert_eq!(
                        pairs(&one, of(row)),
                        [power(&of(row).clone().square())],
                        "{engine} row {row} of {rows}"
                    );
                    let of_two = Integer::from(2).pow_mod(&exponents[row], of(row)).unwrap();
                    assert_eq!(integer(plain.row(row)), of_two, "{engine} row {row} of {rows}");
                }
            }
        }
    }
}

#[test]
fn products_of_groups() {
    for_all(&[64, 200, 1024, 2048], |engine, m, random| {
        let modulus = Modulus::new(engine, &limbs(m)).unwrap();
        for rows in [0u32, 1, 2, 17, 300] {
            let numbers: Vec<Integer> = (0..rows).map(|_| m.random_below_ref(random).into()).collect();
            let mut groups: Vec<Vec<u32>> = vec![vec![], (0..rows).collect(), (0..rows.min(3)).rev().collect()];
            groups.extend((0..rows).step_by(5).map(|row| vec![row, 0, row]));
            let expected: Vec<Integer> = groups
                .iter()
                .map(|group| group.iter().fold(Integer::from(1), |acc, &row| acc * &numbers[row as usize] % m))
                .collect();
            let factors = batch(&numbers, modulus.limbs());
            assert_eq!(integers(&modulus.products(&factors, &groups)), expected, "{engine} {m} {rows} rows");
        }
    });
}

/// Lengths at which kernels and passes change, in arbitrary order, since cached values of one
/// product serve the next.
#[test]
fn products_of_one_group_of_any_length() {
    for_all(&[130, 1024], |engine, m, random| {
        let modulus = Modulus::new(engine, &limbs(m)).unwrap();
        let numbers: Vec<Integer> = (0..600).map(|_| m.random_below_ref(random).into()).collect();
        let factors = batch(&numbers, modulus.limbs());
        for length in [5, 64, 3, 65, 16, 17, 129, 1, 33, 600, 2, 127, 128, 9, 257, 31] {
            let group: Vec<u32> = (0..length).collect();
            let expected = group.iter().fold(Integer::from(1), |acc, &row| acc * &numbers[row as usize] % m);
            assert_eq!(integers(&modulus.products(&factors, &[group])), [expected], "{engine} {m} {length}");
        }
    });
}

#[test]
fn products_of_powers() {
    for_all(&[64, 300, 1024], |engine, m, random| {
        let square = Square::new(engine, &limbs(m)).unwrap();
        let m2 = m.clone().square();
        let bits = 70;
        let bases: Vec<Integer> = (0..40).map(|_| m2.random_below_ref(random).into()).collect();
        let mut exponents: Vec<Integer> = (0..40).map(|_| Integer::random_bits(bits, random).into()).collect();
        exponents[0] = Integer::new();
        exponents[1] = (Integer::from(1) << bits) - 1u32;
        let groups: Vec<Vec<u32>> = vec![vec![], (0..40).collect(), vec![3], (0..20).collect(), vec![1, 0, 1]];
        let width = 2 * square.root().limbs();
        let result = square.multi_pow(&batch(&bases, width), &batch(&exponents, 2), bits, &groups);
        let power = |row: u32| bases[row as usize].clone().pow_mod(&exponents[row as usize], &m2).unwrap();
        let expected: Vec<Integer> = groups
            .iter()
            .map(|group| group.iter().fold(Integer::from(1), |acc, &row| acc * power(row) % &m2))
            .collect();
        assert_eq!(pairs(&result, m), expected, "{engine} {m}");
    });
}

#[test]
fn powers_of_a_fixed_base() {
    for_all(&[64, 300, 1024, 2048], |engine, m, random| {
        let square = Square::new(engine, &limbs(m)).unwrap();
        let m2 = m.clone().square();
        let base = Integer::from(m2.random_below_ref(random));
        for bits in [1, 6, 7, 64, 96, 97, 200, 512] {
            let comb = FixedBase::new(&square, &limbs(&base), bits);
            let mut exponents: Vec<Integer> = (0..10).map(|_| Integer::random_bits(bits, random).into()).collect();
            exponents.extend([Integer::new(), (Integer::from(1) << bits) - 1u32]);
            let width = bits.div_ceil(64) as usize;
            let expected: Vec<Integer> = exponents.iter().map(|e| base.clone().pow_mod(e, &m2).unwrap()).collect();
            assert_eq!(pairs(&comb.pow(&batch(&exponents, width)), m), expected, "{engine} {m} {bits} bits");
        }
    });
}

#[test]
fn fermat_gives_paillier_l_without_a_division() {
    let mut random = RandState::new();
    for engine in engines() {
        let p = Integer::from(Integer::random_bits(512, &mut random)).next_prime();
        let square = Square::new(engine, &limbs(&p)).unwrap();
        let c: Vec<Integer> = (0..9).map(|_| Integer::random_bits(2048, &mut random).into()).collect();
        let exponent = limbs(&(&p - 1u32).complete());
        let power = square.pow(&batch(&c, 32), Exponents::Shared(&exponent, 512));
        let p2 = (&p).pow(2).complete();
        for (row, c) in c.iter().enumerate() {
            let full = c.clone().pow_mod(&(&p - 1u32).complete(), &p2).unwrap();
            assert_eq!(integer(power.low.row(row)), 1);
            assert_eq!(integer(power.high.row(row)), (full - 1u32) / &p);
        }
    }
}

#[test]
fn unusable_moduli_are_refused() {
    use hearith_arith::ArithError;
    let error = |limbs: &[u64]| Modulus::new(Engine::Serial, limbs).unwrap_err();
    assert_eq!(error(&[4, 1]), ArithError::EvenModulus);
    assert_eq!(error(&[0, 0]), ArithError::ModulusSize { bits: 0, least: 2, most: 16384 });
    assert_eq!(error(&[1; 257]), ArithError::ModulusSize { bits: 16385, least: 2, most: 16384 });
    assert_eq!(Modulus::new(Engine::Serial, &[7, 0, 0]).unwrap().limbs(), 1);
}

#[test]
fn an_empty_batch_stays_empty() {
    for engine in engines() {
        let modulus = Modulus::new(engine, &[11]).unwrap();
        let none = Batch::zeros(0, 1);
        assert!(modulus.mul(&none, &none).is_empty());
        assert!(modulus.pow(&none, Exponents::Public(&[3])).is_empty());
        assert!(modulus.products(&none, &[] as &[Vec<u32>]).is_empty());
        assert!(pow_pairs(&[], &none, Exponents::Public(&[3])).is_empty());
    }
}
