//! Secret keys in files: the organiser's, the board's, trustees', and voters' credentials.

use crate::canonical::{Hash, parse, to_text};
use crate::error::ErrorKind;
use crate::signature::Signer;
use base64ct::{Base64UrlUnpadded, Encoding};
use serde::{Deserialize, Serialize};
use std::fmt;
use zeroize::Zeroizing;

/// Whose a secret key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holder {
    /// The board's keeper.
    Board,
    /// The organiser.
    Organiser,
    /// The authority that lists voters and makes their credentials.
    Registrar,
    /// A trustee, who signs shares.
    Trustee,
    /// A voter.
    Voter,
}

/// A secret key as a line of a file. Wiped when dropped, and so is every copy that reading and
/// writing make; `Debug` does not show it.
pub struct SecretKey {
    election: Option<Hash>,
    kind: Holder,
    secret: Zeroizing<Vec<u8>>,
    voter: Option<String>,
}

/// A line as it is read: the secret is borrowed, so that the parser copies nothing.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    election: Option<Hash>,
    kind: Holder,
    secret: &'a str,
    voter: Option<String>,
}

impl SecretKey {
    /// The organiser's, the board's, the registrar's or a trustee's, made before there is an
    /// election.
    pub fn of_office(kind: Holder, signer: &Signer) -> Self {
        SecretKey { election: None, kind, secret: secret_of(signer), voter: None }
    }

    /// A voter's credential.
    pub fn of_voter(election: Hash, voter: &str, signer: &Signer) -> Self {
        let secret = secret_of(signer);
        SecretKey { election: Some(election), kind: Holder::Voter, secret, voter: Some(voter.to_owned()) }
    }

    /// The key that a line holds.
    ///
    /// # Errors
    /// If it is none in canonical form, or not one of this holder.
    pub fn from_line(line: &str, kind: Holder) -> Result<Self, ErrorKind> {
        let what = "a secret key";
        let Line { election, kind: found, secret, voter } = parse(what, line)?;
        let key = SecretKey { election, kind: found, secret: decoded(secret), voter };
        if *key.to_line() != *line {
            return Err(ErrorKind::NotCanonical { what });
        }
        let problem = match kind {
            Holder::Board => "not the board's key",
            Holder::Organiser => "not the organiser's key",
            Holder::Registrar => "not the registrar's key",
            Holder::Trustee => "not a trustee's key to sign with",
            Holder::Voter => "not a voter's credential",
        };
        let fits = key.kind == kind && key.voter.is_some() == (kind == Holder::Voter);
        if fits { Ok(key) } else { Err(ErrorKind::Secret { problem }) }
    }

    /// The line, in the clear.
    pub fn to_line(&self) -> Zeroizing<String> {
        let (election, kind, voter) = (to_text(&self.election), to_text(&self.kind), to_text(&self.voter));
        let mut text = Zeroizing::new(vec![0; Base64UrlUnpadded::encoded_len(&self.secret)]);
        let secret = Base64UrlUnpadded::encode(&self.secret, &mut text).unwrap_or_default();
        let parts =
            ["{\"election\":", &election, ",\"kind\":", &kind, ",\"secret\":\"", secret, "\",\"voter\":", &voter, "}"];
        // All of it at once: a string that grows leaves its former text behind.
        let mut line = Zeroizing::new(String::with_capacity(parts.iter().map(|part| part.len()).sum()));
        parts.into_iter().for_each(|part| line.push_str(part));
        line
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

/// The bytes of a text in base64url; none of one that is not, which is written otherwise than it
/// was read.
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
        let key = SecretKey::from_line(&line, Holder::Voter).unwrap();
        assert_eq!((key.voter(), key.election()), (Some("Ada"), Some(Hash::of(&[]))));
        assert_eq!(key.signer().unwrap().public(), signer.public());
        assert_eq!(format!("{key:?}"), "SecretKey(Voter)");
        assert!(SecretKey::from_line(&line, Holder::Organiser).is_err());
        let line = SecretKey::of_office(Holder::Board, &signer).to_line();
        assert!(SecretKey::from_line(&line, Holder::Board).is_ok());
        let trustee = SecretKey::of_office(Holder::Trustee, &signer).to_line();
        assert!(SecretKey::from_line(&trustee, Holder::Trustee).is_ok());
        assert!(SecretKey::from_line(&trustee, Holder::Board).is_err());
        assert!(SecretKey::from_line(&line, Holder::Trustee).is_err());
        assert!(SecretKey::from_line(&line.replace("board", "voter"), Holder::Voter).is_err());
        assert!(SecretKey::from_line(&line.replace("null", "\"x\""), Holder::Board).is_err());
    }
}
