//! The operations of a key, performed by a service.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use hearith_paillier::{
    Ciphertexts, ComputeError, DecryptError, DecryptionBackend, ErrorKind as SchemeErrorKind, Plaintexts, PublicKey,
    PublicKeyBackend,
};
use prost::bytes::Bytes;
use zeroize::Zeroizing;

use super::exchange::Exchange;
use super::{Error, ErrorKind, MESSAGE_EXTRA, MESSAGE_ROWS, Service};
use crate::proto::{self, ErrorReason};

/// A public key whose operations a service performs. It decrypts too if the service has the private
/// key.
pub struct RemoteKey {
    service: Arc<Service>,
    public: PublicKey,
    registered: Mutex<Arc<Registered>>,
    decrypts: bool,
}

/// The service's answer to the registration of a key.
#[derive(Debug)]
pub(super) struct Registered {
    pub(super) handle: String,
    pub(super) message_bytes: usize,
    pub(super) decrypts: bool,
}

impl RemoteKey {
    pub(super) fn new(service: Arc<Service>, public: PublicKey, registered: Registered) -> Self {
        let decrypts = registered.decrypts;
        Self { service, public, registered: Mutex::new(Arc::new(registered)), decrypts }
    }

    /// The public key.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Whether the service has the private key.
    pub fn decrypts(&self) -> bool {
        self.decrypts
    }

    /// Encrypts every plaintext. The service sees the plaintexts.
    ///
    /// # Errors
    /// The service or the connection fails.
    ///
    /// # Panics
    /// If the plaintexts belong to another key.
    pub fn encrypt(&self, plaintexts: &Plaintexts) -> Result<Ciphertexts, Error> {
        self.same_key(plaintexts.key_id());
        let width = self.public.plaintext_bytes();
        let bytes = plaintexts.to_be_bytes();
        let pieces = |rows: usize, key: &str| {
            let piece = |bytes: &[u8]| proto::EncryptRequest { key: key.to_owned(), plaintexts: wiped(bytes) };
            bytes.chunks(rows * width).map(piece).collect()
        };
        self.ciphertexts(plaintexts.len(), width, pieces)
    }

    /// Returns other ciphertexts of the same plaintexts.
    ///
    /// # Errors
    /// The service or the connection fails.
    ///
    /// # Panics
    /// If the ciphertexts belong to another key.
    pub fn rerandomise(&self, ciphertexts: &Ciphertexts) -> Result<Ciphertexts, Error> {
        let bytes = self.bytes(ciphertexts);
        let width = self.public.ciphertext_bytes();
        let pieces = |rows: usize, key: &str| {
            let piece = |bytes: &[u8]| proto::RerandomiseRequest { key: key.to_owned(), ciphertexts: copied(bytes) };
            bytes.chunks(rows * width).map(piece).collect()
        };
        self.ciphertexts(ciphertexts.len(), width, pieces)
    }

    /// Adds two batches row by row.
    ///
    /// # Errors
    /// The service or the connection fails.
    ///
    /// # Panics
    /// If the batches belong to another key or differ in length.
    pub fn add(&self, left: &Ciphertexts, right: &Ciphertexts) -> Result<Ciphertexts, Error> {
        assert_eq!(left.len(), right.len(), "as many rows");
        let width = self.public.ciphertext_bytes();
        let (lefts, rights) = (self.bytes(left), self.bytes(right));
        let pieces = |rows: usize, key: &str| {
            let pairs = lefts.chunks(rows * width).zip(rights.chunks(rows * width));
            let piece =
                |(left, right)| proto::AddRequest { key: key.to_owned(), left: copied(left), right: copied(right) };
            pairs.map(piece).collect()
        };
        self.ciphertexts(left.len(), 2 * width, pieces)
    }

    /// Multiplies each row by an integer of magnitude below `2^bits`, without re-randomisation.
    ///
    /// # Errors
    /// The service or the connection fails.
    ///
    /// # Panics
    /// If the ciphertexts belong to another key or the number of scalars differs.
    pub fn multiply(&self, ciphertexts: &Ciphertexts, scalars: &[i128], bits: u32) -> Result<Ciphertexts, Error> {
        const SCALAR: usize = 16;
        assert_eq!(ciphertexts.len(), scalars.len(), "as many rows");
        let width = self.public.ciphertext_bytes();
        let bytes = self.bytes(ciphertexts);
        let mut packed = Zeroizing::new(Vec::with_capacity(scalars.len() * SCALAR));
        scalars.iter().for_each(|scalar| packed.extend_from_slice(&scalar.to_be_bytes()));
        let pieces = |rows: usize, key: &str| {
            let piece = |(ciphertexts, scalars)| proto::MultiplyRequest {
                key: key.to_owned(),
                ciphertexts: copied(ciphertexts),
                scalars: wiped(scalars),
                bits: bits.min(i128::BITS),
                deterministic: true,
            };
            bytes.chunks(rows * width).zip(packed.chunks(rows * SCALAR)).map(piece).collect()
        };
        self.ciphertexts(ciphertexts.len(), width + SCALAR, pieces)
    }

    /// Sums groups of rows. The service sums the groups within each message, then the partial sums
    /// of groups that span several messages.
    ///
    /// # Errors
    /// The service or the connection fails.
    ///
    /// # Panics
    /// If the ciphertexts belong to another key, or a group names a row that does not exist.
    pub fn sum_groups(&self, ciphertexts: &Ciphertexts, groups: &[Vec<u32>]) -> Result<Ciphertexts, Error> {
        let members: Vec<(usize, u32)> = groups
            .iter()
            .enumerate()
            .flat_map(|(group, rows)| rows.iter().map(move |&row| (row as usize, group as u32)))
            .collect();
        let (rows, mut of): (Vec<usize>, Vec<u32>) = members.into_iter().unzip();
        let mut terms = self.ok(ciphertexts.select(&rows));
        loop {
            let sums = self.sums_by_message(&terms, &of)?;
            let complete = sums.of.windows(2).all(|pair| pair[0] != pair[1]);
            (terms, of) = (sums.terms, sums.of);
            if complete {
                break;
            }
        }
        // An empty group sums to zero.
        let zero = self.public.zero();
        let with_zero = self.ok(Ciphertexts::concat(&terms, &[&zero]));
        let mut indices = vec![terms.len(); groups.len()];
        of.iter().enumerate().for_each(|(index, &group)| indices[group as usize] = index);
        Ok(self.ok(with_zero.select(&indices)))
    }

    /// Sums rows that are sorted by group. Returns one partial sum for each group in each message.
    fn sums_by_message(&self, terms: &Ciphertexts, of: &[u32]) -> Result<Sums, Error> {
        let width = self.public.ciphertext_bytes();
        let bytes = self.bytes(terms);
        let rows_per_message = self.message_rows(&self.registration(), width + 5);
        let numbered: Vec<(Vec<u32>, Vec<u32>)> = of.chunks(rows_per_message).map(numbered).collect();
        let pieces = |rows: usize, key: &str| {
            let piece = |(ciphertexts, (groups, names)): (&[u8], &(Vec<u32>, Vec<u32>))| proto::SumGroupsRequest {
                key: key.to_owned(),
                ciphertexts: copied(ciphertexts),
                groups: groups.clone(),
                count: names.len() as u32,
            };
            bytes.chunks(rows * width).zip(&numbered).map(piece).collect()
        };
        let of: Vec<u32> = numbered.iter().flat_map(|(_, names)| names).copied().collect();
        Ok(Sums { terms: self.ciphertexts(of.len(), width + 5, pieces)?, of })
    }

    /// Decrypts the ciphertexts.
    ///
    /// # Errors
    /// The service has no private key, or the service or the connection fails.
    ///
    /// # Panics
    /// If the ciphertexts belong to another key.
    pub fn decrypt(&self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, Error> {
        let bytes = self.bytes(ciphertexts);
        let width = self.public.ciphertext_bytes();
        let pieces = |rows: usize, key: &str| {
            let piece = |bytes: &[u8]| proto::DecryptRequest { key: key.to_owned(), ciphertexts: copied(bytes) };
            bytes.chunks(rows * width).map(piece).collect()
        };
        let numbers = Zeroizing::new(self.exchange::<proto::DecryptRequest>(width, pieces)?);
        let plaintexts = self.public.plaintexts_from_be(&numbers).map_err(|error| self.no_number(error))?;
        if plaintexts.len() == ciphertexts.len() { Ok(plaintexts) } else { Err(self.service.wrong(ErrorKind::Answer)) }
    }

    /// Returns the ciphertexts of all answers, which must be `rows` in number.
    fn ciphertexts<E: Exchange>(
        &self,
        rows: usize,
        row_bytes: usize,
        pieces: impl Fn(usize, &str) -> Vec<E>,
    ) -> Result<Ciphertexts, Error> {
        let numbers = self.exchange::<E>(row_bytes, pieces)?;
        let ciphertexts = self.public.ciphertexts_from_be(&numbers).map_err(|error| self.no_number(error))?;
        if ciphertexts.len() == rows { Ok(ciphertexts) } else { Err(self.service.wrong(ErrorKind::Answer)) }
    }

    /// Returns the concatenated answers to the requests that `pieces` creates.
    ///
    /// `pieces` receives the number of rows per message and the key's handle. If the service no
    /// longer knows the key, registers it again, once.
    fn exchange<E: Exchange>(
        &self,
        row_bytes: usize,
        pieces: impl Fn(usize, &str) -> Vec<E>,
    ) -> Result<Vec<u8>, Error> {
        let ask = |registered: &Registered| {
            let rows = self.message_rows(registered, row_bytes);
            self.service.exchange(pieces(rows, &registered.handle), rows)
        };
        let registered = self.registration();
        let answers = match ask(&registered) {
            Err(error) if error.reason() == Some(ErrorReason::UnknownKey) => {
                let renewed = Arc::new(self.service.register(&self.public)?);
                *self.registered.lock().unwrap_or_else(PoisonError::into_inner) = renewed.clone();
                ask(&renewed)
            }
            answers => answers,
        };
        Ok(answers?.concat())
    }

    fn registration(&self) -> Arc<Registered> {
        self.registered.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The number of rows per message.
    fn message_rows(&self, registered: &Registered, row_bytes: usize) -> usize {
        (registered.message_bytes.saturating_sub(MESSAGE_EXTRA) / row_bytes).clamp(1, MESSAGE_ROWS)
    }

    fn bytes(&self, ciphertexts: &Ciphertexts) -> Vec<u8> {
        self.same_key(ciphertexts.key_id());
        ciphertexts.to_be_bytes()
    }

    fn same_key(&self, other: hearith_paillier::KeyId) {
        assert_eq!(self.public.id(), other, "the same key");
    }

    /// Unwraps a selection or concatenation, which cannot fail for existing rows of one key.
    fn ok<T>(&self, result: Result<T, hearith_paillier::Error>) -> T {
        result.expect("rows that are there, of one key")
    }

    fn no_number(&self, error: hearith_paillier::Error) -> Error {
        self.service.wrong(ErrorKind::Number(error))
    }

    /// Returns the same errors as the key's own operations.
    fn check(&self, a: &Ciphertexts, rows: Option<usize>) -> Result<(), hearith_paillier::Error> {
        let (expected, found) = (self.public.id(), a.key_id());
        if expected != found {
            return Err(SchemeErrorKind::WrongKey { expected, found }.into());
        }
        match rows.filter(|&rows| rows != a.len()) {
            Some(right) => Err(SchemeErrorKind::Lengths { left: a.len(), right }.into()),
            None => Ok(()),
        }
    }
}

/// Partial sums, and the group of each.
struct Sums {
    terms: Ciphertexts,
    of: Vec<u32>,
}

/// Numbers the groups of a message from 0 in order of appearance. Returns the number for each row,
/// and the group behind each number.
fn numbered(of: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut names: Vec<u32> = Vec::new();
    let groups = of.iter().map(|&group| {
        if names.last() != Some(&group) {
            names.push(group);
        }
        names.len() as u32 - 1
    });
    (groups.collect(), names)
}

fn copied(bytes: &[u8]) -> Bytes {
    Bytes::copy_from_slice(bytes)
}

/// A copy of secret bytes that is wiped once the transport has copied it.
fn wiped(bytes: &[u8]) -> Bytes {
    Bytes::from_owner(Zeroizing::new(bytes.to_vec()))
}

impl fmt::Debug for RemoteKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteKey({} at {})", self.public.id(), self.service.url)
    }
}

impl PublicKeyBackend for RemoteKey {
    fn public(&self) -> &PublicKey {
        &self.public
    }

    fn encrypt(&self, plaintexts: &Plaintexts) -> Result<Ciphertexts, ComputeError> {
        let (expected, found) = (self.public.id(), plaintexts.key_id());
        if expected != found {
            return Err(hearith_paillier::Error::from(SchemeErrorKind::WrongKey { expected, found }).into());
        }
        Ok(self.encrypt(plaintexts)?)
    }

    fn rerandomise(&self, ciphertexts: &Ciphertexts) -> Result<Ciphertexts, ComputeError> {
        self.check(ciphertexts, None)?;
        Ok(self.rerandomise(ciphertexts)?)
    }

    fn add(&self, a: &Ciphertexts, b: &Ciphertexts) -> Result<Ciphertexts, ComputeError> {
        self.check(b, None)?;
        self.check(a, Some(b.len()))?;
        Ok(self.add(a, b)?)
    }

    fn multiply(&self, ciphertexts: &Ciphertexts, scalars: &[i128], bits: u32) -> Result<Ciphertexts, ComputeError> {
        self.check(ciphertexts, Some(scalars.len()))?;
        Ok(self.multiply(ciphertexts, scalars, bits)?)
    }

    fn sum_groups(&self, ciphertexts: &Ciphertexts, groups: &[Vec<u32>]) -> Result<Ciphertexts, ComputeError> {
        self.check(ciphertexts, None)?;
        let rows = ciphertexts.len();
        if let Some(&row) = groups.iter().flatten().find(|&&row| row as usize >= rows) {
            return Err(SchemeErrorKind::NoSuchRow { rows }.at_row(row as usize).into());
        }
        Ok(self.sum_groups(ciphertexts, groups)?)
    }
}

impl DecryptionBackend for RemoteKey {
    fn public(&self) -> &PublicKey {
        &self.public
    }

    fn decrypt(&self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, DecryptError> {
        self.check(ciphertexts, None)?;
        Ok(self.decrypt(ciphertexts)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_numbered_in_their_order() {
        assert_eq!(numbered(&[3, 3, 5, 9, 9]), (vec![0, 0, 1, 2, 2], vec![3, 5, 9]));
        assert_eq!(numbered(&[]), (vec![], vec![]));
    }
}
