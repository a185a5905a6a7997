//! Private keys: decryption.

use super::{InsecureHistoricalParameters, KeyId, PublicKey};
use crate::number::{Residues, is_odd_of_bits};
use crate::{Ciphertext, Error, ErrorKind, Parameters, ciphertext, noise};
use hearith_arith::natural::{is_zero, sub_assign};
use rayon::prelude::*;
use std::fmt;

/// The secret prime `p`. It is wiped when dropped, and the time of decryption depends only on
/// lengths.
#[derive(Clone)]
pub struct PrivateKey {
    parameters: Parameters,
    id: KeyId,
    residues: Residues,
}

impl PrivateKey {
    pub(super) fn new(parameters: Parameters, id: KeyId, prime: &[u64]) -> Self {
        let residues = Residues::new(prime, parameters.limbs());
        PrivateKey { parameters, id, residues }
    }

    /// Assembles a private key from its parts.
    ///
    /// # Errors
    /// [`ErrorKind::MalformedKey`] if the prime is even or its length differs from the parameters.
    /// Primality is not checked because decryption does not need it. [`PrivateKey::check`] checks
    /// whether the key belongs to a public key.
    pub fn from_parts(
        parameters: Parameters,
        id: KeyId,
        prime: &[u64],
        _: InsecureHistoricalParameters,
    ) -> Result<Self, Error> {
        if !is_odd_of_bits(prime, parameters.lengths().secret) {
            return Err(ErrorKind::MalformedKey {
                what: "the prime is even or does not have the length that the parameters state",
            }
            .into());
        }
        Ok(Self::new(parameters, id, &prime[..significant(prime)]))
    }

    /// The parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The key pair's ID.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// The secret prime in limbs, least significant first, for writing the key to a file. Wipe all
    /// copies.
    pub fn expose_prime(&self) -> &[u64] {
        self.residues.modulus()
    }

    /// Checks that a public key belongs to this key: its ID must match and the prime must divide
    /// its modulus.
    ///
    /// # Errors
    /// [`ErrorKind::KeysDiffer`].
    pub fn check(&self, public: &PublicKey) -> Result<(), Error> {
        let divides = public.parameters() == &self.parameters && is_zero(&self.residues.reduce(public.modulus())) == 1;
        if divides && public.id() == self.id { Ok(()) } else { Err(ErrorKind::KeysDiffer.into()) }
    }

    /// Decrypts a batch of ciphertexts, spread over the cores.
    ///
    /// # Errors
    /// With the row: [`ErrorKind::OtherKey`], [`ErrorKind::NoiseExhausted`].
    pub fn decrypt(&self, ciphertexts: &[Ciphertext]) -> Result<Vec<bool>, Error> {
        let rows = ciphertexts.par_iter().enumerate();
        let bits = rows.map(|(row, ciphertext)| self.decrypt_one(ciphertext).map_err(|error| error.at_row(row)));
        // Compute all rows before looking for errors, so that the reported error is always that of
        // the first failing row.
        bits.collect::<Vec<_>>().into_iter().collect()
    }

    fn decrypt_one(&self, ciphertext: &Ciphertext) -> Result<bool, Error> {
        if ciphertext.key_id() != self.id || ciphertext.value().len() != self.parameters.limbs() {
            return Err(ErrorKind::OtherKey.into());
        }
        ciphertext::check_noise(ciphertext.noise(), &self.parameters)?;
        Ok(self.residues.centred_parity(ciphertext.value()) == 1)
    }

    /// Encrypts with the private key. The noise `m + 2 r`, with `r` in `[-2^rho, 2^rho)`, is only
    /// that of the key's elements, so these ciphertexts allow more computation.
    ///
    /// # Errors
    /// [`ErrorKind::KeysDiffer`], [`ErrorKind::Random`].
    pub fn encrypt(&self, public: &PublicKey, bits: &[bool]) -> Result<Vec<Ciphertext>, Error> {
        self.check(public)?;
        bits.par_iter().map(|&bit| self.encrypt_one(public, bit)).collect()
    }

    /// Encrypts as a random multiple of `p` below `A_0`, computed as `u - (u mod p)` for a uniform
    /// `u`, plus the noise.
    fn encrypt_one(&self, public: &PublicKey, bit: bool) -> Result<Ciphertext, Error> {
        let rho = self.parameters.lengths().key_noise;
        let mut value = public.uniform()?;
        let residue = self.residues.reduce(&value);
        sub_assign(&mut value, &residue);
        public.add_noise(&mut value, bit, rho)?;
        let noise = noise::sum(f64::from(rho) + 1.0, 0.0);
        Ciphertext::checked(self.id, &self.parameters, value.to_vec(), noise)
    }
}

/// Number of limbs without leading zeros.
fn significant(number: &[u64]) -> usize {
    number.iter().rposition(|&limb| limb != 0).map_or(0, |top| top + 1)
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey({}, secret)", self.id)
    }
}
