//! Compressed public keys, and values prepared from them.

use super::{InsecureHistoricalParameters, KeyId};
use crate::elements::{Elements, SEED_BYTES};
use crate::encrypt::Prepared;
use crate::number::{bits_of, is_below};
use crate::{Ciphertext, Error, ErrorKind, Parameters, random};
use hearith_arith::Engine;
use hearith_arith::natural::Secret;
use hearith_ntt::{Barrett, Ring};
use std::fmt;
use std::sync::OnceLock;

/// The modulus `A_0 = p q_0` and the compressed elements `A_i = chi_i - delta_i`. A seed
/// regenerates the `chi_i`, and the corrections `delta_i` are hardly longer than the secret.
///
/// The key encrypts, adds and multiplies. Batches spread over the cores of rayon's current pool.
pub struct PublicKey {
    parameters: Parameters,
    id: KeyId,
    engine: Engine,
    elements: Elements,
    modulus: Vec<u64>,
    corrections: Vec<u64>,
    prepared: OnceLock<Prepared>,
    products: OnceLock<Products>,
}

/// Values needed to multiply ciphertexts.
pub(crate) struct Products {
    pub(crate) ring: Ring,
    pub(crate) barrett: Barrett,
}

impl PublicKey {
    pub(crate) fn new(
        parameters: Parameters,
        engine: Engine,
        seed: [u8; SEED_BYTES],
        modulus: Vec<u64>,
        corrections: Vec<u64>,
    ) -> Result<Self, Error> {
        engine.available()?;
        let refuse = |what| Err(ErrorKind::MalformedKey { what }.into());
        if modulus.len() != parameters.limbs() || bits_of(&modulus) != u64::from(parameters.lengths().modulus) {
            return refuse("the modulus does not have the length that the parameters state");
        }
        if modulus[0] & 1 == 0 {
            return refuse("the modulus is even");
        }
        if corrections.len() != parameters.key_elements() * parameters.correction_limbs() {
            return refuse("the number of corrections differs from the parameters");
        }
        let most = u64::from(parameters.lengths().secret + parameters.lengths().security) + 1;
        if corrections.chunks(parameters.correction_limbs()).any(|correction| bits_of(correction) > most) {
            return refuse("a correction is too long");
        }
        let id = KeyId::of(&parameters, &seed, &modulus, &corrections);
        let elements = Elements::new(&seed, parameters.lengths().modulus);
        let (prepared, products) = Default::default();
        Ok(PublicKey { parameters, id, engine, elements, modulus, corrections, prepared, products })
    }

    /// Assembles a public key from its parts: [`Parameters::limbs`] limbs of the modulus, and
    /// [`Parameters::key_elements`] corrections of [`Parameters::correction_limbs`] limbs each, one
    /// after another.
    ///
    /// # Errors
    /// [`ErrorKind::MalformedKey`], and [`ErrorKind::Arith`] for an engine that this machine cannot
    /// run.
    pub fn from_parts(
        parameters: Parameters,
        engine: Engine,
        seed: [u8; SEED_BYTES],
        modulus: Vec<u64>,
        corrections: Vec<u64>,
        _: InsecureHistoricalParameters,
    ) -> Result<Self, Error> {
        Self::new(parameters, engine, seed, modulus, corrections)
    }

    /// The parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The key pair's ID.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// The engine.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// The seed of the elements.
    pub fn seed(&self) -> &[u8; SEED_BYTES] {
        self.elements.seed()
    }

    /// `A_0` in limbs, least significant first.
    pub fn modulus(&self) -> &[u64] {
        &self.modulus
    }

    /// The corrections, one after another.
    pub fn corrections(&self) -> &[u64] {
        &self.corrections
    }

    /// An uncompressed element, with as many limbs as the modulus.
    ///
    /// In CNT this is `A_i` for index `i` from 0. In CMNT it is `A_{i,0}`, and from `beta` on
    /// `A_{i - beta,1}`. It serves to inspect keys; encryption does not need it.
    pub fn element(&self, index: usize) -> Vec<u64> {
        let mut element = self.elements.number(index);
        // The difference is negative with a probability of 2^-(gamma - eta - lambda). Adding A_0, a
        // multiple of p, keeps the element valid.
        if hearith_arith::natural::sub_assign(&mut element, self.correction(index)) == 1 {
            hearith_arith::natural::add_assign(&mut element, &self.modulus);
        }
        element
    }

    /// `floor(2^(64 limbs) / A_0)`, for reduction modulo `A_0`.
    ///
    /// # Errors
    /// [`ErrorKind::Ntt`] for more limbs than the engine's transforms support.
    pub fn reciprocal(&self, limbs: usize) -> Result<Vec<u64>, Error> {
        Ok(hearith_ntt::reciprocal(self.engine, &self.modulus, limbs)?)
    }

    pub(crate) fn elements(&self) -> &Elements {
        &self.elements
    }

    pub(crate) fn correction(&self, index: usize) -> &[u64] {
        let limbs = self.parameters.correction_limbs();
        &self.corrections[index * limbs..][..limbs]
    }

    /// Values needed to encrypt, prepared on first use.
    pub(crate) fn prepared(&self) -> Result<&Prepared, Error> {
        if self.prepared.get().is_none() {
            let _ = self.prepared.set(Prepared::new(self)?);
        }
        Ok(self.prepared.get().expect("set above"))
    }

    /// Values needed to multiply ciphertexts, prepared on first use.
    pub(crate) fn products(&self) -> Result<&Products, Error> {
        if self.products.get().is_none() {
            let ring = Ring::new(self.engine, 2 * self.modulus.len())?;
            let barrett = Barrett::new(self.engine, &self.modulus, self.parameters.lengths().modulus as usize)?;
            let _ = self.products.set(Products { ring, barrett });
        }
        Ok(self.products.get().expect("set above"))
    }

    /// A uniform number below `A_0`, by rejection. At most half of the draws are rejected, since
    /// the top bit of `A_0` is set.
    pub(crate) fn uniform(&self) -> Result<Secret, Error> {
        loop {
            let drawn = random::bits(self.modulus.len(), self.parameters.lengths().modulus)?;
            if is_below(&drawn, &self.modulus) {
                return Ok(drawn);
            }
        }
    }

    /// Checks that a ciphertext belongs to this key and is below the modulus.
    pub(crate) fn check(&self, ciphertext: &Ciphertext) -> Result<(), Error> {
        if ciphertext.key_id() != self.id {
            return Err(ErrorKind::OtherKey.into());
        }
        if is_below(ciphertext.value(), &self.modulus) { Ok(()) } else { Err(ErrorKind::OutOfRange.into()) }
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({}, {})", self.id, self.engine)
    }
}
