//! A trustee's shares of decryptions, with proofs.

use crate::error::{Error, ErrorKind};
use crate::key::{Lengths, Shared};
use crate::{KeyShare, VerificationKeys};
use hearith_arith::Batch;
use hearith_arith::natural::{has_bits_from, limbs_of};
use hearith_paillier::{Ciphertexts, KeyId, PublicKey};
use hearith_proofs::Contexts;

/// One trustee's shares of the decryption of a batch, one per row: `c_i = c^(2 D s_i)`, the
/// commitments `a` and `b`, and the answer `z`. They are public.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shares {
    trustee: u32,
    numbers: Ciphertexts,
    commitments: [Ciphertexts; 2],
    responses: Batch,
    response_bytes: usize,
}

impl Shares {
    pub(crate) fn new(
        shared: &Shared,
        trustee: u32,
        numbers: Ciphertexts,
        commitments: [Ciphertexts; 2],
        responses: Batch,
    ) -> Self {
        Shares {
            trustee,
            numbers,
            commitments,
            responses: responses.public(),
            response_bytes: shared.lengths().response_bytes(),
        }
    }

    /// The number of the claimed trustee, from 1.
    pub fn trustee(&self) -> u32 {
        self.trustee
    }

    /// Id of the key of the decryption.
    pub fn key_id(&self) -> KeyId {
        self.numbers.key_id()
    }

    /// The number of shares.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether the batch is empty.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// `c_i`.
    pub(crate) fn numbers(&self) -> &Ciphertexts {
        &self.numbers
    }

    /// `a` and `b`.
    pub(crate) fn commitments(&self) -> &[Ciphertexts; 2] {
        &self.commitments
    }

    /// `z`.
    pub(crate) fn responses(&self) -> &Batch {
        &self.responses
    }

    /// Length in bytes of a share of a decryption under a dealt key. For other keys use
    /// [`VerificationKeys::share_bytes`].
    pub fn row_bytes(key: &PublicKey) -> usize {
        Lengths::dealt(key).row_bytes()
    }

    /// All shares concatenated: `c_i`, `a`, `b` and `z` of each, big-endian.
    pub fn to_be_bytes(&self) -> Vec<u8> {
        let [a, b] = &self.commitments;
        let number = |batch: &Ciphertexts| (batch.to_be_bytes(), batch.row_bytes());
        let responses = (self.responses.to_be_bytes(self.response_bytes), self.response_bytes);
        let parts = [number(&self.numbers), number(a), number(b), responses];
        let row = |row: usize| parts.iter().flat_map(move |(bytes, width)| &bytes[row * width..][..*width]);
        (0..self.len()).flat_map(row).copied().collect()
    }

    /// Reads untrusted shares of a dealt key, claimed to be a trustee's. The encoding of a share is
    /// unique. [`VerificationKeys::shares_from_be_bytes`] supports keys of any origin.
    ///
    /// # Errors
    /// [`Width`](ErrorKind::Width), or [`OutOfRange`](ErrorKind::OutOfRange) for the first row with
    /// a number that is 0 or not below its modulus.
    pub fn from_be_bytes(key: &PublicKey, trustee: u32, bytes: &[u8]) -> Result<Self, Error> {
        Self::read(key, Lengths::dealt(key), trustee, bytes)
    }

    fn read(key: &PublicKey, lengths: Lengths, trustee: u32, bytes: &[u8]) -> Result<Self, Error> {
        let (all, width) = (lengths.row_bytes(), key.ciphertext_bytes());
        if !bytes.len().is_multiple_of(all) {
            return Err(ErrorKind::Width { width: all, bytes: bytes.len() }.of(trustee));
        }
        let part = |index: usize| bytes.chunks_exact(all).map(move |row| &row[index * width..][..width]);
        let numbers =
            |index| key.ciphertexts_from_be_rows(&part(index).collect::<Vec<_>>()).map_err(out_of_range(trustee));
        let bits = lengths.response_bits();
        let responses: Vec<_> = bytes.chunks_exact(all).map(|row| &row[3 * width..]).collect();
        let responses = Batch::from_be_rows(responses.into_iter(), limbs_of(bits));
        if let Some(row) = responses.rows().position(|response| has_bits_from(response, bits)) {
            return Err(ErrorKind::OutOfRange.at_row(row).of(trustee));
        }
        let commitments = [numbers(1)?, numbers(2)?];
        let (numbers, responses) = (numbers(0)?, responses.public());
        Ok(Shares { trustee, numbers, commitments, responses, response_bytes: lengths.response_bytes() })
    }
}

impl VerificationKeys {
    /// Length in bytes of a trustee's share of one decryption.
    pub fn share_bytes(&self) -> usize {
        self.shared().lengths().row_bytes()
    }

    /// Reads untrusted shares, claimed to be a trustee's. The encoding of a share is unique.
    ///
    /// # Errors
    /// The errors of [`Shares::from_be_bytes`].
    pub fn shares_from_be_bytes(&self, trustee: u32, bytes: &[u8]) -> Result<Shares, Error> {
        Shares::read(self.key(), self.shared().lengths(), trustee, bytes)
    }
}

impl KeyShare {
    /// Length in bytes of this trustee's share of one decryption.
    pub fn share_bytes(&self) -> usize {
        self.shared().lengths().row_bytes()
    }
}

/// Converts the scheme's error about a number of a share.
pub(crate) fn out_of_range(trustee: u32) -> impl Fn(hearith_paillier::Error) -> Error {
    move |error| match error.row() {
        Some(row) => ErrorKind::OutOfRange.at_row(row).of(trustee),
        None => Error::from(error).of(trustee),
    }
}

/// The challenge of each row: the hash of its contexts, the whole key, the trustee, the ciphertext,
/// the share and its commitments.
pub(crate) fn challenges(
    shared: &Shared,
    verification: &Batch,
    contexts: &Contexts,
    ciphertexts: &Ciphertexts,
    trustee: u32,
    [numbers, a, b]: [&Ciphertexts; 3],
) -> Batch {
    let (key, width) = (shared.key(), ciphertexts.row_bytes());
    let n = key.modulus_be();
    let [v, v_i] = [shared.generator(), verification].map(|number| number.to_be_bytes(width));
    let counters: Vec<u8> =
        [shared.needed(), shared.trustees(), trustee].iter().flat_map(|number| number.to_be_bytes()).collect();
    let rows = [ciphertexts, numbers, a, b].map(Ciphertexts::to_be_bytes);
    contexts.challenges("share", |transcript, row| {
        let transcript = transcript.with(&n).with(&counters).with(&v).with(&v_i);
        rows.iter().fold(transcript, |transcript, bytes| transcript.with(&bytes[row * width..][..width]))
    })
}
