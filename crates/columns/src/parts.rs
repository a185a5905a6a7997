//! The columns that were encrypted in a table, under either scheme.

use arrow_schema::Schema;

use crate::error::Error;
use crate::lattice::lattice_columns;
use crate::metadata::{Part, encrypted_columns};

/// A column that was encrypted, and the companions that the lattice scheme adds to those of its
/// part.
#[derive(Clone, Debug)]
pub struct Described {
    /// The column.
    pub part: Part,
    /// The column that says how many values have the rarest weight.
    pub rarest: Option<String>,
    /// The column that numbers the rows.
    pub index: Option<String>,
}

/// What a schema describes as encrypted.
///
/// # Errors
/// A damaged description; a Paillier table without any.
pub fn described(schema: &Schema) -> Result<Vec<Described>, Error> {
    let whole = lattice_columns(schema)?;
    if !whole.is_empty() {
        let described = whole.into_iter();
        return Ok(described.map(|it| Described { part: it.part, rarest: it.rarest, index: it.index }).collect());
    }
    let parts = encrypted_columns(schema)?.into_iter().flat_map(|column| column.parts);
    Ok(parts.map(|part| Described { part, rarest: None, index: None }).collect())
}
