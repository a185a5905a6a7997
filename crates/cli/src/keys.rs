//! Key files: public or private JSON Web Keys, in the clear or encrypted under a passphrase.

use std::path::Path;

use hearith_bfv::MAX_KEY_TEXT;
use hearith_columns::{EncryptionKey, SigningKey, VerifyingKey, is_signing_key};
use hearith_paillier::{
    DEFAULT_ITERATIONS, EncryptedJwk, Error, ErrorKind, KeyId, KeyKind, KeyPolicy, PrivateKey, PublicKey, SecretText,
};
use hearith_threshold::{KeyShare, VerificationKeys};
use zeroize::Zeroizing;

use crate::failure::{CliError, eprint_line, name};
use crate::lattice;
use crate::session::Session;

/// The file text of a private key, encrypted if there is a passphrase.
pub(crate) fn sealed(
    text: Zeroizing<String>,
    id: KeyId,
    passphrase: Option<&SecretText>,
) -> Result<Zeroizing<String>, CliError> {
    let Some(passphrase) = passphrase else { return Ok(text) };
    let sealed = EncryptedJwk::seal(&text, id, passphrase.first_line(), DEFAULT_ITERATIONS);
    sealed.map(Zeroizing::new).map_err(CliError::new)
}

/// A key file that was read but not yet parsed.
pub(crate) struct KeyFile {
    name: String,
    text: SecretText,
}

impl KeyFile {
    /// Reads a file. Warns if it contains a private key that others can read.
    pub(crate) fn open(path: &Path) -> Result<Self, CliError> {
        let name = name(path);
        let text = SecretText::open_long(path, MAX_KEY_TEXT).map_err(|error| CliError::reading(&name, error))?;
        if text.is_shared() && text.kind() != KeyKind::Public {
            let what = "other users can read this private key (chmod 600 fixes it)";
            eprint_line(&format!("{name}: warning: {what}"));
        }
        Ok(Self { name, text })
    }

    /// The file as the user named it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The kind of key in the file.
    pub(crate) fn kind(&self) -> KeyKind {
        self.text.kind()
    }

    /// Returns the key, after asking for its passphrase if it has one. Warns if the key is
    /// insecure.
    pub(crate) fn any(&self, session: &Session) -> Result<AnyKey, CliError> {
        let key = self.opened(session, |text| self.parse(text, session.policy, session))?;
        self.warn(session, &key);
        Ok(key)
    }

    fn warn(&self, session: &Session, key: &AnyKey) {
        if let AnyKey::Paillier(key) = key {
            session.warn_insecure_key(&self.name, key.public());
        }
    }

    /// Like `any`, but accepts only a Paillier key.
    pub(crate) fn key(&self, session: &Session) -> Result<Key, CliError> {
        match self.any(session)? {
            AnyKey::Paillier(key) => Ok(key),
            AnyKey::Lattice(_) => Err(CliError::at(&self.name, "a BFV key: this command needs a Paillier key")),
        }
    }

    /// Applies `read` to the text, after asking for its passphrase if it has one.
    fn opened<T>(
        &self,
        session: &Session,
        read: impl FnOnce(&SecretText) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        if self.kind() != KeyKind::Encrypted {
            return read(&self.text);
        }
        let passphrase = session.passphrases.ask(&self.name)?;
        read(&self.text.decrypt(passphrase.first_line()).map_err(|error| self.fault(&error))?)
    }

    /// Returns a private signing key, after asking for its passphrase.
    pub(crate) fn signing(&self, session: &Session) -> Result<SigningKey, CliError> {
        self.opened(session, |text| self.signing_in(text))
    }

    /// Returns the signers' public keys: a single one, or a set.
    pub(crate) fn signers(&self) -> Result<Vec<VerifyingKey>, CliError> {
        match self.kind() {
            KeyKind::Encrypted => {
                Err(CliError::at(&self.name, "a private key: checking signatures needs the public key"))
            }
            _ => VerifyingKey::all_from_jwk(self.text.as_str()).map_err(|error| CliError::at(&self.name, error)),
        }
    }

    /// Returns a private key for signing or encryption, after asking for its passphrase, or a
    /// public encryption key.
    pub(crate) fn any_kind(&self, session: &Session) -> Result<AnyKind, CliError> {
        let key = self.opened(session, |text| match is_signing_key(text.as_str()) {
            true => self.signing_in(text).map(AnyKind::Signs),
            false => self.parse(text, session.policy, session).map(AnyKind::Encrypts),
        })?;
        if let AnyKind::Encrypts(key) = &key {
            self.warn(session, key);
        }
        Ok(key)
    }

    fn signing_in(&self, text: &SecretText) -> Result<SigningKey, CliError> {
        SigningKey::from_jwk(text.as_str()).map_err(|error| CliError::at(&self.name, error))
    }

    /// Returns a trustee's share of a private key.
    pub(crate) fn share(&self, session: &Session) -> Result<KeyShare, CliError> {
        let share = self.opened(session, |text| match text.kind() {
            KeyKind::Share => KeyShare::from_json(text.as_str(), session.policy, session.engine)
                .map_err(|error| self.fault_of_sharing(&error)),
            KeyKind::Public => Err(CliError::at(&self.name, "a public key: a trustee decrypts with share-N.json")),
            _ => Err(CliError::at(&self.name, "a private key: `hearith decrypt` decrypts with it alone")),
        })?;
        session.warn_insecure_key(&self.name, share.key());
        Ok(share)
    }

    /// Returns the keys that verify shares.
    pub(crate) fn verification(&self, session: &Session) -> Result<VerificationKeys, CliError> {
        let verification = match self.kind() {
            KeyKind::Public if self.is_of_one_holder() => {
                Err(CliError::at(&self.name, "this key does not verify shares: use verification.json"))
            }
            KeyKind::Public => VerificationKeys::from_json(self.text.as_str(), session.policy, session.engine)
                .map_err(|error| self.fault_of_sharing(&error)),
            _ => Err(CliError::at(&self.name, "a private key: use verification.json")),
        }?;
        session.warn_insecure_key(&self.name, verification.key());
        Ok(verification)
    }

    /// Whether the file is a public key without information about trustees.
    fn is_of_one_holder(&self) -> bool {
        let members = serde_json::from_str::<serde_json::Value>(self.text.as_str());
        members.is_ok_and(|members| members.get("n").is_some() && members.get("shared").is_none())
    }

    fn fault_of_sharing(&self, error: &hearith_threshold::Error) -> CliError {
        let failure = CliError::at(&self.name, error.clone());
        match error.kind() {
            hearith_threshold::ErrorKind::Scheme(ErrorKind::InsecureKey(_)) => failure.with_note("--insecure-key"),
            _ => failure,
        }
    }

    fn parse(&self, text: &SecretText, policy: KeyPolicy, session: &Session) -> Result<AnyKey, CliError> {
        if is_signing_key(text.as_str()) {
            return Err(CliError::at(&self.name, "a signing key: this needs an encryption key"));
        }
        match hearith_bfv::is_key(text.as_str()) {
            true => lattice::Key::parse(text, session.engine)
                .map(AnyKey::Lattice)
                .map_err(|error| CliError::at(&self.name, error)),
            false => Key::parse(text, policy, session).map(AnyKey::Paillier).map_err(|error| self.fault(&error)),
        }
    }

    fn fault(&self, error: &Error) -> CliError {
        with_hint(CliError::at(&self.name, error.clone()), error)
    }
}

/// Adds the option that helps with a key's error to a failure.
pub(crate) fn with_hint(failure: CliError, error: &Error) -> CliError {
    match error.kind() {
        ErrorKind::InsecureKey(_) => failure.with_note("--insecure-key"),
        _ => failure,
    }
}

/// The error for a public key where a private one is needed.
pub(crate) const PUBLIC: &str = "a public key: decrypting needs the private key";

/// A key for encryption or for signing.
pub(crate) enum AnyKind {
    /// A key that encrypts or decrypts.
    Encrypts(AnyKey),
    /// A key that signs.
    Signs(SigningKey),
}

/// A key of either scheme.
pub(crate) enum AnyKey {
    /// A Paillier key.
    Paillier(Key),
    /// A key of the lattice scheme.
    Lattice(lattice::Key),
}

impl AnyKey {
    /// Reads a public or private key of either scheme, and warns if it is insecure.
    pub(crate) fn read(session: &Session, path: &Path) -> Result<Self, CliError> {
        KeyFile::open(path)?.any(session)
    }
}

/// A public or private key.
pub(crate) enum Key {
    /// A key that encrypts and adds.
    Public(PublicKey),
    /// A key that also decrypts.
    Private(Box<PrivateKey>),
}

/// The contents of a key file for display.
pub(crate) enum Shown {
    /// A cleartext key, which may be insecure.
    Key(AnyKey),
    /// A public key whose private key is shared.
    Shared(VerificationKeys),
    /// A trustee's share, in the clear.
    Share(KeyShare),
    /// A key encrypted under a passphrase, which is not asked for.
    Encrypted(EncryptedJwk),
    /// The public key of a signer, and whether the file also contains the private key.
    Signs(VerifyingKey, bool),
}

impl Key {
    /// Reads a public or private key and warns if it is insecure.
    pub(crate) fn read(session: &Session, path: &Path) -> Result<Self, CliError> {
        KeyFile::open(path)?.key(session)
    }

    /// Reads a key for display, not for use.
    pub(crate) fn show(session: &Session, path: &Path) -> Result<Shown, CliError> {
        let file = KeyFile::open(path)?;
        let (text, policy) = (file.text.as_str(), KeyPolicy::AllowInsecure);
        let sharing = |error: hearith_threshold::Error| file.fault_of_sharing(&error);
        match file.kind() {
            kind if is_signing_key(text) => {
                let key = VerifyingKey::from_jwk(text).map_err(|error| CliError::at(&file.name, error))?;
                Ok(Shown::Signs(key, kind == KeyKind::Private))
            }
            KeyKind::Encrypted => EncryptedJwk::parse(text).map(Shown::Encrypted).map_err(|error| file.fault(&error)),
            KeyKind::Share => KeyShare::from_json(text, policy, session.engine).map(Shown::Share).map_err(sharing),
            KeyKind::Public if text.contains("\"shared\"") => {
                VerificationKeys::from_json(text, policy, session.engine).map(Shown::Shared).map_err(sharing)
            }
            _ => file.parse(&file.text, policy, session).map(Shown::Key),
        }
    }

    /// Parses a JSON Web Key.
    fn parse(text: &SecretText, policy: KeyPolicy, session: &Session) -> Result<Self, Error> {
        match text.kind() {
            KeyKind::Private | KeyKind::Share => {
                let key = PrivateKey::from_jwk(text.as_str(), policy, session.engine)?;
                Ok(Self::Private(Box::new(key)))
            }
            _ => PublicKey::from_jwk(text.as_str(), policy, session.engine).map(Self::Public),
        }
    }

    /// Reads a private key.
    pub(crate) fn read_private(session: &Session, path: &Path) -> Result<PrivateKey, CliError> {
        Self::read(session, path)?.private(path)
    }

    /// Returns the private key, or an error if this is a public key.
    pub(crate) fn private(self, path: &Path) -> Result<PrivateKey, CliError> {
        match self {
            Self::Private(key) => Ok(*key),
            Self::Public(_) => Err(CliError::at(name(path), PUBLIC)),
        }
    }

    /// Reads a public key, or the public key of a private one.
    pub(crate) fn read_public(session: &Session, path: &Path) -> Result<PublicKey, CliError> {
        Ok(Self::read(session, path)?.public().clone())
    }

    /// The public key.
    pub(crate) fn public(&self) -> &PublicKey {
        match self {
            Self::Public(key) => key,
            Self::Private(key) => key.public(),
        }
    }

    /// The key to encrypt with, in its fastest form.
    pub(crate) fn encryption(&self) -> EncryptionKey<'_> {
        match self {
            Self::Public(key) => EncryptionKey::Public(key),
            Self::Private(key) => EncryptionKey::Owner(key),
        }
    }
}
