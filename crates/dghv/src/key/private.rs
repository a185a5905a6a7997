//! Private keys: decryption.

use super::{InsecureHistoricalParameters, KeyId, PublicKey};
use crate::number::{Residues, is_odd_of_bits};
use crate::{Ciphertext, Error, ErrorKind, Parameters, ciphertext, noise};
use hearith_arith::natural::{is_zero, sub_assign};
use rayon::prelude::*;
use std::fmt;

/// The secret prime `p`. Wiped when dropped; decryption takes a time that depends on lengths only.
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

    /// A private key from its parts.
    ///
    /// # Errors
    /// [`ErrorKind::MalformedKey`] if the prime is even or has not the length that the parameters
    /// say. That it is a prime is not checked: decryption does not need it. [`PrivateKey::check`]
    /// tells whether it belongs to a public key.
    pub fn from_parts(
        parameters: Parameters,
        id: KeyId,
        prime: &[u64],
        _: InsecureHistoricalParameters,
    ) -> Result<Self, Error> {
        if !is_odd_of_bits(prime, parameters.lengths().secret) {
            return Err(ErrorKind::MalformedKey { what: "the prime is even or not of the parameters' length" }.into());
        }
        Ok(Self::new(parameters, id, &prime[..significant(prime)]))
    }

    /// The parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The key pair's id.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// The secret prime, in limbs, least significant first: for whoever writes the key. Copies must
    /// be wiped.
    pub fn expose_prime(&self) -> &[u64] {
        self.residues.modulus()
    }

    /// Makes sure that a public key belongs to this key: its id, and that the prime divides the
    /// modulus.
    ///
    /// # Errors
    /// [`ErrorKind::KeysDiffer`].
    pub fn check(&self, public: &PublicKey) -> Result<(), Error> {
        let divides = public.parameters() == &self.parameters && is_zero(&self.residues.reduce(public.modulus())) == 1;
        if divides && public.id() == self.id { Ok(()) } else { Err(ErrorKind::KeysDiffer.into()) }
    }

    /// The bits of ciphertexts, a batch over the cores.
    ///
    /// # Errors
    /// With the row: [`ErrorKind::OtherKey`], [`ErrorKind::NoiseExhausted`].
    pub fn decrypt(&self, ciphertexts: &[Ciphertext]) -> Result<Vec<bool>, Error> {
        let rows = ciphertexts.par_iter().enumerate();
        let bits = rows.map(|(row, ciphertext)| self.decrypt_one(ciphertext).map_err(|error| error.at_row(row)));
        // All rows are computed before one is judged, so that the error is the first row's,
        // whichever core was faster.
        bits.collect::<Vec<_>>().into_iter().collect()
    }

    fn decrypt_one(&self, ciphertext: &Ciphertext) -> Result<bool, Error> {
        if ciphertext.key_id() != self.id || ciphertext.value().len() != self.parameters.limbs() {
            return Err(ErrorKind::OtherKey.into());
        }
        ciphertext::check_noise(ciphertext.noise(), &self.parameters)?;
        Ok(self.residues.centred_parity(ciphertext.value()) == 1)
    }

    /// Encrypts with the private key: noise of the key's elements only, `m + 2 r` with `r` in
    /// `[-2^rho, 2^rho)`, so that much can be computed with the ciphertexts.
    ///
    /// # Errors
    /// [`ErrorKind::KeysDiffer`], [`ErrorKind::Random`].
    pub fn encrypt(&self, public: &PublicKey, bits: &[bool]) -> Result<Vec<Ciphertext>, Error> {
        self.check(public)?;
        bits.par_iter().map(|&bit| self.encrypt_one(public, bit)).collect()
    }

    /// A random multiple of `p` below `A_0`, as `u - (u mod p)` for a uniform `u`, and the noise.
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

/// Limbs without zeros above.
fn significant(number: &[u64]) -> usize {
    number.iter().rposition(|&limb| limb != 0).map_or(0, |top| top + 1)
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey({}, secret)", self.id)
    }
}
