//! The fields of tables before and after an operation: what of their metadata is kept, and whether
//! a batch has the fields of its table.

use std::collections::HashSet;

use arrow_array::{ArrayRef, make_array};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Metadata, Schema};

use super::{INDEX_ROLE, ROLE, ROWS, TABLE, TABLES, encryption_of};
use crate::error::{Error, ErrorKind};

/// The field as it passes through, reduced as the module documentation says.
pub(crate) fn stored_field(field: &Field) -> Result<Field, Error> {
    Ok(match encryption_of(field)? {
        Some(column) => {
            let kept = column.field().with_nullable(field.is_nullable());
            with_entries(kept, field.metadata(), &[TABLE])
        }
        None if counts_rows(field) => {
            let kept = rows_field(field.name()).with_nullable(field.is_nullable());
            with_entries(kept, field.metadata(), &[TABLES])
        }
        None => without_metadata(field),
    })
}

/// Copies the entries with these keys from `from` to the field.
fn with_entries(field: Field, from: &Metadata, keys: &[&str]) -> Field {
    let mut metadata = field.metadata().clone();
    for &key in keys {
        if let Some(value) = from.get(key) {
            metadata.insert(key.to_owned(), value.clone());
        }
    }
    field.with_metadata(metadata)
}

/// The field of an encrypted column, with the id of its table.
pub(crate) fn of_table(field: Field, table: &str) -> Field {
    let mut metadata = field.metadata().clone();
    metadata.insert(TABLE.to_owned(), table.to_owned());
    field.with_metadata(metadata)
}

/// The field without metadata, including that of nested fields.
pub(crate) fn without_metadata(field: &Field) -> Field {
    Field::new(field.name(), type_without_metadata(field.data_type()), field.is_nullable())
}

fn type_without_metadata(kind: &DataType) -> DataType {
    let inner = |field: &FieldRef| FieldRef::new(without_metadata(field));
    match kind {
        DataType::List(field) => DataType::List(inner(field)),
        DataType::LargeList(field) => DataType::LargeList(inner(field)),
        DataType::ListView(field) => DataType::ListView(inner(field)),
        DataType::LargeListView(field) => DataType::LargeListView(inner(field)),
        DataType::FixedSizeList(field, length) => DataType::FixedSizeList(inner(field), *length),
        DataType::Map(field, sorted) => DataType::Map(inner(field), *sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(inner).collect::<Fields>()),
        DataType::Union(fields, mode) => {
            DataType::Union(fields.iter().map(|(id, field)| (id, inner(field))).collect(), *mode)
        }
        DataType::Dictionary(keys, values) => DataType::Dictionary(keys.clone(), type_without_metadata(values).into()),
        DataType::RunEndEncoded(ends, values) => DataType::RunEndEncoded(inner(ends), inner(values)),
        other => other.clone(),
    }
}

/// The array with this type, which differs only in the metadata of nested fields.
pub(crate) fn cast_nested(array: &ArrayRef, kind: &DataType) -> Result<ArrayRef, ArrowError> {
    if array.data_type() == kind {
        return Ok(array.clone());
    }
    let data = array.to_data();
    let inner = data.child_data().iter().zip(inner_types(kind));
    let inner = inner.map(|(child, kind)| Ok(cast_nested(&make_array(child.clone()), kind)?.to_data()));
    let inner = inner.collect::<Result<Vec<_>, ArrowError>>()?;
    Ok(make_array(data.into_builder().data_type(kind.clone()).child_data(inner).build()?))
}

fn inner_types(kind: &DataType) -> Vec<&DataType> {
    match kind {
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => vec![field.data_type()],
        DataType::Struct(fields) => fields.iter().map(|field| field.data_type()).collect(),
        DataType::Union(fields, _) => fields.iter().map(|(_, field)| field.data_type()).collect(),
        DataType::Dictionary(_, values) => vec![values],
        DataType::RunEndEncoded(ends, values) => vec![ends.data_type(), values.data_type()],
        _ => Vec::new(),
    }
}

/// Checks that a batch belongs to the prepared table: the number, names and types of its columns,
/// and how they are encrypted.
pub(crate) fn check_batch(prepared: &Schema, batch: &Schema) -> Result<(), Error> {
    let differs = |what, here: &dyn ToString, before: &dyn ToString| ErrorKind::Differs {
        what,
        here: here.to_string(),
        before: before.to_string(),
    };
    let (here, before) = (batch.fields().len(), prepared.fields().len());
    if here != before {
        return Err(differs("the number of columns", &here, &before).into());
    }
    for (here, before) in batch.fields().iter().zip(prepared.fields()) {
        let name = before.name();
        if here.name() != before.name() {
            return Err(differs("the name", here.name(), name).in_column(name));
        }
        if !here.data_type().equals_datatype(before.data_type()) {
            return Err(differs("the type", here.data_type(), before.data_type()).in_column(name));
        }
        let state = |encrypted: bool| if encrypted { "encrypted" } else { "unencrypted" };
        match (encryption_of(here)?, encryption_of(before)?) {
            (None, None) => {}
            (Some(here), Some(before)) => here.check_compatible(&before)?,
            (here, before) => {
                let (here, before) = (state(here.is_some()), state(before.is_some()));
                return Err(differs("the column", &here, &before).in_column(name));
            }
        }
    }
    Ok(())
}

/// Checks that no two fields share a name.
pub(crate) fn check_names(schema: &Schema) -> Result<(), Error> {
    let mut names = HashSet::new();
    match schema.fields().iter().find(|field| !names.insert(field.name())) {
        None => Ok(()),
        Some(field) => Err(ErrorKind::DuplicateColumn.in_column(field.name())),
    }
}

/// The field that counts the rows of each group in totals.
pub(crate) fn rows_field(name: &str) -> Field {
    Field::new(name, DataType::UInt64, false).with_metadata([(ROLE, ROWS)])
}

/// The name of that field in totals: `rows`, or a numbered variant if that name is taken.
pub(crate) fn rows_name<'a>(taken: impl Iterator<Item = &'a str>) -> String {
    free_name(ROWS, taken)
}

/// The field that numbers the rows of a table with batched columns.
pub(crate) fn index_field(name: &str) -> Field {
    Field::new(name, DataType::UInt64, false).with_metadata([(ROLE, INDEX_ROLE)])
}

/// Whether a field numbers the rows of a table with batched columns.
pub(crate) fn numbers_rows(field: &Field) -> bool {
    field.metadata().get(ROLE).is_some_and(|role| role == INDEX_ROLE) && *field.data_type() == DataType::UInt64
}

/// The name, with a number appended if it is taken.
pub(crate) fn free_name<'a>(name: &str, taken: impl Iterator<Item = &'a str>) -> String {
    let taken: HashSet<&str> = taken.collect();
    let numbered = (1_u32..).map(|number| format!("{name}.{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !taken.contains(name.as_str())).unwrap_or_default()
}

/// Whether a field is the row count of totals, rather than a column that happens to be named
/// `rows`.
pub fn counts_rows(field: &Field) -> bool {
    field.metadata().get(ROLE).is_some_and(|role| role == ROWS) && *field.data_type() == DataType::UInt64
}
