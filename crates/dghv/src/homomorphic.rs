//! Computing with ciphertexts: sums and products modulo `A_0` encrypt sums and products of the bits
//! modulo 2. All values here are public.

use crate::ciphertext::check_noise;
use crate::number::add_modulus_if_borrowed;
use crate::{Ciphertext, Error, ErrorKind, PublicKey, noise};
use hearith_arith::natural::{add_assign, reduce_once, sub_assign};
use rayon::prelude::*;
use std::borrow::Borrow;

impl PublicKey {
    /// Computes the exclusive or of each pair of rows as `a + b`. The noise of the two adds up.
    ///
    /// # Errors
    /// [`ErrorKind::UnequalLengths`]; with the row [`ErrorKind::OtherKey`],
    /// [`ErrorKind::OutOfRange`], and [`ErrorKind::NoiseExhausted`] if the sum may not decrypt.
    pub fn add<A, B>(&self, a: &[A], b: &[B]) -> Result<Vec<Ciphertext>, Error>
    where
        A: Borrow<Ciphertext> + Sync,
        B: Borrow<Ciphertext> + Sync,
    {
        self.each(a, b, |a, b| {
            let noise = noise::sum(a.noise(), b.noise());
            check_noise(noise, self.parameters())?;
            let mut value = a.value().to_vec();
            let carry = add_assign(&mut value, b.value());
            reduce_once(&mut value, carry, self.modulus());
            Ciphertext::checked(self.id(), self.parameters(), value, noise)
        })
    }

    /// Computes the AND of each pair of rows as `a b`. The noise has the bits of both operands
    /// together.
    ///
    /// # Errors
    /// As [`PublicKey::add`].
    pub fn multiply<A, B>(&self, a: &[A], b: &[B]) -> Result<Vec<Ciphertext>, Error>
    where
        A: Borrow<Ciphertext> + Sync,
        B: Borrow<Ciphertext> + Sync,
    {
        let products = self.products()?;
        self.each(a, b, |a, b| {
            let noise = a.noise() + b.noise();
            check_noise(noise, self.parameters())?;
            let mut product = vec![0; 2 * self.modulus().len()];
            products.ring.product(a.value(), b.value(), &mut product)?;
            let mut value = vec![0; self.modulus().len()];
            products.barrett.reduce(&product, &mut value)?;
            Ciphertext::checked(self.id(), self.parameters(), value, noise)
        })
    }

    /// Computes the NOT of each row as `1 - a`.
    ///
    /// # Errors
    /// With the row: [`ErrorKind::OtherKey`], [`ErrorKind::OutOfRange`],
    /// [`ErrorKind::NoiseExhausted`].
    pub fn not(&self, a: &[impl Borrow<Ciphertext> + Sync]) -> Result<Vec<Ciphertext>, Error> {
        self.each(a, a, |a, _| {
            let noise = noise::sum(a.noise(), 0.0);
            let mut value = vec![0; self.modulus().len()];
            value[0] = 1;
            let borrow = sub_assign(&mut value, a.value());
            add_modulus_if_borrowed(&mut value, borrow, self.modulus());
            Ciphertext::checked(self.id(), self.parameters(), value, noise)
        })
    }

    /// Converts public bits to ciphertexts without noise: 0 and 1.
    pub fn constants(&self, bits: &[bool]) -> Vec<Ciphertext> {
        let constant = |&bit: &bool| {
            let mut value = vec![0; self.modulus().len()];
            value[0] = u64::from(bit);
            Ciphertext::checked(self.id(), self.parameters(), value, 0.0).expect("no noise")
        };
        bits.iter().map(constant).collect()
    }

    fn each<A: Borrow<Ciphertext> + Sync, B: Borrow<Ciphertext> + Sync>(
        &self,
        a: &[A],
        b: &[B],
        compute: impl Fn(&Ciphertext, &Ciphertext) -> Result<Ciphertext, Error> + Sync,
    ) -> Result<Vec<Ciphertext>, Error> {
        let (left, right) = (a.len(), b.len());
        if left != right {
            return Err(ErrorKind::UnequalLengths { left, right }.into());
        }
        let pairs = a.par_iter().zip(b).enumerate();
        let row = |(row, (a, b)): (usize, (&A, &B))| {
            let (a, b) = (a.borrow(), b.borrow());
            let checked = self.check(a).and_then(|()| self.check(b));
            checked.and_then(|()| compute(a, b)).map_err(|error| error.at_row(row))
        };
        // Compute all rows before looking for errors, so that the reported error is always that of
        // the first failing row.
        pairs.map(row).collect::<Vec<_>>().into_iter().collect()
    }
}
