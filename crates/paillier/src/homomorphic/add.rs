//! Sums and differences row by row.

use super::blocks::by_blocks;
use super::inverse::inverses;
use crate::ciphertexts::{check_key, check_lengths};
use crate::{Ciphertexts, Error, Plaintexts, PublicKey};
use hearith_arith::natural::resized;
use hearith_arith::{Batch, Pairs};

impl PublicKey {
    /// Ciphertexts of the sums row by row: the products modulo `n^2`. They are not randomised anew:
    /// whoever has all three can tell what was added to what ([`PublicKey::rerandomise`] hides it).
    ///
    /// ```
    /// # use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant, encoding::{decode_signed, encode_signed}};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let private = PrivateKey::generate(512, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best())?;
    /// # let public = private.public();
    /// let a = public.encrypt(&encode_signed(public, &[40, -5])?)?;
    /// let b = public.encrypt(&encode_signed(public, &[2, 4])?)?;
    /// let read = |c| Ok::<_, Box<dyn std::error::Error>>(decode_signed(public, &private.decrypt(&c)?)?);
    /// assert_eq!(read(public.add(&a, &b)?)?[0].to_i128(), Some(42));
    /// assert_eq!(read(public.subtract(&a, &b)?)?[1].to_i128(), Some(-9));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey) or [`Lengths`](crate::ErrorKind::Lengths).
    pub fn add(&self, a: &Ciphertexts, b: &Ciphertexts) -> Result<Ciphertexts, Error> {
        self.check_pair(a, b)?;
        let sums = self.ciphertexts(self.squared().mul(a.batch(), b.batch()));
        // Of ciphertexts that everybody may see, the sums are known as well.
        Ok(if a.is_secret() || b.is_secret() { sums } else { sums.public() })
    }

    /// Ciphertexts of the differences row by row: the products with the inverses modulo `n^2`; see
    /// [`PublicKey::negate`]. Not randomised anew, as [`PublicKey::add`].
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey), [`Lengths`](crate::ErrorKind::Lengths), or
    /// [`CiphertextSharesFactor`](crate::ErrorKind::CiphertextSharesFactor) if a row of `b` shares
    /// a factor with `n`.
    pub fn subtract(&self, a: &Ciphertexts, b: &Ciphertexts) -> Result<Ciphertexts, Error> {
        self.check_pair(a, b)?;
        self.add(a, &self.negate(b)?)
    }

    /// Ciphertexts of the negatives: the inverses modulo `n^2`, hundreds of them with one inversion
    /// and three multiplications each. Anybody can tell that they belong to the given ones until
    /// they are re-randomised.
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey), or
    /// [`CiphertextSharesFactor`](crate::ErrorKind::CiphertextSharesFactor) for the first row that
    /// shares a factor with `n`.
    pub fn negate(&self, ciphertexts: &Ciphertexts) -> Result<Ciphertexts, Error> {
        check_key(self.id(), ciphertexts.key_id())?;
        let numbers = ciphertexts.batch();
        let inverted = by_blocks(numbers.len(), self.squared().limbs(), |rows| {
            inverses(self.root(), self.squared(), &numbers.range(rows)).ok_or(())
        });
        let negatives = self.ciphertexts(inverted.map_err(|()| self.sharing_factor(numbers))?);
        Ok(if ciphertexts.is_secret() { negatives } else { negatives.public() })
    }

    /// Ciphertexts of the sums with plaintexts, row by row: one multiplication modulo `n^2` each.
    /// The ciphertexts are not randomised anew: whoever knows both the old and the new ones can
    /// read the plaintexts added. Where they are secret, add [`PublicKey::encrypt`]ed ones, or
    /// [`PublicKey::rerandomise`] the result.
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey) or [`Lengths`](crate::ErrorKind::Lengths).
    pub fn add_plain(&self, ciphertexts: &Ciphertexts, added: &Plaintexts) -> Result<Ciphertexts, Error> {
        check_key(self.id(), ciphertexts.key_id())?;
        check_key(self.id(), added.key_id())?;
        check_lengths(ciphertexts.len(), added.len())?;
        // `1 + m n`: the ciphertexts of randomiser 1.
        let one = resized(&[1], self.root().limbs());
        let sums = by_blocks(added.len(), self.squared().limbs(), |rows| {
            let low = Batch::repeat(&one, rows.len());
            let trivial = self.square().join(&Pairs { low, high: added.batch().range(rows.clone()) });
            Ok::<_, Error>(self.squared().mul(&ciphertexts.batch().range(rows), &trivial))
        });
        Ok(self.ciphertexts(sums?))
    }
}
