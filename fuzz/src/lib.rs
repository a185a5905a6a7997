//! What the fuzz targets share: one key, and leave for the Parquet decoder to panic where that is caught.

use hearith_paillier::{Engine, KeyPolicy, PrivateKey};
use std::sync::OnceLock;

/// A private key of 256 bits, the same in every run, so that seeds can be made for it (see `make_seeds.sh`).
pub fn key() -> &'static PrivateKey {
    static KEY: OnceLock<PrivateKey> = OnceLock::new();
    KEY.get_or_init(|| {
        let text = include_str!("../key/private.json");
        PrivateKey::from_jwk(text, KeyPolicy::AllowInsecure, Engine::Serial).expect("the key of the fuzz targets")
    })
}

/// Lets panics pass that `hearith_columns` turns into errors: libFuzzer's hook would end the process before they are caught.
#[cfg(feature = "tables")]
pub fn allow_guarded_panics() {
    let ending = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !hearith_columns::guard::is_guarded() {
            ending(panic);
        }
    }));
}
