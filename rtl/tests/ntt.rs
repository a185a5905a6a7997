//! Arithmetic modulo 2^A + 1 and 2^A - 2^B + 1 against GMP: all operands at tiny widths, corner and random values at full width; latencies counted.

mod golden;
mod pipe;

use golden::{below, power};
use hearith_rtl as rtl;
use hearith_verilated::Design;
use hearith_verilated::bench::Random;
use pipe::Pipe;
use rug::Integer;

/// The modulus of a design.
fn modulus(design: &Design) -> Integer {
    let (a, b) = (design.parameter("A"), design.parameter("B"));
    power(a) + 1u32 - if b == 0 { Integer::new() } else { power(b) }
}

/// Every number below a bound.
fn all(bound: u32) -> Vec<Vec<Integer>> {
    (0..bound).map(|x| vec![Integer::from(x)]).collect()
}

/// Every pair of numbers below a bound.
fn pairs(bound: u32) -> Vec<Vec<Integer>> {
    (0..bound).flat_map(|a| (0..bound).map(move |b| vec![Integer::from(a), Integer::from(b)])).collect()
}

/// Residues where carries and corrections happen, and random ones.
fn residues(random: &mut Random, p: &Integer, count: usize) -> Vec<Integer> {
    let bits = p.significant_bits();
    let near = |x: Integer| [x.clone() - 1u32, x.clone(), x + 1u32];
    let powers = (0..bits).step_by(bits as usize / 4).chain([bits - 1]).map(power);
    let corners = powers.chain([p.clone(), Integer::from(p >> 1)]).flat_map(near);
    let corners = corners.filter(|x| *x >= 0 && x < p).collect::<Vec<_>>();
    corners.into_iter().chain((0..count).map(|_| below(random, p))).collect()
}

/// Pairs of such residues.
fn some_pairs(p: &Integer) -> Vec<Vec<Integer>> {
    let mut random = Random::new(5);
    let values = residues(&mut random, p, 30);
    values.iter().flat_map(|a| values.iter().map(|b| vec![a.clone(), b.clone()])).collect()
}

/// Products of such residues, and what is next to multiples of p, up to a bound.
fn products(p: &Integer, most: &Integer) -> Vec<Vec<Integer>> {
    let mut random = Random::new(3);
    let products = some_pairs(p).into_iter().map(|pair| Integer::from(&pair[0] * &pair[1]));
    let multiples = (0..500).map(|_| below(&mut random, &Integer::from(most / p)) * p).collect::<Vec<_>>();
    let multiples = multiples.into_iter().flat_map(|x| [x.clone() + p - 1u32, x.clone(), x + 1u32]);
    products.chain(multiples).chain([most.clone()]).filter(|x| x <= most).map(|x| vec![x]).collect()
}

fn reducer(design: &'static Design, latency: usize) -> Pipe {
    Pipe { design, inputs: &["x_i"], outputs: &["y_o"], latency }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn every_small_product_modulo_a_power_of_two_and_one() {
    for design in [&rtl::REDUCE_FERMAT_2, &rtl::REDUCE_FERMAT_5] {
        let a = design.parameter("A");
        let p = power(a) + 1u32;
        reducer(design, 2).check(&all((1 << (2 * a)) + 1), |x| vec![Integer::from(&x[0] % &p)]);
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn products_modulo_a_power_of_two_and_one() {
    for design in [&rtl::REDUCE_FERMAT_32, &rtl::REDUCE_FERMAT_64] {
        let a = design.parameter("A");
        let p = power(a) + 1u32;
        reducer(design, 2).check(&products(&p, &power(2 * a)), |x| vec![Integer::from(&x[0] % &p)]);
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn every_small_product_modulo_a_solinas_prime() {
    let folds = [
        (&rtl::REDUCE_SOLINAS_4_2, 2),
        (&rtl::REDUCE_SOLINAS_5_2, 2),
        (&rtl::REDUCE_SOLINAS_7_5, 6),
        (&rtl::REDUCE_SOLINAS_8_4, 2),
    ];
    for (design, folds) in folds {
        let p = modulus(design);
        reducer(design, folds + 1).check(&all(1 << (2 * design.parameter("A"))), |x| vec![Integer::from(&x[0] % &p)]);
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn products_modulo_a_solinas_prime() {
    for (design, folds) in [(&rtl::REDUCE_SOLINAS_32_20, 3), (&rtl::REDUCE_SOLINAS_64_32, 2)] {
        let p = modulus(design);
        let most = power(2 * design.parameter("A")) - 1u32;
        reducer(design, folds + 1).check(&products(&p, &most), |x| vec![Integer::from(&x[0] % &p)]);
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn barrett_reductions() {
    for (design, p) in [(&rtl::REDUCE_BARRETT_17, 17), (&rtl::REDUCE_BARRETT_31, 31), (&rtl::REDUCE_BARRETT_241, 241)] {
        reducer(design, 4).check(&all(1 << (2 * design.parameter("M"))), |x| vec![Integer::from(&x[0] % p)]);
    }
    let wide = [
        (&rtl::REDUCE_BARRETT_32, power(32) - power(20) + 1u32),
        (&rtl::REDUCE_BARRETT_64, power(64) - power(32) + 1u32),
    ];
    for (design, p) in wide {
        let most = power(2 * design.parameter("M")) - 1u32;
        reducer(design, 4).check(&products(&p, &most), |x| vec![Integer::from(&x[0] % &p)]);
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn modular_products() {
    let designs = [
        (&rtl::MODULAR_PRODUCT_4_0, 4 + 2),
        (&rtl::MODULAR_PRODUCT_8_4, 4 + 3),
        (&rtl::MODULAR_PRODUCT_BARRETT, 4 + 4),
        (&rtl::MODULAR_PRODUCT_64_0, 4 + 2),
        (&rtl::MODULAR_PRODUCT_64_32, 4 + 3),
    ];
    for (design, latency) in designs {
        let p = modulus(design);
        let items = if p < 300u32 { pairs(p.to_u32().unwrap()) } else { some_pairs(&p) };
        let pipe = Pipe { design, inputs: &["a_i", "b_i"], outputs: &["y_o"], latency };
        pipe.check(&items, |x| vec![Integer::from(&x[0] * &x[1]) % &p]);
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn modular_sums_and_differences() {
    for design in
        [&rtl::MODULAR_PAIR_4_0, &rtl::MODULAR_PAIR_8_4, &rtl::MODULAR_PAIR_64_0, &rtl::MODULAR_PAIR_64_32]
    {
        let p = modulus(design);
        let items = if p < 300u32 { pairs(p.to_u32().unwrap()) } else { some_pairs(&p) };
        let pipe = Pipe { design, inputs: &["a_i", "b_i"], outputs: &["sum_o", "difference_o"], latency: 2 };
        pipe.check(&items, |x| {
            vec![Integer::from(&x[0] + &x[1]) % &p, (Integer::from(&x[0] - &x[1]) + &p) % &p]
        });
    }
}
