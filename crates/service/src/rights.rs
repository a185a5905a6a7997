//! Rights of clients, by the names in their certificates.
//!
//! A JSON file lists clients and their rights. Clients that it does not list have none:
//!
//! ```json
//! { "clients": [
//!   { "name": "branch.example.org", "encrypt": true, "aggregate": true },
//!   { "name": "payroll", "decrypt": ["5aa3c1f4..."] }
//! ] }
//! ```
//!
//! `name` is an alternative name (DNS, mail, URI) or the common name of the certificate. `encrypt`
//! permits encryption, and `aggregate` every other operation on ciphertexts. `decrypt` lists the
//! IDs of keys, or is `"*"` for all. `rows_per_second`, `rows_per_day` and `decrypted_rows_per_day`
//! limit the amount: see [`Quota`].

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU64;
use std::sync::Arc;

use hearith_paillier::KeyId;
use hearith_serving::certificate::Identity;
use serde::Deserialize;

/// The right that a request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// To encrypt.
    Encrypt,
    /// To operate on ciphertexts.
    Aggregate,
    /// To decrypt with a key.
    Decrypt(KeyId),
}

/// The rights of all clients.
#[derive(Clone, Debug)]
pub enum Rights {
    /// Everything, because only this machine can connect.
    All,
    /// Everything but decryption: clients show certificates, but no file says who may decrypt.
    Undecided,
    /// The listed rights, by client name.
    Listed(HashMap<Arc<str>, Granted>),
}

/// Limits on a client's requests. `None` is unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quota {
    /// Rows per second, of all operations. Requests beyond it wait.
    pub rows_per_second: Option<NonZeroU64>,
    /// Rows per day, of all operations. A day begins at midnight UTC. Requests beyond it are
    /// rejected.
    pub rows_per_day: Option<u64>,
    /// Decrypted rows per day. Requests beyond it are rejected.
    pub decrypted_rows_per_day: Option<u64>,
}

/// An entry of the file of rights that grants a right. All clients with its name share its quota.
#[derive(Clone, Debug)]
pub struct Entry {
    pub(crate) name: Arc<str>,
    pub(crate) quota: Quota,
}

/// The rights and the quota of a client.
#[derive(Clone, Debug, Default)]
pub struct Granted {
    encrypt: bool,
    aggregate: bool,
    decrypt: Keys,
    quota: Quota,
}

#[derive(Clone, Debug)]
enum Keys {
    All,
    These(HashSet<KeyId>),
}

impl Default for Keys {
    fn default() -> Self {
        Self::These(HashSet::new())
    }
}

/// The error for an unusable file of rights.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file is not JSON of this form.
    #[error("invalid rights: {0}")]
    Json(#[source] serde_json::Error),
    /// A key ID is invalid.
    #[error(
        "the client {client:?} decrypts with {text:?}, which is not a key ID: \
         32 hexadecimal digits, which the service logs when it starts"
    )]
    Key {
        /// The name of the client.
        client: String,
        /// The invalid key ID.
        text: String,
    },
    /// A client is listed twice.
    #[error("the client {0:?} is listed twice")]
    Twice(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    clients: Vec<Client>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Client {
    name: String,
    #[serde(default)]
    encrypt: bool,
    #[serde(default)]
    aggregate: bool,
    #[serde(default)]
    decrypt: Listed,
    rows_per_second: Option<NonZeroU64>,
    rows_per_day: Option<u64>,
    decrypted_rows_per_day: Option<u64>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Listed {
    Word(String),
    Ids(Vec<String>),
}

impl Default for Listed {
    fn default() -> Self {
        Self::Ids(Vec::new())
    }
}

impl Rights {
    /// Reads a file of rights.
    ///
    /// # Errors
    /// The file is invalid.
    pub fn read(text: &str) -> Result<Self, Error> {
        let file: File = serde_json::from_str(text).map_err(Error::Json)?;
        let mut listed = HashMap::new();
        for client in file.clients {
            let Client { name, encrypt, aggregate, decrypt, .. } = client;
            let quota = Quota {
                rows_per_second: client.rows_per_second,
                rows_per_day: client.rows_per_day,
                decrypted_rows_per_day: client.decrypted_rows_per_day,
            };
            let granted = Granted { encrypt, aggregate, decrypt: Keys::read(&name, decrypt)?, quota };
            if listed.insert(name.as_str().into(), granted).is_some() {
                return Err(Error::Twice(name));
            }
        }
        Ok(Self::Listed(listed))
    }

    /// Whether a client has a right. One of its names having it is enough.
    pub fn allow(&self, who: Option<&Identity>, right: Right) -> bool {
        match self {
            Self::All => true,
            Self::Undecided => !matches!(right, Right::Decrypt(_)),
            Self::Listed(_) => self.entry(who, right).is_some(),
        }
    }

    /// Returns the entry that grants a right: that of the certificate's first name with the right.
    /// Returns `None` if no entry does, or if there is no list.
    pub fn entry(&self, who: Option<&Identity>, right: Right) -> Option<Entry> {
        let Self::Listed(listed) = self else { return None };
        let names = who.map(|who| &*who.names).unwrap_or_default();
        let mut found = names.iter().filter_map(|name| listed.get_key_value(name.as_str()));
        let (name, granted) = found.find(|(_, granted)| granted.allows(right))?;
        Some(Entry { name: name.clone(), quota: granted.quota })
    }
}

impl Granted {
    fn allows(&self, right: Right) -> bool {
        match (right, &self.decrypt) {
            (Right::Encrypt, _) => self.encrypt,
            (Right::Aggregate, _) => self.aggregate,
            (Right::Decrypt(_), Keys::All) => true,
            (Right::Decrypt(key), Keys::These(keys)) => keys.contains(&key),
        }
    }
}

impl Keys {
    fn read(client: &str, listed: Listed) -> Result<Self, Error> {
        let wrong = |text: String| Error::Key { client: client.to_owned(), text };
        match listed {
            Listed::Word(word) if word == "*" => Ok(Self::All),
            Listed::Word(word) => Err(wrong(word)),
            Listed::Ids(ids) => {
                let ids = ids.into_iter().map(|id| id.parse().map_err(|_| wrong(id)));
                ids.collect::<Result<_, _>>().map(Self::These)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant};
    use hearith_serving::tls::Fingerprint;

    fn key() -> KeyId {
        let key = PrivateKey::generate(256, Variant::Standard, KeyPolicy::AllowInsecure, Engine::Serial).unwrap();
        key.public().id()
    }

    fn named(names: &[&str]) -> Identity {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        Identity { names, fingerprint: Fingerprint::of(&vec![1].into()) }
    }

    #[test]
    fn rights_are_by_name_and_key() {
        let (ours, other) = (key(), key());
        let text = format!(
            r#"{{ "clients": [
                {{ "name": "branch", "encrypt": true, "aggregate": true }},
                {{ "name": "payroll", "decrypt": ["{ours}"] }},
                {{ "name": "auditor", "decrypt": "*" }} ] }}"#
        );
        let rights = Rights::read(&text).unwrap();
        let may = |names: &[&str]| {
            let all = [Right::Encrypt, Right::Aggregate, Right::Decrypt(ours), Right::Decrypt(other)];
            all.map(|right| rights.allow(Some(&named(names)), right))
        };
        assert_eq!(may(&["branch"]), [true, true, false, false]);
        assert_eq!(may(&["payroll"]), [false, false, true, false]);
        assert_eq!(may(&["auditor"]), [false, false, true, true]);
        assert_eq!(may(&["payroll", "branch"]), [true, true, true, false]);
        assert_eq!(may(&["stranger"]), [false; 4]);
        assert_eq!(may(&[]), [false; 4]);
        assert!(!rights.allow(None, Right::Encrypt));
        assert!(Rights::All.allow(None, Right::Decrypt(ours)));
        assert!(Rights::Undecided.allow(Some(&named(&["x"])), Right::Aggregate));
        assert!(!Rights::Undecided.allow(Some(&named(&["x"])), Right::Decrypt(ours)));
    }

    #[test]
    fn what_is_no_file_of_rights_is_told() {
        for (text, expected) in [
            ("", "invalid rights: "),
            ("[]", "invalid rights: "),
            (r#"{ "clients": [ { "name": "x", "decrpyt": "*" } ] }"#, "invalid rights: unknown field `decrpyt`"),
            (r#"{ "clients": [ { "name": "x", "decrypt": "all" } ] }"#, "the client \"x\" decrypts with \"all\""),
            (r#"{ "clients": [ { "name": "x", "decrypt": ["1"] } ] }"#, "the client \"x\" decrypts with \"1\""),
            (r#"{ "clients": [ { "name": "x" }, { "name": "x" } ] }"#, "the client \"x\" is listed twice"),
        ] {
            let error = Rights::read(text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }
}
