//! The public keys loaded in a database, and computation with them.

use std::sync::{Arc, PoisonError, RwLock};

use hearith_cuda::{Choice, LoadedCards};
use hearith_device::Trust;
use hearith_paillier::{
    DecryptError, DecryptionBackend, Engine, KeyId, Plaintexts, PrivateKey, PublicKey, PublicKeyBackend,
};

use crate::fault::Fault;

/// Public keys shared by all functions and connections of a database.
#[derive(Clone)]
pub(crate) struct Keys {
    engine: Engine,
    cards: Option<Choice>,
    loaded: Arc<RwLock<Vec<PublicKey>>>,
    /// GPUs, one entry for each key used for computation.
    backends: Arc<RwLock<Vec<Arc<LoadedCards>>>>,
}

/// A private key, and the GPUs that decrypt with it.
pub(crate) struct DecryptionKey {
    pub(crate) key: PrivateKey,
    cards: Option<LoadedCards>,
}

impl DecryptionKey {
    /// Decrypts ciphertexts. Plaintexts from a GPU are checked.
    pub(crate) fn decrypt(&self, ciphertexts: &hearith_paillier::Ciphertexts) -> Result<Plaintexts, DecryptError> {
        match &self.cards {
            Some(cards) => DecryptionBackend::decrypt(cards, ciphertexts),
            None => Ok(self.key.decrypt(ciphertexts)?),
        }
    }
}

impl Keys {
    pub(crate) fn new(engine: Engine, cards: Option<Choice>) -> Self {
        Self { engine, cards, loaded: Arc::default(), backends: Arc::default() }
    }

    /// The backend that computes with a key: this CPU, or GPUs.
    pub(crate) fn backend(&self, key: &PublicKey) -> Result<Arc<dyn PublicKeyBackend>, Fault> {
        let Some(choice) = self.cards else { return Ok(Arc::new(key.clone())) };
        let of_key = |cards: &&Arc<LoadedCards>| PublicKeyBackend::public(&***cards).id() == key.id();
        let known = self.backends.read().unwrap_or_else(PoisonError::into_inner).iter().find(of_key).cloned();
        if let Some(cards) = known {
            return Ok(cards);
        }
        let cards = Arc::new(LoadedCards::with_public(choice, key, Trust::Checked).map_err(Fault::card)?);
        self.backends.write().unwrap_or_else(PoisonError::into_inner).push(cards.clone());
        Ok(cards)
    }

    /// A private key with its decryption backend.
    pub(crate) fn decryption_key(&self, key: PrivateKey) -> Result<DecryptionKey, Fault> {
        let cards = self.cards.map(|choice| LoadedCards::with_private(choice, &key, Trust::Checked));
        Ok(DecryptionKey { cards: cards.transpose().map_err(Fault::card)?, key })
    }

    /// The engine that performs the arithmetic.
    pub(crate) fn engine(&self) -> Engine {
        self.engine
    }

    /// All loaded keys.
    pub(crate) fn all(&self) -> Vec<PublicKey> {
        self.loaded.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds a key, replacing any key with the same id.
    pub(crate) fn load(&self, key: PublicKey) {
        let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
        loaded.retain(|other| other.id() != key.id());
        loaded.push(key);
    }

    /// Removes a key. Returns whether it was loaded.
    pub(crate) fn unload(&self, name: &str) -> bool {
        let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
        let before = loaded.len();
        loaded.retain(|key| key.id().as_str() != name);
        let of_other = |cards: &Arc<LoadedCards>| PublicKeyBackend::public(&**cards).id().as_str() != name;
        self.backends.write().unwrap_or_else(PoisonError::into_inner).retain(of_other);
        loaded.len() < before
    }

    /// The key with this id, or without a name the only loaded key.
    pub(crate) fn choose(&self, name: Option<&str>) -> Result<PublicKey, Fault> {
        let loaded = self.loaded.read().unwrap_or_else(PoisonError::into_inner);
        let ids = || loaded.iter().map(PublicKey::id).collect::<Vec<KeyId>>();
        match (name, &loaded[..]) {
            (None, []) => Err(Fault::NoKey),
            (None, [key]) => Ok(key.clone()),
            (None, _) => Err(Fault::SeveralKeys(ids())),
            (Some(name), keys) => keys
                .iter()
                .find(|key| key.id().as_str() == name)
                .cloned()
                .ok_or_else(|| Fault::UnknownKey { name: name.chars().take(60).collect(), loaded: ids() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hearith_paillier::{KeyPolicy, PrivateKey, Variant};

    fn key(engine: Engine) -> PublicKey {
        PrivateKey::generate(256, Variant::Standard, KeyPolicy::AllowInsecure, engine).unwrap().public().clone()
    }

    #[test]
    fn one_key_is_meant_and_several_are_named() {
        let keys = Keys::new(Engine::best(), None);
        assert!(matches!(keys.choose(None), Err(Fault::NoKey)));
        let (first, second) = (key(keys.engine()), key(keys.engine()));
        keys.load(first.clone());
        keys.load(first.clone());
        assert_eq!(keys.choose(None).unwrap(), first);
        keys.load(second.clone());
        assert!(matches!(keys.choose(None), Err(Fault::SeveralKeys(ids)) if ids == [first.id(), second.id()]));
        assert_eq!(keys.choose(Some(second.id().as_str())).unwrap(), second);
        assert!(matches!(keys.choose(Some("x")), Err(Fault::UnknownKey { .. })));
        assert!(keys.unload(first.id().as_str()));
        assert!(!keys.unload(first.id().as_str()));
        assert_eq!(keys.choose(None).unwrap(), second);
    }
}
