//! The columns that `--by` and `--weight` name: unencrypted ones, and expressions of them.

use std::collections::HashSet;
use std::str::FromStr;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::{Schema, SchemaRef};
use hearith_columns::{Behind, BoundComputed, Computed, Error, ErrorKind, listed};

use crate::args::{List, Name, Sum};

/// The columns that group and weight a sum.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    groups: Vec<ColumnChoice>,
    weight: Option<ColumnChoice>,
}

/// A column, and how to compute it if a table does not contain it.
#[derive(Clone, Debug)]
struct ColumnChoice {
    name: String,
    computed: Option<Computed>,
}

impl Selection {
    /// Parses the options. Names of the first table's columns take precedence over expressions.
    ///
    /// # Errors
    /// A text is neither a name nor an expression.
    pub(crate) fn of(command: &Sum, schema: &Schema) -> Result<Self, Error> {
        let mut groups = Vec::new();
        for list in &command.by {
            groups.extend(Self::list(&list.0, schema)?);
        }
        let weight = command.weight.as_deref().map(|text| ColumnChoice::of(text, schema)).transpose()?;
        Ok(Self { groups, weight })
    }

    fn list(text: &str, schema: &Schema) -> Result<Vec<ColumnChoice>, Error> {
        let is_column = |Name(name): &Name| schema.field_with_name(name).is_ok();
        if let Ok(List(names)) = text.parse::<List<Name>>()
            && names.iter().all(is_column)
        {
            return Ok(names.into_iter().map(|Name(name)| ColumnChoice { name, computed: None }).collect());
        }
        listed(text).into_iter().map(|text| ColumnChoice::of(text, schema)).collect()
    }

    /// The names of the group columns.
    pub(crate) fn groups(&self) -> Vec<String> {
        self.groups.iter().map(|choice| choice.name.clone()).collect()
    }

    /// The name of the weight column.
    pub(crate) fn weight(&self) -> Option<&str> {
        self.weight.as_ref().map(|choice| choice.name.as_str())
    }

    /// Returns the columns that have to be computed for a table.
    ///
    /// # Errors
    /// As for [`Computed::bind`].
    pub(crate) fn bind(&self, schema: &Schema) -> Result<ComputedColumns, Error> {
        let mut added = ComputedColumns::default();
        let mut seen = HashSet::new();
        for choice in self.groups.iter().chain(&self.weight) {
            let Some(computed) = &choice.computed else { continue };
            if schema.field_with_name(&choice.name).is_err() && seen.insert(&choice.name) {
                added.sources.extend(computed.columns().map(str::to_owned));
                added.columns.push(computed.bind(schema)?);
            }
        }
        added.appended = Behind::new(added.columns.iter().map(BoundComputed::field).collect());
        Ok(added)
    }
}

impl ColumnChoice {
    fn of(text: &str, schema: &Schema) -> Result<Self, Error> {
        if schema.field_with_name(text).is_ok() {
            return Ok(Self { name: text.to_owned(), computed: None });
        }
        let computed = Computed::from_str(text).map_err(|error| Error::from(ErrorKind::from(error)))?;
        let name = computed.name().to_owned();
        Ok(Self { name, computed: Some(computed).filter(|computed| !computed.is_plain()) })
    }
}

/// The computed columns of a table.
#[derive(Debug, Default)]
pub(crate) struct ComputedColumns {
    columns: Vec<BoundComputed>,
    sources: Vec<String>,
    appended: Behind,
}

impl ComputedColumns {
    /// The unencrypted columns that they are computed from.
    pub(crate) fn sources(&self) -> &[String] {
        &self.sources
    }

    /// The table's schema with the computed columns.
    pub(crate) fn schema(&self, schema: &SchemaRef) -> SchemaRef {
        self.appended.schema(schema)
    }

    /// Adds the computed columns to a batch. Computes only the rows in `mask`.
    ///
    /// # Errors
    /// As for [`BoundComputed::values`].
    pub(crate) fn append_to(&mut self, batch: &RecordBatch, mask: Option<&BooleanArray>) -> Result<RecordBatch, Error> {
        if self.columns.is_empty() {
            return Ok(batch.clone());
        }
        let values = self.columns.iter().map(|column| column.values(batch, mask));
        self.appended.batch(batch, values.collect::<Result<_, _>>()?)
    }
}
