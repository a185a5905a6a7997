//! Keys and their batch operations.

use crate::batches::{Ciphertexts, Plaintexts};
use crate::integers::Bytes;
use crate::memory::{room, room_to_copy};
use crate::slots::SlotLayout;
use crate::{errors, integers, threads};
use hearith_cuda::{CUDA, Choice, LoadedCards};
use hearith_device::Trust;
use hearith_paillier::encoding::{decode_signed, encode_signed};
use hearith_paillier::{
    ComputeError, DEFAULT_ITERATIONS, DecryptError, DecryptionBackend, Engine, Error, KeyKind, KeyPolicy,
    PublicKeyBackend, SecretText,
};
use pyo3::exceptions::{PyOSError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Packed integers and their width in bytes.
pub(crate) type Packed<'py> = (Bytes<'py>, usize);

pub(crate) fn policy(insecure: bool) -> KeyPolicy {
    if insecure { KeyPolicy::AllowInsecure } else { KeyPolicy::Secure }
}

/// The CPU engine for a scheme without GPU support.
pub(crate) fn engine(name: Option<&str>) -> PyResult<Engine> {
    match chosen(name)? {
        (engine, None | Some(Choice::Auto)) => Ok(engine),
        (_, Some(card)) => Err(PyValueError::new_err(format!("the engine '{card}' only {}", CUDA.does))),
    }
}

/// The CPU engine and the GPUs that a name or the environment selects.
fn chosen(name: Option<&str>) -> PyResult<(Engine, Option<Choice>)> {
    hearith_cuda::engine(name).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The error for an unusable GPU.
fn no_card(error: hearith_device::Error) -> PyErr {
    errors::Anything::new_err(error.to_string())
}

/// Reads a key file.
pub(crate) fn read(path: &Path) -> PyResult<SecretText> {
    SecretText::open(path).map_err(|error| unread(path, &error))
}

/// Reads the key file of a scheme with long keys.
pub(crate) fn read_long(path: &Path, limit: usize) -> PyResult<SecretText> {
    SecretText::open_long(path, limit).map_err(|error| unread(path, &error))
}

fn unread(path: &Path, error: &io::Error) -> PyErr {
    match error.raw_os_error() {
        Some(number) => PyOSError::new_err((number, message(error), path.to_owned())),
        None => errors::InvalidKeyError::new_err(format!("{}: {error}", path.display())),
    }
}

/// The message of an operating system error, without its number.
pub(crate) fn message(error: &io::Error) -> String {
    error.to_string().split(" (os error").next().unwrap_or_default().to_owned()
}

/// Decrypts an encrypted key if a passphrase is given.
pub(crate) fn opened(py: Python<'_>, text: SecretText, passphrase: Option<&str>) -> PyResult<SecretText> {
    match passphrase {
        Some(passphrase) if text.kind() == KeyKind::Encrypted => {
            py.detach(|| text.decrypt(passphrase)).map_err(errors::key)
        }
        _ => Ok(text),
    }
}

/// Warns the caller of `hearith.PrivateKey.load` about a private key that others can read.
pub(crate) fn warn_if_shared(py: Python<'_>, path: &Path, text: &SecretText) -> PyResult<()> {
    if !text.is_shared() {
        return Ok(());
    }
    let warning = format!("{}: other users can read this private key (chmod 600 fixes it)", path.display());
    let warning = std::ffi::CString::new(warning)?;
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &warning, 2)
}

/// Bytes of the widest factors sent to a GPU.
const CARD_FACTOR: usize = 16;
/// Memory that an operation needs per row, in multiples of a row's size.
const ROOM: usize = 8;

/// Runs an operation on `rows` ciphertexts on the thread pool.
fn ciphertexts(
    py: Python<'_>,
    key: &hearith_paillier::PublicKey,
    rows: usize,
    work: impl FnOnce() -> Result<hearith_paillier::Ciphertexts, Error> + Send,
) -> PyResult<Ciphertexts> {
    room(rows, ROOM * key.ciphertext_bytes())?;
    threads::run(py, work)?.map(Ciphertexts).map_err(errors::operation)
}

/// Runs an operation on GPUs.
fn on_cards(
    py: Python<'_>,
    cards: &LoadedCards,
    rows: usize,
    work: impl FnOnce(&LoadedCards) -> Result<hearith_paillier::Ciphertexts, ComputeError> + Send,
) -> PyResult<Ciphertexts> {
    room(rows, ROOM * PublicKeyBackend::public(cards).ciphertext_bytes())?;
    threads::run(py, || work(cards))?.map(Ciphertexts).map_err(errors::compute)
}

/// Runs an operation with one product per row. If the rows fit the engine's lanes, it runs on this
/// thread, because handing it to the pool takes longer.
fn products(
    py: Python<'_>,
    key: &hearith_paillier::PublicKey,
    rows: usize,
    work: impl FnOnce() -> Result<hearith_paillier::Ciphertexts, Error> + Send,
) -> PyResult<Ciphertexts> {
    if rows <= key.engine().lanes() {
        return py.detach(work).map(Ciphertexts).map_err(errors::operation);
    }
    ciphertexts(py, key, rows, work)
}

/// A public key, and the GPUs that compute with it.
#[pyclass(frozen, subclass, module = "hearith._native")]
pub(crate) struct PublicKey(pub(crate) hearith_paillier::PublicKey, pub(crate) Option<Arc<LoadedCards>>);

impl PublicKey {
    /// A key for this CPU.
    pub(crate) fn new(key: hearith_paillier::PublicKey) -> Self {
        Self(key, None)
    }

    fn with(key: hearith_paillier::PublicKey, choice: Option<Choice>) -> PyResult<Self> {
        let cards = choice.map(|choice| LoadedCards::with_public(choice, &key, Trust::Checked).map(Arc::new));
        let cards = cards.transpose().map_err(no_card)?;
        Ok(Self(key, cards))
    }
}

#[pymethods]
impl PublicKey {
    #[new]
    #[pyo3(signature = (n, h=None, *, insecure=false, engine=None))]
    fn of_numbers(n: &[u8], h: Option<&[u8]>, insecure: bool, engine: Option<&str>) -> PyResult<Self> {
        let (engine, choice) = chosen(engine)?;
        Self::with(hearith_paillier::PublicKey::new(n, h, policy(insecure), engine).map_err(errors::key)?, choice)
    }

    #[staticmethod]
    #[pyo3(signature = (text, *, insecure=false, engine=None))]
    fn from_jwk(text: &str, insecure: bool, engine: Option<&str>) -> PyResult<Self> {
        let (engine, choice) = chosen(engine)?;
        let key = hearith_paillier::PublicKey::from_jwk(text, policy(insecure), engine);
        Self::with(key.map_err(errors::key)?, choice)
    }

    #[staticmethod]
    #[pyo3(signature = (path, *, insecure=false, engine=None))]
    fn load(path: PathBuf, insecure: bool, engine: Option<&str>) -> PyResult<Self> {
        Self::from_jwk(read(&path)?.as_str(), insecure, engine)
    }

    fn to_jwk(&self) -> String {
        self.0.to_jwk()
    }

    /// Why the key is insecure, if known.
    #[getter]
    fn weakness(&self) -> Option<String> {
        self.0.weakness().map(|weakness| weakness.to_string())
    }

    #[getter]
    fn comment(&self) -> &str {
        self.0.comment()
    }

    #[getter]
    fn id(&self) -> String {
        self.0.id().to_string()
    }

    #[getter]
    fn bits(&self) -> u32 {
        self.0.bits()
    }

    #[getter]
    fn variant(&self) -> &'static str {
        self.0.variant().name()
    }

    #[getter]
    fn engine(&self) -> String {
        self.1.as_ref().map_or_else(|| self.0.engine().name().to_owned(), |cards| cards.choice().to_string())
    }

    /// The minimum number of rows per call for batches of `rows` rows: 0 if the CPU computes.
    fn batch_rows(&self, rows: usize) -> usize {
        self.1.as_ref().map_or(0, |cards| cards.rows_of(rows))
    }

    #[getter]
    fn ciphertext_bytes(&self) -> usize {
        self.0.ciphertext_bytes()
    }

    #[getter]
    fn plaintext_bytes(&self) -> usize {
        self.0.plaintext_bytes()
    }

    /// n, big-endian.
    fn modulus<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.modulus_be())
    }

    /// Encodes packed integers of at most 16 bytes as residues modulo n.
    fn encode(&self, py: Python<'_>, data: &Bytes<'_>, width: usize) -> PyResult<Plaintexts> {
        room(data.len() / width.max(1), ROOM * self.0.plaintext_bytes())?;
        let values = integers::small(data, width)?;
        py.detach(|| encode_signed(&self.0, &values)).map(Plaintexts).map_err(errors::encoding)
    }

    /// Reads big-endian residues modulo n, each with the byte length of n.
    fn residues(&self, data: &Bytes<'_>) -> PyResult<Plaintexts> {
        room_to_copy(1, 2 * data.len())?;
        self.0.plaintexts_from_be(&integers::bytes(data)).map(Plaintexts).map_err(errors::operation)
    }

    fn encrypt(&self, py: Python<'_>, plaintexts: &Plaintexts) -> PyResult<Ciphertexts> {
        let rows = plaintexts.0.len();
        match &self.1 {
            Some(cards) => on_cards(py, cards, rows, |cards| PublicKeyBackend::encrypt(cards, &plaintexts.0)),
            None => ciphertexts(py, &self.0, rows, || self.0.encrypt(&plaintexts.0)),
        }
    }

    fn rerandomise(&self, py: Python<'_>, numbers: &Ciphertexts) -> PyResult<Ciphertexts> {
        match &self.1 {
            Some(cards) => on_cards(py, cards, numbers.0.len(), |cards| cards.rerandomise(&numbers.0)),
            None => ciphertexts(py, &self.0, numbers.0.len(), || self.0.rerandomise(&numbers.0)),
        }
    }

    /// Trivial ciphertexts of 0.
    fn zeros(&self, py: Python<'_>, count: usize) -> PyResult<Ciphertexts> {
        room_to_copy(count, self.0.ciphertext_bytes())?;
        Ok(Ciphertexts(py.detach(|| self.0.zeros(count))))
    }

    /// Reads ciphertexts from bytes, and checks that each is below n^2 and coprime to n.
    fn ciphertexts(&self, py: Python<'_>, data: &[u8]) -> PyResult<Ciphertexts> {
        ciphertexts(py, &self.0, data.len() / self.0.ciphertext_bytes(), || {
            let read = self.0.ciphertexts_from_be(data)?;
            self.0.check_coprime(&read)?;
            Ok(read)
        })
    }

    fn add(&self, py: Python<'_>, a: &Ciphertexts, b: &Ciphertexts) -> PyResult<Ciphertexts> {
        match &self.1 {
            Some(cards) => on_cards(py, cards, a.0.len(), |cards| cards.add(&a.0, &b.0)),
            None => products(py, &self.0, a.0.len(), || self.0.add(&a.0, &b.0)),
        }
    }

    fn subtract(&self, py: Python<'_>, a: &Ciphertexts, b: &Ciphertexts) -> PyResult<Ciphertexts> {
        match &self.1 {
            Some(cards) => on_cards(py, cards, a.0.len(), |cards| cards.add(&a.0, &self.0.negate(&b.0)?)),
            None => products(py, &self.0, a.0.len(), || self.0.subtract(&a.0, &b.0)),
        }
    }

    fn negate(&self, py: Python<'_>, numbers: &Ciphertexts) -> PyResult<Ciphertexts> {
        products(py, &self.0, numbers.0.len(), || self.0.negate(&numbers.0))
    }

    fn add_plain(&self, py: Python<'_>, numbers: &Ciphertexts, added: &Plaintexts) -> PyResult<Ciphertexts> {
        products(py, &self.0, numbers.0.len(), || self.0.add_plain(&numbers.0, &added.0))
    }

    /// Multiplies by packed integers of magnitude below 2^bits.
    fn multiply(
        &self,
        py: Python<'_>,
        numbers: &Ciphertexts,
        data: &Bytes<'_>,
        width: usize,
        bits: u32,
    ) -> PyResult<Ciphertexts> {
        if let Some(cards) = self.1.as_ref().filter(|_| width <= CARD_FACTOR && bits < 128) {
            let scalars = integers::small(data, width)?;
            return on_cards(py, cards, numbers.0.len(), |cards| cards.multiply(&numbers.0, &scalars, bits));
        }
        let scalars = integers::wide(data, width)?;
        products(py, &self.0, numbers.0.len(), || self.0.multiply_wide_deterministic(&numbers.0, &scalars, bits))
    }

    fn sum(&self, py: Python<'_>, numbers: &Ciphertexts) -> PyResult<Ciphertexts> {
        match &self.1 {
            Some(cards) => {
                let all = [(0..numbers.0.len() as u32).collect()];
                on_cards(py, cards, numbers.0.len(), |cards| cards.sum_groups(&numbers.0, &all))
            }
            None => ciphertexts(py, &self.0, numbers.0.len(), || self.0.sum(&numbers.0)),
        }
    }

    /// The sum of each group of rows.
    fn sum_groups(&self, py: Python<'_>, numbers: &Ciphertexts, groups: Vec<Vec<u32>>) -> PyResult<Ciphertexts> {
        match &self.1 {
            Some(cards) => on_cards(py, cards, numbers.0.len(), |cards| cards.sum_groups(&numbers.0, &groups)),
            None => ciphertexts(py, &self.0, numbers.0.len(), || self.0.sum_groups(&numbers.0, &groups)),
        }
    }

    /// For every `terms` rows, the sum of their multiples by packed integers of at most 16 bytes
    /// and magnitude below 2^bits.
    fn dot(
        &self,
        py: Python<'_>,
        numbers: &Ciphertexts,
        data: &Bytes<'_>,
        width: usize,
        terms: usize,
        bits: u32,
    ) -> PyResult<Ciphertexts> {
        let weights = integers::small(data, width)?;
        let rows = numbers.0.len();
        match &self.1 {
            Some(cards) => on_cards(py, cards, rows, |cards| cards.dot(&numbers.0, &weights, terms, bits)),
            None => ciphertexts(py, &self.0, rows, || self.0.dot_deterministic(&numbers.0, &weights, terms, bits)),
        }
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

/// A private key, and the GPUs that compute with it.
#[pyclass(frozen, module = "hearith._native")]
pub(crate) struct PrivateKey(pub(crate) hearith_paillier::PrivateKey, pub(crate) Option<Arc<LoadedCards>>);

#[pymethods]
impl PrivateKey {
    #[staticmethod]
    #[pyo3(signature = (bits, variant="standard", *, insecure=false, engine=None))]
    fn generate(py: Python<'_>, bits: u32, variant: &str, insecure: bool, engine: Option<&str>) -> PyResult<Self> {
        let (engine, choice) = chosen(engine)?;
        let variant = variant.parse().map_err(errors::key)?;
        let made =
            threads::run(py, || hearith_paillier::PrivateKey::generate(bits, variant, policy(insecure), engine))?;
        Self::with(made.map_err(errors::key)?, choice)
    }

    #[staticmethod]
    #[pyo3(signature = (text, *, passphrase=None, insecure=false, engine=None))]
    fn from_jwk(
        py: Python<'_>,
        text: &str,
        passphrase: Option<&str>,
        insecure: bool,
        engine: Option<&str>,
    ) -> PyResult<Self> {
        Self::read(py, SecretText::from(text.to_owned()), passphrase, insecure, engine)
    }

    #[staticmethod]
    #[pyo3(signature = (path, *, passphrase=None, insecure=false, engine=None))]
    fn load(
        py: Python<'_>,
        path: PathBuf,
        passphrase: Option<&str>,
        insecure: bool,
        engine: Option<&str>,
    ) -> PyResult<Self> {
        let text = read(&path)?;
        warn_if_shared(py, &path, &text)?;
        Self::read(py, text, passphrase, insecure, engine)
    }

    /// The key with these big-endian primes.
    #[staticmethod]
    #[pyo3(signature = (p, q, h=None, *, insecure=false, engine=None))]
    fn from_primes(p: &[u8], q: &[u8], h: Option<&[u8]>, insecure: bool, engine: Option<&str>) -> PyResult<Self> {
        let (engine, choice) = chosen(engine)?;
        let key = hearith_paillier::PrivateKey::from_primes(p, q, h, policy(insecure), engine);
        Self::with(key.map_err(errors::key)?, choice)
    }

    fn to_jwk(&self) -> String {
        self.0.to_jwk().to_string()
    }

    /// The same key, which also decrypts ciphertexts of any origin.
    fn any_randomiser(&self) -> PyResult<Self> {
        Self::with(self.0.any_randomiser(), self.1.as_ref().map(|cards| cards.choice()))
    }

    #[getter]
    fn decrypts_any_randomiser(&self) -> bool {
        self.0.decrypts_any_randomiser()
    }

    fn to_encrypted_jwk(&self, py: Python<'_>, passphrase: &str) -> PyResult<String> {
        py.detach(|| self.0.to_encrypted_jwk(passphrase, DEFAULT_ITERATIONS)).map_err(errors::key)
    }

    #[getter]
    fn comment(&self) -> &str {
        self.0.comment()
    }

    #[getter]
    fn public(&self) -> PyResult<PublicKey> {
        PublicKey::with(self.0.public().clone(), self.1.as_ref().map(|cards| cards.choice()))
    }

    /// Like `PublicKey.batch_rows`.
    fn batch_rows(&self, rows: usize) -> usize {
        self.1.as_ref().map_or(0, |cards| cards.rows_of(rows))
    }

    /// Encrypts with p and q.
    fn encrypt(&self, py: Python<'_>, plaintexts: &Plaintexts) -> PyResult<Ciphertexts> {
        let rows = plaintexts.0.len();
        match &self.1 {
            Some(cards) => on_cards(py, cards, rows, |cards| PublicKeyBackend::encrypt(cards, &plaintexts.0)),
            None => ciphertexts(py, self.0.public(), rows, || self.0.encrypt(&plaintexts.0)),
        }
    }

    fn decrypt(&self, py: Python<'_>, numbers: &Ciphertexts) -> PyResult<Plaintexts> {
        threads::run(py, || self.decrypted(&numbers.0, false))?.map(Plaintexts).map_err(errors::decrypt)
    }

    /// Decrypts the signed integers in ciphertexts, packed. `check` verifies them before they are
    /// returned.
    #[pyo3(signature = (numbers, *, check=false))]
    fn decrypt_integers<'py>(&self, py: Python<'py>, numbers: &Ciphertexts, check: bool) -> PyResult<Packed<'py>> {
        let packed = threads::run(py, || {
            let residues = self.decrypted(&numbers.0, check)?;
            Ok(integers::pack(&decode_signed(self.0.public(), &residues)?))
        })?;
        let (data, width) = packed.map_err(errors::decrypt)?;
        Ok((PyByteArray::new(py, &data), width))
    }

    /// Decrypts the signed integers in the slots of ciphertexts that are sums of `additions` rows
    /// each, packed. The error has the number of the first row that exceeds its layout.
    fn decrypt_slots<'py>(
        &self,
        py: Python<'py>,
        layout: &SlotLayout,
        numbers: &Ciphertexts,
        additions: u64,
    ) -> PyResult<Packed<'py>> {
        let (data, width) = layout.open(py, self, &numbers.0, additions)?;
        Ok((PyByteArray::new(py, &data), width))
    }
}

impl PrivateKey {
    fn with(key: hearith_paillier::PrivateKey, choice: Option<Choice>) -> PyResult<Self> {
        let cards = choice.map(|choice| LoadedCards::with_private(choice, &key, Trust::Checked).map(Arc::new));
        let cards = cards.transpose().map_err(no_card)?;
        Ok(Self(key, cards))
    }

    /// Decrypts ciphertexts. Plaintexts from a GPU are always checked.
    pub(crate) fn decrypted(
        &self,
        numbers: &hearith_paillier::Ciphertexts,
        check: bool,
    ) -> Result<hearith_paillier::Plaintexts, DecryptError> {
        match &self.1 {
            Some(cards) => cards.decrypt(numbers),
            None if check => Ok(self.0.decrypt_checked(numbers)?),
            None => Ok(self.0.decrypt(numbers)?),
        }
    }

    fn read(
        py: Python<'_>,
        text: SecretText,
        passphrase: Option<&str>,
        insecure: bool,
        engine: Option<&str>,
    ) -> PyResult<Self> {
        let (engine, choice) = chosen(engine)?;
        let text = opened(py, text, passphrase)?;
        let key = hearith_paillier::PrivateKey::from_jwk(text.as_str(), policy(insecure), engine);
        Self::with(key.map_err(errors::key)?, choice)
    }
}
