//! BFV columns: the commands with a BFV key.

mod converting;
mod decrypt;
mod encrypt;
mod inspect;
mod sum;

use hearith_bfv::{PrivateKey, PublicKey};
use hearith_columns::lattice::LatticeKey;
use hearith_device::DeviceProvider;
use hearith_paillier::{Engine, KeyKind, SecretText};
use zeroize::Zeroizing;

use crate::args::Remote;
use crate::failure::CliError;
use crate::keys::sealed;
use crate::session::Session;
use converting::Converting;

pub(crate) use decrypt::decrypt;
pub(crate) use encrypt::encrypt;
pub(crate) use inspect::{describe_column, describe_key};
pub(crate) use sum::sum;

/// A public or private key.
pub(crate) enum Key {
    /// A key that encrypts and adds.
    Public(PublicKey),
    /// A key that also decrypts.
    Private(Box<PrivateKey>),
}

impl Key {
    /// Parses the text of a key file.
    pub(crate) fn parse(text: &SecretText, engine: Engine) -> Result<Self, hearith_bfv::Error> {
        match text.kind() {
            KeyKind::Public => PublicKey::from_text(text.as_str(), engine).map(Self::Public),
            _ => PrivateKey::from_text(text.as_str(), engine).map(|key| Self::Private(Box::new(key))),
        }
    }

    /// The public key.
    pub(crate) fn public(&self) -> &PublicKey {
        match self {
            Self::Public(key) => key,
            Self::Private(key) => key.public(),
        }
    }

    /// The same key, which uses a device to convert plaintexts into residues, if there is one.
    fn converting(self, by: Option<&Converting>) -> Self {
        match (self, by.map(Converting::converter)) {
            (Self::Public(key), Some(by)) => Self::Public(key.with_converter(by)),
            (Self::Private(key), Some(by)) => Self::Private(Box::new(key.with_converter(by))),
            (key, None) => key,
        }
    }

    /// The key to encrypt with, in the form that produces the smallest ciphertexts.
    fn encryption(&self) -> LatticeKey<'_> {
        match self {
            Self::Public(key) => LatticeKey::Public(key),
            Self::Private(key) => LatticeKey::Owner(key),
        }
    }
}

/// The file text of a private key, encrypted if there is a passphrase.
pub(crate) fn private_text(key: &PrivateKey, passphrase: Option<&SecretText>) -> Result<Zeroizing<String>, CliError> {
    // The IDs of both schemes have the same form.
    let id = key.public().id().to_string().parse().map_err(CliError::new)?;
    sealed(key.to_text(), id, passphrase)
}

/// Rejects services and devices that support only the Paillier scheme.
fn check_options(session: &Session, remote: &Remote, unchecked_device: bool) -> Result<(), CliError> {
    check_remote(remote)?;
    session.trust(unchecked_device)?;
    session.named_device().map_or(Ok(()), |device| Err(no_keys(device)))
}

fn check_remote(remote: &Remote) -> Result<(), CliError> {
    match remote.is_asked_for() {
        true => Err(CliError::new("--remote works with Paillier keys only")),
        false => Ok(()),
    }
}

/// The failure for a device that does not support keys of this scheme.
fn no_keys(device: &dyn DeviceProvider) -> CliError {
    CliError::new(format!("the engine '{}' does not support BFV keys", device.system().name))
}
