//! Encrypted columns: the kernel of `hearith-columns`, with record batches as input and output.

use crate::keys::{PrivateKey, PublicKey};
use crate::remote::RemoteKey;
use crate::{errors, threads};
use arrow_array::RecordBatch;
use arrow_pyarrow::PyArrowType;
use arrow_schema::Schema;
use hearith_columns::{ColumnSpec, EncryptOptions, EncryptionKey, FinishOptions, Rounding, TableId, Withheld};
use hearith_paillier::{DecryptionBackend, PublicKeyBackend};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An encryption key of any kind.
enum Key {
    Public(Py<PublicKey>),
    Private(Py<PrivateKey>),
    Remote(Py<RemoteKey>),
}

impl Key {
    fn of(key: &Bound<'_, PyAny>) -> PyResult<Self> {
        // First, because it is a public key as well.
        if let Ok(key) = key.cast::<RemoteKey>() {
            return Ok(Self::Remote(key.clone().unbind()));
        }
        if let Ok(key) = key.cast::<PublicKey>() {
            return Ok(Self::Public(key.clone().unbind()));
        }
        match key.cast::<PrivateKey>() {
            Ok(key) => Ok(Self::Private(key.clone().unbind())),
            Err(_) => Err(PyTypeError::new_err("a public or private key is needed")),
        }
    }

    fn encryption(&self) -> EncryptionKey<'_> {
        match self {
            Self::Public(key) => match &key.get().1 {
                Some(cards) => EncryptionKey::Service(&**cards),
                None => EncryptionKey::Public(&key.get().0),
            },
            Self::Private(key) => match &key.get().1 {
                Some(cards) => EncryptionKey::Service(&**cards),
                None => EncryptionKey::Owner(&key.get().0),
            },
            Self::Remote(key) => EncryptionKey::Service(&*key.get().0),
        }
    }
}

/// Encrypts columns of the batches of one table.
#[pyclass(frozen, module = "hearith._native")]
pub(crate) struct Encryptor {
    key: Key,
    input: Schema,
    options: EncryptOptions,
    /// The id of the table, which all its batches carry.
    table: TableId,
}

#[pymethods]
impl Encryptor {
    /// `columns` are names with scale and range. The defaults for `None` are the scale of the
    /// column's type, and 2^63 - 1 after scaling.
    #[new]
    #[pyo3(signature = (key, schema, columns, *, pack=false, rounding=false, max_additions=None))]
    fn new(
        key: &Bound<'_, PyAny>,
        schema: PyArrowType<Schema>,
        columns: Vec<(String, Option<u32>, Option<String>)>,
        pack: bool,
        rounding: bool,
        max_additions: Option<u64>,
    ) -> PyResult<Self> {
        let columns = columns.into_iter().map(|(name, scale, range)| ColumnSpec { name, scale, range }).collect();
        let mut options = EncryptOptions { pack, ..EncryptOptions::new(columns) };
        options.rounding = if rounding { Rounding::HalfEven } else { Rounding::Exact };
        options.max_additions = max_additions.unwrap_or(options.max_additions);
        let key = Key::of(key)?;
        let began = hearith_columns::Encryptor::new(key.encryption(), &schema.0, &options).map_err(errors::table)?;
        let table = began.table();
        Ok(Self { key, input: schema.0, options, table })
    }

    /// The schema of the encrypted batches.
    #[getter]
    fn schema(&self) -> PyResult<PyArrowType<Schema>> {
        Ok(PyArrowType(Schema::clone(&self.kernel()?.schema())))
    }

    fn encrypt(&self, py: Python<'_>, batch: PyArrowType<RecordBatch>) -> PyResult<PyArrowType<RecordBatch>> {
        let kernel = self.kernel()?;
        threads::run(py, || kernel.encrypt(&batch.0))?.map(PyArrowType).map_err(errors::table)
    }
}

impl Encryptor {
    fn kernel(&self) -> PyResult<hearith_columns::Encryptor<'_>> {
        let key = self.key.encryption();
        let kernel = hearith_columns::Encryptor::new(key, &self.input, &self.options);
        kernel.and_then(|kernel| kernel.of_table(self.table)).map_err(errors::table)
    }
}

/// The common form that lets tables with different scales, ranges, numbers of additions and widths
/// of group columns be summed.
#[pyclass(frozen, module = "hearith._native")]
pub(crate) struct Alignment(Mutex<hearith_columns::Alignment>);

#[pymethods]
impl Alignment {
    /// Aligns tables with these schemas, to be summed by the columns `by`.
    #[new]
    fn new(schemas: Vec<PyArrowType<Schema>>, by: Vec<String>) -> PyResult<Self> {
        let schemas: Vec<_> = schemas.into_iter().map(|schema| Arc::new(schema.0)).collect();
        let alignment = hearith_columns::Alignment::of(&schemas, &by).map_err(errors::table)?;
        Ok(Self(Mutex::new(alignment)))
    }

    /// The schema of one of the tables after alignment.
    fn schema(&self, schema: PyArrowType<Schema>) -> PyResult<PyArrowType<Schema>> {
        let aligned = self.kernel().schema(&schema.0).map_err(errors::table)?;
        Ok(PyArrowType(Schema::clone(&aligned)))
    }

    /// Aligns a batch of one of the tables.
    fn align(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PublicKey>,
        batch: PyArrowType<RecordBatch>,
    ) -> PyResult<PyArrowType<RecordBatch>> {
        let key = computing(key);
        let aligned = threads::run(py, || self.kernel().align(&*key, &batch.0))?;
        aligned.map(PyArrowType).map_err(errors::table)
    }
}

impl Alignment {
    fn kernel(&self) -> MutexGuard<'_, hearith_columns::Alignment> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The backend of a public key: this machine, its GPUs, or the service that has the key.
fn computing(key: &Bound<'_, PublicKey>) -> Arc<dyn PublicKeyBackend> {
    match key.cast::<RemoteKey>() {
        Ok(key) => key.get().0.clone(),
        Err(_) => match &key.get().1 {
            Some(cards) => cards.clone(),
            None => Arc::new(key.get().0.clone()),
        },
    }
}

/// Running totals of the encrypted columns of a table, by groups.
#[pyclass(frozen, module = "hearith._native")]
pub(crate) struct Aggregator {
    key: Arc<dyn PublicKeyBackend>,
    /// `None` after the totals are finished or failed.
    running: Mutex<Option<hearith_columns::Aggregator>>,
    withheld: Mutex<Withheld>,
}

#[pymethods]
impl Aggregator {
    #[new]
    #[pyo3(signature = (key, schema, by=vec![]))]
    fn new(key: &Bound<'_, PublicKey>, schema: PyArrowType<Schema>, by: Vec<String>) -> PyResult<Self> {
        let key = computing(key);
        let totals = hearith_columns::Aggregator::with(key.clone(), &schema.0, &by).map_err(errors::table)?;
        Ok(Self { key, running: Mutex::new(Some(totals)), withheld: Mutex::default() })
    }

    /// Starts the next table. It must not share rows with an earlier one, unless `allow_repeated`
    /// is set. After an error, the totals are lost.
    #[pyo3(signature = (schema, *, allow_repeated=false))]
    fn begin(&self, py: Python<'_>, schema: PyArrowType<Schema>, allow_repeated: bool) -> PyResult<()> {
        self.with(py, |totals| {
            if allow_repeated {
                totals.allow_repeated();
            }
            totals.begin(&schema.0)
        })
    }

    /// Adds the rows of a batch. After an error, the totals are lost.
    fn update(&self, py: Python<'_>, batch: PyArrowType<RecordBatch>) -> PyResult<()> {
        self.with(py, |totals| {
            totals.check_schema(batch.0.schema_ref())?;
            totals.update(&batch.0)
        })
    }

    /// Returns the totals, one row per group in ascending order, and ends the aggregation. Groups
    /// of fewer rows than `min_rows` are left out, and totals of fewer values are null.
    #[pyo3(signature = (*, min_rows=0, rerandomise=false))]
    fn finish(&self, py: Python<'_>, min_rows: u64, rerandomise: bool) -> PyResult<PyArrowType<RecordBatch>> {
        let rerandomise = rerandomise.then_some(EncryptionKey::Service(&*self.key));
        let released = threads::run(py, || {
            let totals = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
            totals.map(|totals| totals.finish_with(&FinishOptions { min_rows, rerandomise }))
        })?;
        let released = released.ok_or_else(finished)?.map_err(errors::table)?;
        *self.withheld.lock().unwrap_or_else(PoisonError::into_inner) = released.withheld;
        Ok(PyArrowType(released.batch))
    }

    /// What `finish` withheld: groups, their rows, and totals of single columns in other groups.
    #[getter]
    fn withheld(&self) -> (u64, u64, u64) {
        let Withheld { groups, rows, totals } = *self.withheld.lock().unwrap_or_else(PoisonError::into_inner);
        (groups, rows, totals)
    }
}

impl Aggregator {
    fn with(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut hearith_columns::Aggregator) -> Result<(), hearith_columns::Error> + Send,
    ) -> PyResult<()> {
        let worked = threads::run(py, || {
            let mut state = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(mut totals) = state.take() else { return Ok(false) };
            work(&mut totals)?;
            *state = Some(totals);
            Ok(true)
        })?;
        match worked.map_err(errors::table)? {
            true => Ok(()),
            false => Err(finished()),
        }
    }
}

fn finished() -> PyErr {
    PyRuntimeError::new_err("these totals are already finished or have failed")
}

/// The holder of the private key.
enum KeyHolder {
    Private(Py<PrivateKey>),
    Remote(Py<RemoteKey>),
}

/// Decrypts the batches of one table.
#[pyclass(frozen, module = "hearith._native")]
pub(crate) struct Decryptor {
    holder: KeyHolder,
    schema: Schema,
    /// Whether decrypted numbers are checked before they are returned.
    check: bool,
}

#[pymethods]
impl Decryptor {
    /// Decrypts with a private key, or a service that has it. `check` verifies the decrypted
    /// numbers before they are returned; a service always does so.
    #[new]
    #[pyo3(signature = (key, schema, *, check=false))]
    fn new(key: &Bound<'_, PyAny>, schema: PyArrowType<Schema>, check: bool) -> PyResult<Self> {
        let holder = match key.cast::<RemoteKey>() {
            Ok(key) => KeyHolder::Remote(key.clone().unbind()),
            Err(_) => KeyHolder::Private(key.cast::<PrivateKey>()?.clone().unbind()),
        };
        let decryptor = Self { holder, schema: schema.0, check };
        decryptor.with_kernel(|_| Ok(()))?;
        Ok(decryptor)
    }

    /// The schema of the decrypted batches.
    #[getter]
    fn schema(&self) -> PyResult<PyArrowType<Schema>> {
        self.with_kernel(|kernel| Ok(PyArrowType(Schema::clone(&kernel.schema()))))
    }

    /// The batch with exact decimals, or an error at the first unreliable total.
    fn decrypt(&self, py: Python<'_>, batch: PyArrowType<RecordBatch>) -> PyResult<PyArrowType<RecordBatch>> {
        let decrypted = self.with_kernel(|kernel| threads::run(py, || kernel.decrypt(&batch.0)?.to_batch()))?;
        decrypted.map(PyArrowType).map_err(errors::table)
    }
}

impl Decryptor {
    fn with_kernel<T>(&self, work: impl FnOnce(hearith_columns::Decryptor<'_>) -> PyResult<T>) -> PyResult<T> {
        let checking;
        let holder: &dyn DecryptionBackend = match &self.holder {
            KeyHolder::Remote(key) => &*key.get().0,
            KeyHolder::Private(key) if key.get().1.is_some() => key.get().1.as_deref().expect("it has cards"),
            KeyHolder::Private(key) if self.check => {
                checking = key.get().0.with_fault_check();
                &checking
            }
            KeyHolder::Private(key) => &key.get().0,
        };
        work(hearith_columns::Decryptor::with(holder, &self.schema).map_err(errors::table)?)
    }
}
