//! Batches of plaintexts and ciphertexts.

use crate::errors::operation;
use crate::memory::{room, room_to_copy};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Residues modulo n, one a row.
#[pyclass(frozen, module = "hearith._native")]
pub(crate) struct Plaintexts(pub(crate) hearith_paillier::Plaintexts);

#[pymethods]
impl Plaintexts {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// The residues one after another, big-endian, as many bytes each as n has.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        room_to_copy(self.0.len(), 2 * self.0.row_bytes())?;
        Ok(PyBytes::new(py, &self.0.to_be_bytes()))
    }
}

/// Ciphertexts of one key, one a row.
#[pyclass(frozen, module = "hearith._native")]
pub(crate) struct Ciphertexts(pub(crate) hearith_paillier::Ciphertexts);

#[pymethods]
impl Ciphertexts {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Id of the key that they belong to.
    #[getter]
    fn key_id(&self) -> String {
        self.0.key_id().to_string()
    }

    /// The ciphertexts one after another, big-endian, twice the bytes of n each.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        room_to_copy(self.0.len(), 2 * self.0.row_bytes())?;
        let bytes = py.detach(|| self.0.to_be_bytes());
        Ok(PyBytes::new(py, &bytes))
    }

    /// The ciphertexts of these rows, in this order.
    fn select(&self, py: Python<'_>, rows: Vec<usize>) -> PyResult<Self> {
        room_to_copy(rows.len(), self.0.row_bytes())?;
        py.detach(|| self.0.select(&rows)).map(Self).map_err(operation)
    }

    /// The ciphertexts of rows `start` to `stop`, without the last.
    fn range(&self, py: Python<'_>, start: usize, stop: usize) -> PyResult<Self> {
        room_to_copy(stop.saturating_sub(start).min(self.0.len()), self.0.row_bytes())?;
        py.detach(|| self.0.range(start..stop)).map(Self).map_err(operation)
    }

    /// These ciphertexts followed by others.
    fn concat(&self, py: Python<'_>, others: Vec<Py<Ciphertexts>>) -> PyResult<Self> {
        let others: Vec<&hearith_paillier::Ciphertexts> = others.iter().map(|other| &other.get().0).collect();
        room_to_copy(others.iter().map(|other| other.len()).sum::<usize>() + self.0.len(), self.0.row_bytes())?;
        py.detach(|| hearith_paillier::Ciphertexts::concat(&self.0, &others)).map(Self).map_err(operation)
    }
}

/// Ciphertexts that are computed piece by piece, in the place of the whole from the beginning.
#[pyclass(module = "hearith._native")]
pub(crate) struct Gathering {
    rows: usize,
    whole: Option<hearith_paillier::Ciphertexts>,
}

#[pymethods]
impl Gathering {
    /// `rows`: how many there will be. More find room too.
    #[new]
    fn new(rows: usize) -> Self {
        Gathering { rows, whole: None }
    }

    /// Puts the next piece after what is there.
    fn append(&mut self, py: Python<'_>, piece: &Ciphertexts) -> PyResult<()> {
        let there = self.whole.as_ref().map_or(0, hearith_paillier::Ciphertexts::len);
        match there {
            0 => room(self.rows.max(piece.0.len()), piece.0.row_bytes())?,
            // More than was said: the whole may have to move.
            _ if there + piece.0.len() > self.rows => room(2 * (there + piece.0.len()), piece.0.row_bytes())?,
            _ => {}
        }
        py.detach(|| match &mut self.whole {
            Some(whole) => whole.append(&piece.0),
            None => {
                let mut whole = piece.0.clone();
                whole.reserve(self.rows.saturating_sub(whole.len()));
                self.whole = Some(whole);
                Ok(())
            }
        })
        .map_err(operation)
    }

    /// The whole, which is taken: `None` if there were no pieces.
    fn take(&mut self) -> Option<Ciphertexts> {
        self.whole.take().map(Ciphertexts)
    }
}
