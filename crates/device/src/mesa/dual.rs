//! MESA in dual numbers: the Paillier decryptor without division.

use hearith_arith::{Modulus, Square, natural};
use hearith_paillier::{Error, PrivateKey};

use super::constants::{Powers, first_row, inverse, merged, one_row, power_modulo, scale, scaled_digits};
use super::keyed::{Constant, Keyed, Parameters, Secret};
use crate::accelerator::Shape;
use crate::registers::Region;
use crate::registers::mesa_dual::{
    IDENTITY, MODULUS, P_ENTER_HIGH, P_ENTER_LOW, P_EXPONENT, P_MERGED, P_MT, P_ONE_HIGH, P_ONE_LOW, P_SHIFT_HIGH,
    P_SHIFT_LOW, P_UNIT, Q_MT, WINDOWS,
};

/// A MESA in dual numbers behind a transport. Dropping it wipes the key on the device. Its counters
/// count products of dual numbers.
pub type MesaDual = Keyed<MesaDualParameters>;

/// The parameters that a MESA in dual numbers was built with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MesaDualParameters {
    /// Bits of the largest key.
    pub bits: u32,
    /// Exponentiators of each of the two branches.
    pub lanes: u32,
    /// Bits of a digit of its Montgomery multipliers.
    pub digit_bits: u32,
    /// Delay of the quotient in digits.
    pub delay: u32,
    /// Bits of a word: its multipliers multiply a digit by a word.
    pub word_bits: u32,
    /// Bits of a beat of its streams.
    pub stream_bits: u32,
    /// The `R` of its digit multipliers is `2^r_bits`.
    pub r_bits: u32,
    /// Bits that its radix-2 multipliers scan.
    pub scanned_bits: u32,
    /// Clock cycles in which each lane of a branch processes a ciphertext, once all lanes are full,
    /// with exponents of `bits / 2` bits.
    pub interval: u32,
}

impl Parameters for MesaDualParameters {
    const NAME: &str = "MESA in dual numbers";
    const IDENTITY: [u8; 4] = IDENTITY;

    fn read([bits, lanes, kinds, stream_bits, r_bits, scanned_bits, interval, _]: [u32; 8]) -> Option<Self> {
        let [digit_bits, delay, word_bits, _] = kinds.to_le_bytes().map(u32::from);
        let known = (64..=8192).contains(&bits)
            && bits.is_multiple_of(4)
            && (1..=1024).contains(&lanes)
            && (4..=32).contains(&digit_bits)
            && digit_bits * (delay + 1) <= 64
            && (digit_bits..=64).contains(&word_bits)
            && (32..=bits / 2).contains(&stream_bits)
            && stream_bits.is_multiple_of(32)
            && (bits / 2 + 2..=bits / 2 + 512).contains(&r_bits)
            && (bits / 2..=bits / 2 + 512).contains(&scanned_bits)
            && interval < 1 << 24;
        let read = Self { bits, lanes, digit_bits, delay, word_bits, stream_bits, r_bits, scanned_bits, interval };
        known.then_some(read)
    }

    fn bits(&self) -> u32 {
        self.bits
    }

    fn units(&self) -> String {
        format!("{} lanes", 2 * self.lanes)
    }

    fn batch_size(&self) -> usize {
        8 * self.lanes as usize
    }

    fn shape(&self) -> Shape {
        let MesaDualParameters { bits, stream_bits, interval, .. } = *self;
        // Several times the duration of a ciphertext.
        let quiet_cycles = 4 * u64::from(interval) + 40 * u64::from(bits) + 10_000;
        Shape { stream_bits, input_bits: 2 * bits, output_bits: bits, quiet_cycles }
    }

    /// The constants of a key, by region of `rtl/mesa/mesa_dual.sv`.
    fn constants(&self, key: &PrivateKey) -> Result<Vec<Constant>, Error> {
        let [p, q] = key.primes();
        let product = Secret::new(natural::product(p, q));
        let n = Modulus::new(key.public().engine(), &product)?;
        let Powers { exponents: [at_p, at_q], bits } = Powers::of(key);
        let mut constants = self.branch(P_MT.number, [p, q], at_p, &n)?;
        constants.extend(self.branch(Q_MT.number, [q, p], at_q, &n)?);
        constants.push(self.constant(0, MODULUS, product));
        constants.push(self.constant(0, WINDOWS, Secret::new(vec![u64::from(bits.div_ceil(4) - 1)])));
        Ok(constants)
    }
}

impl MesaDualParameters {
    /// A constant for `region`, counted from the region `first`.
    fn constant(&self, first: u32, region: Region, value: Secret) -> Constant {
        (first + region.number, value, (region.bits)(self.bits, self.digit_bits, self.delay))
    }

    /// The constants of the branch of `prime`, in regions counted from `first`
    /// (`rtl/arith/dual_lane.sv`).
    fn branch(
        &self,
        first: u32,
        [prime, other]: [&[u64]; 2],
        exponent: Secret,
        n: &Modulus,
    ) -> Result<Vec<Constant>, Error> {
        let MesaDualParameters { bits, digit_bits, delay, r_bits, scanned_bits, .. } = *self;
        let scale_bits = digit_bits * (delay + 1);
        let mut constants = vec![
            self.constant(first, P_MT, scaled_digits(prime, scale_bits)),
            self.constant(first, P_UNIT, scale(prime, scale_bits)),
            self.constant(first, P_MERGED, merged([prime, other], &exponent, n, scanned_bits)?),
            self.constant(first, P_EXPONENT, exponent),
        ];
        let powers = [
            (P_SHIFT_LOW, P_SHIFT_HIGH, bits / 2 + r_bits),
            (P_ENTER_LOW, P_ENTER_HIGH, 3 * r_bits),
            (P_ONE_LOW, P_ONE_HIGH, 2 * r_bits),
        ];
        for (low_region, high_region, exponent) in powers {
            let (low, high) = dual(prime, n, scale_bits, exponent)?;
            constants.push(self.constant(first, low_region, low));
            constants.push(self.constant(first, high_region, high));
        }
        Ok(constants)
    }
}

/// `2^exponent` modulo `p^2` as `low + high M'` with the scaled modulus `M' = u p`, both parts
/// below `p`. If the power is `a + b p`, then `high` is `b / u`.
fn dual(prime: &[u64], n: &Modulus, scale_bits: u32, exponent: u32) -> Result<(Secret, Secret), Error> {
    let engine = n.engine();
    let modulo_prime = Modulus::new(engine, prime)?;
    let square = Secret::new(natural::product(prime, prime));
    let power = power_modulo(&Modulus::new(engine, &square)?, exponent);
    let parts = Square::new(engine, prime)?.split(&one_row(&power));
    // The exponentiation needs `u` below the prime, which may be shorter than `u`.
    let u = first_row(&modulo_prime.reduce(&one_row(&scale(prime, scale_bits))));
    let high = modulo_prime.mul(&parts.high, &one_row(&inverse(&modulo_prime, &u)));
    Ok((first_row(&parts.low), first_row(&high)))
}
