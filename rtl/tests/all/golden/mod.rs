//! Expected values by GMP, and streams of numbers through a model.

use hearith_verilated::Design;
use hearith_verilated::bench::{Bench, Pressure, Random};
use rug::Integer;
use rug::integer::Order;

/// The limbs of a number that is not negative.
pub fn limbs(number: &Integer) -> Vec<u64> {
    number.to_digits(Order::Lsf)
}

/// The number of some limbs.
pub fn number(limbs: &[u64]) -> Integer {
    Integer::from_digits(limbs, Order::Lsf)
}

/// `2^bits`.
pub fn power(bits: u32) -> Integer {
    Integer::from(1) << bits
}

/// A random number below a bound.
pub fn below(random: &mut Random, bound: &Integer) -> Integer {
    number(&random.bits(bound.significant_bits() as usize + 64)) % bound
}

/// A random odd number with its top bit set.
pub fn odd(random: &mut Random, bits: u32) -> Integer {
    number(&random.bits(bits as usize)) | power(bits - 1) | 1
}

/// A module with one stream of operands and one of results, and constant inputs.
pub struct Core {
    pub design: &'static Design,
    pub operands: &'static [&'static str],
    pub results: &'static [&'static str],
}

/// The passage of an item through a core: the cycle of its operands, that of its results, and the
/// results.
pub struct Passage {
    pub taken: u64,
    pub given: u64,
    pub results: Vec<Integer>,
}

impl Core {
    /// A bench with constant inputs set and the two streams.
    fn pass(
        &self,
        constants: &[(&str, &Integer)],
        items: &[Vec<Integer>],
        seed: u64,
        sides: [Pressure; 2],
    ) -> Vec<Passage> {
        let mut bench = Bench::new(self.design.model(), seed);
        let source = bench.source("in_valid_i", "in_ready_o", self.operands);
        let sink = bench.sink("out_valid_o", "out_ready_i", self.results);
        bench.set_source_pressure(source, sides[0]);
        bench.set_sink_pressure(sink, sides[1]);
        for &(name, value) in constants {
            bench.model.set(name, limbs(value));
        }
        for item in items {
            let fields: Vec<Vec<u64>> = item.iter().map(limbs).collect();
            bench.push(source, &fields.iter().map(Vec::as_slice).collect::<Vec<_>>());
        }
        bench.run(sink, items.len(), 40_000 * (items.len() as u64 + 1));
        bench.idle(5);
        assert_eq!(bench.received(sink).len(), items.len(), "a result for each item");
        let given = bench.received(sink).to_vec();
        let results = |fields: &[Vec<u64>]| fields.iter().map(|field| number(field)).collect();
        bench
            .taken(source)
            .iter()
            .zip(given)
            .map(|(&taken, transfer)| Passage { taken, given: transfer.cycle, results: results(&transfer.fields) })
            .collect()
    }

    /// Sends items at full speed, checks latency and interval, and returns the results.
    pub fn timed(
        &self,
        constants: &[(&str, &Integer)],
        items: &[Vec<Integer>],
        latency: u64,
        interval: u64,
    ) -> Vec<Vec<Integer>> {
        let passages = self.pass(constants, items, 1, [Pressure::None; 2]);
        for pair in passages.windows(2) {
            assert_eq!(pair[1].taken - pair[0].taken, interval, "interval of {}", self.design.name());
        }
        for passage in &passages {
            assert_eq!(passage.given - passage.taken, latency, "latency of {}", self.design.name());
        }
        passages.into_iter().map(|passage| passage.results).collect()
    }

    /// Sends items under random pressure on both streams, and returns the results.
    pub fn pressed(&self, constants: &[(&str, &Integer)], items: &[Vec<Integer>], seed: u64) -> Vec<Vec<Integer>> {
        let sides = [[120, 4], [4, 120], [128, 128]][seed as usize % 3].map(Pressure::Random);
        self.pass(constants, items, seed, sides).into_iter().map(|passage| passage.results).collect()
    }
}

/// The constants of digit-serial Montgomery arithmetic (`mont_row`) for a modulus.
pub struct Montgomery {
    pub modulus: Integer,
    pub scaled: Integer,
    pub mt: Integer,
    pub r: Integer,
    pub step: u64,
    n: u32,
    w: u32,
    v: u32,
    d: u32,
}

impl Montgomery {
    /// For `n` bits, digits of `w` and words of `v` bits, and a quotient delay of `d`.
    pub fn new(modulus: &Integer, n: u32, w: u32, v: u32, d: u32) -> Self {
        let block = power(w * (d + 1));
        let inverse = modulus.clone().invert(&block).expect("an odd modulus");
        let scaled = (block.clone() - inverse) * modulus;
        let mt = (scaled.clone() + 1u32) / block;
        let iterations = (n + 2).div_ceil(w) + d + 2;
        Self {
            modulus: modulus.clone(),
            scaled,
            mt,
            r: power(w * (iterations - 1)),
            step: u64::from(iterations + d + 4),
            n,
            w,
            v,
            d,
        }
    }

    /// `a b / R mod M`, reduced.
    pub fn product(&self, a: &Integer, b: &Integer) -> Integer {
        let inverse = self.r.clone().invert(&self.modulus).expect("R is a power of two");
        Integer::from(a * b) * inverse % &self.modulus
    }

    /// Edge cases of an operand and some random values, all below `2 M'`.
    pub fn operands(&self, random: &mut Random, count: usize) -> Vec<Integer> {
        let bound: Integer = self.scaled.clone() * 2;
        let ones: Integer = (power(bound.significant_bits() - 1) - 1u32) % &bound;
        let corners = [
            Integer::from(0),
            Integer::from(1),
            self.modulus.clone() - 1u32,
            self.modulus.clone(),
            self.scaled.clone() - 1u32,
            self.scaled.clone(),
            ones,
            bound.clone() - 1u32,
        ];
        corners.into_iter().chain((0..count).map(|_| below(random, &bound))).collect()
    }

    /// Bits of an operand's words, lowest first. Every `d + 2` digits are cut into the fewest
    /// possible words, as evenly as possible.
    fn word_bits(&self) -> Vec<u32> {
        let span = self.w * (self.d + 2);
        let period = span.div_ceil(self.v);
        let at = |index: u32| index * span / period;
        let enough = self.n + self.w * (self.d + 1) + 1;
        (0..).take_while(|&index| at(index) < enough).map(|index| at(index + 1) - at(index)).collect()
    }

    /// A number as redundant words whose top bits are 0.
    pub fn spread(&self, value: &Integer) -> Integer {
        let (mut words, mut rest) = (Integer::new(), value.clone());
        for (index, bits) in (0..).zip(self.word_bits()) {
            words |= rest.clone().keep_bits(bits) << ((self.v + 1) * index);
            rest >>= bits;
        }
        assert_eq!(rest, 0, "an operand fits the words");
        words
    }

    /// The number of redundant words, whose bounds are checked.
    pub fn gather(&self, words: &Integer) -> Integer {
        let (mut value, mut at) = (Integer::new(), 0);
        for (index, bits) in (0..).zip(self.word_bits()) {
            let word = Integer::from(words >> ((self.v + 1) * index)).keep_bits(self.v + 1);
            let most =
                if at < self.w * (self.d + 2) { power(bits) - 1u32 } else { power(bits) + power(bits - self.w) + 1u32 };
            assert!(word <= most, "word {index} of {bits} bits is {word}");
            value += word << at;
            at += bits;
        }
        value
    }
}

/// Bits of a modulus, a digit, a word and a tile, and the values that depend on them
/// (`digit_product`).
#[derive(Clone, Copy, Debug)]
pub struct Large {
    pub n: u32,
    digit: u32,
    width: u32,
    tile: u32,
}

impl Large {
    pub fn new(n: u32, [digit, width, tile]: [u32; 3]) -> Self {
        Self { n, digit, width, tile }
    }

    pub fn words(self) -> u32 {
        (self.n + 3).div_ceil(self.width)
    }

    pub fn terms(self) -> u32 {
        (self.n + 3).div_ceil(self.digit)
    }

    pub fn r(self) -> Integer {
        power(self.digit * self.terms())
    }

    /// Latency of a pass through one array, which determines that of a term.
    fn latency(self) -> u32 {
        6 + (1..).find(|&levels| 3_u32.pow(levels) > self.width / self.tile).unwrap()
    }

    /// Cycles of all terms.
    fn all_terms(self) -> u32 {
        let (per_digit, words, latency) = (self.digit / self.width, self.words(), self.latency());
        let factor_at = (words + 2 * per_digit).max(per_digit + latency + 1);
        let products = (words + per_digit).max(latency.saturating_sub(per_digit + 1));
        self.terms() * (factor_at + per_digit + products).max(factor_at + per_digit + latency)
    }

    /// Cycles from the start of a product to its last word.
    pub fn whole(self) -> u64 {
        u64::from(self.all_terms() + self.words() + self.digit / self.width + self.latency())
    }

    /// Cycles between products.
    pub fn step(self) -> u64 {
        let per_digit = self.digit / self.width;
        u64::from(self.all_terms() + (self.words() + per_digit).max(2 * per_digit + self.latency()))
    }

    /// `-M^-1` modulo the digit.
    pub fn inverse(self, modulus: &Integer) -> Integer {
        let radix = power(self.digit);
        radix.clone() - modulus.clone().invert(&radix).expect("an odd modulus")
    }

    /// `(a b + Q M) / R` with the one Q below R that makes it whole.
    pub fn product(self, modulus: &Integer, a: &Integer, b: &Integer) -> Integer {
        let r = self.r();
        let inverse = r.clone() - modulus.clone().invert(&r).expect("an odd modulus");
        let product = Integer::from(a * b);
        let quotient = (product.clone() * inverse) % &r;
        (product + quotient * modulus) / r
    }
}
