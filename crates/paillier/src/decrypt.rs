//! Decryption, four ways.

mod crt;
mod dual;
mod ecrt;
mod standard;
mod unjudged;

use crate::ciphertexts::check_key;
use crate::key::factors::Factors;
use crate::lazy::Lazy;
use crate::locked::Locked;
use crate::{Ciphertexts, Error, ErrorKind, Plaintexts, PrivateKey};
use std::fmt;
use std::str::FromStr;

/// The ways to decrypt. All give the same plaintexts and refuse the same ciphertexts; all are constant time in the key, the
/// ciphertext and the plaintext.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Decryption {
    /// One power modulo `n^2` with the exponent `lambda = (p - 1)(q - 1)`, times `mu = lambda^-1 mod n` (Paillier 1999,
    /// section 4, and equation 1 of the MESA paper, with the least common multiple).
    Standard,
    /// Powers modulo `p^2` and `q^2`, put together by the Chinese remainder theorem: Algorithm 3 of the MESA paper, with
    /// all its judgements.
    Crt,
    /// Powers modulo `p^2` and `q^2` with merged constants and no judgement before the last step: Algorithm 4 of the MESA
    /// paper.
    Ecrt,
    /// Powers modulo `p^2` and `q^2` with arithmetic modulo `p` and `q`, side by side. Their high parts are `L` of the powers:
    /// nothing is divided. The fastest.
    #[default]
    Dual,
}

impl Decryption {
    /// All of them.
    pub const ALL: [Decryption; 4] = [Decryption::Standard, Decryption::Crt, Decryption::Ecrt, Decryption::Dual];

    /// The name by which users choose it.
    pub fn name(self) -> &'static str {
        match self {
            Decryption::Standard => "standard",
            Decryption::Crt => "crt",
            Decryption::Ecrt => "ecrt",
            Decryption::Dual => "dual",
        }
    }
}

impl fmt::Display for Decryption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Decryption {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let found = Decryption::ALL.into_iter().find(|algorithm| algorithm.name() == name);
        Ok(found.ok_or(ErrorKind::UnknownName { what: "decryption", known: "standard, crt, ecrt, dual" })?)
    }
}

impl PrivateKey {
    /// Decrypts every ciphertext, by [`Decryption::Dual`].
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey), or [`CiphertextSharesFactor`](crate::ErrorKind::CiphertextSharesFactor) for the first row that shares a factor with `n`.
    pub fn decrypt(&self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, Error> {
        self.decrypt_with(Decryption::Dual, ciphertexts)
    }

    /// Decrypts every ciphertext in the given way.
    ///
    /// # Errors
    /// As [`PrivateKey::decrypt`].
    pub fn decrypt_with(&self, way: Decryption, ciphertexts: &Ciphertexts) -> Result<Plaintexts, Error> {
        let (public, factors, ways) = (self.public(), self.factors(), self.decryptors());
        check_key(public.id(), ciphertexts.key_id())?;
        let c = ciphertexts.batch();
        let residues = match way {
            Decryption::Standard => {
                ways.standard.get(|| Ok(standard::Standard::new(public, factors, &ways.dual)))?.decrypt(public, c)
            }
            Decryption::Crt => ways.crt.get(|| crt::Crt::new(public, factors))?.decrypt(factors, c),
            Decryption::Ecrt => ways.ecrt.get(|| ecrt::Ecrt::new(public, factors))?.decrypt(factors, c),
            Decryption::Dual => ways.dual.decrypt(factors, c),
        }?;
        Ok(Plaintexts::new(public.id(), public.plaintext_bytes(), residues))
    }
}

/// What the ways to decrypt derive from the key; all but the default one when they are first used.
pub(crate) struct Decryptors {
    standard: Lazy<standard::Standard>,
    crt: Lazy<crt::Crt>,
    ecrt: Lazy<ecrt::Ecrt>,
    dual: Locked<dual::Dual>,
}

impl Decryptors {
    pub(crate) fn new(factors: &Factors) -> Self {
        Decryptors {
            standard: Lazy::new(),
            crt: Lazy::new(),
            ecrt: Lazy::new(),
            dual: Locked::new(dual::Dual::new(factors)),
        }
    }
}
