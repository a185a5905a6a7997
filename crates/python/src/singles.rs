//! Operations on single values, for python-paillier's interface. Rows of bytes go in and out, with
//! one call per operation.
//!
//! A vector engine needs as much time for one row as for all its lanes. Randomisers are therefore
//! computed for all lanes at once and kept for later encryptions. Sums and multiples arrive in the
//! batches that the Python half has deferred.

use std::sync::{Mutex, PoisonError};

use hearith_paillier::{Ciphertexts, Error, Kept, RandomiserPool, Randomisers};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyByteArray, PyBytes};

use crate::errors::operation;
use crate::integers::Bytes;
use crate::keys::{PrivateKey, PublicKey};
use crate::{integers, threads};

/// Unused randomisers.
struct Pool {
    kept: Kept,
    /// Filled if more than one set of lanes is kept. A forked child finds it empty and does not
    /// refill it.
    filled: Option<RandomiserPool>,
}

/// The state for single-value operations with one key.
#[pyclass(frozen, module = "hearith._native")]
pub(crate) struct Singles {
    key: hearith_paillier::PublicKey,
    /// Locked only by holders of the interpreter's lock, which `os.fork` also holds. No child
    /// therefore inherits it locked.
    pool: Mutex<Pool>,
}

#[pymethods]
impl Singles {
    #[new]
    fn new(key: &PublicKey) -> Self {
        Self { key: key.0.clone(), pool: Mutex::new(Pool { kept: Kept::new(), filled: None }) }
    }

    /// Starts a thread that keeps `count` randomisers ready. 0 ends the thread.
    fn keep(&self, py: Python<'_>, count: usize) -> PyResult<()> {
        let filled = (count > 0).then(|| self.key.randomiser_pool(count)).transpose()?;
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *pool, Pool { kept: Kept::new(), filled });
        drop(pool);
        // Its thread finishes its current work.
        py.detach(|| drop(before));
        Ok(())
    }

    /// The number of randomisers that the thread has ready.
    fn kept(&self) -> usize {
        let pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        pool.filled.as_ref().map_or(0, RandomiserPool::len)
    }

    /// Encrypts a residue modulo n, given as a big-endian number with the byte length of n.
    fn encrypt<'py>(&self, py: Python<'py>, residue: &Bytes<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut one = self.randomiser(py)?;
        let made = self.key.plaintexts_from_be(&integers::bytes(residue));
        let made = made.and_then(|plaintext| self.key.encrypt_with(&plaintext, &mut one)).map_err(operation)?;
        Ok(PyBytes::new(py, &made.to_be_bytes()))
    }

    /// Another ciphertext of the same number.
    fn rerandomise<'py>(&self, py: Python<'py>, row: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let mut one = self.randomiser(py)?;
        let made = self.key.ciphertexts_from_be(row);
        let made = made.and_then(|number| self.key.rerandomise_with(&number, &mut one)).map_err(operation)?;
        Ok(PyBytes::new(py, &made.to_be_bytes()))
    }

    /// The sum of each group of rows, plus the group's residue in `added`, if given.
    #[pyo3(signature = (rows, groups, added=None))]
    fn sums<'py>(
        &self,
        py: Python<'py>,
        rows: Vec<PyBackedBytes>,
        groups: Vec<Vec<u32>>,
        added: Option<&Bytes<'py>>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let added = added.map(|residues| self.key.plaintexts_from_be(&integers::bytes(residues)));
        let added = added.transpose().map_err(operation)?;
        let sums = |numbers: Ciphertexts| {
            let sums = self.grouped(&numbers, &groups)?;
            match &added {
                Some(added) => self.key.add_plain(&sums, added),
                None => Ok(sums),
            }
        };
        self.run(py, &rows, groups.len(), sums)
    }

    /// Multiplies by packed integers of magnitude below 2^bits.
    fn multiples<'py>(
        &self,
        py: Python<'py>,
        rows: Vec<PyBackedBytes>,
        data: &Bytes<'py>,
        width: usize,
        bits: u32,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let scalars = integers::wide(data, width)?;
        self.run(py, &rows, rows.len(), |numbers| self.key.multiply_wide_deterministic(&numbers, &scalars, bits))
    }

    /// Multiplies by one packed integer, which is public.
    fn public_multiples<'py>(
        &self,
        py: Python<'py>,
        rows: Vec<PyBackedBytes>,
        data: &Bytes<'py>,
        width: usize,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let scalars = integers::wide(data, width)?;
        let [scalar] = &scalars[..] else { return Err(PyValueError::new_err("one integer is needed")) };
        self.run(py, &rows, rows.len(), |numbers| self.key.multiply_public(&numbers, scalar))
    }

    /// Decrypts to a residue: a big-endian number with the byte length of n.
    fn decrypt<'py>(&self, py: Python<'py>, key: &PrivateKey, row: &[u8]) -> PyResult<Bound<'py, PyByteArray>> {
        // Other threads do not help for one row.
        let residue = py.detach(|| key.0.decrypt(&self.key.ciphertexts_from_be(row)?)).map_err(operation)?;
        Ok(PyByteArray::new(py, &residue.to_be_bytes()))
    }
}

impl Singles {
    /// A randomiser for one use.
    fn randomiser(&self, py: Python<'_>) -> PyResult<Randomisers> {
        if let Some(one) = self.taken()? {
            return Ok(one);
        }
        let count = self.key.engine().lanes() * threads::threads()?;
        let made = threads::run(py, || self.key.randomisers(count))?;
        let mut made = made.map_err(operation)?;
        let one = made.take(1).map_err(operation)?;
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        pool.kept.put(made);
        Ok(one)
    }

    fn taken(&self) -> PyResult<Option<Randomisers>> {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        let ready = pool.filled.as_ref().map_or(Ok(None), |filled| filled.ready(1));
        match ready.map_err(operation)? {
            Some(one) => Ok(Some(one)),
            None => pool.kept.take(1).map_err(operation),
        }
    }

    fn grouped(&self, numbers: &Ciphertexts, groups: &[Vec<u32>]) -> Result<Ciphertexts, Error> {
        if groups.iter().all(|group| group.len() == 1) {
            return numbers.select(&groups.iter().map(|group| group[0] as usize).collect::<Vec<_>>());
        }
        // Pairs are products of two rows, which avoids the fixed costs of a chain of factors.
        if groups.iter().all(|group| group.len() == 2) {
            let side = |index: usize| groups.iter().map(|group| group[index] as usize).collect::<Vec<_>>();
            return self.key.add(&numbers.select(&side(0))?, &numbers.select(&side(1))?);
        }
        self.key.sum_groups(numbers, groups)
    }

    /// Runs an operation on rows and returns its rows. It runs on this thread if each row fits a
    /// lane.
    fn run<'py>(
        &self,
        py: Python<'py>,
        rows: &[PyBackedBytes],
        results: usize,
        work: impl FnOnce(Ciphertexts) -> Result<Ciphertexts, Error> + Send,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let work = || {
            let rows: Vec<&[u8]> = rows.iter().map(|row| &**row).collect();
            let made = work(self.key.ciphertexts_from_be_rows(&rows)?)?;
            Ok(made.to_be_bytes())
        };
        let few = results.max(rows.len()) <= self.key.engine().lanes();
        let made = if few { py.detach(work) } else { threads::run(py, work)? };
        let made = made.map_err(operation)?;
        Ok(made.chunks_exact(self.key.ciphertext_bytes()).map(|row| PyBytes::new(py, row)).collect())
    }
}
