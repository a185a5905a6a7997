//! Secret keys in files: the organiser's, the board's, and voters' credentials.

use crate::canonical::{Bytes, Hash, from_text, to_text};
use crate::error::ErrorKind;
use crate::signature::Signer;
use serde::{Deserialize, Serialize};
use std::fmt;
use zeroize::{Zeroize, Zeroizing};

/// Whose a secret key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holder {
    /// The board's keeper.
    Board,
    /// The organiser.
    Organiser,
    /// A voter.
    Voter,
}

/// A secret key as a line of a file. Wiped when dropped; `Debug` does not show it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretKey {
    election: Option<Hash>,
    kind: Holder,
    secret: Bytes,
    voter: Option<String>,
}

impl SecretKey {
    /// The organiser's or the board's, made before there is an election.
    pub fn of_office(kind: Holder, signer: &Signer) -> Self {
        SecretKey { election: None, kind, secret: Bytes(signer.secret().to_vec()), voter: None }
    }

    /// A voter's credential.
    pub fn of_voter(election: Hash, voter: &str, signer: &Signer) -> Self {
        let secret = Bytes(signer.secret().to_vec());
        SecretKey { election: Some(election), kind: Holder::Voter, secret, voter: Some(voter.to_owned()) }
    }

    /// The key that a line holds.
    ///
    /// # Errors
    /// If it is none in canonical form, or not one of this holder.
    pub fn from_line(line: &str, kind: Holder) -> Result<Self, ErrorKind> {
        let key: SecretKey = from_text("a secret key", line)?;
        let problem = match kind {
            Holder::Board => "not the board's key",
            Holder::Organiser => "not the organiser's key",
            Holder::Voter => "not a voter's credential",
        };
        let fits = key.kind == kind && key.voter.is_some() == (kind == Holder::Voter);
        if fits { Ok(key) } else { Err(ErrorKind::Secret { problem }) }
    }

    /// The line, in the clear.
    pub fn to_line(&self) -> Zeroizing<String> {
        Zeroizing::new(to_text(self))
    }

    /// The election that it is for, if that was known.
    pub fn election(&self) -> Option<Hash> {
        self.election
    }

    /// The voter, if it is one's.
    pub fn voter(&self) -> Option<&str> {
        self.voter.as_deref()
    }

    /// What signs with it.
    ///
    /// # Errors
    /// If it has not 32 bytes.
    pub fn signer(&self) -> Result<Signer, ErrorKind> {
        Signer::from_secret(&self.secret.0)
    }
}

impl Drop for SecretKey {
    fn drop(&mut self) {
        self.secret.0.zeroize();
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey({:?})", self.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_they_are_written_and_by_their_holders_alone() {
        let signer = Signer::generate().unwrap();
        let line = SecretKey::of_voter(Hash::of(&[]), "Ada", &signer).to_line();
        let key = SecretKey::from_line(&line, Holder::Voter).unwrap();
        assert_eq!((key.voter(), key.election()), (Some("Ada"), Some(Hash::of(&[]))));
        assert_eq!(key.signer().unwrap().public(), signer.public());
        assert_eq!(format!("{key:?}"), "SecretKey(Voter)");
        assert!(SecretKey::from_line(&line, Holder::Organiser).is_err());
        let line = SecretKey::of_office(Holder::Board, &signer).to_line();
        assert!(SecretKey::from_line(&line, Holder::Board).is_ok());
        assert!(SecretKey::from_line(&line.replace("board", "voter"), Holder::Voter).is_err());
        assert!(SecretKey::from_line(&line.replace("null", "\"x\""), Holder::Board).is_err());
    }
}
