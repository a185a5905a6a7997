//! The type `ciphertext` in memory: the bytes of [`hearith_paillier::described`].

use hearith_paillier::described::Description;
use pgrx::pg_sys;

use crate::call::varlena;
use crate::fault::Fault;

/// A value of type `ciphertext`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number<'a> {
    pub(crate) description: Description,
    /// The ciphertext, big-endian, of the description's length.
    pub(crate) ciphertext: &'a [u8],
}

impl<'a> Number<'a> {
    /// Reads a value from bytes.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, Fault> {
        let (description, ciphertext) = Description::read(bytes).map_err(Fault::Bytes)?;
        Ok(Number { description, ciphertext })
    }

    /// Copies the value to the current memory context.
    pub(crate) fn datum(&self) -> pg_sys::Datum {
        varlena(&[&self.description.to_bytes(), self.ciphertext])
    }
}
