//! Tests Table 3 of the design for FHE over the integers \[CMOOH13\], printed and corrected, and
//! products of blocks against GMP.

use hearith_golden::integer_fft::cost::{Blocks, multiplier, residue_products};
use hearith_golden::integer_fft::{CORRECTED, Modulus, PRINTED, Parameters};
use proptest::prelude::{any, prop_assert_eq, proptest};
use proptest::strategy::Strategy;
use rug::Integer;
use rug::integer::Order;

/// A number's digits, lowest first.
fn digits(parameters: &Parameters, number: &Integer) -> Vec<u64> {
    let digit = |at| Integer::from(number >> (at * parameters.base)).keep_bits(parameters.base).to_u64().unwrap();
    (0..parameters.k / 2).map(digit).collect()
}

/// The number with these coefficients.
fn number(parameters: &Parameters, coefficients: &[u128]) -> Integer {
    coefficients.iter().rev().fold(Integer::new(), |sum, &coefficient| (sum << parameters.base) + coefficient)
}

#[test]
fn two_of_the_printed_roots_are_none() {
    assert_eq!(PRINTED.map(|parameters| parameters.has_root()), [true, true, false, false]);
    assert!(CORRECTED.iter().all(Parameters::has_root));
    // A transform with an invalid root has no inverse.
    let x: Vec<u128> = (0..64).collect();
    assert_ne!(PRINTED[3].inverse(&PRINTED[3].transform(&x)), x);
    assert_eq!(CORRECTED[3].inverse(&CORRECTED[3].transform(&x)), x);
}

#[test]
fn printed_digits_are_shorter_than_they_could_be() {
    for (printed, corrected) in PRINTED.iter().zip(&CORRECTED) {
        assert!(printed.fits() && corrected.fits());
        assert!(!Parameters { base: corrected.base + 2, ..*corrected }.fits());
    }
    assert_eq!(CORRECTED.map(|parameters| parameters.block_bits()), [384, 1792, 1792, 384]);
    assert_eq!(PRINTED.map(|parameters| parameters.bus_bits()), [32, 192, 224, 48]);
}

/// Two of the moduli are composite, but their roots are roots modulo each prime factor.
#[test]
fn roots_modulo_composite_moduli() {
    for (parameters, factors) in [(CORRECTED[0], [641, 6_700_417]), (CORRECTED[1], [274_177, 67_280_421_310_721])] {
        assert_eq!(factors[0] * factors[1], parameters.modulus.value());
        for factor in factors {
            let half = Integer::from(parameters.root).pow_mod(&(parameters.k / 2).into(), &factor.into()).unwrap();
            assert_eq!(half, factor - 1);
        }
    }
}

/// The paper's Table 4: if butterflies multiply, every power of a root except 1 needs a product.
#[test]
fn dsp_blocks_of_table_four() {
    assert_eq!(64 * multiplier(33), 256);
    assert_eq!(128 * multiplier(65), 2048);
    assert_eq!(residue_products(128) * multiplier(64), 18_496);
    // A product with a Barrett reduction takes 13.
    assert_eq!(residue_products(64) * 13, 6292);
}

#[test]
fn cycles_of_a_long_product() {
    // 8 cycles per block.
    let blocks = Blocks::new(&CORRECTED[2], 150_000, 936);
    assert_eq!(blocks, Blocks { rows: 84, blocks: 1 });
    assert_eq!(blocks.cycles(8), 84 * 2 * 8);
}

#[test]
fn residues_at_the_edges() {
    for modulus in [Modulus::new(64, 0), Modulus::new(64, 32), Modulus::new(32, 20), Modulus::new(4, 0)] {
        let p = Integer::from(modulus.value());
        for x in [0, 1, 2, modulus.value() / 2, modulus.value() - 2, modulus.value() - 1] {
            for y in [0, 1, modulus.value() / 3, modulus.value() - 1] {
                let expected = Integer::from(x) * y % &p;
                assert_eq!(modulus.multiply(x, y), expected);
            }
            assert_eq!(modulus.add(x, modulus.negate(x)), 0);
        }
    }
}

proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(8))]

    #[test]
    fn products_of_blocks(
        index in 0..4_usize,
        x in proptest::collection::vec(any::<u64>().prop_map(|word| word | word << 7), 28),
        y in proptest::collection::vec(any::<u64>(), 28),
    ) {
        let parameters = CORRECTED[index];
        let block = |words: &[u64]| Integer::from_digits(words, Order::Lsf).keep_bits(parameters.block_bits());
        let ones = Integer::from(Integer::u_pow_u(2, parameters.block_bits())) - 1u32;
        for (x, y) in [(block(&x), block(&y)), (ones.clone(), ones.clone()), (ones, block(&y))] {
            let product = parameters.product(&digits(&parameters, &x), &digits(&parameters, &y));
            prop_assert_eq!(number(&parameters, &product), x * y);
        }
    }
}
