//! Signed messages between two trustees.
//!
//! | bytes | content |
//! | ---: | --- |
//! | 4 | `HDKG` |
//! | 1 | version, 1 |
//! | 1 | kind: 0 protocol, 1 blame, 2 farewell |
//! | 1 | stage |
//! | 1 | sender, from 1 |
//! | 1 | receiver, from 1 |
//! | 4 | round, from 0 |
//! | 32 | session |
//! | 32 | hash of all broadcasts of earlier rounds |
//! | 4 | length of the broadcast part |
//! | 4 | length of the part for this receiver |
//! | | broadcast part |
//! | | part for this receiver |
//! | 64 | Ed25519 signature of the hash of all before |
//!
//! Numbers are big-endian.

use super::stream::{HASH_BYTES, Hash, derive};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use std::fmt;
use zeroize::Zeroizing;

const MAGIC: &[u8; 5] = b"HDKG\x01";
const SIGNATURE_BYTES: usize = 64;
/// Offsets of the fields of a header.
const KIND: usize = 5;
const STAGE: usize = 6;
const SENDER: usize = 7;
const RECEIVER: usize = 8;
const ROUND: usize = 9;
const SESSION: usize = 13;
const VIEW: usize = SESSION + HASH_BYTES;
const LENGTHS: usize = VIEW + HASH_BYTES;
/// Length of a header in bytes.
const HEADER: usize = LENGTHS + 8;

/// The key with which a trustee signs its messages.
#[derive(Clone)]
pub struct Identity(SigningKey);

impl Identity {
    /// Generates an identity.
    ///
    /// # Errors
    /// If the operating system's generator fails.
    pub fn generate() -> Result<Self, getrandom::Error> {
        Ok(Self::from_seed(&*super::stream::random_seed()?))
    }

    /// The identity with this private key (RFC 8032).
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Identity(SigningKey::from_bytes(seed))
    }

    /// The public key, with which others verify messages.
    pub fn public(&self) -> [u8; 32] {
        self.0.verifying_key().to_bytes()
    }

    /// Signs bytes.
    pub fn sign(&self, bytes: &[u8]) -> [u8; SIGNATURE_BYTES] {
        self.0.sign(bytes).to_bytes()
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity")
    }
}

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Protocol = 0,
    Blame = 1,
    Farewell = 2,
}

/// The run and round of a message, its sender and its receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Envelope {
    pub(crate) session: Hash,
    pub(crate) round: u32,
    pub(crate) sender: u32,
    pub(crate) receiver: u32,
}

/// The parts of an authenticated message.
pub(crate) struct Message<'a> {
    pub(crate) kind: Kind,
    pub(crate) view: Hash,
    pub(crate) broadcast: &'a [u8],
    pub(crate) private: &'a [u8],
}

/// A message without its signature.
pub(crate) fn unsigned(
    envelope: Envelope,
    kind: Kind,
    stage: u8,
    view: &Hash,
    broadcast: &[u8],
    private: &[u8],
) -> Zeroizing<Vec<u8>> {
    let bytes = HEADER + broadcast.len() + private.len() + SIGNATURE_BYTES;
    let mut message = Zeroizing::new(Vec::with_capacity(bytes));
    message.extend_from_slice(MAGIC);
    message.extend_from_slice(&[kind as u8, stage, envelope.sender as u8, envelope.receiver as u8]);
    message.extend_from_slice(&envelope.round.to_be_bytes());
    message.extend_from_slice(&envelope.session);
    message.extend_from_slice(view);
    message.extend_from_slice(&(broadcast.len() as u32).to_be_bytes());
    message.extend_from_slice(&(private.len() as u32).to_be_bytes());
    message.extend_from_slice(broadcast);
    message.extend_from_slice(private);
    message
}

/// Appends the signature to a message.
pub(crate) fn signed(identity: &Identity, mut message: Zeroizing<Vec<u8>>) -> Vec<u8> {
    let signature = identity.sign(&derive("message", &[&message]));
    message.extend_from_slice(&signature);
    std::mem::take(&mut *message)
}

/// The signed part of a message.
pub(crate) fn signed_part(message: &[u8]) -> &[u8] {
    &message[..message.len().saturating_sub(SIGNATURE_BYTES)]
}

/// The round in a message that [`parse`] has not checked yet.
pub(crate) fn round(message: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(*message.get(ROUND..)?.first_chunk()?))
}

/// The sender in a message that [`parse`] has not checked yet.
pub(crate) fn sender(message: &[u8]) -> Option<u32> {
    message.get(SENDER).copied().map(u32::from)
}

/// The parts of a message. `None` unless it has this envelope and a valid signature of the sender.
pub(crate) fn parse<'a>(message: &'a [u8], envelope: Envelope, sender: &VerifyingKey) -> Option<Message<'a>> {
    let (signed, signature) = message.split_last_chunk::<SIGNATURE_BYTES>()?;
    let header = signed.first_chunk::<HEADER>()?;
    let belongs = header.starts_with(MAGIC)
        && u32::from(header[SENDER]) == envelope.sender
        && u32::from(header[RECEIVER]) == envelope.receiver
        && header[ROUND..SESSION] == envelope.round.to_be_bytes()
        && header[SESSION..VIEW] == envelope.session;
    let kind = [Kind::Protocol, Kind::Blame, Kind::Farewell].into_iter().find(|&kind| kind as u8 == header[KIND])?;
    let length = |at: usize| header[at..].first_chunk().map(|bytes| u32::from_be_bytes(*bytes) as usize);
    let (broadcast, private) = (length(LENGTHS)?, length(LENGTHS + 4)?);
    let rest = &signed[HEADER..];
    if !belongs || broadcast.checked_add(private)? != rest.len() {
        return None;
    }
    sender.verify_strict(&derive("message", &[signed]), &Signature::from_bytes(signature)).ok()?;
    let (broadcast, private) = rest.split_at(broadcast);
    Some(Message { kind, view: *header[VIEW..].first_chunk()?, broadcast, private })
}

/// The stage in a message.
pub(crate) fn stage(message: &[u8]) -> u8 {
    message.get(STAGE).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn envelope() -> Envelope {
        Envelope { session: [7; 32], round: 3, sender: 1, receiver: 2 }
    }

    fn message() -> (Identity, VerifyingKey, Vec<u8>) {
        let identity = Identity::from_seed(&[9; 32]);
        let key = VerifyingKey::from_bytes(&identity.public()).unwrap();
        let bytes = signed(&identity, unsigned(envelope(), Kind::Protocol, 4, &[5; 32], b"all", b"you"));
        (identity, key, bytes)
    }

    #[test]
    fn what_is_signed_is_read() {
        let (_, key, bytes) = message();
        let read = parse(&bytes, envelope(), &key).unwrap();
        assert_eq!(
            (read.kind, read.view, read.broadcast, read.private),
            (Kind::Protocol, [5; 32], &b"all"[..], &b"you"[..])
        );
        assert_eq!((round(&bytes), stage(&bytes), bytes.len()), (Some(3), 4, 85 + 6 + 64));
    }

    #[test]
    fn every_changed_bit_is_refused() {
        let (_, key, bytes) = message();
        for bit in 0..8 * bytes.len() {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(parse(&changed, envelope(), &key).is_none(), "bit {bit}");
        }
        for length in 0..bytes.len() {
            assert!(parse(&bytes[..length], envelope(), &key).is_none());
        }
    }

    #[test]
    fn messages_belong_to_one_place() {
        let (_, key, bytes) = message();
        for other in [
            Envelope { session: [8; 32], ..envelope() },
            Envelope { round: 4, ..envelope() },
            Envelope { sender: 2, ..envelope() },
            Envelope { receiver: 3, ..envelope() },
        ] {
            assert!(parse(&bytes, other, &key).is_none());
        }
        let stranger = VerifyingKey::from_bytes(&Identity::from_seed(&[1; 32]).public()).unwrap();
        assert!(parse(&bytes, envelope(), &stranger).is_none());
    }
}
