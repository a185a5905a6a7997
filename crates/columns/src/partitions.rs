//! Columns that exist only in folder names, as Hive, Spark and DuckDB write them:
//! `dept=sales/part.parquet`.

use std::path::{Component, Path};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use percent_encoding::percent_decode_str;

use crate::behind::Behind;
use crate::error::Error;

/// Null in a folder's name.
const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// The columns in one file's path, as given, and their values for all rows.
///
/// `dept=sales/part.parquet` has a text column `dept`. Escapes such as `%3A` are decoded, and
/// `__HIVE_DEFAULT_PARTITION__` is null.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partitions {
    columns: Vec<(String, Option<String>)>,
    behind: Behind,
}

impl Partitions {
    /// The columns of a path that the table itself does not have.
    pub fn of(path: &Path, schema: &Schema) -> Self {
        let folders = path.parent().into_iter().flat_map(Path::components);
        let mut columns: Vec<(String, Option<String>)> = Vec::new();
        for folder in folders {
            let Component::Normal(folder) = folder else { continue };
            let folder = folder.to_string_lossy();
            let Some((name, value)) = folder.split_once('=').filter(|(name, _)| !name.is_empty()) else { continue };
            let (name, value) = (unescaped(name), Some(value).filter(|value| *value != NULL).map(unescaped));
            if schema.field_with_name(&name).is_ok() {
                continue;
            }
            // The innermost folder with a name takes precedence.
            match columns.iter_mut().find(|(other, _)| *other == name) {
                Some((_, before)) => *before = value,
                None => columns.push((name, value)),
            }
        }
        let fields = columns.iter().map(|(name, _)| Arc::new(Field::new(name, DataType::Utf8, true)));
        let behind = Behind::new(fields.collect());
        Self { columns, behind }
    }

    /// The schema with these columns appended as text.
    pub fn schema(&self, schema: &SchemaRef) -> SchemaRef {
        self.behind.schema(schema)
    }

    /// The batch with these columns appended.
    ///
    /// # Errors
    /// None, for a batch of the table that the columns were found for.
    pub fn batch(&mut self, batch: &RecordBatch) -> Result<RecordBatch, Error> {
        if self.columns.is_empty() {
            return Ok(batch.clone());
        }
        let column = |(_, value): &(String, Option<String>)| -> ArrayRef {
            Arc::new(StringArray::from_iter(std::iter::repeat_n(value.as_deref(), batch.num_rows())))
        };
        self.behind.batch(batch, self.columns.iter().map(column).collect())
    }
}

/// Decodes the escapes of characters that folder names cannot contain: `%3A` is a colon.
fn unescaped(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_name_columns() {
        let schema = Schema::new(vec![Field::new("site", DataType::Int32, true)]);
        let of = |path: &str| Partitions::of(Path::new(path), &schema).columns;
        let pair = |name: &str, value: Option<&str>| (name.to_owned(), value.map(str::to_owned));
        assert_eq!(
            of("e/dept=sales/day=2020-01-31/x.parquet"),
            [pair("dept", Some("sales")), pair("day", Some("2020-01-31"))]
        );
        assert_eq!(of("dept=__HIVE_DEFAULT_PARTITION__/x.parquet"), [pair("dept", None)]);
        assert_eq!(of("dept=/x.parquet"), [pair("dept", Some(""))]);
        assert_eq!(of("a%3Db=c%2Fd%C3%A9=1/x.parquet"), [pair("a=b", Some("c/d\u{e9}=1"))]);
        assert_eq!(of("dept=a/dept=b/x.parquet"), [pair("dept", Some("b"))]);
        for none in ["x.parquet", "dept=sales.parquet", "site=1/x.parquet", "=1/x.parquet", "plain/x.parquet"] {
            assert_eq!(of(none), [], "{none}");
        }
        assert_eq!(unescaped("100%"), "100%");
        assert_eq!(unescaped("%zz%4"), "%zz%4");
    }
}
