//! Residue number systems: batch conversion of long integers to residues modulo word-sized numbers,
//! and back.

use crate::keys::engine;
use crate::memory::room;
use crate::{errors, threads};
use hearith_arith::Batch;
use hearith_rns::{Basis, Residues};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Bytes of a word.
const WORD: usize = 8;

/// Reads little-endian words.
fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks::<WORD>().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

/// Coprime moduli.
#[pyclass(frozen, module = "hearith._native")]
pub(crate) struct RnsBasis(Basis);

#[pymethods]
impl RnsBasis {
    #[new]
    #[pyo3(signature = (moduli, engine=None))]
    fn new(moduli: Vec<u64>, engine: Option<&str>) -> PyResult<Self> {
        let basis = Basis::new(self::engine(engine)?, &moduli);
        basis.map(Self).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Bytes of each number in a batch.
    #[getter]
    fn width(&self) -> usize {
        WORD * self.0.limbs()
    }

    /// Bits of the longest number.
    #[getter]
    fn bits(&self) -> u32 {
        self.0.bits()
    }

    /// The product of the moduli.
    #[getter]
    fn product<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.product().iter().flat_map(|limb| limb.to_le_bytes()).collect::<Vec<_>>())
    }

    /// The residues of numbers of `width` bytes each: first all modulo the first modulus, then all
    /// modulo the next, and so on.
    fn residues<'py>(&self, py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        if !data.len().is_multiple_of(self.width()) {
            return Err(PyValueError::new_err(format!("{} bytes are not rows of {} bytes", data.len(), self.width())));
        }
        let count = data.len() / self.width();
        room(count, 2 * self.width() + 2 * WORD * self.0.moduli().len())?;
        let limbs = words(data);
        let residues = threads::run(py, || {
            let numbers = Batch::from_rows(self.0.limbs(), limbs.chunks(self.0.limbs())).public();
            self.0.residues(&numbers)
        })?;
        let residues = residues.map_err(|error| errors::residues(&error))?;
        let bytes: Vec<u8> = residues.columns().flatten().flat_map(|word| word.to_le_bytes()).collect();
        Ok(PyBytes::new(py, &bytes))
    }

    /// The numbers with these residues, below the product, of `width` bytes each.
    fn numbers<'py>(&self, py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let moduli = self.0.moduli();
        if !data.len().is_multiple_of(WORD * moduli.len()) {
            return Err(PyValueError::new_err(format!(
                "{} bytes are not residues to {} moduli",
                data.len(),
                moduli.len()
            )));
        }
        let count = data.len() / (WORD * moduli.len());
        room(count, 2 * self.width() + 2 * WORD * moduli.len())?;
        let residues = Residues::new(moduli, count, words(data)).map_err(|error| errors::residues(&error))?;
        let numbers = threads::run(py, || self.0.numbers(&residues))?.map_err(|error| errors::residues(&error))?;
        let bytes: Vec<u8> = numbers.as_limbs().iter().flat_map(|limb| limb.to_le_bytes()).collect();
        Ok(PyBytes::new(py, &bytes))
    }
}
