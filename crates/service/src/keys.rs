//! The keys that a server knows: private ones from its start on, public ones as clients register them.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use hearith_paillier::{Engine, KeyId, KeyPolicy, PrivateKey, PublicKey};
use sha2::{Digest, Sha256};

use crate::limits::IDLE_KEY;
use crate::proto::ErrorReason;
use crate::refusal::Refusal;

/// Names a public key, its generator included: two keys may share `n`, and whoever registers one must not choose the generator that others
/// encrypt with.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Handle([u8; 32]);

impl Handle {
    /// The handle of the key with this modulus and this generator, big-endian, empty if there is none.
    pub fn of(n: &[u8], h: &[u8]) -> Self {
        let mut digest = Sha256::new();
        for number in [n, h] {
            let number = without_zeros(number);
            digest.update((number.len() as u64).to_be_bytes());
            digest.update(number);
        }
        Self(digest.finalize().into())
    }

    /// The handle of a key.
    pub fn of_key(key: &PublicKey) -> Self {
        Self::of(&key.modulus_be(), &key.generator_be().unwrap_or_default())
    }
}

fn without_zeros(number: &[u8]) -> &[u8] {
    let first = number.iter().position(|&byte| byte != 0).unwrap_or(number.len());
    &number[first..]
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle({self})")
    }
}

impl FromStr for Handle {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let mut bytes = [0; 32];
        let pairs = text.as_bytes().chunks_exact(2);
        if text.len() != 64 || !text.bytes().all(|digit| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit)) {
            return Err(unknown());
        }
        let value = |digit: u8| if digit.is_ascii_digit() { digit - b'0' } else { digit - b'a' + 10 };
        for (byte, pair) in bytes.iter_mut().zip(pairs) {
            *byte = value(pair[0]) << 4 | value(pair[1]);
        }
        Ok(Self(bytes))
    }
}

fn unknown() -> Refusal {
    Refusal::new(ErrorReason::UnknownKey, "no such key is registered (any more): register it again")
}

/// A key that the server computes with.
#[derive(Debug)]
pub struct ServedKey {
    handle: Handle,
    public: PublicKey,
    private: Option<PrivateKey>,
}

impl ServedKey {
    /// A public key, with its private half or without.
    pub fn new(public: PublicKey, private: Option<PrivateKey>) -> Self {
        Self { handle: Handle::of_key(&public), public, private }
    }

    /// Its handle.
    pub fn handle(&self) -> Handle {
        self.handle
    }

    /// The public key.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// The private key, if the server has it.
    pub fn private(&self) -> Option<&PrivateKey> {
        self.private.as_ref()
    }
}

/// All keys.
#[derive(Debug)]
pub struct Keys {
    private: HashMap<KeyId, PrivateKey>,
    public: Mutex<HashMap<Handle, Entry>>,
    most: usize,
    policy: KeyPolicy,
    engine: Engine,
}

#[derive(Debug)]
struct Entry {
    key: Arc<ServedKey>,
    used: Instant,
}

impl Keys {
    /// No public keys yet, and the private keys that the server decrypts with.
    pub fn new(private: Vec<PrivateKey>, most: usize, policy: KeyPolicy, engine: Engine) -> Self {
        let private = private.into_iter().map(|key| (key.public().id(), key)).collect();
        Self { private, public: Mutex::default(), most, policy, engine }
    }

    /// The private keys.
    pub fn private(&self) -> impl Iterator<Item = &PrivateKey> {
        self.private.values()
    }

    /// How many public keys are registered.
    pub fn registered(&self) -> usize {
        self.entries().len()
    }

    fn entries(&self) -> std::sync::MutexGuard<'_, HashMap<Handle, Entry>> {
        self.public.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a public key, big-endian, unless it is. It takes some milliseconds.
    ///
    /// # Errors
    /// A key that is malformed or weak, or as many keys in use as there may be.
    pub fn register(&self, n: &[u8], h: &[u8]) -> Result<Arc<ServedKey>, Refusal> {
        let handle = Handle::of(n, h);
        if let Ok(known) = self.find(handle) {
            return Ok(known);
        }
        let (n, h) = (without_zeros(n), without_zeros(h));
        let generator = (!h.is_empty()).then_some(h);
        let public =
            PublicKey::new(n, generator, self.policy, self.engine).map_err(|error| Refusal::bad_key(&error))?;
        let private = self.private.get(&public.id()).cloned();
        self.keep(Arc::new(ServedKey::new(public, private)))
    }

    fn keep(&self, key: Arc<ServedKey>) -> Result<Arc<ServedKey>, Refusal> {
        let mut entries = self.entries();
        if entries.len() >= self.most && !entries.contains_key(&key.handle) {
            let idle = |entry: &Entry| entry.used.elapsed() >= IDLE_KEY && Arc::strong_count(&entry.key) == 1;
            let oldest = entries.iter().filter(|(_, entry)| idle(entry)).min_by_key(|(_, entry)| entry.used);
            let Some(handle) = oldest.map(|(&handle, _)| handle) else {
                let text = format!("{} keys are in use, and no more are taken", self.most);
                return Err(Refusal::new(ErrorReason::KeysFull, text));
            };
            entries.remove(&handle);
        }
        let entry = entries.entry(key.handle).or_insert_with(|| Entry { key, used: Instant::now() });
        Ok(entry.key.clone())
    }

    /// The key of a handle.
    ///
    /// # Errors
    /// There is none.
    pub fn find(&self, handle: Handle) -> Result<Arc<ServedKey>, Refusal> {
        let mut entries = self.entries();
        let entry = entries.get_mut(&handle).ok_or_else(unknown)?;
        entry.used = Instant::now();
        Ok(entry.key.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hearith_paillier::Variant;

    fn key(variant: Variant) -> PrivateKey {
        PrivateKey::generate(256, variant, KeyPolicy::AllowInsecure, Engine::Serial).unwrap()
    }

    fn keys(private: Vec<PrivateKey>, most: usize) -> Keys {
        Keys::new(private, most, KeyPolicy::AllowInsecure, Engine::Serial)
    }

    fn register(keys: &Keys, key: &PublicKey) -> Result<Arc<ServedKey>, Refusal> {
        keys.register(&key.modulus_be(), &key.generator_be().unwrap_or_default())
    }

    #[test]
    fn a_handle_names_modulus_and_generator() {
        let key = key(Variant::Djn);
        let handle = Handle::of_key(key.public());
        assert_eq!(handle.to_string().parse(), Ok(handle));
        let n = key.public().modulus_be();
        assert_ne!(Handle::of(&n, &[]), handle);
        let padded = [&[0, 0][..], &n].concat();
        assert_eq!(Handle::of(&padded, &[0]), Handle::of(&n, &[]));
        // Where one number ends and the other begins counts.
        assert_ne!(Handle::of(&[1, 2], &[3]), Handle::of(&[1], &[2, 3]));
        for wrong in ["", "0", &"g".repeat(64), &"A".repeat(64), &"é".repeat(32)] {
            assert_eq!(wrong.parse::<Handle>().unwrap_err().reason(), ErrorReason::UnknownKey);
        }
    }

    #[test]
    fn a_key_is_found_with_its_private_half_under_any_generator() {
        let key = key(Variant::Djn);
        let keys = keys(vec![key.clone()], 4);
        let served = register(&keys, key.public()).unwrap();
        assert!(served.private().is_some());
        assert_eq!(keys.find(served.handle()).unwrap().public(), key.public());
        let standard = keys.register(&key.public().modulus_be(), &[]).unwrap();
        assert!(standard.private().is_some() && standard.public() != served.public());
        assert_eq!(keys.registered(), 2);
    }

    #[test]
    fn keys_in_use_do_not_make_way() {
        let keys = keys(vec![], 2);
        let held: Vec<_> = (0..2).map(|_| register(&keys, key(Variant::Standard).public()).unwrap()).collect();
        let third = key(Variant::Standard);
        assert_eq!(register(&keys, third.public()).unwrap_err().reason(), ErrorReason::KeysFull);
        assert!(register(&keys, held[0].public()).is_ok(), "a key that is known is no further one");
        let long_ago = Instant::now().checked_sub(IDLE_KEY).unwrap();
        keys.entries().get_mut(&held[0].handle()).unwrap().used = long_ago;
        assert!(register(&keys, third.public()).is_err(), "somebody still holds it");
        let unused = held[0].handle();
        drop(held);
        assert!(register(&keys, third.public()).is_ok());
        assert_eq!(keys.find(unused).unwrap_err().reason(), ErrorReason::UnknownKey);
        assert_eq!(keys.registered(), 2);
    }

    #[test]
    fn weak_and_malformed_keys_are_refused() {
        let secure = Keys::new(vec![], 2, KeyPolicy::Secure, Engine::Serial);
        let weak = register(&secure, key(Variant::Standard).public()).unwrap_err();
        assert_eq!(weak.reason(), ErrorReason::BadKey);
        for n in [&[][..], &[7], &[0; 64], &[255; 2000]] {
            assert_eq!(secure.register(n, &[]).unwrap_err().reason(), ErrorReason::BadKey);
        }
    }
}
