//! The constants of a modulus for Montgomery arithmetic.

use crate::backend::with_kernel;
use crate::doubling::Doubling;
use crate::kernel::Kernel;
use crate::natural::{Secret, bit_length, inverse_word, limbs_of, resized};
use crate::{ArithError, Available, Engine};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// A number `low + high m` with both parts below `m`, in 64-bit limbs.
pub(crate) type Pair = (Vec<u64>, Vec<u64>);

/// A modulus and its Montgomery constants for one engine, in 64-bit limbs. Wiped when dropped.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct MontgomeryParams {
    #[zeroize(skip)]
    pub(crate) engine: Available,
    pub(crate) bits: u32,
    /// Limbs of a residue in the kernel's radix.
    pub(crate) k: usize,
    pub(crate) m: Vec<u64>,
    /// `-m^-1 mod 2^64`.
    pub(crate) neg_inverse: u64,
    /// `R mod m^2`; see [`crate::kernel::Lanes`] for these three.
    pub(crate) one: Pair,
    pub(crate) r2: Pair,
    pub(crate) shift: Pair,
    /// [`MontgomeryParams::reciprocal`] in the kernel's radix and in words, which wipe themselves;
    /// empty until computed. Unlike an empty cell, an empty vector has no uninitialised bytes.
    #[zeroize(skip)]
    reciprocals: [Mutex<Secret>; 2],
    /// [`MontgomeryParams::powers`] of numbers and of pairs, which wipe themselves.
    #[zeroize(skip)]
    powers: [Mutex<Arc<Vec<Secret>>>; 2],
}

impl MontgomeryParams {
    /// Minimum length of a modulus in bits: one limb of the portable kernel.
    pub(crate) const LEAST_BITS: u32 = 2;
    /// Maximum length of a modulus in bits: the square of an 8192-bit modulus.
    pub(crate) const MOST_BITS: u32 = 16384;

    /// Checks a modulus and prepares it for an engine, by doubling `2^(bits - 1)`, which is below
    /// it.
    pub(crate) fn new(engine: Engine, modulus: &[u64]) -> Result<Arc<Self>, ArithError> {
        let engine = engine.available()?;
        let bits = bit_length(modulus);
        if !(Self::LEAST_BITS..=Self::MOST_BITS).contains(&bits) {
            return Err(ArithError::ModulusSize { bits, least: Self::LEAST_BITS, most: Self::MOST_BITS });
        }
        if modulus[0] & 1 == 0 {
            return Err(ArithError::EvenModulus);
        }
        let m = modulus[..bits.div_ceil(64) as usize].to_vec();
        let (k, chunk_bits, r_bits) = with_kernel!(engine, K => {
            let k = K::limbs(bits);
            (k, K::chunk_bits(k), K::RADIX_BITS * k as u32)
        });
        let doubling = Doubling::new(&m, bits);
        let mut power = (vec![0; m.len()], vec![0; m.len()]);
        power.0[m.len() - 1] = 1 << ((bits - 1) % 64);
        double_times(&doubling, &mut power, r_bits - (bits - 1));
        let one = power.clone();
        double_times(&doubling, &mut power, chunk_bits);
        let shift = power.clone();
        double_times(&doubling, &mut power, r_bits - chunk_bits);
        let neg_inverse = inverse_word(m[0]).wrapping_neg();
        Ok(Arc::new(MontgomeryParams {
            engine,
            bits,
            k,
            m,
            neg_inverse,
            one,
            r2: power,
            shift,
            reciprocals: Default::default(),
            powers: Default::default(),
        }))
    }

    /// `floor(2^(2 radix_bits digits) / m)` for the modulus of `digits` limbs in the kernel's radix
    /// or of 64 bits. Computed on first use.
    pub(crate) fn reciprocal(&self, radix_bits: u32, digits: usize) -> MutexGuard<'_, Secret> {
        let cell = &self.reciprocals[usize::from(radix_bits == 64)];
        // A panic during the computation leaves the value empty.
        let mut reciprocal = cell.lock().unwrap_or_else(PoisonError::into_inner);
        if reciprocal.is_empty() {
            let bits = radix_bits * digits as u32;
            let (mut rest, mut quotient) = (resized(&[1], self.limbs()), resized(&[], limbs_of(bits + radix_bits)));
            let doubling = Doubling::new(&self.m, self.bits);
            doubling.steps(2 * bits, |times| {
                let mut carried = doubling.double(&mut rest, times, 0);
                for limb in &mut quotient[..] {
                    (*limb, carried) = (*limb << times | carried, *limb >> (64 - times));
                }
            });
            *reciprocal = quotient;
        }
        reciprocal
    }

    /// The cached powers `R, R^2, ...` of numbers of `parts` parts. If there are fewer than `most`,
    /// `more` extends them.
    pub(crate) fn powers(&self, parts: usize, most: usize, more: impl FnOnce(&mut Vec<Secret>)) -> Arc<Vec<Secret>> {
        // A panic during the computation leaves the previous powers.
        let mut powers = self.powers[parts - 1].lock().unwrap_or_else(PoisonError::into_inner);
        if powers.len() < most {
            let mut longer = powers.to_vec();
            more(&mut longer);
            *powers = Arc::new(longer);
        }
        powers.clone()
    }

    /// 64-bit limbs of the modulus.
    pub(crate) fn limbs(&self) -> usize {
        self.m.len()
    }
}

/// `pair = 2^times pair mod m^2`.
fn double_times(doubling: &Doubling<'_>, pair: &mut Pair, times: u32) {
    doubling.steps(times, |times| {
        let carried = doubling.double(&mut pair.0, times, 0);
        doubling.double(&mut pair.1, times, carried);
    });
}
