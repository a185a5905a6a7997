//! The public keys, stored in a table of the extension. A backend caches the keys that it has used.
//!
//! A change of the table, in any session or by replication, reaches all backends as an invalidation
//! of its relation. A trigger requests the invalidation (`hearith_keys_changed`).

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
    /// The relation hearith.keys at the last read of a key; 0 before.
    static TABLE: Cell<u32> = const { Cell::new(0) };
    /// Whether the table has changed since.
    static STALE: Cell<bool> = const { Cell::new(false) };
    /// The policy under which the cached keys were read: whether insecure keys are allowed.
    static POLICY: Cell<bool> = const { Cell::new(false) };
}

/// Registers the setting, and the callback for changes of relations.
pub(crate) fn init() {
    GucRegistry::define_bool_guc(
        c"hearith.allow_insecure_keys",
        c"Allows insecure keys, for tests.",
        c"Keys below 2048 bits and keys whose primes are close together are rejected otherwise.",
        &ALLOW_INSECURE,
        GucContext::Suset,
        GucFlags::default(),
    );
    // SAFETY: the callback lives as long as the backend, which cannot unload the library.
    unsafe { pg_sys::CacheRegisterRelcacheCallback(Some(relation_changed), pg_sys::Datum::from(0)) };
}

/// Records that the keys have changed. PostgreSQL calls this where reading is not allowed.
///
/// # Safety
/// No requirements.
unsafe extern "C-unwind" fn relation_changed(_: pg_sys::Datum, relation: pg_sys::Oid) {
    let relation = relation.to_u32();
    if relation == 0 || relation == TABLE.get() {
        STALE.set(true);
    }
}

/// `hearith_keys_changed()`: the trigger.
pub(crate) fn changed(call: &Call) -> Outcome {
    // SAFETY: a trigger's call has its data as context, as the checked tag confirms.
    unsafe {
        let context = (*call.raw()).context;
        if context.is_null() || (*context).type_ != pg_sys::NodeTag::T_TriggerData {
            return Err(Fault::NoTrigger);
        }
        let trigger = context.cast::<pg_sys::TriggerData>();
        pg_sys::CacheInvalidateRelcacheByRelid((*(*trigger).tg_relation).rd_id);
    }
    // A trigger returns a null pointer, which is not NULL.
    Ok(Some(pg_sys::Datum::from(0)))
}

/// The key with this id, from the backend's cache or from hearith.keys.
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

/// Rejects private keys of all kinds.
pub(crate) fn check_not_private(text: &str) -> Result<(), Fault> {
    crate::memory::reserve(text.len())?;
    // The copy is wiped because it may be a private key.
    let kind = SecretText::from(text.to_owned()).kind();
    let private = matches!(kind, KeyKind::Private | KeyKind::Share | KeyKind::Encrypted);
    if private { Err(Fault::Private) } else { Ok(()) }
}

/// Reads a public key from a JSON Web Key, with the usual checks.
pub(crate) fn read(text: &str) -> Result<PublicKey, Fault> {
    check_not_private(text)?;
    let policy = if ALLOW_INSECURE.get() { KeyPolicy::AllowInsecure } else { KeyPolicy::Secure };
    crate::kernel::inline(|| PublicKey::from_jwk(text, policy, Engine::best())).map_err(Fault::Key)
}

/// The relation hearith.keys; 0 if it does not exist.
fn table() -> u32 {
    // SAFETY: both functions only look up names.
    unsafe {
        let schema = pg_sys::get_namespace_oid(c"hearith".as_ptr(), true);
        pg_sys::get_relname_relid(c"keys".as_ptr(), schema).to_u32()
    }
}

/// The stored text of a key, read with the caller's rights.
fn stored(id: KeyId) -> Result<Option<String>, Fault> {
    Spi::connect(|client| {
        // This is PostgreSQL's equality, whatever the caller's search_path is.
        let query = "SELECT key FROM hearith.keys WHERE id OPERATOR(pg_catalog.=) $1";
        let rows = client.select(query, Some(1), &[id.to_string().into()])?;
        if rows.is_empty() { Ok(None) } else { rows.first().get_one::<String>() }
    })
    .map_err(|error: spi::Error| Fault::Table(error.to_string()))
}
