//! Key files: JSON Web Keys, public or private.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use hearith_columns::EncryptionKey;
use hearith_paillier::{KeyPolicy, PrivateKey, PublicKey};
use serde::Deserialize;
use serde::de::IgnoredAny;
use zeroize::Zeroizing;

use crate::failure::{Failure, name};
use crate::session::Session;

/// More than any key that is supported takes.
const LONGEST: u64 = 1 << 20;

/// A key of either kind.
pub(crate) enum Key {
    /// To encrypt and add with.
    Public(PublicKey),
    /// To decrypt with as well.
    Private(Box<PrivateKey>),
}

impl Key {
    /// Reads a key of either kind and warns if it is insecure.
    pub(crate) fn read(session: &Session, path: &Path) -> Result<Self, Failure> {
        let key = Self::read_quietly(session, path)?;
        session.warn_of(&name(path), key.public());
        Ok(key)
    }

    /// Reads a key of either kind.
    pub(crate) fn read_quietly(session: &Session, path: &Path) -> Result<Self, Failure> {
        let file = name(path);
        let text = text(path).map_err(|error| Failure::reading(&file, error))?;
        Self::parse(session, &text).map_err(|what| Failure::at(&file, what))
    }

    /// The key in the text of a JSON Web Key.
    fn parse(session: &Session, text: &str) -> Result<Self, String> {
        // Whatever the key's size: making an insecure one is refused, using one is warned of.
        let policy = KeyPolicy::AllowInsecure;
        let key = match is_private(text) {
            true => PrivateKey::from_jwk(text, policy, session.engine).map(|key| Self::Private(Box::new(key))),
            false => PublicKey::from_jwk(text, policy, session.engine).map(Self::Public),
        };
        key.map_err(|error| error.to_string())
    }

    /// Reads a private key.
    pub(crate) fn read_private(session: &Session, path: &Path) -> Result<PrivateKey, Failure> {
        match Self::read(session, path)? {
            Self::Private(key) => Ok(*key),
            Self::Public(_) => {
                let what = "a public key: decrypting takes the private key";
                Err(Failure::at(name(path), what))
            }
        }
    }

    /// Reads a public key, or the public half of a private one.
    pub(crate) fn read_public(session: &Session, path: &Path) -> Result<PublicKey, Failure> {
        Ok(Self::read(session, path)?.public().clone())
    }

    /// The public key.
    pub(crate) fn public(&self) -> &PublicKey {
        match self {
            Self::Public(key) => key,
            Self::Private(key) => key.public(),
        }
    }

    /// The key to encrypt with, in its fastest way.
    pub(crate) fn encryption(&self) -> EncryptionKey<'_> {
        match self {
            Self::Public(key) => EncryptionKey::Public(key),
            Self::Private(key) => EncryptionKey::Owner(key),
        }
    }
}

fn text(path: &Path) -> std::io::Result<Zeroizing<String>> {
    let mut file = File::open(path)?;
    // Room for the whole from the start: growing would leave copies of a secret behind.
    let length = file.metadata()?.len().min(LONGEST);
    let mut text = Zeroizing::new(String::with_capacity(length as usize + 1));
    file.by_ref().take(LONGEST).read_to_string(&mut text)?;
    Ok(text)
}

/// Whether a JSON Web Key has the members of a private one.
fn is_private(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Members {
        p: Option<IgnoredAny>,
        q: Option<IgnoredAny>,
        r#pub: Option<IgnoredAny>,
    }
    let members = serde_json::from_str::<Members>(text);
    members.is_ok_and(|key| key.p.is_some() || key.q.is_some() || key.r#pub.is_some())
}
