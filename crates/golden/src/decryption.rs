//! Paillier's decryption by the papers' methods.

mod crt;
mod ecrt;
mod factors;
mod lazy;
mod standard;

use factors::Factors;
use hearith_paillier::{Ciphertexts, Error, ErrorKind, Plaintexts, PrivateKey, PublicKey};
use std::fmt;
use zeroize::Zeroizing;

/// The papers' decryption methods. All return the same plaintexts as [`PrivateKey::decrypt`] and
/// reject the same ciphertexts. All are constant-time in the key, the ciphertext and the plaintext.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decryption {
    /// One power modulo `n^2` with the exponent `lambda = (p - 1)(q - 1)`, times
    /// `mu = lambda^-1 mod n` (\[Paillier99\], section 4; equation 1 of the MESA paper \[HDSST25\]
    /// uses the least common multiple).
    Standard,
    /// Powers modulo `p^2` and `q^2`, combined by the Chinese remainder theorem: \[HDSST25\],
    /// algorithm 3, with all its comparisons.
    Crt,
    /// Powers modulo `p^2` and `q^2` with merged constants and no comparison before the last step:
    /// \[HDSST25\], algorithm 4, which the hardware implements.
    Ecrt,
}

impl Decryption {
    /// All methods.
    pub const ALL: [Decryption; 3] = [Decryption::Standard, Decryption::Crt, Decryption::Ecrt];

    /// The name of the method in reports.
    pub fn name(self) -> &'static str {
        match self {
            Decryption::Standard => "standard",
            Decryption::Crt => "crt",
            Decryption::Ecrt => "ecrt",
        }
    }
}

impl fmt::Display for Decryption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A private key with the values that the papers' methods derive from it. It is wiped when dropped,
/// and `Debug` shows only the ID of the key pair.
///
/// ```
/// use hearith_golden::{Decryption, PaperKey};
/// use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let key = PrivateKey::generate(512, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best())?;
/// let ciphertexts = key.public().zeros(3);
/// let plaintexts = PaperKey::new(&key)?.decrypt(Decryption::Ecrt, &ciphertexts)?;
/// assert_eq!(plaintexts, key.decrypt(&ciphertexts)?);
/// # Ok(())
/// # }
/// ```
pub struct PaperKey {
    public: PublicKey,
    standard: standard::Standard,
    crt: crt::Crt,
    ecrt: ecrt::Ecrt,
}

impl PaperKey {
    /// Derives all values from the primes of a key.
    ///
    /// # Errors
    /// If the arithmetic layer rejects the key's engine.
    pub fn new(key: &PrivateKey) -> Result<Self, Error> {
        let factors = Factors::new(key)?;
        Ok(PaperKey {
            public: key.public().clone(),
            standard: standard::Standard::new(&factors)?,
            crt: crt::Crt::new(&factors)?,
            ecrt: ecrt::Ecrt::new(&factors)?,
        })
    }

    /// Decrypts every ciphertext with the given method.
    ///
    /// # Errors
    /// As [`PrivateKey::decrypt`].
    pub fn decrypt(&self, way: Decryption, ciphertexts: &Ciphertexts) -> Result<Plaintexts, Error> {
        let (expected, found) = (self.public.id(), ciphertexts.key_id());
        if expected != found {
            return Err(ErrorKind::WrongKey { expected, found }.into());
        }
        let c = ciphertexts.batch();
        let residues = match way {
            Decryption::Standard => self.standard.decrypt(c),
            Decryption::Crt => self.crt.decrypt(c),
            Decryption::Ecrt => self.ecrt.decrypt(c),
        }?;
        self.public.plaintexts_from_be(&Zeroizing::new(residues.to_be_bytes(self.public.plaintext_bytes())))
    }
}

impl fmt::Debug for PaperKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PaperKey({})", self.public.id())
    }
}
