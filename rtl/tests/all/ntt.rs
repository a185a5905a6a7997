//! Arithmetic modulo 2^A + 1 and 2^A - 2^B + 1 against GMP: all operands at tiny widths, edge cases
//! and random values at full width. Latencies are counted.

use crate::golden::{below, power};
use crate::pipe::Pipe;
use hearith_rtl as rtl;
use hearith_verilated::Design;
use hearith_verilated::bench::Random;
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

/// Residues that cause carries and corrections, and random ones.
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

/// Products of such residues, and neighbours of multiples of p, up to a bound.
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
    for design in [&rtl::MODULAR_PAIR_4_0, &rtl::MODULAR_PAIR_8_4, &rtl::MODULAR_PAIR_64_0, &rtl::MODULAR_PAIR_64_32] {
        let p = modulus(design);
        let items = if p < 300u32 { pairs(p.to_u32().unwrap()) } else { some_pairs(&p) };
        let pipe = Pipe { design, inputs: &["a_i", "b_i"], outputs: &["sum_o", "difference_o"], latency: 2 };
        pipe.check(&items, |x| vec![Integer::from(&x[0] + &x[1]) % &p, (Integer::from(&x[0] - &x[1]) + &p) % &p]);
    }
}

/// A half power of two: the square root of two is 2^(T/4) - 2^(3T/4).
fn half_power(design: &Design, halves: u32) -> Integer {
    let (a, b) = (design.parameter("A"), design.parameter("B"));
    let t = if b == 0 { a } else { 3 * b };
    let root = if halves.is_multiple_of(2) { Integer::from(1) } else { power(t / 4) - power(3 * t / 4) };
    (root * power(halves / 2)).modulo(&modulus(design))
}

/// The root of a design's transforms: its parameter, or if half powers of two are roots, the first
/// of them of that order.
fn root(design: &Design) -> Integer {
    let given = design.parameters().iter().find(|(name, _)| *name == "Root");
    given.map_or_else(
        || {
            let (a, b) = (design.parameter("A"), design.parameter("B"));
            half_power(design, 4 * if b == 0 { a } else { 3 * b } / design.parameter("K"))
        },
        |(_, digits)| digits.rsplit_once('d').expect("a decimal number").1.parse().expect("digits"),
    )
}

/// Words of `bits` bits each, packed into a number.
fn packed(words: &[Integer], bits: u32) -> Integer {
    words.iter().rev().fold(Integer::new(), |all, word| (all << bits) + word)
}

/// The words of a packed number.
fn unpacked(all: &Integer, bits: u32, count: u32) -> Vec<Integer> {
    (0..count).map(|k| Integer::from(all >> (k * bits)).keep_bits(bits)).collect()
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn products_with_every_power_of_two() {
    for design in [
        &rtl::SHIFT_PRODUCTS_2_0,
        &rtl::SHIFT_PRODUCTS_4_0,
        &rtl::SHIFT_PRODUCTS_8_4,
        &rtl::SHIFT_PRODUCTS_64_0,
        &rtl::SHIFT_PRODUCTS_64_32,
    ] {
        let p = modulus(design);
        let bits = Integer::from(&p - 1u32).significant_bits();
        let items = match p.to_u32() {
            Some(p) => all(p),
            None => residues(&mut Random::new(8), &p, 300).into_iter().map(|x| vec![x]).collect(),
        };
        let count = design.port("y_o").expect("a result").width / bits;
        let pipe = Pipe { design, inputs: &["x_i"], outputs: &["y_o"], latency: 2 };
        pipe.check(&items, |x| {
            let products: Vec<Integer> = (0..count).map(|shift| Integer::from(&x[0] << shift) % &p).collect();
            vec![packed(&products, bits)]
        });
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn products_with_every_power_of_a_root() {
    for (design, latency) in [
        (&rtl::TWIDDLES_4_0, 4),
        (&rtl::TWIDDLES_8_4, 4),
        (&rtl::TWIDDLES_64_32, 4),
        (&rtl::TWIDDLES_32_20, 4 + 4),
        (&rtl::TWIDDLES_BARRETT, 4 + 4),
    ] {
        let (p, root, k) = (modulus(design), root(design), design.parameter("K"));
        assert_eq!(root.clone().pow_mod(&(k / 2).into(), &p).unwrap(), p.clone() - 1u32);
        let bits = Integer::from(&p - 1u32).significant_bits();
        let scale = Integer::from(k).invert(&p).unwrap();
        let items = if p < 300u32 { pairs(p.to_u32().unwrap()) } else { some_pairs(&p) };
        let items = &items[..items.len().min(4000)];
        let powers: Vec<Integer> = (0..k).map(|e| root.clone().pow_mod(&e.into(), &p).unwrap()).collect();
        let pipe = Pipe { design, inputs: &["x_i", "up_i"], outputs: &["y_o"], latency };
        pipe.check(items, |x| {
            let plain = powers.iter().map(|w| Integer::from(&x[0] * w) % &p);
            let scaled = powers.iter().map(|w| Integer::from(&x[0] * w) * &scale % &p);
            vec![packed(&plain.chain(scaled).collect::<Vec<_>>(), bits)]
        });
        // The butterfly uses the last power; the following pair takes two cycles.
        let outputs = &["sum_o", "difference_o"];
        Pipe { outputs, latency: latency + 2, ..pipe }.check(items, |x| {
            let down = Integer::from(&x[0] * &powers[k as usize - 1]);
            let results = [Integer::from(&x[1] + &down), Integer::from(&x[1] - &down)];
            results.map(|result| (result * &scale).modulo(&p)).to_vec()
        });
    }
}

/// Transforms, compared with their definition.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn transforms_of_every_small_vector_and_of_random_ones() {
    for (design, latency, inverse) in [
        (&rtl::NTT_2_0, 2 * 4, false),
        (&rtl::NTT_2_0_INVERSE, 2 * 4, true),
        (&rtl::NTT_4_0, 4 * 6, false),
        (&rtl::NTT_8_4_INVERSE, 4 * 6, true),
        (&rtl::NTT_32_20, 3 * 10, false),
        (&rtl::NTT_32_20_INVERSE, 3 * 10, true),
    ] {
        let (p, k) = (modulus(design), design.parameter("K"));
        let mut random = Random::new(12);
        let bits = Integer::from(&p - 1u32).significant_bits();
        let vectors: Vec<Vec<Integer>> = if p == 5u32 {
            (0..625_u32).map(|x| [x, x / 5, x / 25, x / 125].map(|x| Integer::from(x % 5)).to_vec()).collect()
        } else {
            let values = residues(&mut random, &p, 30);
            let mut one = || values[random.below(values.len() as u64) as usize].clone();
            (0..150).map(|_| (0..k).map(|_| one()).collect()).collect()
        };
        let scale = if inverse { Integer::from(k).invert(&p).unwrap() } else { Integer::from(1) };
        let root = if inverse { root(design).invert(&p).unwrap() } else { root(design) };
        let powers: Vec<Integer> = (0..k).map(|e| root.clone().pow_mod(&e.into(), &p).unwrap()).collect();
        let items: Vec<Vec<Integer>> = vectors.iter().map(|x| vec![packed(x, bits)]).collect();
        let pipe = Pipe { design, inputs: &["x_i"], outputs: &["y_o"], latency };
        pipe.check(&items, |x| {
            let x = unpacked(&x[0], bits, k);
            let term = |at: u32, t: u32| Integer::from(&x[t as usize] * &powers[(at * t % k) as usize]);
            let sum = |at| (0..k).fold(Integer::new(), |sum, t| sum + term(at, t)) * &scale % &p;
            vec![packed(&(0..k).map(sum).collect::<Vec<_>>(), bits)]
        });
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn every_small_product_of_polynomials() {
    // Two digits of three bits each: 6 + 6 bits, four coefficients of the product.
    let design = &rtl::CONVOLUTION_8_4;
    let latency = 2 * 2 * 4 + 4 + 3;
    let pipe = Pipe { design, inputs: &["x_i", "y_i"], outputs: &["z_o"], latency };
    pipe.check(&pairs(64), |x| {
        let (x, y) = (unpacked(&x[0], 3, 2), unpacked(&x[1], 3, 2));
        let middle = Integer::from(&x[0] * &y[1]) + Integer::from(&x[1] * &y[0]);
        let z = [Integer::from(&x[0] * &y[0]), middle, Integer::from(&x[1] * &y[1]), Integer::new()];
        vec![packed(&z, 7)]
    });
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn neighbours_are_added() {
    for (design, base, bound, group) in [(&rtl::PAIR_SUMS_8, 3, 8, 4), (&rtl::PAIR_SUMS_2, 5, 5, 2_u32)] {
        let k = design.parameter("K");
        let (mut random, ones) = (Random::new(4), power(bound * k) - 1u32);
        let some = (0..400).map(|_| below(&mut random, &ones)).collect::<Vec<_>>();
        let items: Vec<Vec<Integer>> = some.into_iter().chain([Integer::new(), ones]).map(|z| vec![z]).collect();
        let latency = group.ilog2() as usize;
        let pipe = Pipe { design, inputs: &["z_i"], outputs: &["word_o"], latency };
        pipe.check(&items, |z| {
            let z = unpacked(&z[0], bound, k);
            let sum = |word: &[Integer]| word.iter().rev().fold(Integer::new(), |sum, z| (sum << base) + z);
            let words: Vec<Integer> = z.chunks(group as usize).map(sum).collect();
            vec![packed(&words, bound + base * (group - 1) + 1)]
        });
    }
}
