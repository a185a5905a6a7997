//! Super-size arithmetic: products and remainders of integers of any length, as little-endian
//! bytes.

use crate::keys::engine;
use crate::memory::room;
use crate::threads;
use hearith_ntt::{Barrett, NttError, Ring};
use pyo3::exceptions::{PyValueError, PyZeroDivisionError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Bytes of a limb.
const LIMB: usize = 8;
/// Memory of a product in multiples of its factors: both transforms, with 52 bits per coefficient,
/// and the result.
const ROOM: usize = 16;

/// The limbs of a number.
fn limbs(bytes: &[u8]) -> Vec<u64> {
    let limb = |chunk: &[u8]| chunk.iter().rfold(0, |limb, &byte| limb << 8 | u64::from(byte));
    bytes.chunks(LIMB).map(limb).collect()
}

/// The bytes of a number.
fn bytes<'py>(py: Python<'py>, limbs: &[u64]) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect::<Vec<_>>())
}

fn failed(error: NttError) -> PyErr {
    match error {
        NttError::ZeroModulus => PyZeroDivisionError::new_err("the modulus is zero"),
        error => PyValueError::new_err(error.to_string()),
    }
}

/// The product of two natural numbers, or the square of `a` without `b`.
#[pyfunction]
#[pyo3(signature = (a, b, engine=None))]
pub(crate) fn ntt_product<'py>(
    py: Python<'py>,
    a: &[u8],
    b: Option<&[u8]>,
    engine: Option<&str>,
) -> PyResult<Bound<'py, PyBytes>> {
    let engine = self::engine(engine)?;
    let length = a.len().div_ceil(LIMB) + b.unwrap_or(a).len().div_ceil(LIMB);
    room(length, ROOM * LIMB)?;
    let (a, b) = (limbs(a), b.map(limbs));
    let product = threads::run(py, || {
        let ring = Ring::new(engine, length)?;
        let mut product = vec![0; length];
        match &b {
            Some(b) => ring.product(&a, b, &mut product)?,
            None => ring.square(&a, &mut product)?,
        }
        Ok(product)
    })?;
    product.map(|product| bytes(py, &product)).map_err(failed)
}

/// A modulus with its reciprocal, both transformed.
#[pyclass(frozen, module = "hearith._native")]
pub(crate) struct NttModulus {
    barrett: Barrett,
    engine: hearith_paillier::Engine,
}

#[pymethods]
impl NttModulus {
    /// Prepares to reduce numbers of up to `excess` more bits than the modulus.
    #[new]
    #[pyo3(signature = (modulus, excess, engine=None))]
    fn new(py: Python<'_>, modulus: &[u8], excess: usize, engine: Option<&str>) -> PyResult<Self> {
        let engine = self::engine(engine)?;
        room(modulus.len().div_ceil(LIMB).saturating_add(excess / 64), 2 * ROOM * LIMB)?;
        let modulus = limbs(modulus);
        let barrett = threads::run(py, || Barrett::new(engine, &modulus, excess))?.map_err(failed)?;
        Ok(Self { barrett, engine })
    }

    /// Bits of the longest number that can be reduced.
    #[getter]
    fn most_bits(&self) -> usize {
        self.barrett.most_bits()
    }

    /// The engine's name.
    #[getter]
    fn engine(&self) -> String {
        self.engine.to_string()
    }

    /// The remainder of a natural number.
    fn remainder<'py>(&self, py: Python<'py>, x: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        room(x.len().div_ceil(LIMB), ROOM * LIMB)?;
        let x = limbs(x);
        let rest = threads::run(py, || {
            let mut rest = vec![0; self.barrett.modulus().len()];
            self.barrett.reduce(&x, &mut rest).map(|()| rest)
        })?;
        rest.map(|rest| bytes(py, &rest)).map_err(failed)
    }
}
