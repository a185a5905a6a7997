//! Random differential tests of every engine against the portable one, on moduli and numbers of any
//! shape.

use hearith_arith::{Batch, Engine, Exponents, FixedBase, Modulus, Square};
use hearith_testing::has;
use proptest::prelude::*;

/// Limbs that are often all zeros or all ones, which produce long carry chains.
fn limb() -> impl Strategy<Value = u64> {
    prop_oneof![2 => any::<u64>(), 1 => Just(0), 1 => Just(u64::MAX), 1 => Just(1), 1 => Just(1 << 63)]
}

fn number(limbs: usize) -> impl Strategy<Value = Vec<u64>> {
    proptest::collection::vec(limb(), limbs)
}

/// An odd modulus of up to 19 limbs, with batches of numbers and of exponents.
fn case() -> impl Strategy<Value = (Vec<u64>, Batch, Batch)> {
    // Half of all batches have few rows.
    (1_usize..20, prop_oneof![1_usize..5, 1_usize..20]).prop_flat_map(|(limbs, rows)| {
        let rows = |width| proptest::collection::vec(number(width), rows);
        (number(limbs), rows(limbs), rows(2)).prop_map(move |(mut m, x, e)| {
            m[0] |= 1;
            m[limbs - 1] |= 2;
            let batch = |rows: Vec<Vec<u64>>, width| Batch::from_rows(width, rows.iter().map(Vec::as_slice));
            (m, batch(x, limbs), batch(e, 2))
        })
    })
}

/// All results of an engine, in order.
fn results(engine: Engine, m: &[u64], x: &Batch, e: &Batch) -> Vec<Batch> {
    let (modulus, square) = (Modulus::new(engine, m).unwrap(), Square::new(engine, m).unwrap());
    let each = Exponents::Each(e, 128);
    let residues = modulus.reduce(x);
    let all: Vec<u32> = (0..x.len() as u32).collect();
    let groups = [all.clone(), vec![], all.iter().rev().step_by(2).copied().collect()];
    let mut out = vec![
        modulus.mul(x, &residues),
        modulus.pow(x, each),
        modulus.pow_ladder(x, each),
        modulus.pow(x, Exponents::Public(e.row(0))),
        modulus.products(&residues, &groups),
        residues,
    ];
    for pairs in [
        square.split(&Batch::concat(&[x, x])),
        square.pow(x, each),
        square.pow(x, Exponents::Shared(e.row(0), 128)),
        square.multi_pow(x, e, 128, &groups),
        FixedBase::new(&square, x.row(0), 128).pow(e),
    ] {
        out.extend([square.join(&pairs), pairs.low, pairs.high]);
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn engines_give_the_same_results((m, x, e) in case()) {
        let expected = results(Engine::Serial, &m, &x, &e);
        for &engine in Engine::ALL.iter().filter(|engine| has(engine.name(), engine.is_available())) {
            prop_assert!(results(engine, &m, &x, &e) == expected, "{} differs", engine);
        }
    }
}
