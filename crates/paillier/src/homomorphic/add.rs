//! Row-wise sums and differences.

use super::blocks::by_blocks;
use super::inverse::inverses;
use crate::ciphertexts::{check_key, check_lengths};
use crate::{Ciphertexts, Error, Plaintexts, PublicKey};
use hearith_arith::natural::resized;
use hearith_arith::{Batch, Pairs};

impl PublicKey {
    /// Adds two batches row by row, by multiplying ciphertexts modulo `n^2`. The results are not
    /// re-randomised: anyone who has all three can tell which rows were added
    /// ([`PublicKey::rerandomise`] hides it).
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
        // The sums of public ciphertexts are public.
        Ok(if a.is_secret() || b.is_secret() { sums } else { sums.public() })
    }

    /// Subtracts two batches row by row, by multiplying with inverses modulo `n^2`; see
    /// [`PublicKey::negate`]. The results are not re-randomised; see [`PublicKey::add`].
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey), [`Lengths`](crate::ErrorKind::Lengths), or
    /// [`CiphertextSharesFactor`](crate::ErrorKind::CiphertextSharesFactor) if a row of `b` shares
    /// a factor with `n`.
    pub fn subtract(&self, a: &Ciphertexts, b: &Ciphertexts) -> Result<Ciphertexts, Error> {
        self.check_pair(a, b)?;
        self.add(a, &self.negate(b)?)
    }

    /// Negates ciphertexts, by inverting them modulo `n^2`. A block of several hundred rows takes
    /// one inversion and three multiplications per row. Anyone can link the results to the inputs
    /// until they are re-randomised.
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

    /// Adds plaintexts row by row, at one multiplication modulo `n^2` each.
    ///
    /// The results are not re-randomised: anyone who knows the ciphertexts before and after can
    /// read the plaintexts. If these are secret, add [`PublicKey::encrypt`]ed ones, or
    /// [`PublicKey::rerandomise`] the result.
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey) or [`Lengths`](crate::ErrorKind::Lengths).
    pub fn add_plain(&self, ciphertexts: &Ciphertexts, added: &Plaintexts) -> Result<Ciphertexts, Error> {
        check_key(self.id(), ciphertexts.key_id())?;
        check_key(self.id(), added.key_id())?;
        check_lengths(ciphertexts.len(), added.len())?;
        // `1 + m n`: ciphertexts with randomiser 1.
        let one = resized(&[1], self.root().limbs());
        let sums = by_blocks(added.len(), self.squared().limbs(), |rows| {
            let low = Batch::repeat(&one, rows.len());
            let trivial = self.square().join(&Pairs { low, high: added.batch().range(rows.clone()) });
            Ok::<_, Error>(self.squared().mul(&ciphertexts.batch().range(rows), &trivial))
        });
        Ok(self.ciphertexts(sums?))
    }
}
