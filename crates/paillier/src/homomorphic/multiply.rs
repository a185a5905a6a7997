//! Multiples by plaintext scalars, and weighted sums.
//!
//! `c^k` is a function of `c` and `k`: anyone who sees `c` and the result can find a small scalar
//! by trial. Scalars and weights are treated as secrets, so results are re-randomised. The
//! functions named `..._deterministic` omit this, for public scalars and for intermediate results.
//!
//! For a negative scalar, the inverse ciphertext is raised to its magnitude. To hide the signs, all
//! ciphertexts are inverted (about three multiplications each), and a mask selects the ciphertext
//! or its inverse. Reducing a negative scalar modulo `n` instead would make the exponent as long as
//! `n`.

use super::blocks::by_blocks;
use crate::ciphertexts::{check_key, check_lengths};
use crate::encoding::Signed;
use crate::{Ciphertexts, Error, ErrorKind, PublicKey};
use hearith_arith::natural::{self, has_bits_from};
use hearith_arith::{Batch, Exponents};
use zeroize::Zeroizing;

/// Bits of the magnitude of an `i128`.
const I128_BITS: u32 = 128;

impl PublicKey {
    /// Multiplies every row by its signed scalar. Constant time in the scalars, which are treated
    /// as 128-bit numbers: [`PublicKey::multiply_bounded`] is faster for shorter ones.
    ///
    /// The results are re-randomised ([`PublicKey::rerandomise`]), so nobody can determine the
    /// scalars from them without the private key. That is most of the work;
    /// [`PublicKey::multiply_deterministic`] omits it.
    ///
    /// ```
    /// # use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant, encoding::{decode_signed, encode_signed}};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let private = PrivateKey::generate(512, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best())?;
    /// # let public = private.public();
    /// let prices = public.encrypt(&encode_signed(public, &[250, 120])?)?;
    /// let changed = public.multiply(&prices, &[-3, 10])?;
    /// let decoded = decode_signed(public, &private.decrypt(&changed)?)?;
    /// assert_eq!((decoded[0].to_i128(), decoded[1].to_i128()), (Some(-750), Some(1200)));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey), [`Lengths`](crate::ErrorKind::Lengths),
    /// [`CiphertextSharesFactor`](crate::ErrorKind::CiphertextSharesFactor) for a row that shares a
    /// factor with `n`, or if the random generator fails.
    pub fn multiply(&self, ciphertexts: &Ciphertexts, scalars: &[i128]) -> Result<Ciphertexts, Error> {
        self.multiply_bounded(ciphertexts, scalars, I128_BITS)
    }

    /// As [`PublicKey::multiply`], for scalars of magnitude below `2^bits`. The running time
    /// depends only on `bits`.
    ///
    /// # Errors
    /// As [`PublicKey::multiply`], or [`ScalarTooLarge`](crate::ErrorKind::ScalarTooLarge).
    pub fn multiply_bounded(
        &self,
        ciphertexts: &Ciphertexts,
        scalars: &[i128],
        bits: u32,
    ) -> Result<Ciphertexts, Error> {
        self.rerandomise(&self.multiply_deterministic(ciphertexts, scalars, bits)?)
    }

    /// As [`PublicKey::multiply_bounded`], for scalars of any size.
    ///
    /// # Errors
    /// As [`PublicKey::multiply_bounded`].
    pub fn multiply_wide(
        &self,
        ciphertexts: &Ciphertexts,
        scalars: &[Signed],
        bits: u32,
    ) -> Result<Ciphertexts, Error> {
        self.rerandomise(&self.multiply_wide_deterministic(ciphertexts, scalars, bits)?)
    }

    /// As [`PublicKey::multiply_bounded`], without re-randomisation: `c^k` in constant time.
    ///
    /// Anyone who has both the ciphertexts and the results can find small or guessable scalars by
    /// trial. The multiple by 0 is the number 1, and the multiple by 1 is the ciphertext itself.
    /// Use it for public scalars, and for intermediate results that are re-randomised at the end.
    ///
    /// # Errors
    /// As [`PublicKey::multiply_bounded`], except for the random generator.
    pub fn multiply_deterministic(
        &self,
        ciphertexts: &Ciphertexts,
        scalars: &[i128],
        bits: u32,
    ) -> Result<Ciphertexts, Error> {
        self.multiply_by(ciphertexts, &Scalars::of_integers(scalars, bits)?)
    }

    /// As [`PublicKey::multiply_deterministic`], for scalars of any size.
    ///
    /// # Errors
    /// As [`PublicKey::multiply_deterministic`].
    pub fn multiply_wide_deterministic(
        &self,
        ciphertexts: &Ciphertexts,
        scalars: &[Signed],
        bits: u32,
    ) -> Result<Ciphertexts, Error> {
        self.multiply_by(ciphertexts, &Scalars::of_signed(scalars, bits)?)
    }

    /// Multiplies all rows by one public scalar, without re-randomisation. The running time depends
    /// on the scalar. Only negative scalars need inverses.
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey), or, for a negative scalar,
    /// [`CiphertextSharesFactor`](crate::ErrorKind::CiphertextSharesFactor) for a row that shares a
    /// factor with `n`.
    pub fn multiply_public(&self, ciphertexts: &Ciphertexts, scalar: &Signed) -> Result<Ciphertexts, Error> {
        check_key(self.id(), ciphertexts.key_id())?;
        let inverses = if scalar.is_negative() { Some(self.negate(ciphertexts)?) } else { None };
        let bases = inverses.as_ref().unwrap_or(ciphertexts);
        if natural::bit_length(scalar.magnitude()) == 1 {
            return Ok(bases.clone());
        }
        Ok(self.ciphertexts(self.squared().pow(bases.batch(), Exponents::Public(scalar.magnitude()))))
    }

    fn multiply_by(&self, ciphertexts: &Ciphertexts, scalars: &Scalars) -> Result<Ciphertexts, Error> {
        let bases = self.signed_bases(ciphertexts, scalars)?;
        let multiples = by_blocks(bases.len(), 2 * self.root().limbs(), |rows| {
            let exponents = scalars.magnitudes.range(rows.clone());
            let powers = self.square().pow(&bases.range(rows), Exponents::Each(&exponents, scalars.bits));
            Ok::<_, Error>(self.square().join(&powers))
        });
        Ok(self.ciphertexts(multiples?))
    }

    /// Weighted sums of `terms` consecutive rows each. There is one weight per row, or one per term
    /// to apply the same weights to all sums. Constant time in the weights, which are treated as
    /// 128-bit numbers: [`PublicKey::dot_bounded`] is faster for shorter ones.
    ///
    /// The sums are re-randomised like the results of [`PublicKey::multiply`], with one randomiser
    /// each; [`PublicKey::dot_deterministic`] omits this.
    ///
    /// ```
    /// # use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant, encoding::{decode_signed, encode_signed}};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let private = PrivateKey::generate(512, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best())?;
    /// # let public = private.public();
    /// let features = public.encrypt(&encode_signed(public, &[1, 2, 3, 10, 20, 30])?)?;
    /// let scores = public.dot(&features, &[5, -1, 2], 3)?;
    /// let decoded = decode_signed(public, &private.decrypt(&scores)?)?;
    /// assert_eq!((decoded[0].to_i128(), decoded[1].to_i128()), (Some(9), Some(90)));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Terms`](crate::ErrorKind::Terms) if the number of rows is not a multiple of `terms`, and
    /// as [`PublicKey::multiply`].
    pub fn dot(&self, ciphertexts: &Ciphertexts, weights: &[i128], terms: usize) -> Result<Ciphertexts, Error> {
        self.dot_bounded(ciphertexts, weights, terms, I128_BITS)
    }

    /// As [`PublicKey::dot`], for weights of magnitude below `2^bits`. The running time depends
    /// only on `bits`.
    ///
    /// # Errors
    /// As [`PublicKey::dot`], or [`ScalarTooLarge`](crate::ErrorKind::ScalarTooLarge).
    pub fn dot_bounded(
        &self,
        ciphertexts: &Ciphertexts,
        weights: &[i128],
        terms: usize,
        bits: u32,
    ) -> Result<Ciphertexts, Error> {
        self.rerandomise(&self.dot_deterministic(ciphertexts, weights, terms, bits)?)
    }

    /// As [`PublicKey::dot_bounded`], without re-randomisation: anyone who has both the ciphertexts
    /// and the results can find weights by trial, as with [`PublicKey::multiply_deterministic`].
    ///
    /// # Errors
    /// As [`PublicKey::dot_bounded`], except for the random generator.
    pub fn dot_deterministic(
        &self,
        ciphertexts: &Ciphertexts,
        weights: &[i128],
        terms: usize,
        bits: u32,
    ) -> Result<Ciphertexts, Error> {
        let rows = ciphertexts.len();
        if terms == 0 || !rows.is_multiple_of(terms) {
            return Err(ErrorKind::Terms { terms, rows }.into());
        }
        let weights = Scalars::of_integers(weights, bits)?;
        let weights = if weights.len() == terms { weights.repeated(rows / terms) } else { weights };
        let bases = self.signed_bases(ciphertexts, &weights)?;
        let numbers: Vec<u32> = row_numbers(rows)?;
        let groups: Vec<&[u32]> = numbers.chunks(terms).collect();
        Ok(self.joined(&self.square().multi_pow(&bases, &weights.magnitudes, bits, &groups)))
    }

    /// The ciphertexts of rows with a non-negative scalar, and the inverses of the others.
    fn signed_bases(&self, ciphertexts: &Ciphertexts, scalars: &Scalars) -> Result<Batch, Error> {
        check_key(self.id(), ciphertexts.key_id())?;
        check_lengths(ciphertexts.len(), scalars.len())?;
        let inverses = self.negate(ciphertexts)?;
        let mut bases = ciphertexts.batch().clone();
        for ((base, inverse), &negative) in bases.rows_mut().zip(inverses.batch().rows()).zip(scalars.negative.iter()) {
            natural::assign_if(base, inverse, negative);
        }
        Ok(bases)
    }
}

/// All row numbers of a batch.
pub(crate) fn row_numbers(rows: usize) -> Result<Vec<u32>, Error> {
    let numbers: Vec<u32> = (0..=u32::MAX).take(rows).collect();
    check_lengths(rows, numbers.len())?;
    Ok(numbers)
}

/// Scalars below `2^bits`, split into sign and magnitude in constant time.
struct Scalars {
    magnitudes: Batch,
    /// 1 for negative scalars, else 0.
    negative: Zeroizing<Vec<u64>>,
    bits: u32,
}

impl Scalars {
    fn of_integers(scalars: &[i128], bits: u32) -> Result<Self, Error> {
        let mut magnitudes = Batch::zeros(scalars.len(), 2);
        let mut negative = Zeroizing::new(Vec::with_capacity(scalars.len()));
        for (row, &scalar) in magnitudes.rows_mut().zip(scalars) {
            let sign = (scalar >> 127) as u128;
            let magnitude = (scalar as u128 ^ sign).wrapping_sub(sign);
            row.copy_from_slice(&[magnitude as u64, (magnitude >> 64) as u64]);
            negative.push(sign as u64 & 1);
        }
        Scalars { magnitudes, negative, bits }.checked()
    }

    fn of_signed(scalars: &[Signed], bits: u32) -> Result<Self, Error> {
        let widest = scalars.iter().map(|scalar| scalar.magnitude().len()).max().unwrap_or(1);
        let magnitudes = Batch::from_rows(widest, scalars.iter().map(Signed::magnitude));
        let negative = Zeroizing::new(scalars.iter().map(|scalar| u64::from(scalar.is_negative())).collect());
        Scalars { magnitudes, negative, bits }.checked()
    }

    /// Fails if a scalar has more bits than declared. This reveals nothing else about it.
    fn checked(self) -> Result<Self, Error> {
        let bits = self.bits;
        let too_large = self.magnitudes.rows().position(|row| has_bits_from(row, bits));
        match too_large {
            Some(row) => Err(ErrorKind::ScalarTooLarge { bits }.at_row(row)),
            None => Ok(self),
        }
    }

    fn len(&self) -> usize {
        self.negative.len()
    }

    /// The same scalars repeated `times` times.
    fn repeated(self, times: usize) -> Self {
        let rows = (0..times).flat_map(|_| self.magnitudes.rows());
        let magnitudes = Batch::from_rows(self.magnitudes.limbs(), rows);
        Scalars { magnitudes, negative: Zeroizing::new(self.negative.repeat(times)), bits: self.bits }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::encode_signed;
    use crate::{Engine, KeyPolicy, PrivateKey, Variant};

    #[test]
    fn public_scalars_give_what_secret_ones_give() {
        for &engine in Engine::ALL.iter().filter(|engine| engine.is_available()) {
            let key = PrivateKey::generate(256, Variant::Standard, KeyPolicy::AllowInsecure, engine).unwrap();
            let public = key.public();
            let numbers = public.encrypt(&encode_signed(public, &[5, -7, 0]).unwrap()).unwrap();
            for scalar in [0i128, 1, -1, 2, 16, -16, 1 << 40, 12345, -(1 << 126)] {
                let scalars: Vec<Signed> = (0..3).map(|_| scalar.into()).collect();
                let expected = public.multiply_wide_deterministic(&numbers, &scalars, 127).unwrap();
                assert_eq!(public.multiply_public(&numbers, &scalar.into()).unwrap(), expected, "{scalar}");
            }
            let other = PrivateKey::generate(256, Variant::Standard, KeyPolicy::AllowInsecure, engine).unwrap();
            let refused = other.public().multiply_public(&numbers, &3.into()).unwrap_err();
            assert!(matches!(refused.kind(), ErrorKind::WrongKey { .. }));
        }
    }

    #[test]
    fn scalars_are_measured() {
        let check = |scalar: i128, bits| Scalars::of_integers(&[scalar], bits).map(|_| ());
        for bits in [1, 7, 63, 64, 65, 100, 126, 127] {
            let limit = 1i128.checked_shl(bits).filter(|_| bits < 127);
            let most = limit.map_or(i128::MAX, |limit| limit - 1);
            assert_eq!((check(most, bits), check(-most, bits)), (Ok(()), Ok(())), "{bits} bits");
            let too_large = Err(ErrorKind::ScalarTooLarge { bits }.at_row(0));
            assert_eq!(check(-most - 1, bits), too_large, "{bits} bits");
        }
        assert_eq!(check(i128::MIN, 128), Ok(()));
        assert_eq!(check(i128::MIN, 1000), Ok(()));
        assert_eq!(check(0, 0), Ok(()));
        assert_eq!(check(1, 0), Err(ErrorKind::ScalarTooLarge { bits: 0 }.at_row(0)));
    }
}
