//! Public keys: compressed, and what is prepared from them.

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

/// The modulus `A_0 = p q_0` and, compressed, the elements `A_i = chi_i - delta_i`: a seed from
/// which the `chi_i` are made again, and the corrections `delta_i`, which are hardly longer than
/// the secret.
///
/// Encrypts, adds and multiplies; batches spread over the cores of rayon's current pool.
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

/// What products of ciphertexts need.
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
            return refuse("the modulus is not of the parameters' length");
        }
        if modulus[0] & 1 == 0 {
            return refuse("the modulus is even");
        }
        if corrections.len() != parameters.key_elements() * parameters.correction_limbs() {
            return refuse("there are not as many corrections as the parameters say");
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

    /// A public key from its parts: [`Parameters::limbs`] limbs of the modulus, and
    /// [`Parameters::correction_limbs`] of each of [`Parameters::key_elements`] corrections, one
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

    /// The key pair's id.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// The engine.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// What the elements are made from.
    pub fn seed(&self) -> &[u8; SEED_BYTES] {
        self.elements.seed()
    }

    /// `A_0`, in limbs, least significant first.
    pub fn modulus(&self) -> &[u64] {
        &self.modulus
    }

    /// The corrections, one after another.
    pub fn corrections(&self) -> &[u64] {
        &self.corrections
    }

    /// An element in full: `A_i` of CNT for `i` from 0, of CMNT `A_{i,0}`, and from `beta` on
    /// `A_{i - beta,1}`. As many limbs as the modulus. For whoever looks at keys; encryption does
    /// without.
    pub fn element(&self, index: usize) -> Vec<u64> {
        let mut element = self.elements.number(index);
        // Below zero with a probability of 2^-(gamma - eta - lambda): the element is then one more
        // multiple of A_0.
        if hearith_arith::natural::sub_assign(&mut element, self.correction(index)) == 1 {
            hearith_arith::natural::add_assign(&mut element, &self.modulus);
        }
        element
    }

    /// `floor(2^(64 limbs) / A_0)`, for whoever reduces modulo `A_0`.
    ///
    /// # Errors
    /// [`ErrorKind::Ntt`] for more limbs than the engine's transforms take.
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

    /// What encryption needs, prepared by the first that asks.
    pub(crate) fn prepared(&self) -> Result<&Prepared, Error> {
        if self.prepared.get().is_none() {
            let _ = self.prepared.set(Prepared::new(self)?);
        }
        Ok(self.prepared.get().expect("set above"))
    }

    /// What products of ciphertexts need, prepared by the first that asks.
    pub(crate) fn products(&self) -> Result<&Products, Error> {
        if self.products.get().is_none() {
            let ring = Ring::new(self.engine, 2 * self.modulus.len())?;
            let barrett = Barrett::new(self.engine, &self.modulus, self.parameters.lengths().modulus as usize)?;
            let _ = self.products.set(Products { ring, barrett });
        }
        Ok(self.products.get().expect("set above"))
    }

    /// A number uniform below `A_0`; at most half of those drawn are dropped, since its top bit is
    /// set.
    pub(crate) fn uniform(&self) -> Result<Secret, Error> {
        loop {
            let drawn = random::bits(self.modulus.len(), self.parameters.lengths().modulus)?;
            if is_below(&drawn, &self.modulus) {
                return Ok(drawn);
            }
        }
    }

    /// Makes sure that a ciphertext belongs to this key and is below the modulus.
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
