//! The participants in a key generation: the key's parameters, the trustees' own keys, and this
//! trustee's number.

use hearith_columns::VerifyingKey;
use hearith_paillier::{DEFAULT_BITS, Variant};
use hearith_threshold::distributed::{Identity, Parameters};
use zeroize::Zeroizing;

use crate::args::{Keygen, Meet, PeerKey, Sharing};
use crate::failure::{CliError, eprint_line, name};
use crate::keys::KeyFile;
use crate::session::Session;

/// This trustee, and what it knows of the others.
pub(crate) struct Party {
    pub(super) parameters: Parameters,
    pub(super) me: u32,
    pub(super) identity: Identity,
    /// The private key of this trustee.
    pub(super) seed: Zeroizing<[u8; 32]>,
    /// The public keys of all trustees.
    pub(super) keys: Vec<[u8; 32]>,
    /// The same keys in a form that people compare.
    pub(super) key_texts: Vec<String>,
}

/// The failure for a missing option of `--distributed`.
pub(crate) fn missing(what: &str) -> CliError {
    CliError::new(format!("--distributed needs {what}"))
}

/// The number of this trustee.
pub(crate) fn number(at: &Meet, Sharing { trustees, .. }: Sharing) -> Result<u32, CliError> {
    let me = at.trustee.filter(|me| (1..=trustees).contains(me));
    me.ok_or_else(|| missing(&format!("--trustee N, a number from 1 to {trustees}")))
}

/// Returns the only entry with a number.
pub(super) fn only<T>(all: &[T], number: u32, of: impl Fn(&T) -> u32) -> Option<&T> {
    let mut found = all.iter().filter(|one| of(one) == number);
    found.next().filter(|_| found.next().is_none())
}

impl Party {
    /// Reads the keys of `keygen`'s trustees.
    pub(crate) fn of_keygen(session: &Session, command: &Keygen, sharing: Sharing) -> Result<Self, CliError> {
        let trustees = sharing.trustees;
        let me = number(&command.at, sharing)?;
        let (bits, variant) = (command.bits.unwrap_or(DEFAULT_BITS), command.variant.unwrap_or(Variant::Standard));
        let file = command.identity.as_ref().ok_or_else(|| missing("--identity FILE"))?;
        let signing = KeyFile::open(file)?.signing(session)?;
        let seed = signing.to_seed();

        let mut keys = Vec::new();
        for number in 1..=trustees {
            if number == me {
                keys.push(signing.public());
                continue;
            }
            let PeerKey { file, .. } = only(&command.peer_key, number, |one| one.number).ok_or_else(|| {
                missing(&format!("exactly one --peer-key {number}=FILE, trustee {number}'s public key"))
            })?;
            match KeyFile::open(file)?.signers()?[..] {
                [key] => keys.push(key),
                _ => return Err(CliError::at(name(file), "expected exactly one key")),
            }
        }
        let key_texts = keys.iter().map(|key| key.id().to_string()).collect();
        let keys = keys.iter().map(VerifyingKey::to_bytes).collect();
        Self::new(session, &command.at, sharing, (bits, variant), seed, keys, key_texts)
    }

    /// Creates a party. `seed` is this trustee's private key, `keys` are the public keys of all
    /// trustees, and `key_texts` are these in a form that people compare.
    pub(crate) fn new(
        session: &Session,
        at: &Meet,
        sharing: Sharing,
        (bits, variant): (u32, Variant),
        seed: Zeroizing<[u8; 32]>,
        keys: Vec<[u8; 32]>,
        key_texts: Vec<String>,
    ) -> Result<Self, CliError> {
        let Sharing { needed, trustees } = sharing;
        let me = number(at, sharing)?;
        let parameters = Parameters::new(bits, needed, trustees, variant, session.policy, session.engine);
        let parameters = parameters.map_err(CliError::new)?;
        if (1..keys.len()).any(|at| keys[..at].contains(&keys[at])) {
            return Err(CliError::new("two trustees have the same key"));
        }
        Ok(Party { parameters, me, identity: Identity::from_seed(&seed), seed, keys, key_texts })
    }

    /// This trustee's number.
    pub(crate) fn trustee(&self) -> u32 {
        self.me
    }

    /// Shows the keys of all trustees, which they compare.
    pub(super) fn show_keys(&self, session: &Session) {
        if session.is_quiet() {
            return;
        }
        for (number, key) in (1..).zip(&self.key_texts) {
            let own = if number == self.me { ", this one" } else { "" };
            eprint_line(&format!("trustee {number}{own}: key {key}"));
        }
    }
}
