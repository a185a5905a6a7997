//! Files of secret keys: those of the organiser, the board and the trustees, and voters'
//! credentials.

use crate::canonical::{Hash, parse, to_text};
use crate::error::ErrorKind;
use crate::signature::Signer;
use base64ct::{Base64UrlUnpadded, Encoding};
use serde::{Deserialize, Serialize};
use std::fmt;
use zeroize::Zeroizing;

/// The holder of a secret key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyRole {
    /// The operator of the board.
    Board,
    /// The organiser.
    Organiser,
    /// The authority that registers voters and issues their credentials.
    Registrar,
    /// A trustee, who signs shares.
    Trustee,
    /// A voter.
    Voter,
}

/// A secret key as a line of a file. It is wiped when dropped, like every copy that reading and
/// writing make. `Debug` does not show it.
pub struct SecretKey {
    election: Option<Hash>,
    kind: KeyRole,
    secret: Zeroizing<Vec<u8>>,
    voter: Option<String>,
}

/// A parsed line. The secret is borrowed so that the parser makes no copy.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    election: Option<Hash>,
    kind: KeyRole,
    secret: &'a str,
    voter: Option<String>,
}

impl SecretKey {
    /// The secret key of the organiser, the board, the registrar or a trustee, which exists before
    /// the election.
    pub fn of_office(kind: KeyRole, signer: &Signer) -> Self {
        SecretKey { election: None, kind, secret: secret_of(signer), voter: None }
    }

    /// A voter's credential.
    pub fn of_voter(election: Hash, voter: &str, signer: &Signer) -> Self {
        let secret = secret_of(signer);
        SecretKey { election: Some(election), kind: KeyRole::Voter, secret, voter: Some(voter.to_owned()) }
    }

    /// Parses the key of a line.
    ///
    /// # Errors
    /// If the line is not a key in canonical form, or has another holder.
    pub fn from_line(line: &str, kind: KeyRole) -> Result<Self, ErrorKind> {
        let what = "a secret key";
        let Line { election, kind: found, secret, voter } = parse(what, line)?;
        let key = SecretKey { election, kind: found, secret: decoded(secret), voter };
        if *key.to_line() != *line {
            return Err(ErrorKind::NotCanonical { what });
        }
        let problem = match kind {
            KeyRole::Board => "not the board's key",
            KeyRole::Organiser => "not the organiser's key",
            KeyRole::Registrar => "not the registrar's key",
            KeyRole::Trustee => "not a trustee's signing key",
            KeyRole::Voter => "not a voter's credential",
        };
        let fits = key.kind == kind && key.voter.is_some() == (kind == KeyRole::Voter);
        if fits { Ok(key) } else { Err(ErrorKind::Secret { problem }) }
    }

    /// The line, with the secret in plain text.
    pub fn to_line(&self) -> Zeroizing<String> {
        let (election, kind, voter) = (to_text(&self.election), to_text(&self.kind), to_text(&self.voter));
        let mut text = Zeroizing::new(vec![0; Base64UrlUnpadded::encoded_len(&self.secret)]);
        let secret = Base64UrlUnpadded::encode(&self.secret, &mut text).unwrap_or_default();
        let parts =
            ["{\"election\":", &election, ",\"kind\":", &kind, ",\"secret\":\"", secret, "\",\"voter\":", &voter, "}"];
        // The full capacity at once: a string that grows leaves copies of the secret in memory.
        let mut line = Zeroizing::new(String::with_capacity(parts.iter().map(|part| part.len()).sum()));
        parts.into_iter().for_each(|part| line.push_str(part));
        line
    }

    /// The election of the key, if it was known.
    pub fn election(&self) -> Option<Hash> {
        self.election
    }

    /// The voter, if the key is a voter's.
    pub fn voter(&self) -> Option<&str> {
        self.voter.as_deref()
    }

    /// The signer with this key.
    ///
    /// # Errors
    /// If the secret does not have 32 bytes.
    pub fn signer(&self) -> Result<Signer, ErrorKind> {
        Signer::from_secret(&self.secret)
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey({:?})", self.kind)
    }
}

fn secret_of(signer: &Signer) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(signer.secret().to_vec())
}

/// Decodes a base64url text. An invalid text gives no bytes, and the line written from them then
/// differs from the one read.
fn decoded(text: &str) -> Zeroizing<Vec<u8>> {
    let mut bytes = Zeroizing::new(vec![0; text.len()]);
    let length = Base64UrlUnpadded::decode(text, &mut bytes).map_or(0, <[u8]>::len);
    bytes.truncate(length);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_they_are_written_and_by_their_holders_alone() {
        let signer = Signer::generate().unwrap();
        let line = SecretKey::of_voter(Hash::of(&[]), "Ada", &signer).to_line();
        let key = SecretKey::from_line(&line, KeyRole::Voter).unwrap();
        assert_eq!((key.voter(), key.election()), (Some("Ada"), Some(Hash::of(&[]))));
        assert_eq!(key.signer().unwrap().public(), signer.public());
        assert_eq!(format!("{key:?}"), "SecretKey(Voter)");
        assert!(SecretKey::from_line(&line, KeyRole::Organiser).is_err());
        let line = SecretKey::of_office(KeyRole::Board, &signer).to_line();
        assert!(SecretKey::from_line(&line, KeyRole::Board).is_ok());
        let trustee = SecretKey::of_office(KeyRole::Trustee, &signer).to_line();
        assert!(SecretKey::from_line(&trustee, KeyRole::Trustee).is_ok());
        assert!(SecretKey::from_line(&trustee, KeyRole::Board).is_err());
        assert!(SecretKey::from_line(&line, KeyRole::Trustee).is_err());
        assert!(SecretKey::from_line(&line.replace("board", "voter"), KeyRole::Voter).is_err());
        assert!(SecretKey::from_line(&line.replace("null", "\"x\""), KeyRole::Board).is_err());
    }
}
