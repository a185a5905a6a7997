//! Folded transforms and their products against their definition and GMP: every item at a tiny
//! width, edge cases and random values at full width. Every cycle is counted.

use crate::golden::{below, limbs, number, power};
use crate::pipe::Pipe;
use hearith_rtl as rtl;
use hearith_verilated::Design;
use hearith_verilated::bench::{Bench, Pressure, Random};
use rug::Integer;

/// `2^2b - 2^b + 1`.
fn solinas(b: u32) -> Integer {
    power(2 * b) - power(b) + 1u32
}

/// The root of a design's transforms.
fn root(design: &Design) -> Integer {
    let (_, digits) = design.parameters().iter().find(|(name, _)| *name == "Root").expect("a root");
    digits.rsplit_once('d').expect("a decimal number").1.parse().expect("digits")
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn products_with_powers_of_two_that_come_along() {
    for (design, b) in [(&rtl::VARIABLE_SHIFT_4, 4), (&rtl::VARIABLE_SHIFT_32, 32)] {
        let (p, mut random) = (solinas(b), Random::new(6));
        let values: Vec<Integer> = match p.to_u32() {
            Some(p) => (0..p).map(Integer::from).collect(),
            None => {
                let corners = [1, 2, b - 1, b, b + 1, 2 * b - 1, 2 * b].map(|bits| (power(bits) - 1u32) % &p);
                let negative = corners.clone().map(|x| p.clone() - 1u32 - x);
                let some = (0..30).map(|_| below(&mut random, &p)).collect::<Vec<_>>();
                corners.into_iter().chain(negative).chain(some).collect()
            }
        };
        let pair = |x: &Integer, shift: u32| vec![x.clone(), Integer::from(shift)];
        let items: Vec<_> = (0..6 * b).flat_map(|shift| values.iter().map(move |x| pair(x, shift))).collect();
        let pipe = Pipe { design, inputs: &["x_i", "shift_i"], outputs: &["y_o"], latency: 4 };
        pipe.check(&items, |x| vec![Integer::from(&x[0] << x[1].to_u32().unwrap()) % &p]);
    }
}

/// The bits of a number in reverse order.
fn reversed(number: usize, bits: u32) -> usize {
    number.reverse_bits() >> (usize::BITS - bits)
}

/// Cycles of a transform of `2^log` items: its memories, its butterflies, its powers of two, its
/// product.
fn latency(log: u32) -> usize {
    (1 << log) - 1 + 2 * log as usize + 4 * (log as usize - 2) + 4 + 3 + 4
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn transforms_and_their_inverses() {
    let designs = [
        (&rtl::NTT_FOLDED_16, false, 0),
        (&rtl::NTT_FOLDED_16_INVERSE, true, 5),
        (&rtl::NTT_FOLDED_256, false, 0),
        (&rtl::NTT_FOLDED_256_INVERSE, true, 0),
    ];
    for (design, inverse, start) in designs {
        let (p, log) = (solinas(design.parameter("B")), design.parameter("High") + design.parameter("Low"));
        let (n, mut random) = (1_usize << log, Random::new(31));
        let root = if inverse { root(design).invert(&p).unwrap() } else { root(design) };
        let scale = if inverse { Integer::from(n).invert(&p).unwrap() } else { Integer::from(1) };
        let powers: Vec<Integer> = (0..n as u32).map(|e| root.clone().pow_mod(&e.into(), &p).unwrap()).collect();
        let blocks: Vec<Vec<Integer>> = (0..6 * 16 / log as usize)
            .map(|kind| match kind {
                0 => vec![p.clone() - 1u32; n],
                1 => (0..n).map(|t| Integer::from(t == 1)).collect(),
                _ => (0..n).map(|_| below(&mut random, &p)).collect(),
            })
            .collect();
        // Block by block, after random items before the first.
        let noise = (0..start).map(|_| vec![below(&mut random, &p)]).collect::<Vec<_>>();
        let items: Vec<_> = noise.into_iter().chain(blocks.iter().flatten().map(|x| vec![x.clone()])).collect();
        let pipe = Pipe { design, inputs: &["x_i"], outputs: &["y_o"], latency: latency(log) };
        let results = pipe.pass(&items, 0);
        for (block, result) in blocks.iter().zip(results[start..].chunks(n)) {
            let result: Vec<&Integer> = result.iter().map(|fields| &fields[0]).collect();
            // The inverse accepts the transform's output order: position q holds number q with its
            // bits reversed.
            let (from, to): (Vec<usize>, Vec<usize>) = {
                let turned = (0..n).map(|q| reversed(q, log)).collect();
                if inverse { (turned, (0..n).collect()) } else { ((0..n).collect(), turned) }
            };
            for (q, &at) in to.iter().enumerate() {
                let terms = from.iter().zip(block).map(|(&t, x)| Integer::from(x * &powers[at * t % n]));
                let sum = terms.fold(Integer::new(), |sum, term| sum + term);
                assert_eq!(*result[q], sum * &scale % &p, "place {q} of {}", design.name());
            }
        }
        assert!(pipe.pass(&items, 90) == results, "{} with cycles held", design.name());
    }
}

/// Transforms of all lengths in one design: several blocks of one length in a row.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn transforms_of_lengths_chosen_meanwhile() {
    let design = &rtl::NTT_LENGTHS_128;
    let (p, mut random) = (solinas(32), Random::new(37));
    for skip in 0..design.parameter("High") {
        let (log, root) = (7 - skip, root(design).pow_mod(&Integer::from(1 << skip), &p).unwrap());
        let n = 1_usize << log;
        let powers: Vec<Integer> = (0..n as u32).map(|e| root.clone().pow_mod(&e.into(), &p).unwrap()).collect();
        let blocks: Vec<Vec<Integer>> = (0..40)
            .map(|kind| match kind {
                0 => vec![p.clone() - 1u32; n],
                1 => (0..n).map(|t| Integer::from(t == 1)).collect(),
                _ => (0..n).map(|_| below(&mut random, &p)).collect(),
            })
            .collect();
        // The skipped ranks save the cycles of their memories.
        let latency = latency(7) - (128 - n);
        // The length must stay until everything has been output.
        let behind = vec![Integer::new(); latency];
        let items = blocks.iter().flatten().chain(&behind).map(|x| vec![x.clone(), Integer::from(skip)]);
        let items: Vec<_> = items.collect();
        let pipe = Pipe { design, inputs: &["x_i", "skip_i"], outputs: &["y_o"], latency };
        let results = pipe.pass(&items, 0);
        for (block, result) in blocks.iter().zip(results.chunks(n)) {
            for (q, found) in result.iter().enumerate() {
                let terms = block.iter().enumerate().map(|(t, x)| Integer::from(x * &powers[reversed(q, log) * t % n]));
                let sum = terms.fold(Integer::new(), |sum, term| sum + term);
                assert_eq!(found[0], sum % &p, "place {q} of {n} in {}", design.name());
            }
        }
    }
}

/// Every power of a root of order 2^14, with every power of two and accompanying factors.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn products_with_powers_of_a_root() {
    let design = &rtl::ROOT_PRODUCT_14;
    let (p, root, mut random) = (solinas(32), root(design), Random::new(38));
    let items: Vec<Vec<Integer>> = (0..1_u32 << 14)
        .map(|e| {
            let x = if e % 7 == 0 { p.clone() - 1u32 } else { below(&mut random, &p) };
            vec![x, e.into(), (e * 5 % 192).into(), u32::from(e % 5 == 4).into(), below(&mut random, &p)]
        })
        .collect();
    let inputs = &["x_i", "exponent_i", "shift_i", "by_factor_i", "factor_i"];
    let pipe = Pipe { design, inputs, outputs: &["y_o"], latency: 1 + 7 + 7 + 4 };
    pipe.check(&items, |item| {
        let [x, e, s, by_factor, factor] = item else { unreachable!("five inputs") };
        let power = root.clone().pow_mod(e, &p).unwrap() << s.to_u32().unwrap();
        vec![if *by_factor == 1 { Integer::from(x * factor) } else { x * power } % &p]
    });
}

/// Products of some blocks, lowest digits first.
struct Products {
    design: &'static Design,
    digits: usize,
    base: u32,
}

impl Products {
    /// The products of some pairs, and the cycles in which their digits were accepted and returned.
    /// Each pair is offered `pause` cycles after the previous one was accepted.
    fn pass(
        &self,
        pairs: &[[Integer; 2]],
        seed: u64,
        sides: [Pressure; 2],
        pause: u64,
    ) -> (Vec<Integer>, Vec<u64>, Vec<u64>) {
        let mut bench = Bench::new(self.design.model(), seed);
        let source = bench.source("in_valid_i", "in_ready_o", &["x_i", "y_i"]);
        let sink = bench.sink("out_valid_o", "out_ready_i", &["out_last_o", "out_o"]);
        bench.set_source_pressure(source, sides[0]);
        bench.set_sink_pressure(sink, sides[1]);
        let n = 2 * self.digits;
        for pair in pairs {
            for at in 0..self.digits {
                let digit = |x: &Integer| limbs(&Integer::from(x >> (at as u32 * self.base)).keep_bits(self.base));
                bench.push(source, &[&digit(&pair[0]), &digit(&pair[1])]);
            }
            bench.run_until(100 * n as u64, |bench| pause == 0 || bench.queued(source) == 0);
            bench.idle(pause);
        }
        bench.run(sink, pairs.len() * n, (pairs.len() as u64 + 6) * 40 * n as u64);
        bench.idle(3 * n as u64);
        let given = bench.received(sink).to_vec();
        assert_eq!(given.len(), pairs.len() * n, "no digit more");
        let products = given.chunks(n).map(|digits| {
            assert!(digits.iter().enumerate().all(|(at, digit)| digit.fields[0][0] == u64::from(at == n - 1)));
            let digits = digits.iter().rev().map(|digit| number(&digit.fields[1]));
            digits.fold(Integer::new(), |sum, digit| (sum << self.base) + digit)
        });
        (products.collect(), bench.taken(source).to_vec(), given.iter().map(|digit| digit.cycle).collect())
    }

    fn check(&self, pairs: &[[Integer; 2]], pressures: u64) {
        let n = 2 * self.digits as u64;
        let expected: Vec<Integer> = pairs.iter().map(|[x, y]| Integer::from(x * y)).collect();
        let (products, taken, given) = self.pass(pairs, 1, [Pressure::None; 2], 0);
        assert!(products == expected, "products of {}", self.design.name());
        // Two transforms in sequence, a product between them, and a carry after them.
        assert_eq!(given[0] - taken[0], 2 * latency(n.ilog2()) as u64 + 7 + 3);
        assert!(given.windows(2).all(|pair| pair[1] - pair[0] == 1), "a digit every cycle");
        let blocks: Vec<u64> = taken.chunks(self.digits).map(|block| block[0]).collect();
        assert!(blocks.windows(2).all(|pair| pair[1] - pair[0] == n), "a block every {n} cycles");
        for seed in 0..pressures {
            let sides = [[120, 60], [60, 120], [200, 200]][seed as usize].map(Pressure::Random);
            assert!(self.pass(pairs, seed, sides, 0).0 == expected, "{} under pressure", self.design.name());
        }
    }
}

/// Pairs of numbers of `bits` bits: all ones, a single bit, zero, and random.
fn pairs(bits: u32, count: usize) -> Vec<[Integer; 2]> {
    let mut random = Random::new(bits.into());
    let ones = power(bits) - 1u32;
    let fixed = [
        [ones.clone(), ones.clone()],
        [ones.clone(), Integer::from(1)],
        [power(bits - 1), ones],
        [Integer::new(), power(3)],
    ];
    let mut some = || below(&mut random, &power(bits));
    let others: Vec<_> = (0..count).map(|_| [some(), some()]).collect();
    fixed.into_iter().chain(others).collect()
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn products_of_sixteen_bits() {
    let products = Products { design: &rtl::FOLDED_16, digits: 8, base: 2 };
    products.check(&pairs(16, 400), 3);
    // One at a time, after pauses of every length: empty blocks pass between them.
    for pause in 1..60 {
        let pairs = pairs(16, 3);
        let (results, ..) = products.pass(&pairs, pause, [Pressure::None; 2], pause);
        assert!(results.iter().zip(&pairs).all(|(result, [x, y])| *result == Integer::from(x * y)));
    }
}

/// Transforms without a multiplier.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn products_by_half_powers_of_two() {
    Products { design: &rtl::FOLDED_16_HALVES, digits: 8, base: 2 }.check(&pairs(16, 400), 3);
    Products { design: &rtl::FOLDED_128_HALVES, digits: 64, base: 28 }.check(&pairs(64 * 28, 30), 3);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn products_of_thousands_of_bits() {
    Products { design: &rtl::FOLDED_256, digits: 128, base: 28 }.check(&pairs(128 * 28, 20), 3);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn wide_products_of_fifty_thousand_bits() {
    Products { design: &rtl::FOLDED_4096, digits: 2048, base: 26 }.check(&pairs(2048 * 26, 2), 1);
}
