//! What the fuzz targets share: one key, and leave for the Parquet decoder to panic where that is
//! caught.

use hearith_paillier::{Engine, KeyPolicy, PrivateKey, PublicKey};
use std::sync::OnceLock;

/// A private key of 256 bits, the same in every run, so that seeds can be made for it (see
/// `make_seeds.sh`).
pub fn key() -> &'static PrivateKey {
    static KEY: OnceLock<PrivateKey> = OnceLock::new();
    KEY.get_or_init(|| {
        let text = include_str!("../key/private.json");
        PrivateKey::from_jwk(text, KeyPolicy::AllowInsecure, Engine::Serial).expect("the key of the fuzz targets")
    })
}

/// The public half of [`key`] with a generator: `-3^2`.
pub fn with_generator() -> &'static PublicKey {
    static KEY: OnceLock<PublicKey> = OnceLock::new();
    KEY.get_or_init(|| {
        let n = key().public().modulus_be();
        let mut h = n.clone();
        let borrowed = h.iter_mut().rev().fold(9, |less, byte| {
            let (rest, borrowed) = byte.overflowing_sub(less);
            *byte = rest;
            u8::from(borrowed)
        });
        assert_eq!(borrowed, 0, "n is above 9");
        PublicKey::new(&n, Some(&h), KeyPolicy::AllowInsecure, Engine::Serial).expect("a unit")
    })
}

/// Lets panics pass that `hearith_columns` turns into errors: libFuzzer's hook would end the
/// process before they are caught.
#[cfg(feature = "tables")]
pub fn allow_guarded_panics() {
    let ending = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !hearith_columns::guard::is_guarded() {
            ending(panic);
        }
    }));
}
