//! The public keys: a table of the extension, of which a backend keeps what it has used.
//!
//! A change of the table, in any session or by replication, reaches all backends as an invalidation
//! of its relation, which a trigger asks for (`hearith_keys_changed`).

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use hearith_paillier::{Engine, KeyId, KeyKind, KeyPolicy, PublicKey, SecretText};
use pgrx::guc::{GucContext, GucFlags, GucRegistry, GucSetting};
use pgrx::prelude::*;

use crate::call::{Call, Outcome};
use crate::fault::Fault;

static ALLOW_INSECURE: GucSetting<bool> = GucSetting::<bool>::new(false);

thread_local! {
    static KEYS: RefCell<HashMap<KeyId, PublicKey>> = RefCell::default();
    /// The relation hearith.keys when a key was read last; 0 before.
    static TABLE: Cell<u32> = const { Cell::new(0) };
    /// Whether the table has changed since.
    static STALE: Cell<bool> = const { Cell::new(false) };
    /// The policy under which keys were read.
    static POLICY: Cell<bool> = const { Cell::new(false) };
}

/// Registers the setting and the call at changes of relations.
pub(crate) fn init() {
    GucRegistry::define_bool_guc(
        c"hearith.allow_insecure_keys",
        c"Allows keys that protect nothing, for tests.",
        c"Keys below 2048 bits and keys whose primes are close together are rejected otherwise.",
        &ALLOW_INSECURE,
        GucContext::Suset,
        GucFlags::default(),
    );
    // SAFETY: the callback lives as long as the backend, which cannot unload the library.
    unsafe { pg_sys::CacheRegisterRelcacheCallback(Some(relation_changed), pg_sys::Datum::from(0)) };
}

/// Notes that the keys have changed. PostgreSQL calls it in places where nothing may be read.
///
/// # Safety
/// None is needed.
unsafe extern "C-unwind" fn relation_changed(_: pg_sys::Datum, relation: pg_sys::Oid) {
    let relation = relation.to_u32();
    if relation == 0 || relation == TABLE.get() {
        STALE.set(true);
    }
}

/// `hearith_keys_changed()`: the trigger.
pub(crate) fn changed(call: &Call) -> Outcome {
    // SAFETY: the context of a trigger's call is its data, which the tag tells.
    unsafe {
        let context = (*call.raw()).context;
        if context.is_null() || (*context).type_ != pg_sys::NodeTag::T_TriggerData {
            return Err(Fault::NoAggregate);
        }
        let trigger = context.cast::<pg_sys::TriggerData>();
        pg_sys::CacheInvalidateRelcacheByRelid((*(*trigger).tg_relation).rd_id);
    }
    // A trigger gives a null pointer, which is not NULL.
    Ok(Some(pg_sys::Datum::from(0)))
}

/// The key of this id, out of the backend's memory or out of hearith.keys.
pub(crate) fn find(id: KeyId) -> Result<PublicKey, Fault> {
    let insecure = ALLOW_INSECURE.get();
    if STALE.replace(false) || POLICY.replace(insecure) != insecure {
        KEYS.take();
    }
    if let Some(key) = KEYS.with_borrow(|keys| keys.get(&id).cloned()) {
        return Ok(key);
    }
    TABLE.set(table());
    let text = stored(id)?.ok_or(Fault::NoKey(id))?;
    let key = read(&text).map_err(|fault| match fault {
        Fault::Key(error) => Fault::StoredKey { id: id.to_string(), error },
        other => other,
    })?;
    if key.id() != id {
        return Err(Fault::NoKey(id));
    }
    KEYS.with_borrow_mut(|keys| keys.insert(id, key.clone()));
    Ok(key)
}

/// Rejects a private key, of any kind.
pub(crate) fn check_not_private(text: &str) -> Result<(), Fault> {
    crate::memory::reserve(text.len())?;
    // The copy is wiped: it may be a private key.
    let kind = SecretText::from(text.to_owned()).kind();
    let private = matches!(kind, KeyKind::Private | KeyKind::Share | KeyKind::Encrypted);
    if private { Err(Fault::Private) } else { Ok(()) }
}

/// A public key's JSON Web Key, checked as everywhere.
pub(crate) fn read(text: &str) -> Result<PublicKey, Fault> {
    check_not_private(text)?;
    let policy = if ALLOW_INSECURE.get() { KeyPolicy::AllowInsecure } else { KeyPolicy::Secure };
    crate::kernel::inline(|| PublicKey::from_jwk(text, policy, Engine::best())).map_err(Fault::Key)
}

/// The relation hearith.keys; 0 if there is none.
fn table() -> u32 {
    // SAFETY: both look names up.
    unsafe {
        let schema = pg_sys::get_namespace_oid(c"hearith".as_ptr(), true);
        pg_sys::get_relname_relid(c"keys".as_ptr(), schema).to_u32()
    }
}

/// The text of a key, with the rights of whoever asks.
fn stored(id: KeyId) -> Result<Option<String>, Fault> {
    Spi::connect(|client| {
        // Whatever the caller's search_path is, this is PostgreSQL's equality.
        let query = "SELECT key FROM hearith.keys WHERE id OPERATOR(pg_catalog.=) $1";
        let rows = client.select(query, Some(1), &[id.to_string().into()])?;
        if rows.is_empty() { Ok(None) } else { rows.first().get_one::<String>() }
    })
    .map_err(|error: spi::Error| Fault::Table(error.to_string()))
}
