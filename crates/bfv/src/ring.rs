//! Polynomials modulo `X^N + 1` and the primes of a set, and the encoding of plaintexts in them.

use crate::kernel::{Kernel, LANES, Lanes, RADIX, kernel};
use crate::parameters::Set;
use crate::prime::{Constant, PRIME_BITS, Prime, inverse, power, times};
use crate::{Error, noise};
use hearith_arith::Engine;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Number of limbs of a fraction of `q`.
const FRACTION: usize = 3;

/// The primes of a set, with an engine.
pub(crate) struct Ring {
    pub(crate) set: Set,
    pub(crate) engine: Engine,
    pub(crate) primes: Vec<Prime>,
    pub(crate) kernel: &'static dyn Kernel,
    /// For each prime: `1 / (q / q_i)` modulo `q_i`, and `floor(2^192 / q_i)`.
    fractions: Vec<(Constant, [u64; FRACTION])>,
}

/// A polynomial or its first coefficients: the same number of vectors for each prime, prime after
/// prime. Wiped when dropped.
#[derive(Clone)]
pub(crate) struct Poly {
    lanes: Zeroizing<Vec<Lanes>>,
    vectors: usize,
}

impl Poly {
    /// The zero polynomial.
    pub(crate) fn zeros(primes: usize, vectors: usize) -> Self {
        Poly { lanes: Zeroizing::new(vec![Lanes::default(); primes * vectors]), vectors }
    }

    /// The number of vectors per prime.
    pub(crate) fn vectors(&self) -> usize {
        self.vectors
    }

    /// The residues of one prime.
    pub(crate) fn of(&self, prime: usize) -> &[Lanes] {
        &self.lanes[prime * self.vectors..][..self.vectors]
    }

    /// The residues of one prime, mutably.
    pub(crate) fn of_mut(&mut self, prime: usize) -> &mut [Lanes] {
        &mut self.lanes[prime * self.vectors..][..self.vectors]
    }

    /// The coefficient, or value, at `index`.
    pub(crate) fn residue(&self, prime: usize, index: usize) -> u64 {
        self.of(prime)[index / LANES].0[index % LANES]
    }

    /// Writes the first residues of one prime.
    pub(crate) fn set(&mut self, prime: usize, residues: &[u64]) {
        for (lanes, residues) in self.of_mut(prime).iter_mut().zip(residues.chunks(LANES)) {
            lanes.0[..residues.len()].copy_from_slice(residues);
        }
    }

    /// All vectors, prime after prime.
    pub(crate) fn lanes(&self) -> &[Lanes] {
        &self.lanes
    }

    /// Adds a signed number at `index`, in constant time.
    pub(crate) fn add_signed(&mut self, index: usize, number: i128, primes: &[Prime]) {
        let sign = (number >> 127) as u128;
        let magnitude = number.unsigned_abs();
        for (i, prime) in primes.iter().enumerate() {
            let q = u128::from(prime.q);
            // Modulo `q`, `2^50` is `2^50 - q`, which is below 2^23. Each folding of the bits above
            // 50 shortens the number by 27 bits. This avoids a division, whose time depends on its
            // operands.
            let fold = (1_u128 << PRIME_BITS) - q;
            let mut x = magnitude;
            for _ in 0..4 {
                x = (x & ((1 << PRIME_BITS) - 1)) + (x >> PRIME_BITS) * fold;
            }
            let x = x - (q & ((x >= q) as u128).wrapping_neg());
            let signed = (x & !sign) | ((q - x) & sign);
            let word = &mut self.of_mut(i)[index / LANES].0[index % LANES];
            let sum = u128::from(*word) + signed;
            *word = (sum - (q & ((sum >= q) as u128).wrapping_neg())) as u64;
        }
    }

    /// Keeps only the first `vectors` vectors of each prime.
    pub(crate) fn truncated(self, vectors: usize) -> Self {
        let primes = self.lanes.len() / self.vectors;
        let mut front = Poly::zeros(primes, vectors);
        for prime in 0..primes {
            front.of_mut(prime).copy_from_slice(&self.of(prime)[..vectors]);
        }
        front
    }
}

impl Ring {
    /// Prepares the tables.
    pub(crate) fn new(set: Set, engine: Engine) -> Result<Arc<Self>, Error> {
        let available = engine.available()?;
        let moduli = set.moduli();
        let fraction = |&q: &u64| {
            let others = moduli.iter().filter(|&&other| other != q);
            let rest = others.fold(1, |product, &other| times(product, other % q, q));
            (Constant::new(inverse(rest, q), q), reciprocal(q))
        };
        Ok(Arc::new(Ring {
            set,
            engine,
            primes: moduli.iter().map(|&q| Prime::new(q, set.degree())).collect(),
            kernel: kernel(available),
            fractions: moduli.iter().map(fraction).collect(),
        }))
    }

    /// Number of vectors of a whole polynomial for one prime.
    pub(crate) fn vectors(&self) -> usize {
        self.set.degree() / LANES
    }

    /// The zero polynomial.
    pub(crate) fn zeros(&self) -> Poly {
        Poly::zeros(self.primes.len(), self.vectors())
    }

    /// Applies an operation to each prime.
    pub(crate) fn each(&self, a: &mut Poly, mut f: impl FnMut(&dyn Kernel, usize, &mut [Lanes], &Prime)) {
        for (i, prime) in self.primes.iter().enumerate() {
            f(self.kernel, i, a.of_mut(i), prime);
        }
    }

    pub(crate) fn forward(&self, a: &mut Poly) {
        self.each(a, |kernel, _, a, prime| kernel.forward(a, prime));
    }

    pub(crate) fn inverse(&self, a: &mut Poly) {
        self.each(a, |kernel, _, a, prime| kernel.inverse(a, prime));
    }

    /// Converts values to Montgomery form, required of one factor of a product.
    pub(crate) fn make_montgomery(&self, a: &mut Poly) {
        self.each(a, |kernel, _, a, prime| kernel.scale(a, prime.radix, prime));
    }

    /// Computes `sum + a b` value by value, with one factor in Montgomery form.
    pub(crate) fn multiply_add(&self, sum: &mut Poly, a: &Poly, b: &Poly) {
        self.each(sum, |kernel, i, sum, prime| kernel.multiply_add(sum, a.of(i), b.of(i), prime));
    }

    /// The polynomial with these small signed coefficients.
    pub(crate) fn small(&self, small: &[Lanes]) -> Poly {
        let mut out = self.zeros();
        self.add_small(&mut out, small);
        out
    }

    pub(crate) fn add_small(&self, a: &mut Poly, small: &[Lanes]) {
        self.each(a, |kernel, _, a, prime| kernel.add_small(a, small, prime));
    }

    pub(crate) fn add(&self, a: &mut Poly, b: &Poly) {
        self.each(a, |kernel, i, a, prime| kernel.add(a, b.of(i), prime));
    }

    pub(crate) fn subtract(&self, a: &mut Poly, b: &Poly) {
        self.each(a, |kernel, i, a, prime| kernel.subtract(a, b.of(i), prime));
    }

    /// Multiplies by a public number.
    pub(crate) fn multiply(&self, a: &mut Poly, factor: i64) {
        self.each(a, |kernel, _, a, prime| {
            let residue = i128::from(factor).rem_euclid(i128::from(prime.q)) as u64;
            kernel.scale(a, Constant::new(residue, prime.q), prime);
        });
    }

    /// Adds `q m / t`, rounded to the nearest integer, for numbers `m` of `bits` bits and
    /// `t = 2^bits`. That is `(q m - r) / t`, where `r` is the remainder of `q m` modulo `t` with
    /// the least magnitude. Modulo each prime it is `-r / t`.
    pub(crate) fn add_plain(&self, a: &mut Poly, numbers: &[i128], bits: u32) {
        let q = self.primes.iter().fold(1_u128, |product, prime| product.wrapping_mul(u128::from(prime.q)));
        let (half, below) = (1_u128 << (bits - 1), (1_u128 << bits) - 1);
        let vectors = numbers.len().div_ceil(LANES);
        let mut limbs = Zeroizing::new(vec![Lanes::default(); FRACTION * vectors]);
        let (first, others) = limbs.split_at_mut(vectors);
        let (second, third) = others.split_at_mut(vectors);
        for index in 0..vectors * LANES {
            // The remainder plus half of `t`, which is never negative.
            let number = numbers.get(index).map_or(0, |&number| number as u128);
            let above = q.wrapping_mul(number).wrapping_add(half) & below;
            let (vector, lane) = (index / LANES, index % LANES);
            let mask = u128::from(crate::kernel::MASK);
            first[vector].0[lane] = (above & mask) as u64;
            second[vector].0[lane] = (above >> RADIX & mask) as u64;
            third[vector].0[lane] = (above >> (2 * RADIX)) as u64;
        }
        self.each(a, |kernel, _, a, prime| {
            let q = prime.q;
            let per_t = inverse(power(2, u64::from(bits), q), q);
            let constant = |limb: u64| Constant::new(times(q - per_t, power(2, limb * u64::from(RADIX), q), q), q);
            let start = times(per_t, power(2, u64::from(bits) - 1, q), q);
            kernel.add_limbs(&mut a[..vectors], [&*first, &*second, &*third], [0, 1, 2].map(constant), start, prime);
        });
    }

    /// The numbers nearest to `t x / q` modulo `t = 2^bits`, with sign, and whether every `x` is as
    /// close to a multiple of `q / t` as the noise bound allows.
    ///
    /// With `y_i = x_i / (q / q_i)` modulo `q_i`, `x / q` is the sum of all `y_i / q_i` modulo 1.
    /// The fractions have 192 bits, and each is too small by less than `2^50` units in the last
    /// place.
    pub(crate) fn numbers(&self, x: &Poly, count: usize, bits: u32, noise: u128) -> (Zeroizing<Vec<i128>>, bool) {
        let mut x = x.clone();
        self.each(&mut x, |kernel, i, x, prime| kernel.scale(x, self.fractions[i].0, prime));
        let most = self.noise_as_fraction(noise);
        let mut beyond = 0;
        let mut numbers = Zeroizing::new(Vec::with_capacity(count));
        for index in 0..count {
            let (number, distance) = self.round_scaled(|prime| x.residue(prime, index), bits);
            beyond |= most.wrapping_sub(distance) >> 127;
            numbers.push(number);
        }
        (numbers, beyond == 0)
    }

    /// Decodes a single number like [`Ring::numbers`].
    pub(crate) fn number(&self, x: &[u64], bits: u32, noise: u128) -> (i128, bool) {
        let scaled = |i: usize| times(x[i], self.fractions[i].0.value, self.primes[i].q);
        let (number, distance) = self.round_scaled(scaled, bits);
        (number, distance <= self.noise_as_fraction(noise))
    }

    /// The number, and the distance of the fraction from it in units of `2^-128`.
    #[inline(always)]
    fn round_scaled(&self, y: impl Fn(usize) -> u64, bits: u32) -> (i128, u128) {
        let (mut low, mut high) = (0_u64, 0_u128);
        for (i, (_, reciprocal)) in self.fractions.iter().enumerate() {
            let y = u128::from(y(i));
            let lower = y * u128::from(reciprocal[0]);
            let (sum, carry) = low.overflowing_add(lower as u64);
            low = sum;
            let upper = y * u128::from(reciprocal[1]) + (lower >> 64) + u128::from(carry);
            high = high.wrapping_add(upper).wrapping_add((y * u128::from(reciprocal[2])) << 64);
        }
        let rounded = high.wrapping_add(1 << (127 - bits));
        let number = (rounded as i128) >> (128 - bits);
        let distance = high.wrapping_sub((number as u128) << (128 - bits)) as i128;
        (number, distance.unsigned_abs())
    }

    /// The largest distance that this noise can cause, in units of `2^-128`.
    fn noise_as_fraction(&self, noise: u128) -> u128 {
        let (noise, bits) = (noise + 1, self.set.modulus_bits());
        let fraction = match bits {
            ..=128 => noise << (128 - bits),
            bits if bits - 128 < 128 => noise >> (bits - 128),
            _ => 0,
        };
        fraction + (fraction >> 20) + 4
    }

    /// Checks that numbers can be encrypted, and returns how many vectors they fill.
    pub(crate) fn check(&self, numbers: &[i128], bits: u32) -> Result<usize, Error> {
        self.set.check_bits(bits)?;
        let (count, most) = (numbers.len(), self.set.degree());
        if !(1..=most).contains(&count) {
            return Err(crate::ErrorKind::Count { count, most }.into());
        }
        noise::check(Some(noise::fresh_public(self.set)), self.set, bits)?;
        // Bits above the sign that differ from it, over all numbers at once. Only if there are any
        // is the row searched.
        let excess = |&number: &i128| (number >> (bits - 1)) ^ (number >> 127);
        match numbers.iter().fold(0, |any, number| any | excess(number)) {
            0 => Ok(count.div_ceil(LANES)),
            _ => {
                let row = numbers.iter().position(|number| excess(number) != 0).unwrap_or(0);
                Err(Error::from(crate::ErrorKind::OutOfRange { bits }).at_row(row))
            }
        }
    }
}

/// `floor(2^192 / q)`, least significant limb first.
fn reciprocal(q: u64) -> [u64; FRACTION] {
    let mut rest = 1_u128;
    let mut limbs = [0; FRACTION];
    for limb in limbs.iter_mut().rev() {
        rest <<= 64;
        *limb = (rest / u128::from(q)) as u64;
        rest %= u128::from(q);
    }
    limbs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{SEED_BYTES, Stream};
    use rug::Integer;
    use rug::integer::Order;

    fn rings(set: Set) -> Vec<Arc<Ring>> {
        let engines = Engine::ALL.iter().filter(|engine| engine.is_available());
        engines.map(|&engine| Ring::new(set, engine).unwrap()).collect()
    }

    fn uniform(ring: &Ring, seed: u8) -> Poly {
        let mut out = ring.zeros();
        let mut stream = Stream::new(&[seed; SEED_BYTES], 0);
        ring.each(&mut out, |_, _, out, prime| stream.uniform(out, prime.q));
        out
    }

    fn words(lanes: &[Lanes]) -> Vec<u64> {
        lanes.iter().flat_map(|lanes| lanes.0).collect()
    }

    /// `a b` modulo `X^N + 1` and `q`, from one product of two long integers with 128 bits per
    /// coefficient.
    fn product(a: &[u64], b: &[u64], q: u64) -> Vec<u64> {
        let spread = |a: &[u64]| Integer::from_digits(&a.iter().flat_map(|&a| [a, 0]).collect::<Vec<_>>(), Order::Lsf);
        let mut digits = (spread(a) * spread(b)).to_digits::<u64>(Order::Lsf);
        digits.resize(4 * a.len(), 0);
        let reduced = |pair: &[u64]| ((u128::from(pair[1]) << 64 | u128::from(pair[0])) % u128::from(q)) as u64;
        let coefficients: Vec<u64> = digits.chunks(2).map(reduced).collect();
        let (low, high) = coefficients.split_at(a.len());
        low.iter().zip(high).map(|(&low, &high)| if low < high { low + q - high } else { low - high }).collect()
    }

    #[test]
    fn products_are_those_of_long_integers() {
        for set in Set::ALL {
            for ring in rings(set) {
                let (a, b) = (uniform(&ring, 1), uniform(&ring, 2));
                let (mut x, mut y, mut sum) = (a.clone(), b.clone(), ring.zeros());
                ring.forward(&mut x);
                ring.forward(&mut y);
                ring.make_montgomery(&mut y);
                ring.multiply_add(&mut sum, &x, &y);
                ring.inverse(&mut sum);
                for (i, prime) in ring.primes.iter().enumerate() {
                    assert_eq!(words(sum.of(i)), product(&words(a.of(i)), &words(b.of(i)), prime.q));
                }
            }
        }
    }

    #[test]
    fn transforms_of_extreme_polynomials_come_back() {
        for ring in rings(Set::Degree4096) {
            for word in [0, 1, u64::MAX] {
                let mut a = ring.zeros();
                ring.each(&mut a, |_, _, a, prime| a.fill(Lanes([word.min(prime.q - 1); LANES])));
                let mut b = a.clone();
                ring.forward(&mut b);
                ring.inverse(&mut b);
                assert!(a.lanes == b.lanes);
            }
        }
    }

    #[test]
    fn engines_agree() {
        for set in Set::ALL {
            let results: Vec<Vec<Lanes>> = rings(set)
                .iter()
                .map(|ring| {
                    let (mut a, b, mut c) = (uniform(ring, 1), uniform(ring, 2), uniform(ring, 3));
                    ring.forward(&mut a);
                    ring.multiply_add(&mut c, &a, &b);
                    ring.add(&mut a, &c);
                    ring.inverse(&mut a);
                    ring.subtract(&mut a, &b);
                    ring.make_montgomery(&mut a);
                    ring.add_small(&mut a, &[Lanes([u64::MAX, 1, 0, 20, 21, 0_u64.wrapping_sub(21), 3, 4]); 5]);
                    ring.add_plain(&mut a, &[-1, 1, 0, 12345, -(1 << 70), (1 << 70) - 1, 7, 8, 9], 71);
                    a.lanes.to_vec()
                })
                .collect();
            assert!(results.iter().all(|result| result == &results[0]));
        }
    }

    /// The `x` in `0 <= x < q` with these residues, by Garner's algorithm with long integers, and
    /// `q`.
    fn composed(ring: &Ring, residues: impl Fn(usize) -> u64) -> (Integer, Integer) {
        let (mut x, mut q) = (Integer::new(), Integer::from(1));
        for (i, prime) in ring.primes.iter().enumerate() {
            let p = Integer::from(prime.q);
            let step = (Integer::from(residues(i)) - &x) * Integer::from(q.invert_ref(&p).unwrap());
            x += step.modulo(&p) * &q;
            q *= p;
        }
        (x, q)
    }

    #[test]
    fn plaintexts_lie_at_multiples_of_q_over_t() {
        for (set, bits) in [(Set::Degree4096, 40), (Set::Degree8192, 2), (Set::Degree8192, 127), (Set::Degree16384, 97)]
        {
            let largest = i128::MAX >> (127 - (bits - 1));
            let numbers: Vec<i128> = vec![0, 1, -1, largest, -largest - 1, largest / 3, -largest / 5];
            for ring in rings(set) {
                let mut a = ring.zeros();
                ring.add_plain(&mut a, &numbers, bits);
                for (index, &number) in numbers.iter().enumerate() {
                    let (x, q) = composed(&ring, |prime| a.residue(prime, index));
                    let distance = (x * (Integer::from(1) << bits) - Integer::from(number) * &q)
                        .modulo(&(Integer::from(&q << bits)));
                    let half = Integer::from(1) << (bits - 1);
                    assert!(distance <= half || distance >= (q << bits) - half, "{set} {bits} {number}");
                }
                let (found, right) = ring.numbers(&a, numbers.len(), bits, 1);
                assert!(right && *found == numbers);
            }
        }
    }

    #[test]
    fn numbers_are_the_nearest_and_noise_is_seen() {
        let (ring, bits) = (Ring::new(Set::Degree8192, Engine::Serial).unwrap(), 97);
        let limit = noise::limit(ring.set, bits);
        for (noise, number) in [(limit as i128 - 1, 5), (1 - limit as i128, -7)] {
            let mut a = Poly::zeros(ring.primes.len(), 1);
            ring.add_plain(&mut a, &[number], bits);
            let residues: Vec<u64> = (0..ring.primes.len())
                .map(|i| (Integer::from(noise) + a.residue(i, 0)).modulo(&ring.primes[i].q.into()).to_u64().unwrap())
                .collect();
            assert_eq!(ring.number(&residues, bits, limit), (number, true));
            assert_eq!(ring.number(&residues, bits, limit / 2), (number, false));
        }
    }
}
