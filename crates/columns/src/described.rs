//! The encrypted columns of a table, under either scheme.

use arrow_schema::Schema;

use crate::error::Error;
use crate::lattice::lattice_columns;
use crate::metadata::{SourceColumn, encrypted_columns};

/// A source column, and the additional companions that the lattice scheme has for it.
#[derive(Clone, Debug)]
pub struct Described {
    /// The column.
    pub source: SourceColumn,
    /// The column that counts the values with the rarest weight.
    pub rarest: Option<String>,
    /// The column that numbers the rows.
    pub index: Option<String>,
}

/// The columns that a schema describes as encrypted.
///
/// # Errors
/// A damaged description, or a Paillier table without encrypted columns.
pub fn described(schema: &Schema) -> Result<Vec<Described>, Error> {
    let whole = lattice_columns(schema)?;
    if !whole.is_empty() {
        let described = whole.into_iter();
        return Ok(described.map(|it| Described { source: it.source, rarest: it.rarest, index: it.index }).collect());
    }
    let sources = encrypted_columns(schema)?.into_iter().flat_map(|column| column.sources);
    Ok(sources.map(|source| Described { source, rarest: None, index: None }).collect())
}
