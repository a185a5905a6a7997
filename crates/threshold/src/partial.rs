//! A trustee's decryption: shares of plaintexts, and proofs that they are correct.

use crate::KeyShare;
use crate::error::{Error, check_key, check_lengths};
use crate::key::joined;
use crate::shares::{Shares, challenges};
use hearith_arith::natural::{add_assign, limbs_of, product_in, resized};
use hearith_arith::{Batch, Exponents, random};
use hearith_paillier::Ciphertexts;
use hearith_proofs::Contexts;

impl KeyShare {
    /// Makes this trustee's shares of the decryption of a batch, each with a proof that holds only
    /// in its context. Constant time in the secret.
    ///
    /// A trustee that decrypts on request lets others choose what is decrypted, so check the origin
    /// of the ciphertexts first.
    ///
    /// # Errors
    /// [`Lengths`](crate::ErrorKind::Lengths), ciphertexts of another key, a ciphertext that shares
    /// a factor with `n`, or a failure of the random generator.
    pub fn decrypt(&self, contexts: &Contexts, ciphertexts: &Ciphertexts) -> Result<Shares, Error> {
        let (shared, key, rows) = (self.shared(), self.key(), ciphertexts.len());
        check_key(key.id(), ciphertexts.key_id())?;
        check_lengths(rows, contexts.len())?;
        key.check_coprime(ciphertexts)?;
        let squares = key.squared().mul(ciphertexts.batch(), ciphertexts.batch());
        let fourths = key.squared().mul(&squares, &squares);

        // (c^2)^(D s_i) and (c^4)^rho in one batch, which fills more lanes.
        let (bits, limbs) = (shared.response_bits(), limbs_of(shared.response_bits()));
        let rho = random::bits(rows, limbs, bits - 1)?;
        let exponents = Batch::concat(&[&Batch::repeat(&resized(self.exponent(), limbs), rows), &rho]);
        let bases = Batch::concat(&[&squares, &fourths]);
        let powers = joined(key, &key.square().pow(&bases, Exponents::Each(&exponents, bits)));
        let numbers = self.numbers(&powers.range(0..rows))?;
        let a = self.numbers(&powers.range(rows..2 * rows))?;
        let b = self.numbers(&shared.generator_powers(&rho))?;

        let of_row = challenges(shared, self.verification(), contexts, ciphertexts, self.trustee(), [&numbers, &a, &b]);
        let responses = self.responses(rho, &of_row);
        Ok(Shares::new(shared, self.trustee(), numbers, [a, b], responses))
    }

    /// `z = rho + e D s_i`, over the integers.
    fn responses(&self, mut rho: Batch, challenges: &Batch) -> Batch {
        let limbs = rho.limbs();
        for (rho, challenge) in rho.rows_mut().zip(challenges.rows()) {
            add_assign(rho, &product_in(self.exponent(), challenge, limbs));
        }
        rho
    }

    /// Powers, which will be public.
    fn numbers(&self, batch: &Batch) -> Result<Ciphertexts, Error> {
        Ok(self.key().ciphertexts_from_be(&batch.to_be_bytes(self.key().ciphertext_bytes()))?)
    }
}
