//! Short openings: the exponent `a` of a ciphertext `c = (1 + m n) (h^n)^a mod n^2`, under a key
//! with a generator.
//!
//! An opening [`r = h^a mod n`](crate::Openings) is as long as `n` and takes another power to
//! compute. The exponent `a` has at most half the bits, and all operations on it are powers of one
//! base, which has a table. Proofs about fast ballots (\[DJN10\]) use it.

use crate::ciphertexts::{check_key, check_lengths, check_range, check_rows};
use crate::{Ciphertexts, Error, ErrorKind, KeyId, Openings, Plaintexts, PublicKey};
use hearith_arith::natural::{add_assign, bit_length, has_bits_from, limbs_of};
use hearith_arith::random::bits;
use hearith_arith::{Batch, Exponents};
use std::fmt;
use std::ops::Range;
use zeroize::Zeroizing;

/// Number of bits by which short openings may exceed those of a ciphertext: a prover's own have 384
/// more, sums a few.
pub(crate) const MORE_BITS: u32 = 448;

/// Exponents `a` of the randomisers `(h^n)^a` of one key with a generator, one per row, all below
/// the same power of two. Wiped when dropped; `Debug` shows only their number.
///
/// Anyone who has a ciphertext's opening can read the ciphertext.
#[derive(Clone, PartialEq, Eq)]
pub struct ShortOpenings {
    key: KeyId,
    bits: u32,
    batch: Batch,
}

impl ShortOpenings {
    /// ID of the key.
    pub fn key_id(&self) -> KeyId {
        self.key
    }

    /// Number of openings.
    pub fn len(&self) -> usize {
        self.batch.len()
    }

    /// Whether the batch is empty.
    pub fn is_empty(&self) -> bool {
        self.batch.is_empty()
    }

    /// Maximum length of each opening in bits.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Bytes of one opening.
    pub fn row_bytes(&self) -> usize {
        self.bits.div_ceil(8) as usize
    }

    /// All openings concatenated, as [`ShortOpenings::row_bytes`] big-endian bytes each.
    pub fn to_be_bytes(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(self.batch.to_be_bytes(self.row_bytes()))
    }

    /// The openings as numbers.
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    /// The openings of a range of rows.
    ///
    /// # Errors
    /// [`NoSuchRow`](crate::ErrorKind::NoSuchRow) if the range is not within the batch.
    pub fn range(&self, rows: Range<usize>) -> Result<Self, Error> {
        check_range(&rows, self.len())?;
        Ok(ShortOpenings { key: self.key, bits: self.bits, batch: self.batch.range(rows) })
    }
}

impl fmt::Debug for ShortOpenings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ShortOpenings({} of key {})", self.len(), self.key)
    }
}

impl PublicKey {
    /// Bits of a ciphertext's short opening: half of those of `n` for a DJN key, the exponent
    /// length for a subgroup key.
    pub fn short_bits(&self) -> u32 {
        self.comb_bits()
    }

    /// `len` random short openings, uniform below `2^length`.
    ///
    /// # Errors
    /// [`NoGenerator`](crate::ErrorKind::NoGenerator),
    /// [`OpeningTooLong`](crate::ErrorKind::OpeningTooLong), or if the random generator fails.
    pub fn short_openings(&self, len: usize, length: u32) -> Result<ShortOpenings, Error> {
        self.short(length, bits(len, limbs_of(length), length)?)
    }

    /// Encrypts as [`PublicKey::encrypt`] under a key with a generator, and returns the openings,
    /// which can later prove or reveal the plaintexts.
    ///
    /// # Errors
    /// [`NoGenerator`](crate::ErrorKind::NoGenerator), [`WrongKey`](crate::ErrorKind::WrongKey), or
    /// if the random generator fails.
    pub fn encrypt_opened_short(&self, plaintexts: &Plaintexts) -> Result<(Ciphertexts, ShortOpenings), Error> {
        let openings = self.short_openings(plaintexts.len(), self.short_bits())?;
        Ok((self.encrypt_with_short_openings(plaintexts, &openings)?, openings))
    }

    /// Encrypts deterministically with the given openings: `(1 + m n) (h^n)^a mod n^2`.
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey), [`Lengths`](crate::ErrorKind::Lengths) or
    /// [`NoGenerator`](crate::ErrorKind::NoGenerator).
    pub fn encrypt_with_short_openings(
        &self,
        plaintexts: &Plaintexts,
        openings: &ShortOpenings,
    ) -> Result<Ciphertexts, Error> {
        check_key(self.id(), plaintexts.key_id())?;
        check_key(self.id(), openings.key)?;
        check_lengths(plaintexts.len(), openings.len())?;
        let comb = if openings.bits <= self.comb_bits() { self.comb() } else { self.long_comb() };
        let powers = comb.ok_or(ErrorKind::NoGenerator)?.pow(&openings.batch);
        Ok(self.shifted(powers, plaintexts.batch()).public())
    }

    /// Short openings of the sum of each group of rows, given by row numbers. They are the sums of
    /// the openings, which may have a few more bits; 0 for an empty group.
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey), [`NoSuchRow`](crate::ErrorKind::NoSuchRow) if a
    /// row is out of range, or [`OpeningTooLong`](crate::ErrorKind::OpeningTooLong).
    pub fn sum_short_openings(&self, openings: &ShortOpenings, groups: &[Vec<u32>]) -> Result<ShortOpenings, Error> {
        check_key(self.id(), openings.key)?;
        check_rows(groups.iter().flatten().map(|&row| row as usize), openings.len())?;
        let most = groups.iter().map(Vec::len).max().unwrap_or(0).max(1) as u64;
        let length = openings.bits + bit_length(&[most - 1]);
        let mut sums = Batch::zeros(groups.len(), limbs_of(length));
        for (sum, rows) in sums.rows_mut().zip(groups) {
            rows.iter().for_each(|&row| _ = add_assign(sum, openings.batch.row(row as usize)));
        }
        self.short(length, sums)
    }

    /// The [`Openings`] `h^a mod n` of the same ciphertexts, which a challenger may see.
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey) or [`NoGenerator`](crate::ErrorKind::NoGenerator).
    pub fn openings_of_short(&self, openings: &ShortOpenings) -> Result<Openings, Error> {
        check_key(self.id(), openings.key)?;
        let generator = self.generator().ok_or(ErrorKind::NoGenerator)?;
        let bases = Batch::repeat(generator, openings.len());
        Ok(self.opened(self.root().pow(&bases, Exponents::Each(&openings.batch, openings.bits))))
    }

    /// Imports short openings below `2^length` from concatenated rows of `length.div_ceil(8)`
    /// big-endian bytes.
    ///
    /// # Errors
    /// [`Width`](crate::ErrorKind::Width), [`OutOfRange`](crate::ErrorKind::OutOfRange) for the
    /// first row that is too large, or as [`PublicKey::short_openings`].
    pub fn short_openings_from_be(&self, bytes: &[u8], length: u32) -> Result<ShortOpenings, Error> {
        let width = length.div_ceil(8) as usize;
        if width == 0 || !bytes.len().is_multiple_of(width) {
            return Err(ErrorKind::Width { width, bytes: bytes.len() }.into());
        }
        let batch = Batch::from_be_bytes(bytes, width, limbs_of(length));
        let outside = batch.rows().position(|row| has_bits_from(row, length));
        outside.map_or_else(|| self.short(length, batch), |row| Err(ErrorKind::OutOfRange.at_row(row)))
    }

    /// `(h^n)^e mod n^2` for one public exponent, for protocols built on the scheme.
    ///
    /// # Errors
    /// [`NoGenerator`](crate::ErrorKind::NoGenerator).
    pub fn generator_power(&self, exponent: &[u64]) -> Result<Batch, Error> {
        let base = self.randomiser_base().ok_or(ErrorKind::NoGenerator)?;
        Ok(self.square().join(&self.square().pow(base, Exponents::Public(exponent))))
    }

    /// Adds a number to each short opening, which makes it at most one bit longer: a prover's
    /// answer `zeta + e a`. The running time depends only on lengths.
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey), [`Lengths`](crate::ErrorKind::Lengths) or
    /// [`OpeningTooLong`](crate::ErrorKind::OpeningTooLong).
    ///
    /// # Panics
    /// If a number has more limbs than an opening.
    pub fn shift_short_openings(&self, openings: &ShortOpenings, numbers: &Batch) -> Result<ShortOpenings, Error> {
        check_key(self.id(), openings.key)?;
        check_lengths(openings.len(), numbers.len())?;
        let length = openings.bits + 1;
        let mut sums = openings.batch.resize(limbs_of(length));
        sums.rows_mut().zip(numbers.rows()).for_each(|(sum, number)| _ = add_assign(sum, number));
        self.short(length, sums)
    }

    /// Numbers of `length` bits as short openings, if the key allows them.
    fn short(&self, length: u32, batch: Batch) -> Result<ShortOpenings, Error> {
        if self.generator().is_none() {
            return Err(ErrorKind::NoGenerator.into());
        }
        let most = self.short_bits() + MORE_BITS;
        if length > most {
            return Err(ErrorKind::OpeningTooLong { bits: length, most }.into());
        }
        Ok(ShortOpenings { key: self.id(), bits: length, batch })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::encode_signed;
    use crate::{Engine, KeyPolicy, PrivateKey, Variant};
    use rug::{Integer, integer::Order};

    fn integer(limbs: &[u64]) -> Integer {
        Integer::from_digits(limbs, Order::Lsf)
    }

    #[test]
    fn ciphertexts_are_those_of_gmp_for_openings_of_all_lengths() {
        for engine in Engine::ALL.iter().copied().filter(|engine| engine.is_available()) {
            let private = PrivateKey::generate(256, Variant::Djn, KeyPolicy::AllowInsecure, engine).unwrap();
            let key = private.public();
            let (n, h) = (integer(key.modulus()), integer(key.generator().unwrap()));
            let squared = n.clone().square();
            let plaintexts = encode_signed(key, &[7, -1, 0]).unwrap();
            for length in [128, 127, 129, 512, 128 + MORE_BITS] {
                let openings = key.short_openings(3, length).unwrap();
                assert!(openings.batch().rows().all(|row| integer(row).significant_bits() <= length));
                let ciphertexts = key.encrypt_with_short_openings(&plaintexts, &openings).unwrap();
                for (row, m) in [7, -1, 0].into_iter().enumerate() {
                    let power = h.clone().pow_mod(&n, &squared).unwrap();
                    let power = power.pow_mod(&integer(openings.batch().row(row)), &squared).unwrap();
                    let expected = ((&n * Integer::from(m) + 1u32) * power).modulo(&squared);
                    assert_eq!(integer(ciphertexts.batch().row(row)), expected, "{length} bits, {engine}");
                }
                let shown = key.openings_of_short(&openings).unwrap();
                assert_eq!(key.check_openings(&ciphertexts, &plaintexts, &shown), Ok(()));
                let again = key.short_openings_from_be(&openings.to_be_bytes(), length).unwrap();
                assert!(again == openings);
            }
        }
    }

    #[test]
    fn sums_of_openings_open_sums() {
        let private = PrivateKey::generate(256, Variant::Djn, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
        let key = private.public();
        let (ciphertexts, openings) = key.encrypt_opened_short(&encode_signed(key, &[1, 2, 3, 4]).unwrap()).unwrap();
        let groups = [vec![0, 1, 2, 3], vec![2], vec![]];
        let sums = key.sum_short_openings(&openings, &groups).unwrap();
        assert_eq!(sums.bits(), 130);
        let totals = key.encrypt_with_short_openings(&encode_signed(key, &[10, 3, 0]).unwrap(), &sums).unwrap();
        assert_eq!(totals, key.sum_groups(&ciphertexts, &groups).unwrap());
        let numbers = Batch::from_rows(1, [&[1][..], &[2], &[u64::MAX]]);
        let shifted = key.shift_short_openings(&sums, &numbers).unwrap();
        for ((sum, number), found) in sums.batch().rows().zip(numbers.rows()).zip(shifted.batch().rows()) {
            assert_eq!(integer(found), integer(sum) + integer(number));
        }
    }

    #[test]
    fn what_is_no_short_opening_is_refused() {
        let private = PrivateKey::generate(256, Variant::Djn, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
        let key = private.public();
        let kind = |result: Result<ShortOpenings, Error>| result.unwrap_err().kind().clone();
        assert_eq!(kind(key.short_openings(1, 577)), ErrorKind::OpeningTooLong { bits: 577, most: 576 });
        assert_eq!(kind(key.short_openings_from_be(&[0; 17], 128)), ErrorKind::Width { width: 16, bytes: 17 });
        let outside = key.short_openings_from_be(&[&[0; 16][..], &[0x80; 16]].concat(), 127);
        assert_eq!(outside, Err(ErrorKind::OutOfRange.at_row(1)));
        let openings = key.short_openings(2, 128).unwrap();
        assert_eq!(kind(key.sum_short_openings(&openings, &[vec![2]])), ErrorKind::NoSuchRow { rows: 2 });
        let standard = PrivateKey::generate(256, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
        assert_eq!(kind(standard.public().short_openings(1, 128)), ErrorKind::NoGenerator);
        assert!(matches!(
            standard.public().openings_of_short(&openings).unwrap_err().kind(),
            ErrorKind::WrongKey { .. }
        ));
        assert_eq!(format!("{openings:?}"), format!("ShortOpenings(2 of key {})", key.id()));
    }
}
