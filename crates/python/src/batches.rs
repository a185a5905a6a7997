//! Batches of plaintexts and ciphertexts.

use crate::errors::operation;
use crate::memory::{room, room_to_copy};
use hearith_paillier::Error;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Bytes copied per piece, which takes some milliseconds.
const PIECE: usize = 16 << 20;

/// The number of rows in one piece.
fn piece_rows(row_bytes: usize) -> usize {
    (PIECE / row_bytes.max(1)).max(1)
}

/// Copies `rows` ciphertexts piece by piece. Python can handle Ctrl-C between pieces.
fn copied<T: Send>(
    py: Python<'_>,
    rows: usize,
    pieces: impl Iterator<Item = T>,
    copy: impl Fn(T) -> Result<hearith_paillier::Ciphertexts, Error> + Sync,
) -> PyResult<Ciphertexts> {
    let mut gathering = Gathering::new(rows);
    for piece in pieces {
        gathering.put(py, || copy(piece)).map_err(operation)?;
        py.check_signals()?;
    }
    Ok(gathering.take().expect("at least one piece"))
}

/// Residues modulo n, one per row.
#[pyclass(frozen, module = "hearith._native")]
pub(crate) struct Plaintexts(pub(crate) hearith_paillier::Plaintexts);

#[pymethods]
impl Plaintexts {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// The residues as consecutive big-endian numbers, each with the byte length of n.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        room_to_copy(self.0.len(), 2 * self.0.row_bytes())?;
        Ok(PyBytes::new(py, &self.0.to_be_bytes()))
    }
}

/// Ciphertexts of one key, one per row.
#[pyclass(frozen, module = "hearith._native")]
pub(crate) struct Ciphertexts(pub(crate) hearith_paillier::Ciphertexts);

#[pymethods]
impl Ciphertexts {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Id of their key.
    #[getter]
    fn key_id(&self) -> String {
        self.0.key_id().to_string()
    }

    /// The ciphertexts as consecutive big-endian numbers, each with twice the byte length of n.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        room_to_copy(self.0.len(), 2 * self.0.row_bytes())?;
        let step = piece_rows(self.0.row_bytes());
        if self.0.len() <= step {
            return Ok(PyBytes::new(py, &py.detach(|| self.0.to_be_bytes())));
        }
        PyBytes::new_with(py, self.0.len() * self.0.row_bytes(), |mut rest| {
            for first in (0..self.0.len()).step_by(step) {
                let piece = self.0.range(first..self.0.len().min(first + step)).map_err(operation)?;
                let (place, behind) = rest.split_at_mut(piece.len() * piece.row_bytes());
                py.detach(|| place.copy_from_slice(&piece.to_be_bytes()));
                rest = behind;
                py.check_signals()?;
            }
            Ok(())
        })
    }

    /// The ciphertexts of these rows, in this order.
    fn select(&self, py: Python<'_>, rows: Vec<usize>) -> PyResult<Self> {
        room_to_copy(rows.len(), self.0.row_bytes())?;
        let step = piece_rows(self.0.row_bytes());
        match rows.len() <= step {
            true => py.detach(|| self.0.select(&rows)).map(Self).map_err(operation),
            false => copied(py, rows.len(), rows.chunks(step), |rows| self.0.select(rows)),
        }
    }

    /// The ciphertexts of rows `start` to `stop`, excluding `stop`.
    fn range(&self, py: Python<'_>, start: usize, stop: usize) -> PyResult<Self> {
        let rows = stop.saturating_sub(start);
        room_to_copy(rows.min(self.0.len()), self.0.row_bytes())?;
        let step = piece_rows(self.0.row_bytes());
        if rows <= step || stop > self.0.len() {
            return py.detach(|| self.0.range(start..stop)).map(Self).map_err(operation);
        }
        copied(py, rows, (start..stop).step_by(step), |first| self.0.range(first..stop.min(first + step)))
    }

    /// These ciphertexts followed by others.
    fn concat(&self, py: Python<'_>, others: Vec<Py<Ciphertexts>>) -> PyResult<Self> {
        let others: Vec<&hearith_paillier::Ciphertexts> = others.iter().map(|other| &other.get().0).collect();
        let rows = others.iter().map(|other| other.len()).sum::<usize>() + self.0.len();
        room_to_copy(rows, self.0.row_bytes())?;
        let step = piece_rows(self.0.row_bytes());
        if rows <= step || others.iter().any(|other| other.key_id() != self.0.key_id()) {
            let whole = py.detach(|| hearith_paillier::Ciphertexts::concat(&self.0, &others));
            return whole.map(Self).map_err(operation);
        }
        let parts = [&self.0].into_iter().chain(others);
        let pieces = parts.flat_map(|part| (0..part.len()).step_by(step).map(move |first| (part, first)));
        copied(py, rows, pieces, |(part, first)| part.range(first..part.len().min(first + step)))
    }
}

/// Ciphertexts that are computed piece by piece into their final buffer.
#[pyclass(module = "hearith._native")]
pub(crate) struct Gathering {
    rows: usize,
    whole: Option<hearith_paillier::Ciphertexts>,
}

#[pymethods]
impl Gathering {
    /// `rows`: the expected number of ciphertexts. More are possible.
    #[new]
    fn new(rows: usize) -> Self {
        Gathering { rows, whole: None }
    }

    /// Appends the next piece.
    fn append(&mut self, py: Python<'_>, piece: &Ciphertexts) -> PyResult<()> {
        let there = self.whole.as_ref().map_or(0, hearith_paillier::Ciphertexts::len);
        match there {
            0 => room(self.rows.max(piece.0.len()), piece.0.row_bytes())?,
            // More than announced, so the buffer may have to move.
            _ if there + piece.0.len() > self.rows => room(2 * (there + piece.0.len()), piece.0.row_bytes())?,
            _ => {}
        }
        match &mut self.whole {
            Some(whole) => py.detach(|| whole.append(&piece.0)).map_err(operation),
            None => self.put(py, || Ok(piece.0.clone())).map_err(operation),
        }
    }

    /// Takes out all ciphertexts; `None` if there were no pieces.
    fn take(&mut self) -> Option<Ciphertexts> {
        self.whole.take().map(Ciphertexts)
    }
}

impl Gathering {
    /// Computes and appends ciphertexts, without the interpreter's lock.
    fn put(
        &mut self,
        py: Python<'_>,
        make: impl FnOnce() -> Result<hearith_paillier::Ciphertexts, Error> + Send,
    ) -> Result<(), Error> {
        py.detach(|| match &mut self.whole {
            Some(whole) => whole.append(&make()?),
            None => {
                let mut whole = make()?;
                whole.reserve(self.rows.saturating_sub(whole.len()));
                self.whole = Some(whole);
                Ok(())
            }
        })
    }
}
