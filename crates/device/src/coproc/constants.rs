//! The constants of a key, the comb of a key with a generator, and the last step of a decryption.

use hearith_arith::{Batch, Engine, Exponents, Modulus, natural};
use hearith_paillier::{Error, PrivateKey, PublicKey};

use super::dual::Duals;
use super::parameters::{CoprocParameters, Core};
use crate::Error as DeviceError;
use crate::mesa::constants::{first_row, inverse, less, one_row, power_modulo, scale, scaled_digits};
use crate::mesa::{Constant, Secret};
use crate::registers::Region;
use crate::registers::coproc::{
    DUAL_MT, ENTER, EXIT, FACTOR, INVERSE, LAMBDA, LEAVE, MODULUS, MT, ONE, PASS, SHIFT, SQUARE, UNIT,
};

/// The modulus of a key, or one of its primes, and arithmetic modulo its square.
pub(super) struct Moduli {
    pub(super) n: Secret,
    pub(super) squared: Modulus,
}

impl Moduli {
    pub(super) fn of(key: &PublicKey) -> Result<Self, Error> {
        let n = natural::from_be(&key.modulus_be(), key.plaintext_limbs()).expect("the modulus has so many limbs");
        Self::new(key.engine(), &n)
    }

    /// Constant time in the modulus.
    pub(super) fn new(engine: Engine, n: &[u64]) -> Result<Self, Error> {
        let squared = Modulus::new(engine, &Secret::new(natural::product(n, n)))?;
        Ok(Self { n: Secret::new(n.to_vec()), squared })
    }

    /// The modulus, and the powers of two that convert numbers to Montgomery form and back. For a
    /// public key, all of them are public.
    ///
    /// # Errors
    /// For a core of dual numbers, those of [`Duals::new`].
    pub(super) fn constants(&self, parameters: &CoprocParameters) -> Result<Vec<Constant>, DeviceError> {
        let CoprocParameters { bits, core, digit_bits, delay, r_bits, leave_bits, .. } = *parameters;
        let constant = |region: Region, value: Secret| -> Constant {
            (region.number, value, (region.bits)(bits, digit_bits, delay))
        };
        let power = |exponent: u32| power_modulo(&self.squared, exponent);
        let times_n = |number: Secret| first_row(&self.squared.mul(&one_row(&number), &one_row(&self.n)));
        let mut constants =
            vec![constant(SQUARE, Secret::new(self.squared.as_limbs().to_vec())), constant(MODULUS, self.n.clone())];
        match core {
            Core::Cios => constants.push(constant(MT, scaled_digits(self.squared.as_limbs(), leave_bits))),
            Core::Digit => {
                constants.push(constant(INVERSE, negative_inverse(self.squared.as_limbs(), digit_bits)));
            }
            Core::Dual => (),
        }
        if core == Core::Dual {
            let scale_bits = digit_bits * (delay + 1);
            let duals = Duals::new(&self.squared, &self.n, scale_bits)?;
            let dual = |exponent: u32| duals.dual(&power(exponent), bits);
            constants.extend([
                constant(DUAL_MT, scaled_digits(&self.n, scale_bits)),
                constant(UNIT, scale(&self.n, scale_bits)),
                constant(EXIT, times_n(power(leave_bits))),
                constant(ONE, dual(r_bits)),
                constant(ENTER, dual(3 * r_bits)),
                constant(SHIFT, dual(bits)),
            ]);
        } else {
            constants.extend([
                constant(ONE, power(r_bits)),
                constant(ENTER, power(2 * r_bits)),
                constant(PASS, power(2 * r_bits + leave_bits)),
                constant(LEAVE, power(leave_bits)),
                constant(FACTOR, times_n(power(2 * r_bits))),
            ]);
        }
        Ok(constants)
    }

    /// The comb entries for powers of `h^n` of a DJN or subgroup key.
    ///
    /// Entry `j` is the product of `h^(n 2^(i s))` over the set bits `i` of `j`, where `s` is the
    /// number of exponent bits per tooth. `None` for other variants.
    pub(super) fn comb(&self, key: &PublicKey, parameters: &CoprocParameters) -> Option<Batch> {
        let generator = natural::from_be(&key.generator_be()?, self.squared.limbs())?;
        let stride = exponent_bits(key).div_ceil(parameters.teeth);
        let apart = power_of_two(stride);
        let mut tooth = self.squared.pow(&one_row(&generator), Exponents::Public(&self.n));
        let mut entries = one_row(&natural::resized(&[1], self.squared.limbs()));
        for _ in 0..parameters.teeth {
            let with = self.squared.mul(&entries, &Batch::repeat(tooth.row(0), entries.len()));
            entries = Batch::concat(&[&entries, &with]);
            tooth = self.squared.pow(&tooth, Exponents::Public(&apart));
        }
        Some(entries.public())
    }
}

/// Bits of the randomisers' exponents of a key with a generator: half of those of `n`, or the
/// number that a subgroup key states.
pub(super) fn exponent_bits(key: &PublicKey) -> u32 {
    key.exponent_bits().unwrap_or(key.bits() / 2)
}

/// Computes plaintexts from the device's powers `c^f mod n^2 = 1 + m f n` with `f = (p - 1) (q -
/// 1)`: holds the inverse of `f` modulo `n`.
pub(super) struct Finish {
    root: Modulus,
    inverse: Secret,
}

impl Finish {
    /// Also returns the constant `f` for the device. Constant time in the key.
    pub(super) fn new(key: &PrivateKey, parameters: &CoprocParameters) -> Result<(Self, Constant), Error> {
        let [p, q] = key.primes();
        let engine = key.public().engine();
        let root = Modulus::new(engine, &Secret::new(natural::product(p, q)))?;
        let (modulo_p, modulo_q) = (Modulus::new(engine, p)?, Modulus::new(engine, q)?);
        let totient = Secret::new(natural::product(&less(p, 1), &less(q, 1)));
        let invert = |prime: &Modulus| inverse(prime, &first_row(&prime.reduce(&one_row(&totient))));
        // x = x_p modulo p and x_q modulo q: x_p q (q^-1 mod p) + x_q p (p^-1 mod q) modulo n.
        let share = |prime: &Modulus, other: &[u64]| {
            let lift =
                Secret::new(natural::product(other, &inverse(prime, &first_row(&prime.reduce(&one_row(other))))));
            root.mul(&root.reduce(&one_row(&lift)), &root.reduce(&one_row(&invert(prime))))
        };
        let inverse = first_row(&root.add(&share(&modulo_p, q), &share(&modulo_q, p)));
        Ok((Self { root, inverse }, secret_exponent(totient, parameters)))
    }

    /// The plaintexts, or `None` if a number is not 1 modulo `n`. Otherwise constant time in the
    /// numbers.
    pub(super) fn plaintexts(&self, powers: &Batch) -> Option<Batch> {
        let quotients = quotients(powers, self.root.as_limbs())?;
        Some(self.root.mul(&quotients, &Batch::repeat(&self.inverse, powers.len())))
    }
}

/// The secret exponent as a constant for the device.
pub(super) fn secret_exponent(exponent: Secret, parameters: &CoprocParameters) -> Constant {
    (LAMBDA.number, exponent, (LAMBDA.bits)(parameters.bits, parameters.digit_bits, parameters.delay))
}

/// `L(x) = (x - 1) / n` of numbers below `n^2`, or `None` if one is not 1 modulo `n`. Otherwise
/// constant time.
pub(super) fn quotients(powers: &Batch, n: &[u64]) -> Option<Batch> {
    let mut quotients = Batch::zeros(powers.len(), n.len());
    let mut right = 1;
    for (power, quotient) in powers.rows().zip(quotients.rows_mut()) {
        let rest = less(power, 1);
        let exact = natural::divide_exact(&rest, n, n.len());
        let mut back = Secret::new(natural::product(&exact, n));
        natural::sub_assign(&mut back, &rest);
        right &= natural::is_zero(&back) & natural::less(&exact, n);
        quotient.copy_from_slice(&exact);
    }
    (right == 1).then_some(quotients)
}

/// `-m^-1 mod 2^bits` for an odd `m`.
fn negative_inverse(m: &[u64], bits: u32) -> Secret {
    let limbs = natural::limbs_of(bits);
    // The dividend of all ones is -1.
    let mut inverse = natural::divide_exact(&vec![u64::MAX; limbs], m, limbs);
    natural::clear_bits_from(&mut inverse, bits);
    inverse
}

/// `2^bits` in as many limbs as it needs.
fn power_of_two(bits: u32) -> Vec<u64> {
    let mut number = vec![0; bits as usize / 64 + 1];
    number[bits as usize / 64] = 1 << (bits % 64);
    number
}

#[cfg(test)]
mod tests {
    use super::*;
    use hearith_arith::random;
    use hearith_paillier::{Engine, KeyPolicy, Variant};

    /// Evaluates the comb like the device: from the highest digit on, a square and an entry per
    /// digit.
    fn walked(squared: &Modulus, entries: &Batch, exponent: &[u64], bits: u32, teeth: u32) -> Batch {
        let stride = bits.div_ceil(teeth);
        let mut power = one_row(entries.row(0));
        for at in (0..stride).rev() {
            let bit = |tooth: u32| natural::bits_at(exponent, (at + tooth * stride) as usize, 1) << tooth;
            let digit: u64 = (0..teeth).map(bit).sum();
            power = squared.mul(&squared.mul(&power, &power), &one_row(entries.row(digit as usize)));
        }
        power
    }

    #[test]
    fn a_comb_is_as_long_as_the_keys_exponents() {
        for (variant, bits) in [(Variant::Djn, 512), (Variant::Subgroup, 448)] {
            let key = PrivateKey::generate(1024, variant, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
            let public = key.public();
            assert_eq!(exponent_bits(public), bits);
            let moduli = Moduli::of(public).unwrap();
            let h = natural::from_be(&public.generator_be().unwrap(), moduli.squared.limbs()).unwrap();
            let base = moduli.squared.pow(&one_row(&h), Exponents::Public(&moduli.n));
            for teeth in [4, 8] {
                let entries = moduli.comb(public, &parameters(teeth)).unwrap();
                let exponent = random::bits(1, natural::limbs_of(bits), bits).unwrap();
                let found = walked(&moduli.squared, &entries, exponent.row(0), bits, teeth);
                let expected = moduli.squared.pow(&base, Exponents::Shared(exponent.row(0), bits));
                assert!(found == expected, "{variant}, {teeth} teeth");
            }
        }
    }

    fn parameters(teeth: u32) -> CoprocParameters {
        CoprocParameters {
            bits: 1024,
            core: Core::Cios,
            cores: 1,
            contexts: 1,
            digit_bits: 17,
            delay: 2,
            word_bits: 23,
            stream_bits: 64,
            r_bits: 2142,
            leave_bits: 51,
            groups: 1,
            teeth,
            interval: 1,
        }
    }
}
