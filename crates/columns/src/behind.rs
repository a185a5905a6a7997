//! Columns appended to a table: computed ones, and ones from names of folders.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{FieldRef, Schema, SchemaRef};

use crate::encrypt::batch_of;
use crate::error::Error;

/// Columns that batches of a table get behind their own. Batches of one schema get one schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Behind {
    fields: Vec<FieldRef>,
    /// The schema of the last batch, and what it became.
    schemas: Option<(SchemaRef, SchemaRef)>,
}

impl Behind {
    /// Columns of these names and types.
    pub fn new(fields: Vec<FieldRef>) -> Self {
        Self { fields, schemas: None }
    }

    /// A schema with them.
    pub fn schema(&self, schema: &SchemaRef) -> SchemaRef {
        if self.fields.is_empty() {
            return schema.clone();
        }
        let fields: Vec<FieldRef> = schema.fields().iter().chain(&self.fields).cloned().collect();
        Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
    }

    /// A batch with their values, an array a column.
    ///
    /// # Errors
    /// Arrays of other types or lengths than the batch and the columns have.
    pub fn batch(&mut self, batch: &RecordBatch, more: Vec<ArrayRef>) -> Result<RecordBatch, Error> {
        let to = match &self.schemas {
            Some((from, to)) if Arc::ptr_eq(from, batch.schema_ref()) => to.clone(),
            _ => self.schema(batch.schema_ref()),
        };
        self.schemas = Some((batch.schema(), to.clone()));
        batch_of(&to, batch.columns().iter().cloned().chain(more).collect())
    }
}
