//! The keys that a server knows: its own private keys, and the public keys that clients register.

use hearith_paillier::{Engine, KeyId, KeyPolicy, PrivateKey, PublicKey};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use crate::clients::ClientId;
use crate::proto::ErrorReason;
use crate::refusal::Refusal;

/// The name of a public key, including its generator.
///
/// Two keys may share `n`. Registering a key therefore cannot change the generator that other
/// clients of the same modulus encrypt with.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHandle([u8; 32]);

impl KeyHandle {
    /// Computes the handle from the modulus and the generator, both big-endian.
    ///
    /// `h` is empty for a key without a generator. `exponent_bits` is the exponent length of a
    /// subgroup key, and 0 for any other.
    pub fn of(n: &[u8], h: &[u8], exponent_bits: u32) -> Self {
        let mut digest = Sha256::new();
        for number in [n, h] {
            let number = without_zeros(number);
            digest.update((number.len() as u64).to_be_bytes());
            digest.update(number);
        }
        if exponent_bits > 0 {
            digest.update(exponent_bits.to_be_bytes());
        }
        Self(digest.finalize().into())
    }

    /// Computes the handle of a key.
    pub fn of_key(key: &PublicKey) -> Self {
        Self::of(&key.modulus_be(), &key.generator_be().unwrap_or_default(), key.exponent_bits().unwrap_or_default())
    }
}

fn without_zeros(number: &[u8]) -> &[u8] {
    let first = number.iter().position(|&byte| byte != 0).unwrap_or(number.len());
    &number[first..]
}

impl fmt::Display for KeyHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for KeyHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyHandle({self})")
    }
}

impl FromStr for KeyHandle {
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
    Refusal::new(ErrorReason::UnknownKey, "the key is not registered, or was removed: register it again")
}

/// A key that the server computes with.
#[derive(Debug)]
pub struct ServedKey {
    handle: KeyHandle,
    public: PublicKey,
    private: Option<PrivateKey>,
}

impl ServedKey {
    /// Combines a public key with its private key, if any.
    pub fn new(public: PublicKey, private: Option<PrivateKey>) -> Self {
        Self { handle: KeyHandle::of_key(&public), public, private }
    }

    /// Returns its handle.
    pub fn handle(&self) -> KeyHandle {
        self.handle
    }

    /// Returns the public key.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Returns the private key, if the server has it.
    pub fn private(&self) -> Option<&PrivateKey> {
        self.private.as_ref()
    }
}

/// All keys: the server's own, which stay, and those of clients, which are limited per client.
#[derive(Debug)]
pub struct Keys {
    private: HashMap<KeyId, PrivateKey>,
    /// The public halves of the server's own keys, with their own generators.
    own: HashMap<KeyHandle, Arc<ServedKey>>,
    client_keys: Mutex<ClientKeys>,
    most: usize,
    policy: KeyPolicy,
    engine: Engine,
}

#[derive(Debug, Default)]
struct ClientKeys {
    entries: HashMap<KeyHandle, Entry>,
    uses: u64,
}

#[derive(Debug)]
struct Entry {
    key: Arc<ServedKey>,
    /// The number of key uses at its last use.
    used: u64,
    /// The client that registered it last.
    owner: ClientId,
}

impl Keys {
    /// Creates the store with the server's private keys and a capacity of `most` keys of clients.
    pub fn new(private: Vec<PrivateKey>, most: usize, policy: KeyPolicy, engine: Engine) -> Self {
        let own = private.iter().map(|key| Arc::new(ServedKey::new(key.public().clone(), Some(key.clone()))));
        let own = own.map(|key| (key.handle, key)).collect();
        let private = private.into_iter().map(|key| (key.public().id(), key)).collect();
        Self { private, own, client_keys: Mutex::default(), most: most.max(1), policy, engine }
    }

    /// Returns the private keys.
    pub fn private(&self) -> impl Iterator<Item = &PrivateKey> {
        self.private.values()
    }

    /// Returns the number of resident public keys of clients.
    pub fn registered(&self) -> usize {
        self.client_keys().entries.len()
    }

    fn client_keys(&self) -> std::sync::MutexGuard<'_, ClientKeys> {
        self.client_keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a client's public key, given big-endian, unless it is already known. This takes
    /// some milliseconds and may evict another key.
    ///
    /// # Errors
    /// The key is malformed or weak.
    pub fn register(
        &self,
        client: ClientId,
        n: &[u8],
        h: &[u8],
        exponent_bits: u32,
    ) -> Result<Arc<ServedKey>, Refusal> {
        let handle = KeyHandle::of(n, h, exponent_bits);
        if let Ok(known) = self.find(handle) {
            self.client_keys().entries.entry(handle).and_modify(|entry| entry.owner = client);
            return Ok(known);
        }
        let (n, h) = (without_zeros(n), without_zeros(h));
        let generator = (!h.is_empty()).then_some(h);
        let public = match exponent_bits {
            0 => PublicKey::new(n, generator, self.policy, self.engine),
            bits => PublicKey::new_subgroup(n, h, bits, self.policy, self.engine),
        };
        let public = public.map_err(|error| Refusal::bad_key(&error))?;
        let private = self.private.get(&public.id()).cloned();
        let key = Arc::new(ServedKey::new(public, private));
        Ok(self.client_keys().insert(key, client, self.most))
    }

    /// Returns the key with a handle.
    ///
    /// # Errors
    /// No key has the handle.
    pub fn find(&self, handle: KeyHandle) -> Result<Arc<ServedKey>, Refusal> {
        if let Some(key) = self.own.get(&handle) {
            return Ok(key.clone());
        }
        let mut client_keys = self.client_keys();
        client_keys.uses += 1;
        let uses = client_keys.uses;
        let entry = client_keys.entries.get_mut(&handle).ok_or_else(unknown)?;
        entry.used = uses;
        Ok(entry.key.clone())
    }
}

impl ClientKeys {
    fn insert(&mut self, key: Arc<ServedKey>, client: ClientId, most: usize) -> Arc<ServedKey> {
        if !self.entries.contains_key(&key.handle)
            && let Some(handle) = self.to_evict(client, most)
        {
            self.entries.remove(&handle);
        }
        self.uses += 1;
        let used = self.uses;
        self.entries.entry(key.handle).or_insert(Entry { key, used, owner: client }).key.clone()
    }

    /// Returns the key to evict for a further key of a client, or `None` if there is space.
    ///
    /// The key is one of the client's own if the client has used up its share, otherwise one of the
    /// client with the most keys. Keys that no stream holds go first, and the least recently used
    /// among them. Streams that hold an evicted key continue with it.
    fn to_evict(&self, client: ClientId, most: usize) -> Option<KeyHandle> {
        let mut counts: HashMap<ClientId, usize> = HashMap::new();
        self.entries.values().for_each(|entry| *counts.entry(entry.owner).or_default() += 1);
        let owners: Vec<ClientId> = if counts.get(&client).copied().unwrap_or(0) >= (most / 4).max(1) {
            vec![client]
        } else if self.entries.len() >= most {
            let largest = counts.values().max()?;
            counts.iter().filter(|(_, count)| *count == largest).map(|(&owner, _)| owner).collect()
        } else {
            return None;
        };
        let owned = self.entries.iter().filter(|(_, entry)| owners.contains(&entry.owner));
        let first = owned.min_by_key(|(_, entry)| (Arc::strong_count(&entry.key) > 1, entry.used));
        first.map(|(&handle, _)| handle)
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
        register_for(keys, key, ClientId::anonymous())
    }

    fn register_for(keys: &Keys, key: &PublicKey, client: ClientId) -> Result<Arc<ServedKey>, Refusal> {
        let bits = key.exponent_bits().unwrap_or_default();
        keys.register(client, &key.modulus_be(), &key.generator_be().unwrap_or_default(), bits)
    }

    #[test]
    fn a_handle_names_modulus_and_generator() {
        let key = key(Variant::Djn);
        let handle = KeyHandle::of_key(key.public());
        assert_eq!(handle.to_string().parse(), Ok(handle));
        let n = key.public().modulus_be();
        assert_ne!(KeyHandle::of(&n, &[], 0), handle);
        let padded = [&[0, 0][..], &n].concat();
        assert_eq!(KeyHandle::of(&padded, &[0], 0), KeyHandle::of(&n, &[], 0));
        // The boundary between the two numbers matters.
        assert_ne!(KeyHandle::of(&[1, 2], &[3], 0), KeyHandle::of(&[1], &[2, 3], 0));
        // A subgroup key is not a DJN key.
        assert_ne!(KeyHandle::of(&[1], &[2], 0), KeyHandle::of(&[1], &[2], 640));
        assert_ne!(KeyHandle::of(&[1], &[2], 641), KeyHandle::of(&[1], &[2], 640));
        for wrong in ["", "0", &"g".repeat(64), &"A".repeat(64), &"é".repeat(32)] {
            assert_eq!(wrong.parse::<KeyHandle>().unwrap_err().reason(), ErrorReason::UnknownKey);
        }
    }

    #[test]
    fn a_key_is_found_with_its_private_half_under_any_generator() {
        let key = key(Variant::Djn);
        let keys = keys(vec![key.clone()], 4);
        let served = register(&keys, key.public()).unwrap();
        assert!(served.private().is_some());
        assert_eq!(keys.find(served.handle()).unwrap().public(), key.public());
        let standard = keys.register(ClientId::anonymous(), &key.public().modulus_be(), &[], 0).unwrap();
        assert!(standard.private().is_some() && standard.public() != served.public());
        assert_eq!(keys.registered(), 1, "its own key needs no room");
    }

    /// The modulus of the service's own subgroup key with another generator or exponent length, or
    /// without one, is a different key.
    #[test]
    fn a_subgroup_keys_private_half_belongs_to_its_generator_and_length() {
        let key = PrivateKey::generate(1024, Variant::Subgroup, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
        let (public, keys) = (key.public(), keys(vec![key.clone()], 8));
        let (n, h) = (public.modulus_be(), public.generator_be().unwrap());
        let register = |h: &[u8], bits| keys.register(ClientId::anonymous(), &n, h, bits);
        let own = register(&h, 448).unwrap();
        assert!(own.private().is_some() && own.handle() == KeyHandle::of_key(public));
        let mut other = h.clone();
        other[127] ^= 4;
        // Another generator may be invalid. Any valid key has no private key here.
        let others = [register(&h, 449), register(&other, 448), register(&h, 0), register(&[], 0)];
        for served in others.into_iter().flatten() {
            assert!(served.private().is_none() && served.handle() != own.handle());
        }
        for bits in [1, 447, 513, u32::MAX] {
            assert_eq!(register(&h, bits).unwrap_err().reason(), ErrorReason::BadKey, "{bits}");
        }
        assert_eq!(register(&[], 448).unwrap_err().reason(), ErrorReason::BadKey);
    }

    #[test]
    fn the_least_recently_used_make_way_within_the_shares_of_clients() {
        let own = key(Variant::Djn);
        let keys = keys(vec![own.clone()], 8);
        let [greedy, modest] = [(); 2].map(|()| ClientId::anonymous());
        let register = |client| register_for(&keys, key(Variant::Standard).public(), client).unwrap().handle();
        let is_known = |handle: &KeyHandle| keys.find(*handle).is_ok();
        let theirs = [(); 2].map(|()| register(modest));
        let first = [(); 2].map(|()| register(greedy));
        assert!(is_known(&first[0]), "used later than the other");
        let third = register(greedy);
        assert_eq!(
            [first[0], first[1], third].map(|handle| is_known(&handle)),
            [true, false, true],
            "its share is two"
        );
        for _ in 0..50 {
            register(greedy);
        }
        assert!(theirs.iter().all(is_known), "whatever others register");
        assert!(is_known(&KeyHandle::of_key(own.public())), "its own stay");

        // With all slots taken, a key of the client with the most keys is evicted, but not one in
        // use.
        for _ in 0..4 {
            register(ClientId::anonymous());
        }
        assert_eq!(keys.registered(), 8);
        let held = keys.find(theirs[0]).unwrap();
        assert!(is_known(&theirs[1]), "used last");
        let _ = [(); 2].map(|()| register(greedy));
        register(ClientId::anonymous());
        register(ClientId::anonymous());
        assert_eq!((keys.registered(), keys.find(held.handle()).is_ok()), (8, true));
    }

    #[test]
    fn weak_and_malformed_keys_are_refused() {
        let secure = Keys::new(vec![], 2, KeyPolicy::Secure, Engine::Serial);
        let weak = register(&secure, key(Variant::Standard).public()).unwrap_err();
        assert_eq!(weak.reason(), ErrorReason::BadKey);
        for n in [&[][..], &[7], &[0; 64], &[255; 2000]] {
            assert_eq!(secure.register(ClientId::anonymous(), n, &[], 0).unwrap_err().reason(), ErrorReason::BadKey);
        }
    }
}
