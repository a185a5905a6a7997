//! Keys whose operations are computed by a service: the client of `hearith-service`.
//!
//! A remote key is a public key that overrides some operations. Its base class computes locally
//! what costs less than sending it (encoding, adding plaintext integers), and what the protocol
//! does not support (factors beyond 127 bits).

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hearith_paillier::encoding::decode_signed;
use hearith_paillier::{ComputeError, DecryptionBackend, PublicKeyBackend};
use hearith_service::client;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

use crate::batches::{Ciphertexts, Plaintexts};
use crate::errors;
use crate::integers::{self, Bytes};
use crate::keys::{Packed, PublicKey};

/// Bytes of the widest factors that are sent.
const FACTOR: usize = 16;
/// Bits of their magnitudes.
const FACTOR_BITS: u32 = 127;

/// A connection to a service.
#[pyclass(frozen, module = "hearith._native")]
pub(crate) struct Service(Arc<client::Service>);

#[pymethods]
impl Service {
    #[staticmethod]
    #[pyo3(signature = (url, *, ca=None, identity=None, timeout=None))]
    fn connect(
        py: Python<'_>,
        url: &str,
        ca: Option<PathBuf>,
        identity: Option<(PathBuf, PathBuf)>,
        timeout: Option<f64>,
    ) -> PyResult<Self> {
        let ca = ca.as_deref().map(pem).transpose()?;
        let identity =
            identity.map(|(certificate, key)| Ok::<_, PyErr>((pem(&certificate)?, pem(&key)?))).transpose()?;
        let timeout = timeout.map(Duration::try_from_secs_f64).transpose();
        let timeout = timeout
            .map_err(|_| PyValueError::new_err("the timeout must be a finite, non-negative number of seconds"))?;
        let options = client::Options { ca, identity, timeout };
        let service = py.detach(|| client::Service::connect(url, &options));
        service.map(|service| Self(Arc::new(service))).map_err(|error| errors::service(&error))
    }

    /// The key at the service.
    fn key(&self, py: Python<'_>, public: &PublicKey) -> PyResult<Py<RemoteKey>> {
        let key = py.detach(|| self.0.key(&public.0)).map_err(|error| errors::service(&error))?;
        Py::new(py, (RemoteKey(Arc::new(key)), PublicKey::new(public.0.clone())))
    }
}

/// A certificate or its key.
fn pem(path: &Path) -> PyResult<String> {
    fs::read_to_string(path).map_err(|error| errors::io(path, &error))
}

/// A public key whose operations a service computes.
#[pyclass(frozen, extends = PublicKey, module = "hearith._native")]
pub(crate) struct RemoteKey(pub(crate) Arc<client::RemoteKey>);

impl RemoteKey {
    /// Requests ciphertexts while other Python threads run.
    fn ask(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&dyn PublicKeyBackend) -> Result<hearith_paillier::Ciphertexts, ComputeError> + Send,
    ) -> PyResult<Ciphertexts> {
        py.detach(|| work(&*self.0)).map(Ciphertexts).map_err(errors::compute)
    }
}

#[pymethods]
impl RemoteKey {
    /// Whether the service has the private key.
    #[getter]
    fn decrypts(&self) -> bool {
        self.0.decrypts()
    }

    fn encrypt(&self, py: Python<'_>, plaintexts: &Plaintexts) -> PyResult<Ciphertexts> {
        self.ask(py, |key| key.encrypt(&plaintexts.0))
    }

    fn rerandomise(&self, py: Python<'_>, numbers: &Ciphertexts) -> PyResult<Ciphertexts> {
        self.ask(py, |key| key.rerandomise(&numbers.0))
    }

    fn add(&self, py: Python<'_>, a: &Ciphertexts, b: &Ciphertexts) -> PyResult<Ciphertexts> {
        self.ask(py, |key| key.add(&a.0, &b.0))
    }

    fn subtract(&self, py: Python<'_>, a: &Ciphertexts, b: &Ciphertexts) -> PyResult<Ciphertexts> {
        self.ask(py, |key| key.add(&a.0, &negated(key, &b.0)?))
    }

    fn negate(&self, py: Python<'_>, numbers: &Ciphertexts) -> PyResult<Ciphertexts> {
        self.ask(py, |key| negated(key, &numbers.0))
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
        if width > FACTOR || bits > FACTOR_BITS {
            let scalars = integers::wide(data, width)?;
            return self.ask(py, |key| Ok(key.public().multiply_wide_deterministic(&numbers.0, &scalars, bits)?));
        }
        let scalars = integers::small(data, width)?;
        self.ask(py, |key| key.multiply(&numbers.0, &scalars, bits))
    }

    fn sum(&self, py: Python<'_>, numbers: &Ciphertexts) -> PyResult<Ciphertexts> {
        self.ask(py, |key| key.sum_groups(&numbers.0, &[(0..numbers.0.len() as u32).collect()]))
    }

    /// The sum of each group of rows.
    fn sum_groups(&self, py: Python<'_>, numbers: &Ciphertexts, groups: Vec<Vec<u32>>) -> PyResult<Ciphertexts> {
        self.ask(py, |key| key.sum_groups(&numbers.0, &groups))
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
        self.ask(py, |key| key.dot(&numbers.0, &weights, terms, bits))
    }

    /// Decrypts the signed integers in ciphertexts, packed. The service always checks its
    /// decryptions.
    #[pyo3(signature = (numbers, *, check=false))]
    fn decrypt_integers<'py>(&self, py: Python<'py>, numbers: &Ciphertexts, check: bool) -> PyResult<Packed<'py>> {
        let _ = check;
        let packed = py.detach(|| {
            let residues = DecryptionBackend::decrypt(&*self.0, &numbers.0)?;
            Ok(integers::pack(&decode_signed(self.0.public(), &residues)?))
        });
        let (data, width) = packed.map_err(errors::decrypt)?;
        Ok((PyByteArray::new(py, &data), width))
    }
}

/// Negates numbers by multiplying with -1.
fn negated(
    key: &dyn PublicKeyBackend,
    numbers: &hearith_paillier::Ciphertexts,
) -> Result<hearith_paillier::Ciphertexts, ComputeError> {
    key.multiply(numbers, &vec![-1; numbers.len()], 1)
}
