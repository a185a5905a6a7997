//! Authenticated encryption of a key's text with AES-GCM or AES-CBC and HMAC (RFC 7518, sections
//! 5.3 and 5.2).

use aes::{Aes128, Aes256};
use aes_gcm::{AeadInOut, Aes256Gcm, KeyInit};
use cbc::Decryptor;
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockModeDecrypt, InnerIvInit};
use hmac::{Hmac, Mac};
use sha2::{Sha256, Sha512};

/// Bytes of an AES-GCM nonce.
pub(super) const GCM_IV: usize = 12;
/// Bytes of an AES-GCM tag.
const GCM_TAG: usize = 16;

/// An algorithm for authenticated encryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    A128CbcHs256,
    A256CbcHs512,
    A256Gcm,
}

impl Content {
    const ALL: [Content; 3] = [Content::A128CbcHs256, Content::A256CbcHs512, Content::A256Gcm];

    /// The name in the header's `enc`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Content::A128CbcHs256 => "A128CBC-HS256",
            Content::A256CbcHs512 => "A256CBC-HS512",
            Content::A256Gcm => "A256GCM",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }

    /// Bytes of the key.
    pub(super) fn key_bytes(self) -> usize {
        match self {
            Content::A128CbcHs256 | Content::A256Gcm => 32,
            Content::A256CbcHs512 => 64,
        }
    }

    /// Decrypts in place under a key of [`Content::key_bytes`] bytes. Returns the length of the
    /// text at the start of `data`, or `None` if anything was changed.
    pub(super) fn decrypt(self, key: &[u8], iv: &[u8], header: &[u8], data: &mut [u8], tag: &[u8]) -> Option<usize> {
        let (mac_key, key_half) = key.split_at(key.len() / 2);
        match self {
            Content::A256Gcm => {
                let (iv, tag) = (<&[u8; GCM_IV]>::try_from(iv).ok()?, <&[u8; GCM_TAG]>::try_from(tag).ok()?);
                let cipher = Aes256Gcm::new_from_slice(key).ok()?;
                cipher.decrypt_inout_detached(iv.into(), header, data.into(), tag.into()).ok()?;
                Some(data.len())
            }
            Content::A128CbcHs256 => {
                check::<Hmac<Sha256>>(mac_key, [header, iv, data], tag)?;
                let cipher = Aes128::new_from_slice(key_half).ok()?;
                Decryptor::inner_iv_slice_init(cipher, iv).ok()?.decrypt_padded::<Pkcs7>(data).ok().map(<[u8]>::len)
            }
            Content::A256CbcHs512 => {
                check::<Hmac<Sha512>>(mac_key, [header, iv, data], tag)?;
                let cipher = Aes256::new_from_slice(key_half).ok()?;
                Decryptor::inner_iv_slice_init(cipher, iv).ok()?.decrypt_padded::<Pkcs7>(data).ok().map(<[u8]>::len)
            }
        }
    }
}

/// Checks the tag of AES-CBC with HMAC: the first half of the HMAC of header, initialisation
/// vector, ciphertext and the header's length in bits.
fn check<M: Mac + KeyInit>(key: &[u8], parts: [&[u8]; 3], tag: &[u8]) -> Option<()> {
    if tag.len() != key.len() {
        return None;
    }
    let mut mac = <M as KeyInit>::new_from_slice(key).ok()?;
    parts.iter().for_each(|part| mac.update(part));
    mac.update(&(8 * parts[0].len() as u64).to_be_bytes());
    mac.verify_truncated_left(tag).ok()
}

/// Encrypts in place with AES-256-GCM and returns the tag.
pub(super) fn encrypt(key: &[u8], iv: &[u8; GCM_IV], header: &[u8], data: &mut [u8]) -> Option<[u8; GCM_TAG]> {
    let cipher = Aes256Gcm::new_from_slice(key).ok()?;
    cipher.encrypt_inout_detached(iv.into(), header, data.into()).ok().map(Into::into)
}
