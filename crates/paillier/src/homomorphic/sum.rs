//! Sums of many rows.

use super::multiply::row_numbers;
use crate::ciphertexts::{check_key, check_rows};
use crate::{Ciphertexts, Error, PublicKey};

impl PublicKey {
    /// Sums all rows into a batch of one; an empty batch gives the trivial ciphertext of 0. Takes
    /// one Montgomery multiplication per row.
    ///
    /// The sum is the product of the rows and is not re-randomised. The sum of one row is that row,
    /// and anyone who has the rows can determine which of them a sum covers.
    /// [`PublicKey::rerandomise`] hides this.
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey).
    pub fn sum(&self, ciphertexts: &Ciphertexts) -> Result<Ciphertexts, Error> {
        self.sum_groups(ciphertexts, &[row_numbers(ciphertexts.len())?])
    }

    /// Sums each group of rows, given by row numbers, into one row. An empty group gives the
    /// trivial ciphertext of 0. A row may be in any number of groups, and more than once in a
    /// group. The sums are not re-randomised; see [`PublicKey::sum`].
    ///
    /// ```
    /// # use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant, encoding::{decode_signed, encode_signed}};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let private = PrivateKey::generate(512, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best())?;
    /// # let public = private.public();
    /// let delays = public.encrypt(&encode_signed(public, &[5, -2, 40, 1])?)?;
    /// let totals = public.sum_groups(&delays, &[vec![0, 3], vec![1, 2], vec![]])?;
    /// let decoded = decode_signed(public, &private.decrypt(&totals)?)?;
    /// assert_eq!(decoded.iter().map(|total| total.to_string()).collect::<Vec<_>>(), ["6", "38", "0"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey), or [`NoSuchRow`](crate::ErrorKind::NoSuchRow) if a
    /// row is out of range.
    pub fn sum_groups(&self, ciphertexts: &Ciphertexts, groups: &[Vec<u32>]) -> Result<Ciphertexts, Error> {
        check_key(self.id(), ciphertexts.key_id())?;
        check_rows(groups.iter().flatten().map(|&row| row as usize), ciphertexts.len())?;
        Ok(self.ciphertexts(self.squared().products(ciphertexts.batch(), groups)))
    }
}
