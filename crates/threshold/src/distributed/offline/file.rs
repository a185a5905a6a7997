//! The file formats: a signed key for sealing, and sealed messages.
//!
//! | bytes | content |
//! | ---: | --- |
//! | 5 | `HDKF`, and 1 for the version |
//! | 1, 1 | sender, receiver |
//! | 4 | exchange, from 1 |
//! | 32 | the run: in the first exchange a hash of the common settings, later the session |
//!
//! In the first exchange, the sender's X25519 key and the Ed25519 signature of
//! `H(offline key, all before)` follow. In later exchanges, 32 bytes of salt and the sealed message
//! follow. The message is sealed with AES-256-GCM under the key
//! `HKDF-SHA-256(X25519 secret, salt, header, both keys)`, with all bytes before it as associated
//! data.

use super::super::message::Identity;
use super::super::stream::{HASH_BYTES, Hash, Seed, derive, derive_seed};
use super::correspondent::Wrong;
use aes_gcm::{AeadInOut, Aes256Gcm, KeyInit};
use curve25519_dalek::MontgomeryPoint;
use ed25519_dalek::{Signature, VerifyingKey};
use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::{Zeroize, Zeroizing};

const MAGIC: &[u8; 5] = b"HDKF\x01";
/// Offsets of the fields of a header.
const SENDER: usize = 5;
const RECEIVER: usize = 6;
const EXCHANGE: usize = 7;
const RUN: usize = 11;
const HEADER: usize = RUN + HASH_BYTES;
const SIGNATURE: usize = 64;
const TAG: usize = 16;
/// Length in bytes of a file of the first exchange.
const KEY_FILE: usize = HEADER + HASH_BYTES + SIGNATURE;
/// Length in bytes of the part before a sealed message.
const PREFIX: usize = HEADER + HASH_BYTES;
/// The number of bytes by which a file exceeds its message.
pub(super) const OVERHEAD: usize = PREFIX + TAG;

/// The run and exchange of a file, its sender and its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Envelope {
    pub(super) run: Hash,
    pub(super) exchange: u32,
    pub(super) sender: u32,
    pub(super) receiver: u32,
}

impl Envelope {
    fn header(&self) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[..SENDER].copy_from_slice(MAGIC);
        (header[SENDER], header[RECEIVER]) = (self.sender as u8, self.receiver as u8);
        header[EXCHANGE..RUN].copy_from_slice(&self.exchange.to_be_bytes());
        header[RUN..].copy_from_slice(&self.run);
        header
    }

    /// Whether a file claims to belong here. The claim is not authenticated yet.
    fn check(&self, file: &[u8]) -> Result<(), Wrong> {
        let header = file.first_chunk::<HEADER>().filter(|header| header.starts_with(MAGIC)).ok_or(Wrong::Form)?;
        let exchange = u32::from_be_bytes([header[7], header[8], header[9], header[10]]);
        let (sender, receiver) = (u32::from(header[SENDER]), u32::from(header[RECEIVER]));
        if (exchange, sender, receiver) != (self.exchange, self.sender, self.receiver) {
            return Err(Wrong::Elsewhere { exchange, sender, receiver });
        }
        match header[RUN..] == self.run {
            true => Ok(()),
            false if exchange == 1 => Err(Wrong::Settings),
            false => Err(Wrong::Run),
        }
    }
}

/// An X25519 key pair (RFC 7748) for one run.
pub(super) struct Agreement {
    secret: Seed,
    public: [u8; 32],
}

impl Agreement {
    pub(super) fn from_seed(secret: Seed) -> Self {
        let public = MontgomeryPoint::mul_base_clamped(*secret).to_bytes();
        Agreement { secret, public }
    }

    pub(super) fn public(&self) -> [u8; 32] {
        self.public
    }

    /// The shared secret of both sides. `None` for a key of small order, for which anyone could
    /// compute it.
    pub(super) fn shared(&self, other: &[u8; 32]) -> Option<Seed> {
        let mut point = MontgomeryPoint(*other).mul_clamped(*self.secret);
        let shared = Seed::new(point.to_bytes());
        point.zeroize();
        (*shared != [0; 32]).then_some(shared)
    }

    /// The key of one file. `keys` are those of the sender and the receiver.
    fn file_key(&self, other: &[u8; 32], salt: &[u8], header: &[u8], keys: [&[u8; 32]; 2]) -> Option<Seed> {
        let shared = self.shared(other)?;
        let mut key = Seed::default();
        let info = [b"hearith-distributed 1 offline file", header, keys[0], keys[1]];
        Hkdf::<Sha256>::new(Some(salt), &shared[..]).expand_multi_info(&info, &mut key[..]).ok()?;
        Some(key)
    }
}

/// Makes a file of the first exchange.
pub(super) fn key_file(envelope: Envelope, identity: &Identity, key: &[u8; 32]) -> Vec<u8> {
    let mut file = [&envelope.header()[..], key].concat();
    file.extend_from_slice(&identity.sign(&derive("offline key", &[&file])));
    file
}

/// Reads the key from a file of the first exchange.
pub(super) fn read_key(envelope: Envelope, signer: &VerifyingKey, file: &[u8]) -> Result<[u8; 32], Wrong> {
    envelope.check(file)?;
    let file: &[u8; KEY_FILE] = file.try_into().map_err(|_| Wrong::Form)?;
    let (signed, signature) = file.split_last_chunk::<SIGNATURE>().ok_or(Wrong::Form)?;
    let signature = Signature::from_bytes(signature);
    signer.verify_strict(&derive("offline key", &[signed]), &signature).map_err(|_| Wrong::Signature)?;
    signed[HEADER..].try_into().map_err(|_| Wrong::Form)
}

/// Seals a message to its receiver. The salt is derived from the message and a secret. So a key
/// never seals two different messages, and the same message always gives the same file.
pub(super) fn seal(envelope: Envelope, own: &Agreement, other: &[u8; 32], message: &[u8]) -> Option<Vec<u8>> {
    let header = envelope.header();
    let salt = derive_seed("offline salt", &[&own.secret[..], &header, message]);
    let key = own.file_key(other, &salt[..], &header, [&own.public, other])?;
    let mut file = Zeroizing::new(Vec::with_capacity(message.len() + OVERHEAD));
    file.extend_from_slice(&header);
    file.extend_from_slice(&salt[..]);
    file.extend_from_slice(message);
    let (before, content) = file.split_at_mut(PREFIX);
    let cipher = Aes256Gcm::new_from_slice(&key[..]).ok()?;
    // Every file has its own key, so the nonce can be constant.
    let tag = cipher.encrypt_inout_detached(&[0; 12].into(), before, content.into()).ok()?;
    file.extend_from_slice(&tag);
    Some(std::mem::take(&mut *file))
}

/// Opens the message in a file, in the file's own buffer.
pub(super) fn open(
    envelope: Envelope,
    own: &Agreement,
    other: &[u8; 32],
    file: Vec<u8>,
) -> Result<Zeroizing<Vec<u8>>, Wrong> {
    envelope.check(&file)?;
    let mut file = Zeroizing::new(file);
    let length = file.len().checked_sub(TAG).filter(|&length| length >= PREFIX).ok_or(Wrong::Form)?;
    let (rest, tag) = file.split_at_mut(length);
    let (before, content) = rest.split_at_mut(PREFIX);
    let key = own.file_key(other, &before[HEADER..], &before[..HEADER], [other, &own.public]).ok_or(Wrong::Sealed)?;
    let cipher = Aes256Gcm::new_from_slice(&key[..]).map_err(|_| Wrong::Sealed)?;
    let tag: &[u8; TAG] = (&*tag).try_into().map_err(|_| Wrong::Form)?;
    cipher.decrypt_inout_detached(&[0; 12].into(), before, content.into(), tag.into()).map_err(|_| Wrong::Sealed)?;
    file.copy_within(PREFIX..length, 0);
    // The bytes beyond the end are wiped with the buffer.
    file.truncate(length - PREFIX);
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agreement(number: u8) -> Agreement {
        Agreement::from_seed(Seed::new([number; 32]))
    }

    fn envelope() -> Envelope {
        Envelope { run: [7; 32], exchange: 5, sender: 1, receiver: 2 }
    }

    fn sealed(message: &[u8]) -> Vec<u8> {
        seal(envelope(), &agreement(1), &agreement(2).public(), message).unwrap()
    }

    fn opened(envelope: Envelope, file: &[u8]) -> Result<Vec<u8>, Wrong> {
        open(envelope, &agreement(2), &agreement(1).public(), file.to_vec()).map(|message| message.to_vec())
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// RFC 7748, section 5.2: the function applied to 9 with the base point 9, once and a thousand
    /// times.
    #[test]
    fn secrets_are_those_of_the_standard() {
        let (mut key, mut point) = ([0; 32], [0; 32]);
        (key[0], point[0]) = (9, 9);
        let once = "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079";
        assert_eq!(hex(&Agreement::from_seed(Seed::new(key)).public()), once);
        for _ in 0..1000 {
            let next = *Agreement::from_seed(Seed::new(key)).shared(&point).unwrap();
            (point, key) = (key, next);
        }
        assert_eq!(hex(&key), "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51");
        // Points of order 1, 2 and 4, for which anyone could compute the secret.
        for small in [0, 1] {
            point = [0; 32];
            point[0] = small;
            assert!(agreement(1).shared(&point).is_none());
        }
        point = [0xff; 32];
        (point[0], point[31]) = (0xec, 0x7f);
        assert!(agreement(1).shared(&point).is_none());
    }

    /// The expected file was made by another implementation, tests/offline.py.
    #[test]
    fn files_are_those_of_another_program() {
        let file = sealed(b"a message");
        let expected = include_str!("../../../tests/offline.txt").lines().next();
        assert_eq!(Some(&hex(&file)[..]), expected);
        assert_eq!(opened(envelope(), &file).unwrap(), b"a message");
    }

    #[test]
    fn every_changed_bit_is_refused() {
        let file = sealed(b"message");
        for bit in 0..8 * file.len() {
            let mut changed = file.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(opened(envelope(), &changed).is_err(), "bit {bit}");
        }
        for length in 0..file.len() {
            let expected = if length < OVERHEAD { Wrong::Form } else { Wrong::Sealed };
            assert_eq!(opened(envelope(), &file[..length]), Err(expected), "{length} bytes");
        }
        assert_eq!(opened(envelope(), &[&file[..], b"1"].concat()), Err(Wrong::Sealed));
    }

    #[test]
    fn files_belong_to_one_place_and_one_receiver() {
        let file = sealed(b"message");
        let elsewhere = Wrong::Elsewhere { exchange: 5, sender: 1, receiver: 2 };
        for other in [
            Envelope { exchange: 6, ..envelope() },
            Envelope { exchange: 1, ..envelope() },
            Envelope { sender: 3, ..envelope() },
            Envelope { receiver: 1, ..envelope() },
        ] {
            assert_eq!(opened(other, &file), Err(elsewhere));
            // With a matching header, the file still does not open.
            let moved = [&other.header()[..], &file[HEADER..]].concat();
            assert_eq!(opened(other, &moved), Err(Wrong::Sealed));
        }
        assert_eq!(opened(Envelope { run: [8; 32], ..envelope() }, &file), Err(Wrong::Run));
        for (own, other) in [(3, 1), (2, 3), (1, 2)] {
            let opened = open(envelope(), &agreement(own), &agreement(other).public(), file.clone());
            assert_eq!(opened.map(|_| ()), Err(Wrong::Sealed), "{own}, {other}");
        }
    }

    /// A trustee whose state was restored must not seal two messages under one key.
    #[test]
    fn one_message_gives_one_file_and_two_messages_two_keys() {
        let (one, two) = (sealed(b"one"), sealed(b"two"));
        assert_eq!(one, sealed(b"one"));
        assert_ne!(one[HEADER..PREFIX], two[HEADER..PREFIX]);
    }

    #[test]
    fn keys_are_signed_and_every_changed_bit_is_refused() {
        let (identity, envelope) = (Identity::from_seed(&[9; 32]), Envelope { exchange: 1, ..envelope() });
        let signer = VerifyingKey::from_bytes(&identity.public()).unwrap();
        let file = key_file(envelope, &identity, &[3; 32]);
        assert_eq!(read_key(envelope, &signer, &file), Ok([3; 32]));
        for bit in 0..8 * file.len() {
            let mut changed = file.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(read_key(envelope, &signer, &changed).is_err(), "bit {bit}");
        }
        for length in 0..file.len() {
            assert_eq!(read_key(envelope, &signer, &file[..length]), Err(Wrong::Form));
        }
        assert_eq!(read_key(Envelope { run: [8; 32], ..envelope }, &signer, &file), Err(Wrong::Settings));
        let stranger = VerifyingKey::from_bytes(&Identity::from_seed(&[1; 32]).public()).unwrap();
        assert_eq!(read_key(envelope, &stranger, &file), Err(Wrong::Signature));
    }
}
