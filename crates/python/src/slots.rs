//! Several integers packed into one plaintext.

use crate::batches::Plaintexts;
use crate::integers::Bytes;
use crate::keys::{PrivateKey, PublicKey};
use crate::{errors, integers, threads};
use pyo3::prelude::*;
use zeroize::Zeroizing;

/// The layout of integers in the slots of a plaintext.
#[pyclass(frozen, module = "hearith._native")]
pub(crate) struct SlotLayout(hearith_paillier::encoding::SlotLayout);

#[pymethods]
impl SlotLayout {
    /// `slots` integers of magnitude at most `range` per row, with headroom for sums of
    /// `max_additions` rows.
    #[new]
    fn new(key_bits: u32, slots: usize, range: u128, max_additions: u64) -> PyResult<Self> {
        let layout = hearith_paillier::encoding::SlotLayout::new(key_bits, slots, range, max_additions);
        layout.map(Self).map_err(errors::encoding)
    }

    /// The number of slots that fit a key's plaintexts.
    #[staticmethod]
    fn fits(key_bits: u32, range: u128, max_additions: u64) -> usize {
        hearith_paillier::encoding::SlotLayout::fits(key_bits, range, max_additions)
    }

    #[getter]
    fn slots(&self) -> usize {
        self.0.slots()
    }

    /// Packs integers of at most 16 bytes into plaintexts, `slots` per row.
    fn pack(&self, py: Python<'_>, key: &PublicKey, data: &Bytes<'_>, width: usize) -> PyResult<Plaintexts> {
        let values = integers::small(data, width)?;
        py.detach(|| self.0.pack(&key.0, &values)).map(Plaintexts).map_err(errors::encoding)
    }
}

impl SlotLayout {
    /// Decrypts and unpacks sums of `additions` rows each.
    ///
    /// # Errors
    /// Reports the first row whose content exceeds the layout, or row 0 if the layout is for fewer
    /// additions.
    pub(crate) fn open(
        &self,
        py: Python<'_>,
        key: &PrivateKey,
        numbers: &hearith_paillier::Ciphertexts,
        additions: u64,
    ) -> PyResult<(Zeroizing<Vec<u8>>, usize)> {
        let additions = vec![additions; numbers.len()];
        let slots =
            threads::run(py, || Ok(self.0.unpack(key.0.public(), &key.decrypted(numbers, false)?, &additions)?))?;
        let slots = slots.map_err(errors::decrypt)?;
        let overflow = slots.iter().position(Option::is_none);
        if let Some(slot) = overflow {
            return Err(errors::slot_overflow(slot / self.0.slots()));
        }
        Ok(integers::pack(&slots.into_iter().flatten().collect::<Vec<_>>()))
    }
}
