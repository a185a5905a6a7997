//! MESA, the pipelined Paillier decryptor.

use hearith_arith::{ArithError, Modulus, natural};
use hearith_paillier::{Error, PrivateKey};

use super::constants::{less, merged, power_modulo, scaled_digits};
use super::keyed::{Constant, Keyed, Parameters, Secret};
use crate::accelerator::Shape;
use crate::registers::Region;
use crate::registers::mesa::{IDENTITY, MODULUS, P_ENTER, P_EXPONENT, P_MERGED, P_MT, P_ONE, P_PRIME, P_SQUARE, Q_MT};

/// A MESA behind a transport. When dropped it wipes the key on the device. Its counters count as a product a pair of products in one ladder.
pub type Mesa = Keyed<MesaParameters>;

/// What a MESA was built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MesaParameters {
    /// The largest key, in bits.
    pub bits: u32,
    /// Exponentiation stages of each of the two branches.
    pub stages: u32,
    /// Bits of a digit of its Montgomery multipliers.
    pub digit_bits: u32,
    /// Delay of the quotient in digits.
    pub delay: u32,
    /// Whether it divides from the low end, or by restoring division.
    pub exact_division: bool,
    /// Bits of a beat of its streams.
    pub stream_bits: u32,
    /// The `R` of its digit multipliers is `2^r_bits`.
    pub r_bits: u32,
    /// Bits that its radix-2 multipliers scan.
    pub scanned_bits: u32,
    /// Clock cycles between two plaintexts, once the pipeline is full.
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
        // Several times what the way through the pipeline takes.
        let quiet_cycles = 4 * u64::from(stages + 2) * u64::from(interval) + 40 * u64::from(bits) + 10_000;
        Shape { stream_bits, input_bits: 2 * bits, output_bits: bits, quiet_cycles }
    }

    /// The constants of a key, where `rtl/mesa/mesa.sv` wants them.
    fn constants(&self, key: &PrivateKey) -> Result<Vec<Constant>, Error> {
        let [p, q] = key.primes();
        let product = Secret::new(natural::product(p, q));
        let n = Modulus::new(key.public().engine(), &product)?;
        let mut constants = self.branch(P_MT.number, p, q, &n)?;
        constants.extend(self.branch(Q_MT.number, q, p, &n)?);
        constants.push(self.constant(0, MODULUS, product));
        Ok(constants)
    }
}

impl MesaParameters {
    /// A constant in the region that is so many after another.
    fn constant(&self, first: u32, region: Region, value: Secret) -> Constant {
        (first + region.number, value, (region.bits)(self.bits, self.digit_bits, self.delay))
    }

    /// The constants of the branch of `prime`, from this region on (`rtl/mesa/mesa_branch.sv`).
    fn branch(&self, first: u32, prime: &[u64], other: &[u64], n: &Modulus) -> Result<Vec<Constant>, ArithError> {
        let MesaParameters { digit_bits, delay, r_bits, scanned_bits, .. } = *self;
        let square = Secret::new(natural::product(prime, prime));
        let modulo_square = Modulus::new(n.engine(), &square)?;
        Ok(vec![
            self.constant(first, P_MT, scaled_digits(&square, digit_bits * (delay + 1))),
            self.constant(first, P_ENTER, power_modulo(&modulo_square, r_bits + scanned_bits)),
            self.constant(first, P_ONE, power_modulo(&modulo_square, r_bits)),
            self.constant(first, P_EXPONENT, less(prime, 1)),
            self.constant(first, P_PRIME, Secret::new(prime.to_vec())),
            self.constant(first, P_MERGED, merged(prime, other, n, scanned_bits)?),
            self.constant(first, P_SQUARE, square),
        ])
    }
}
