//! Converts unencrypted columns to named types, those of SQL casts, so that tables of several
//! senders have equal types.

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, FieldRef, Schema};

use crate::encrypt::find;
use crate::error::Error;
use crate::expression::{BoundComputed, Computed};
use crate::groups::canonical_type;

/// The name of the narrowest named type that holds all values of a column. `None` for binary,
/// nested and other columns that no cast produces. Timestamps have microseconds.
pub fn type_name(kind: &DataType) -> Option<String> {
    use DataType::*;
    Some(match canonical_type(kind) {
        Boolean => "boolean".into(),
        Int8 => "tinyint".into(),
        Int16 | UInt8 => "smallint".into(),
        Int32 | UInt16 => "integer".into(),
        Int64 | UInt32 => "bigint".into(),
        UInt64 => "decimal(20, 0)".into(),
        Decimal32(digits, scale) | Decimal64(digits, scale) | Decimal128(digits, scale) | Decimal256(digits, scale)
            if scale >= 0 =>
        {
            format!("decimal({digits}, {scale})")
        }
        Float16 | Float32 => "real".into(),
        Float64 => "double".into(),
        Utf8 | Null => "text".into(),
        Date32 | Date64 => "date".into(),
        Time32(_) | Time64(_) => "time".into(),
        Timestamp(_, None) => "timestamp".into(),
        Timestamp(_, Some(_)) => "timestamp with time zone".into(),
        _ => return None,
    })
}

/// Whether a type name denotes a numeric type.
pub fn is_number(kind: &str) -> bool {
    let text = Schema::new(vec![Field::new("x", DataType::Utf8, true)]);
    TypedColumn::new(&text, "x", kind).is_ok_and(|column| column.field().data_type().is_numeric())
}

/// An unencrypted column, converted to a named type without loss.
#[derive(Debug)]
pub struct TypedColumn {
    name: String,
    computed: BoundComputed,
    /// Whether the values are formatted as text, which casts in expressions do not do.
    formats_text: bool,
}

impl TypedColumn {
    /// Converts the column of this name in a table to the type `kind`.
    ///
    /// # Errors
    /// When the table lacks the column, the type does not exist, or the column cannot be cast to
    /// it.
    pub fn new(schema: &Schema, name: &str, kind: &str) -> Result<Self, Error> {
        let is_text = canonical_type(find(schema, name)?.data_type()) == DataType::Utf8;
        let formats_text = kind == "text" && !is_text;
        let quoted = name.replace('"', "\"\"");
        let text = match formats_text {
            true => format!("\"{quoted}\""),
            false => format!("cast(\"{quoted}\" as {kind}) as \"{quoted}\""),
        };
        let expression: Computed = text.parse().map_err(|error| Error::from(crate::ErrorKind::from(error)))?;
        Ok(Self { name: name.to_owned(), computed: expression.bind(schema)?, formats_text })
    }

    /// The field after conversion.
    pub fn field(&self) -> FieldRef {
        match self.formats_text {
            true => self.computed.field().as_ref().clone().with_data_type(DataType::Utf8).into(),
            false => self.computed.field(),
        }
    }

    /// The column's values in a batch of the table.
    ///
    /// # Errors
    /// Reports the first row whose cell does not fit the type.
    pub fn values(&self, batch: &RecordBatch) -> Result<ArrayRef, Error> {
        let values = self.computed.values(batch, None).map_err(|error| error.in_column(&self.name))?;
        match self.formats_text && *values.data_type() != DataType::Utf8 {
            true => cast(&values, &DataType::Utf8).map_err(|error| Error::from(error).in_column(&self.name)),
            false => Ok(values),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::*;
    use arrow_schema::TimeUnit;

    use super::*;

    fn typed(column: ArrayRef, kind: &str) -> Result<ArrayRef, String> {
        let batch = RecordBatch::try_from_iter_with_nullable([("a \"b\"", column, true)]).unwrap();
        let typed = TypedColumn::new(&batch.schema(), "a \"b\"", kind).map_err(|error| error.to_string())?;
        let values = typed.values(&batch).map_err(|error| error.to_string())?;
        assert_eq!((typed.field().data_type(), typed.field().name().as_str()), (values.data_type(), "a \"b\""));
        Ok(values)
    }

    #[test]
    fn every_named_type_takes_its_own_columns() {
        let text = || -> ArrayRef { Arc::new(StringArray::from(vec![Some("1"), None])) };
        let columns: Vec<(ArrayRef, &str)> = vec![
            (text(), "text"),
            (Arc::new(Int8Array::from(vec![Some(1), None])), "tinyint"),
            (Arc::new(UInt8Array::from(vec![Some(1), None])), "smallint"),
            (Arc::new(UInt16Array::from(vec![Some(1), None])), "integer"),
            (Arc::new(UInt32Array::from(vec![Some(1), None])), "bigint"),
            (Arc::new(UInt64Array::from(vec![Some(u64::MAX), None])), "decimal(20, 0)"),
            (Arc::new(Float32Array::from(vec![Some(0.1), None])), "real"),
            (Arc::new(Float64Array::from(vec![Some(f64::NAN), None])), "double"),
            (Arc::new(BooleanArray::from(vec![Some(true), None])), "boolean"),
            (Arc::new(Date64Array::from(vec![Some(86_400_000), None])), "date"),
            (Arc::new(Time32SecondArray::from(vec![Some(3), None])), "time"),
            (Arc::new(TimestampNanosecondArray::from(vec![Some(3_000), None])), "timestamp"),
            (
                Arc::new(TimestampSecondArray::from(vec![Some(3), None]).with_timezone("+01:00")),
                "timestamp with time zone",
            ),
            (Arc::new(Decimal256Array::from(vec![Some(arrow_buffer::i256::ONE), None])), "decimal(76, 10)"),
        ];
        for (column, name) in columns {
            assert_eq!(type_name(column.data_type()).as_deref(), Some(name));
            let values = typed(column, name).unwrap();
            assert_eq!((values.len(), values.null_count()), (2, 1), "{name}");
            assert_eq!(type_name(values.data_type()).as_deref(), Some(name), "a type is its own");
        }
        assert_eq!(type_name(&DataType::Binary), None);
        assert_eq!(type_name(&DataType::Timestamp(TimeUnit::Second, None)).as_deref(), Some("timestamp"));
    }

    #[test]
    fn senders_types_meet() {
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![Some(7), None]));
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("7"), None]));
        assert_eq!(&typed(numbers.clone(), "text").unwrap(), &texts);
        assert_eq!(&typed(texts.clone(), "integer").unwrap(), &numbers);
        let days: ArrayRef = Arc::new(Date32Array::from(vec![18_262]));
        let iso: ArrayRef = Arc::new(StringArray::from(vec!["2020-01-01"]));
        assert_eq!(&typed(days.clone(), "text").unwrap(), &iso);
        assert_eq!(&typed(iso, "date").unwrap(), &days);
        let wrong: ArrayRef = Arc::new(StringArray::from(vec!["7", "7.5"]));
        assert_eq!(typed(wrong, "integer").unwrap_err(), "row 1, column a \"b\": is not a 32-bit integer");
        assert!(typed(numbers, "date").is_err());
        assert!(typed(texts, "money").unwrap_err().contains("the type money is not supported"));
    }
}
