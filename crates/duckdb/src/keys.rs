//! The public keys that a database has loaded.

use std::sync::{Arc, PoisonError, RwLock};

use hearith_paillier::{Engine, KeyId, PublicKey};

use crate::fault::Fault;

/// Public keys shared by all functions and connections of a database.
#[derive(Clone)]
pub(crate) struct Keys {
    engine: Engine,
    loaded: Arc<RwLock<Vec<PublicKey>>>,
}

impl Keys {
    pub(crate) fn new(engine: Engine) -> Self {
        Self { engine, loaded: Arc::default() }
    }

    /// The engine that carries the arithmetic out.
    pub(crate) fn engine(&self) -> Engine {
        self.engine
    }

    /// All keys that are loaded.
    pub(crate) fn all(&self) -> Vec<PublicKey> {
        self.loaded.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds a key, or puts it in the place of the one with the same id.
    pub(crate) fn load(&self, key: PublicKey) {
        let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
        loaded.retain(|other| other.id() != key.id());
        loaded.push(key);
    }

    /// Forgets a key; whether it was loaded.
    pub(crate) fn unload(&self, name: &str) -> bool {
        let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
        let before = loaded.len();
        loaded.retain(|key| key.id().as_str() != name);
        loaded.len() < before
    }

    /// The key of this id; without a name, the only key.
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
        let keys = Keys::new(Engine::best());
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
