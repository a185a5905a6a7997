//! Keys that sign tables, and signatures of tables.

use crate::keys::{opened, read, warn_if_shared};
use crate::{errors, threads};
use arrow_array::RecordBatch;
use arrow_pyarrow::PyArrowType;
use arrow_schema::Schema;
use hearith_columns::{self as columns, SignatureCheck, TableSignature, TableSigner};
use hearith_paillier::{DEFAULT_ITERATIONS, EncryptedJwk, SecretText};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// An Ed25519 key that signs tables.
#[pyclass(frozen, module = "hearith._native")]
pub(crate) struct SigningKey(Arc<columns::SigningKey>);

#[pymethods]
impl SigningKey {
    /// Generates a key.
    #[staticmethod]
    fn generate() -> PyResult<Self> {
        columns::SigningKey::generate().map(|key| Self(Arc::new(key))).map_err(|error| errors::signing_key(&error))
    }

    /// Reads a key from the text of a file of `hearith keygen --signing`.
    #[staticmethod]
    #[pyo3(signature = (text, *, passphrase=None))]
    fn from_jwk(py: Python<'_>, text: &str, passphrase: Option<&str>) -> PyResult<Self> {
        Self::read(py, SecretText::from(text.to_owned()), passphrase)
    }

    /// Loads a key from such a file. Warns if users other than its owner can read the file.
    #[staticmethod]
    #[pyo3(signature = (path, *, passphrase=None))]
    fn load(py: Python<'_>, path: PathBuf, passphrase: Option<&str>) -> PyResult<Self> {
        let text = read(&path)?;
        warn_if_shared(py, &path, &text)?;
        Self::read(py, text, passphrase)
    }

    /// The text of such a file, encrypted if a passphrase is given.
    #[pyo3(signature = (*, passphrase=None))]
    fn to_jwk(&self, py: Python<'_>, passphrase: Option<&str>) -> PyResult<String> {
        let text = self.0.to_jwk();
        let Some(passphrase) = passphrase else { return Ok(text.to_string()) };
        let id = self.0.public().id();
        py.detach(|| EncryptedJwk::seal(&text, id, passphrase, DEFAULT_ITERATIONS)).map_err(errors::key)
    }

    /// The public key, which checks signatures.
    #[getter]
    fn public(&self) -> VerifyingKey {
        VerifyingKey(self.0.public())
    }

    /// Signs a table. Returns the metadata entries that hold the signature.
    fn sign(
        &self,
        py: Python<'_>,
        schema: PyArrowType<Schema>,
        batches: Vec<PyArrowType<RecordBatch>>,
    ) -> PyResult<Vec<(&'static str, String)>> {
        let key = self.0.clone();
        let signed = threads::run(py, || {
            let mut signer = TableSigner::new(key, &schema.0)?;
            batches.iter().try_for_each(|batch| signer.update(&batch.0))?;
            Ok(signer.finish())
        })?;
        Ok(signed.map_err(errors::table)?.entries().into())
    }
}

impl SigningKey {
    fn read(py: Python<'_>, text: SecretText, passphrase: Option<&str>) -> PyResult<Self> {
        let text = opened(py, text, passphrase)?;
        let key = columns::SigningKey::from_jwk(text.as_str()).map_err(|error| errors::signing_key(&error))?;
        Ok(Self(Arc::new(key)))
    }
}

/// The public key of a signer of tables.
#[pyclass(frozen, eq, hash, module = "hearith._native")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct VerifyingKey(columns::VerifyingKey);

#[pymethods]
impl VerifyingKey {
    /// Reads a key from the text of a file of `hearith keygen --signing`.
    #[staticmethod]
    fn from_jwk(text: &str) -> PyResult<Self> {
        columns::VerifyingKey::from_jwk(text).map(Self).map_err(|error| errors::signing_key(&error))
    }

    /// Loads a key from such a file.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        Self::from_jwk(read(&path)?.as_str())
    }

    /// The text of such a file.
    fn to_jwk(&self) -> String {
        self.0.to_jwk()
    }

    /// The key's id, 32 hexadecimal digits.
    #[getter]
    fn id(&self) -> String {
        self.0.id().to_string()
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// Verifies a table with these batches, whose schema holds the signature. Returns the key in `keys`
/// that signed it.
#[pyfunction]
pub(crate) fn verify_table(
    py: Python<'_>,
    schema: PyArrowType<Schema>,
    batches: Vec<PyArrowType<RecordBatch>>,
    keys: Vec<PyRef<'_, VerifyingKey>>,
) -> PyResult<VerifyingKey> {
    let keys: Vec<columns::VerifyingKey> = keys.iter().map(|key| key.0).collect();
    let checked = threads::run(py, || {
        let entries = schema.0.metadata().iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let mut check = SignatureCheck::new(&schema.0, TableSignature::of_entries(entries)?, &keys)?;
        batches.iter().try_for_each(|batch| check.update(&batch.0))?;
        check.finish()
    })?;
    checked.map(VerifyingKey).map_err(errors::table)
}
