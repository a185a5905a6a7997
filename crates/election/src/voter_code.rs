//! A voter's credential as a code that can be typed: 128 random bits, from which the voter's key
//! for an election is derived.
//!
//! The code does not name the election, but the derived key depends on it. Under another manifest,
//! such as one with an attacker's encryption key, the code gives a key that nobody could have
//! registered without knowing the code.

use crate::canonical::Hash;
use crate::code::{self, CodeKind};
use crate::error::ErrorKind;
use crate::signature::Signer;
use sha2::{Digest, Sha256};
use std::fmt;
use zeroize::Zeroizing;

const SEED_BYTES: usize = 16;

/// A voter's code. It is wiped when dropped, like every text of it. `Debug` does not show it.
pub struct VoterCode(Zeroizing<[u8; SEED_BYTES]>);

impl VoterCode {
    /// Generates a code.
    ///
    /// # Errors
    /// If the random generator fails.
    pub fn generate() -> Result<Self, ErrorKind> {
        let mut seed = Zeroizing::new([0; SEED_BYTES]);
        getrandom::fill(&mut *seed)?;
        Ok(VoterCode(seed))
    }

    /// The code in the form that voters type: 28 characters in groups of four.
    pub fn shown(&self) -> Zeroizing<String> {
        code::shown(&self.0, CodeKind::Credential, " ")
    }

    /// The code in the form used in links: 28 characters.
    pub fn in_link(&self) -> Zeroizing<String> {
        code::shown(&self.0, CodeKind::Credential, "")
    }

    /// Derives the voter's key for an election.
    ///
    /// # Errors
    /// None: every hash is the secret of a key.
    pub fn signer(&self, election: &Hash) -> Result<Signer, ErrorKind> {
        let mut hash = Sha256::new();
        hash.update(format!("hearith-election 1 credential\n{election}\n"));
        hash.update(*self.0);
        let secret = Zeroizing::new(<[u8; 32]>::from(hash.finalize()));
        Signer::from_secret(&*secret)
    }
}

impl fmt::Debug for VoterCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("VoterCode")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values are those of the tests of the web pages.
    #[test]
    fn keys_are_those_of_the_pages() {
        let code = VoterCode(Zeroizing::new(std::array::from_fn(|at| at as u8)));
        assert_eq!(*code.shown(), "aaaq eaye auda ocaj bifq ydio b46j");
        assert_eq!(code.shown().replace(' ', ""), *code.in_link());
        let key = |election: u8| *code.signer(&Hash([election; 32])).unwrap().secret();
        let expected = "f3b2bc2b265c452b8defe8e869eef4e36f6c7a56c283c5f293f836e4fcefe4e0";
        assert_eq!(Hash(key(0xab)).to_string(), expected);
        assert_ne!(key(0xac), key(0xab));
        assert_ne!(*VoterCode::generate().unwrap().in_link(), *VoterCode::generate().unwrap().in_link());
        assert_eq!(format!("{code:?}"), "VoterCode");
    }
}
