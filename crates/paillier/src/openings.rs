//! Openings of ciphertexts: the randomness `r` of `c = (1 + m n) r^n mod n^2`.
//!
//! With an opening, anyone can verify the plaintext of a ciphertext: encrypting it again gives the
//! same number. Voters can thus challenge a ballot, and the owner of a key can prove a total
//! without revealing the key ([`PrivateKey::open`]).

use crate::ciphertexts::{check_key, check_lengths, check_range, check_rows};
use crate::key::factors::{Chinese, power};
use crate::random::units;
use crate::{Ciphertexts, Error, ErrorKind, KeyId, Plaintexts, PrivateKey, PublicKey};
use hearith_arith::natural::{Secret, add_assign, difference, divide_exact, is_zero, less, product_in};
use hearith_arith::{Batch, Exponents, Modulus};
use std::fmt;
use std::ops::Range;
use zeroize::Zeroizing;

/// The randomness of ciphertexts of one key, one per row: units `r` modulo `n`. Wiped when dropped;
/// `Debug` shows only their number.
///
/// Anyone who has a ciphertext's opening can read the ciphertext.
#[derive(Clone, PartialEq, Eq)]
pub struct Openings {
    key: KeyId,
    row_bytes: usize,
    batch: Batch,
}

impl Openings {
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

    /// Bytes of one opening, the same as of `n`.
    pub fn row_bytes(&self) -> usize {
        self.row_bytes
    }

    /// All openings concatenated, as [`Openings::row_bytes`] big-endian bytes each.
    pub fn to_be_bytes(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(self.batch.to_be_bytes(self.row_bytes))
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
        Ok(Openings { key: self.key, row_bytes: self.row_bytes, batch: self.batch.range(rows) })
    }
}

impl fmt::Debug for Openings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Openings({} of key {})", self.len(), self.key)
    }
}

impl PublicKey {
    /// `len` random openings: uniform units, for keys of every variant.
    ///
    /// # Errors
    /// If the random generator fails.
    pub fn openings(&self, len: usize) -> Result<Openings, Error> {
        Ok(self.opened(units(len, self.modulus())?))
    }

    /// Encrypts as [`PublicKey::encrypt`] and returns the openings, which can later reveal the
    /// plaintexts. A randomiser `(h^n)^a` of a key with a generator has the opening
    /// `r = h^a mod n`.
    ///
    /// ```
    /// # use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant, encoding::encode_signed};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let private = PrivateKey::generate(512, Variant::Djn, KeyPolicy::AllowInsecure, Engine::best())?;
    /// # let public = private.public();
    /// let votes = encode_signed(public, &[1, 0])?;
    /// let (ciphertexts, openings) = public.encrypt_opened(&votes)?;
    /// assert_eq!(public.encrypt_with_openings(&votes, &openings)?, ciphertexts);
    /// public.check_openings(&ciphertexts, &votes, &openings)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey), or if the random generator fails.
    pub fn encrypt_opened(&self, plaintexts: &Plaintexts) -> Result<(Ciphertexts, Openings), Error> {
        check_key(self.id(), plaintexts.key_id())?;
        if self.generator().is_none() {
            let openings = self.openings(plaintexts.len())?;
            return Ok((self.encrypt_with_openings(plaintexts, &openings)?, openings));
        }
        let (ciphertexts, openings) = self.encrypt_opened_short(plaintexts)?;
        Ok((ciphertexts, self.openings_of_short(&openings)?))
    }

    /// Encrypts deterministically with the given openings: `(1 + m n) r^n mod n^2`.
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey) or [`Lengths`](crate::ErrorKind::Lengths).
    pub fn encrypt_with_openings(&self, plaintexts: &Plaintexts, openings: &Openings) -> Result<Ciphertexts, Error> {
        check_key(self.id(), plaintexts.key_id())?;
        check_key(self.id(), openings.key)?;
        check_lengths(plaintexts.len(), openings.len())?;
        let powers = self.square().pow(&openings.batch, Exponents::Public(self.modulus()));
        Ok(self.shifted(powers, plaintexts.batch()).public())
    }

    /// Openings of the sum of each group of rows, given by row numbers. They are the products of
    /// the openings; 1 for an empty group.
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey), or [`NoSuchRow`](crate::ErrorKind::NoSuchRow) if a
    /// row is out of range.
    pub fn sum_openings(&self, openings: &Openings, groups: &[Vec<u32>]) -> Result<Openings, Error> {
        check_key(self.id(), openings.key)?;
        check_rows(groups.iter().flatten().map(|&row| row as usize), openings.len())?;
        Ok(self.opened(self.root().products(&openings.batch, groups)))
    }

    /// Imports openings from concatenated rows of [`PublicKey::plaintext_bytes`] big-endian bytes.
    /// Checks that they are in `[1, n)`.
    ///
    /// # Errors
    /// [`Width`](crate::ErrorKind::Width), or [`OutOfRange`](crate::ErrorKind::OutOfRange) for the
    /// first row that is 0 or not below `n`.
    pub fn openings_from_be(&self, bytes: &[u8]) -> Result<Openings, Error> {
        let width = self.plaintext_bytes();
        if !bytes.len().is_multiple_of(width) {
            return Err(ErrorKind::Width { width, bytes: bytes.len() }.into());
        }
        let batch = Batch::from_be_bytes(bytes, width, self.plaintext_limbs());
        let outside = |row: &[u64]| is_zero(row) | (1 ^ less(row, self.modulus())) == 1;
        let first = batch.rows().position(outside);
        first.map_or(Ok(self.opened(batch)), |row| Err(ErrorKind::OutOfRange.at_row(row)))
    }

    /// Checks every ciphertext against its plaintext and its opening, by encrypting again.
    ///
    /// # Errors
    /// [`WrongOpening`](crate::ErrorKind::WrongOpening) for the first row that does not match, and
    /// as [`PublicKey::encrypt_with_openings`].
    pub fn check_openings(
        &self,
        ciphertexts: &Ciphertexts,
        plaintexts: &Plaintexts,
        openings: &Openings,
    ) -> Result<(), Error> {
        check_key(self.id(), ciphertexts.key_id())?;
        check_lengths(ciphertexts.len(), plaintexts.len())?;
        let expected = self.encrypt_with_openings(plaintexts, openings)?;
        match ciphertexts.batch().rows().zip(expected.batch().rows()).position(|(found, expected)| found != expected) {
            Some(row) => Err(ErrorKind::WrongOpening.at_row(row)),
            None => Ok(()),
        }
    }

    pub(crate) fn opened(&self, batch: Batch) -> Openings {
        Openings { key: self.id(), row_bytes: self.plaintext_bytes(), batch }
    }
}

impl PrivateKey {
    /// Decrypts and returns the openings: for each ciphertext the unique `r` below `n` with
    /// `c = (1 + m n) r^n mod n^2`. Constant time.
    ///
    /// Anyone can check the plaintexts with them ([`PublicKey::check_openings`]). They reveal
    /// nothing else about a ciphertext, and nothing about the key.
    ///
    /// Results are verified before they are returned, by encrypting again: an opening that is wrong
    /// modulo one of the primes would leak the key to everybody (\[BDL97\]).
    ///
    /// # Errors
    /// As [`PrivateKey::decrypt`], and [`WrongDecryption`](crate::ErrorKind::WrongDecryption) if
    /// this CPU is faulty.
    pub fn open(&self, ciphertexts: &Ciphertexts) -> Result<(Plaintexts, Openings), Error> {
        let plaintexts = self.decrypt(ciphertexts)?;
        let openings = self.roots(ciphertexts.batch());
        match self.public().check_openings(ciphertexts, &plaintexts, &openings) {
            Ok(()) => Ok((plaintexts, openings)),
            Err(_) => Err(ErrorKind::WrongDecryption.into()),
        }
    }

    /// The `n`-th roots modulo `n` of units of any width, computed modulo `p` as
    /// `c^(n^-1 mod (p - 1))` and correspondingly modulo `q`.
    ///
    /// `n` is invertible modulo `p - 1` and `q - 1`. Otherwise one prime would be 1 modulo the
    /// other, which primes of equal length cannot be.
    fn roots(&self, numbers: &Batch) -> Openings {
        let factors = self.factors();
        let (p_less, q_less) = factors.less_one();
        let (p, q) = (factors.square_p.root(), factors.square_q.root());
        let exponents = (inverse(q, &q_less, &p_less), inverse(p, &p_less, &q_less));
        let at = |modulus: &Modulus, exponent: &[u64]| modulus.pow(numbers, Exponents::Shared(exponent, factors.bits));
        let (at_p, at_q) = (at(p, &exponents.0), at(q, &exponents.1));
        let chinese = Chinese::new(&factors.p, q, &q_less, factors.limbs());
        self.public().opened(chinese.combine(&at_p, &at_q))
    }
}

/// The inverse of a prime `q` modulo another prime less one, without division by an even number:
/// `q x = 1 + y (p - 1)` for the `y` that makes the right-hand side a multiple of `q`, which is
/// `y = -(p - 1)^-1 mod q`.
fn inverse(of: &Modulus, of_less: &[u64], less_one: &[u64]) -> Secret {
    let inverse = Batch::repeat(&power(of, less_one, &difference(of_less, &[1])), 1);
    let mut multiple = product_in(of.neg(&inverse).row(0), less_one, of.limbs() + less_one.len());
    add_assign(&mut multiple, &[1]);
    divide_exact(&multiple, of.as_limbs(), less_one.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decrypt::Decryption;
    use crate::encoding::encode_signed;
    use crate::{Engine, KeyPolicy, Variant};

    #[test]
    fn what_is_opened_is_what_was_encrypted_with() {
        for engine in Engine::ALL.iter().copied().filter(|engine| engine.is_available()) {
            for variant in [Variant::Standard, Variant::Djn] {
                let private = PrivateKey::generate(256, variant, KeyPolicy::AllowInsecure, engine).unwrap();
                let public = private.public();
                let plaintexts = encode_signed(public, &[0, 1, -7, 123_456]).unwrap();
                let (ciphertexts, openings) = public.encrypt_opened(&plaintexts).unwrap();
                assert!(private.open(&ciphertexts).unwrap() == (plaintexts.clone(), openings.clone()));
                assert_eq!(public.check_openings(&ciphertexts, &plaintexts, &openings), Ok(()));

                let groups = [vec![0, 2, 3], vec![]];
                let (totals, products) = (
                    public.sum_groups(&ciphertexts, &groups).unwrap(),
                    public.sum_openings(&openings, &groups).unwrap(),
                );
                let expected = encode_signed(public, &[123_449, 0]).unwrap();
                assert_eq!(public.check_openings(&totals, &expected, &products), Ok(()));
                assert!(private.open(&totals).unwrap() == (expected, products));
            }
        }
    }

    #[test]
    fn wrong_openings_are_refused_by_row() {
        let private = PrivateKey::generate(256, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
        let public = private.public();
        let plaintexts = encode_signed(public, &[5, 6, 7]).unwrap();
        let (ciphertexts, openings) = public.encrypt_opened(&plaintexts).unwrap();
        let wrong = |row| Err(ErrorKind::WrongOpening.at_row(row));
        let others = encode_signed(public, &[5, 6, 8]).unwrap();
        assert_eq!(public.check_openings(&ciphertexts, &others, &openings), wrong(2));
        let mut bytes = openings.to_be_bytes();
        bytes[2 * public.plaintext_bytes() - 1] ^= 1;
        let changed = public.openings_from_be(&bytes).unwrap();
        assert_eq!(public.check_openings(&ciphertexts, &plaintexts, &changed), wrong(1));
        assert_eq!(
            public.openings_from_be(&bytes[1..]).unwrap_err().kind(),
            &ErrorKind::Width { width: 32, bytes: 95 }
        );
        for outside in [vec![0; 32], public.modulus_be()] {
            let rows = [&openings.to_be_bytes()[..32], &outside].concat();
            assert_eq!(public.openings_from_be(&rows), Err(ErrorKind::OutOfRange.at_row(1)));
        }
        let fewer = openings.range(0..2).unwrap();
        let lengths = ErrorKind::Lengths { left: 3, right: 2 };
        assert_eq!(public.check_openings(&ciphertexts, &plaintexts, &fewer).unwrap_err().kind(), &lengths);
    }

    #[test]
    fn a_fault_gives_no_opening() {
        let private = PrivateKey::generate(256, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
        let ciphertexts = private.public().encrypt(&encode_signed(private.public(), &[7]).unwrap()).unwrap();
        let mut decryption = Decryption::new(private.factors());
        decryption.h_p = decryption.h_q.clone();
        let faulty = private.with_decryption(decryption);
        assert_eq!(faulty.open(&ciphertexts).unwrap_err().kind(), &ErrorKind::WrongDecryption);
    }

    #[test]
    fn openings_are_not_shown() {
        let private = PrivateKey::generate(128, Variant::Djn, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
        let openings = private.public().openings(2).unwrap();
        assert_eq!(format!("{openings:?}"), format!("Openings(2 of key {})", private.public().id()));
    }
}
