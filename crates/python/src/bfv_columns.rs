//! Batched columns, encrypted by BFV: the kernel of `hearith_columns::lattice`.
//!
//! Encryption and decryption of a table depend on the position in it. A table is therefore
//! processed in one call, with its batches from a Python iterator. Progress is updated between
//! batches, and Ctrl-C stops the work there.

use crate::bfv::{BfvPrivateKey, BfvPublicKey};
use crate::{errors, threads};
use arrow_array::{BooleanArray, RecordBatch};
use arrow_pyarrow::PyArrowType;
use arrow_schema::Schema;
use hearith_columns::lattice::{LatticeAggregator, LatticeDecryptor, LatticeEncryptor, LatticeKey};
use hearith_columns::{
    BoundPredicate, ColumnSpec, EncryptOptions, ErrorKind as TableErrorKind, Predicate, Rounding, Withheld,
};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// Record batches and their schema.
type Table = (PyArrowType<Schema>, Vec<PyArrowType<RecordBatch>>);

/// Encrypts columns of a table. Its batches must have as many rows as a ciphertext holds numbers,
/// except the last. `columns` are names with scale and range, as for Paillier.
#[pyfunction]
#[pyo3(signature = (key, schema, batches, columns, *, rounding=false, max_additions=None))]
pub(crate) fn bfv_encrypt_table(
    py: Python<'_>,
    key: &Bound<'_, PyAny>,
    schema: PyArrowType<Schema>,
    batches: &Bound<'_, PyAny>,
    columns: Vec<(String, Option<u32>, Option<String>)>,
    rounding: bool,
    max_additions: Option<u64>,
) -> PyResult<Table> {
    let columns = columns.into_iter().map(|(name, scale, range)| ColumnSpec { name, scale, range }).collect();
    let mut options = EncryptOptions::new(columns);
    options.rounding = if rounding { Rounding::HalfEven } else { Rounding::Exact };
    options.max_additions = max_additions.unwrap_or(options.max_additions);
    let (public, private) = (key.cast::<BfvPublicKey>(), key.cast::<BfvPrivateKey>());
    let key = match (&public, &private) {
        (Ok(key), _) => LatticeKey::Public(&key.get().0),
        (_, Ok(key)) => LatticeKey::Owner(&key.get().0),
        _ => return Err(PyTypeError::new_err("a public or private BFV key is needed")),
    };
    let mut encryptor = LatticeEncryptor::new(key, &schema.0, &options).map_err(errors::table)?;
    let (mut encrypted, mut rows) = (Vec::new(), 0);
    for batch in batches.try_iter()? {
        let PyArrowType(batch) = batch?.extract::<PyArrowType<RecordBatch>>()?;
        let done = threads::run(py, || encryptor.encrypt(&batch))?;
        encrypted.push(PyArrowType(done.map_err(|error| errors::table(error.offset_rows(rows)))?));
        rows += batch.num_rows() as u64;
    }
    Ok((PyArrowType(Schema::clone(&encryptor.schema())), encrypted))
}

/// Decrypts a table or totals.
#[pyfunction]
pub(crate) fn bfv_decrypt_table(
    py: Python<'_>,
    key: &Bound<'_, BfvPrivateKey>,
    schema: PyArrowType<Schema>,
    batches: &Bound<'_, PyAny>,
) -> PyResult<Table> {
    let mut decryptor = LatticeDecryptor::new(&key.get().0, &schema.0, false).map_err(errors::table)?;
    let (mut decrypted, mut rows) = (Vec::new(), 0);
    for batch in batches.try_iter()? {
        let PyArrowType(batch) = batch?.extract::<PyArrowType<RecordBatch>>()?;
        let done = threads::run(py, || decryptor.decrypt(&batch))?;
        decrypted.extend(done.map_err(|error| errors::table(error.offset_rows(rows)))?.map(PyArrowType));
        rows += batch.num_rows() as u64;
    }
    decryptor.end().map_err(errors::table)?;
    Ok((PyArrowType(Schema::clone(&decryptor.schema())), decrypted))
}

/// Totals, and the condition bound to the current table.
struct Running {
    totals: LatticeAggregator,
    condition: Option<Predicate>,
    bound: Option<BoundPredicate>,
}

/// Running totals, by groups, of batched columns of tables.
#[pyclass(frozen, module = "hearith._native")]
pub(crate) struct BfvAggregator {
    /// `None` after the totals are finished or failed.
    running: Mutex<Option<Running>>,
    withheld: Mutex<Withheld>,
}

#[pymethods]
impl BfvAggregator {
    /// If `weight` names an unencrypted column, each number is multiplied by its row's value there.
    /// If `condition` is given, only rows for which it holds are added.
    #[new]
    #[pyo3(signature = (key, schema, by=vec![], weight=None, condition=None))]
    fn new(
        key: &Bound<'_, BfvPublicKey>,
        schema: PyArrowType<Schema>,
        by: Vec<String>,
        weight: Option<&str>,
        condition: Option<&str>,
    ) -> PyResult<Self> {
        let totals = LatticeAggregator::new(&key.get().0, &schema.0, &by, weight).map_err(errors::table)?;
        let condition = condition.map(str::parse::<Predicate>).transpose();
        let condition = condition.map_err(|error| errors::table(TableErrorKind::from(error).into()))?;
        if let Some(condition) = &condition {
            condition.bind(&schema.0).map_err(errors::table)?;
        }
        let running = Running { totals, condition, bound: None };
        Ok(Self { running: Mutex::new(Some(running)), withheld: Mutex::default() })
    }

    /// Allows tables that share rows with an earlier one.
    fn allow_repeated(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |running| {
            running.totals.allow_repeated();
            Ok(())
        })
    }

    /// Lets `finish` return totals in which few values share a weight.
    fn allow_rare_weights(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |running| {
            running.totals.allow_rare_weights();
            Ok(())
        })
    }

    /// Starts the next table.
    fn begin(&self, py: Python<'_>, schema: PyArrowType<Schema>) -> PyResult<()> {
        self.with(py, |running| {
            running.bind(&schema.0)?;
            running.totals.begin(&schema.0)
        })
    }

    /// Starts a part of a table: consecutive whole chunks, the first of which starts at `row`.
    fn begin_part(&self, py: Python<'_>, schema: PyArrowType<Schema>, row: u64) -> PyResult<()> {
        self.with(py, |running| {
            running.bind(&schema.0)?;
            running.totals.begin_part_at(&schema.0, row)
        })
    }

    /// Adds the next rows of the table. If `keep` (one byte per row) is given, only rows with
    /// non-zero bytes are added. After an error, the totals are lost.
    #[pyo3(signature = (batch, keep=None))]
    fn update(&self, py: Python<'_>, batch: PyArrowType<RecordBatch>, keep: Option<&[u8]>) -> PyResult<()> {
        let keep = keep.map(|keep| BooleanArray::from_iter(keep.iter().map(|&keep| Some(keep != 0))));
        self.with(py, |running| {
            let bound = running.bound.as_ref().map(|bound| bound.evaluate(&batch.0)).transpose()?;
            let keep = match (keep, bound) {
                (Some(keep), Some(bound)) => Some(and(&keep, &bound)),
                (keep, bound) => keep.or(bound),
            };
            running.totals.update(&batch.0, keep.as_ref())
        })
    }

    /// Checks that the table was complete.
    fn end(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |running| running.totals.end())
    }

    /// Returns the totals, one row per group in ascending order, and ends the aggregation. Groups
    /// of fewer rows than `min_rows` are left out. A total is null if fewer values entered it, or
    /// share one of its weights.
    #[pyo3(signature = (*, min_rows=0))]
    fn finish(&self, py: Python<'_>, min_rows: u64) -> PyResult<PyArrowType<RecordBatch>> {
        let totals = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        let totals = totals.ok_or_else(finished)?;
        let released = threads::run(py, || totals.totals.finish_with(min_rows))?.map_err(errors::table)?;
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

impl Running {
    fn bind(&mut self, schema: &Schema) -> Result<(), hearith_columns::Error> {
        self.bound = self.condition.as_ref().map(|condition| condition.bind(schema)).transpose()?;
        Ok(())
    }
}

/// The rows for which both arrays are true.
fn and(a: &BooleanArray, b: &BooleanArray) -> BooleanArray {
    a.iter().zip(b).map(|(a, b)| Some(a == Some(true) && b == Some(true))).collect()
}

impl BfvAggregator {
    fn with(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Running) -> Result<(), hearith_columns::Error> + Send,
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
