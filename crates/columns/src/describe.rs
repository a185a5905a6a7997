//! Restores descriptions. pandas, polars and DuckDB keep the values of a table but drop the
//! metadata of its fields.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, UInt64Array};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};

use crate::described::{self, Described};
use crate::encrypt::batch_of;
use crate::error::{Error, ErrorKind};
use crate::groups::canonical_type;
use crate::metadata::{counts_rows, is_encrypted, numbers_rows};

/// Copies descriptions from the columns of one table to those of the same names in another.
#[derive(Debug)]
pub struct Describer {
    schema: SchemaRef,
}

impl Describer {
    /// Describes a table with this schema like `original`. Columns that `original` does not
    /// describe remain unchanged.
    ///
    /// # Errors
    /// [`ErrorKind::NothingEncrypted`] when no column is described. Also a missing companion or a
    /// damaged description.
    pub fn new(table: &Schema, original: &Schema) -> Result<Self, Error> {
        let counting = companions(original)?;
        let describes = |field: &Field| {
            is_encrypted(field) || counts_rows(field) || numbers_rows(field) || counting.contains(field.name())
        };
        let field = |field: &FieldRef| match original.field_with_name(field.name()) {
            Ok(original) if describes(original) => Arc::new(original.clone()),
            _ => field.clone(),
        };
        let schema = Schema::new(table.fields().iter().map(field).collect::<Vec<_>>());
        if companions(&schema)?.is_empty() {
            return Err(ErrorKind::NothingEncrypted.into());
        }
        Ok(Self { schema: Arc::new(schema) })
    }

    /// The schema of the table with descriptions.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Describes a batch of the table.
    ///
    /// # Errors
    /// [`ErrorKind::Undescribed`] for a column that cannot be converted to the described type.
    pub fn describe(&self, batch: &RecordBatch) -> Result<RecordBatch, Error> {
        let columns = batch.columns().iter().zip(self.schema.fields());
        let arrays = columns.map(|(array, field)| convert(array, field));
        batch_of(&self.schema, arrays.collect::<Result<_, _>>()?)
    }
}

/// The names of all companion columns.
fn companions(schema: &Schema) -> Result<HashSet<String>, Error> {
    let names = |Described { source, rarest, index }| [Some(source.additions), source.values, rarest, index];
    Ok(described::described(schema)?.into_iter().flat_map(names).flatten().collect())
}

fn convert(array: &ArrayRef, field: &Field) -> Result<ArrayRef, Error> {
    if array.data_type() == field.data_type() && (field.is_nullable() || array.null_count() == 0) {
        return Ok(array.clone());
    }
    let undescribed = || {
        let (found, expected) = (array.data_type().to_string(), field.data_type().to_string());
        ErrorKind::Undescribed { found, expected }.in_column(field.name())
    };
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let cast = |array: &ArrayRef, kind: &DataType| cast_with_options(array, kind, &options).map_err(|_| undescribed());
    let array = cast(&cast(array, &canonical_type(array.data_type()))?, field.data_type())?;
    match field.data_type() {
        // pandas turns counts with nulls into fractions. A null means that nothing was added: 0.
        DataType::UInt64 if !field.is_nullable() && array.logical_null_count() > 0 => {
            let counts = array.as_any().downcast_ref::<UInt64Array>().ok_or_else(undescribed)?;
            Ok(Arc::new(counts.iter().map(|count| Some(count.unwrap_or(0))).collect::<UInt64Array>()))
        }
        _ => Ok(array),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use arrow_array::{BinaryViewArray, Float64Array, StringArray};

    use super::*;

    #[test]
    fn values_take_the_types_that_are_described() {
        let field = |kind, nullable| Field::new("x", kind, nullable).with_metadata(HashMap::new());
        let floats: ArrayRef = Arc::new(Float64Array::from(vec![Some(3.0), None]));
        let counts = convert(&floats, &field(DataType::UInt64, false)).unwrap();
        assert_eq!(counts.as_ref(), &UInt64Array::from(vec![3, 0]) as &dyn Array);
        let kept = convert(&floats, &field(DataType::UInt64, true)).unwrap();
        assert_eq!(kept.as_ref(), &UInt64Array::from(vec![Some(3), None]) as &dyn Array);
        let views: ArrayRef = Arc::new(BinaryViewArray::from_iter([Some(b"ab".as_slice()), None]));
        let fixed = convert(&views, &field(DataType::FixedSizeBinary(2), true)).unwrap();
        assert_eq!((fixed.len(), fixed.null_count()), (2, 1));
        let fault = convert(&views, &field(DataType::FixedSizeBinary(3), true)).unwrap_err().to_string();
        assert_eq!(fault, "column x: is BinaryView, which cannot be converted to FixedSizeBinary(3)");
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
        assert!(convert(&texts, &field(DataType::UInt64, false)).is_err());
    }
}
