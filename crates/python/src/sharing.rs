//! Keys shared among trustees: each trustee's share, and the key that verifies and combines shares.

use crate::batches::Ciphertexts;
use crate::keys::{Packed, PublicKey, engine, opened, policy, read, warn_if_shared};
use crate::{errors, integers, threads};
use arrow_array::RecordBatch;
use arrow_pyarrow::PyArrowType;
use arrow_schema::Schema;
use hearith_columns::{Digest, TableDigest};
use hearith_paillier::encoding::decode_signed;
use hearith_paillier::{DEFAULT_ITERATIONS, KeyKind, PrivateKey, SecretText, Variant};
use hearith_threshold::{self as threshold, Contexts};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};
use std::path::PathBuf;

/// The context of proofs for shares of arrays, followed by the caller's context.
const CONTEXT: &[u8] = b"hearith array";

fn contexts(context: &[u8], rows: usize) -> Contexts {
    Contexts::new(CONTEXT, std::iter::repeat_n(context, rows))
}

/// Generates a shared key: the verification keys and the trustees' shares.
#[pyfunction]
#[pyo3(signature = (bits, needed, trustees, variant, *, insecure=false, engine=None))]
pub(crate) fn deal(
    py: Python<'_>,
    bits: u32,
    needed: u32,
    trustees: u32,
    variant: &str,
    insecure: bool,
    engine: Option<&str>,
) -> PyResult<(VerificationKeys, Vec<KeyShare>)> {
    let engine = self::engine(engine)?;
    let variant: Variant = variant.parse().map_err(errors::key)?;
    let dealt = threads::run(py, || {
        let private = PrivateKey::generate_safe(bits, variant, policy(insecure), engine)?;
        threshold::deal(&private, needed, trustees)
    })?;
    let (verification, shares) = dealt.map_err(|error| errors::shared_key(&error))?;
    Ok((VerificationKeys(verification), shares.into_iter().map(KeyShare).collect()))
}

/// The keys that verify shares.
#[pyclass(frozen, module = "hearith._native")]
pub(crate) struct VerificationKeys(threshold::VerificationKeys);

#[pymethods]
impl VerificationKeys {
    #[staticmethod]
    #[pyo3(signature = (text, *, insecure=false, engine=None))]
    fn from_json(text: &str, insecure: bool, engine: Option<&str>) -> PyResult<Self> {
        let read = threshold::VerificationKeys::from_json(text, policy(insecure), self::engine(engine)?);
        read.map(Self).map_err(|error| errors::shared_key(&error))
    }

    #[staticmethod]
    #[pyo3(signature = (path, *, insecure=false, engine=None))]
    fn load(path: PathBuf, insecure: bool, engine: Option<&str>) -> PyResult<Self> {
        Self::from_json(read(&path)?.as_str(), insecure, engine)
    }

    fn to_json(&self) -> String {
        self.0.to_json()
    }

    #[getter]
    fn public(&self) -> PublicKey {
        PublicKey::new(self.0.key().clone())
    }

    #[getter]
    fn needed(&self) -> u32 {
        self.0.needed()
    }

    #[getter]
    fn trustees(&self) -> u32 {
        self.0.trustees()
    }

    /// Reads shares from bytes. They must have the length of this key's shares.
    fn shares_from_bytes(&self, trustee: u32, data: &[u8]) -> PyResult<Shares> {
        self.0.shares_from_be_bytes(trustee, data).map(Shares).map_err(|error| errors::share(&error))
    }

    fn verify(&self, py: Python<'_>, numbers: &Ciphertexts, shares: &Shares, context: &[u8]) -> PyResult<()> {
        let contexts = contexts(context, numbers.0.len());
        let verified = threads::run(py, || self.0.verify(&contexts, &numbers.0, &shares.0))?;
        verified.map_err(|error| errors::share(&error))
    }

    /// Combines shares to the signed integers in ciphertexts, packed. Also returns the faults of
    /// shares that were ignored.
    fn combine<'py>(
        &self,
        py: Python<'py>,
        numbers: &Ciphertexts,
        shares: Vec<Py<Shares>>,
        context: &[u8],
    ) -> PyResult<(Packed<'py>, Vec<String>)> {
        let contexts = contexts(context, numbers.0.len());
        let shares: Vec<&threshold::Shares> = shares.iter().map(|one| &one.get().0).collect();
        let combined = threads::run(py, || {
            let combined = self.0.combine(&contexts, &numbers.0, &shares)?;
            let decoded = decode_signed(self.0.key(), &combined.plaintexts)?;
            Ok((integers::pack(&decoded), combined.wrong))
        })?;
        let ((data, width), wrong) = combined.map_err(|error| errors::share(&error))?;
        Ok(((PyByteArray::new(py, &data), width), wrong.iter().map(ToString::to_string).collect()))
    }
}

/// A trustee's share of a private key.
#[pyclass(frozen, module = "hearith._native")]
pub(crate) struct KeyShare(threshold::KeyShare);

#[pymethods]
impl KeyShare {
    #[staticmethod]
    #[pyo3(signature = (text, *, passphrase=None, insecure=false, engine=None))]
    fn from_json(
        py: Python<'_>,
        text: String,
        passphrase: Option<&str>,
        insecure: bool,
        engine: Option<&str>,
    ) -> PyResult<Self> {
        Self::of(py, SecretText::from(text), passphrase, insecure, engine)
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
        if text.kind() != KeyKind::Public {
            warn_if_shared(py, &path, &text)?;
        }
        Self::of(py, text, passphrase, insecure, engine)
    }

    fn to_json(&self) -> String {
        self.0.to_json().to_string()
    }

    fn to_encrypted_json(&self, py: Python<'_>, passphrase: &str) -> PyResult<String> {
        let text = py.detach(|| self.0.to_encrypted_json(passphrase, DEFAULT_ITERATIONS));
        text.map_err(|error| errors::shared_key(&error))
    }

    #[getter]
    fn public(&self) -> PublicKey {
        PublicKey::new(self.0.key().clone())
    }

    #[getter]
    fn trustee(&self) -> u32 {
        self.0.trustee()
    }

    #[getter]
    fn needed(&self) -> u32 {
        self.0.needed()
    }

    #[getter]
    fn trustees(&self) -> u32 {
        self.0.trustees()
    }

    fn decrypt(&self, py: Python<'_>, numbers: &Ciphertexts, context: &[u8]) -> PyResult<Shares> {
        let contexts = contexts(context, numbers.0.len());
        let shares = threads::run(py, || self.0.decrypt(&contexts, &numbers.0))?;
        shares.map(Shares).map_err(|error| errors::share(&error))
    }
}

impl KeyShare {
    fn of(
        py: Python<'_>,
        text: SecretText,
        passphrase: Option<&str>,
        insecure: bool,
        engine: Option<&str>,
    ) -> PyResult<Self> {
        let engine = self::engine(engine)?;
        let text = opened(py, text, passphrase)?;
        if text.kind() == KeyKind::Encrypted {
            return Err(errors::key(hearith_paillier::ErrorKind::EncryptedKey.into()));
        }
        let read = py.detach(|| threshold::KeyShare::from_json(text.as_str(), policy(insecure), engine));
        read.map(Self).map_err(|error| errors::shared_key(&error))
    }
}

/// A trustee's decryption shares, one per row.
#[pyclass(frozen, module = "hearith._native")]
pub(crate) struct Shares(threshold::Shares);

#[pymethods]
impl Shares {
    #[staticmethod]
    fn from_bytes(key: &PublicKey, trustee: u32, data: &[u8]) -> PyResult<Self> {
        let read = threshold::Shares::from_be_bytes(&key.0, trustee, data);
        read.map(Self).map_err(|error| errors::share(&error))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_be_bytes())
    }

    #[getter]
    fn trustee(&self) -> u32 {
        self.0.trustee()
    }

    #[getter]
    fn key_id(&self) -> String {
        self.0.key_id().to_string()
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }
}

/// The digest of the table with these batches, to which shares are bound.
#[pyfunction]
pub(crate) fn table_digest(
    py: Python<'_>,
    schema: PyArrowType<Schema>,
    batches: Vec<PyArrowType<RecordBatch>>,
) -> PyResult<Digest> {
    let batches: Vec<RecordBatch> = batches.into_iter().map(|batch| batch.0).collect();
    let digest = threads::run(py, || {
        let mut digest = TableDigest::new(&schema.0)?;
        batches.iter().try_for_each(|batch| digest.update(batch))?;
        Ok(digest.finish())
    })?;
    digest.map_err(errors::table)
}

/// Computes a trustee's shares of the batches of one table.
#[pyclass(frozen, module = "hearith._native")]
pub(crate) struct Sharer {
    share: Py<KeyShare>,
    input: Schema,
    digest: Digest,
}

#[pymethods]
impl Sharer {
    #[new]
    fn new(share: Py<KeyShare>, schema: PyArrowType<Schema>, digest: Digest) -> PyResult<Self> {
        let sharer = Self { share, input: schema.0, digest };
        sharer.kernel()?;
        Ok(sharer)
    }

    /// The schema of the shares.
    #[getter]
    fn schema(&self) -> PyResult<PyArrowType<Schema>> {
        Ok(PyArrowType(Schema::clone(&self.kernel()?.schema())))
    }

    fn share(&self, py: Python<'_>, batch: PyArrowType<RecordBatch>) -> PyResult<PyArrowType<RecordBatch>> {
        let kernel = self.kernel()?;
        threads::run(py, || kernel.share(&batch.0))?.map(PyArrowType).map_err(errors::table)
    }
}

impl Sharer {
    fn kernel(&self) -> PyResult<hearith_columns::Sharer<'_>> {
        hearith_columns::Sharer::new(&self.share.get().0, &self.input, self.digest).map_err(errors::table)
    }
}

/// Decrypts the batches of one table with trustees' shares.
#[pyclass(frozen, module = "hearith._native")]
pub(crate) struct Combiner {
    verification: Py<VerificationKeys>,
    input: Schema,
    digest: Digest,
    shares: Vec<Schema>,
}

#[pymethods]
impl Combiner {
    #[new]
    fn new(
        verification: Py<VerificationKeys>,
        schema: PyArrowType<Schema>,
        shares: Vec<PyArrowType<Schema>>,
        digest: Digest,
    ) -> PyResult<Self> {
        let shares = shares.into_iter().map(|schema| schema.0).collect();
        let combiner = Self { verification, input: schema.0, digest, shares };
        combiner.kernel()?.check_enough().map_err(errors::table)?;
        Ok(combiner)
    }

    /// The schema of the numbers.
    #[getter]
    fn schema(&self) -> PyResult<PyArrowType<Schema>> {
        Ok(PyArrowType(Schema::clone(&self.kernel()?.schema())))
    }

    /// The batch with exact decimals, and the faults of shares that were ignored: row, column and
    /// text.
    fn combine(
        &self,
        py: Python<'_>,
        batch: PyArrowType<RecordBatch>,
        shares: Vec<PyArrowType<RecordBatch>>,
    ) -> PyResult<(PyArrowType<RecordBatch>, Vec<String>)> {
        let kernel = self.kernel()?;
        let shares: Vec<RecordBatch> = shares.into_iter().map(|batch| batch.0).collect();
        let combined = threads::run(py, || {
            let combined = kernel.combine(&batch.0, &shares)?;
            Ok((combined.decrypted.to_batch()?, combined.wrong))
        })?;
        let (batch, wrong) = combined.map_err(errors::table)?;
        Ok((PyArrowType(batch), wrong.iter().map(ToString::to_string).collect()))
    }
}

impl Combiner {
    fn kernel(&self) -> PyResult<hearith_columns::Combiner<'_>> {
        let verification = &self.verification.get().0;
        let mut kernel =
            hearith_columns::Combiner::new(verification, &self.input, self.digest).map_err(errors::table)?;
        self.shares.iter().try_for_each(|shares| kernel.add(shares)).map_err(errors::table)?;
        Ok(kernel)
    }
}
