//! Key wrapping with a passphrase by PBES2, which combines PBKDF2 and AES Key Wrap (RFC 7518,
//! section 4.8; RFC 8018; RFC 3394).

use aes_kw::{KeyInit, KwAes128, KwAes192, KwAes256};
use hmac::Hmac;
use sha2::{Sha256, Sha384, Sha512};
use zeroize::Zeroizing;

/// Bytes that wrapping adds to a key.
const ADDED: usize = 8;

/// An algorithm that wraps a key with a passphrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrapping {
    Hs256A128,
    Hs384A192,
    Hs512A256,
}

impl Wrapping {
    const ALL: [Wrapping; 3] = [Wrapping::Hs256A128, Wrapping::Hs384A192, Wrapping::Hs512A256];

    /// The name in the header's `alg`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Wrapping::Hs256A128 => "PBES2-HS256+A128KW",
            Wrapping::Hs384A192 => "PBES2-HS384+A192KW",
            Wrapping::Hs512A256 => "PBES2-HS512+A256KW",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }

    /// Derives the wrapping key from a passphrase.
    pub(super) fn derive(self, passphrase: &[u8], salt: &[u8], iterations: u32) -> Zeroizing<Vec<u8>> {
        let salt = [self.name().as_bytes(), &[0], salt].concat();
        let mut key = Zeroizing::new(vec![0; self.kek_bytes()]);
        let done = match self {
            Wrapping::Hs256A128 => pbkdf2::pbkdf2::<Hmac<Sha256>>(passphrase, &salt, iterations, &mut key),
            Wrapping::Hs384A192 => pbkdf2::pbkdf2::<Hmac<Sha384>>(passphrase, &salt, iterations, &mut key),
            Wrapping::Hs512A256 => pbkdf2::pbkdf2::<Hmac<Sha512>>(passphrase, &salt, iterations, &mut key),
        };
        done.expect("HMAC takes keys of any length");
        key
    }

    /// Bytes of the wrapping key.
    fn kek_bytes(self) -> usize {
        match self {
            Wrapping::Hs256A128 => 16,
            Wrapping::Hs384A192 => 24,
            Wrapping::Hs512A256 => 32,
        }
    }

    /// Wraps a key whose length is a multiple of eight bytes.
    pub(super) fn wrap(self, kek: &[u8], key: &[u8]) -> Vec<u8> {
        let mut wrapped = vec![0; key.len() + ADDED];
        let done = match self {
            Wrapping::Hs256A128 => cipher::<KwAes128>(kek).wrap_key(key, &mut wrapped).map(drop),
            Wrapping::Hs384A192 => cipher::<KwAes192>(kek).wrap_key(key, &mut wrapped).map(drop),
            Wrapping::Hs512A256 => cipher::<KwAes256>(kek).wrap_key(key, &mut wrapped).map(drop),
        };
        done.expect("the key has whole blocks, and the buffer has the length of the wrapped key");
        wrapped
    }

    /// Unwraps a key of `bytes` bytes. Returns `None` if it was not wrapped with this key.
    pub(super) fn unwrap(self, kek: &[u8], wrapped: &[u8], bytes: usize) -> Option<Zeroizing<Vec<u8>>> {
        if wrapped.len() != bytes + ADDED {
            return None;
        }
        let mut key = Zeroizing::new(vec![0; bytes]);
        let done = match self {
            Wrapping::Hs256A128 => cipher::<KwAes128>(kek).unwrap_key(wrapped, &mut key).map(drop),
            Wrapping::Hs384A192 => cipher::<KwAes192>(kek).unwrap_key(wrapped, &mut key).map(drop),
            Wrapping::Hs512A256 => cipher::<KwAes256>(kek).unwrap_key(wrapped, &mut key).map(drop),
        };
        done.ok().map(|()| key)
    }
}

/// The cipher for a key from [`Wrapping::derive`].
fn cipher<C: KeyInit>(key: &[u8]) -> C {
    C::new_from_slice(key).expect("the derived key has the length of the cipher's")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_wrap_and_unwrap() {
        for wrapping in Wrapping::ALL {
            assert_eq!(Wrapping::named(wrapping.name()), Some(wrapping));
            let kek = wrapping.derive(b"word", b"salt and pepper", 1000);
            let wrapped = wrapping.wrap(&kek, &[7; 32]);
            assert_eq!(wrapping.unwrap(&kek, &wrapped, 32).as_deref(), Some(&vec![7; 32]));
            assert_eq!(wrapping.unwrap(&kek, &wrapped, 64), None);
            assert_eq!(wrapping.unwrap(&wrapping.derive(b"wort", b"salt and pepper", 1000), &wrapped, 32), None);
            assert_eq!(wrapping.unwrap(&wrapping.derive(b"word", b"salt and pepper", 1001), &wrapped, 32), None);
        }
    }

    #[test]
    fn the_example_of_rfc_7517_is_wrapped() {
        // Appendix C.3 to C.5: the salt, the derived key and the wrapped content encryption key.
        let salt = [217, 96, 147, 112, 150, 117, 70, 247, 127, 8, 155, 137, 174, 42, 80, 215];
        let passphrase = b"Thus from my lips, by yours, my sin is purged.";
        let kek = Wrapping::Hs256A128.derive(passphrase, &salt, 4096);
        assert_eq!(kek[..], [110, 171, 169, 92, 129, 92, 109, 117, 233, 242, 116, 233, 170, 14, 24, 75]);
        let cek = [
            111, 27, 25, 52, 66, 29, 20, 78, 92, 176, 56, 240, 65, 208, 82, 112, 161, 131, 36, 55, 202, 236, 185, 172,
            129, 23, 153, 194, 195, 48, 253, 182,
        ];
        let wrapped = Wrapping::Hs256A128.wrap(&kek, &cek);
        assert_eq!(wrapped[..8], [78, 186, 151, 59, 11, 141, 81, 240]);
        assert_eq!(Wrapping::Hs256A128.unwrap(&kek, &wrapped, 32).as_deref(), Some(&cek.to_vec()));
    }
}
