//! MESA, the pipelined Paillier decryptor.

use hearith_arith::{ArithError, Modulus, natural};
use hearith_paillier::{Error, PrivateKey};

use super::constants::{Powers, merged, power_modulo, scaled_digits};
use super::keyed::{Constant, Keyed, Parameters, Secret};
use crate::accelerator::Shape;
use crate::registers::Region;
use crate::registers::mesa::{
    IDENTITY, MODULUS, P_ENTER, P_EXPONENT, P_MERGED, P_MT, P_ONE, P_PRIME, P_SQUARE, Q_MT, STEPS,
};

/// A MESA behind a transport. Dropping it wipes the key on the device. Its counters count a pair of
/// products in one ladder as one product.
pub type Mesa = Keyed<MesaParameters>;

/// The parameters that a MESA was built with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MesaParameters {
    /// Bits of the largest key.
    pub bits: u32,
    /// Exponentiation stages of each of the two branches.
    pub stages: u32,
    /// Bits of a digit of its Montgomery multipliers.
    pub digit_bits: u32,
    /// Delay of the quotient in digits.
    pub delay: u32,
    /// True for division from the low end, false for restoring division.
    pub exact_division: bool,
    /// Bits of a beat of its streams.
    pub stream_bits: u32,
    /// The `R` of its digit multipliers is `2^r_bits`.
    pub r_bits: u32,
    /// Bits that its radix-2 multipliers scan.
    pub scanned_bits: u32,
    /// Clock cycles between two plaintexts, once the pipeline is full, with exponents of `bits / 2`
    /// bits.
    pub interval: u32,
}

impl Parameters for MesaParameters {
    const NAME: &str = "MESA";
    const IDENTITY: [u8; 4] = IDENTITY;

    fn read([bits, stages, kinds, stream_bits, r_bits, scanned_bits, interval, _]: [u32; 8]) -> Option<Self> {
        let [digit_bits, delay, exact, _] = kinds.to_le_bytes().map(u32::from);
        let known = (64..=8192).contains(&bits)
            && bits.is_multiple_of(4)
            && (1..=64).contains(&stages)
            // The last stage has at least one bit of its own.
            && (stages - 1) * (bits / 2 + 1).div_ceil(stages) < bits / 2
            && (4..=32).contains(&digit_bits)
            && digit_bits * (delay + 1) <= 64
            && (32..=bits / 2).contains(&stream_bits)
            && stream_bits.is_multiple_of(32)
            && (bits + 2..=bits + 512).contains(&r_bits)
            && (2 * bits + 2..=2 * bits + 512).contains(&scanned_bits)
            && interval < 1 << 24;
        let exact_division = exact != 0;
        let read =
            Self { bits, stages, digit_bits, delay, exact_division, stream_bits, r_bits, scanned_bits, interval };
        known.then_some(read)
    }

    fn bits(&self) -> u32 {
        self.bits
    }

    fn units(&self) -> String {
        format!("{} MEs", 2 * self.stages)
    }

    fn batch_size(&self) -> usize {
        4 * (self.stages as usize + 2)
    }

    fn shape(&self) -> Shape {
        let MesaParameters { bits, stream_bits, stages, interval, .. } = *self;
        // Several times the latency of the pipeline.
        let quiet_cycles = 4 * u64::from(stages + 2) * u64::from(interval) + 40 * u64::from(bits) + 10_000;
        Shape { stream_bits, input_bits: 2 * bits, output_bits: bits, quiet_cycles }
    }

    /// The constants of a key, by region of `rtl/mesa/mesa.sv`.
    fn constants(&self, key: &PrivateKey) -> Result<Vec<Constant>, Error> {
        let [p, q] = key.primes();
        let product = Secret::new(natural::product(p, q));
        let n = Modulus::new(key.public().engine(), &product)?;
        let Powers { exponents, bits } = Powers::of(key);
        let segments = Segments::of(self, bits);
        let [at_p, at_q] = &exponents;
        let mut constants = self.branch(P_MT.number, [p, q], at_p, &segments, &n)?;
        constants.extend(self.branch(Q_MT.number, [q, p], at_q, &segments, &n)?);
        constants.push(self.constant(0, MODULUS, product));
        constants.push(self.constant(0, STEPS, Secret::new(vec![segments.steps().into()])));
        Ok(constants)
    }
}

impl MesaParameters {
    /// A constant for `region`, counted from the region `first`.
    fn constant(&self, first: u32, region: Region, value: Secret) -> Constant {
        (first + region.number, value, (region.bits)(self.bits, self.digit_bits, self.delay))
    }

    /// The constants of the branch of `prime`, in regions counted from `first`
    /// (`rtl/mesa/mesa_branch.sv`).
    fn branch(
        &self,
        first: u32,
        [prime, other]: [&[u64]; 2],
        exponent: &[u64],
        segments: &Segments,
        n: &Modulus,
    ) -> Result<Vec<Constant>, ArithError> {
        let MesaParameters { digit_bits, delay, r_bits, scanned_bits, .. } = *self;
        let square = Secret::new(natural::product(prime, prime));
        let modulo_square = Modulus::new(n.engine(), &square)?;
        Ok(vec![
            self.constant(first, P_MT, scaled_digits(&square, digit_bits * (delay + 1))),
            self.constant(first, P_ENTER, power_modulo(&modulo_square, r_bits + scanned_bits)),
            self.constant(first, P_ONE, power_modulo(&modulo_square, r_bits)),
            self.constant(first, P_EXPONENT, segments.spread(exponent)),
            self.constant(first, P_PRIME, Secret::new(prime.to_vec())),
            self.constant(first, P_MERGED, merged([prime, other], exponent, n, scanned_bits)?),
            self.constant(first, P_SQUARE, square),
        ])
    }
}

/// The distribution of an exponent over the stages, most significant bits first.
///
/// Each stage but the last processes `bits` bits from a field of `width` bits in the constant. The
/// last processes `last_bits` from a field of `last_width` bits, plus one step that leaves
/// Montgomery form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segments {
    stages: u32,
    width: u32,
    last_width: u32,
    bits: u32,
    last_bits: u32,
}

impl Segments {
    /// The shortest stages that fit exponents of `exponent_bits` bits, at most half of the device's
    /// bits.
    fn of(device: &MesaParameters, exponent_bits: u32) -> Self {
        let (half, stages) = (device.bits / 2, device.stages);
        let width = (half + 1).div_ceil(stages);
        let last_width = half - (stages - 1) * width;
        let shapes = (2..=width).map(|bits| {
            let last_bits = last_width.min(bits - 1);
            Segments { stages, width, last_width, bits, last_bits }
        });
        let longest = Segments { stages, width, last_width, bits: width, last_bits: last_width };
        shapes.into_iter().find(|shape| shape.capacity() >= exponent_bits).unwrap_or(longest)
    }

    /// Bits of the longest exponent that fits.
    fn capacity(&self) -> u32 {
        (self.stages - 1) * self.bits + self.last_bits
    }

    /// The value of the word STEPS.
    fn steps(&self) -> u32 {
        // In the last stage, the first step and the exit cancel out.
        (self.bits - 1) | self.last_bits << 16
    }

    /// The exponent in the device's form: the bits of each stage at the top of its field, followed
    /// by the next stage's first bit if the field has space. Constant time in the exponent.
    fn spread(&self, exponent: &[u64]) -> Secret {
        let total = (self.stages - 1) * self.width + self.last_width;
        let mut spread = Secret::new(vec![0; total.div_ceil(64) as usize]);
        for stage in 0..self.stages {
            let is_last = stage + 1 == self.stages;
            let (bits, width) = if is_last { (self.last_bits, self.last_width) } else { (self.bits, self.width) };
            let top = total - stage * self.width;
            for at in 0..width.min(bits + 1) {
                // Bits below the exponent are zero.
                let Some(from) = self.capacity().checked_sub(stage * self.bits + at + 1) else { continue };
                let to = top - 1 - at;
                spread[to as usize / 64] |= natural::bits_at(exponent, from as usize, 1) << (to % 64);
            }
        }
        spread
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(bits: u32, stages: u32) -> MesaParameters {
        MesaParameters {
            bits,
            stages,
            digit_bits: 17,
            delay: 2,
            exact_division: true,
            stream_bits: 32,
            r_bits: 0,
            scanned_bits: 0,
            interval: 0,
        }
    }

    /// The bits that the stages read from the constant in turn, and the bit that each stage reads
    /// as the next stage's first.
    fn gathered(shape: &Segments, spread: &[u64]) -> (Vec<u64>, Vec<u64>) {
        let (mut bits, mut next) = (Vec::new(), Vec::new());
        let total = (shape.stages - 1) * shape.width + shape.last_width;
        for stage in 0..shape.stages {
            let is_last = stage + 1 == shape.stages;
            let steps = if is_last { shape.steps() >> 16 } else { (shape.steps() & 0xffff) + 1 };
            let top = total - stage * shape.width;
            let at = |position: u32| position.checked_sub(1).map_or(0, |bit| natural::bits_at(spread, bit as usize, 1));
            bits.extend((0..steps).map(|step| at(top - step)));
            next.push(at(top - steps));
        }
        (bits, next)
    }

    #[test]
    fn stages_find_the_bits_of_an_exponent() {
        for (bits, stages) in [(64, 1), (64, 2), (64, 5), (64, 11), (1024, 6), (1024, 10), (256, 4)] {
            let device = device(bits, stages);
            for length in 1..=bits / 2 {
                let shape = Segments::of(&device, length);
                let mut exponent = vec![0x9e37_79b9_7f4a_7c15_u64; 9];
                let limbs = length.div_ceil(64) as usize;
                exponent.truncate(limbs);
                exponent[limbs - 1] &= u64::MAX >> (64 * limbs as u32 - length);
                let (found, next) = gathered(&shape, &shape.spread(&exponent));
                assert_eq!(found.len() as u32, shape.capacity());
                assert!(shape.capacity() >= length && shape.bits <= shape.width && shape.last_bits <= shape.last_width);
                let value = |at: usize| natural::bits_at(&exponent, at, 1);
                let expected: Vec<u64> = (0..shape.capacity() as usize).rev().map(value).collect();
                assert_eq!(found, expected, "{bits} bits, {stages} stages, {length}");
                let follows = |stage: u32| expected.get((stage * shape.bits) as usize).copied().unwrap_or(0);
                assert_eq!(next, (1..=stages).map(follows).collect::<Vec<_>>(), "{bits}, {stages}, {length}");
                // No shape with one step less would fit.
                assert!(
                    shape.bits == 2 || (stages - 1) * (shape.bits - 1) + shape.bits - 2 < length || {
                        shape.last_width < shape.bits - 2
                    }
                );
            }
            let whole = Segments::of(&device, bits / 2);
            assert_eq!((whole.bits, whole.last_bits), (whole.width, whole.last_width));
        }
    }
}
